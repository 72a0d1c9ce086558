import { Field, Float, Int, ObjectType } from 'type-graphql';
import type { Difference } from '../domain/newcombe.js';
import type { Share } from '../domain/wilson.js';

@ObjectType('Share', { description: "A share with its 95% interval (Wilson's).", simpleResolvers: true })
export class ShareType implements Share {
  @Field(() => Int, { description: 'Cases that count.' })
  readonly count!: number;
  @Field(() => Int, { description: 'All cases.' })
  readonly total!: number;
  @Field(() => Float, { description: 'Their ratio, 0 where there is no case.' })
  readonly rate!: number;
  @Field(() => Float, { description: 'Lower bound.' })
  readonly low!: number;
  @Field(() => Float, { description: 'Upper bound.' })
  readonly high!: number;
}

@ObjectType('Difference', {
  description: "Difference of two shares with its 95% interval (Newcombe's).",
  simpleResolvers: true,
})
export class DifferenceType implements Difference {
  @Field(() => Float, { description: 'The first share minus the second.' })
  readonly difference!: number;
  @Field(() => Float, { description: 'Lower bound.' })
  readonly low!: number;
  @Field(() => Float, { description: 'Upper bound.' })
  readonly high!: number;
}
