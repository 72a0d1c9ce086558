import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAesGcmCipher } from '../../../src/adapters/crypto/aes-gcm-cipher.js';
import { type KeyRing, parseKeyRing } from '../../../src/adapters/crypto/key-ring.js';
import type { Cipher } from '../../../src/ports/cipher.js';
import type { Store } from '../../../src/ports/note-store.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { insertOne, noteId, vectors } from './sample-notes.js';

export const newKey = (id: string): string => `${id} ${randomBytes(32).toString('base64')}`;

/** Keys that a test can change, as an operator changes the key file. */
export function changeableKeys(...lines: string[]): {
  readonly cipher: Cipher;
  set(...lines: string[]): void;
} {
  const read = (): KeyRing => parseKeyRing(lines.join('\n'), 'the test');
  let changed = false;
  // A clock that is always due: every use looks whether the keys changed.
  let nowMs = 0;
  const source = {
    load: () => {
      changed = false;
      return read();
    },
    changed: () => changed,
  };
  const cipher = createAesGcmCipher(source, { nowMs: () => (nowMs += 10_000) });
  return {
    cipher,
    set: (...next) => {
      lines = next;
      changed = true;
    },
  };
}

async function resealAll(store: Store): Promise<number> {
  let resealed = 0;
  let after: string | undefined;
  do {
    const page = await store.notes.reseal(after, 3);
    resealed += page.resealed;
    after = page.lastId;
  } while (after !== undefined);
  return resealed;
}

/** Sealing at rest: nothing readable, keys checked, rotation under writes. */
export function describeEncryption(traits: StoreTraits): void {
  describe('encryption at rest', () => {
    const fixture = useFixture(traits);
    const held = vectors(0.6, -0.8);
    const labels = Array.from({ length: 7 }, (_, i) => `zebra-${i}`);
    const vectorBytes = Buffer.from(held.lesson.buffer, held.lesson.byteOffset, held.lesson.byteLength);
    const isReadable = async (): Promise<boolean> => {
      const raw = await fixture().raw();
      return raw.includes('zebra') || raw.includes(vectorBytes);
    };

    it('leaves no text and no vector readable, and reads all of it back', async () => {
      const keys = changeableKeys(newKey('k1'));
      const store = await fixture().connect(keys.cipher);
      const note = await insertOne(store.notes, 'zebra-1', {}, held);
      expect(await isReadable()).toBe(false);
      expect(await store.notes.get('acme', note.id)).toEqual(note);
      expect(await store.notes.getVectors('acme', [note.id])).toEqual(new Map([[note.id, held]]));
      await insertOne(store.notes, 'horse');
      expect(await store.notes.count('all', { text: 'ZEBRA-1 IS TRUE' })).toBe(1);
      const page = await store.notes.list('all', { text: 'zebra' }, 'CREATED_ASC', { limit: 9 });
      expect(page.items).toEqual([note]);
    });

    it('refuses a store without its key, and with another key of the same id', async () => {
      await fixture().connect(changeableKeys(newKey('k1')).cipher);
      await expect(fixture().connect()).rejects.toMatchObject({
        code: 'ENCRYPTION_KEY_MISSING',
        message: expect.stringContaining('k1'),
      });
      await expect(fixture().connect(changeableKeys(newKey('k1')).cipher)).rejects.toMatchObject({
        code: 'ENCRYPTION_KEY_WRONG',
      });
      await expect(fixture().connect(changeableKeys(newKey('k2')).cipher)).rejects.toMatchObject({
        code: 'ENCRYPTION_KEY_MISSING',
      });
    });

    it('refuses to read what another process sealed, instead of giving garbage', async () => {
      const sealing = await fixture().connect(changeableKeys(newKey('k1')).cipher);
      const note = await insertOne(sealing.notes, 'a', {}, held);
      // Opened before the key came.
      const plain = fixture().store.notes;
      const refused = { code: 'ENCRYPTION_KEY_MISSING' };
      await expect(plain.get('acme', note.id)).rejects.toMatchObject(refused);
      await expect(plain.getVectors('acme', [note.id])).rejects.toMatchObject(refused);
      await expect(plain.list('all', {}, 'CREATED_ASC', { limit: 9 })).rejects.toMatchObject(refused);
    });

    it('seals what was stored before, and changes keys while two processes read and write', async () => {
      const plain = fixture().store;
      for (const label of labels.slice(0, 4)) await insertOne(plain.notes, label, {}, held);
      expect(await isReadable()).toBe(true);
      const [k1, k2] = [newKey('k1'), newKey('k2')];
      const [first, second] = [changeableKeys(k1), changeableKeys(k1)];
      const a = await fixture().connect(first.cipher);
      const b = await fixture().connect(second.cipher);
      await insertOne(a.notes, labels[4]!, {}, held);
      expect(await resealAll(a)).toBe(4);
      expect(await resealAll(a)).toBe(0);
      expect(await isReadable()).toBe(false);

      first.set(k2, k1);
      second.set(k2, k1);
      await insertOne(a.notes, labels[5]!, {}, held);
      const [during] = await Promise.all([b.notes.getMany('acme', labels.map(noteId)), resealAll(a)]);
      expect(during).toHaveLength(6);
      await insertOne(b.notes, labels[6]!, {}, held);
      await resealAll(a);
      await insertOne(b.notes, 'horse', {}, held);
      expect(await a.sealing?.forgetOthers()).toEqual(['k1']);
      // The new key is known without anybody having opened the store with it.
      const wrong = changeableKeys(newKey('k2')).cipher;
      await expect(fixture().connect(wrong)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_WRONG' });
      const left = await fixture().connect(changeableKeys(k2).cipher);
      const found = await left.notes.getMany('acme', labels.map(noteId));
      expect(found.map(({ lesson }) => lesson)).toEqual(labels.map((label) => `Remember ${label}`));
      expect((await left.notes.getVectors('acme', labels.map(noteId))).size).toBe(7);
      expect(left.notes.corruptRecords()).toBe(0);
    });
  });
}
