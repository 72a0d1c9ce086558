import { createHash } from 'node:crypto';
import { wilson } from '../domain/wilson.js';
import { createOrderClassifier, type OrderClassifierFile, partsOf } from '../guard/order-classifier.js';
import { FEATURE_BITS, featureValue, orderFeatures } from '../guard/order-features.js';
import { judgedText } from '../guard/screen-injection.js';
import { type InjectionPhrases, phraseTexts } from './injection-phrases.js';
import type { ScreenedText } from './injection-report.js';
import type { LabelledSet } from './labelled-set.js';
import { seededRandom } from './statistics/seeded-random.js';

export interface TrainingTexts {
  readonly set: LabelledSet<ScreenedText>;
  readonly phrases: readonly InjectionPhrases[];
  /** Ordinary texts without labels of their own, such as the sample notes. */
  readonly ordinary: readonly string[];
}

/** Weights of a sample: made-up combinations count less than texts that were written one by one. */
const WEIGHTS = { phrase: 0.3, plain: 1, own: 1 } as const;
const EPOCHS = 25;
const STEP = 0.5;
const BIAS_STEP = 0.2;
const L2 = 1e-6;
const FOLDS = 5;
const SEED = 20_261_130;
/**
 * Shares that may be doubted in cross-validation: of ordinary texts that use an attack's words, and of plain ones. Together they are
 * below 2% of all ordinary texts, half of which are plain; real corrections are plainer than that.
 */
const FALSE_ALARMS = { hard: 0.03, plain: 0.003 } as const;

interface Sample {
  readonly indices: readonly number[];
  readonly label: 0 | 1;
  readonly weight: number;
}

interface Example {
  readonly folded: string;
  readonly label: 0 | 1;
  readonly weight: number;
  readonly origin: keyof typeof WEIGHTS;
  /** What is learned of it: the features cost more than a fit does. */
  readonly samples: readonly Sample[];
}

/**
 * Logistic regression over hashed features of the tuning half, by AdaGrad from a fixed seed: the same texts give the same file.
 * The threshold is the one at which 5-fold cross-validation doubts as many ordinary texts as `FALSE_ALARMS` says; the held-out half is not touched.
 */
export function trainInjection({ set, phrases, ordinary }: TrainingTexts): OrderClassifierFile {
  const made = phraseTexts(phrases).map((text) => example(text, 'phrase'));
  const written = [
    ...set.entries.filter(({ half }) => half === 'tune').map((entry) => example(entry, 'own')),
    ...ordinary.map((text) => example({ text, label: 'ordinary' }, 'plain')),
  ];
  const scored = crossValidate(written, made);
  const scoresOf = (origin: Example['origin'], label: 0 | 1) =>
    scored
      .filter(({ example }) => example.origin === origin && example.label === label)
      .map(({ score }) => score);
  const [attacks, hard, plain] = [scoresOf('own', 1), scoresOf('own', 0), scoresOf('plain', 0)];
  const threshold = Math.max(exceededBy(hard, FALSE_ALARMS.hard), exceededBy(plain, FALSE_ALARMS.plain));
  const [file, weights] = fitted([...written, ...made], threshold);
  const doubted = (scores: readonly number[]) =>
    wilson(scores.filter((score) => score >= threshold).length, scores.length);
  return {
    ...file,
    weights: Buffer.from(weights.buffer).toString('base64'),
    trainedOn: {
      set: set.digest,
      phrases: made.length,
      crossValidation: {
        caught: doubted(attacks),
        falseAlarms: doubted(hard),
        plainFalseAlarms: doubted(plain),
      },
    },
  };
}

/** Every written text scored by a model that has not seen it; made-up combinations are only learned from. */
function crossValidate(written: readonly Example[], made: readonly Example[]) {
  const random = seededRandom(SEED);
  const folds = written.map(() => Math.floor(random() * FOLDS));
  return Array.from({ length: FOLDS }, (_, fold) => {
    const [file, weights] = fitted([...written.filter((_, i) => folds[i] !== fold), ...made], 0);
    const judge = createOrderClassifier(file, weights);
    return written
      .filter((_, i) => folds[i] === fold)
      .map((example) => ({ example, score: judge.score(example.folded).logOdds }));
  }).flat();
}

/** The lowest threshold, in hundredths, that at most this share of the scores reaches. */
function exceededBy(scores: readonly number[], share: number): number {
  const falling = scores.toSorted((a, b) => b - a);
  return Math.floor((falling[Math.floor(share * falling.length)] ?? 0) * 100 + 1) / 100;
}

function example({ text, label }: Pick<ScreenedText, 'text' | 'label'>, origin: Example['origin']): Example {
  const given = {
    folded: judgedText(text),
    label: label === 'attack' ? 1 : 0,
    weight: WEIGHTS[origin],
    origin,
  } as const;
  return { ...given, samples: samplesOf(given) };
}

/** Ordinary texts are learned sentence by sentence too, since that is how they will be judged. */
function samplesOf({ folded, label, weight }: Omit<Example, 'samples'>): readonly Sample[] {
  const parts = label === 0 ? partsOf(folded) : [folded];
  return parts
    .map((part) => ({ indices: orderFeatures(part).indices, label, weight }))
    .filter(({ indices }) => indices.length > 0);
}

function fitted(
  examples: readonly Example[],
  threshold: number,
): [Omit<OrderClassifierFile, 'weights'>, Int8Array] {
  const samples = examples.flatMap((example) => example.samples);
  const weights = new Float64Array(1 << FEATURE_BITS);
  const squares = new Float64Array(weights.length).fill(1e-8);
  let [bias, biasSquares] = [0, 1e-8];
  const random = seededRandom(SEED);
  const order = samples.map((_, index) => index);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    shuffle(order, random);
    for (const at of order) {
      const sample = samples[at];
      if (sample === undefined) continue;
      const value = featureValue(sample.indices.length);
      let logOdds = bias;
      for (const index of sample.indices) logOdds += (weights[index] ?? 0) * value;
      const gradient = (1 / (1 + Math.exp(-logOdds)) - sample.label) * sample.weight;
      biasSquares += gradient * gradient;
      bias -= (BIAS_STEP * gradient) / Math.sqrt(biasSquares);
      for (const index of sample.indices) {
        const step = gradient * value + L2 * (weights[index] ?? 0);
        const square = (squares[index] ?? 0) + step * step;
        squares[index] = square;
        weights[index] = (weights[index] ?? 0) - (STEP * step) / Math.sqrt(square);
      }
    }
  }
  return quantise(weights, bias, threshold);
}

function quantise(
  weights: Float64Array,
  bias: number,
  threshold: number,
): [Omit<OrderClassifierFile, 'weights'>, Int8Array] {
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-9);
  const scale = largest / 127;
  const codes = Int8Array.from(weights, (weight) => Math.round(weight / scale));
  const digest = createHash('sha256').update(codes).digest('hex');
  return [{ version: 1, bits: FEATURE_BITS, bias, scale, threshold, digest, trainedOn: {} }, codes];
}

function shuffle(list: number[], random: () => number): void {
  for (let i = list.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    const [a, b] = [list[i] ?? 0, list[j] ?? 0];
    list[i] = b;
    list[j] = a;
  }
}
