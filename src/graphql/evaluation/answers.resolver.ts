import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { readPageSize } from '../paging/page-request.js';
import { AnswerCasesType, AnswerRunType } from './answers.type.js';

const DEFAULT_RUNS = 10;

@Resolver()
export class AnswersResolver {
  @Query(() => [AnswerRunType], {
    description:
      "A checker's answers without and with lessons, compared, newest first; the last 20 are kept. Start one with job ANSWERS or compareAnswers.",
  })
  async answerRuns(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: DEFAULT_RUNS,
      description: 'How many at most, 1…200.',
    })
    first?: number | null,
  ): Promise<AnswerRunType[]> {
    const { caller, useCases } = context;
    requireRole(caller, 'reader');
    const named = requireNamespace(caller, namespace);
    const runs = await useCases.evaluations.answerRuns(named, readPageSize('first', first ?? DEFAULT_RUNS));
    return runs.map((run) => new AnswerRunType(run));
  }

  @Query(() => AnswerCasesType, {
    nullable: true,
    description: 'The cases that job ANSWERS asks about; null where none are saved.',
  })
  answerCases(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
  ): Promise<AnswerCasesType | undefined> {
    const { caller, useCases } = context;
    requireRole(caller, 'reader');
    return useCases.evaluations.answerCases(requireNamespace(caller, namespace));
  }

  @Mutation(() => AnswerCasesType, {
    description:
      'Replaces the cases that job ANSWERS asks about. Errors: INVALID_FILE with the line, INPUT_TOO_LARGE, VERSION_CONFLICT. Role: admin.',
  })
  saveAnswerCases(
    @Ctx() context: GraphqlContext,
    @Arg('jsonl', () => String, {
      description: 'One case a line: id, truth, item, query, taskType, attributes; at most 5,000.',
    })
    jsonl: string,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
    @Arg('ifDigest', () => String, {
      nullable: true,
      description: 'Only where this version stands; null: only where none does; left out: whatever stands.',
    })
    ifDigest?: string | null,
  ): Promise<AnswerCasesType> {
    const { caller, useCases } = context;
    requireRole(caller, 'admin');
    return useCases.evaluations.saveAnswerCases(caller, requireNamespace(caller, namespace), jsonl, {
      ifDigest,
    });
  }

  @Mutation(() => AnswerRunType, {
    description:
      'Compares recorded answers and keeps the figures. Errors: INVALID_FILE with the line, INVALID_INPUT where no case has both answers, INPUT_TOO_LARGE. Role: admin.',
  })
  async compareAnswers(
    @Ctx() context: GraphqlContext,
    @Arg('before', () => String, { description: 'Without lessons; JSONL: id, flagged.' }) before: string,
    @Arg('after', () => String, { description: 'With lessons; JSONL: id, flagged, notes, without.' })
    after: string,
    @Arg('cases', () => String, { nullable: true, description: 'JSONL; none: the saved ones.' })
    cases?: string | null,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
  ): Promise<AnswerRunType> {
    const { caller, useCases } = context;
    requireRole(caller, 'admin');
    const named = requireNamespace(caller, namespace);
    const answers = { before, after, cases: cases ?? undefined };
    return new AnswerRunType(await useCases.evaluations.compareAnswers(caller, named, answers));
  }
}
