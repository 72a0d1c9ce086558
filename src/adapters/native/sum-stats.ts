import type { VectorGraphOptions, VectorIndexStats } from '../../ports/vector-index.js';
import type { NativePartitionStats } from './load-addon.js';

/** What the index holds, out of what its partitions hold. */
export function sumStats(
  partitions: readonly NativePartitionStats[],
  notes: number,
  isa: string,
  { graphThreshold, connectivity, efConstruction, efSearch }: VectorGraphOptions,
): VectorIndexStats {
  const sum = (of: (stats: NativePartitionStats) => number): number =>
    partitions.reduce((total, stats) => total + of(stats), 0);
  const memory = {
    vectors: sum(({ rowBytes }) => rowBytes),
    codes: sum(({ codeBytes }) => codeBytes),
    graphs: sum(({ graphBytes }) => graphBytes),
    filters: sum(({ filterBytes }) => filterBytes),
    bookkeeping: sum(({ bookkeepingBytes }) => bookkeepingBytes),
  };
  return {
    partitions: partitions.length,
    notes,
    vectors: sum(({ rows }) => rows),
    tombstones: sum(({ tombstones }) => tombstones),
    memoryBytes: Object.values(memory).reduce((total, bytes) => total + bytes, 0),
    memory,
    graphs: sum(({ hasGraph }) => Number(hasGraph)),
    building: sum(({ building }) => Number(building)),
    graphOptions: { graphThreshold, connectivity, efConstruction, efSearch },
    isa,
  };
}
