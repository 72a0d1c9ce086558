import { isErrataError } from '../domain/errors.js';
import type { Retrieval } from '../domain/retrieval.js';
import type { Embedder } from '../ports/embedder.js';
import type { RetrievalWatcher } from '../ports/telemetry.js';
import type { RetrievalQueries, RetrieveRequest } from '../ports/use-cases.js';
import type { VectorIndex } from '../ports/vector-index.js';

export interface WatchedParts {
  /** What answers at the moment: the model may be changed while the process runs. */
  readonly serving: () => {
    readonly embedder: Pick<Embedder, 'embed'>;
    readonly vectorIndex: Pick<VectorIndex, 'search'>;
  };
  readonly watchers: readonly RetrievalWatcher[];
  /** Share of answers whose search is repeated exactly, 0…1. */
  readonly recallShare: number;
  /** Numbers in [0, 1). */
  readonly random?: () => number;
}

/** The same queries, with every answer told to the watchers, and live recall of a sample of them. */
export function watchRetrieval(queries: RetrievalQueries, parts: WatchedParts): RetrievalQueries {
  const { watchers, recallShare, random = Math.random } = parts;
  let measuring = false;

  function sample(retrieval: Retrieval, request: RetrieveRequest): void {
    if (random() >= recallShare) return;
    // Every vector was compared: nothing can have been missed.
    if (retrieval.exhaustive) {
      tellRecall(1);
      return;
    }
    // One exact search at a time, so that a busy service is not slowed down by being watched.
    if (measuring) return;
    measuring = true;
    exactRecall(parts, retrieval, request)
      .then(tellRecall, () => undefined)
      .finally(() => {
        measuring = false;
      });
  }
  function tellRecall(recall: number): void {
    for (const watcher of watchers) watcher.liveRecall(recall);
  }

  async function watched<T>(
    request: RetrieveRequest,
    ask: () => Promise<T>,
    retrievalOf: (answer: T) => Retrieval,
  ): Promise<T> {
    const startedMs = performance.timeOrigin + performance.now();
    const start = performance.now();
    let answer: T;
    try {
      answer = await ask();
    } catch (error) {
      const code = isErrataError(error) ? error.code : 'INTERNAL';
      for (const watcher of watchers) watcher.failed({ code, startedMs, tookMs: performance.now() - start });
      throw error;
    }
    const retrieval = retrievalOf(answer);
    const tookMs = performance.now() - start;
    for (const watcher of watchers) {
      watcher.answered({ retrieval, taskType: request.taskType ?? undefined, startedMs, tookMs });
    }
    sample(retrieval, request);
    return answer;
  }

  return {
    receipt: (caller, id) => queries.receipt(caller, id),
    retrieve: (caller, request, options) =>
      watched(
        request,
        () => queries.retrieve(caller, request, options),
        (retrieval) => retrieval,
      ),
    buildPrompt: (caller, request, options) =>
      watched(
        request.retrieve,
        () => queries.buildPrompt(caller, request, options),
        ({ retrieval }) => retrieval,
      ),
  };
}

/** How deep recall is measured: the default number of candidates. */
const DEPTH = 20;

/** The query's vector comes out of the cache: it was just used. */
async function exactRecall(
  { serving }: WatchedParts,
  { namespace }: Retrieval,
  { query, taskType, attributes }: RetrieveRequest,
): Promise<number> {
  const { embedder, vectorIndex } = serving();
  const [embedding] = await embedder.embed([query.normalize('NFC')], { kind: 'query', priority: 'bulk' });
  if (embedding === undefined) return 1;
  const search = {
    namespace,
    vector: embedding.vector,
    k: DEPTH,
    ...(taskType == null ? {} : { taskType }),
    ...(attributes == null ? {} : { attributes }),
  };
  const [found, exact] = await Promise.all([
    vectorIndex.search(search),
    vectorIndex.search({ ...search, exact: true }),
  ]);
  const ids = new Set(found.hits.map(({ id }) => id));
  return exact.hits.length === 0 ? 1 : exact.hits.filter(({ id }) => ids.has(id)).length / exact.hits.length;
}
