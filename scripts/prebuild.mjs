#!/usr/bin/env node
// `npm run prebuild:addon`: builds the addon for this platform as `npm pack` carries it: prebuilds/PLATFORM-ARCH/errata_native.node
// beside a manifest with its digest. The C++ run-time library is linked in, so that it loads where that one is older.
// CI runs it once a platform and packs what all of them made.
//
//   --from FILE  takes this addon instead of building one
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildPortableAddon, NAPI_VERSION, prebuildFolder, root, sourceHash } from './build-addon.mjs';

try {
  const { values } = parseArgs({ options: { from: { type: 'string' } } });
  const built = values.from ?? (await buildPortableAddon());
  const folder = prebuildFolder();
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'errata_native.node');
  await copyFile(built, file);
  // What does not load here is not packed.
  execFileSync(process.execPath, ['-e', 'require(process.argv[1]).isa()', file]);
  const manifest = {
    platform: process.platform,
    arch: process.arch,
    napi: NAPI_VERSION,
    source: await sourceHash(),
    sha256: createHash('sha256')
      .update(await readFile(file))
      .digest('hex'),
  };
  await writeFile(path.join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  console.log(`errata addon: ${path.relative(root, file)}, sha256 ${manifest.sha256}`);
} catch (error) {
  console.error(`errata addon: ${error.message}`);
  process.exitCode = 1;
}
