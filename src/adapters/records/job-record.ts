import { JOB_KINDS, JOB_STATES, type Job } from '../../domain/job.js';

const OPTIONAL = [
  ['namespace', 'string'],
  ['total', 'number'],
  ['message', 'string'],
  ['startedAt', 'string'],
  ['finishedAt', 'string'],
  ['cursor', 'string'],
  ['leaseOwner', 'string'],
  ['leaseUntil', 'string'],
  ['losses', 'number'],
] as const;

/** A job from a record of any store, or undefined where a field has a wrong type or value. */
export function readJob(record: Readonly<Record<string, unknown>>): Job | undefined {
  const { id, options, done, createdAt, cancelRequested, fence } = record;
  const kind = JOB_KINDS.find((known) => known === record.kind);
  const state = JOB_STATES.find((known) => known === record.state);
  if (kind === undefined || state === undefined || typeof options !== 'object' || options === null)
    return undefined;
  if (typeof id !== 'string' || typeof createdAt !== 'string' || typeof cancelRequested !== 'boolean')
    return undefined;
  if (typeof done !== 'number' || typeof fence !== 'number') return undefined;
  const present = OPTIONAL.filter(([name]) => record[name] != null);
  if (present.some(([name, type]) => typeof record[name] !== type)) return undefined;
  const optional: Partial<Job> = Object.fromEntries(present.map(([name]) => [name, record[name]]));
  const held = options as Record<string, string>;
  return { id, kind, options: held, state, done, createdAt, cancelRequested, fence, ...optional };
}
