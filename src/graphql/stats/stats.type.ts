import { Field, Float, Int, ObjectType } from 'type-graphql';
import type { StatusCounts } from '../../ports/note-store.js';
import type { Stats } from '../../ports/use-cases.js';
import type { VectorIndexStats } from '../../ports/vector-index.js';
import { ModelStateType } from './model-state.type.js';

@ObjectType('TaskTypeCount', { description: 'Notes of one task type by status.', simpleResolvers: true })
export class TaskTypeCountType implements Omit<StatusCounts, 'namespace'> {
  @Field(() => String, { description: 'The task type.' })
  readonly taskType!: string;
  @Field(() => Int, { description: 'Notes that are retrieved.' })
  readonly active!: number;
  @Field(() => Int, { description: 'Notes that wait for a reviewer.' })
  readonly pending!: number;
  @Field(() => Int, { description: 'Notes taken out of retrieval.' })
  readonly deprecated!: number;
  @Field(() => Int, { description: 'Notes held back by the screen.' })
  readonly quarantined!: number;
}

/** The port counts a namespace and task type; the interface counts a task type over the namespaces in scope. */
function sumByTaskType(counts: readonly StatusCounts[]): readonly TaskTypeCountType[] {
  const sums = new Map<string, TaskTypeCountType>();
  for (const { taskType, active, pending, deprecated, quarantined } of counts) {
    const sum = sums.get(taskType);
    sums.set(taskType, {
      taskType,
      active: (sum?.active ?? 0) + active,
      pending: (sum?.pending ?? 0) + pending,
      deprecated: (sum?.deprecated ?? 0) + deprecated,
      quarantined: (sum?.quarantined ?? 0) + quarantined,
    });
  }
  return [...sums.values()].sort((a, b) => (a.taskType < b.taskType ? -1 : 1));
}

@ObjectType('VectorIndexStats', {
  description: "This process's vector index. Bytes are numbers that may exceed 2^31.",
  simpleResolvers: true,
})
export class VectorIndexStatsType {
  @Field(() => Int, { description: 'One a namespace and task type.' })
  readonly partitions: number;
  @Field(() => Int, { description: 'Partitions that have a graph; the others are scanned.' })
  readonly graphs: number;
  @Field(() => Int, { description: 'Partitions whose graph is being built; meanwhile they are scanned.' })
  readonly building: number;
  @Field(() => Int, { description: 'Vectors held.' })
  readonly vectors: number;
  @Field(() => Int, { description: 'Slots of removed vectors that wait to be used again.' })
  readonly tombstones: number;
  @Field(() => String, { description: 'Instruction set in use.' })
  readonly isa: string;
  @Field(() => Int, { nullable: true, description: 'Vectors from which a partition gets a graph.' })
  readonly graphThreshold: number | undefined;
  @Field(() => Int, { nullable: true, description: 'Links of a graph node a level (M of HNSW).' })
  readonly connectivity: number | undefined;
  @Field(() => Int, { nullable: true, description: 'Beam while a graph is built.' })
  readonly efConstruction: number | undefined;
  @Field(() => Int, { nullable: true, description: 'Beam of graph searches that name none.' })
  readonly efSearch: number | undefined;
  @Field(() => Float, { description: 'All of it.' })
  readonly memoryBytes: number;
  @Field(() => Float, { description: 'The float32 vectors.' })
  readonly vectorBytes: number;
  @Field(() => Float, { description: 'One byte an element, for first passes.' })
  readonly codeBytes: number;
  @Field(() => Float, { description: 'Links between neighbours.' })
  readonly graphBytes: number;
  @Field(() => Float, { description: 'Which vector has which attribute, and filters asked for lately.' })
  readonly filterBytes: number;
  @Field(() => Float, { description: 'Which vector belongs to which note.' })
  readonly bookkeepingBytes: number;

  constructor(stats: VectorIndexStats) {
    const { memory, graphOptions } = stats;
    this.partitions = stats.partitions;
    this.graphs = stats.graphs ?? 0;
    this.building = stats.building ?? 0;
    this.vectors = stats.vectors;
    this.tombstones = stats.tombstones;
    this.isa = stats.isa;
    this.graphThreshold = graphOptions?.graphThreshold;
    this.connectivity = graphOptions?.connectivity;
    this.efConstruction = graphOptions?.efConstruction;
    this.efSearch = graphOptions?.efSearch;
    this.memoryBytes = stats.memoryBytes;
    this.vectorBytes = memory?.vectors ?? 0;
    this.codeBytes = memory?.codes ?? 0;
    this.graphBytes = memory?.graphs ?? 0;
    this.filterBytes = memory?.filters ?? 0;
    this.bookkeepingBytes = memory?.bookkeeping ?? 0;
  }
}

@ObjectType('Stats', { description: 'What is stored and how the process does.', simpleResolvers: true })
export class StatsType {
  @Field(() => Int, { description: 'Notes of every status.' })
  readonly notes: number;
  @Field(() => [TaskTypeCountType], { description: 'By task type, in its order.' })
  readonly byTaskType: readonly TaskTypeCountType[];
  @Field(() => Int, { description: 'Vectors that the index holds.' })
  readonly indexedVectors: number;
  @Field(() => String, { description: 'Id of the embedding model.' })
  readonly embeddingModel: string;
  @Field(() => String, {
    nullable: true,
    description: 'What is weaker about the embedding model than about others, and what to do; none: nothing.',
  })
  readonly embeddingNotice: string | undefined;
  @Field(() => String, { nullable: true, description: 'Id of the reranker; none: not configured.' })
  readonly rerankModel: string | undefined;
  @Field(() => String, { description: "The store and its server's version." })
  readonly store: string;
  @Field(() => Float, {
    nullable: true,
    description: 'Share of query embeddings that came from the cache, 0…1; none before the first look-up.',
  })
  readonly cacheHitRate: number | undefined;
  @Field(() => Int, { description: 'Texts that were longer than the model reads, since the start.' })
  readonly truncatedTexts: number;
  @Field(() => Float, { description: 'Seconds since the process started.' })
  readonly uptimeSeconds: number;
  @Field(() => VectorIndexStatsType, {
    nullable: true,
    description: 'The vector index; only for callers that may see every namespace.',
  })
  readonly vectorIndex: VectorIndexStatsType | undefined;
  @Field(() => [ModelStateType], {
    nullable: true,
    description: "This process's models; only for callers that may see every namespace.",
  })
  readonly models: readonly ModelStateType[] | undefined;

  constructor(stats: Stats) {
    this.notes = stats.notes;
    this.byTaskType = sumByTaskType(stats.byTaskType);
    this.indexedVectors = stats.indexedVectors;
    this.embeddingModel = stats.embeddingModel;
    this.embeddingNotice = stats.embeddingNotice;
    this.rerankModel = stats.rerankModel;
    this.store = stats.store;
    this.cacheHitRate = stats.cacheHitRate;
    this.truncatedTexts = stats.truncatedTexts;
    this.uptimeSeconds = stats.uptimeSeconds;
    this.models = stats.models?.map((state) => new ModelStateType(state));
    this.vectorIndex = stats.vectorIndex && new VectorIndexStatsType(stats.vectorIndex);
  }
}
