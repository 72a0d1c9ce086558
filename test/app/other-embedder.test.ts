import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { e5Small, modelForTests, testCacheDir } from '../models/installed-model.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const model = await modelForTests(e5Small);

describe.skipIf(model.missing !== undefined)('an app with e5-small-v2 as embedder', () => {
  let real: RealApp;
  beforeAll(async () => {
    real = await openRealApp({ flags: { embedder: 'e5-small-v2', 'models-dir': testCacheDir } });
    const lesson = (text: string, correction: string) => ({
      taskType: 'dependency-scan',
      wrongAnswer: `Reported as exploitable: ${correction}`,
      correction,
      lesson: text,
    });
    await real.app.useCases.commands.submitMany(ADMIN, [
      lesson(
        'Server-side HTTP/2 floods in netty do not apply to programs that never listen on a port.',
        'The viewer opens no listening socket.',
      ),
      lesson(
        'A jar that is only on the test class path is not shipped; findings in it are not release blockers.',
        'The jar is a test dependency.',
      ),
      lesson(
        'Findings in a bundled browser engine count even where no page is loaded from the network.',
        'The help window renders local pages with it.',
      ),
    ]);
  });
  afterAll(() => real.close());

  it('retrieves with it, and says that its scores are not calibrated', async () => {
    const answer = await real.app.useCases.retrieval.retrieve(ADMIN, {
      query: 'netty denial of service by HTTP/2 rapid reset in a desktop application',
      taskType: 'dependency-scan',
    });
    expect(answer.embeddingModel).toMatch(/^e5-small-v2@[0-9a-f]{12}$/);
    expect(answer.notes[0]?.note.lesson).toMatch(/^Server-side HTTP\/2 floods/);
    expect(answer.scoreScale).toBe('cosine');
    expect(answer.degraded).toEqual([
      'rerank: not configured',
      expect.stringMatching(/^calibration: no fitted scores for e5-small-v2@/),
    ]);
    expect(answer.candidates.length).toBeGreaterThan(1);
  });

  it('embeds queries and passages differently', async () => {
    const { embedder } = real.engines;
    const text = 'netty denial of service';
    const [[query], [passage]] = await Promise.all([
      embedder.embed([text], { kind: 'query' }),
      embedder.embed([text], { kind: 'passage' }),
    ]);
    expect(query?.vector).not.toEqual(passage?.vector);
    expect(query?.tokens).toBe(passage?.tokens);
  });
});
