import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { buildSchemaSync, type PubSub } from 'type-graphql';
import { AuditResolver } from './audit/audit.resolver.js';
import { EffectResolver } from './effect/effect.resolver.js';
import { AnswersResolver } from './evaluation/answers.resolver.js';
import { EvaluationResolver } from './evaluation/evaluation.resolver.js';
import { GoldenSetResolver } from './evaluation/golden-set.resolver.js';
import { SweepResolver } from './evaluation/sweep.resolver.js';
import { InfluenceResolver } from './influence/influence.resolver.js';
import { JobResolver } from './job/job.resolver.js';
import { KeyResolver } from './key/key.resolver.js';
import { NoteResolver } from './note/note.resolver.js';
import { NoteChangesResolver } from './note/note-changes.resolver.js';
import { NoteLifecycleResolver } from './note/note-lifecycle.resolver.js';
import { NoteVersionResolver } from './note/note-version.resolver.js';
import { RetrievalResolver } from './retrieval/retrieval.resolver.js';
import { ReviewResolver } from './review/review.resolver.js';
import { StatsResolver } from './stats/stats.resolver.js';
import { SubmissionResolver } from './submission/submission.resolver.js';

/** type-graphql asks for one wherever there are subscriptions; ours follow the use cases' iterators instead. */
const noPubSub: PubSub = {
  publish: () => undefined,
  subscribe: () => {
    throw new Error('Expected every subscription to bring its own iterator');
  },
};

let built: GraphQLSchema | undefined;

/** type-graphql takes descriptions for every type but the three roots. */
function describeRoot(root: { description: unknown } | null | undefined, description: string): void {
  if (root != null) root.description = description;
}

/**
 * The executable schema, built once a process: it holds no state of an installation, resolvers get theirs from the context.
 * Input checks beyond types belong to the use cases, hence no validator here.
 */
export function buildGraphqlSchema(): GraphQLSchema {
  built ??= buildSchemaSync({
    resolvers: [
      NoteResolver,
      NoteLifecycleResolver,
      NoteChangesResolver,
      SubmissionResolver,
      RetrievalResolver,
      AuditResolver,
      InfluenceResolver,
      EffectResolver,
      NoteVersionResolver,
      JobResolver,
      EvaluationResolver,
      GoldenSetResolver,
      SweepResolver,
      AnswersResolver,
      ReviewResolver,
      StatsResolver,
      KeyResolver,
    ],
    validate: false,
    pubSub: noPubSub,
  });
  describeRoot(built.getQueryType(), 'What can be asked. Needs role reader where nothing else is said.');
  describeRoot(built.getMutationType(), 'What can be changed. Each says which role it needs.');
  describeRoot(built.getSubscriptionType(), 'What can be followed over WebSocket (graphql-transport-ws).');
  return built;
}
