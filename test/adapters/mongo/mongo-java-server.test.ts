import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMongoStore } from '../../../src/adapters/mongo/create-mongo-store.js';
import { verifyAudit } from '../../../src/guard/verify-audit.js';
import { describeEncryptedStore, describeNoteStore } from '../../contract/note-store.contract.js';
import { expectConsistent } from '../../contract/store/check-consistency.js';
import { compileSources } from '../../contract/store/compile-sources.js';
import { changeableKeys, newKey } from '../../contract/store/encryption.contract.js';
import { at, audit, insertOne, noteId, sampleReview, writable } from '../../contract/store/sample-notes.js';
import { runWriter, seededIntegers } from '../../contract/store/writer-process.js';
import { type Peer, peerAvailable, startMongoJavaServer } from '../../peers/start-peer.js';
import { startCuttingProxy } from './cutting-proxy.js';
import { createMongoFixture } from './mongo-fixture.js';

const unavailable = await peerAvailable('mongo-java-server');
const SEED = 20_260_131;
const ROUNDS = 4;

let peer: Peer;
beforeAll(async () => {
  if (unavailable === undefined) peer = await startMongoJavaServer();
});
afterAll(() => peer?.stop());

describeNoteStore(
  'MongoDB store on mongo-java-server',
  { createFixture: () => createMongoFixture(peer.uri), clients: 8 },
  unavailable,
);

describeEncryptedStore(
  'encrypted MongoDB store on mongo-java-server',
  {
    createFixture: () => createMongoFixture(peer.uri, false, changeableKeys(newKey('k1')).cipher),
    clients: 8,
  },
  unavailable,
);

const title = unavailable === undefined ? 'mongo-java-server' : `mongo-java-server (skipped: ${unavailable})`;
describe.skipIf(unavailable !== undefined)(title, () => {
  it('tells documents of an earlier version when they entered the queue', async () => {
    const fixture = await createMongoFixture(peer.uri);
    const { notes, settings } = fixture.store;
    const late = await insertOne(notes, 'late', { ...sampleReview(at(9)), createdAt: at(1) });
    const early = await insertOne(notes, 'early', { ...sampleReview(at(5)), createdAt: at(2) });
    const live = await insertOne(notes, 'live', { createdAt: at(7) });
    await fixture.direct.notes.updateMany({}, { $unset: { openedAt: '' } });
    await settings.remove('migration:opened-at');
    const { notes: again } = await fixture.connect();
    const { items, keysets } = await again.list('all', {}, 'RISK_DESC', { limit: 9 });
    expect(items.map(({ id }) => id)).toEqual([early.id, live.id, late.id]);
    expect(keysets.map(([, openedAt]) => openedAt)).toEqual([at(5), at(7), at(9)]);
    await fixture.dispose();
  });

  it(`loses no acknowledged write when its writer is killed (seed ${SEED})`, async () => {
    const sources = await compileSources();
    const fixture = await createMongoFixture(peer.uri);
    const random = seededIntegers(SEED, 120);
    const acknowledged = new Map<string, number>();
    const options = { uri: peer.uri, database: fixture.database };
    for (let round = 0; round < ROUNDS; round += 1) {
      const killAfter = random();
      const open = ['adapters/mongo/create-mongo-store.js', 'createMongoStore', options] as const;
      const written = await runWriter({ sources, open, prefix: `round ${round}`, count: 10_000, killAfter });
      expect(written.size).toBeGreaterThan(0);
      for (const [id, version] of written) acknowledged.set(id, version);
      await fixture.store.notes.repair();
      await expectConsistent(fixture.store, acknowledged);
    }
    expect(await fixture.store.notes.repair()).toBe(0);
    await fixture.dispose();
    await rm(sources, { recursive: true });
  });

  it.each([
    // How the command that is cut off begins: `insert: "audit"`, and the field that only change entries have.
    ['the audit event', 'insert\0\x06\0\0\0audit\0'],
    ['the change entry', 'noteIds\0'],
  ])('completes with its next write what failed at %s', async (_, text) => {
    const fixture = await createMongoFixture(peer.uri);
    const proxy = await startCuttingProxy(peer.address);
    const store = await createMongoStore({ uri: `mongodb://${proxy.address}`, database: fixture.database });
    const old = await insertOne(store.notes, 'old');
    proxy.cutOn(text);
    const failing = store.notes.update({ note: writable(old), expectedVersion: 1, audit: audit('updated') });
    await expect(failing).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(proxy.cuts()).toBeGreaterThan(0);
    proxy.cutOn(undefined);
    expect((await fixture.store.notes.get('acme', old.id))?.version).toBe(2);
    expect(await fixture.store.notes.lastRevision()).toBe(1);

    await insertOne(store.notes, 'another');
    expect(await fixture.store.audit.count('all', { noteId: old.id })).toBe(2);
    const { changes } = await fixture.store.notes.changesSince(1, 9);
    expect(changes.map(({ noteIds }) => noteIds)).toEqual([[old.id], [noteId('another')]]);
    expect(await fixture.store.notes.repair()).toBe(0);
    await store.close();
    await proxy.close();
    await fixture.dispose();
  });

  it('seals with its next opening an event whose process lost the server before the link', async () => {
    const fixture = await createMongoFixture(peer.uri);
    const proxy = await startCuttingProxy(peer.address);
    const options = { uri: `mongodb://${proxy.address}`, database: fixture.database, auditLeaseMs: 0 };
    const store = await createMongoStore(options);
    const event = { id: 'key:1', at: '2026-01-31T00:00:00.000Z', actor: 'ada', action: 'key-created' };
    // With no chain at all, an opening would take the log for one of before there were chains.
    await store.audit.append({ ...event, id: 'key:0', changes: [] });
    proxy.cutOn('insert\0\x0b\0\0\0auditChain\0');
    const failing = store.audit.append({ ...event, changes: [] });
    await expect(failing).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(proxy.cuts()).toBeGreaterThan(0);
    proxy.cutOn(undefined);
    const left = await verifyAudit(fixture.store.audit);
    expect(left).toMatchObject({ events: 2, links: 1, problems: [], unsealed: [event.id] });
    const next = await fixture.connect();
    expect(await verifyAudit(next.audit)).toMatchObject({ events: 2, links: 2, problems: [], unsealed: [] });
    await store.close();
    await proxy.close();
    await fixture.dispose();
  });

  it('finds everything again after a restart of the server', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'errata-h2-'));
    const file = path.join(folder, 'store.mv');
    const first = await startMongoJavaServer(file);
    const store = await createMongoStore({ uri: first.uri, database: 'errata' });
    const note = await insertOne(store.notes, 'a');
    await store.close();
    await first.stop();
    const second = await startMongoJavaServer(file);
    const again = await createMongoStore({ uri: second.uri, database: 'errata' });
    expect(await again.notes.get('acme', note.id)).toEqual(note);
    expect(await again.notes.lastRevision()).toBe(1);
    await again.close();
    await second.stop();
    await rm(folder, { recursive: true });
  });

  it('says what to check when the server is gone, without the password', async () => {
    const gone = await startMongoJavaServer();
    const uri = `mongodb://${gone.address}/?serverSelectionTimeoutMS=300`;
    const store = await createMongoStore({ uri, serverSelectionTimeoutMs: 300 });
    await gone.stop();
    await expect(store.notes.count('all', {})).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await store.close();
    const withPassword = `mongodb://ada:s3cr3t@${gone.address}/errata`;
    const opening = createMongoStore({ uri: withPassword, serverSelectionTimeoutMs: 300 });
    const error: unknown = await opening.catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining(gone.address),
    });
    expect(String(error)).not.toContain('s3cr3t');
    const unreadable: unknown = await createMongoStore({ uri: 'mongodb://ada:s3:cr3t@@/x' }).catch(
      (reason: unknown) => reason,
    );
    expect(unreadable).toMatchObject({ code: 'INVALID_CONFIG' });
    expect(JSON.stringify(unreadable) + String(unreadable)).not.toContain('cr3t');
  });
});
