import { type Calibration, type ScoreOrigin, sameOrigin } from '../domain/calibration.js';
import { changeSetting } from '../ports/change-setting.js';
import type { Clock } from '../ports/clock.js';
import type { SettingStore } from '../ports/note-store.js';

const settingOf = (namespace: string): string => `calibration:${namespace}`;
/** How long another process's calibration may go unnoticed; a read a query would cost a round trip on MongoDB. */
const REFRESH_MS = 5_000;
/** Namespaces that are remembered. */
const MAX_HELD = 1_000;

/** What the read path is told about an answer's scores. */
export interface FoundCalibration {
  readonly calibration?: Calibration | undefined;
  /** Why the namespace's calibration is not used, where it has one. */
  readonly refused?: string | undefined;
}

export interface Calibrations {
  find(namespace: string, origin: ScoreOrigin): Promise<FoundCalibration>;
  list(namespace: string): Promise<readonly Calibration[]>;
  /** Replaces that of the same origin. */
  put(calibration: Calibration): Promise<void>;
  /** False where there was none. */
  clear(namespace: string): Promise<boolean>;
}

/** Calibrations of namespaces, kept as settings, one an origin of scores. What two writers put at once is kept of both. */
export function createCalibrations(
  settings: Pick<SettingStore, 'get' | 'replace'>,
  clock: Clock,
): Calibrations {
  const held = new Map<string, { readonly readMs: number; readonly list: readonly Calibration[] }>();

  async function read(namespace: string): Promise<readonly Calibration[]> {
    const list = parse(await settings.get(settingOf(namespace)));
    if (held.size >= MAX_HELD) held.clear();
    held.set(namespace, { readMs: clock.nowMs(), list });
    return list;
  }

  /** Gives back what stood before. */
  async function write(
    namespace: string,
    change: (list: readonly Calibration[]) => readonly Calibration[],
  ): Promise<readonly Calibration[]> {
    let before: readonly Calibration[] = [];
    await changeSetting(settings, settingOf(namespace), (json) => {
      before = parse(json);
      return JSON.stringify(change(before));
    });
    held.delete(namespace);
    return before;
  }

  return {
    list: read,
    async find(namespace, origin) {
      const known = held.get(namespace);
      const fresh = known !== undefined && clock.nowMs() - known.readMs < REFRESH_MS;
      const list = fresh ? known.list : await read(namespace);
      if (list.length === 0) return {};
      const calibration = list.find((one) => sameOrigin(one, origin));
      if (calibration !== undefined) return { calibration };
      return { refused: 'made for other models or weights; run errata calibrate' };
    },
    async put(calibration) {
      await write(calibration.namespace, (list) => [
        calibration,
        ...list.filter((one) => !sameOrigin(one, calibration)),
      ]);
    },
    async clear(namespace) {
      if ((await read(namespace)).length === 0) return false;
      // Of two that clear at once one has cleared.
      return (await write(namespace, () => [])).length > 0;
    },
  };
}

function parse(json: string | undefined): readonly Calibration[] {
  return json === undefined ? [] : (JSON.parse(json) as readonly Calibration[]);
}
