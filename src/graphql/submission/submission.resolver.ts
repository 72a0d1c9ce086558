import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import type { Caller } from '../../domain/api-key.js';
import { ErrataError, isErrataError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { CorrectionInput, SubmitResult } from '../../ports/use-cases.js';
import type { GraphqlContext } from '../context.js';
import { CorrectionInputType, readCorrection } from './correction.input.js';
import { SubmitResultType } from './submission.type.js';

/** What one entry of a batch maps to: an input for the use case, or the refusal that stands in its place. */
type BatchEntry = { readonly input: CorrectionInput } | { readonly refused: SubmitResult };

function readEntry(caller: Caller, input: CorrectionInputType): BatchEntry {
  try {
    return { input: readCorrection(caller, input) };
  } catch (error) {
    if (!isErrataError(error)) throw error;
    const rule = error.code === 'FORBIDDEN' ? 'access.namespace' : 'validation.input';
    const finding = { rule, field: String(error.details.field ?? 'input'), reason: error.message };
    return { refused: { outcome: 'REFUSED', findings: [finding] } };
  }
}

@Resolver()
export class SubmissionResolver {
  @Mutation(() => SubmitResultType, {
    description:
      'Stores a correction, or adds its support to the note that says the same. Re-submitting is harmless. Role: reviewer.',
  })
  async submitCorrection(
    @Ctx() context: GraphqlContext,
    @Arg('input', () => CorrectionInputType, { description: 'The correction.' }) input: CorrectionInputType,
  ): Promise<SubmitResultType> {
    requireRole(context.caller, 'reviewer');
    const correction = readCorrection(context.caller, input);
    context.loaders.clear();
    return new SubmitResultType(await context.useCases.commands.submit(context.caller, correction));
  }

  @Mutation(() => [SubmitResultType], {
    description: `Up to ${LIMITS.batchSize.toLocaleString('en')} corrections, each judged on its own: an invalid one gets outcome REFUSED, the others go on. Results stand in the order of the inputs. Role: reviewer.`,
  })
  async submitCorrections(
    @Ctx() context: GraphqlContext,
    @Arg('inputs', () => [CorrectionInputType], { description: 'The corrections.' })
    inputs: CorrectionInputType[],
  ): Promise<SubmitResultType[]> {
    const { caller, loaders, useCases } = context;
    requireRole(caller, 'reviewer');
    if (inputs.length > LIMITS.batchSize) {
      throw new ErrataError(
        'INPUT_TOO_LARGE',
        `Expected at most ${LIMITS.batchSize} entries for inputs, received ${inputs.length}`,
        { details: { field: 'inputs', maximum: LIMITS.batchSize } },
      );
    }
    loaders.clear();
    const entries = inputs.map((input) => readEntry(caller, input));
    const accepted = entries.flatMap((entry) => ('input' in entry ? [entry.input] : []));
    const judged = accepted.length === 0 ? [] : await useCases.commands.submitMany(caller, accepted);
    const answers = judged[Symbol.iterator]();
    return entries.map((entry) => {
      const result = 'refused' in entry ? entry.refused : answers.next().value;
      if (result === undefined)
        throw new ErrataError('INTERNAL', 'Expected one result an input for submitMany');
      return new SubmitResultType(result);
    });
  }
}
