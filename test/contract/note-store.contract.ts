import { describe } from 'vitest';
import { describeAuditLog } from './store/audit.contract.js';
import { describeAuditChain } from './store/audit-chain.contract.js';
import { describeChangeLog } from './store/changes.contract.js';
import { describeEncryption } from './store/encryption.contract.js';
import type { StoreTraits } from './store/fixture.js';
import { describeJobs } from './store/jobs.contract.js';
import { describeLists } from './store/lists.contract.js';
import { describeModels } from './store/models.contract.js';
import { describeRecords } from './store/records.contract.js';
import { describeSideStores } from './store/side-stores.contract.js';
import { describeVersions } from './store/versions.contract.js';
import { describeWrites } from './store/writes.contract.js';

/**
 * Everything that the store port promises, on one implementation. `unavailable` is the reason to skip where the server
 * behind it cannot be had.
 */
export function describeNoteStore(name: string, traits: StoreTraits, unavailable?: string): void {
  const title = unavailable === undefined ? name : `${name} (skipped: ${unavailable})`;
  describe.skipIf(unavailable !== undefined)(title, () => {
    describeWrites(traits);
    describeRecords(traits);
    describeVersions(traits);
    describeModels(traits);
    describeEncryption(traits);
    describeLists(traits);
    describeChangeLog(traits);
    describeAuditLog(traits);
    describeAuditChain(traits);
    describeJobs(traits);
    describeSideStores(traits);
  });
}

/** What sealing could break, on a store that seals everything. */
export function describeEncryptedStore(name: string, traits: StoreTraits, unavailable?: string): void {
  const title = unavailable === undefined ? name : `${name} (skipped: ${unavailable})`;
  describe.skipIf(unavailable !== undefined)(title, () => {
    const encrypted = { ...traits, encrypted: true };
    describeWrites(encrypted);
    describeRecords(encrypted);
    describeVersions(encrypted);
    describeModels(encrypted);
    describeLists(encrypted);
  });
}
