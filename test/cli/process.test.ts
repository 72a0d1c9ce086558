import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const fakeMain = fileURLToPath(new URL('./fake-main.mjs', import.meta.url));
const built = existsSync(fileURLToPath(new URL('../../dist/cli/run-cli.js', import.meta.url)));

function start(mode: string, argv: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [fakeMain, ...argv], {
    cwd: path.dirname(fakeMain),
    env: { PATH: process.env.PATH, ERRATA_TEST_MODE: mode },
    stdio: 'pipe',
  });
}

function ended(
  child: ChildProcessWithoutNullStreams,
): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
}

describe.skipIf(!built)('the command line as a process (needs dist: npm test builds it)', () => {
  it('ends silently with code 0 when the reader of a pipe goes away', async () => {
    const child = start('endless', ['export']);
    const end = ended(child);
    const errors = text(child.stderr);
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await end).toEqual({ code: 0, signal: null });
    expect(await errors).toBe('');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('closes what it opened on %s and exits 130', async (signal) => {
    const child = start('stuck', ['retrieve', 'x']);
    const end = ended(child);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      const first = errors === '';
      errors += chunk;
      if (first) child.kill(signal);
    });
    expect(await end).toEqual({ code: 130, signal: null });
    expect(errors).toBe('retrieving\nclosed\n');
  });

  it('leaves standard output to the answer', async () => {
    const child = start('', ['jobs', 'start', 'backfill', '--json']);
    const end = ended(child);
    const answer = await text(child.stdout);
    expect(JSON.parse(answer).state).toBe('SUCCEEDED');
    expect((await end).code).toBe(0);
  });
});
