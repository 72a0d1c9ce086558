import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMongoStore } from '../../../src/adapters/mongo/create-mongo-store.js';
import { describeNoteStore } from '../../contract/note-store.contract.js';
import { type Peer, peerAvailable, startFerretDb } from '../../peers/start-peer.js';
import { createMongoFixture } from './mongo-fixture.js';

const unavailable = await peerAvailable('ferretdb');

let peer: Peer;
beforeAll(async () => {
  if (unavailable === undefined) peer = await startFerretDb();
});
afterAll(() => peer?.stop());

// One client: FerretDB 1 loses updates of several.
describeNoteStore(
  'MongoDB store on FerretDB with SCRAM',
  { createFixture: () => createMongoFixture(peer.uri, true), clients: 1 },
  unavailable,
);

const title = unavailable === undefined ? 'FerretDB' : `FerretDB (skipped: ${unavailable})`;
describe.skipIf(unavailable !== undefined)(title, () => {
  it('is recognised, and refuses a wrong password with what to check', async () => {
    const store = await createMongoStore({ uri: peer.uri, database: 'known' });
    expect(store.description).toMatch(/^mongodb .*FerretDB 1\.24\.2/);
    await store.close();
    const uri = `mongodb://errata:wr0ng@${peer.address}/?authMechanism=SCRAM-SHA-256`;
    const error: unknown = await createMongoStore({ uri }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('check user'),
    });
    expect(String(error)).not.toContain('wr0ng');
  });
});
