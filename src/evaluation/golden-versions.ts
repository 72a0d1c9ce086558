import { randomUUID } from 'node:crypto';
import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import { checkNamespace } from '../domain/validate-correction.js';
import type { PersonalDataOptions } from '../guard/personal-data.js';
import { redactSecrets } from '../guard/redact-secrets.js';
import { changeSetting } from '../ports/change-setting.js';
import type { Clock } from '../ports/clock.js';
import type { Evaluations, GoldenSetVersion, ReplaceOptions, SavedGoldenSet } from '../ports/evaluations.js';
import type { Store } from '../ports/note-store.js';
import { compareRuns } from './compare-runs.js';
import { type GoldenSet, parseGoldenSet } from './golden-set.js';
import { checkExpectedNotes, judgedLine } from './judged-line.js';
import { readCases, readRuns } from './run-history.js';
import { checkStanding } from './standing-text.js';

/** Name of the setting that holds a namespace's current golden set, as JSONL. */
export const goldenSetting = (namespace: string): string => `golden:${namespace}`;
const versionsSetting = (namespace: string): string => `golden-versions:${namespace}`;
const versionSetting = (namespace: string, digest: string): string => `golden:${namespace}@${digest}`;

/** The set that a namespace is measured on. Errors: `INVALID_INPUT` where none is saved. */
export async function savedGoldenSet(
  settings: Pick<Store['settings'], 'get'>,
  namespace: string,
): Promise<GoldenSet> {
  const jsonl = await settings.get(goldenSetting(namespace));
  if (jsonl !== undefined) return parseGoldenSet(jsonl, goldenSetting(namespace));
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected a saved golden set for namespace ${namespace}, received none`,
    { details: { field: 'namespace' } },
  );
}

/** Versions that a list keeps; texts of older ones stay in the store, by digest. */
const MAX_VERSIONS = 50;

/** What this file has of the port. */
export type GoldenSets = Pick<
  Evaluations,
  | 'runs'
  | 'cases'
  | 'compareRuns'
  | 'goldenSet'
  | 'goldenText'
  | 'saveGoldenSet'
  | 'addGoldenQuery'
  | 'removeGoldenQuery'
>;

export interface GoldenSetDeps {
  readonly store: Pick<Store, 'settings' | 'notes' | 'receipts' | 'audit'>;
  readonly clock: Clock;
  /** Whether telephone numbers are redacted from queries, too. */
  readonly phones?: boolean | undefined;
}

/**
 * Sets live in the settings store. Judgements of several processes are all kept: each is added to the set as it then is. A set that is
 * saved as a whole replaces what stands (or only the version that its writer names), whose version stays readable. What changes a set
 * changes what CI lets pass, so that every change is an audit event.
 */
export function createEvaluations({ store, clock, phones }: GoldenSetDeps): GoldenSets {
  const { settings } = store;
  let last: Promise<unknown> = Promise.resolve();
  const serially = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };

  async function versionsOf(namespace: string): Promise<readonly GoldenSetVersion[]> {
    return readVersions(await settings.get(versionsSetting(namespace)));
  }

  async function describe(namespace: string): Promise<SavedGoldenSet | undefined> {
    const jsonl = await settings.get(goldenSetting(namespace));
    if (jsonl === undefined) return undefined;
    const { queries, digest } = parseGoldenSet(jsonl, goldenSetting(namespace));
    const versions = await versionsOf(namespace);
    const saved = versions.find((version) => version.digest === digest);
    return {
      namespace,
      digest,
      queries: queries.length,
      answerable: queries.filter(({ expected }) => expected.length > 0).length,
      savedAt: saved?.savedAt ?? clock.now(),
      savedBy: saved?.savedBy ?? 'unknown',
      versions,
    };
  }

  /** `change` gives the whole set from the one that stands. */
  async function save(
    caller: Caller,
    namespace: string,
    change: (jsonl: string) => string,
    options: ReplaceOptions = {},
  ): Promise<SavedGoldenSet> {
    const jsonl = await changeSetting(settings, goldenSetting(namespace), (standing) => {
      checkStanding(standing, options);
      const given = change(standing ?? '');
      parseGoldenSet(given, 'the golden set');
      return withoutSecrets(given, { phones });
    });
    const { queries, digest } = parseGoldenSet(jsonl, 'the golden set');
    await settings.put(versionSetting(namespace, digest), jsonl);
    const version = { digest, queries: queries.length, savedAt: clock.now(), savedBy: caller.name };
    await changeSetting(settings, versionsSetting(namespace), (json) => {
      const others = readVersions(json).filter((one) => one.digest !== digest);
      return JSON.stringify([version, ...others].slice(0, MAX_VERSIONS));
    });
    await store.audit.append({
      ...{ id: randomUUID(), at: clock.now(), actor: caller.name, namespace, action: 'golden-set-changed' },
      changes: [`digest: ${digest}`, `queries: ${queries.length}`],
    });
    const saved = await describe(namespace);
    if (saved === undefined) throw new ErrataError('CORRUPT_RECORD', 'Expected the saved set, received none');
    return saved;
  }

  return {
    runs: (namespace, first) => readRuns(settings, namespace, first),
    cases: (namespace, runId) => readCases(settings, namespace, runId),
    compareRuns: (namespace, before, after, half) =>
      compareRuns(settings, namespace, { before, after, half }),
    goldenSet: describe,
    async goldenText(namespace, digest) {
      const name = digest === undefined ? goldenSetting(namespace) : versionSetting(namespace, digest);
      const jsonl = await settings.get(name);
      if (jsonl !== undefined) return jsonl;
      throw new ErrataError('INVALID_INPUT', `Expected a saved golden set for ${namespace}, received none`, {
        details: { field: digest === undefined ? 'namespace' : 'digest' },
      });
    },
    async saveGoldenSet(caller, input, jsonl, options = {}) {
      const namespace = checkNamespace(input);
      if (options.allowUnknownNotes !== true) await checkExpectedNotes(store.notes, namespace, jsonl);
      return serially(() => save(caller, namespace, () => jsonl, options));
    },
    removeGoldenQuery: (caller, input, id, options) =>
      serially(() =>
        save(caller, checkNamespace(input), (jsonl) => `${remaining(jsonl, id).join('\n')}\n`, options),
      ),
    addGoldenQuery: (caller, input) =>
      serially(async () => {
        const namespace = checkNamespace(input.namespace);
        const line = await judgedLine({ store, phones }, namespace, input);
        const { id } = JSON.parse(line) as { id: string };
        return save(caller, namespace, (jsonl) => `${[...linesWithout(jsonl, id), line].join('\n')}\n`);
      }),
  };
}

function readVersions(json: string | undefined): readonly GoldenSetVersion[] {
  return json === undefined ? [] : (JSON.parse(json) as readonly GoldenSetVersion[]);
}

function linesWithout(jsonl: string, id: string): readonly string[] {
  return jsonl
    .split('\n')
    .filter((line) => line.trim() !== '' && (JSON.parse(line) as { id: string }).id !== id);
}

/** Errors: `INVALID_INPUT` where the query is not there, or is the last one: a set without queries measures nothing. */
function remaining(jsonl: string, id: string): readonly string[] {
  const lines = linesWithout(jsonl, id);
  const all = jsonl.split('\n').filter((line) => line.trim() !== '').length;
  if (lines.length < all && lines.length > 0) return lines;
  throw new ErrataError(
    'INVALID_INPUT',
    lines.length === all
      ? 'Expected the id of a golden query for id, received another'
      : 'Expected a set of more queries to remove one from, received its last',
    { details: { field: 'id' } },
  );
}

/** The lines as given, but for queries that hold a secret: what people ask holds as many as what they write. */
function withoutSecrets(jsonl: string, options: PersonalDataOptions): string {
  return jsonl
    .split('\n')
    .map((line) => {
      if (line.trim() === '') return line;
      const record = JSON.parse(line) as { readonly query: string };
      const query = redactSecrets(record.query, options).text;
      return query === record.query ? line : JSON.stringify({ ...record, query });
    })
    .join('\n');
}
