import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxEmbedder } from '../../src/adapters/onnx/create-onnx-embedder.js';
import type { FeedbackNote } from '../../src/domain/note.js';
import type { CorrectionInput, SubmitResult } from '../../src/ports/use-cases.js';
import { openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';
import { miniLm, modelForTests } from '../models/installed-model.js';

interface Pair {
  readonly a: string;
  readonly b: string;
  readonly relation: 'duplicate' | 'contradiction' | 'different';
}
const read = <T>(name: string): readonly T[] =>
  readFileSync(new URL(`../../sample/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const model = await modelForTests();

describe.skipIf(model.missing !== undefined)(
  'the sample with the real model (skipped where it cannot be had)',
  () => {
    const notes = read<CorrectionInput & { readonly key: string }>('notes');
    const results = new Map<string, SubmitResult>();
    let path: WritePath;
    let closeModel = async (): Promise<void> => undefined;
    beforeAll(async () => {
      const embedder = await createOnnxEmbedder({ modelDir: model.directory, manifestEntry: miniLm });
      closeModel = () => embedder.close();
      path = await openWritePath({ embedder });
      const stored = await path.commands.submitMany(
        REVIEWER,
        notes.map((note) => ({ ...note, namespace: 'team' })),
      );
      notes.forEach(({ key }, index) => {
        results.set(key, stored[index]!);
      });
    });
    afterAll(async () => {
      await path.close();
      await closeModel();
    });
    const noteOf = (key: string): FeedbackNote => results.get(key)!.note!;

    it('takes every note, alarms at none', () => {
      const flagged = [...results].filter(
        ([, { outcome, findings }]) =>
          ['REFUSED', 'QUARANTINED'].includes(outcome) ||
          findings.some(({ rule }) => rule !== 'embedding.truncated'),
      );
      expect(flagged).toEqual([]);
    });

    it('never merges what differs or contradicts', () => {
      for (const { a, b, relation } of read<Pair>('pairs').filter((pair) => pair.relation !== 'duplicate')) {
        expect([a, b, relation, results.get(a)!.outcome, results.get(b)!.outcome]).not.toContain('DUPLICATE');
        expect(noteOf(a).id).not.toBe(noteOf(b).id);
      }
    });

    it('finds a slightly reworded lesson, and not one with another number', async () => {
      const base = notes.find(({ key }) => key === 'sa-005')!;
      const reworded = {
        ...base,
        namespace: 'team',
        lesson: `${base.lesson.replace(/\.$/u, '')}!`,
        source: { kind: 'review', author: 'second' },
      };
      const duplicate = await path.commands.submit(REVIEWER, reworded);
      expect(duplicate).toMatchObject({
        outcome: 'DUPLICATE',
        duplicateOf: { id: noteOf('sa-005').id, supportCount: 2 },
      });
      const digit = base.lesson.search(/\d/u);
      expect(digit).toBeGreaterThanOrEqual(0);
      const lesson = base.lesson.replace(/\d+/u, '77');
      const other = await path.commands.submit(REVIEWER, { ...base, namespace: 'team', lesson });
      expect(other.outcome).not.toBe('DUPLICATE');
      expect(other.similarity).toBeGreaterThan(0.92);
    });
  },
);
