import { checkText, kindOf } from '../domain/check-text.js';
import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { Attributes } from '../domain/note.js';
import { RISKS, type Risk } from '../domain/retrieval.js';
import { checkAttributes, checkNamespace, checkTaskType } from '../domain/validate-correction.js';
import type { RetrieveRequest } from '../ports/use-cases.js';

export interface ValidRequest {
  readonly namespace: string;
  readonly query: string;
  readonly taskType: string | undefined;
  readonly attributes: Attributes;
  readonly candidateK: number;
  readonly finalK: number;
  readonly efSearch: number | undefined;
  readonly threshold: number | undefined;
  readonly risk: Risk;
}

/** Chosen by sweeps, docs/evaluation.md. */
export const DEFAULT_CANDIDATE_K = 20;
export const DEFAULT_FINAL_K = 3;

/** Checks a request from outside. Errors: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`, each with `details.field`. */
export function checkRequest(request: RetrieveRequest): ValidRequest {
  if (typeof request !== 'object' || request === null) {
    throw new ErrataError('INVALID_INPUT', `Expected an object for retrieve, received ${kindOf(request)}`);
  }
  return {
    namespace: checkNamespace(request.namespace),
    query: checkText(request.query, 'query', LIMITS.queryLength).normalize('NFC'),
    taskType: request.taskType == null ? undefined : checkTaskType(request.taskType),
    attributes: checkAttributes(request.attributes),
    candidateK: checkCount(request.candidateK ?? DEFAULT_CANDIDATE_K, 'candidateK', LIMITS.candidateK),
    finalK: checkCount(request.finalK ?? DEFAULT_FINAL_K, 'finalK', LIMITS.finalK),
    efSearch:
      request.efSearch == null ? undefined : checkCount(request.efSearch, 'efSearch', LIMITS.efSearch),
    threshold: request.threshold == null ? undefined : checkThreshold(request.threshold),
    risk: checkRisk(request.risk ?? 'NORMAL'),
  };
}

/** A whole number from 1 to `max`. */
export function checkCount(value: unknown, name: string, max: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max) {
    const received = typeof value === 'number' ? String(value) : kindOf(value);
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected a whole number from 1 to ${max} for ${name}, received ${received}`,
      {
        details: { field: name, limit: max },
      },
    );
  }
  return value;
}

function checkThreshold(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    const received = typeof value === 'number' ? String(value) : kindOf(value);
    throw new ErrataError('INVALID_INPUT', `Expected a finite number for threshold, received ${received}`, {
      details: { field: 'threshold' },
    });
  }
  return value;
}

function checkRisk(value: unknown): Risk {
  const risk = RISKS.find((known) => known === value);
  if (risk === undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected ${RISKS.join(' or ')} for risk, received ${kindOf(value)}`,
      {
        details: { field: 'risk' },
      },
    );
  }
  return risk;
}
