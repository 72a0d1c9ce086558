import type { SnapshotState } from '../../retrieval/snapshot-keeper.js';
import type { Diagnostics } from '../cli-deps.js';
import { attempt, type CheckResult, fail, ok, warn } from './check.js';

type Retrieval = NonNullable<Diagnostics['retrieval']>;

function checkStore({ notes, storeDescription }: Diagnostics): Promise<CheckResult> {
  return attempt('store', 'check that the store runs and that its address is right', async () => {
    const total = await notes.count('all', {});
    const corrupt = notes.corruptRecords();
    const detail = `${storeDescription}, ${total} notes`;
    if (corrupt === 0) return ok('store', detail);
    return fail(
      'store',
      `${detail}, ${corrupt} records cannot be read`,
      'restore them from a backup or an export',
    );
  });
}

/** The log must answer, reach its newest entry and be dense up to it. */
function checkChangeLog({ notes }: Diagnostics): Promise<CheckResult> {
  return attempt('change log', 'restart the server: it repairs what a crash cut off', async () => {
    const last = await notes.lastRevision();
    if (last === 0) return ok('change log', 'empty');
    const { changes } = await notes.changesSince(Math.max(0, last - 100), 100);
    const dense = changes.every(
      ({ revision }, at) => at === 0 || revision === (changes[at - 1]?.revision ?? 0) + 1,
    );
    const newest = changes.at(-1)?.revision ?? 0;
    if (dense && newest >= last) return ok('change log', `revision ${last}`);
    return fail(
      'change log',
      `revision ${last}, readable to ${newest}`,
      'restart the server, then run doctor again',
    );
  });
}

const CANARY = 'A reviewer found that this warning does not apply here.';

function checkEmbedder({ embedder }: Retrieval): Promise<CheckResult> {
  return attempt('embedding', 'fetch the model again: errata models remove, then pull', async () => {
    const started = performance.now();
    const options = { kind: 'passage', priority: 'interactive' } as const;
    const [first] = await embedder.embed([CANARY], options);
    const ms = performance.now() - started;
    const [second] = await embedder.embed([CANARY], options);
    const norm = Math.hypot(...(first?.vector ?? []));
    // The port promises unit length to 1e-3 and the same bits for the same text.
    const sound =
      Math.abs(norm - 1) <= 1e-3 && first?.vector.every((value, at) => value === second?.vector[at]);
    const detail = `${embedder.model.id}, ${embedder.model.dimensions} dimensions, ${ms.toFixed(1)} ms a text`;
    return sound
      ? ok('embedding', detail)
      : fail(
          'embedding',
          `${detail}; vectors are wrong`,
          'fetch the model again: errata models remove, then pull',
        );
  });
}

function checkIndex(diagnostics: Diagnostics, { vectorIndex }: Retrieval): Promise<CheckResult> {
  return attempt('vector index', 'restart the server: the index is filled anew', async () => {
    const active = await diagnostics.notes.count('all', { statuses: ['ACTIVE'] });
    const held = vectorIndex.count();
    const { isa, partitions, graphs = 0, memoryBytes, memory, graphOptions } = vectorIndex.stats();
    const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
    const parts = Object.entries(memory ?? {}).map(([part, bytes]) => `${part} ${megabytes(bytes)}`);
    const detail =
      `${held} of ${active} active notes, ${partitions} partitions, ${graphs} with a graph` +
      `${graphOptions === undefined ? '' : ` (from ${graphOptions.graphThreshold} vectors)`}, ` +
      `${megabytes(memoryBytes)} MB${parts.length === 0 ? '' : ` (${parts.join(', ')})`}, ${isa}`;
    if (held === active) return ok('vector index', detail);
    return held < active
      ? warn('vector index', detail, 'embed what is missing: errata jobs start backfill')
      : fail('vector index', detail, 'restart the server: the index is filled anew');
  });
}

function checkSnapshot({ restored, refused, restoreMs }: SnapshotState): CheckResult {
  const remedy = 'none needed: the server writes a new one; see schema/snapshot-v1.md for the reasons';
  if (restored !== undefined) {
    const { notes, revision, sizeBytes, createdMs } = restored;
    const written = new Date(createdMs).toISOString();
    return ok(
      'index snapshot',
      `${notes} notes of revision ${revision} in ${restoreMs.toFixed(0)} ms, ${(sizeBytes / 1e6).toFixed(1)} MB, written ${written}`,
    );
  }
  if (refused === undefined) return warn('index snapshot', 'could not be read', remedy);
  if (refused.refusal === 'ABSENT') return ok('index snapshot', 'none yet: servers write one as they stop');
  return warn('index snapshot', `not used: ${refused.refusal}, ${refused.detail}`, remedy);
}

function checkLexicalIndex(diagnostics: Diagnostics, { lexicalIndex }: Retrieval): Promise<CheckResult> {
  return attempt('text index', 'restart the server: the index is filled anew', async () => {
    const active = await diagnostics.notes.count('all', { statuses: ['ACTIVE'] });
    await lexicalIndex.search({ namespace: 'default', text: 'doctor', k: 1 });
    const held = lexicalIndex.count();
    const detail = `${held} of ${active} active notes`;
    return held === active
      ? ok('text index', detail)
      : fail('text index', detail, 'restart the server: the index is filled anew');
  });
}

/** What can only be asked of an opened installation. */
export async function checkInstallation(diagnostics: Diagnostics): Promise<readonly CheckResult[]> {
  const { retrieval } = diagnostics;
  const results = [await checkStore(diagnostics), await checkChangeLog(diagnostics)];
  if (retrieval === undefined) return results;
  results.push(await checkEmbedder(retrieval));
  results.push(await checkIndex(diagnostics, retrieval));
  if (retrieval.snapshot !== undefined) results.push(checkSnapshot(retrieval.snapshot));
  results.push(await checkLexicalIndex(diagnostics, retrieval));
  return results;
}
