// What the cases of the models suite have in common.

export async function seconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

/** Round by round, so that what the machine does meanwhile falls on both. */
export const ratios = (others, own) => others.map((value, round) => value / own[round]);
export const total = (milliseconds) => milliseconds.reduce((sum, value) => sum + value, 0) / 1_000;
export const meets = (what, ok, value) => ({ what, ok, value: Math.round(value * 1_000) / 1_000 });
