import { Field, Float, InputType, Int } from 'type-graphql';
import type { Caller } from '../../domain/api-key.js';
import { LIMITS } from '../../domain/limits.js';
import type { Risk } from '../../domain/retrieval.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import type { BuildPromptRequest, RetrieveRequest } from '../../ports/use-cases.js';
import { requireNamespace } from '../access.js';
import { RiskEnum } from '../enums.js';
import { AttributeInputType, readAttributes } from '../note/attribute.js';

@InputType('RetrieveInput', { description: 'What is about to be judged, and where to look for lessons.' })
export class RetrieveInputType {
  @Field(() => String, { nullable: true, defaultValue: DEFAULT_NAMESPACE, description: 'Tenant boundary.' })
  namespace?: string | null;
  @Field(() => String, { description: 'What the check is about, in a sentence or a few.' })
  query!: string;
  @Field(() => String, { nullable: true, description: 'None: every task type of the namespace.' })
  taskType?: string | null;
  @Field(() => [AttributeInputType], { nullable: true, description: 'All must match.' })
  attributes?: AttributeInputType[] | null;
  @Field(() => Int, {
    nullable: true,
    defaultValue: 20,
    description: `Candidates to consider, 1…${LIMITS.candidateK}.`,
  })
  candidateK?: number | null;
  @Field(() => Int, {
    nullable: true,
    defaultValue: 3,
    description: `Notes to answer with at most, 1…${LIMITS.finalK}.`,
  })
  finalK?: number | null;
  @Field(() => Int, {
    nullable: true,
    description: `Beam where vectors are searched by a graph, 1…${LIMITS.efSearch}; none: as the installation sets it.`,
  })
  efSearch?: number | null;
  @Field(() => Float, {
    nullable: true,
    description:
      'Least score of an answer, on the scale that `Retrieval.scoreScale` names; none: the calibrated one.',
  })
  threshold?: number | null;
  @Field(() => RiskEnum, { nullable: true, defaultValue: 'NORMAL', description: 'LOW: no reranking.' })
  risk?: Risk | null;
}

@InputType('BuildPromptInput', { description: 'What to retrieve, and what to put around it.' })
export class BuildPromptInputType {
  @Field(() => RetrieveInputType, { description: 'What to retrieve.' })
  retrieve!: RetrieveInputType;
  @Field(() => String, { description: 'Instructions that stand before the lessons.' })
  baseInstructions!: string;
  @Field(() => String, { description: 'The item to analyse; stands last.' })
  item!: string;
  @Field(() => Int, {
    nullable: true,
    defaultValue: 800,
    description: 'Budget of the lessons block, counted after escaping; what does not fit is left out whole.',
  })
  maxContextTokens?: number | null;
  @Field(() => String, { nullable: true, description: 'Whose tokens are counted, such as `o200k_base`.' })
  tokenizer?: string | null;
}

/** Numbers are checked by the use case. Errors: `FORBIDDEN`, `INVALID_INPUT`. */
export function readRetrieve(caller: Caller, input: RetrieveInputType): RetrieveRequest {
  const attributes = readAttributes(input.attributes, 'attributes');
  return {
    namespace: requireNamespace(caller, input.namespace),
    query: input.query,
    ...(input.taskType != null && { taskType: input.taskType }),
    ...(attributes !== undefined && { attributes }),
    ...(input.candidateK != null && { candidateK: input.candidateK }),
    ...(input.finalK != null && { finalK: input.finalK }),
    ...(input.efSearch != null && { efSearch: input.efSearch }),
    ...(input.threshold != null && { threshold: input.threshold }),
    ...(input.risk != null && { risk: input.risk }),
  };
}

/** Errors: `FORBIDDEN`, `INVALID_INPUT`. */
export function readBuildPrompt(caller: Caller, input: BuildPromptInputType): BuildPromptRequest {
  return {
    retrieve: readRetrieve(caller, input.retrieve),
    baseInstructions: input.baseInstructions,
    item: input.item,
    ...(input.maxContextTokens != null && { maxContextTokens: input.maxContextTokens }),
    ...(input.tokenizer != null && { tokenizer: input.tokenizer }),
  };
}
