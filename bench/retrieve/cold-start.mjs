// From the start of a process to its first answer: a server with and without a snapshot of the index, and one command. Files are in the
// system's cache, since they were just written: what a disk adds is not measured.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createSqliteStore } from '../../dist/adapters/sqlite/create-sqlite-store.js';
import { createApp } from '../../dist/app/create-app.js';
import { openEngines } from '../../dist/app/installation.js';
import { parseConfig } from '../../dist/config/parse-config.js';
import { silentLogger } from '../../dist/ports/logger.js';
import { lessonOf } from '../fixtures/lessons.mjs';
import { fillStore, TASK_TYPE } from '../fixtures/notes.mjs';
import { figure } from '../harness/measure.mjs';
import { bounded } from '../index/targets.mjs';

const MAIN = fileURLToPath(new URL('../../dist/app/main.js', import.meta.url));
const ADMIN_KEY = 'admin-key-of-the-cold-start-bench';
const ROUNDS = { quick: 2, full: 7 };
/** Asked for by its own words, so that the answer can be checked. */
const ASKED = lessonOf(7);
const QUERY = 'query($q: RetrieveInput!) { retrieve(input: $q) { notes { note { lesson } } } }';

export async function coldStart({ notes }, { quick, log }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-bench-'));
  try {
    const snapshotMiB = await fill(folder, notes);
    log(`${notes} notes stored, snapshot of ${snapshotMiB.toFixed(1)} MiB written`);
    const times = { with: [], without: [], listening: [], command: [] };
    let right = 0;
    const rounds = ROUNDS[quick ? 'quick' : 'full'];
    for (let round = 0; round < rounds; round += 1) {
      for (const which of ['with', 'without']) {
        const { listeningMs, answeredMs, lesson } = await firstAnswer(folder, which === 'with');
        times[which].push(answeredMs);
        if (which === 'with') times.listening.push(listeningMs);
        right += Number(lesson === ASKED);
      }
      const { answeredMs, lesson } = await oneCommand(folder);
      times.command.push(answeredMs);
      right += Number(lesson === ASKED);
    }
    const ms = (name, values) => figure(name, 'ms', 'lower', values);
    return {
      setup: `${notes} notes in SQLite, graph included in the snapshot; every round starts each process anew, in turns`,
      metrics: [
        ms('server, with the snapshot: first answer', times.with),
        ms('server, with the snapshot: listening', times.listening),
        ms('server, without a snapshot: first answer', times.without),
        ms('errata retrieve, with the snapshot: answered and ended', times.command),
        figure('snapshot', 'MiB', 'lower', snapshotMiB, { exact: true }),
      ],
      checks: [
        bounded({
          what: 'first answers that hold the right note, less all',
          value: 3 * rounds - right,
          most: 0,
        }),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fills a store, lets the app write its snapshot, and makes sure that the next start takes it; gives its size. */
async function fill(folder, notes) {
  const config = parseConfig({ env: process.env, flags: { data: folder } });
  const open = async () => {
    const store = await createSqliteStore({ path: path.join(folder, 'errata.sqlite') });
    const engines = await openEngines(config);
    if (notes !== (await store.notes.count('all', {}))) await fillStore(store, engines.embedder, notes);
    const app = await createApp({
      store,
      engines,
      logger: silentLogger,
      runJobs: false,
      writeSnapshots: true,
    });
    await engines.vectorIndex.settle();
    const state = app.snapshotState();
    await app.close();
    await engines.close();
    await store.close();
    return { before: state, after: app.snapshotState() };
  };
  const { after } = await open();
  const { before } = await open();
  if (before?.restored === undefined)
    throw new Error(`Expected a snapshot that the next start takes, received ${JSON.stringify(before)}`);
  return (after?.saved?.sizeBytes ?? Number.NaN) / 2 ** 20;
}

function start(folder, args, snapshots) {
  const env = {
    ...process.env,
    ERRATA_DATA: folder,
    ERRATA_PORT: '0',
    ERRATA_SAMPLE: 'false',
    ERRATA_ADMIN_KEY: ADMIN_KEY,
    ERRATA_SNAPSHOTS: String(snapshots),
  };
  return spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstAnswer(folder, snapshots) {
  const started = performance.now();
  const child = start(folder, ['serve', '--json'], snapshots);
  const ended = once(child, 'exit');
  try {
    const line = once(createInterface({ input: child.stdout }), 'line').then(([said]) => said);
    const said = await Promise.race([line, ended.then(([code]) => `{"ended":${code}}`)]);
    const { url } = JSON.parse(said);
    if (url === undefined) throw new Error(`Expected a server that listens, received ${said}`);
    const listeningMs = performance.now() - started;
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` },
      body: JSON.stringify({
        query: QUERY,
        variables: { q: { query: ASKED, taskType: TASK_TYPE, finalK: 1 } },
      }),
    });
    const { data, errors } = await response.json();
    const answeredMs = performance.now() - started;
    if (errors !== undefined) throw new Error(`Expected an answer, received ${JSON.stringify(errors)}`);
    return { listeningMs, answeredMs, lesson: data.retrieve.notes[0]?.note.lesson };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

async function oneCommand(folder) {
  const started = performance.now();
  const args = ['retrieve', ASKED, '--task-type', TASK_TYPE, '--final-k', '1', '--json'];
  const child = start(folder, args, true);
  const ended = once(child, 'exit');
  const said = await text(child.stdout);
  const [code] = await ended;
  if (code !== 0) throw new Error(`Expected exit code 0 of errata retrieve, received ${code}`);
  const answeredMs = performance.now() - started;
  return { answeredMs, lesson: JSON.parse(said).notes[0]?.note.lesson };
}
