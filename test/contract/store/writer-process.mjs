// Inserts and updates notes until it is killed. Prints `id version` after each write that the store acknowledged.
// Arguments: the compiled module and function that open a store, the function's options as JSON, a prefix for the
// notes' texts, how many notes.
import { createHash } from 'node:crypto';

const [module, name, options, prefix, count] = process.argv.slice(2);
const store = await (await import(module))[name](JSON.parse(options));
const instant = '2026-01-31T00:00:00.000Z';
const audit = (action) => ({ at: instant, actor: prefix, action, changes: [] });
for (let i = 0; i < Number(count); i += 1) {
  const text = `${prefix} ${i}`;
  const note = {
    id: createHash('sha256').update(text).digest('hex'),
    namespace: 'acme',
    taskType: 'code-review',
    wrongAnswer: text,
    correction: text,
    lesson: text,
    attributes: { repo: 'errata' },
    impact: 'NORMAL',
    status: 'ACTIVE',
    sources: [],
    supportCount: 1,
    findings: [],
    createdAt: instant,
    updatedAt: instant,
    supersedes: [],
    outcomes: { retrieved: 0, helpful: 0, harmful: 0, ignored: 0 },
  };
  const vectors = { modelId: 'model@1', lesson: Float32Array.from([0.6, 0.8]) };
  await store.notes.insert([{ note, vectors, audit: audit('created') }]);
  process.stdout.write(`${note.id} 1\n`);
  if (i % 3 === 0) {
    await store.notes.update({ note, expectedVersion: 1, audit: audit('updated') });
    process.stdout.write(`${note.id} 2\n`);
  }
}
await store.close();
