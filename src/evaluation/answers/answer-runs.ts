import { randomUUID } from 'node:crypto';
import { ErrataError } from '../../domain/errors.js';
import { checkNamespace } from '../../domain/validate-correction.js';
import { redactSecrets } from '../../guard/redact-secrets.js';
import type { AnswerCases, AnswerChange, AnswerRun } from '../../ports/answer-runs.js';
import { changeSetting } from '../../ports/change-setting.js';
import type { Clock } from '../../ports/clock.js';
import type { Evaluations } from '../../ports/evaluations.js';
import type { Store } from '../../ports/note-store.js';
import { keptRuns } from '../kept-runs.js';
import { checkStanding } from '../standing-text.js';
import {
  type AnswerPair,
  type CheckerAnswer,
  type CheckerCases,
  parseCheckerAnswers,
  parseCheckerCases,
} from './checker-records.js';
import { type AnswerComparison, compareAnswers } from './compare-answers.js';

/** A namespace's saved cases, JSONL. */
const casesSetting = (namespace: string): string => `answer-cases:${namespace}`;
/** 4,000 find a rise of 3 points; comparing so many takes about half a second, in which the process does nothing else. */
const MAX_CASES = 5_000;
/** Draws of a bootstrap, resamples times cases, for the same reason. */
const MAX_DRAWS = 1e7;
const RESAMPLES = [1_000, 4_000] as const;
const MAX_RUNS = 20;
const MAX_CHANGES = 1_000;
const MAX_EFFECTS = 200;

export interface AnswersDeps {
  readonly store: Pick<Store, 'settings' | 'audit'>;
  readonly clock: Clock;
  /** Whether telephone numbers are redacted from cases, too. */
  readonly phones?: boolean | undefined;
}

/** What a run is kept with beside its figures. */
export type AnswerRunOrigin = Pick<AnswerRun, 'checker' | 'spending' | 'stopped'> & {
  /** None: one of its own. A job gives its own id, so that what is killed behind the end is not recorded twice. */
  readonly id?: string | undefined;
  readonly namespace: string;
  readonly createdBy: string;
};

/** Saved cases and the history of comparisons; every change is an audit event. */
export function createAnswers(
  deps: AnswersDeps,
): Pick<Evaluations, 'answerRuns' | 'answerCases' | 'saveAnswerCases' | 'compareAnswers'> {
  const { store, clock, phones } = deps;
  const { settings } = store;
  return {
    answerRuns: (namespace, first) => keptAnswerRuns(settings).list(namespace, first),
    async answerCases(namespace) {
      const jsonl = await settings.get(casesSetting(namespace));
      return jsonl === undefined ? undefined : describe(namespace, readCases(jsonl));
    },
    async saveAnswerCases(caller, input, given, options = {}) {
      const namespace = checkNamespace(input);
      readCases(given);
      const jsonl = withoutSecrets(given, phones);
      await changeSetting(settings, casesSetting(namespace), (standing) => {
        checkStanding(standing, options);
        return jsonl;
      });
      const saved = describe(namespace, readCases(jsonl));
      await store.audit.append({
        ...{ id: randomUUID(), at: clock.now(), actor: caller.name, namespace },
        action: 'answer-cases-changed',
        changes: [`digest: ${saved.digest}`, `cases: ${saved.cases}`],
      });
      return saved;
    },
    async compareAnswers(caller, input, { cases, before, after }) {
      const namespace = checkNamespace(input);
      const answers = [
        parseCheckerAnswers(before, 'the answers before'),
        parseCheckerAnswers(after, 'the answers after'),
      ] as const;
      const of = cases === undefined ? await savedCases(settings, namespace) : readCases(cases);
      return recordAnswers(deps, { namespace, createdBy: caller.name }, of, ...answers);
    },
  };
}

/** The cases that a namespace's checker is asked about. Errors: `INVALID_INPUT` where none are saved. */
export async function savedCases(
  settings: Pick<Store['settings'], 'get'>,
  namespace: string,
): Promise<CheckerCases> {
  const jsonl = await settings.get(casesSetting(namespace));
  if (jsonl !== undefined) return readCases(jsonl);
  throw new ErrataError('INVALID_INPUT', `Expected saved cases for ${namespace}, received none`, {
    details: { field: 'cases' },
  });
}

/** Compares and keeps as the newest of twenty runs. Errors: `INVALID_INPUT` where no case has both answers. */
export async function recordAnswers(
  { store, clock }: AnswersDeps,
  { id = randomUUID(), namespace, ...origin }: AnswerRunOrigin,
  cases: CheckerCases,
  before: readonly CheckerAnswer[],
  after: readonly CheckerAnswer[],
): Promise<AnswerRun> {
  const [fewest, most] = RESAMPLES;
  const resamples = Math.min(most, Math.max(fewest, Math.floor(MAX_DRAWS / cases.cases.length)));
  const comparison = compareAnswers(cases, before, after, resamples);
  const run = { id, namespace, createdAt: clock.now(), ...origin, ...figuresOf(comparison) };
  return keptAnswerRuns(store.settings).add(run);
}

export function keptAnswerRuns(settings: Store['settings']) {
  return keptRuns<AnswerRun>(settings, 'answer-runs', MAX_RUNS);
}

function figuresOf(comparison: AnswerComparison) {
  const { regressions, fixes, noteEffects, missing, unreadable, ...figures } = comparison;
  const changed = noteEffects.filter(
    ({ fixed, broken, shared }) => fixed.length + broken.length + shared.length > 0,
  );
  return {
    ...figures,
    regressions: regressions.slice(0, MAX_CHANGES).map(toChange),
    fixes: fixes.slice(0, MAX_CHANGES).map(toChange),
    noteEffects: changed.slice(0, MAX_EFFECTS),
    missing: missing.length,
    unreadable: unreadable.length,
  };
}

function toChange({ id, taskType, truth, before, after, notes }: AnswerPair): AnswerChange {
  return { id, taskType, truth, before, after, notes };
}

/** Errors: `INVALID_FILE` with the line, `INPUT_TOO_LARGE`. */
function readCases(jsonl: string): CheckerCases {
  const read = parseCheckerCases(jsonl, 'the cases');
  if (read.cases.length <= MAX_CASES) return read;
  throw new ErrataError(
    'INPUT_TOO_LARGE',
    `Expected at most ${MAX_CASES} cases, received ${read.cases.length}; "errata answers" takes any number`,
    { details: { field: 'cases', limit: MAX_CASES } },
  );
}

function describe(namespace: string, { cases, digest }: CheckerCases): AnswerCases {
  return {
    namespace,
    digest,
    cases: cases.length,
    positives: cases.filter(({ truth }) => truth).length,
    askable: cases.filter(({ item }) => item !== undefined).length,
  };
}

/** The lines as given, but for items and queries that hold a secret. */
function withoutSecrets(jsonl: string, phones: boolean | undefined): string {
  const clean = (text: string | undefined) =>
    text === undefined ? undefined : redactSecrets(text, { phones }).text;
  return jsonl
    .split('\n')
    .map((line) => {
      if (line.trim() === '') return line;
      const record = JSON.parse(line) as { readonly item?: string; readonly query?: string };
      const [item, query] = [clean(record.item), clean(record.query)];
      return item === record.item && query === record.query
        ? line
        : JSON.stringify({ ...record, item, query });
    })
    .join('\n');
}
