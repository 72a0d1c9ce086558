// `node --expose-gc bench/retrieve/prepare.mjs [CASE…]`: stores, indexes and links the notes of the cases that keep them, so that a later
// `npm run bench -- retrieve --case CASE` only opens and asks. It can be interrupted and goes on with the next start; load does not matter.
import { suite } from '../suites/retrieve.mjs';
import { prepareStore } from './kept-store.mjs';

const wanted = process.argv.slice(2);
const cases = suite.cases({ quick: false }).filter(({ kept }) => kept !== undefined);
const unknown = wanted.filter((name) => !cases.some((one) => one.name === name));
if (unknown.length > 0) {
  console.error(
    `Expected cases of ${cases.map(({ name }) => name).join(', ')}, received ${unknown.join(', ')}`,
  );
  process.exit(2);
}
for (const { name, notes } of cases) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const log = (text) => console.error(`${new Date().toISOString().slice(11, 19)} ${name}: ${text}`);
  await prepareStore(notes, { log });
  log('all is kept');
}
