import { describe, expect, it } from 'vitest';
import {
  type CheckerAnswer,
  parseCheckerAnswers,
  parseCheckerCases,
} from '../../../src/evaluation/answers/checker-records.js';
import { compareAnswers } from '../../../src/evaluation/answers/compare-answers.js';
import { renderAnswersMarkdown, renderAnswersText } from '../../../src/evaluation/answers/render-answers.js';
import { renderAnswersHtml } from '../../../src/evaluation/answers/render-answers-html.js';
import { seededRandom } from '../../../src/evaluation/statistics/seeded-random.js';

const answer = (id: string, flagged: boolean | null, more: Partial<CheckerAnswer> = {}): CheckerAnswer => ({
  id,
  flagged,
  notes: [],
  ...more,
});
const casesOf = (truths: readonly boolean[]) => ({
  digest: 'd',
  cases: truths.map((truth, index) => ({ id: `c${index}`, truth })),
});

describe('compareAnswers', () => {
  const cases = {
    digest: 'd',
    cases: [
      { id: 'a', truth: false, taskType: 'review' },
      { id: 'b', truth: false, taskType: 'review' },
      { id: 'c', truth: true, taskType: 'scan' },
      { id: 'd', truth: true, taskType: 'scan' },
      { id: 'e', truth: true },
      { id: 'f', truth: true },
    ],
  };
  const before = [
    answer('a', true),
    answer('b', true),
    answer('c', true),
    answer('d', false),
    answer('e', null),
  ];
  const after = [
    answer('a', false, { notes: ['n1'] }),
    answer('b', true, { notes: ['n1', 'n2'] }),
    answer('c', false, { notes: ['n1', 'n2', 'n3'], without: { n1: false, n2: true, n3: false } }),
    answer('d', true, { notes: ['n1', 'n3'] }),
    answer('e', true),
  ];
  const comparison = compareAnswers(cases, before, after);

  it('is shown as one page that loads nothing, with ids as text', () => {
    const hostile = 'x"><script src="//evil">';
    const page = renderAnswersHtml(
      compareAnswers(
        { digest: 'd', cases: [...cases.cases, { id: hostile, truth: false }] },
        [...before, answer(hostile, false)],
        [...after, answer(hostile, true, { notes: [hostile] })],
      ),
    );
    expect(page).toContain('<h2>No difference beyond chance</h2>');
    expect(page).toContain('Got worse: 2</summary>');
    expect(page).toContain('&#60;script');
    expect(page).not.toMatch(/<script|<link|<img|https?:(?!\/\/www\.w3\.org\/2000\/svg)/);
  });

  it('counts rates, changes, and what takes no part', () => {
    expect(comparison.pairs).toBe(4);
    expect(comparison.falsePositives).toMatchObject({
      before: { count: 2, total: 2 },
      after: { count: 1, total: 2 },
      fixed: 1,
      broken: 0,
      pValue: 1,
    });
    expect(comparison.falseNegatives).toMatchObject({
      before: { count: 1, total: 2 },
      after: { count: 1, total: 2 },
      fixed: 1,
      broken: 1,
    });
    expect(comparison.errors.difference.estimate).toBe(-0.25);
    expect(comparison.missing).toEqual(['f']);
    expect(comparison.unreadable).toEqual(['e']);
    expect(comparison.regressions.map(({ id }) => id)).toEqual(['c']);
    expect(comparison.fixes.map(({ id }) => id)).toEqual(['a', 'd']);
    expect(Object.keys(comparison.byTaskType)).toEqual(['review', 'scan']);
    expect(comparison.utilisation).toMatchObject({ count: 3, total: 4 });
    expect(comparison.noiseSensitivity).toMatchObject({ count: 1, total: 1 });
    expect(comparison.verdict).toBe('same');
  });

  it('puts a change down to the only note, or to the one without which the old answer came back', () => {
    const effects = new Map(comparison.noteEffects.map((effect) => [effect.noteId, effect]));
    expect(effects.get('n1')).toMatchObject({ injected: 4, fixed: ['a'], broken: [], shared: ['d'] });
    expect(effects.get('n2')).toMatchObject({ injected: 2, fixed: [], broken: ['c'], shared: [] });
    expect(effects.get('n3')).toMatchObject({ injected: 2, fixed: [], broken: [], shared: ['d'] });
    expect(comparison.noteEffects[0]?.noteId).toBe('n2');
  });

  it('renders what a reader needs, and an id cannot break out of a table', () => {
    expect(renderAnswersText(comparison).join('\n')).toContain('No difference beyond chance');
    for (const line of renderAnswersText(comparison)) expect(line.length).toBeLessThanOrEqual(80);
    const odd = compareAnswers(
      { digest: 'd', cases: [{ id: 'x|`\n# y', truth: true }] },
      [answer('x|`\n# y', true)],
      [answer('x|`\n# y', false, { notes: ['n'] })],
    );
    expect(renderAnswersMarkdown(odd)).toContain("`x¦' # y`");
    expect(renderAnswersMarkdown(odd)).not.toContain('\n# y');
  });

  it('refuses runs that share no case', () => {
    expect(() => compareAnswers(cases, before, [answer('z', true)])).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
  });
});

describe('records', () => {
  it('read what they are given and name the line that is wrong', () => {
    expect(parseCheckerCases('{"id":"a","truth":true}\n\n', 'cases').cases).toEqual([
      { id: 'a', truth: true },
    ]);
    expect(parseCheckerAnswers('{"id":"a","flagged":null}', 'answers')).toEqual([
      { id: 'a', flagged: null, notes: [] },
    ]);
    const bad = ['{"id":"a","truth":1}', '{"id":"a","truth":true}\n{"id":"a","truth":true}', 'x', ''];
    for (const [index, text] of bad.entries()) {
      expect(() => parseCheckerCases(text, 'cases')).toThrow(
        expect.objectContaining({ code: 'INVALID_FILE', details: { line: index === 1 ? 2 : 1 } }),
      );
    }
  });
});

/**
 * A checker with a will of its own: most cases it answers the same way every time, the rest by a coin of their own, as models at
 * temperature 0 do from deployment to deployment.
 */
function simulate(random: () => number, size: number) {
  const truths = Array.from({ length: size }, (_, index) => index % 2 === 0);
  const errorChance = truths.map(() => (random() < 0.75 ? (random() < 0.08 ? 1 : 0) : random() * 0.5));
  const run = (moreWrong: number): readonly CheckerAnswer[] =>
    truths.map((truth, index) => {
      const wrong = random() < (errorChance[index] ?? 0) || random() < moreWrong;
      return answer(`c${index}`, truth !== wrong);
    });
  return { cases: casesOf(truths), run };
}

describe('the verdict over simulated runs', () => {
  const rounds = 200;
  const verdicts = (size: number, moreWrong: number): readonly string[] => {
    const random = seededRandom(size + moreWrong * 1_000);
    return Array.from({ length: rounds }, () => {
      const { cases, run } = simulate(random, size);
      return compareAnswers(cases, run(0), run(moreWrong), 1).verdict;
    });
  };

  it.each([100, 1_000])('calls identical runs over %i cases different in at most 5 of 100 trials', (size) => {
    const different = verdicts(size, 0).filter((verdict) => verdict !== 'same').length;
    expect(different / rounds).toBeLessThanOrEqual(0.05);
  });

  it('catches a planted regression of 3 points on 4,000 cases', () => {
    // 1 of 30 of the right answers turned wrong is 3 points at an error rate of 12%.
    const worse = verdicts(4_000, 1 / 29).filter((verdict) => verdict === 'worse').length;
    expect(worse / rounds).toBeGreaterThan(0.9);
  });
});
