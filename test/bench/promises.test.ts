import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Check {
  readonly what: string;
  readonly ok?: boolean | undefined;
  readonly value: unknown;
  readonly promise?: boolean;
  readonly held?: boolean;
}
type Judge = (checks: readonly Check[], form: { quick: boolean }) => readonly Check[];
interface Report {
  readonly suites: readonly { name: string; cases: readonly { name: string; checks: readonly Check[] }[] }[];
}

/** The bench is plain JavaScript without declarations. */
const load = (file: string): Promise<unknown> =>
  import(new URL(`../../bench/harness/${file}`, import.meta.url).href);
const built = existsSync('dist/evaluation/plots/render-plot.js');

describe.skipIf(!built)(`promises of the bench${built ? '' : ' (skipped: dist is not built)'}`, async () => {
  const checks: readonly Check[] = [
    { what: 'answers right', ok: false, value: 3 },
    { what: 'fast', ok: false, value: 9, promise: true },
    { what: 'small', ok: true, value: 1, promise: true },
    { what: 'beside a rival', ok: undefined, value: 'not installed', promise: true },
  ];
  const report = (judgedChecks: readonly Check[]): Report => ({
    suites: [{ name: 's', cases: [{ name: 'c', checks: judgedChecks }] }],
  });
  const { judged, unjudged, promised } = (await load('promises.mjs')) as {
    judged: Judge;
    unjudged: (of: Report) => { held: readonly string[]; missed: readonly string[] };
    promised: (check: Check) => Check;
  };
  const { failures } = (await load('report.mjs')) as { failures: (of: Report) => readonly string[] };

  it('fail a full run where they are missed', () => {
    const full = report(judged(checks, { quick: false }));
    expect(failures(full)).toEqual(['s/c: answers right, received 3', 's/c: fast, received 9']);
    expect(unjudged(full)).toEqual({ held: [], missed: [] });
  });

  it('are shown and not judged in a quick run, which answers still fail', () => {
    const quick = report(judged(checks, { quick: true }));
    expect(failures(quick)).toEqual(['s/c: answers right, received 3']);
    expect(unjudged(quick)).toEqual({
      held: ['s/c: small: 1 (held here; the full form judges it)'],
      missed: ['s/c: fast: 9 (missed here; the full form judges it)'],
    });
  });

  it('are marked one by one', () => {
    expect(promised({ what: 'fast', ok: true, value: 1 })).toEqual({
      what: 'fast',
      ok: true,
      value: 1,
      promise: true,
    });
  });
});
