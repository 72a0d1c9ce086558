import type { Collection } from 'mongodb';
import type { AuditEvent } from '../../domain/audit.js';
import { type AuditLink, nextLink, sealed } from '../../domain/audit-chain.js';
import { readAuditLink } from '../records/audit-record.js';
import { isDuplicate } from './mongo-errors.js';

export interface AuditLinkDocument {
  /** The link's number. */
  readonly _id: number;
  /** JSON of id and digest pairs, as it is hashed. */
  readonly events: string;
  readonly previous: string;
  readonly hash: string;
}

/** 150 bytes an event: a link stays far below the 16 MB of a document. */
const MAX_EVENTS_A_LINK = 20_000;

/**
 * The chain of audit events: a link is inserted with the next number if nobody else has it, as the change log does it. Writes
 * of this process go one after another, and each remembers the end, so that alone it costs one insert.
 */
export class MongoAuditChain {
  readonly #links: Collection<AuditLinkDocument>;
  #last: AuditLink | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(links: Collection<AuditLinkDocument>) {
    this.#links = links;
  }

  /** Resolves when the events are sealed. Sealing an event twice does no harm: both links say the same of it. */
  append(events: readonly AuditEvent[]): Promise<void> {
    const written = this.#running.then(async () => {
      for (let start = 0; start < events.length; start += MAX_EVENTS_A_LINK) {
        await this.#write(events.slice(start, start + MAX_EVENTS_A_LINK));
      }
    });
    this.#running = written.catch(() => undefined);
    return written;
  }

  async last(): Promise<AuditLink | undefined> {
    const [document] = await this.#links.find().sort({ _id: -1 }).limit(1).toArray();
    return document === undefined ? undefined : readAuditLink({ ...document, number: document._id });
  }

  async after(number: number, limit: number): Promise<readonly AuditLink[]> {
    const documents = await this.#links
      .find({ _id: { $gt: number } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    return documents.map((document) => readAuditLink({ ...document, number: document._id }));
  }

  async #write(events: readonly AuditEvent[]): Promise<void> {
    const list = events.map(sealed);
    this.#last ??= await this.last();
    for (;;) {
      const link = nextLink(this.#last, list);
      const { number, previous, hash } = link;
      try {
        await this.#links.insertOne({ _id: number, events: JSON.stringify(list), previous, hash });
        this.#last = link;
        return;
      } catch (error) {
        this.#last = undefined;
        if (!isDuplicate(error)) throw error;
        this.#last = await this.last();
      }
    }
  }
}
