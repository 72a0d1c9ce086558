/** A share with its 95% interval; all of 0…1. */
export interface Share {
  readonly count: number;
  readonly total: number;
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** 97.5th percentile of the normal distribution: two-sided 95%. */
const Z = 1.959964;

/**
 * `count` of `total` with Wilson's score interval (Wilson, JASA 1927): unlike the normal approximation it stays inside 0…1
 * and says something useful for 0 of n. Without trials nothing is known: 0…1.
 */
export function wilson(count: number, total: number): Share {
  if (total === 0) return { count, total, rate: 0, low: 0, high: 1 };
  const rate = count / total;
  const spread = Z * Math.sqrt((rate * (1 - rate)) / total + (Z * Z) / (4 * total * total));
  const centre = rate + (Z * Z) / (2 * total);
  const scale = 1 + (Z * Z) / total;
  return {
    count,
    total,
    rate,
    low: Math.max(0, (centre - spread) / scale),
    high: Math.min(1, (centre + spread) / scale),
  };
}
