import { type Share, wilson } from '../domain/wilson.js';
import { findSecrets } from '../guard/redact-secrets.js';
import type { SecretSpan } from '../guard/secret-rules.js';
import type { LabelledSecrets } from './labelled-secrets.js';
import { HALVES, type Half, type LabelledSet } from './labelled-set.js';

export interface KindFigures {
  /** Labelled spans of the kind whose every character is replaced, by whatever rule. */
  readonly recall: Share;
  /** Replaced spans of the kind that touch a labelled one. */
  readonly precision: Share;
}

export interface SecretsReport {
  readonly setDigest: string;
  readonly texts: number;
  readonly halves: Readonly<Record<Half, KindFigures & { readonly untouched: Share }>>;
  /** Both halves: a kind has a handful of texts. */
  readonly byKind: Readonly<Record<string, KindFigures>>;
  /** Ids of texts of the tuning half with a missed or a needless span; of the held-out half only their number. */
  readonly wrong: readonly string[];
  readonly wrongHeldOut: number;
}

interface Judged {
  readonly entry: LabelledSecrets;
  readonly labelled: readonly (SecretSpan & { readonly right: boolean })[];
  readonly replaced: readonly (SecretSpan & { readonly right: boolean })[];
}

/** Redacts every text and compares with the labels. Phone numbers are opt-in and not asked for. */
export function reportSecrets({ entries, digest }: LabelledSet<LabelledSecrets>): SecretsReport {
  const judged = entries.map(judge);
  const kinds = new Set(judged.flatMap(({ labelled, replaced }) => [...labelled, ...replaced]).map(kindOf));
  const figures = (of: readonly Judged[], kind?: string): KindFigures => {
    const wanted = (span: SecretSpan) => kind === undefined || span.kind === kind;
    return {
      recall: share(of.flatMap(({ labelled }) => labelled).filter(wanted)),
      precision: share(of.flatMap(({ replaced }) => replaced).filter(wanted)),
    };
  };
  const half = (name: Half) => {
    const of = judged.filter(({ entry }) => entry.half === name);
    const harmless = of.filter(({ labelled }) => labelled.length === 0);
    const untouched = harmless.filter(({ replaced }) => replaced.length === 0).length;
    return { ...figures(of), untouched: wilson(untouched, harmless.length) };
  };
  const wrong = judged.filter(({ labelled, replaced }) => [...labelled, ...replaced].some((s) => !s.right));
  const [tune, heldOut] = HALVES;
  return {
    setDigest: digest,
    texts: entries.length,
    halves: { [tune]: half(tune), [heldOut]: half(heldOut) } as SecretsReport['halves'],
    byKind: Object.fromEntries([...kinds].sort().map((kind) => [kind, figures(judged, kind)])),
    wrong: wrong.filter(({ entry }) => entry.half === tune).map(({ entry }) => entry.id),
    wrongHeldOut: wrong.filter(({ entry }) => entry.half === heldOut).length,
  };
}

/** Of each text: labelled spans and those that are replaced whole, replacements and those that touch a labelled span. */
export function judgeSecrets(entries: readonly LabelledSecrets[]): readonly {
  readonly id: string;
  readonly half: Half;
  readonly labelled: number;
  readonly found: number;
  readonly replaced: number;
  readonly rightly: number;
}[] {
  const right = (spans: readonly { readonly right: boolean }[]) => spans.filter((span) => span.right).length;
  return entries.map(judge).map(({ entry: { id, half }, labelled, replaced }) => ({
    ...{ id, half, labelled: labelled.length, found: right(labelled) },
    ...{ replaced: replaced.length, rightly: right(replaced) },
  }));
}

function judge(entry: LabelledSecrets): Judged {
  const found = findSecrets(entry.text);
  return {
    entry,
    labelled: entry.spans.map((span) => ({ ...span, right: isCovered(span, found) })),
    replaced: found.map((span) => ({
      ...span,
      right: entry.spans.some((label) => span.start < label.end && label.start < span.end),
    })),
  };
}

/** Adjacent replacements may share the work. */
function isCovered({ start, end }: SecretSpan, found: readonly SecretSpan[]): boolean {
  let at = start;
  for (const span of found) if (span.start <= at && span.end > at) at = span.end;
  return at >= end;
}

function share(spans: readonly { readonly right: boolean }[]): Share {
  return wilson(spans.filter(({ right }) => right).length, spans.length);
}

function kindOf({ kind }: SecretSpan): string {
  return kind;
}
