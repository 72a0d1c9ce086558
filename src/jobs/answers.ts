import { ErrataError } from '../domain/errors.js';
import type { Job } from '../domain/job.js';
import { DEFAULT_NAMESPACE } from '../domain/validate-correction.js';
import { keptAnswerRuns, recordAnswers, savedCases } from '../evaluation/answers/answer-runs.js';
import type { AnsweredCase, AskedAnswers } from '../evaluation/answers/ask-checker.js';
import type { CheckerAnswer, CheckerCase } from '../evaluation/answers/checker-records.js';
import type { ChatSpending } from '../evaluation/answers/limited-chat-model.js';
import type { AnswerRate, AnswerRun } from '../ports/answer-runs.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/note-store.js';
import type { JobHandler } from './job-handler.js';
import { readFlag, readNumber } from './option-values.js';

/** Calls at once, as on the command line. */
const CONCURRENCY = 4;
const MAX_CONCURRENCY = 64;
/** What is answered is kept about so many times a run, so that a killed one pays for a fiftieth again. */
const SAVES = 50;

export interface CheckerRequest {
  readonly namespace: string;
  readonly cases: readonly CheckerCase[];
  readonly instructions: string;
  readonly attribute: boolean;
  readonly limits: {
    readonly concurrency: number;
    readonly maxCalls: number | undefined;
    readonly maxCost: number | undefined;
    readonly promptPrice: number;
    readonly completionPrice: number;
  };
  readonly onAnswered: (answers: AnsweredCase, spending: ChatSpending) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface AnswersJobDeps {
  readonly store: Pick<Store, 'settings' | 'audit'>;
  readonly clock: Clock;
  /** Asks the configured chat service. Errors: `INVALID_CONFIG` where none is configured, `MODEL_UNAVAILABLE`. */
  readonly ask: (
    request: CheckerRequest,
  ) => Promise<AskedAnswers & { readonly spending: ChatSpending; readonly checker: string }>;
}

/** What a run that was cut off has paid for. */
interface KeptPart {
  readonly before: readonly CheckerAnswer[];
  readonly after: readonly CheckerAnswer[];
  readonly spending: ChatSpending;
}

const NOTHING: KeptPart = {
  before: [],
  after: [],
  spending: { calls: 0, promptTokens: 0, completionTokens: 0, cost: 0 },
};

/** One a namespace: a later job writes over what a cancelled one left. */
const partialSetting = (namespace: string): string => `answers-job:${namespace}`;

/**
 * Asks the configured checker about the namespace's saved cases, without and with lessons, compares and keeps the figures. Options:
 * `instructions`; `maxCalls` or `budget` (with `promptPrice`, `completionPrice` for a million tokens), since nobody watches a job;
 * `attribute: true`; `concurrency`. A run that was cut off goes on behind its last kept answers, and its limits hold for both parts.
 */
export function answersHandler(deps: AnswersJobDeps): JobHandler {
  const { settings } = deps.store;
  return async ({ job, checkpoint, signal }) => {
    const namespace = job.namespace ?? DEFAULT_NAMESPACE;
    const options = readOptions(job.options);
    // Killed behind the end of its work: nothing is asked, and paid for, again.
    const ended = await keptAnswerRuns(settings).find(namespace, job.id);
    if (ended !== undefined) {
      await settings.remove(partialSetting(namespace));
      return describe(ended);
    }
    const cases = await savedCases(settings, namespace);
    const kept = await readPartial(settings, namespace, job);
    const answered = new Set(kept.after.map(({ id }) => id));
    const left = cases.cases.filter(({ id }) => !answered.has(id));
    const before = [...kept.before];
    const after = [...kept.after];
    const every = Math.max(1, Math.ceil(cases.cases.length / SAVES));
    // One after the other, so that an older part never lands on a newer one.
    let saving: Promise<void> = Promise.resolve();
    const save = async (spending: ChatSpending): Promise<void> => {
      const part = { jobId: job.id, before, after, spending: sum(kept.spending, spending) };
      const [json, done] = [JSON.stringify(part), after.length];
      saving = saving.then(async () => {
        await settings.put(partialSetting(namespace), json);
        await checkpoint({ done, total: cases.cases.length, cursor: String(done) });
      });
      await saving;
    };
    const asked = await deps.ask({
      ...{ namespace, cases: left, signal, instructions: options.instructions, attribute: options.attribute },
      limits: remaining(options.limits, kept.spending),
      async onAnswered(answers, spending) {
        before.push(answers.before);
        after.push(answers.after);
        if (after.length % every === 0) await save(spending);
      },
    });
    const run = await recordAnswers(
      deps,
      {
        ...{ id: job.id, namespace, createdBy: `job:${job.id}`, checker: asked.checker },
        spending: sum(kept.spending, asked.spending),
        ...(asked.stopped === undefined ? {} : { stopped: asked.stopped }),
      },
      cases,
      before,
      after,
    );
    await settings.remove(partialSetting(namespace));
    return describe(run);
  };
}

function describe({ id, falsePositives, falseNegatives, verdict, pairs, stopped }: AnswerRun): string {
  const why = stopped === undefined ? '' : `; stopped: ${stopped}`;
  return `run ${id}: ${verdict} over ${pairs} cases, false positives ${rates(falsePositives)}, false negatives ${rates(falseNegatives)}${why}`;
}

type Limits = CheckerRequest['limits'];

function readOptions(options: Job['options']): {
  readonly instructions: string;
  readonly attribute: boolean;
  readonly limits: Limits;
} {
  const instructions = options.instructions?.trim() ?? '';
  if (instructions === '') throw missing('instructions', 'what the checker is told for instructions');
  const limits: Limits = {
    concurrency: Math.min(
      MAX_CONCURRENCY,
      readNumber(options, 'concurrency', { whole: true, min: 1 }) ?? CONCURRENCY,
    ),
    maxCalls: readNumber(options, 'maxCalls', { whole: true, min: 1 }),
    maxCost: readNumber(options, 'budget'),
    promptPrice: readNumber(options, 'promptPrice') ?? 0,
    completionPrice: readNumber(options, 'completionPrice') ?? 0,
  };
  const priced = limits.promptPrice + limits.completionPrice > 0;
  if (limits.maxCalls === undefined && !(limits.maxCost !== undefined && priced))
    throw missing('maxCalls', 'a limit for maxCalls, or for budget with prices');
  return { instructions, attribute: readFlag(options, 'attribute'), limits };
}

function missing(field: string, expected: string): ErrataError {
  return new ErrataError('INVALID_INPUT', `Expected ${expected}, received none`, { details: { field } });
}

/** Nothing where the setting belongs to another job. */
async function readPartial(
  settings: Pick<Store['settings'], 'get'>,
  namespace: string,
  { id }: Job,
): Promise<KeptPart> {
  const json = await settings.get(partialSetting(namespace));
  if (json === undefined) return NOTHING;
  const partial = JSON.parse(json) as KeptPart & { readonly jobId: string };
  return partial.jobId === id ? partial : NOTHING;
}

function remaining(limits: Limits, { calls, cost }: ChatSpending): Limits {
  const { maxCalls, maxCost } = limits;
  return {
    ...limits,
    maxCalls: maxCalls === undefined ? undefined : Math.max(0, maxCalls - calls),
    maxCost: maxCost === undefined ? undefined : Math.max(0, maxCost - cost),
  };
}

function sum(a: ChatSpending, b: ChatSpending): ChatSpending {
  return {
    calls: a.calls + b.calls,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    cost: a.cost + b.cost,
  };
}

function rates({ before, after }: AnswerRate): string {
  return `${before.count}/${before.total} → ${after.count}/${after.total}`;
}
