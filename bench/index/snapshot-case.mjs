// A snapshot of one partition: written, opened and verified, and the first query after it.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadAddon } from '../../dist/adapters/native/load-addon.js';
import { figure } from '../harness/measure.mjs';
import { DIMENSIONS, loadData, rowOf } from './data.mjs';
import { openOurs, savePartition } from './ours.mjs';
import { bounded } from './targets.mjs';

const K = 10;
const TIMES = 5;

export async function snapshotCase({ rows: n, graph, promised }, { quick, log }) {
  const data = await loadData('clustered', { n, queries: 10, log });
  const addon = loadAddon();
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-bench-'));
  const ours = await openOurs(data, { graph });
  const file = {
    path: path.join(folder, 'snapshot'),
    dimensions: DIMENSIONS,
    codes: true,
    model: 'm',
    store: '',
  };
  const query = rowOf(data.queries, 0);
  try {
    const expected = await ours.keys(query, K);
    const times = { save: [], open: [], restore: [], query: [], total: [], verified: [] };
    let same = true;
    for (let i = 0; i < TIMES; i += 1) {
      const at = [performance.now()];
      const lap = () => at.push(performance.now());
      if (i < 2)
        await savePartition({ ...file, revision: 1, createdMs: 0 }, ours.partition, {
          stopsBackground: true,
        });
      lap();
      const { handle, refusal } = await addon.openSnapshot(file);
      if (refusal !== 'NONE') throw new Error(`Expected a sound snapshot, received ${refusal}`);
      lap();
      // As the app opens it: scans are shared by the cores.
      const partition = new addon.Partition({ ...ours.options, scanThreads: 0 });
      await partition.restore(handle, 0);
      lap();
      const answer = await partition.search(query, K, undefined, undefined);
      lap();
      await partition.verified();
      lap();
      same &&= [...answer.keys].join() === expected.join();
      partition.close();
      const [start, saved, opened, restored, asked, verified] = at;
      if (i < 2) times.save.push(saved - start);
      times.open.push(opened - saved);
      times.restore.push(restored - opened);
      times.query.push(asked - restored);
      times.total.push(asked - saved);
      times.verified.push(verified - saved);
    }
    const total = figure('start to first answer', 'ms', 'lower', times.total);
    const metrics = [
      figure('write, fsynced', 'ms', 'lower', times.save),
      figure('map, verify what is small', 'ms', 'lower', times.open),
      figure('restore the partition', 'ms', 'lower', times.restore),
      figure('first query', 'ms', 'lower', times.query),
      total,
      figure('start to all verified, graph loaded', 'ms', 'lower', times.verified),
      figure('file', 'MB', 'lower', statSync(file.path).size / 1e6, { exact: true }),
    ];
    const checks = [{ what: 'the same answer as before', ok: same, value: String(same) }];
    if (promised !== undefined && !quick)
      checks.push(bounded({ what: 'start to first answer, ms', value: total.value, most: promised }));
    return {
      setup: `${n} × ${DIMENSIONS} rows${graph ? ' with a graph' : ''}, the file in the page cache`,
      metrics,
      checks,
    };
  } finally {
    ours.close();
    rmSync(folder, { recursive: true });
  }
}
