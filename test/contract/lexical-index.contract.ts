import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedbackNote } from '../../src/domain/note.js';
import type { LexicalIndex, LexicalQuery } from '../../src/ports/lexical-index.js';
import { noteId, sampleNote } from './store/sample-notes.js';

type Parts = Partial<Omit<FeedbackNote, 'id'>>;

export const indexedNote = (label: string, more: Parts = {}): FeedbackNote => ({
  ...sampleNote(label, { wrongAnswer: 'w', correction: 'c' }),
  version: 1,
  ...more,
});

/** What the lexical port promises. `createIndex` gives an empty index. */
export function describeLexicalIndex(
  name: string,
  createIndex: () => LexicalIndex,
  unavailable?: string,
): void {
  const title = unavailable === undefined ? name : `${name} (skipped: ${unavailable})`;
  describe.skipIf(unavailable !== undefined)(title, () => {
    let index: LexicalIndex;
    beforeEach(() => {
      index = createIndex();
    });
    afterEach(() => index.close());

    const find = async (text: string, more: Partial<LexicalQuery> = {}) =>
      (await index.search({ namespace: 'acme', text, k: 10, ...more })).map(({ id }) => id);
    const add = (lessons: Record<string, string>, more: Parts = {}) =>
      index.upsert(Object.entries(lessons).map(([label, lesson]) => indexedNote(label, { lesson, ...more })));

    it('ranks by rarity and repetition, best first, with falling scores', async () => {
      await add({
        a: 'netty is not reachable from the desktop program',
        b: 'the desktop program has no server',
        c: 'netty netty netty',
        d: 'a program without the word',
      });
      const hits = await index.search({ namespace: 'acme', text: 'Netty on the desktop', k: 3 });
      expect(hits[0]?.id).toBe(noteId('a'));
      expect(hits).toHaveLength(3);
      expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((x, y) => y - x));
      expect(await find('nothing of this')).toEqual([]);
    });

    it('looks at lesson, wrong answer, correction and attribute values', async () => {
      await index.upsert([
        indexedNote('a', { lesson: 'alpha' }),
        indexedNote('b', { wrongAnswer: 'bravo' }),
        indexedNote('c', { correction: 'charlie' }),
        indexedNote('d', { attributes: { repo: 'delta' } }),
      ]);
      for (const [label, word] of [
        ['a', 'alpha'],
        ['b', 'bravo'],
        ['c', 'charlie'],
        ['d', 'delta'],
      ] as const) {
        expect(await find(word)).toEqual([noteId(label)]);
      }
      expect(await find('repo')).toEqual([]);
    });

    it.each([
      [
        'CVE-2023-20861',
        'a note about CVE-2023-20861 in Spring',
        'about CVE-2023-20862 and 20861 other things, CVE 2023',
      ],
      ['parse_url', 'parse_url returns false on bad input', 'parse the url by hand; url parse, url'],
      ['io.netty', 'io.netty is pulled in by the driver', 'netty io io netty'],
      ['log4j-core', 'log4j-core is excluded here', 'log4j without core; core core'],
      ['S2068', 'rule S2068 fires on field names', 'rule S2069 fires, rule S2067 fires'],
      [
        'HttpClient.sendAsync()',
        'HttpClient.sendAsync never blocks',
        'http client send async blocks, http client',
      ],
      ['is CVE-2023-20861, then?', 'see (cve-2023-20861).', 'then 2023 and cve, cve, 20861'],
    ])('finds the identifier in %j as a whole first', async (query, whole, parts) => {
      await add({ parts, whole, other: 'nothing of the kind' });
      expect((await find(query))[0]).toBe(noteId('whole'));
    });

    it('finds identifiers by part', async () => {
      await add({ a: 'use getUserById', b: 'org.apache.commons.text', c: 'XMLHttpRequest' });
      expect(await find('user')).toEqual([noteId('a')]);
      expect(await find('commons')).toEqual([noteId('b')]);
      expect(await find('http request')).toEqual([noteId('c')]);
    });

    it('ignores case and accents in every script, and splits scripts without spaces', async () => {
      await add({
        a: 'Größe überprüfen, café',
        b: 'Η οδός Σταδίου',
        c: '文字化けは入力の符号化を確認する',
        d: 'ตรวจสอบรหัสผ่าน',
        e: '비밀번호를 확인한다',
        f: '使用parse_url函数',
      });
      expect(await find('GROSSE CAFE')).toEqual([noteId('a')]);
      expect(await find('UBERPRUFEN')).toEqual([noteId('a')]);
      expect(await find('ΟΔΟΣ')).toEqual([noteId('b')]);
      expect(await find('符号化の確認')).toEqual([noteId('c')]);
      expect(await find('化')).toEqual([noteId('c')]);
      expect(await find('รหัสผ่าน')).toEqual([noteId('d')]);
      expect(await find('비밀번호')).toEqual([noteId('e')]);
      expect(await find('parse_url')).toEqual([noteId('f')]);
    });

    it('filters before it limits', async () => {
      const noise = Array.from({ length: 50 }, (_, i) =>
        indexedNote(`noise ${i}`, { lesson: 'netty netty' }),
      );
      await index.upsert(noise);
      const attributes = { repo: 'errata', language: 'java' };
      await index.upsert([
        indexedNote('a', {
          lesson: 'some long text that also says netty',
          taskType: 'moderation',
          attributes,
        }),
        indexedNote('b', { lesson: 'netty', namespace: 'umbra', taskType: 'moderation', attributes }),
      ]);
      const one = { k: 1 };
      expect(await find('netty', { ...one, taskType: 'moderation' })).toEqual([noteId('a')]);
      expect(await find('netty', { ...one, attributes: { repo: 'errata' } })).toEqual([noteId('a')]);
      expect(await find('netty', { ...one, taskType: 'moderation', attributes })).toEqual([noteId('a')]);
      expect(await find('netty', { ...one, attributes: { ...attributes, language: 'go' } })).toEqual([]);
      expect(await find('netty', { ...one, namespace: 'umbra' })).toEqual([noteId('b')]);
      expect(await find('netty', { ...one, namespace: 'nobody' })).toEqual([]);
    });

    it('keeps namespaces apart in ranking and counts', async () => {
      await add({ a: 'netty rare', b: 'rare rare other words', c: 'netty word' });
      const before = await index.search({ namespace: 'acme', text: 'netty rare', k: 3 });
      await add(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`u${i}`, 'netty'])), {
        namespace: 'umbra',
      });
      expect(await index.search({ namespace: 'acme', text: 'netty rare', k: 3 })).toEqual(before);
      expect([index.count(), index.count('acme'), index.count('umbra'), index.count('nobody')]).toEqual([
        43, 3, 40, 0,
      ]);
    });

    it('ignores what is older than what it knows', async () => {
      const v = (version: number, lesson: string, more: Parts = {}) =>
        indexedNote('a', { version, lesson, ...more });
      await index.upsert([v(2, 'second')]);
      await index.upsert([v(1, 'first'), v(2, 'again')]);
      expect([await find('first'), await find('again'), await find('second')]).toEqual([
        [],
        [],
        [noteId('a')],
      ]);
      await index.remove([{ namespace: 'acme', id: noteId('a'), version: 2 }]);
      expect(await find('second')).toEqual([noteId('a')]);
      await index.remove([
        { namespace: 'acme', id: noteId('a'), version: 4 },
        { namespace: 'acme', id: noteId('b'), version: 1 },
      ]);
      await index.upsert([v(3, 'third')]);
      expect([await find('second'), await find('third'), index.count()]).toEqual([[], [], 0]);
      await index.upsert([v(5, 'fifth')]);
      expect(await find('fifth')).toEqual([noteId('a')]);
      await index.upsert([v(6, 'sixth', { status: 'DEPRECATED' })]);
      expect([await find('fifth'), await find('sixth')]).toEqual([[], []]);
    });

    it('counts the notes that hold a term', async () => {
      await add({
        a: 'netty CVE-2023-20861 twice netty',
        b: 'netty spring',
        c: 'CVE-2023-20862 parse url',
        d: '符号化',
      });
      const count = async (...terms: string[]) => {
        const { notes, notesWithTerm } = await index.termStatistics('acme', terms);
        expect(notes).toBe(4);
        return terms.map((term) => notesWithTerm.get(term));
      };
      expect(await count('netty', 'NETTY', 'spring', 'none')).toEqual([2, 2, 1, 0]);
      expect(await count('cve-2023-20861', 'cve', 'parse_url', '符号', '')).toEqual([1, 2, 1, 1, 0]);
      await index.remove([{ namespace: 'acme', id: noteId('a'), version: 2 }]);
      const { notes, notesWithTerm } = await index.termStatistics('acme', ['netty']);
      expect([notes, notesWithTerm.get('netty')]).toEqual([3, 1]);
      expect((await index.termStatistics('nobody', ['netty'])).notes).toBe(0);
    });

    it('takes any text as words, never as syntax', async () => {
      await add({ a: 'some words AND OR NOT NEAR', b: '"quoted" words* {x: y}' });
      const pieces = fc.constantFrom(
        '"',
        "'",
        '*',
        '(',
        ')',
        'NEAR(',
        ' OR ',
        ' AND ',
        'NOT',
        '^',
        ':',
        '{words}',
        '-',
        '+',
        '\0',
        '\ud800',
        'words',
        '词',
        '🐛',
      );
      const texts = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(pieces).map((list) => list.join('')),
      );
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          const hits = await index.search({ namespace: 'acme', text, k: 5 });
          expect(hits.every(({ score }) => Number.isFinite(score))).toBe(true);
          await index.termStatistics('acme', [text]);
        }),
        { numRuns: 500 },
      );
      expect(await find('"words" OR')).toHaveLength(2);
    });

    it('takes any note, and finds it again by each of its words', async () => {
      const words = fc.array(fc.stringMatching(/^[a-z0-9]{1,12}$/), { minLength: 1, maxLength: 5 });
      const noise = fc.string({ unit: 'grapheme', maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(words, noise, async (held, between) => {
          await index.clear();
          const lesson = held.join(` ${between} `);
          await index.upsert([indexedNote('a', { lesson }), indexedNote('b', { lesson: between })]);
          for (const word of held) expect(await find(word)).toContain(noteId('a'));
        }),
        { numRuns: 200 },
      );
    });

    it('is empty after clear, refuses k below 1, and answers CLOSED after close', async () => {
      await add({ a: 'netty' });
      await index.clear();
      expect([index.count(), await find('netty')]).toEqual([0, []]);
      await add({ a: 'netty' });
      expect(await find('netty')).toEqual([noteId('a')]);
      await expect(find('netty', { k: 0 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await index.close();
      await index.close();
      await expect(find('netty')).rejects.toMatchObject({ code: 'CLOSED' });
      await expect(add({ b: 'netty' })).rejects.toMatchObject({ code: 'CLOSED' });
      expect(() => index.count()).toThrow(expect.objectContaining({ code: 'CLOSED' }));
    });
  });
}
