/**
 * The least CPU time of several runs, in milliseconds. Time on the clock also counts the other processes of a loaded
 * machine; the process's own time does not, and of several runs the least is the one without compiler or collector.
 */
export function leastCpuMs(run: () => unknown, runs = 5): number {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < runs; count += 1) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
