// Reads and writes of both stores, without models: vectors are random.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createMongoStore } from '../../dist/adapters/mongo/create-mongo-store.js';
import { createSqliteStore } from '../../dist/adapters/sqlite/create-sqlite-store.js';
import { seededRandom } from '../../dist/evaluation/statistics/seeded-random.js';
import { openMongoServer } from '../fixtures/mongo-server.mjs';
import { noteInsert, unitVector } from '../fixtures/notes.mjs';
import { figure, measureLatency } from '../harness/measure.mjs';

const DIMENSIONS = 384;
const BATCH = 500;

async function openSqlite() {
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-bench-'));
  const store = await createSqliteStore({ path: path.join(folder, 'errata.sqlite') });
  return {
    store,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `server` as `openMongoServer` takes it. */
async function openMongo(which) {
  const server = await openMongoServer(which);
  if (server.missing !== undefined) return server;
  const database = `errata_bench_${randomUUID().slice(0, 8)}`;
  const store = await createMongoStore({ uri: server.uri, database });
  return {
    store,
    name: server.name,
    async close() {
      await store.close();
      const { MongoClient } = await import('mongodb');
      const client = await new MongoClient(server.uri).connect();
      await client.db(database).dropDatabase();
      await client.close();
      await server.close();
    },
  };
}

/** FerretDB only in full: compiling it takes minutes where it was not built before. */
const cases = ({ quick }) => [
  { name: 'sqlite', open: openSqlite },
  { name: 'mongodb', open: () => openMongo('uri') },
  { name: 'mongo-java-server', open: () => openMongo('mongo-java-server') },
  ...(quick ? [] : [{ name: 'ferretdb', open: () => openMongo('ferretdb') }]),
];

async function run({ open }, { quick, log }) {
  const opened = await open();
  if (opened.missing !== undefined) {
    const skipped = `skipped: ${opened.missing}`;
    log(skipped);
    return { skipped, metrics: [], checks: [] };
  }
  const { store } = opened;
  try {
    const notes = quick ? 2_000 : 20_000;
    const random = seededRandom(7);
    const entry = (index) =>
      noteInsert(index, {
        modelId: 'bench@1',
        lesson: unitVector(DIMENSIONS, random),
        situation: unitVector(DIMENSIONS, random),
      });
    const idOf = (index) => noteInsert(index, {}).note.id;
    const perSecond = [];
    for (let from = 0; from < notes; from += BATCH) {
      const entries = Array.from({ length: BATCH }, (_, offset) => entry(from + offset));
      const start = performance.now();
      await store.notes.insert(entries);
      perSecond.push(BATCH / ((performance.now() - start) / 1_000));
    }
    log(`${notes} notes stored in ${store.description}`);
    const calls = quick ? 100 : 500;
    const someIds = (index) =>
      Array.from({ length: 20 }, (_, i) => idOf((index * 7919 + i * 104_729) % notes));
    const page = { limit: 50 };
    const metrics = [
      figure(`insert, ${BATCH} a call`, 'notes/s', 'higher', perSecond),
      await measureLatency('insert one', {
        calls,
        call: (index) => store.notes.insert([entry(notes + index)]),
      }),
      await measureLatency('read 20 by id (hydrate)', {
        calls,
        call: (index) => store.notes.getMany('default', someIds(index)),
      }),
      await measureLatency('update one', { calls, call: (index) => updateOne(store, idOf(index)) }),
      await measureLatency('page of 50, newest first', {
        calls,
        call: () => store.notes.list(['default'], {}, 'CREATED_DESC', page),
      }),
      await measureLatency('page of 50 that holds a text', {
        calls: calls / 5,
        call: (index) => store.notes.list(['default'], { text: `case K${index}` }, 'CREATED_DESC', page),
      }),
      await measureLatency('1,000 changes of the log', {
        calls: calls / 5,
        call: () => store.notes.changesSince(0, 1_000),
      }),
      await measureLatency('1,000 active notes with vectors', {
        calls: calls / 20,
        call: () => store.notes.scanActive(undefined, 1_000),
      }),
    ];
    const found = await store.notes.getMany('default', someIds(3));
    const count = await store.notes.count(['default'], {});
    return {
      setup: `${store.description}${opened.name === undefined ? '' : ` (${opened.name})`}; ${notes} notes, two vectors of ${DIMENSIONS} each`,
      metrics,
      checks: [
        { what: 'every id that was written is read', ok: found.length === 20, value: found.length },
        { what: `notes in all, ${notes + calls}`, ok: count === notes + calls, value: count },
        {
          what: 'the update is there',
          ok: (await store.notes.get('default', idOf(0)))?.supportCount === 2,
          value: 2,
        },
      ],
    };
  } finally {
    await opened.close();
  }
}

async function updateOne(store, id) {
  const found = await store.notes.get('default', id);
  const { version, embeddingModel: _model, ...note } = found;
  const audit = { at: note.updatedAt, actor: 'bench', action: 'updated', changes: ['supportCount'] };
  await store.notes.update({
    note: { ...note, supportCount: note.supportCount + 1 },
    expectedVersion: version,
    audit,
  });
}

export const suite = { name: 'store', title: 'reads and writes of both stores', cases, run };
