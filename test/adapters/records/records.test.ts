import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readChangeWindow } from '../../../src/adapters/records/change-window.js';
import { foldText } from '../../../src/adapters/records/fold-text.js';
import { readNote } from '../../../src/adapters/records/note-record.js';
import { vectorFromBytes, vectorToBytes } from '../../../src/adapters/records/vector-bytes.js';
import { sampleNote } from '../../contract/store/sample-notes.js';

describe('foldText', () => {
  it.each([
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδός'.normalize('NFD'), 'ΟΔΌΣ'],
    ['İstanbul', 'istanbul'],
    ['ЖЁЛТЫЙ', 'жёлтый'],
    ['ﬁle', 'FILE'],
  ])('makes %s and %s the same', (a, b) => {
    expect(foldText(a)).toBe(foldText(b));
  });

  it('keeps what differs in more than case, and folds once for all', () => {
    expect(foldText('resume')).not.toBe(foldText('résumé'));
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => foldText(foldText(text)) === foldText(text)),
    );
  });
});

describe('vector bytes', () => {
  it('keep every float32, little-endian, from any offset', () => {
    fc.assert(
      fc.property(
        fc.float32Array({ minLength: 1, noNaN: true, noDefaultInfinity: true }),
        fc.nat(3),
        (vector, shift) => {
          const bytes = vectorToBytes(vector);
          const shifted = new Uint8Array(bytes.length + shift);
          shifted.set(bytes, shift);
          expect(vectorFromBytes(shifted.subarray(shift))).toEqual(vector);
        },
      ),
    );
    expect([...vectorToBytes(Float32Array.of(1))]).toEqual([0, 0, 0x80, 0x3f]);
  });

  it.each([[[]], [[1, 2, 3]], [[0, 0, 0xc0, 0x7f]]])('are no vector: %j', (bytes) => {
    expect(vectorFromBytes(Uint8Array.from(bytes))).toBeUndefined();
  });
});

describe('readNote', () => {
  const record = { ...sampleNote('a'), version: 1 };

  it('reads a whole record', () => {
    expect(readNote(record)).toEqual(record);
    expect(readNote({ ...record, expiresAt: null, supersededBy: undefined, foreign: 1 })).toEqual(record);
  });

  it('refuses a record with any field of another type', () => {
    for (const field of Object.keys(record)) {
      for (const value of [undefined, 1.5, true, [1], { a: 1 }]) {
        expect(readNote({ ...record, [field]: value }), `${field}: ${JSON.stringify(value)}`).toBeUndefined();
      }
    }
  });
});

describe('readChangeWindow', () => {
  const entries = (...revisions: number[]) => revisions.map((revision) => ({ revision, noteIds: [] }));

  it.each([
    ['the next ones', entries(3, 4), 2, { changes: entries(3, 4), pruned: false }],
    ['up to a gap', entries(3, 5), 2, { changes: entries(3), pruned: false }],
    ['none at the end', entries(), 4, { changes: [], pruned: false }],
    ['none where pruned', entries(4, 5), 2, { changes: [], pruned: true }],
    ['none where the follower is ahead', entries(), 9, { changes: [], pruned: true }],
  ])('gives %s', (_, held, revision, expected) => {
    expect(readChangeWindow(held, revision, 4)).toEqual(expected);
  });
});
