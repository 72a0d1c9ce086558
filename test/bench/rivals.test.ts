import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** The bench is plain JavaScript without declarations. */
const load = (file: string): Promise<unknown> =>
  import(new URL(`../../bench/index/${file}`, import.meta.url).href);
const built = existsSync('dist/evaluation/statistics/bootstrap.js');
describe.skipIf(!built)(`rivals of the bench${built ? '' : ' (skipped: dist is not built)'}`, () => {
  it('are compared at the least beam that reaches the goal, or at their best where none does', async () => {
    const { leastBeam } = (await load('graph-case.mjs')) as {
      leastBeam: (recall: (ef: number) => number, goal: number, beams: readonly number[]) => Promise<unknown>;
    };
    const recall = (ef: number) => Math.min(0.993, ef / 100);
    const beams = [16, 64, 128, 256];
    expect(await leastBeam(recall, 0.6, beams)).toMatchObject({ ef: 64, recall: 0.64 });
    expect(await leastBeam(recall, 0.995, beams)).toEqual({ best: { ef: 128, recall: 0.993 } });
  });

  it('are shown in the unit that was measured', async () => {
    const { fasterThan } = (await load('targets.mjs')) as {
      fasterThan: (options: object) => { ok: boolean; what: string; value: string };
    };
    const given = { what: 'build', ours: [2], theirs: [5], least: 3, unit: 's', beside: ', once' };
    expect(fasterThan(given)).toEqual({
      what: 'build, at least 3×',
      ok: false,
      value: '2.5× (5 ÷ 2 s, once)',
    });
  });

  it('leave their exact versions with the case', async () => {
    const { loadRival, usedVersions } = (await load('install-rivals.mjs')) as {
      loadRival: (name: string, options: object) => { module?: unknown; missing?: string };
      usedVersions: () => Record<string, string>;
    };
    expect(usedVersions()).toEqual({});
    expect(loadRival('usearch', {}).module).toBeDefined();
    const { missing } = loadRival('faiss-node', { installs: false, log: () => undefined });
    expect(usedVersions()).toEqual({
      usearch: expect.stringMatching(/^\d+\.\d+\.\d+$/u),
      ...(missing === undefined ? { 'faiss-node': '0.5.1' } : {}),
    });
  });
});
