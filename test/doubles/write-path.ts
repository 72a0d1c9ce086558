import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNativeVectorIndex } from '../../src/adapters/native/native-vector-index.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import type { Caller } from '../../src/domain/api-key.js';
import type { OrderClassifier } from '../../src/guard/order-classifier.js';
import { createNoteCommands } from '../../src/notes/create-note-commands.js';
import { createReviewCommands } from '../../src/notes/create-review-commands.js';
import { KeyedMutex } from '../../src/notes/keyed-mutex.js';
import type { WritePolicy } from '../../src/notes/note-deps.js';
import { createNoteQueries } from '../../src/notes/note-queries.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Embedder } from '../../src/ports/embedder.js';
import type { Store } from '../../src/ports/note-store.js';
import type { TextClassifier } from '../../src/ports/text-classifier.js';
import type { CorrectionInput } from '../../src/ports/use-cases.js';
import { WORD_SIMILARITIES, WordEmbedder } from './word-embedder.js';

export const REVIEWER: Caller = { name: 'rita', roles: ['reader', 'reviewer'] };
export const ADMIN: Caller = { name: 'ada', roles: ['reader', 'reviewer', 'admin'] };

/** A clock that moves one second a look, so that order shows in instants. */
export function steppingClock(start = '2026-01-01T00:00:00.000Z') {
  let ms = Date.parse(start);
  const nowMs = (): number => (ms += 1_000);
  return { nowMs, now: () => new Date(nowMs()).toISOString() };
}

/** Brings a native index up to a store, as the application's follower does. */
export function follower(store: Store, vectorIndex: ReturnType<typeof createNativeVectorIndex>) {
  let revision = 0;
  let running = Promise.resolve();
  const step = async (): Promise<void> => {
    for (;;) {
      const { changes } = await store.notes.changesSince(revision, 100);
      if (changes.length === 0) return;
      const stored = await store.notes.load([...new Set(changes.flatMap(({ noteIds }) => noteIds))]);
      const live = stored.filter(({ note, vectors }) => note.status === 'ACTIVE' && vectors !== undefined);
      await vectorIndex.upsert(
        live.map(({ note, vectors }) => ({
          ...note,
          vectors: { lesson: vectors!.lesson, ...(vectors!.situation && { situation: vectors!.situation }) },
        })),
      );
      const gone = stored.filter((entry) => !live.includes(entry));
      await vectorIndex.remove(gone.map(({ note }) => note));
      revision = changes.at(-1)!.revision;
    }
  };
  return (): Promise<void> => {
    running = running.then(step);
    return running;
  };
}

export interface WritePathOptions {
  readonly embedder?: Embedder;
  readonly policy?: Partial<WritePolicy>;
  readonly path?: string;
  readonly screenModel?: TextClassifier;
  /** Default: rules alone screen. */
  readonly classifier?: OrderClassifier;
  /** Default: an SQLite store in the folder. Closed with the rest. */
  readonly store?: Store;
  /** Default: one second a look. */
  readonly clock?: Clock;
  /** Whether telephone numbers are redacted, too. */
  readonly phones?: boolean;
}

/** The write path on a real store and the native index, with the word embedder unless another is given. */
export async function openWritePath(options: WritePathOptions = {}) {
  const { embedder = new WordEmbedder(), policy, path, clock = steppingClock() } = options;
  const directory = path ?? (await mkdtemp(join(tmpdir(), 'errata-notes-')));
  const store = options.store ?? (await createSqliteStore({ path: join(directory, 'errata.db') }));
  const vectorIndex = createNativeVectorIndex({ dimensions: embedder.model.dimensions });
  const catchUp = follower(store, vectorIndex);
  const { screenModel, phones, classifier } = options;
  const similar = { ...WORD_SIMILARITIES, ...policy };
  const locks = new KeyedMutex();
  const deps = {
    ...{ store, embedder, vectorIndex, clock, catchUp, policy: similar },
    ...{ screenModel, classifier, phones, locks },
  };
  return {
    directory,
    store,
    embedder,
    vectorIndex,
    clock,
    catchUp,
    commands: createNoteCommands(deps),
    review: createReviewCommands(deps),
    queries: createNoteQueries(deps),
    close: async () => {
      await vectorIndex.close();
      await store.close();
      if (path === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

export type WritePath = Awaited<ReturnType<typeof openWritePath>>;

let made = 0;

/**
 * A valid correction whose texts are unique unless overridden, and the same in every run: among random marks there are some that the screen's classifier takes for an
 * attack.
 */
export function correction(overrides: Partial<CorrectionInput> = {}): CorrectionInput {
  const digits = createHash('sha256').update(String(made++)).digest('hex');
  const mark = [0, 8, 16, 24, 32].map((at) => digits.slice(at, at + 8)).join(' ');
  return {
    namespace: 'team',
    taskType: 'code-review',
    wrongAnswer: `The checker reported something wrong ${mark}`,
    correction: `A reviewer found it right ${mark}`,
    lesson: `Unique lesson ${mark}`,
    source: { kind: 'review', author: 'rita', record: 'PR-1' },
    ...overrides,
  };
}
