import type { OrderClassifier } from '../../guard/order-classifier.js';
import { type SimilarityLimits, UNFITTED_SIMILARITIES } from '../../notes/note-deps.js';
import type { Embedder } from '../../ports/embedder.js';
import { judgePairs, type LabelledPair, measurePairs } from '../duplicates-report.js';
import { judgeScreenedTexts, type ScreenedText } from '../injection-report.js';
import type { LabelledSecrets } from '../labelled-secrets.js';
import type { LabelledSet } from '../labelled-set.js';
import { judgeSecrets } from '../secrets-report.js';
import { type GuardCase, type GuardFigures, type GuardMeasure, sumGuardCases } from './guard-measures.js';

export interface LabelledSets {
  readonly injection: LabelledSet<ScreenedText>;
  readonly secrets: LabelledSet<LabelledSecrets>;
  readonly duplicates: LabelledSet<LabelledPair>;
}

export interface MeasuredGuards {
  readonly classifier: OrderClassifier | undefined;
  readonly embedder: Embedder;
  /** Of the embedder; none: the write path's careful ones. */
  readonly similarities: SimilarityLimits | undefined;
}

/** Screens, redacts and compares every labelled entry with the guards as they are. Errors: the embedder's. */
export async function measureGuards(sets: LabelledSets, guards: MeasuredGuards): Promise<GuardFigures> {
  const { injection, secrets, duplicates } = sets;
  const pairs = judgePairs(
    await measurePairs(duplicates.entries, guards.embedder),
    guards.similarities ?? UNFITTED_SIMILARITIES,
  );
  const one = (
    measure: GuardMeasure,
    { id, half }: Pick<GuardCase, 'id' | 'half'>,
    count: number | boolean,
    total = 1,
  ): GuardCase => ({ measure, half, id, count: Number(count), total });
  const cases = [
    ...judgeScreenedTexts(injection.entries, guards.classifier).map((text) =>
      text.label === 'attack'
        ? one('injectionCaught', text, text.quarantined)
        : one('injectionFalseAlarms', text, text.quarantined),
    ),
    ...judgeSecrets(secrets.entries).flatMap((text) => [
      one('secretsRecall', text, text.found, text.labelled),
      one('secretsPrecision', text, text.rightly, text.replaced),
    ]),
    ...pairs.flatMap((pair) => {
      switch (pair.relation) {
        case 'same':
        case 'paraphrase':
          return [one('duplicatesProposed', pair, pair.kind !== 'none')];
        case 'different':
          return [
            one('duplicatesFalseMerges', pair, pair.kind === 'duplicate'),
            one('duplicatesFalseProposals', pair, pair.kind !== 'none'),
          ];
        default:
          return [one('duplicatesFalseMerges', pair, pair.kind === 'duplicate')];
      }
    }),
  ];
  const digests = { injection: injection.digest, secrets: secrets.digest, duplicates: duplicates.digest };
  return sumGuardCases(digests, cases);
}
