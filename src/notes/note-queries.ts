import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import { lessonText } from '../domain/note.js';
import type { Embedder } from '../ports/embedder.js';
import type { Store } from '../ports/note-store.js';
import type { NoteQueries } from '../ports/use-cases.js';
import type { VectorIndex } from '../ports/vector-index.js';
import { noteNotFound } from './change-note.js';
import { findInfluence } from './find-influence.js';
import { noteEffects } from './note-effects.js';
import { noteVersions } from './note-versions.js';

export interface NoteQueryDeps {
  readonly store: Store;
  readonly embedder: Embedder;
  readonly vectorIndex: VectorIndex;
}

/** Reads of stored notes and their history. Scopes are the caller's grants, as the edge worked them out. */
export function createNoteQueries(deps: NoteQueryDeps): NoteQueries {
  const { store } = deps;
  return {
    get: (namespace, id) => store.notes.get(namespace, id),
    getMany: (namespace, ids) => store.notes.getMany(namespace, ids),
    list: async (scope, filter, order, page) => {
      checkLimit(page.limit);
      return store.notes.list(scope, filter, order, page);
    },
    count: (scope, filter) => store.notes.count(scope, filter),
    versions: async (namespace, id, first) => {
      checkLimit(first);
      return noteVersions(store, namespace, id, first);
    },
    influence: async (request, first) => {
      checkLimit(first);
      return findInfluence(store, request, first);
    },
    effects: async (namespace, first) => {
      checkLimit(first);
      return noteEffects(store, namespace, first);
    },
    similar: (namespace, id, first) => similarNotes(deps, namespace, id, first),
    audit: async (scope, filter, page) => {
      checkLimit(page.limit);
      return store.audit.list(scope, filter, page);
    },
    auditCount: (scope, filter) => store.audit.count(scope, filter),
    histories: async (scope, noteIds, first) => {
      checkLimit(first);
      return store.audit.histories(scope, noteIds, first);
    },
  };
}

/**
 * Active notes of the same task type nearest to a note's lesson, best first, itself left out. Uses the stored vector; a
 * note that the present model has not embedded yet is embedded for the look-up.
 *
 * Errors: `NOTE_NOT_FOUND`, `INVALID_INPUT` for `first` outside 1…`LIMITS.pageSize`.
 */
async function similarNotes(
  { store, embedder, vectorIndex }: NoteQueryDeps,
  namespace: string,
  id: string,
  first: number,
): ReturnType<NoteQueries['similar']> {
  checkLimit(first);
  const note = await store.notes.get(namespace, id);
  if (note === undefined) {
    throw noteNotFound(1);
  }
  const stored = (await store.notes.getVectors(namespace, [id])).get(id);
  const vector =
    stored?.modelId === embedder.model.id
      ? stored.lesson
      : (await embedder.embed([lessonText(note)], { kind: 'passage', priority: 'interactive' }))[0]?.vector;
  if (vector === undefined) {
    return [];
  }
  const { hits } = await vectorIndex.search({ namespace, taskType: note.taskType, vector, k: first + 1 });
  const others = hits.filter((hit) => hit.id !== id).slice(0, first);
  const notes = new Map(
    (
      await store.notes.getMany(
        namespace,
        others.map((hit) => hit.id),
      )
    ).map((found) => [found.id, found]),
  );
  return others.flatMap((hit, index) => {
    const found = notes.get(hit.id);
    return found?.status === 'ACTIVE'
      ? [{ note: found, score: hit.score, vectorScore: hit.score, vectorRank: index + 1 }]
      : [];
  });
}

function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMITS.pageSize) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected 1 to ${LIMITS.pageSize} for the page size, received ${limit}`,
    );
  }
}
