import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { judged } from './promises.mjs';

/** A case that hangs must not hang the run. 100,000 notes take about five minutes on two cores. */
const CASE_TIMEOUT_MS = 60 * 60_000;
const QUICK_CASE_TIMEOUT_MS = 3 * 60_000;
const CASE_PROCESS = fileURLToPath(new URL('case-process.mjs', import.meta.url));

/** Runs the cases (those named in `only`, if given) one after the other. A case that breaks is a result with an error; the others still run. */
export async function runSuites(suites, { quick, case: only }) {
  const results = [];
  for (const suite of suites) {
    const cases = [];
    for (const { name } of suite.cases({ quick })) {
      if (only !== undefined && !only.includes(name)) continue;
      const started = performance.now();
      const { checks, ...outcome } = await runCase(suite.name, name, quick);
      cases.push({
        name,
        seconds: Math.round((performance.now() - started) / 100) / 10,
        ...outcome,
        checks: judged(checks, { quick }),
      });
    }
    if (cases.length > 0) results.push({ name: suite.name, title: suite.title, cases });
  }
  return results;
}

function runCase(suite, name, quick) {
  return new Promise((resolve) => {
    const child = fork(CASE_PROCESS, [suite, name, ...(quick ? ['--quick'] : [])], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      timeout: quick ? QUICK_CASE_TIMEOUT_MS : CASE_TIMEOUT_MS,
    });
    let result;
    child.on('message', (message) => {
      result = message;
    });
    child.on('error', (error) => resolve({ error: error.message, metrics: [], checks: [] }));
    child.on('close', (code, signal) =>
      resolve(
        code === 0 && result !== undefined
          ? result
          : { error: `ended with ${signal ?? code}`, metrics: [], checks: [] },
      ),
    );
  });
}
