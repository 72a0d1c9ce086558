import { createHash } from 'node:crypto';
import type { Caller } from '../../domain/api-key.js';
import { ErrataError } from '../../domain/errors.js';
import type { FeedbackNote } from '../../domain/note.js';
import type { ChatModel } from '../../ports/chat-model.js';
import type { TokenCounter } from '../../ports/token-counter.js';
import type { RetrievalQueries } from '../../ports/use-cases.js';
import { renderPromptBlock } from '../../retrieval/prompt-block.js';
import type { CheckerAnswer, CheckerCase } from './checker-records.js';

export interface AskOptions {
  readonly chat: ChatModel;
  readonly retrieval: Pick<RetrievalQueries, 'retrieve'>;
  readonly counter: TokenCounter;
  readonly caller: Caller;
  readonly namespace: string;
  readonly cases: readonly CheckerCase[];
  readonly instructions: string;
  /** Ask again with each lesson left out, where lessons changed the answer and there were several. */
  readonly attribute: boolean;
  /** Cases at once; the chat model has a limit of its own. */
  readonly concurrency: number;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** A case's answers as soon as they are there; the next case of the same worker waits for it. */
  readonly onAnswered?: ((answers: AnsweredCase) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a checker said of one case without and with lessons. */
export interface AnsweredCase {
  readonly before: CheckerAnswer;
  readonly after: CheckerAnswer;
}

export interface AskedAnswers {
  readonly before: readonly CheckerAnswer[];
  readonly after: readonly CheckerAnswer[];
  /** Why not every case was asked: a budget that was used up. */
  readonly stopped?: string | undefined;
}

const MAX_ANSWER_TOKENS = 1_024;
const MAX_CONTEXT_TOKENS = 800;
/** The last verdict counts: models weigh both before they decide. */
const VERDICT = /VERDICT\W{1,5}(FLAG|PASS)\b/gi;

/** What instructions must end with, so that verdicts can be read. */
export const VERDICT_INSTRUCTIONS =
  'End your answer with one line: "VERDICT: FLAG" where the finding applies, or "VERDICT: PASS" where it does not.';

/** True: flagged. Null where the text has no verdict. */
export function readVerdict(text: string): boolean | null {
  const last = [...text.matchAll(VERDICT)].at(-1);
  return last === undefined ? null : last[1]?.toUpperCase() === 'FLAG';
}

/**
 * Asks a checker about every case twice: as without Errata (instructions, item), and with the lessons that retrieval gives. Errors:
 * `INVALID_INPUT` for a case without item; what the model and retrieval throw, except `BUDGET_EXCEEDED`, which ends the run with what there is.
 */
export async function askChecker(options: AskOptions): Promise<AskedAnswers> {
  const { cases, concurrency, onProgress, onAnswered, signal } = options;
  const before = new Map<string, CheckerAnswer>();
  const after = new Map<string, CheckerAnswer>();
  let next = 0;
  let done = 0;
  let stopped: string | undefined;
  async function worker(): Promise<void> {
    while (next < cases.length && stopped === undefined) {
      const one = cases[next];
      next += 1;
      if (one === undefined) return;
      signal?.throwIfAborted();
      try {
        const answers = await askBoth(options, one);
        before.set(one.id, answers.before);
        after.set(one.id, answers.after);
        await onAnswered?.(answers);
      } catch (error) {
        if (!(error instanceof ErrataError) || error.code !== 'BUDGET_EXCEEDED') throw error;
        stopped = error.message;
        return;
      }
      done += 1;
      onProgress?.(done, cases.length);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker));
  const inOrder = (answers: ReadonlyMap<string, CheckerAnswer>) =>
    cases.flatMap(({ id }) => answers.get(id) ?? []);
  return { before: inOrder(before), after: inOrder(after), stopped };
}

async function askBoth(options: AskOptions, one: CheckerCase): Promise<AnsweredCase> {
  const { id, item, query, taskType, attributes } = one;
  if (item === undefined) {
    throw new ErrataError('INVALID_INPUT', `Expected an item for case ${id}, received none`, {
      details: { field: 'item' },
    });
  }
  const instructions = `${options.instructions.trim()}\n\n${VERDICT_INSTRUCTIONS}`;
  const ask = async (content: string): Promise<boolean | null> => {
    const request = {
      messages: [{ role: 'user' as const, content }],
      temperature: 0,
      seed: 1,
      maxTokens: MAX_ANSWER_TOKENS,
    };
    return readVerdict((await options.chat.complete(request, { signal: options.signal })).text);
  };
  const withNotes = (notes: readonly FeedbackNote[]) => {
    // Fixed for a case and its notes, since a fresh one would make every prompt new to the cache. No note can know it beforehand.
    const nonce = createHash('sha256')
      .update(JSON.stringify([id, notes.map((note) => note.id), item]))
      .digest('hex');
    const block = { notes, baseInstructions: instructions, item, nonce: nonce.slice(0, 24) };
    return renderPromptBlock({ ...block, maxContextTokens: MAX_CONTEXT_TOKENS, counter: options.counter });
  };
  const { namespace, caller, retrieval, signal } = options;
  const answer = await retrieval.retrieve(
    caller,
    { namespace, query: query ?? item, taskType, attributes },
    signal === undefined ? {} : { signal },
  );
  const block = withNotes(answer.notes.map(({ note }) => note));
  const flaggedBefore = await ask(`${instructions}\n\n${item}`);
  const flagged = await ask(block.prompt);
  const without: Record<string, boolean | null> = {};
  if (options.attribute && flagged !== flaggedBefore && block.included.length > 1) {
    for (const left of block.included) {
      const others = block.included.filter((note) => note !== left);
      without[left.id] = await ask(withNotes(others).prompt);
    }
  }
  return {
    before: { id, flagged: flaggedBefore, notes: [] },
    after: {
      id,
      flagged,
      notes: block.included.map((note) => note.id),
      ...(Object.keys(without).length === 0 ? {} : { without }),
    },
  };
}
