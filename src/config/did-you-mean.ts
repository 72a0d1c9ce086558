/** Edit distance with neighbouring swaps counted once (optimal string alignment). O(a·b) time, names are short. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/**
 * The known name nearest to a mistyped one; none where nothing is near. Near: at most a third of the letters differ, which
 * finds transposed, missing and doubled letters without proposing unrelated names.
 */
function nearestName(received: string, known: readonly string[]): string | undefined {
  const wanted = received.toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return best !== undefined && best.distance <= limit ? best.name : undefined;
}

/** `; did you mean X?`, or nothing. */
export function didYouMean(received: string, known: readonly string[]): string {
  const name = nearestName(received, known);
  return name === undefined ? '' : `; did you mean ${name}?`;
}
