// A process that is killed between download and rename: `node pull-and-hang.mjs CACHE_DIR MANIFEST_FILE FILES_FILE`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseManifest } from '../../dist/models/manifest.js';
import { pullModel } from '../../dist/models/pull-model.js';

const [cacheDir, manifestFile, filesFile] = process.argv.slice(2);
const files = JSON.parse(readFileSync(filesFile, 'utf8'));

async function downloadAndHang({ directory }) {
  for (const [path, base64] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), Buffer.from(base64, 'base64'));
  }
  process.stdout.write('downloaded\n');
  await new Promise(() => setInterval(() => {}, 1_000));
}

await pullModel('tiny', {
  cacheDir,
  manifest: parseManifest(readFileSync(manifestFile, 'utf8')),
  sources: { huggingface: downloadAndHang, maven: downloadAndHang, directory: downloadAndHang },
});
