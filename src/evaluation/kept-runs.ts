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
  add(run: T): Promise<T>;
}

/**
 * Runs in the settings: a list of ids under `KIND:NAMESPACE`, each run under `KIND:NAMESPACE:ID`, so that adding one rewrites no other.
 * A run that is listed but gone (another process's removal in between) is passed over. Errors: `VERSION_CONFLICT`.
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
    async add(run) {
      const { id, namespace } = run;
      await settings.put(nameOf(namespace, id), JSON.stringify(run));
      let overdue: readonly string[] = [];
      await changeSetting(settings, listOf(namespace), (json) => {
        const ids = [id, ...readIds(json)];
        overdue = ids.slice(most);
        return JSON.stringify(ids.slice(0, most));
      });
      for (const old of overdue) await settings.remove(nameOf(namespace, old));
      return run;
    },
  };
}
