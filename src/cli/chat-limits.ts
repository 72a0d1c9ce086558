import path from 'node:path';
import type { Command } from 'commander';
import type { ChatRunLimits } from './cli-deps.js';
import { finiteNumber, wholeNumber } from './define-command.js';
import type { Session } from './session.js';

/** Flags of every command that asks a chat service. */
export interface ChatLimitOptions {
  readonly concurrency: number;
  readonly maxCalls?: number;
  readonly budget?: number;
  readonly promptPrice: number;
  readonly completionPrice: number;
  readonly cache?: string;
}

export function addChatLimits(command: Command): Command {
  return command
    .option('--concurrency <n>', 'calls at once', wholeNumber(1, 64), 4)
    .option(
      '--max-calls <n>',
      'calls at most; answers from the cache do not count',
      wholeNumber(1, 10_000_000),
    )
    .option('--budget <amount>', 'money at most, in the currency of the prices', finiteNumber)
    .option('--prompt-price <amount>', 'for a million tokens', finiteNumber, 0)
    .option('--completion-price <amount>', 'for a million tokens', finiteNumber, 0)
    .option('--cache <folder>', 'keep answers; a repeated or continued run then costs nothing');
}

/** Bounds of one run; says so where a budget cannot bind. */
export function chatLimitsOf(session: Session, options: ChatLimitOptions): ChatRunLimits {
  const { concurrency, maxCalls, budget, promptPrice, completionPrice, cache } = options;
  if (budget !== undefined && promptPrice + completionPrice === 0) {
    session.note('errata: --budget without --prompt-price and --completion-price limits nothing');
  }
  return {
    concurrency,
    maxCalls,
    maxCost: budget,
    promptPrice,
    completionPrice,
    cache: cache === undefined ? undefined : path.resolve(session.terminal.cwd, cache),
  };
}
