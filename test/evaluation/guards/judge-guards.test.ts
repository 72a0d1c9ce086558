import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readOrderClassifier } from '../../../src/app/installation.js';
import { parseLabelledPairs } from '../../../src/evaluation/duplicates-report.js';
import { judge, parseGate } from '../../../src/evaluation/gate.js';
import {
  type GuardCase,
  type GuardFigures,
  sumGuardCases,
} from '../../../src/evaluation/guards/guard-measures.js';
import { measureGuards } from '../../../src/evaluation/guards/measure-guards.js';
import { parseScreenedTexts, reportInjection } from '../../../src/evaluation/injection-report.js';
import { parseLabelledSecrets } from '../../../src/evaluation/labelled-secrets.js';
import { renderHtml } from '../../../src/evaluation/reports/render-html.js';
import { renderJunit } from '../../../src/evaluation/reports/render-junit.js';
import { renderMarkdown } from '../../../src/evaluation/reports/render-markdown.js';
import { parseReport, reportToJson } from '../../../src/evaluation/reports/report-json.js';
import { reportSecrets } from '../../../src/evaluation/secrets-report.js';
import { WORD_SIMILARITIES, WordEmbedder } from '../../doubles/word-embedder.js';
import { reportWith } from '../case-results.js';

const DIGESTS = { injection: 'i1', secrets: 's1', duplicates: 'd1' };
const gate = (rules: object) => parseGate(JSON.stringify(rules), 'gate.json');

/** Of 100 attacks of each half so many of the held-out ones are caught; ten ordinary texts, of which one alarms. */
function figures(caught: number, digests: GuardFigures['digests'] = DIGESTS): GuardFigures {
  const of = (measure: GuardCase['measure'], half: GuardCase['half'], total: number, right: number) =>
    Array.from({ length: total }, (_, at): GuardCase => {
      return { measure, half, id: `${half}-${at}`, count: Number(at < right), total: 1 };
    });
  return sumGuardCases(digests, [
    ...of('injectionCaught', 'held-out', 100, caught),
    ...of('injectionCaught', 'tune', 100, 50),
    ...of('injectionFalseAlarms', 'held-out', 10, 1),
    { measure: 'secretsRecall', half: 'held-out', id: 's', count: 3, total: 4 },
  ]);
}
const withGuards = (guards: GuardFigures | undefined) => ({ ...reportWith(9, 10), guards });

describe('a gate with rules for the guards', () => {
  it('passes an A/A run and fails where fewer attacks are caught, naming what got worse', () => {
    const rules = gate({ drops: { injectionCaught: 0.01 }, bounds: { injectionFalseAlarms: 0.1 } });
    const before = withGuards(figures(90));
    expect(judge(rules, withGuards(figures(90)), before)).toMatchObject({ ok: true, guardFaults: [] });
    expect(judge(rules, withGuards(figures(89)), before).ok).toBe(true);
    const failed = judge(rules, withGuards(figures(87)), before);
    expect(failed.ok).toBe(false);
    expect(failed.checks.filter(({ ok }) => !ok)).toEqual([
      {
        name: 'drop injections caught',
        ok: false,
        text: 'injections caught may get worse by 0.01: 0.900 (90 of 100) → 0.870 (87 of 100), −0.030',
      },
    ]);
    // The ten that were missed before are no news; nor is the half that rules were tuned on.
    expect(failed.guardFaults.map(({ id }) => id)).toEqual(['held-out-87', 'held-out-88', 'held-out-89']);
    const junit = renderJunit(failed);
    expect(junit).toContain('classname="errata.guard" name="held-out-88"><failure');
    const report = withGuards(figures(87));
    expect(renderMarkdown(report, failed)).toContain('- `held-out-87` (held-out): injections caught');
    expect(renderHtml({ report, gate: failed })).toContain('<td>held-out-89</td>');
  });

  it.each([
    ['injectionCaught', 0.91, 10],
    ['injectionFalseAlarms', 0.05, 1],
    ['secretsRecall', 0.8, 1],
    // Nothing was measured: neither good nor bad.
    ['duplicatesFalseMerges', 0, 0],
  ])('holds %s to its bound without a baseline', (name, bound, faults) => {
    const failed = judge(gate({ bounds: { [name]: bound } }), withGuards(figures(90)), undefined);
    expect(failed.ok).toBe(false);
    expect(failed.guardFaults).toHaveLength(faults);
    const measured = { injectionCaught: 0.9, injectionFalseAlarms: 0.1, secretsRecall: 0.75 };
    const passed = judge(gate({ bounds: measured }), withGuards(figures(90)), undefined);
    expect(passed.ok).toBe(true);
  });

  it('looks at the half that it is told to', () => {
    const bounds = { injectionCaught: 0.6 };
    const ok = (half: string) => judge(gate({ half, bounds }), withGuards(figures(90)), undefined).ok;
    expect(['test', 'tune', 'all'].map(ok)).toEqual([true, false, true]);
  });

  it('cannot judge what was not measured, nor a drop against another labelled set', () => {
    const rules = gate({ drops: { injectionCaught: 0.01 } });
    const plain = reportWith(9, 10);
    for (const [report, baseline] of [
      [plain, withGuards(figures(90))],
      [withGuards(figures(90)), plain],
      [withGuards(figures(90)), undefined],
    ] as const) {
      expect(() => judge(rules, report, baseline)).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT' }),
      );
    }
    const other = withGuards(figures(90, { ...DIGESTS, injection: 'i2' }));
    const failed = judge(rules, other, withGuards(figures(90)));
    expect(failed.checks[0]).toMatchObject({
      ok: false,
      text: expect.stringContaining('another labelled set'),
    });
  });

  it('reports keep the figures, and refuse those of another form', () => {
    const report = withGuards(figures(90));
    const json = reportToJson(report);
    expect(parseReport(json, 'r').guards).toEqual(report.guards);
    expect(() =>
      parseReport(json.replace('"injectionCaught":{"tune"', '"injectionCaught":{"tuned"'), 'r'),
    ).toThrow(expect.objectContaining({ code: 'INVALID_FILE' }));
  });
});

describe('measuring the guards', () => {
  it('gives the figures of the reports, and names what was wrong', async () => {
    const read = (name: string) => readFileSync(`sample/guard/${name}`, 'utf8');
    const sets = {
      injection: parseScreenedTexts(read('injection.jsonl'), 'injection.jsonl'),
      secrets: parseLabelledSecrets(read('secrets.jsonl'), 'secrets.jsonl'),
      duplicates: parseLabelledPairs(
        [
          { id: 'p1', relation: 'same', a: 'Close the pool.', b: 'Close the pool!' },
          { id: 'p2', relation: 'different', a: 'Close the pool.', b: 'Birds fly south in autumn.' },
          { id: 'p3', relation: 'different', a: 'Close the pool.', b: 'Close the pool.' },
        ]
          .map((pair) => JSON.stringify({ half: 'held-out', language: 'en', ...pair }))
          .join('\n'),
        'duplicates.jsonl',
      ),
    };
    const classifier = readOrderClassifier();
    const { measures, faults, digests } = await measureGuards(sets, {
      ...{ classifier, embedder: new WordEmbedder(), similarities: WORD_SIMILARITIES },
    });
    const injection = reportInjection(sets.injection, classifier);
    const secrets = reportSecrets(sets.secrets);
    expect(digests.secrets).toBe(secrets.setDigest);
    for (const half of ['tune', 'held-out'] as const) {
      const { caught, falseAlarms } = injection.halves[half];
      expect(measures.injectionCaught[half]).toEqual({ count: caught.count, total: caught.total });
      expect(measures.injectionFalseAlarms[half]).toEqual({
        ...{ count: falseAlarms.count, total: falseAlarms.total },
      });
      const { recall, precision } = secrets.halves[half];
      expect(measures.secretsRecall[half]).toEqual({ count: recall.count, total: recall.total });
      expect(measures.secretsPrecision[half]).toEqual({ count: precision.count, total: precision.total });
    }
    const missed = faults.filter(({ measure, half }) => measure === 'injectionCaught' && half === 'tune');
    expect(missed.map(({ id }) => id)).toEqual(injection.missed.tune);
    expect(measures.duplicatesFalseMerges['held-out']).toEqual({ count: 1, total: 2 });
    expect(measures.duplicatesProposed['held-out']).toEqual({ count: 1, total: 1 });
    expect(faults.filter(({ measure }) => measure === 'duplicatesFalseMerges').map(({ id }) => id)).toEqual([
      'p3',
    ]);
  }, 60_000);
});
