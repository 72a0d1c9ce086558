import { createHash } from 'node:crypto';
import type { Caller } from '../domain/api-key.js';
import { checkText } from '../domain/check-text.js';
import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import { checkNamespace } from '../domain/validate-correction.js';
import type { PersonalDataOptions } from '../guard/personal-data.js';
import { queryDigest, redactSecrets } from '../guard/redact-secrets.js';
import type { Clock } from '../ports/clock.js';
import type {
  Evaluations,
  GoldenQueryInput,
  GoldenSetVersion,
  SavedGoldenSet,
} from '../ports/evaluations.js';
import type { Store } from '../ports/note-store.js';
import { changeSetting } from './change-setting.js';
import { compareRuns } from './compare-runs.js';
import { goldenLine, parseGoldenSet } from './golden-set.js';
import { readCases, readRuns } from './run-history.js';

/** Name of the setting that holds a namespace's current golden set, as JSONL. */
export const goldenSetting = (namespace: string): string => `golden:${namespace}`;
const versionsSetting = (namespace: string): string => `golden-versions:${namespace}`;
const versionSetting = (namespace: string, digest: string): string => `golden:${namespace}@${digest}`;

/** Versions that a list keeps; texts of older ones stay in the store, by digest. */
const MAX_VERSIONS = 50;
export interface GoldenSetDeps {
  readonly store: Pick<Store, 'settings' | 'notes' | 'receipts'>;
  readonly clock: Clock;
  /** Whether telephone numbers are redacted from queries, too. */
  readonly phones?: boolean | undefined;
}

/**
 * Sets live in the settings store. Judgements of several processes are all kept: each is added to the set as it then is. A set that is
 * saved as a whole replaces what stands, whose version stays readable.
 */
export function createEvaluations({
  store,
  clock,
  phones,
}: GoldenSetDeps): Omit<Evaluations, 'calibrate' | 'calibrations' | 'clearCalibrations'> {
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
  ): Promise<SavedGoldenSet> {
    const jsonl = await changeSetting(settings, goldenSetting(namespace), (standing) => {
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
    saveGoldenSet: (caller, namespace, jsonl) =>
      serially(() => save(caller, checkNamespace(namespace), () => jsonl)),
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

/** The id comes from query, task type and attributes, so that judging the same question again replaces the judgement. */
async function judgedLine(
  { store, phones }: Omit<GoldenSetDeps, 'clock'>,
  namespace: string,
  input: GoldenQueryInput,
): Promise<string> {
  const given = checkText(input.query, 'query', LIMITS.queryLength).normalize('NFC');
  const query = redactSecrets(given, { phones }).text;
  const receipt = input.receiptId === undefined ? undefined : await store.receipts.get(input.receiptId);
  if (input.receiptId !== undefined && (receipt === undefined || receipt.namespace !== namespace)) {
    throw new ErrataError('RECEIPT_NOT_FOUND', 'Expected a known receipt for receiptId, received another id');
  }
  if (receipt !== undefined && receipt.queryDigest !== queryDigest(query, { phones })) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected the query of the receipt for query, received another one',
      {
        details: { field: 'query' },
      },
    );
  }
  const taskType = receipt?.taskType ?? input.taskType;
  const attributes = receipt?.attributes ?? input.attributes ?? {};
  const ids = input.expected.map(({ noteId }) => noteId);
  if (
    new Set(await store.notes.getMany(namespace, ids).then((notes) => notes.map(({ id }) => id))).size <
    new Set(ids).size
  ) {
    throw new ErrataError('NOTE_NOT_FOUND', 'Expected known notes for expected, received an unknown one');
  }
  const identity = JSON.stringify([query, taskType ?? null, Object.entries(attributes).sort()]);
  return goldenLine({
    id: `judged-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`,
    query,
    ...(taskType === undefined ? {} : { taskType }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
    expected: input.expected.map(({ noteId, grade }) => ({ key: noteId, grade })),
    kind: input.expected.length === 0 ? 'none' : 'judged',
    ...(input.language === undefined ? {} : { language: input.language }),
    ...(input.difficulty === undefined ? {} : { difficulty: input.difficulty }),
  });
}
