import type { Plot } from '../plots/render-plot.js';
import { htmlDetails, htmlFigure, htmlPage, htmlTable, htmlTile } from '../reports/html-page.js';
import { differenceText, points, shareText, VERDICTS } from './answer-texts.js';
import type { AnswerPair } from './checker-records.js';
import type { AnswerComparison, RateComparison } from './compare-answers.js';

/** One self-contained page: what lessons did to a checker's answers, by rate, task type, note and case. */
export function renderAnswersHtml(comparison: AnswerComparison): string {
  const { falsePositives, falseNegatives, errors, adjusted, verdict, noteEffects } = comparison;
  const types = Object.entries(comparison.byTaskType);
  const changed = noteEffects.filter(
    ({ fixed, broken, shared }) => fixed.length + broken.length + shared.length > 0,
  );
  return htmlPage('Answers before and after', [
    `<section class="gate ${{ better: 'ok', worse: 'bad', same: 'muted' }[verdict]}"><h2>${VERDICTS[verdict]}</h2><p>5% level, adjusted for two rates: p ${adjusted.falsePositives.toFixed(4)} for false positives, ${adjusted.falseNegatives.toFixed(4)} for false negatives (exact McNemar, Holm).</p></section>`,
    `<p class="muted">${comparison.pairs} paired cases (set ${comparison.casesDigest}); a set of this size finds ${points(falsePositives.detectable)} points of false positives and ${points(falseNegatives.detectable)} of false negatives in 80 of 100 cases.</p>`,
    `<section class="tiles">${[
      rateTile('false positives', falsePositives),
      rateTile('false negatives', falseNegatives),
      htmlTile('answers that lessons changed', shareText(comparison.utilisation), 'of those with a lesson'),
      htmlTile('right ones turned wrong', shareText(comparison.noiseSensitivity), 'of those with a lesson'),
    ].join('')}</section>`,
    htmlTable(
      ['', 'before', 'after', 'difference (95%)', 'fixed', 'broken', 'p', 'detectable'],
      [
        rateRow('false positives', falsePositives),
        rateRow('false negatives', falseNegatives),
        rateRow('wrong', errors),
        ...types.flatMap(([type, rates]) => [
          rateRow(`${type}: false positives`, rates.falsePositives),
          rateRow(`${type}: false negatives`, rates.falseNegatives),
        ]),
      ],
    ),
    htmlFigure(
      ratePlot(comparison),
      'Each point is one error rate, of all cases or of a task type; under the line it fell.',
    ),
    '<h2>Cases</h2>',
    caseTable('Got worse', comparison.regressions),
    caseTable('Got better', comparison.fixes),
    htmlDetails(
      'Notes that changed an answer',
      ['note', 'in prompts', 'fixed', 'broke', 'with others'],
      changed.map(({ noteId, injected, fixed, broken, shared }) => [
        noteId,
        String(injected),
        fixed.join(' '),
        broken.join(' '),
        shared.join(' '),
      ]),
    ),
    htmlDetails(
      'Left out',
      ['id', 'why'],
      [
        ...comparison.missing.map((id) => [id, 'without both answers']),
        ...comparison.unreadable.map((id) => [id, 'an answer could not be read']),
      ],
    ),
  ]);
}

function rateTile(name: string, rate: RateComparison): string {
  const percent = (share: RateComparison['before']) =>
    share.total === 0 ? '-' : `${(100 * share.rate).toFixed(1)}%`;
  return htmlTile(name, `${percent(rate.before)} → ${percent(rate.after)}`, differenceText(rate));
}

function rateRow(name: string, rate: RateComparison): readonly string[] {
  return [
    name,
    shareText(rate.before),
    shareText(rate.after),
    differenceText(rate),
    String(rate.fixed),
    String(rate.broken),
    rate.pValue.toFixed(4),
    points(rate.detectable),
  ];
}

function caseTable(title: string, pairs: readonly AnswerPair[]): string {
  return htmlDetails(
    title,
    ['case', 'task type', 'to find', 'before', 'now', 'lessons in the prompt'],
    pairs.map(({ id, taskType, truth, before, after, notes }) => [
      id,
      taskType,
      truth ? 'something' : 'nothing',
      before ? 'flagged' : 'passed',
      after ? 'flagged' : 'passed',
      notes.join(' ') || '–',
    ]),
  );
}

function ratePlot({ falsePositives, falseNegatives, byTaskType }: AnswerComparison): Plot {
  const cloud = (name: string, rates: readonly (readonly [string, RateComparison])[]) => {
    const shown = rates.filter(([, { before }]) => before.total > 0);
    return {
      name,
      mark: 'points' as const,
      points: shown.map(([, { before, after }]) => [100 * before.rate, 100 * after.rate] as const),
      labels: shown.map(([label]) => label),
    };
  };
  const byType = (pick: 'falsePositives' | 'falseNegatives') =>
    Object.entries(byTaskType).map(([type, rates]) => [type, rates[pick]] as const);
  return {
    title: 'Error rates before and after',
    x: { title: 'before, %' },
    y: { title: 'after, %' },
    series: [
      {
        name: 'no change',
        points: [
          [0, 0],
          [100, 100],
        ],
      },
      cloud('false positives', [['all', falsePositives], ...byType('falsePositives')]),
      cloud('false negatives', [['all', falseNegatives], ...byType('falseNegatives')]),
    ],
  };
}
