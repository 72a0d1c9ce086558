import { readdirSync } from 'node:fs';

const FOLDER = new URL('../suites/', import.meta.url);

/** Every file of `bench/suites` is a suite; see bench/README.md for its form. In the order of file names. */
export async function loadSuites() {
  const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.mjs'))
    .sort();
  return Promise.all(files.map(async (file) => (await import(new URL(file, FOLDER))).suite));
}
