/**
 * Exact McNemar test (binomial on the pairs that changed): two-sided p-value. `fixed` pairs went from wrong to right, `broken` ones
 * from right to wrong; under no difference each change is a fair coin's.
 */
export function mcnemarExact(fixed: number, broken: number): number {
  const changed = fixed + broken;
  if (changed === 0) return 1;
  const fewer = Math.min(fixed, broken);
  let tail = 0;
  for (let k = 0; k <= fewer; k += 1) tail += Math.exp(logChoose(changed, k) - changed * Math.LN2);
  return Math.min(1, 2 * tail);
}

/** ln of the binomial coefficient by summed logarithms: exact enough (1e-12) for the thousands of pairs that occur. */
function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i += 1) sum += Math.log(n - k + i) - Math.log(i);
  return sum;
}
