import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEngines } from '../../src/app/installation.js';
import { parseConfig } from '../../src/config/parse-config.js';
import { MisbehavingServer } from '../adapters/hosted/misbehaving-server.js';
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
  const retrieve = (query: string) =>
    real.app.useCases.retrieval.retrieve(ADMIN, { query, taskType: 'dependency-scan' });

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

  it('says so where the reranker fails, and answers all the same', async () => {
    await retrieve('an embedding for the cache');
    server.behaviours.push(...Array.from({ length: 4 }, () => ({ status: 500 })));
    const answer = await retrieve('an embedding for the cache');
    expect(answer.degraded[0]).toBe('rerank: MODEL_UNAVAILABLE');
    expect(answer.candidates).toHaveLength(1);
    expect(answer.rerankModel).toBeUndefined();
  });

  it('refuses hosted models together with the offline mode', async () => {
    const config = parseConfig({ env: { ERRATA_OFFLINE: 'true', ERRATA_EMBEDDER: 'openai:x' } });
    await expect(openEngines(config)).rejects.toMatchObject({ code: 'INVALID_CONFIG' });
  });
});
