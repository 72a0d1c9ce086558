import { Field, Float, Int, ObjectType } from 'type-graphql';
import type { LocalRuntime, ModelState, ServiceUsage } from '../../ports/model-runtime.js';
import { BatchKindEnum, LayoutReasonEnum, ModelRoleEnum } from '../enums.js';

@ObjectType('ServiceUsage', {
  description: 'What a hosted model was asked for since this process started.',
  simpleResolvers: true,
})
export class ServiceUsageType implements ServiceUsage {
  @Field(() => Int, { description: 'Requests, each counted once.' })
  readonly requests!: number;
  @Field(() => Int, { description: 'Attempts beyond the first of a request.' })
  readonly retries!: number;
  @Field(() => Int, { description: 'Requests that ended with an error after all attempts.' })
  readonly failures!: number;
  @Field(() => Float, { description: 'What the service bills: tokens, or search units of a reranker.' })
  readonly billedUnits!: number;
}

@ObjectType('LocalRuntime', { description: 'How a local model runs in this process.', simpleResolvers: true })
export class LocalRuntimeType implements Omit<LocalRuntime, 'refused'> {
  @Field(() => String, { description: 'Execution provider: cpu, cuda, tensorrt, dml or coreml.' })
  readonly provider!: LocalRuntime['provider'];
  @Field(() => Int, { description: 'Sessions, each with a thread of its own that it is called on.' })
  readonly sessions!: number;
  @Field(() => Int, { description: 'Threads that a session computes with.' })
  readonly threadsPerSession!: number;
  @Field(() => LayoutReasonEnum, { description: 'Why so many sessions.' })
  readonly layout!: LocalRuntime['layout'];
  @Field(() => BatchKindEnum, { description: 'Which texts share a run.' })
  readonly batches!: LocalRuntime['batches'];
  @Field(() => Boolean, { description: 'Whether the optimised graph came from an earlier start.' })
  readonly graphRemembered!: boolean;
}

@ObjectType('ModelState', { description: 'A model that this process uses.', simpleResolvers: true })
export class ModelStateType {
  @Field(() => ModelRoleEnum, { description: 'What it is used for.' })
  readonly role: ModelState['role'];
  @Field(() => String, { description: 'Its id, as in receipts.' })
  readonly id: string;
  @Field(() => LocalRuntimeType, { nullable: true, description: 'Only of local models.' })
  readonly runtime: LocalRuntimeType | undefined;
  @Field(() => ServiceUsageType, { nullable: true, description: 'Only of hosted models.' })
  readonly usage: ServiceUsageType | undefined;

  constructor({ role, id, runtime, usage }: ModelState) {
    this.role = role;
    this.id = id;
    this.runtime = runtime;
    this.usage = usage;
  }
}
