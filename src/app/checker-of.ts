import type { Config } from '../config/config.js';
import { ErrataError } from '../domain/errors.js';
import type { AnswersJobDeps, CheckerRequest } from '../jobs/answers.js';
import type { RetrievalQueries } from '../ports/use-cases.js';

/** Asks a checker with the lessons that `retrieval` gives. */
export type AskChecker = (
  retrieval: Pick<RetrievalQueries, 'retrieve'>,
  request: CheckerRequest,
) => ReturnType<AnswersJobDeps['ask']>;

/** The configured chat service; its libraries are loaded when it is first asked. */
export function checkerOf(config: Config): AskChecker {
  return async (retrieval, request) =>
    (await import('./ask-checker.js')).askConfiguredChecker(config, retrieval, request);
}

/** Errors: `INVALID_CONFIG`, always. */
export const noChecker: AskChecker = async () => {
  throw new ErrataError('INVALID_CONFIG', 'Expected a process with a chat service, received one without');
};
