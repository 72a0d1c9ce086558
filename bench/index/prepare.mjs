// `node --expose-gc bench/index/prepare.mjs [CASE…]`: builds the indexes of the cases that keep them, so that a later
// `npm run bench -- index --case CASE` only searches. It can be interrupted and goes on with the next start; load does not matter.
import { suite } from '../suites/index.mjs';
import { loadData } from './data.mjs';
import { QUERIES } from './graph-case.mjs';
import { prepareKept } from './kept-graphs.mjs';

const wanted = process.argv.slice(2);
const cases = suite.cases({ quick: false }).filter(({ kept }) => kept === true);
const unknown = wanted.filter((name) => !cases.some((one) => one.name === name));
if (unknown.length > 0) {
  console.error(
    `Expected cases of ${cases.map(({ name }) => name).join(', ')}, received ${unknown.join(', ')}`,
  );
  process.exit(2);
}
for (const { name, rows: n, data: kind, rivals } of cases) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const log = (text) => console.error(`${new Date().toISOString().slice(11, 19)} ${name}: ${text}`);
  log(`making ${n} rows`);
  const data = await loadData(kind, { n, queries: QUERIES.full, log });
  const { missing } = await prepareKept({ data, rivals, queries: QUERIES.full, installs: true, log });
  for (const [rival, reason] of missing) log(`${rival}: ${reason}`);
  log('all is kept');
}
