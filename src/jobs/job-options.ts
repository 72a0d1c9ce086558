import { ErrataError } from '../domain/errors.js';
import type { Job, JobKind } from '../domain/job.js';
import type { PersonalDataOptions } from '../guard/personal-data.js';
import { redactSecrets } from '../guard/redact-secrets.js';

/** What each kind reads; anything else is a mistake that would otherwise go unnoticed. */
const JOB_OPTIONS: Readonly<Record<JobKind, readonly string[]>> = {
  BACKFILL: [],
  REEMBED: [],
  STALENESS_SWEEP: ['dryRun', 'undo'],
  COMPACTION: [],
  EVALUATION: [],
  CALIBRATION: ['alpha'],
  SWEEP: ['only'],
  ANSWERS: [
    'instructions',
    'attribute',
    'concurrency',
    'maxCalls',
    'budget',
    'promptPrice',
    'completionPrice',
  ],
  ERASURE: ['ids', 'reason'],
  KEY_ROTATION: [],
  MODEL_SWITCH: ['model', 'epsilon', 'force', 'rollback'],
  VECTOR_DROP: ['model'],
};

/** Options as a job keeps them: known to its kind and without secrets. Errors: `INVALID_INPUT`. */
export function checkJobOptions(
  kind: JobKind,
  options: Job['options'],
  { phones }: PersonalDataOptions = {},
): Job['options'] {
  const known = JOB_OPTIONS[kind];
  if (!Object.keys(options).every((name) => known.includes(name))) {
    const expected = known.length === 0 ? 'no options' : `only the options ${known.join(', ')}`;
    throw new ErrataError('INVALID_INPUT', `Expected ${expected} for ${kind}, received another`, {
      details: { field: 'options' },
    });
  }
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, redactSecrets(value, { phones }).text]),
  );
}
