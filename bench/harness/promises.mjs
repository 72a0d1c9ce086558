// What is promised of speed and quality, and where it is judged. Answers, equalities, recall and memory are judged by every run; a promise
// is stated for the full form's sizes, rounds and a quiet machine, so that only the full form judges it. Quick runs measure and show it.

/** Marks a check as a promise. */
export const promised = (check) => ({ ...check, promise: true });

/** The checks as this form of the run judges them: in a quick one a promise has no `ok`, and its value says how it stood. */
export function judged(checks, { quick }) {
  return checks.map((check) => {
    if (!quick || check.promise !== true || check.ok === undefined) return check;
    const stood = check.ok ? 'held here' : 'missed here';
    return {
      ...check,
      ok: undefined,
      value: `${check.value} (${stood}; the full form judges it)`,
      held: check.ok,
    };
  });
}

/** `{ held, missed }`: promises that a quick run measured and did not judge, one line each. */
export function unjudged(report) {
  const lines = { held: [], missed: [] };
  for (const suite of report.suites) {
    for (const { name, checks } of suite.cases) {
      for (const { what, value, held } of checks)
        if (held !== undefined)
          lines[held ? 'held' : 'missed'].push(`${suite.name}/${name}: ${what}: ${value}`);
    }
  }
  return lines;
}
