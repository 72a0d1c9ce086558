import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../graphql/doubles/test-server.js';
import { OPERATIONS_FOLDER, runOperationScenario } from '../graphql/operation-scenario.js';
import { modelForTests } from '../models/installed-model.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const { missing } = await modelForTests();
const SUBSCRIPTIONS = ['job-progress.graphql', 'note-changes.graphql'];
const read = (file: string): string => readFileSync(join(OPERATIONS_FOLDER, file), 'utf8');
const field = (value: unknown): Record<string, unknown> =>
  Object.values((value as { data?: Record<string, unknown> } | undefined)?.data ?? {})[0] as Record<
    string,
    unknown
  >;

describe.skipIf(missing !== undefined)('schema/operations on real parts (needs all-MiniLM-L6-v2)', () => {
  let real: RealApp;
  let server: TestServer;
  let key: string;
  beforeAll(async () => {
    real = await openRealApp({ runJobs: true });
    key = await real.app.useCases.keys.create(ADMIN, 'operations', ['admin'], undefined);
    server = await startTestServer(real.app.useCases);
  });
  afterAll(async () => {
    await server?.close();
    await real?.close();
  });

  it('runs every query and mutation as a team would', async () => {
    const ran = await runOperationScenario((query, variables) => server.query(query, { variables, key }));
    const files = readdirSync(OPERATIONS_FOLDER).filter((name) => name.endsWith('.graphql'));
    expect([...ran, ...SUBSCRIPTIONS].toSorted()).toEqual(files.toSorted());
    expect(server.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('tells subscribers of every change, over WebSocket, also of changes by another process', async () => {
    const events = server.socket(key).iterate({ query: read('note-changes.graphql') });
    const input = {
      taskType: 'operations-feed',
      wrongAnswer: 'Said that the cache is never emptied.',
      correction: 'evict_all() runs every night.',
      lesson: 'The cache is emptied by evict_all(); look at the schedule before reporting growth.',
    };
    // The socket has subscribed when an event comes through; changes before that are nobody's.
    const first = events.next();
    let note: { id: string } | undefined;
    let submitted = 0;
    const submit = async () => {
      submitted += 1;
      const lesson = input.lesson.replace('evict_all', `evict_all_${submitted}`);
      const { data, errors } = await server.query(read('submit-correction.graphql'), {
        key,
        variables: { input: { ...input, lesson } },
      });
      expect(errors).toEqual([]);
      note = data.submitCorrection.note;
    };
    let delivered: Awaited<typeof first> | undefined;
    void first.then((event) => {
      delivered = event;
    });
    await expect
      .poll(async () => {
        if (delivered === undefined) await submit();
        return delivered;
      })
      .toBeDefined();
    expect(field(delivered?.value)).toMatchObject({ taskType: 'operations-feed', status: 'ACTIVE' });

    const other = await openRealApp({ folder: real.folder });
    try {
      const id = note?.id ?? '';
      await other.app.useCases.commands.deprecate(ADMIN, 'default', [id], 'from another process');
      for (;;) {
        const changed = field((await events.next()).value);
        expect(changed.id).toMatch(/^[0-9a-f]{64}$/u);
        if (changed.id === id && changed.status === 'DEPRECATED') break;
      }
    } finally {
      await other.close();
      await events.return?.();
    }
  });

  it('shows a job to its end over WebSocket', async () => {
    const { data } = await server.query(read('start-job.graphql'), { key, variables: { kind: 'REEMBED' } });
    const states: unknown[] = [];
    const { id } = field({ data });
    for await (const event of server
      .socket(key)
      .iterate({ query: read('job-progress.graphql'), variables: { id } })) {
      states.push(field(event).state);
    }
    expect(states.at(-1)).toBe('SUCCEEDED');
  });
});
