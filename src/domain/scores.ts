declare const scale: unique symbol;

/** Cosine of two unit vectors, −1…1. */
export type CosineScore = number & { readonly [scale]: 'cosine' };
/** Raw output of a cross-encoder; unbounded, only comparable within one model. */
export type RerankLogit = number & { readonly [scale]: 'logit' };
/** Fitted chance that a note applies, 0…1. */
export type Probability = number & { readonly [scale]: 'probability' };
/** Cosine plus a share of BM25; only good for ordering one answer's candidates. */
export type FusionScore = number & { readonly [scale]: 'fusion' };

/** The name of a scale as it stands in answers, receipts and calibrations. */
export type ScoreScale = 'cosine' | 'logit' | 'probability';

export const cosine = (value: number): CosineScore => value as CosineScore;
export const logit = (value: number): RerankLogit => value as RerankLogit;
export const probability = (value: number): Probability => value as Probability;
export const fusionScore = (value: number): FusionScore => value as FusionScore;
