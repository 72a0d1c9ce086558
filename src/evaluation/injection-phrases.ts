import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';
import { seededRandom } from './statistics/seeded-random.js';

const phrasesSchema = z.strictObject({
  label: z.enum(['attack', 'ordinary']),
  language: z.string(),
  kind: z.string(),
  slots: z.array(z.array(z.string())).min(1),
});

/** Parts that are put together to sentences, one of every slot: many wordings of few ideas. */
export type InjectionPhrases = z.infer<typeof phrasesSchema>;

/** Sentences taken of one entry; more would drown what was written one by one. */
const TAKEN = { en: 160, others: 40 } as const;
const SEED = 7;
const UNSPACED: readonly string[] = ['zh', 'ja'];

/** Reads JSONL, one entry a line. Errors: `INVALID_FILE` with the line number. */
export function parsePhrases(jsonl: string, name: string): readonly InjectionPhrases[] {
  return jsonl
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, index) => {
      const { data } = phrasesSchema.safeParse(JSON.parse(line));
      if (data !== undefined) return data;
      throw new ErrataError(
        'INVALID_FILE',
        `Expected phrases for ${name} line ${index + 1}, received something else`,
      );
    });
}

/** A sample of the sentences that the phrases make, the same ones every time. */
export function phraseTexts(
  phrases: readonly InjectionPhrases[],
): readonly { readonly label: InjectionPhrases['label']; readonly text: string }[] {
  const random = seededRandom(SEED);
  return phrases.flatMap(({ label, language, slots }) => {
    const glue = UNSPACED.includes(language) ? '' : ' ';
    const all = slots.reduce<readonly string[]>(
      (begun, slot) => begun.flatMap((start) => slot.map((part) => [start, part].filter(Boolean).join(glue))),
      [''],
    );
    const wanted = language === 'en' ? TAKEN.en : TAKEN.others;
    const taken =
      all.length <= wanted
        ? all
        : Array.from({ length: wanted }, () => all[Math.floor(random() * all.length)] ?? '');
    return [...new Set(taken)].map((text) => ({ label, text: text.replace(/ (?=[.,;:。，])/gu, '') }));
  });
}
