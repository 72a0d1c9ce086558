import type { Collection, Filter } from 'mongodb';
import type { Job } from '../../domain/job.js';
import type { Instant } from '../../domain/note.js';
import type { JobStore, NamespaceScope } from '../../ports/note-store.js';
import { readJob } from '../records/job-record.js';
import type { MongoConnection } from './mongo-connection.js';

export interface JobDocument extends Omit<Job, 'id' | 'options'> {
  readonly _id: string;
  /** JSON: keys may hold dots and dollars. */
  readonly options: string;
}

const LIVE: Filter<JobDocument> = { state: { $in: ['QUEUED', 'RUNNING'] } };

/** Jobs that nobody runs. */
function unheld(now: Instant): Filter<JobDocument> {
  return { $or: [{ state: 'QUEUED' }, { state: 'RUNNING', leaseUntil: { $lte: now } }] };
}

export class MongoJobStore implements JobStore {
  readonly #connection: MongoConnection;
  readonly #jobs: Collection<JobDocument>;

  constructor(connection: MongoConnection, jobs: Collection<JobDocument>) {
    this.#connection = connection;
    this.#jobs = jobs;
  }

  async put({ id, options, ...job }: Job): Promise<void> {
    const document = { ...job, options: JSON.stringify(options) };
    await this.#connection.run(() => this.#jobs.replaceOne({ _id: id }, document, { upsert: true }));
  }

  async get(id: string): Promise<Job | undefined> {
    const document = await this.#connection.run(() => this.#jobs.findOne({ _id: id }));
    return document === null ? undefined : jobFromDocument(document);
  }

  async list(scope: NamespaceScope, limit: number): Promise<readonly Job[]> {
    const filter: Filter<JobDocument> = scope === 'all' ? {} : { namespace: { $in: [...scope] } };
    const documents = await this.#connection.run(() =>
      this.#jobs.find(filter).sort({ createdAt: -1, _id: -1 }).limit(limit).toArray(),
    );
    return documents.flatMap((document) => jobFromDocument(document) ?? []);
  }

  take(owner: string, now: Instant, leaseUntil: Instant): Promise<Job | undefined> {
    return this.#connection.run(async () => {
      for (;;) {
        const [found] = await this.#jobs.find(unheld(now)).sort({ createdAt: 1, _id: 1 }).limit(1).toArray();
        if (found === undefined) return undefined;
        const { _id, fence, state } = found;
        const taken = { state: 'RUNNING', fence: fence + 1, leaseOwner: owner, leaseUntil } as const;
        const lost = state === 'RUNNING' ? { losses: (found.losses ?? 0) + 1 } : {};
        const change = { ...taken, ...lost, startedAt: found.startedAt ?? now };
        // The fence is the version: of several takers one matches, the others look again.
        const result = await this.#jobs.updateOne({ _id, fence, state }, { $set: change });
        if (result.matchedCount > 0) return jobFromDocument({ ...found, ...change });
      }
    });
  }

  async update(id: string, fence: number, patch: Parameters<JobStore['update']>[2]): Promise<boolean> {
    const { state, done, total, message, cursor, finishedAt, leaseUntil, losses } = patch;
    const fields = Object.entries({ state, done, total, message, cursor, finishedAt, leaseUntil, losses });
    const change = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
    const result = await this.#connection.run(() =>
      this.#jobs.updateOne({ _id: id, fence, ...LIVE }, { $set: { fence, ...change } }),
    );
    return result.matchedCount > 0;
  }

  requestCancel(id: string, now: Instant): Promise<boolean> {
    return this.#connection.run(async () => {
      const ended = { state: 'CANCELLED', finishedAt: now, cancelRequested: true } as const;
      const waiting = await this.#jobs.updateOne({ _id: id, ...unheld(now) }, { $set: ended });
      if (waiting.matchedCount > 0) return true;
      // Somebody runs it, or has taken it since: it is asked.
      const running = await this.#jobs.updateOne(
        { _id: id, state: 'RUNNING' },
        { $set: { cancelRequested: true } },
      );
      return running.matchedCount > 0;
    });
  }
}

function jobFromDocument({ _id, options, ...job }: JobDocument): Job | undefined {
  return readJob({ ...job, id: _id, options: JSON.parse(options) as unknown });
}
