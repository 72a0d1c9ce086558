import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { Instant } from '../../domain/note.js';
import type { Conflict, Retrieval, ScoredNote, Stage } from '../../domain/retrieval.js';
import type { PromptBlock } from '../../ports/use-cases.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { ConflictResolutionEnum } from '../enums.js';
import { FeedbackNoteType } from '../note/note.type.js';

@ObjectType('ScoredNote', { description: 'A note and what it scored.', simpleResolvers: true })
export class ScoredNoteType {
  @Field(() => FeedbackNoteType, {
    description: 'The note as it was when it was scored, or, in a receipt, as it is now.',
  })
  readonly note: FeedbackNoteType;
  @Field(() => Float, { description: 'What the order and the threshold use.' })
  readonly score: number;
  @Field(() => Float, { nullable: true, description: 'Cosine between query and note.' })
  readonly vectorScore: number | undefined;
  @Field(() => Int, { nullable: true, description: 'Rank among the hits by words, 1 is best.' })
  readonly lexicalRank: number | undefined;
  @Field(() => Int, { nullable: true, description: 'Rank among the hits by vector, 1 is best.' })
  readonly vectorRank: number | undefined;
  @Field(() => Float, {
    nullable: true,
    description: 'Raw score of the reranker; only comparable within one model.',
  })
  readonly rerankScore: number | undefined;

  @Field(() => Float, {
    nullable: true,
    description: "Chance that the note applies, by the namespace's calibration; null where it has none.",
  })
  readonly probability: number | undefined;

  constructor(scored: ScoredNote) {
    this.note = new FeedbackNoteType(scored.note);
    this.score = scored.score;
    this.vectorScore = scored.vectorScore;
    this.lexicalRank = scored.lexicalRank;
    this.vectorRank = scored.vectorRank;
    this.rerankScore = scored.rerankScore;
    this.probability = scored.probability;
  }
}

@ObjectType('Stage', { description: 'One step of a retrieval.', simpleResolvers: true })
export class StageType implements Stage {
  @Field(() => String, { description: 'Such as `embed`, `vector`, `lexical`, `hydrate`, `rerank`.' })
  readonly name!: string;
  @Field(() => Float, { description: 'Wall-clock milliseconds.' })
  readonly ms!: number;
  @Field(() => String, { nullable: true, description: 'What is worth knowing about it.' })
  readonly detail?: string | undefined;
}

@ObjectType('Conflict', {
  description: 'Two notes that say the opposite, until a reviewer has decided between them.',
  simpleResolvers: true,
})
class ConflictType implements Conflict {
  @Field(() => ID, { description: 'The older note.' })
  readonly noteId!: string;
  @Field(() => ID, { description: 'The newer one.' })
  readonly contestedBy!: string;
  @Field(() => ConflictResolutionEnum, { description: 'Which of the two was preferred.' })
  readonly resolution!: Conflict['resolution'];
}

@ObjectType('Retrieval', {
  description: 'One answer, with all it takes to explain it.',
  simpleResolvers: true,
})
export class RetrievalType {
  constructor(private readonly retrieval: Retrieval) {}

  @Field(() => ID, { description: 'The receipt: what `receipt` and `recordOutcome` take.' })
  get id(): string {
    return this.retrieval.id;
  }
  @Field(() => [ScoredNoteType], { description: 'At most finalK notes, best first; possibly none.' })
  get notes(): ScoredNoteType[] {
    return this.retrieval.notes.map((scored) => new ScoredNoteType(scored));
  }
  @Field(() => [ScoredNoteType], { description: 'What was considered, best first.' })
  get candidates(): ScoredNoteType[] {
    return this.retrieval.candidates.map((scored) => new ScoredNoteType(scored));
  }
  @Field(() => Boolean, { description: 'Whether nothing scored at least the threshold: a valid answer.' })
  get abstained(): boolean {
    return this.retrieval.abstained;
  }
  @Field(() => Float, { description: 'The threshold that was used.' })
  get threshold(): number {
    return this.retrieval.threshold;
  }
  @Field(() => String, { description: 'Scale of score and threshold: `cosine`, `logit` or `probability`.' })
  get scoreScale(): string {
    return this.retrieval.scoreScale;
  }
  @Field(() => [String], { description: 'Stages that could not run, and why; empty when all did.' })
  get degraded(): readonly string[] {
    return this.retrieval.degraded;
  }
  @Field(() => [ConflictType], {
    description: 'Notes whose opposite has been submitted since, and which of the two was preferred.',
  })
  get conflicts(): readonly ConflictType[] {
    return this.retrieval.conflicts ?? [];
  }
  @Field(() => String, { description: 'How the index searched.' })
  get plan(): string {
    return this.retrieval.plan;
  }
  @Field(() => Boolean, { description: 'Whether every allowed vector was compared.' })
  get exhaustive(): boolean {
    return this.retrieval.exhaustive;
  }
  @Field(() => String, { description: 'Store revision that the index had reached.' })
  get indexRevision(): string {
    return this.retrieval.indexRevision;
  }
  @Field(() => String, { description: 'Id of the embedding model.' })
  get embeddingModel(): string {
    return this.retrieval.embeddingModel;
  }
  @Field(() => String, { nullable: true, description: 'Id of the reranker; none where none ran.' })
  get rerankModel(): string | undefined {
    return this.retrieval.rerankModel;
  }
  @Field(() => Boolean, { description: 'Whether the query was longer than the model reads.' })
  get truncated(): boolean {
    return this.retrieval.truncated;
  }
  @Field(() => ID, {
    nullable: true,
    description: 'A note that applied and was withheld at random, so that its effect can be measured.',
  })
  get withheldNoteId(): string | undefined {
    const { trial } = this.retrieval;
    return trial?.withheld ? trial.noteId : undefined;
  }
  @Field(() => [StageType], { description: 'The steps, in order, with their times.' })
  get stages(): readonly StageType[] {
    return this.retrieval.stages;
  }
  @Field(() => DateTimeScalar, { description: 'When it was answered.' })
  get createdAt(): Instant {
    return this.retrieval.createdAt;
  }
}

@ObjectType('PromptBlock', { description: 'A prompt that is safe to paste.', simpleResolvers: true })
export class PromptBlockType {
  @Field(() => String, {
    description: 'Instructions, fenced lessons, the warning that they are data, and the item.',
  })
  readonly prompt: string;
  @Field(() => String, { description: 'The fenced lessons alone.' })
  readonly context: string;
  @Field(() => Int, { description: 'Tokens of the fenced lessons.' })
  readonly contextTokens: number;
  @Field(() => [FeedbackNoteType], { description: 'Notes whose lessons are in the prompt, best first.' })
  readonly included: readonly FeedbackNoteType[];
  @Field(() => [FeedbackNoteType], { description: 'Notes that were found but did not fit the budget.' })
  readonly omitted: readonly FeedbackNoteType[];
  @Field(() => RetrievalType, { description: 'The answer that the prompt was built from.' })
  readonly retrieval: RetrievalType;

  constructor(block: PromptBlock) {
    this.prompt = block.prompt;
    this.context = block.context;
    this.contextTokens = block.contextTokens;
    this.included = block.included.map((note) => new FeedbackNoteType(note));
    this.omitted = block.omitted.map((note) => new FeedbackNoteType(note));
    this.retrieval = new RetrievalType(block.retrieval);
  }
}
