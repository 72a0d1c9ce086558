import type { EvaluateRequest, EvaluateResult } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import { judgeContexts, renderJudged } from '../evaluation/answers/judge-contexts.js';
import type { LessonOf } from '../evaluation/formats/judge-exports.js';
import type { EvaluationReport } from '../evaluation/report.js';
import { configuredChat } from './ask-checker.js';

/** Adds what the configured chat service makes of the injected notes, where it was asked for. Errors: `configuredChat`'s, the model's. */
export async function withJudge(
  config: Config,
  { judge, signal }: Pick<EvaluateRequest, 'judge' | 'signal'>,
  { cases }: EvaluationReport,
  lessonOf: LessonOf,
  result: EvaluateResult,
): Promise<EvaluateResult> {
  if (judge === undefined) return result;
  const { repeats, limits } = judge;
  const { chat, spending } = configuredChat(config, limits);
  const { concurrency } = limits;
  const judged = await judgeContexts({ chat, cases, lessonOf, repeats, concurrency, signal });
  const { calls, promptTokens, completionTokens, cost } = spending();
  const spent = `${calls} calls, ${promptTokens} + ${completionTokens} tokens, cost ${cost.toFixed(4)}`;
  return {
    ...result,
    text: `${[result.text.trimEnd(), ...renderJudged(judged), spent].join('\n')}\n`,
    documents: {
      ...result.documents,
      'judged.json': `${JSON.stringify({ ...judged, spending: spending() }, undefined, 2)}\n`,
    },
  };
}
