import { z } from 'zod';
import { type Share, wilson } from '../domain/wilson.js';
import type { OrderClassifier } from '../guard/order-classifier.js';
import { type ScreenField, screenInjection } from '../guard/screen-injection.js';
import { HALVES, type Half, type LabelledSet, labelledFields, parseLabelledSet } from './labelled-set.js';

const textSchema = z.strictObject({
  ...labelledFields,
  label: z.enum(['attack', 'ordinary']),
  kind: z.string().default('unspecified'),
  text: z.string().min(1),
  /** Where the text is spread over a note's fields: wrong answer, correction, lesson. */
  fields: z.array(z.string()).length(3).optional(),
});

export type ScreenedText = z.infer<typeof textSchema>;

export interface InjectionReport {
  readonly setDigest: string;
  readonly halves: Readonly<Record<Half, { readonly caught: Share; readonly falseAlarms: Share }>>;
  /** The held-out half by the sitting that it was written in, the id without its number. */
  readonly bySitting: Readonly<Record<string, { readonly caught: Share; readonly falseAlarms: Share }>>;
  /** Held-out attacks only. */
  readonly byKind: Readonly<Record<string, Share>>;
  /** Held-out attacks, English against the rest and each language: what was trained on says nothing. */
  readonly byLanguage: Readonly<Record<string, Share>>;
  /** Ids that the screen got wrong, by half. */
  readonly missed: Readonly<Record<Half, readonly string[]>>;
  readonly alarmed: Readonly<Record<Half, readonly string[]>>;
}

/** Reads a set of texts that are attacks or ordinary corrections. Errors: `INVALID_FILE`. */
export function parseScreenedTexts(jsonl: string, name: string): LabelledSet<ScreenedText> {
  return parseLabelledSet(jsonl, name, textSchema);
}

const FIELD_NAMES = ['wrongAnswer', 'correction', 'lesson'] as const;

/** Screens every text as a lesson that stands alone, or as the fields that it has. What the classifier was trained on, it knows: of its halves only the held-out one says something. */
export function reportInjection(
  { entries, digest }: LabelledSet<ScreenedText>,
  classifier?: OrderClassifier,
): InjectionReport {
  const judged = judgeScreenedTexts(entries, classifier);
  const attacks = judged.filter(({ label }) => label === 'attack');
  const ordinary = judged.filter(({ label }) => label === 'ordinary');
  const share = (of: typeof judged): Share =>
    wilson(of.filter(({ quarantined }) => quarantined).length, of.length);
  const inHalf = (half: Half, of: typeof judged) => of.filter((entry) => entry.half === half);
  const heldOut = inHalf('held-out', attacks);
  const sittings = [...new Set(inHalf('held-out', judged).map(sittingOf))].sort();
  return {
    setDigest: digest,
    halves: perHalf((half) => ({
      caught: share(inHalf(half, attacks)),
      falseAlarms: share(inHalf(half, ordinary)),
    })),
    bySitting: Object.fromEntries(
      sittings.map((sitting) => {
        const written = inHalf('held-out', judged).filter((entry) => sittingOf(entry) === sitting);
        return [
          sitting,
          {
            caught: share(written.filter(({ label }) => label === 'attack')),
            falseAlarms: share(written.filter(({ label }) => label === 'ordinary')),
          },
        ];
      }),
    ),
    byKind: Object.fromEntries(
      [...new Set(heldOut.map(({ kind }) => kind))]
        .sort()
        .map((kind) => [kind, share(heldOut.filter((entry) => entry.kind === kind))]),
    ),
    byLanguage: {
      English: share(heldOut.filter(({ language }) => language === 'en')),
      others: share(heldOut.filter(({ language }) => language !== 'en')),
      ...Object.fromEntries(
        [...new Set(heldOut.map(({ language }) => language))]
          .sort()
          .map((code) => [`  ${code}`, share(heldOut.filter(({ language }) => language === code))]),
      ),
    },
    missed: perHalf((half) =>
      inHalf(half, attacks)
        .filter(({ quarantined }) => !quarantined)
        .map(({ id }) => id),
    ),
    alarmed: perHalf((half) =>
      inHalf(half, ordinary)
        .filter(({ quarantined }) => quarantined)
        .map(({ id }) => id),
    ),
  };
}

/** What the screen says of every text. */
export function judgeScreenedTexts(
  entries: readonly ScreenedText[],
  classifier?: OrderClassifier,
): readonly (ScreenedText & { readonly quarantined: boolean })[] {
  return entries.map((entry) => ({
    ...entry,
    quarantined: screenInjection(fieldsOf(entry), classifier).verdict === 'quarantine',
  }));
}

function fieldsOf({ text, fields }: ScreenedText): readonly ScreenField[] {
  if (fields === undefined) return [{ name: 'lesson', raw: text }];
  return FIELD_NAMES.map((name, at) => ({ name, raw: fields[at] ?? '' }));
}

function sittingOf({ id }: ScreenedText): string {
  return id.replace(/-?\d+$/u, '');
}

function perHalf<T>(value: (half: Half) => T): Record<Half, T> {
  const [tune, heldOut] = HALVES;
  return { [tune]: value(tune), [heldOut]: value(heldOut) };
}
