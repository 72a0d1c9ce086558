import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPrometheusMetrics } from '../../src/adapters/telemetry/prometheus-metrics.js';
import { openEngines } from '../../src/app/installation.js';
import { createLiveFigures } from '../../src/app/live-figures.js';
import { parseConfig } from '../../src/config/parse-config.js';
import { silentLogger } from '../../src/ports/logger.js';
import { MisbehavingServer } from '../adapters/hosted/misbehaving-server.js';
import { SECRETS } from '../guard/secret-texts.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

describe('an app with hosted models', () => {
  let server: MisbehavingServer;
  let real: RealApp;
  const lesson = 'Floods of requests do not matter to programs that never listen on a port.';
  beforeAll(async () => {
    server = await MisbehavingServer.start();
    const embedder = 'openai:intfloat/e5-small-v2';
    const urls = { 'embedder-url': server.baseUrl, 'reranker-url': server.baseUrl };
    real = await openRealApp({ flags: { embedder, reranker: 'jina:reranker', ...urls } });
    await real.app.useCases.commands.submit(ADMIN, {
      taskType: 'dependency-scan',
      wrongAnswer: 'Reported a flood.',
      correction: 'It opens no socket.',
      lesson,
    });
  });
  afterAll(async () => {
    await real.close();
    server.stop();
  });
  const retrieve = (query: string, taskType = 'dependency-scan') =>
    real.app.useCases.retrieval.retrieve(ADMIN, { query, taskType });

  it('retrieves and reranks over HTTP, with the prefixes of a known model, and sends no secret', async () => {
    const key = `ghp_${'a1B2'.repeat(9)}`;
    const answer = await retrieve(`floods of requests, token ${key}`);
    expect(answer.rerankModel).toBe('jina:reranker');
    expect(answer.candidates[0]?.note.lesson).toBe(lesson);
    expect(answer.degraded).toEqual([expect.stringMatching(/^calibration: no fitted scores for openai:/)]);
    const sent = JSON.stringify(server.received);
    expect(sent).toContain('query: floods of requests');
    expect(sent).toContain(`passage: dependency-scan: ${lesson}`);
    expect(sent).not.toContain(key);
  });

  it('sends no secret of any kind that redaction knows, in queries, passages and notes', async () => {
    const from = server.received.length;
    for (const [at, [kind, secret]] of SECRETS.entries()) {
      // A task type of their own: the other tests know what they find in theirs.
      await retrieve(`${kind} ${at}: the log shows ${secret} in clear`, 'secret-scan');
      await real.app.useCases.commands.submit(ADMIN, {
        taskType: 'secret-scan',
        wrongAnswer: `Reported ${kind} ${at}: ${secret}`,
        correction: `It was revoked: ${secret}`,
        lesson: `A ${kind} of case ${at} such as ${secret} is revoked in tests.`,
      });
    }
    const sent = server.received.slice(from).map(({ body }) => body);
    // Queries are embedded and reranked (but the first, which finds no note), notes embedded: nothing here is empty.
    const reranked = sent.filter((body) => body.documents !== undefined);
    expect(reranked.length).toBeGreaterThanOrEqual(SECRETS.length - 1);
    expect(sent.length).toBeGreaterThanOrEqual(3 * SECRETS.length - 1);
    const text = sent.map((body) => Object.values(body).flat().join('\n')).join('\n');
    expect(SECRETS.filter(([, secret]) => text.includes(secret)).map(([kind]) => kind)).toEqual([]);
    expect(text).toContain('the log shows');
  });

  it('sends no phone number where they are redacted', async () => {
    const phone = '+49 30 901820';
    const urls = { 'embedder-url': server.baseUrl, 'reranker-url': server.baseUrl };
    const flags = { embedder: 'openai:intfloat/e5-small-v2', reranker: 'jina:reranker', ...urls };
    const sentBy = async (app: RealApp): Promise<string> => {
      const from = server.received.length;
      await app.app.useCases.retrieval.retrieve(ADMIN, { query: `who answers ${phone}?` });
      return JSON.stringify(server.received.slice(from));
    };
    expect(await sentBy(real)).toContain(`who answers ${phone}?`);
    const discreet = await openRealApp({ flags: { ...flags, 'redact-phones': 'true' } });
    try {
      const sent = await sentBy(discreet);
      expect(sent).toContain('who answers [REDACTED:phone:1]?');
      expect(sent).not.toContain(phone);
    } finally {
      await discreet.close();
    }
  });

  it('says in stats and metrics what was asked of the services', async () => {
    const before = await real.app.useCases.stats('all');
    const [embedding, reranking] = before.models ?? [];
    expect(embedding).toMatchObject({ role: 'EMBEDDING', id: expect.stringMatching(/^openai:/) });
    expect(reranking).toMatchObject({ role: 'RERANKING', id: 'jina:reranker' });
    await retrieve('what does one more question cost?');
    const [embedded, reranked] = (await real.app.useCases.stats('all')).models ?? [];
    // As the test server bills: 5 tokens an embedding, 9 a rerank.
    expect(embedded?.usage?.billedUnits).toBe((embedding?.usage?.billedUnits ?? 0) + 5);
    expect(embedded?.usage?.requests).toBe((embedding?.usage?.requests ?? 0) + 1);
    expect(reranked?.usage?.billedUnits).toBe((reranking?.usage?.billedUnits ?? 0) + 9);
    expect((await real.app.useCases.stats(['default'])).models).toBeUndefined();

    const figures = createLiveFigures(real.store, () => real.engines, silentLogger);
    const page = await createPrometheusMetrics(() => figures.read()).render();
    await figures.close();
    const { requests, billedUnits } = reranked?.usage ?? {};
    expect(page).toContain(`errata_hosted_requests{role="reranking",model="jina:reranker"} ${requests}\n`);
    expect(page).toContain(
      `errata_hosted_billed_units{role="reranking",model="jina:reranker"} ${billedUnits}\n`,
    );
    expect(page).toMatch(/errata_hosted_requests\{role="embedding",model="openai:[^"]+"\} \d+\n/);
  });

  it('says so where the reranker fails, and answers all the same', async () => {
    await retrieve('an embedding for the cache');
    server.behaviours.push(...Array.from({ length: 4 }, () => ({ status: 500 })));
    const answer = await retrieve('an embedding for the cache');
    expect(answer.degraded[0]).toBe('rerank: MODEL_UNAVAILABLE');
    const usage = (await real.app.useCases.stats('all')).models?.[1]?.usage;
    expect(usage).toMatchObject({ retries: 3, failures: 1 });
    expect(answer.candidates).toHaveLength(1);
    expect(answer.rerankModel).toBeUndefined();
  });

  it('refuses hosted models together with the offline mode', async () => {
    const config = parseConfig({ env: { ERRATA_OFFLINE: 'true', ERRATA_EMBEDDER: 'openai:x' } });
    await expect(openEngines(config)).rejects.toMatchObject({ code: 'INVALID_CONFIG' });
  });
});
