import { randomBytes } from 'node:crypto';
import type { Caller } from '../domain/api-key.js';
import { checkText, kindOf } from '../domain/check-text.js';
import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { TokenCounters } from '../ports/token-counter.js';
import type { BuildPromptRequest, PromptBlock, RetrievalQueries } from '../ports/use-cases.js';
import { checkCount } from './check-request.js';
import { renderPromptBlock } from './prompt-block.js';
import { readReceipt } from './receipts.js';
import { notesOf, type RetrieveDeps, retrieve } from './retrieve.js';

const DEFAULT_CONTEXT_TOKENS = 800;

export interface RetrievalQueriesDeps extends RetrieveDeps {
  readonly tokenCounters: TokenCounters;
}

/** The read path's use cases. */
export function createRetrievalQueries(deps: RetrievalQueriesDeps): RetrievalQueries {
  return {
    retrieve: (caller, request, options) => retrieve(deps, caller, request, options?.signal),
    buildPrompt: (caller, request, options) => buildPrompt(deps, caller, request, options?.signal),
    receipt: (scope, id) => readReceipt(deps.store, scope, id),
  };
}

async function buildPrompt(
  deps: RetrievalQueriesDeps,
  caller: Caller,
  request: BuildPromptRequest,
  signal: AbortSignal | undefined,
): Promise<PromptBlock> {
  const baseInstructions = checkPassThrough(
    request.baseInstructions,
    'baseInstructions',
    LIMITS.baseInstructionsLength,
  );
  const item = checkText(request.item, 'item', LIMITS.itemLength);
  const maxContextTokens = checkCount(
    request.maxContextTokens ?? DEFAULT_CONTEXT_TOKENS,
    'maxContextTokens',
    LIMITS.maxContextTokens,
  );
  const counter = deps.tokenCounters.get(request.tokenizer ?? undefined);
  const retrieval = await retrieve(deps, caller, request.retrieve, signal);
  const nonce = randomBytes(12).toString('hex');
  const block = renderPromptBlock({
    notes: notesOf(retrieval),
    baseInstructions,
    item,
    maxContextTokens,
    counter,
    nonce,
  });
  return { ...block, retrieval };
}

/** Text that may be empty: some callers keep their instructions in a system message. */
function checkPassThrough(value: unknown, name: string, maxLength: number): string {
  if (typeof value !== 'string') {
    throw new ErrataError('INVALID_INPUT', `Expected text for ${name}, received ${kindOf(value)}`, {
      details: { field: name },
    });
  }
  return value === '' ? value : checkText(value, name, maxLength);
}
