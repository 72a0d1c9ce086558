import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { Job, JobKind } from '../../domain/job.js';
import type { Instant } from '../../domain/note.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { JobKindEnum } from '../enums.js';

@ObjectType('Job', {
  description: 'Background work: survives restarts, runs once at a time.',
  simpleResolvers: true,
})
export class JobType
  implements Pick<Job, 'id' | 'kind' | 'state' | 'done' | 'total' | 'message' | 'startedAt' | 'finishedAt'>
{
  @Field(() => ID, { description: 'What `job`, `cancelJob` and `jobProgress` take.' })
  readonly id!: string;
  @Field(() => JobKindEnum, { description: 'What it does.' })
  readonly kind!: JobKind;
  @Field(() => String, { description: '`QUEUED`, `RUNNING`, `SUCCEEDED`, `FAILED` or `CANCELLED`.' })
  readonly state!: Job['state'];
  @Field(() => Int, { description: 'Items done so far.' })
  readonly done!: number;
  @Field(() => Int, { nullable: true, description: 'Items in all, where known.' })
  readonly total?: number | undefined;
  @Field(() => String, { nullable: true, description: 'Outcome, or why it failed.' })
  readonly message?: string | undefined;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it first ran; none: queued.' })
  readonly startedAt?: Instant | undefined;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ended; none: not yet.' })
  readonly finishedAt?: Instant | undefined;
}
