import { z } from 'zod';
import { ErrataError } from '../../domain/errors.js';
import { GUARD_MEASURE_NAMES, type GuardMeasure } from '../guards/guard-measures.js';
import { type EvaluationReport, REPORT_FORMAT } from '../report.js';

const countSchema = z.looseObject({ count: z.number(), total: z.number() });
const halvesSchema = z.strictObject({ tune: countSchema, 'held-out': countSchema });

/** What reading a report relies upon; the rest is passed on as it is. */
const reportSchema = z.looseObject({
  format: z.literal(REPORT_FORMAT),
  goldenDigest: z.string(),
  medianMs: z.number(),
  machine: z.string(),
  guards: z
    .looseObject({
      digests: z.record(z.string(), z.string()),
      measures: z.record(z.enum(GUARD_MEASURE_NAMES as [GuardMeasure, ...GuardMeasure[]]), halvesSchema),
      faults: z.array(z.looseObject({ measure: z.string(), id: z.string(), faults: z.number() })),
    })
    .optional(),
  cases: z
    .array(
      z.looseObject({
        id: z.string(),
        half: z.enum(['tune', 'test']),
        measures: z.record(z.string(), z.number()),
        answered: z.array(z.string()),
      }),
    )
    .min(1),
});

/** For machines and as a baseline under version control: one line a case, so that differences can be read. */
export function reportToJson(report: EvaluationReport): string {
  const { cases, guards, ...head } = report;
  const lines = cases.map((one) => `  ${JSON.stringify(one)}`).join(',\n');
  const start = JSON.stringify(head, undefined, 1).replace(/\n\}$/, '');
  const guarded = guards === undefined ? '' : ` "guards": ${JSON.stringify(guards)},\n`;
  return `${start},\n${guarded} "cases": [\n${lines}\n ]\n}\n`;
}

/** Errors: `INVALID_FILE`, also for reports of an older format. */
export function parseReport(json: string, name: string): EvaluationReport {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new ErrataError('INVALID_FILE', `Expected JSON for ${name}, received other text`, { cause });
  }
  const parsed = reportSchema.safeParse(value);
  if (parsed.success) return parsed.data as unknown as EvaluationReport;
  const [issue] = parsed.error.issues;
  throw new ErrataError(
    'INVALID_FILE',
    `Expected a report of errata evaluate (format ${REPORT_FORMAT}) for ${name}, received ${issue?.path.join('.') || 'a document'}: ${issue?.message ?? 'invalid'}`,
  );
}
