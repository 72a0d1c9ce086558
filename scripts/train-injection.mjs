// Trains the injection classifier on the tuning half of sample/guard/injection.jsonl, the phrases beside it and the sample's
// notes, and writes calibration/injection.json. For maintainers: after a change of features or texts. Needs a built dist.
import { readFileSync, writeFileSync } from 'node:fs';
import { parsePhrases } from '../dist/evaluation/injection-phrases.js';
import { parseScreenedTexts } from '../dist/evaluation/injection-report.js';
import { trainInjection } from '../dist/evaluation/train-injection.js';

const read = (name) => readFileSync(new URL(`../sample/${name}`, import.meta.url), 'utf8');
const rows = (name) =>
  read(name)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const plain = [
  ...rows('notes.jsonl').flatMap(({ wrongAnswer, correction, lesson, attributes }) => [
    [wrongAnswer, correction, lesson].join(' '),
    wrongAnswer,
    correction,
    lesson,
    ...Object.values(attributes ?? {}),
  ]),
  ...rows('golden.jsonl').map(({ query }) => query),
  ...rows('guard/duplicates.jsonl').flatMap(({ a, b }) => [a, b]),
  ...rows('guard/secrets.jsonl')
    .filter(({ half }) => half === 'tune')
    .map(({ text }) => text.replace(/⟦[^⟧]*⟧/gu, 'x')),
].filter((text) => typeof text === 'string' && text !== '');
const file = trainInjection({
  set: parseScreenedTexts(read('guard/injection.jsonl'), 'injection.jsonl'),
  phrases: parsePhrases(read('guard/injection-phrases.jsonl'), 'injection-phrases.jsonl'),
  ordinary: [...new Set(plain)],
});
writeFileSync(
  new URL('../calibration/injection.json', import.meta.url),
  `${JSON.stringify(file, undefined, 2)}\n`,
);
const { weights, ...rest } = file;
console.log(JSON.stringify({ ...rest, weightBytes: (weights.length * 3) / 4 }, undefined, 2));
