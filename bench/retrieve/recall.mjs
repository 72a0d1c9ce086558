// Recall of the vector index against exact answers by JavaScript's own arithmetic, over new queries and the vectors that the store holds.
import { lessonOf } from '../fixtures/lessons.mjs';
import { TASK_TYPE } from '../fixtures/notes.mjs';

const K = 10;
const PAGE = 1_000;

/** Share of the exact ten best notes that the index finds. A page of notes at a time: a million notes have 3 GB of vectors. */
export async function recallAt10({ app, engines }, queries) {
  const asked = [];
  for (let number = 0; number < queries; number += 1) {
    const text = `${lessonOf(number * 7)} Seen again, number ${number}.`;
    const [{ vector }] = await engines.embedder.embed([text], { kind: 'query' });
    asked.push({ vector, best: [] });
  }
  await eachNote(app.retrieveDeps.store, (id, rows) => {
    for (const { vector, best } of asked) {
      const score = Math.max(...rows.map((row) => dot(row, vector)));
      if (best.length === K && score <= best[K - 1].score) continue;
      best.push({ id, score });
      best.sort((a, b) => b.score - a.score);
      if (best.length > K) best.pop();
    }
  });
  let found = 0;
  for (const { vector, best } of asked) {
    const { hits } = await engines.vectorIndex.search({
      namespace: 'default',
      taskType: TASK_TYPE,
      vector,
      k: K,
    });
    const exact = new Set(best.map(({ id }) => id));
    found += hits.filter(({ id }) => exact.has(id)).length;
  }
  return found / (queries * K);
}

async function eachNote(store, visit) {
  let after;
  for (;;) {
    const page = await store.notes.scanActive(after, PAGE);
    if (page.length === 0) return;
    for (const { note, vectors } of page) visit(note.id, [vectors.lesson, vectors.situation]);
    after = page.at(-1).note.id;
  }
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
}
