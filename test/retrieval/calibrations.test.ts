import { describe, expect, it } from 'vitest';
import type { Calibration } from '../../src/domain/calibration.js';
import { createCalibrations } from '../../src/retrieval/calibrations.js';
import { steppingClock } from '../doubles/write-path.js';
import { sampleCalibration } from '../graphql/doubles/sample-notes.js';

/** Settings that let every writer read before the first one writes. */
function contendedSettings() {
  const values = new Map<string, string>();
  return {
    values,
    async get(name: string) {
      const value = values.get(name);
      await new Promise((resolve) => setImmediate(resolve));
      return value;
    },
    async replace(name: string, expected: string | undefined, json: string) {
      if (values.get(name) !== expected) return false;
      values.set(name, json);
      return true;
    },
  };
}

const of = (embeddingModel: string, value = 0.5): Calibration => {
  const calibration = sampleCalibration('team');
  return { ...calibration, embeddingModel, pooled: { ...calibration.pooled, value } };
};

describe('calibrations of several writers', () => {
  it('are all kept where they are of other origins, and the later one of the same', async () => {
    const settings = contendedSettings();
    const [one, other] = [
      createCalibrations(settings, steppingClock()),
      createCalibrations(settings, steppingClock()),
    ];
    const models = Array.from({ length: 8 }, (_, index) => `model-${index}`);
    await Promise.all(models.map((model, index) => (index % 2 === 0 ? one : other).put(of(model))));
    const kept = await one.list('team');
    expect(kept.map(({ embeddingModel }) => embeddingModel).toSorted()).toEqual(models);
    await other.put(of('model-3', 0.75));
    const [newest, ...rest] = await one.list('team');
    expect(newest).toMatchObject({ embeddingModel: 'model-3', pooled: { value: 0.75 } });
    expect(rest).toHaveLength(7);
  });

  it('are cleared by one of two that clear at once', async () => {
    const calibrations = createCalibrations(contendedSettings(), steppingClock());
    expect(await calibrations.clear('team')).toBe(false);
    await calibrations.put(of('model'));
    const cleared = await Promise.all([calibrations.clear('team'), calibrations.clear('team')]);
    expect(cleared.toSorted()).toEqual([false, true]);
    expect(await calibrations.list('team')).toEqual([]);
  });
});
