import type { CaseResult, EvaluationReport } from '../report.js';

/** The lesson under the name that a report shows; undefined for a note that is not there. */
export type LessonOf = (name: string) => string | undefined;

/**
 * JSONL of Ragas' `SingleTurnSample` (`EvaluationDataset.from_jsonl`): contexts as texts for judged measures, and by id for
 * `IDBasedContextPrecision` and `IDBasedContextRecall`. There is no answer in it: retrieval alone was run.
 */
export function reportToRagas(report: EvaluationReport, lessonOf: LessonOf): string {
  return report.cases
    .map((one) => ({
      user_input: one.query,
      retrieved_contexts: texts(one.answered, lessonOf),
      reference_contexts: texts(one.expected, lessonOf),
      retrieved_context_ids: one.answered,
      reference_context_ids: one.expected,
    }))
    .map((sample) => `${JSON.stringify(sample)}\n`)
    .join('');
}

/**
 * A JSON list that DeepEval's `EvaluationDataset.add_test_cases_from_json_file` reads, with its own field names. `actual_output` is
 * required there: the lessons as one text, so that measures of retrieval work; put the checker's answer in for the others.
 */
export function reportToDeepEval(report: EvaluationReport, lessonOf: LessonOf): string {
  const cases = report.cases.map((one: CaseResult) => ({
    input: one.query,
    actual_output: texts(one.answered, lessonOf).join('\n'),
    expected_output: texts(one.expected, lessonOf).join('\n'),
    context: texts(one.expected, lessonOf),
    retrieval_context: texts(one.answered, lessonOf),
  }));
  return `${JSON.stringify(cases, undefined, 1)}\n`;
}

function texts(names: readonly string[], lessonOf: LessonOf): readonly string[] {
  return names.map((name) => lessonOf(name) ?? name);
}
