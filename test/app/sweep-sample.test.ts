import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sweepSample } from '../../src/app/sweep-sample.js';
import { parseConfig } from '../../src/config/parse-config.js';
import type { SweepReport } from '../../src/evaluation/sweep/run-sweep.js';
import { VARIANT_GROUPS, type VariantGroup } from '../../src/evaluation/sweep/variants.js';
import { modelForTests } from '../models/installed-model.js';

const { missing } = await modelForTests();
const folder = mkdtempSync(join(tmpdir(), 'errata-sweep-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function sweep(options: { golden?: string; groups?: readonly VariantGroup[] }): Promise<SweepReport> {
  const config = parseConfig({ env: {}, flags: { data: folder } });
  const { report } = await sweepSample({ config, ...options, signal: new AbortController().signal });
  return report as SweepReport;
}

describe.skipIf(missing !== undefined)('a sweep on real parts (needs all-MiniLM-L6-v2)', () => {
  it('shows why the parts are fused: no worse than vectors on paraphrases, nor than text on identifiers', async () => {
    const { rows } = await sweep({ groups: ['stages'] });
    const kinds = new Map(rows.map(({ name, ndcgByKind }) => [name, ndcgByKind]));
    const of = (name: string, kind: string) => kinds.get(name)?.[kind] ?? Number.NaN;
    // .01: one of about 90 queries a kind may stand a place lower.
    for (const name of ['fusion', '+ match score', '+ threshold']) {
      expect(of(name, 'paraphrase')).toBeGreaterThan(of('vectors only', 'paraphrase') - 0.01);
      expect(of(name, 'identifier')).toBeGreaterThan(of('text only', 'identifier') - 0.01);
    }
    expect(of('text only', 'paraphrase')).toBeLessThan(of('vectors only', 'paraphrase'));
    expect(of('vectors only', 'identifier')).toBeLessThan(of('text only', 'identifier'));
    const stage = new Map(rows.map((row) => [row.name, row.tune]));
    expect(stage.get('+ reranker')?.wronglyInjectedRate).toBe(1);
    expect(stage.get('+ threshold')?.wronglyInjectedRate).toBeLessThan(0.5);
  }, 120_000);

  it('changes the settings that it says it changes', async () => {
    const golden = join(folder, 'golden.jsonl');
    const some = readFileSync('sample/golden.jsonl', 'utf8').split('\n').slice(0, 12);
    writeFileSync(golden, some.join('\n'));
    const { rows } = await sweep({ golden });
    expect([...new Set(rows.map(({ group }) => group))]).toEqual(Object.keys(VARIANT_GROUPS));
    const injected = (group: VariantGroup, name: string) =>
      rows.find((row) => row.group === group && row.name === name)?.tune.precisionAt3 ?? Number.NaN;
    expect(Number.isFinite(injected('efSearch', '4'))).toBe(true);
    const recall = (name: string) =>
      rows.find((row) => row.group === 'finalK' && row.name === name)?.tune.contextRecall ?? Number.NaN;
    expect(recall('1')).toBeLessThanOrEqual(recall('10'));
    const abstained = (name: string) =>
      rows.find((row) => row.group === 'threshold' && row.name === name)?.tune.wrongAbstentionRate ??
      Number.NaN;
    expect(abstained('0.05')).toBeLessThan(abstained('0.8'));
    for (const { medianMs } of rows) expect(medianMs).toBeGreaterThan(0);
    for (const group of Object.keys(VARIANT_GROUPS)) {
      expect(rows.filter((row) => row.group === group && row.shipped)).toHaveLength(1);
    }
  }, 120_000);
});
