import { afterEach, beforeEach } from 'vitest';
import type { AuditEvent } from '../../../src/domain/audit.js';
import type { NoteId } from '../../../src/domain/note.js';
import type { Cipher } from '../../../src/ports/cipher.js';
import type { Store } from '../../../src/ports/note-store.js';

export interface AuditForger {
  /** Says that somebody else did it. */
  renameActor(eventId: string, actor: string): Promise<void>;
  dropEvent(eventId: string): Promise<void>;
  dropLink(number: number): Promise<void>;
  /** Forgets the chain, as a store of an older version has none. */
  dropChain(): Promise<void>;
  addEvent(eventId: string): Promise<void>;
}

/** One empty store and what only somebody with direct access to its data can do. */
export interface StoreFixture {
  readonly store: Store;
  /** Another client of the same data, as another process would be. */
  connect(cipher?: Cipher): Promise<Store>;
  /** Makes a note's record unreadable. */
  damage(id: NoteId): Promise<void>;
  /** What a forger with access to the data does to the audit log. */
  readonly forge: AuditForger;
  /**
   * Writes as a process does that is killed right after the note itself was stored. None where the store writes
   * everything in one transaction.
   */
  readonly cutOff?: (write: (store: Store) => Promise<unknown>) => Promise<void>;
  /**
   * Appends an event as a process does that is killed between the event and its link in the chain. None where the store writes
   * both in one transaction.
   */
  readonly cutOffEvent?: (event: AuditEvent) => Promise<void>;
  /** Every byte that is stored, as somebody with access to the disk finds it. */
  raw(): Promise<Buffer>;
  dispose(): Promise<void>;
}

export interface StoreTraits {
  readonly createFixture: () => Promise<StoreFixture>;
  /** Clients that may write at once. */
  readonly clients: number;
  /** Texts and vectors are sealed. */
  readonly encrypted?: boolean;
}

/** A fresh fixture for each test of the surrounding block. */
export function useFixture(traits: StoreTraits): () => StoreFixture {
  let fixture: StoreFixture | undefined;
  beforeEach(async () => {
    fixture = await traits.createFixture();
  });
  afterEach(async () => {
    await fixture?.dispose();
    fixture = undefined;
  });
  return () => {
    if (fixture === undefined) throw new Error('Expected a fixture inside a test');
    return fixture;
  };
}
