import {
  Arg,
  Ctx,
  ID,
  Int,
  Mutation,
  Query,
  Resolver,
  Root,
  type SubscribeResolverData,
  Subscription,
} from 'type-graphql';
import { isGranted, requireRole } from '../../domain/access.js';
import type { Caller } from '../../domain/api-key.js';
import { ErrataError } from '../../domain/errors.js';
import type { Job, JobKind } from '../../domain/job.js';
import { grantedScope, requireEveryNamespace, requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { JobKindEnum } from '../enums.js';
import { AttributeInputType, readAttributes } from '../note/attribute.js';
import { DEFAULT_PAGE_SIZE, readPageSize } from '../paging/page-request.js';
import { JobType } from './job.type.js';

/** A job without a namespace spans all of them: only a key for every namespace sees it. */
const maySee = (caller: Caller, job: Job): boolean =>
  job.namespace === undefined ? caller.namespaces === undefined : isGranted(caller, job.namespace);

/** Errors: `JOB_NOT_FOUND`, also for a job outside the key's grants. */
async function requireJob({ caller, useCases }: GraphqlContext, id: string): Promise<Job> {
  const job = await useCases.jobs.get(id);
  if (job === undefined || !maySee(caller, job)) {
    throw new ErrataError('JOB_NOT_FOUND', 'Expected a known job for id, received another id');
  }
  return job;
}

async function subscribeToJob({
  args,
  context,
}: SubscribeResolverData<unknown, Record<string, unknown>, GraphqlContext>): Promise<
  AsyncIterableIterator<Job>
> {
  requireRole(context.caller, 'admin');
  const job = await requireJob(context, String(args.id));
  return context.useCases.jobs.progress(job.id);
}

@Resolver()
export class JobResolver {
  @Query(() => JobType, { nullable: true, description: 'One job; null where there is none. Role: admin.' })
  async job(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The job's id." }) id: string,
  ): Promise<JobType | undefined> {
    requireRole(context.caller, 'admin');
    const job = await context.useCases.jobs.get(id);
    return job !== undefined && maySee(context.caller, job) ? job : undefined;
  }

  @Query(() => [JobType], {
    description: 'Newest first, of the namespaces that the key is granted. Role: admin.',
  })
  async jobs(
    @Ctx() context: GraphqlContext,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: DEFAULT_PAGE_SIZE,
      description: 'How many at most, 1…200.',
    })
    first?: number | null,
  ): Promise<JobType[]> {
    requireRole(context.caller, 'admin');
    const limit = readPageSize('first', first ?? DEFAULT_PAGE_SIZE);
    return [...(await context.useCases.jobs.list(grantedScope(context.caller), limit))];
  }

  @Mutation(() => JobType, { description: 'Queues background work. Role: admin.' })
  startJob(
    @Ctx() context: GraphqlContext,
    @Arg('kind', () => JobKindEnum, { description: 'What to do.' }) kind: JobKind,
    @Arg('namespace', () => String, { nullable: true, description: 'None: every namespace.' })
    namespace?: string | null,
    @Arg('options', () => [AttributeInputType], {
      nullable: true,
      description: 'Settings of the kind; unknown ones are refused.',
    })
    options?: AttributeInputType[] | null,
  ): Promise<JobType> {
    const { caller, useCases } = context;
    requireRole(caller, 'admin');
    if (namespace == null) requireEveryNamespace(caller);
    else requireNamespace(caller, namespace);
    return useCases.jobs.start(
      caller,
      kind,
      namespace ?? undefined,
      readAttributes(options, 'options') ?? {},
    );
  }

  @Mutation(() => JobType, { description: 'Asks a job to stop at its next safe point. Role: admin.' })
  async cancelJob(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The job's id." }) id: string,
  ): Promise<JobType> {
    requireRole(context.caller, 'admin');
    const job = await requireJob(context, id);
    return context.useCases.jobs.cancel(context.caller, job.id);
  }

  @Subscription(() => JobType, {
    description: 'The job now and after every change, until it has ended. Role: admin.',
    subscribe: subscribeToJob,
  })
  jobProgress(@Root() job: Job, @Arg('id', () => ID, { description: "The job's id." }) _id: string): JobType {
    return job;
  }
}
