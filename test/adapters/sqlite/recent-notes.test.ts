import { describe, expect, it } from 'vitest';
import { RecentNotes } from '../../../src/adapters/sqlite/recent-notes.js';
import { NO_OUTCOMES } from '../../../src/domain/note.js';
import { sampleNote } from '../../contract/store/sample-notes.js';

const note = (label: string, version = 1) => ({ ...sampleNote(label), version, embeddingModel: 'm' });
const stateOf = (label: string, more = {}) => {
  const { id, version, embeddingModel, outcomes } = note(label);
  return { id, version, embeddingModel, outcomes, ...more };
};

describe('RecentNotes', () => {
  it('gives the same object out again while its row stands', () => {
    const recent = new RecentNotes();
    const held = note('a');
    expect(recent.noteOf(stateOf('a'))).toBeUndefined();
    recent.keep(held);
    expect(recent.noteOf(stateOf('a'))).toBe(held);
    expect(recent.noteOf(stateOf('b'))).toBeUndefined();
  });

  it('gives out no note of another version or model, and keeps none of its texts', () => {
    for (const change of [{ version: 2 }, { embeddingModel: 'other' }, { embeddingModel: undefined }]) {
      const recent = new RecentNotes();
      recent.keep(note('a'));
      expect(recent.noteOf(stateOf('a', change))).toBeUndefined();
      expect(recent.noteOf(stateOf('a'))).toBeUndefined();
    }
  });

  it('takes the counts from the row', () => {
    const recent = new RecentNotes();
    recent.keep(note('a'));
    const outcomes = { ...NO_OUTCOMES, helpful: 3 };
    const counted = recent.noteOf(stateOf('a', { outcomes }));
    expect(counted).toEqual({ ...note('a'), outcomes });
    expect(recent.noteOf(stateOf('a', { outcomes }))).toBe(counted);
  });

  it('forgets what it is told to, and what goes beyond its bound', () => {
    const recent = new RecentNotes(4_500);
    const labels = ['a', 'b', 'c'];
    for (const label of labels) recent.keep(note(label));
    expect(labels.filter((label) => recent.noteOf(stateOf(label)) !== undefined)).toEqual(['b', 'c']);
    recent.forget(note('c').id);
    expect(recent.noteOf(stateOf('c'))).toBeUndefined();
  });
});
