// USearch's filtered search, in C++ since its npm package has none: a process that loads the index which the package saved.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { buildBenchProgram } from '../../scripts/build-addon.mjs';
import { DIMENSIONS } from './data.mjs';
import { SHARES } from './rival-settings.mjs';

const BITS = Object.keys(SHARES);

/**
 * `{ engine }` with `filtered(query, k, ef, share)`, or `{ missing }` with the reason. The answer crosses a pipe, about 0.1 ms that
 * counts against USearch; its searches under these filters take from 1 to 100 ms.
 */
export async function openUsearchFilters({ indexFile, n, sharesOf, log }) {
  let program;
  try {
    program = await buildBenchProgram('errata_usearch_filtered');
  } catch (error) {
    return { missing: `its program could not be built: ${error.message}` };
  }
  const flags = `${indexFile}.flags`;
  writeFileSync(
    flags,
    Uint8Array.from({ length: n }, (_, row) => sharesOf(row)),
  );
  log('loading the saved usearch index in C++');
  const child = spawn(program, [indexFile, flags, String(DIMENSIONS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = answersFrom(child);
  return {
    engine: {
      name: 'usearch C++',
      async filtered(query, k, ef, share) {
        const head = Buffer.from(Uint32Array.of(BITS.indexOf(share), k, ef).buffer);
        child.stdin.write(
          Buffer.concat([head, Buffer.from(query.buffer, query.byteOffset, query.byteLength)]),
        );
        const answer = await answers(4 + 8 * k);
        const count = answer.readUInt32LE(0);
        return Array.from({ length: count }, (_, i) => Number(answer.readBigUInt64LE(4 + 8 * i)));
      },
      close: () =>
        new Promise((resolve) => {
          child.on('close', resolve);
          child.stdin.end();
        }),
    },
  };
}

/** `next(bytes)`: the next so many bytes of the child's output. Fails where it ends before. */
function answersFrom(child) {
  let held = Buffer.alloc(0);
  let waiting;
  let ended;
  const serve = () => {
    if (waiting === undefined) return;
    const { bytes, resolve, reject } = waiting;
    if (held.length >= bytes) {
      waiting = undefined;
      const answer = held.subarray(0, bytes);
      held = held.subarray(bytes);
      resolve(answer);
    } else if (ended !== undefined) {
      waiting = undefined;
      reject(new Error(`usearch's program ended with ${ended}`));
    }
  };
  child.stdout.on('data', (data) => {
    held = Buffer.concat([held, data]);
    serve();
  });
  child.on('close', (code, signal) => {
    ended = signal ?? code;
    serve();
  });
  return (bytes) =>
    new Promise((resolve, reject) => {
      waiting = { bytes, resolve, reject };
      serve();
    });
}
