import { describe, expect, it } from 'vitest';
import { mapProbability, thresholdOf } from '../../../src/domain/calibration.js';
import { calibrate } from '../../../src/evaluation/calibration/calibrate.js';
import { type ScoredQuery, splitQueries } from '../../../src/evaluation/calibration/collect-scores.js';
import { fitMapping } from '../../../src/evaluation/calibration/probability-mapping.js';
import { renderCalibration } from '../../../src/evaluation/calibration/render-calibration.js';
import { renderCalibrationsHtml } from '../../../src/evaluation/calibration/render-calibration-html.js';
import { type GoldenQuery, halfOf } from '../../../src/evaluation/golden-set.js';
import { seededRandom } from '../../../src/evaluation/statistics/seeded-random.js';

const random = seededRandom(7);
const facts = {
  namespace: 'default',
  alpha: 0.05,
  goldenDigest: 'd',
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'rita',
  scoreFit: null,
  finalK: 3,
};
const origin = { embeddingModel: 'm@1', rerankModel: 'r@1', scoreScale: 'logit' as const };

/** Logits: right notes around +2, wrong ones around −2, half a logit higher for `code-review`. */
function query(taskType: string, expected: number, fit: boolean): ScoredQuery {
  const noise = () => random() + random() + random() + random() - 2;
  const shift = taskType === 'code-review' ? 0.5 : 0;
  const wrong = Array.from({ length: 4 }, () => ({ score: -2 + shift + noise(), expected: false }));
  const right = expected > 0 ? [{ score: 2 + noise(), expected: true }] : [];
  const candidates = [...right, ...wrong].sort((a, b) => b.score - a.score);
  return { taskType, fit, expected, threshold: -10, candidates };
}
const queries = [true, false].flatMap((fit) => [
  ...Array.from({ length: 60 }, () => query('code-review', 0, fit)),
  ...Array.from({ length: 10 }, () => query('moderation', 0, fit)),
  ...Array.from({ length: 60 }, (_, index) => query(index % 2 === 0 ? 'code-review' : 'moderation', 1, fit)),
]);

describe('calibrate', () => {
  const calibration = calibrate({ origin, queries }, facts);

  it('has a threshold of its own for a task type with enough queries, and pools the others', () => {
    expect(Object.keys(calibration.byTaskType)).toEqual(['code-review']);
    expect(thresholdOf(calibration, 'moderation')).toBe(calibration.pooled.value);
    expect(thresholdOf(calibration, 'code-review')).toBe(calibration.byTaskType['code-review']?.value);
    expect(thresholdOf(calibration, undefined)).toBe(calibration.pooled.value);
  });

  it('reports the held-out half: fewer wrong notes than before, and the recall that is left', () => {
    const { before, after, ceiling } = calibration.heldOut;
    expect(before.wronglyInjected).toMatchObject({ count: 70, total: 70 });
    expect(after.wronglyInjected.rate).toBeLessThan(0.15);
    expect(after.wronglyInjected.low).toBeLessThan(0.05);
    expect(after.recall).toBeGreaterThan(0.8);
    expect(ceiling.recall).toBeGreaterThanOrEqual(after.recall);
  });

  it('is shown as one page that loads nothing, with both halves of the promise', () => {
    const page = renderCalibrationsHtml([calibration, { ...calibration, namespace: '<b>' }]);
    expect(page).toContain('promised at most');
    expect(page).toContain('<td>code-review</td>');
    expect(page).toContain('Brier score');
    expect(page).toContain('namespace &#60;b&#62;');
    expect(page.match(/<svg/g)).toHaveLength(2);
    expect(page).not.toMatch(/<script|<link|<img|https?:(?!\/\/www\.w3\.org\/2000\/svg)/);
  });

  it('counts as one would by hand on a small held-out half', () => {
    const held: readonly ScoredQuery[] = [
      { taskType: 'a', fit: false, expected: 0, threshold: 0, candidates: [{ score: 9, expected: false }] },
      { taskType: 'a', fit: false, expected: 0, threshold: 0, candidates: [] },
      {
        taskType: 'a',
        fit: false,
        expected: 2,
        threshold: 0,
        candidates: [
          { score: 9, expected: true },
          { score: -9, expected: true },
        ],
      },
    ];
    const { heldOut } = calibrate({ origin, queries: [...queries.filter(({ fit }) => fit), ...held] }, facts);
    expect(heldOut.after.wronglyInjected).toMatchObject({ count: 1, total: 2 });
    expect(heldOut.after.answered).toMatchObject({ count: 1, total: 1 });
    expect(heldOut.after.recall).toBe(0.5);
    expect(heldOut.ceiling.recall).toBe(1);
  });

  it('maps logits to probabilities that beat the base rate, without changing an order', () => {
    const { mapping, heldOut } = calibration;
    expect(mapping).toBeDefined();
    const at = (score: number) => mapProbability(mapping!, 'logit', score);
    expect([at(-3), at(0), at(3)]).toEqual([at(-3), at(0), at(3)].toSorted((a, b) => a - b));
    expect(at(-3)).toBeLessThan(0.1);
    expect(at(3)).toBeGreaterThan(0.9);
    expect(heldOut.brier?.mapped).toBeLessThan((heldOut.brier?.baseRate ?? 0) / 2);
  });

  it('has no mapping where higher scores apply less often', () => {
    const judged = Array.from({ length: 40 }, (_, index) => ({ score: index, expected: index < 20 }));
    const turned = judged.map(({ score, expected }) => ({ score: -score, expected }));
    expect(fitMapping(judged, 'logit')).toBeUndefined();
    expect(fitMapping(turned, 'logit')?.slope).toBeGreaterThan(0);
  });

  it('says all of it in 80 columns', () => {
    const lines = renderCalibration(calibration).flatMap((line) => line.split('\n'));
    expect(lines.join('\n')).toContain('at most 5% of new queries');
    expect(lines.join('\n')).toContain('the same for 1 task types with fewer than 19');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('splitQueries', () => {
  const golden = Array.from({ length: 200 }, (_, index): GoldenQuery => {
    return { id: `q${index}`, query: `text ${index}`, expected: [], kind: 'none', language: 'en' };
  });

  it('keeps to the usual halves where the score was fitted on other queries', () => {
    const split = splitQueries(golden, new Set());
    expect(split.every(({ query, fit }) => fit === (halfOf(query) === 'tune'))).toBe(true);
  });

  it('leaves out what the score was fitted on and halves the rest anew', () => {
    const tune = golden.filter((one) => halfOf(one) === 'tune').map(({ query: text }) => text);
    const split = splitQueries(golden, new Set(tune));
    expect(split).toHaveLength(200 - tune.length);
    const share = split.filter(({ fit }) => fit).length / split.length;
    expect(share).toBeGreaterThan(0.35);
    expect(share).toBeLessThan(0.65);
  });
});
