import { isErrataError } from '../../domain/errors.js';

export type CheckState = 'ok' | 'warn' | 'fail';

/** One line of what `doctor` says. */
export interface CheckResult {
  readonly name: string;
  readonly state: CheckState;
  readonly detail: string;
  /** What to do; absent where all is well. */
  readonly remedy?: string | undefined;
}

export function ok(name: string, detail: string): CheckResult {
  return { name, state: 'ok', detail };
}

export function warn(name: string, detail: string, remedy: string): CheckResult {
  return { name, state: 'warn', detail, remedy };
}

export function fail(name: string, detail: string, remedy: string): CheckResult {
  return { name, state: 'fail', detail, remedy };
}

/** Runs a check; what it throws becomes a failed line, since a doctor that dies of a disease is of no use. */
export async function attempt(
  name: string,
  remedy: string,
  check: () => Promise<CheckResult> | CheckResult,
): Promise<CheckResult> {
  try {
    return await check();
  } catch (error) {
    const detail = isErrataError(error) ? `${error.message} (${error.code})` : String(error);
    return fail(name, detail, remedy);
  }
}

/** Says a cause once: a later check that failed for the same reason points to the first one instead of repeating it. */
export function withoutRepeats(results: readonly CheckResult[]): CheckResult[] {
  return results.map((result, index) => {
    const first = results
      .slice(0, index)
      .find(({ state, detail }) => state === 'fail' && detail === result.detail);
    if (result.state !== 'fail' || first === undefined) return result;
    return { name: result.name, state: result.state, detail: `for the same reason as "${first.name}"` };
  });
}
