import type { Command } from 'commander';
import type { Diagnostics } from '../cli-deps.js';
import { type CliContext, defineCommand } from '../define-command.js';
import { attempt, type CheckResult, type CheckState, ok, withoutRepeats } from '../doctor/check.js';
import { checkInstallation } from '../doctor/installation-checks.js';
import {
  checkAddon,
  checkDataFolder,
  checkModel,
  checkNode,
  checkToolchain,
} from '../doctor/machine-checks.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';
import { printable, wrap } from '../text-layout.js';

const START_REMEDY = 'do what the lines above say, then run doctor again';
const STORE_REMEDY = 'check that the store runs and that its address is right';

/** Opens as much as can be opened: with models and index, else the store alone. */
async function openedChecks(session: Session): Promise<readonly CheckResult[]> {
  const found: Diagnostics[] = [];
  const open = (name: string, parts: 'everything' | 'store', remedy: string): Promise<CheckResult> =>
    attempt(name, remedy, async () => {
      found.push((await session.open(parts)).diagnostics());
      return ok(name, parts === 'store' ? 'the store opens' : 'store, models and index open');
    });
  const results = [await open('start', 'everything', START_REMEDY)];
  if (found.length === 0) results.push(await open('store alone', 'store', STORE_REMEDY));
  for (const diagnostics of found) results.push(...(await checkInstallation(diagnostics)));
  return results;
}

function checkLines(results: readonly CheckResult[], session: Session): string[] {
  const { style, width } = session;
  const marks: Record<CheckState, string> = {
    ok: style.good('ok  '),
    warn: style.warning('warn'),
    fail: style.bad('fail'),
  };
  return results.flatMap(({ name, state, detail, remedy }) => {
    const [first = '', ...rest] = wrap(printable(`${name}: ${detail}`), width, '      ');
    const lines = [`${marks[state]}  ${first.trimStart()}`, ...rest];
    return remedy === undefined ? lines : [...lines, ...wrap(`→ ${remedy}`, width, '      ')];
  });
}

async function doctor(session: Session): Promise<void> {
  const { config, deps } = session;
  const addon = await checkAddon(() => deps.loadAddon());
  const results = withoutRepeats([
    checkNode(process.version),
    addon,
    await checkToolchain(addon.state === 'ok'),
    await checkDataFolder(config),
    await checkModel(deps.models, config, config.embedder),
    ...(config.reranker === undefined || config.reranker === 'late-interaction'
      ? []
      : [await checkModel(deps.models, config, config.reranker)]),
    ...(await openedChecks(session)),
  ]);
  const failed = results.filter(({ state }) => state === 'fail').length;
  await session.answer({ ok: failed === 0, checks: results }, () => checkLines(results, session));
  if (failed > 0) session.finish(EXIT_CODES.findings);
}

export function addDoctor(program: Command, context: CliContext): void {
  defineCommand(
    program.command('doctor').description('check machine, models, store and index, and say what to do'),
    context,
    doctor,
  );
}
