import { changeSetting } from '../ports/change-setting.js';
import type { SettingStore } from '../ports/note-store.js';

interface Kept {
  readonly id: string;
  readonly namespace: string;
}

/** The newest runs of one kind, a namespace's apart from another's. */
export interface KeptRuns<T extends Kept> {
  /** Newest first. */
  list(namespace: string, first: number): Promise<readonly T[]>;
  /** What was added whole. */
  find(namespace: string, id: string): Promise<T | undefined>;
  /** As the newest; replaces one of the same id. */
  add(run: T): Promise<T>;
}

/**
 * Runs in the settings: a list of ids under `KIND:NAMESPACE`, each run under `KIND:NAMESPACE:ID`, so that adding one rewrites no other.
 * The id comes first, so that what can be found is listed, too; a run that is listed but not there (a process that was killed in between,
 * or another's removal) is passed over. Errors: `VERSION_CONFLICT`.
 */
export function keptRuns<T extends Kept>(
  settings: Pick<SettingStore, 'get' | 'put' | 'remove' | 'replace'>,
  kind: string,
  most: number,
): KeptRuns<T> {
  const listOf = (namespace: string): string => `${kind}:${namespace}`;
  const nameOf = (namespace: string, id: string): string => `${listOf(namespace)}:${id}`;
  const readIds = (json: string | undefined): readonly string[] =>
    json === undefined ? [] : (JSON.parse(json) as readonly string[]);
  return {
    async list(namespace, first) {
      const ids = readIds(await settings.get(listOf(namespace))).slice(0, first);
      const found = await Promise.all(ids.map((id) => settings.get(nameOf(namespace, id))));
      return found.flatMap((json) => (json === undefined ? [] : [JSON.parse(json) as T]));
    },
    async find(namespace, id) {
      const json = await settings.get(nameOf(namespace, id));
      return json === undefined ? undefined : (JSON.parse(json) as T);
    },
    async add(run) {
      const { id, namespace } = run;
      let overdue: readonly string[] = [];
      await changeSetting(settings, listOf(namespace), (json) => {
        const ids = [id, ...readIds(json).filter((other) => other !== id)];
        overdue = ids.slice(most);
        return JSON.stringify(ids.slice(0, most));
      });
      await settings.put(nameOf(namespace, id), JSON.stringify(run));
      for (const old of overdue) await settings.remove(nameOf(namespace, old));
      return run;
    },
  };
}
