import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import type { Evaluations } from '../ports/evaluations.js';
import type { JobHandler } from './job-handler.js';

const CALIBRATOR: Caller = { name: 'job:CALIBRATION', roles: ['reader'], origin: { via: 'JOB' } };

/** Fits the namespace's thresholds on its saved golden set. Option `alpha`: default 0.05. */
export function calibrationHandler(evaluations: Pick<Evaluations, 'calibrate'>): JobHandler {
  return async ({ job, checkpoint, signal }) => {
    const made = await evaluations.calibrate(CALIBRATOR, {
      namespace: job.namespace,
      alpha: readAlpha(job.options.alpha),
      signal,
      jobId: job.id,
      onProgress: (done, total) => checkpoint({ done, total }),
    });
    return made
      .map(({ rerankModel, pooled, scoreScale }) => {
        const threshold = pooled.value.toPrecision(6);
        return `${rerankModel ?? 'no reranker'}: threshold ${threshold} (${scoreScale}), ${pooled.passed} of ${pooled.queries} pass`;
      })
      .join('; ');
  };
}

function readAlpha(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const alpha = Number(text);
  if (text.trim() !== '' && Number.isFinite(alpha)) return alpha;
  throw new ErrataError('INVALID_INPUT', 'Expected a number for alpha, received other text', {
    details: { field: 'alpha' },
  });
}
