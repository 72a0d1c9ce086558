import type { Share } from '../domain/wilson.js';
import type { DuplicatesReport } from './duplicates-report.js';
import { HALVES } from './labelled-set.js';
import { renderShare } from './render-guard-report.js';

/** For a terminal of 80 columns. */
export function renderDuplicatesReport(report: DuplicatesReport): string {
  const { merge, contradiction, proposal } = report.policy;
  const lines = HALVES.flatMap((half) => [
    `${half}: merge of the same lesson, false merges of others`,
    ...report.points[half].map((point) => row(point.threshold, merge, point.merged, point.falseMerges)),
    `${half}: proposals for the same lesson in other words, needless ones`,
    ...report.points[half].map((point) =>
      row(point.threshold, proposal, point.proposed, point.falseProposals),
    ),
    `  other facts proposed:  ${renderShare(factsAt(report, half, proposal))}`,
    `  opposites found from ${limitText(contradiction)}: ${renderShare(report.contradictionsHeld[half])}`,
    `${half}: near lessons whose corrections are compared`,
    `  opposites found:       ${renderShare(report.corrections[half].opposed)}`,
    `  opposites shown:       ${renderShare(report.corrections[half].seen)}`,
    `  needlessly opposite:   ${renderShare(report.corrections[half].falseAlarms)}`,
    `  false merges:          ${renderShare(report.corrections[half].falseMerges)}`,
    '',
  ]);
  return [
    ...lines,
    'Threshold on the cosine of two lessons, * in use; rate, 95% interval',
    `(Wilson), counts. ${report.pairs} pairs, set ${report.setDigest},`,
    `${report.embeddingModel}.`,
  ].join('\n');
}

type Limit = DuplicatesReport['policy']['merge'];

const limitText = (limit: Limit): string => (limit === 'never' ? limit : limit.toFixed(2));

function row(threshold: number, chosen: Limit, right: Share, wrong: Share): string {
  const mark = threshold === chosen ? '*' : ' ';
  return `  ${threshold.toFixed(2)}${mark} ${renderShare(right).padEnd(32)}${renderShare(wrong)}`;
}

function factsAt({ points }: DuplicatesReport, half: (typeof HALVES)[number], threshold: Limit): Share {
  const point = points[half].find((candidate) => candidate.threshold === threshold);
  if (point === undefined)
    throw new TypeError("Expected the model's limit among the thresholds, received none");
  return point.factsProposed;
}
