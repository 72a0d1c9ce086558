// The whole read path over 20,000 notes in SQLite: in the process, and through GraphQL over HTTP, at concurrency 4.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStore } from '../dist/adapters/sqlite/create-sqlite-store.js';
import { createApp } from '../dist/app/create-app.js';
import { openEngines } from '../dist/app/installation.js';
import { parseConfig } from '../dist/config/parse-config.js';
import { createGraphqlServer } from '../dist/graphql/create-graphql-server.js';
import { GRAPHQL_SERVER_DEFAULTS } from '../dist/graphql/server-config.js';
import { silentLogger } from '../dist/ports/logger.js';

const NOTES = 20_000;
/** Really embedded lessons; the other notes' vectors are these with noise, so that the set-up takes seconds. */
const EMBEDDED = 500;
const CONCURRENCY = 4;
const CALLS = 2_000;
const STEADY_CALLS = 10_000;
const CALLER = { name: 'bench', roles: ['admin'] };

/** Deterministic uniform numbers (mulberry32). */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const SUBJECTS = [
  'retry loops',
  'cache keys',
  'date parsers',
  'file locks',
  'price fields',
  'termination clauses',
  'login forms',
  'netty servers',
  'regular expressions',
  'SQL views',
];
const CAUSES = [
  'a missing time-out',
  'integer overflow',
  'a stale index',
  'a locale setting',
  'clock skew',
  'a renamed column',
  'an unchecked length',
  'duplicate delivery',
  'a proxy header',
  'a default value',
];
const RULES = [
  'look at the caller first',
  'check the configuration',
  'ask for the contract version',
  'compare with the schema',
  'read the release notes',
];
const PLACES = [
  'in batch jobs',
  'behind the gateway',
  'on desktop programs',
  'in generated code',
  'in the test fixtures',
  'for enterprise customers',
];

function lessonOf(index) {
  const pick = (list, step) => list[Math.floor(index / step) % list.length];
  return `When ${pick(SUBJECTS, 1)} fail because of ${pick(CAUSES, 10)} ${pick(PLACES, 100)}, ${pick(RULES, 600)} (case K${index}).`;
}

function noisy(vector, random) {
  const copy = Float32Array.from(vector, (value) => value + (random() - 0.5) * 0.06);
  const norm = Math.hypot(...copy);
  return copy.map((value) => value / norm);
}

async function fillStore(store, embedder, log) {
  const random = randomFrom(42);
  const texts = Array.from({ length: EMBEDDED }, (_, index) => `code-review: ${lessonOf(index)}`);
  const embedded = await embedder.embed(texts, { kind: 'passage', priority: 'bulk' });
  for (let from = 0; from < NOTES; from += 1_000) {
    const entries = Array.from({ length: 1_000 }, (_, offset) => {
      const index = from + offset;
      const { vector } = embedded[index % EMBEDDED];
      const lesson = index < EMBEDDED ? vector : noisy(vector, random);
      const at = new Date(1_760_000_000_000 + index * 1_000).toISOString();
      return {
        note: {
          id: createHash('sha256').update(String(index)).digest('hex'),
          namespace: 'default',
          taskType: 'code-review',
          wrongAnswer: `The checker reported case K${index} as a defect.`,
          correction: `It is intended; see the note of case K${index}.`,
          lesson: lessonOf(index),
          attributes: { repo: `repo-${index % 50}` },
          impact: 'NORMAL',
          status: 'ACTIVE',
          sources: [{ kind: 'bench' }],
          supportCount: 1,
          findings: [],
          createdAt: at,
          updatedAt: at,
          supersedes: [],
          outcomes: { retrieved: 0, helpful: 0, harmful: 0, ignored: 0 },
        },
        vectors: { modelId: embedder.model.id, lesson, situation: noisy(vector, random) },
        audit: { at, actor: 'bench', action: 'created', changes: [] },
      };
    });
    await store.notes.insert(entries);
  }
  log(`${NOTES} notes stored`);
}

/** Runs `calls` calls, `CONCURRENCY` at a time; milliseconds of each, sorted. */
async function measure(calls, call) {
  const times = [];
  let next = 0;
  const worker = async () => {
    while (next < calls) {
      const index = next;
      next += 1;
      const start = performance.now();
      await call(index);
      times.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const perSecond = calls / ((performance.now() - start) / 1_000);
  times.sort((a, b) => a - b);
  const at = (share) =>
    Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] * 100) / 100;
  return { calls, p50: at(0.5), p95: at(0.95), p99: at(0.99), 'calls/s': Math.round(perSecond) };
}

const DOCUMENT =
  'query($q: RetrieveInput!) { retrieve(input: $q) { id abstained plan notes { score note { id lesson } } stages { name ms } } }';

function httpCaller(port, key) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const post = (body) =>
    new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, path: '/graphql', method: 'POST', agent, headers },
        (response) => {
          const chunks = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
        },
      );
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  return { post: (q) => post({ query: DOCUMENT, variables: { q } }), close: () => agent.destroy() };
}

async function run(log) {
  const folder = mkdtempSync(join(tmpdir(), 'errata-bench-'));
  const config = parseConfig({ env: process.env, flags: { data: folder } });
  const store = await createSqliteStore({ path: join(folder, 'errata.sqlite') });
  const engines = await openEngines(config);
  await fillStore(store, engines.embedder, log);
  const filled = performance.now();
  const app = await createApp({ store, engines, logger: silentLogger, runJobs: false });
  const fillMs = Math.round(performance.now() - filled);
  const key = await app.useCases.keys.create(CALLER, 'bench', ['reader'], undefined);
  const server = await createGraphqlServer({
    useCases: app.useCases,
    logger: silentLogger,
    config: { ...GRAPHQL_SERVER_DEFAULTS, host: '127.0.0.1', port: 0, cursorSecret: 'x'.repeat(43) },
  });
  const { port } = await server.listen();
  const http = httpCaller(port, key);
  try {
    const inProcess = (query) => app.useCases.retrieval.retrieve(CALLER, { query, taskType: 'code-review' });
    const fresh = (index) => `${lessonOf(index % EMBEDDED)} Seen again, number ${index}.`;
    const warm = (index) => `Is ${lessonOf(index % 50)} still right?`;

    // The graph is built in the background after the fill; until then the index scans.
    const building = performance.now();
    while (!(await inProcess('is the graph there?')).plan.includes('graph')) {
      if (performance.now() - building > 120_000)
        throw new Error('Expected a graph within two minutes, found none');
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const graphSeconds = Math.round((performance.now() - building) / 100) / 10;
    const right = [];
    for (let index = 0; index < 100; index += 1) {
      const { candidates } = await inProcess(lessonOf(index));
      right.push(candidates[0]?.note.lesson === lessonOf(index));
    }
    const hits = right.filter(Boolean).length;
    log(`${hits} of 100 notes found first by their own lesson`);

    await measure(200, (index) => inProcess(fresh(index + 1_000_000)));
    const rows = {};
    rows['in process, new queries'] = await measure(CALLS, (index) => inProcess(fresh(index)));
    rows['in process, repeated queries'] = await measure(CALLS, (index) => inProcess(warm(index)));
    await measure(200, (index) => http.post({ query: warm(index), taskType: 'code-review' }));
    const pipeline = [];
    rows['GraphQL over HTTP, repeated queries'] = await measure(CALLS, async (index) => {
      const { data } = await http.post({ query: warm(index), taskType: 'code-review' });
      pipeline.push(data.retrieve.stages.reduce((sum, { ms }) => sum + ms, 0));
    });
    rows['GraphQL over HTTP, new queries'] = await measure(CALLS, (index) =>
      http.post({ query: fresh(index + 500_000), taskType: 'code-review' }),
    );
    const single = [];
    for (let index = 0; index < 300; index += 1) {
      const start = performance.now();
      const { data } = await http.post({ query: warm(index), taskType: 'code-review' });
      single.push(performance.now() - start - data.retrieve.stages.reduce((sum, { ms }) => sum + ms, 0));
    }
    single.sort((a, b) => a - b);
    const added = Math.round(single[150] * 100) / 100;

    const memory = () => {
      globalThis.gc?.();
      return process.memoryUsage().rss / 2 ** 20;
    };
    await measure(STEADY_CALLS / 5, (index) => inProcess(warm(index)));
    const before = memory();
    await measure(STEADY_CALLS, (index) => inProcess(warm(index)));
    const grown = Math.round(memory() - before);
    return {
      setup: `${NOTES} notes, ${engines.vectorIndex.stats().vectors} vectors, concurrency ${CONCURRENCY}; index filled in ${fillMs} ms, graph built in ${graphSeconds} s`,
      rows,
      checks: [
        { what: 'notes found first by their own lesson, of 100', ok: hits >= 99, value: hits },
        {
          what: 'in process, new queries, p95 under 25 ms',
          ok: rows['in process, new queries'].p95 < 25,
          value: rows['in process, new queries'].p95,
        },
        { what: 'GraphQL adds at most 2 ms (median of single calls)', ok: added <= 2, value: added },
        { what: `memory grown over ${STEADY_CALLS} calls, MiB, under 30`, ok: grown < 30, value: grown },
      ],
    };
  } finally {
    http.close();
    await server.close();
    await app.close();
    await engines.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const retrieveBench = { name: 'retrieve', run };
