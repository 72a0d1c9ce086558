export interface JudgedAnswer {
  readonly answerable: boolean;
  /** Best score of the answer. */
  readonly top: number;
}

/** The threshold that maximises (share of answerable queries answered) − (share of unanswerable ones answered). */
export function pickThreshold(answers: readonly JudgedAnswer[]): number {
  const answerable = answers.filter((answer) => answer.answerable).length;
  const unanswerable = answers.length - answerable;
  let choice = { threshold: 0.5, gain: Number.NEGATIVE_INFINITY };
  for (const { top: threshold } of answers) {
    const passed = answers.filter(({ top }) => top >= threshold);
    const right = passed.filter((answer) => answer.answerable).length;
    const gain = right / Math.max(1, answerable) - (passed.length - right) / Math.max(1, unanswerable);
    if (gain > choice.gain) choice = { threshold, gain };
  }
  return choice.threshold;
}
