import { beforeEach, describe, expect, it } from 'vitest';
import type { NoteId, NoteVectors } from '../../src/domain/note.js';
import { CandidateVectors } from '../../src/retrieval/candidate-vectors.js';
import { NaiveVectorIndex } from '../contract/naive-vector-index.js';
import { note, noteId, unit } from '../contract/vector-index.contract.js';

const DIMENSIONS = unit(1).length;
const stored: NoteVectors = { modelId: 'm', lesson: unit(0, 0, 1) };

describe('CandidateVectors', () => {
  const asked: NoteId[][] = [];
  const store = {
    getVectors: async (_: string, ids: readonly NoteId[]) => {
      asked.push([...ids]);
      return ids.includes(noteId('stored')) ? new Map([[noteId('stored'), stored]]) : new Map();
    },
  };
  beforeEach(() => void asked.splice(0));

  it('reads the store only for what the index does not hold', async () => {
    const index = new NaiveVectorIndex(DIMENSIONS);
    const both = { lesson: unit(1), situation: unit(0, 1) };
    await index.upsert([note('a', unit(1), { vectors: both }), note('b', unit(-1))]);
    const vectors = new CandidateVectors(index, 'm', store);
    const found = await vectors.getVectors('acme', ['a', 'b'].map(noteId));
    expect(asked).toEqual([]);
    expect(found.get(noteId('a'))).toEqual({ modelId: 'm', ...both });
    expect(found.get(noteId('b'))?.situation).toBeUndefined();

    const more = await vectors.getVectors('acme', ['a', 'stored', 'nowhere'].map(noteId));
    expect(asked).toEqual([['stored', 'nowhere'].map(noteId)]);
    expect([...more.keys()]).toEqual(['a', 'stored'].map(noteId));
    expect(more.get(noteId('stored'))).toBe(stored);
  });

  it('asks the store for a note of which the index holds only the situation', async () => {
    const index = new NaiveVectorIndex(DIMENSIONS);
    await index.upsert([note('stored', unit(1), { vectors: { situation: unit(1) } })]);
    const found = await new CandidateVectors(index, 'm', store).getVectors('acme', [noteId('stored')]);
    expect(found.get(noteId('stored'))).toBe(stored);
  });
});
