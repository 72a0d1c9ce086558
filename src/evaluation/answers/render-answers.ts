import { differenceText, points, shareText, VERDICTS } from './answer-texts.js';
import type { AnswerPair } from './checker-records.js';
import type { AnswerComparison, RateComparison } from './compare-answers.js';

const MAX_LISTED = 20;

/** For a terminal, at most 80 columns. */
export function renderAnswersText(comparison: AnswerComparison): readonly string[] {
  const { pairs, falsePositives, falseNegatives, errors, missing, unreadable } = comparison;
  return [
    `${VERDICTS[comparison.verdict]} (5% level, adjusted for two rates); ${pairs} cases.`,
    '                 before         after          difference (95%)          p',
    textRow('false positives', falsePositives),
    textRow('false negatives', falseNegatives),
    textRow('wrong', errors),
    `A set of this size finds ${points(falsePositives.detectable)} points of false positives and`,
    `${points(falseNegatives.detectable)} of false negatives in 80 of 100 cases.`,
    `Lessons changed ${shareText(comparison.utilisation)} of the answers that had any, and turned`,
    `${shareText(comparison.noiseSensitivity)} of the right ones wrong.`,
    ...(missing.length + unreadable.length === 0
      ? []
      : [`Left out: ${missing.length} without both answers, ${unreadable.length} that could not be read.`]),
    ...textList('Got worse', comparison.regressions),
    ...comparison.noteEffects
      .filter(({ fixed, broken, shared }) => fixed.length + broken.length + shared.length > 0)
      .slice(0, MAX_LISTED)
      .map(({ noteId, injected, fixed, broken, shared }) => {
        const together = shared.length === 0 ? '' : `, ${shared.length} with others`;
        return `note ${noteId.slice(0, 16)}: in ${injected}, fixed ${fixed.length}, broke ${broken.length}${together}`;
      }),
  ];
}

/** For a pull request. */
export function renderAnswersMarkdown(comparison: AnswerComparison): string {
  const { falsePositives, falseNegatives, errors, adjusted, byTaskType, noteEffects } = comparison;
  const rows: readonly (readonly [string, RateComparison])[] = [
    ['false positives', falsePositives],
    ['false negatives', falseNegatives],
    ['wrong', errors],
    ...Object.entries(byTaskType).flatMap(([type, rates]): [string, RateComparison][] => [
      [`${code(type)} false positives`, rates.falsePositives],
      [`${code(type)} false negatives`, rates.falseNegatives],
    ]),
  ];
  const changed = noteEffects.filter(
    ({ fixed, broken, shared }) => fixed.length + broken.length + shared.length > 0,
  );
  return [
    `## ${VERDICTS[comparison.verdict]}`,
    '',
    `${comparison.pairs} paired cases (set ${comparison.casesDigest}); adjusted p ${adjusted.falsePositives.toFixed(4)} for false positives, ${adjusted.falseNegatives.toFixed(4)} for false negatives.`,
    '',
    '| | before | after | difference (95%) | fixed | broken | p | detectable |',
    '|---|--:|--:|--:|--:|--:|--:|--:|',
    ...rows.map(
      ([name, rate]) =>
        `| ${name} | ${shareText(rate.before)} | ${shareText(rate.after)} | ${differenceText(rate)} | ${rate.fixed} | ${rate.broken} | ${rate.pValue.toFixed(4)} | ${points(rate.detectable)} |`,
    ),
    '',
    ...markdownList('Got worse', comparison.regressions),
    ...markdownList('Got better', comparison.fixes),
    ...(changed.length === 0
      ? []
      : [
          '| note | in prompts | fixed | broke | with others |',
          '|---|--:|---|---|---|',
          ...changed
            .slice(0, MAX_LISTED)
            .map(
              ({ noteId, injected, fixed, broken, shared }) =>
                `| ${code(noteId.slice(0, 16))} | ${injected} | ${ids(fixed)} | ${ids(broken)} | ${ids(shared)} |`,
            ),
          '',
        ]),
  ].join('\n');
}

function textRow(name: string, rate: RateComparison): string {
  return `${name.padEnd(16)} ${shareText(rate.before).padEnd(14)} ${shareText(rate.after).padEnd(14)} ${differenceText(rate).padEnd(25)} ${rate.pValue.toFixed(4)}`;
}

function textList(title: string, pairs: readonly AnswerPair[]): readonly string[] {
  if (pairs.length === 0) return [];
  const more = pairs.length > MAX_LISTED ? [`  and ${pairs.length - MAX_LISTED} more`] : [];
  return [
    `${title}: ${pairs.length}`,
    ...pairs
      .slice(0, MAX_LISTED)
      .map(({ id, truth }) => `  ${id.slice(0, 60)} (${truth ? 'missed' : 'flagged'})`),
    ...more,
  ];
}

function markdownList(title: string, pairs: readonly AnswerPair[]): readonly string[] {
  if (pairs.length === 0) return [];
  const more = pairs.length > MAX_LISTED ? [`- and ${pairs.length - MAX_LISTED} more`] : [];
  return [
    `${title}: ${pairs.length}`,
    '',
    ...pairs.slice(0, MAX_LISTED).map(({ id, truth, after, notes }) => {
      const said = after ? 'flagged' : 'passed';
      const held = notes.length === 0 ? 'no lesson' : notes.map((note) => code(note.slice(0, 16))).join(' ');
      return `- ${code(id)}: now ${said}, ${truth ? 'something' : 'nothing'} to find; ${held}`;
    }),
    ...more,
    '',
  ];
}

function ids(list: readonly string[]): string {
  const shown = list.slice(0, 5).map(code).join(' ');
  return list.length > 5 ? `${shown} +${list.length - 5}` : shown || '–';
}

/** Ids are untrusted: they stand in code spans, on one line, and cannot end a table's cell. */
function code(text: string): string {
  return `\`${text.replace(/\s+/g, ' ').replaceAll('`', "'").replaceAll('|', '¦')}\``;
}
