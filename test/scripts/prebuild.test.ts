import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const platform = `${process.platform}-${process.arch}`;
const prebuilds = path.join(root, 'prebuilds', platform);

/** Adds two notes and asks for the nearer one, by the adapter as it is packed. */
const ASK = `
  const { createNativeVectorIndex } = await import(process.argv[1]);
  const index = createNativeVectorIndex({ dimensions: 4 });
  const note = (id, vector) => ({ id, namespace: 'n', taskType: 't', version: 1, attributes: {},
    vectors: { lesson: Float32Array.from(vector) } });
  await index.upsert([note('a', [1, 0, 0, 0]), note('b', [0, 1, 0, 0])]);
  const { hits } = await index.search({ namespace: 'n', vector: Float32Array.of(0, 1, 0, 0), k: 1 });
  console.log(hits[0].id);
  await index.close();
`;

const HASH = "import('./scripts/build-addon.mjs').then((own) => own.sourceHash()).then(console.log)";
const sourceHash = (): string =>
  execFileSync(process.execPath, ['-e', HASH], { cwd: root, encoding: 'utf8' }).trim();

function packedSource(): string | undefined {
  const manifest = path.join(prebuilds, 'manifest.json');
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { source: string }).source;
}

describe('the package', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-pack-'));
  const packed = path.join(folder, 'package');
  const addon = path.join(packed, 'prebuilds', platform, 'errata_native.node');
  // No compiler, no CMake, no make: nothing at all.
  const bare = { PATH: path.join(folder, 'nothing'), HOME: folder };
  const node = (...args: string[]) =>
    spawnSync(process.execPath, args, { cwd: packed, env: bare, encoding: 'utf8' });
  const ask = () =>
    node(
      '--input-type=module',
      '-e',
      ASK,
      path.join(packed, 'dist', 'adapters', 'native', 'native-vector-index.js'),
    );

  beforeAll(() => {
    // The portable one where `npm run prebuild:addon` made it of these sources, as CI does; else this machine's own build stands in.
    const mine = !existsSync(prebuilds);
    if (packedSource() !== sourceHash()) {
      const own = path.join(root, 'build', 'Release', 'errata_native.node');
      execFileSync(process.execPath, [path.join(root, 'scripts', 'prebuild.mjs'), '--from', own]);
    }
    try {
      execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
    } finally {
      if (mine) rmSync(prebuilds, { recursive: true });
    }
    execFileSync('tar', ['-xzf', 'errata-0.1.0.tgz'], { cwd: folder });
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('carries the addon with its digest, what it is built of, and no development', () => {
    const manifest = JSON.parse(readFileSync(path.join(path.dirname(addon), 'manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({ platform: process.platform, arch: process.arch, napi: 8 });
    for (const file of [
      'native/binding/addon.cpp',
      'CMakeLists.txt',
      'scripts/build-addon.mjs',
      'models.json',
    ])
      expect(existsSync(path.join(packed, file)), file).toBe(true);
    for (const file of ['test', 'node_modules', 'build', '.git', 'bench'])
      expect(existsSync(path.join(packed, file)), file).toBe(false);
  });

  it('carries the models that ship, byte for byte', () => {
    const { models } = JSON.parse(readFileSync(path.join(packed, 'models.json'), 'utf8'));
    const shipped = models.filter((model: { shipped?: string }) => model.shipped !== undefined);
    expect(shipped).toHaveLength(1);
    for (const { shipped: folder, files } of shipped)
      for (const file of files) {
        const bytes = readFileSync(path.join(packed, folder, file.path));
        expect(createHash('sha256').update(bytes).digest('hex'), file.path).toBe(file.sha256);
      }
  });

  it('installs and answers where there is no compiler', () => {
    const installed = node(path.join('scripts', 'build-addon.mjs'));
    expect(installed.stdout).toContain(`prebuilt for ${platform}`);
    expect(installed.status).toBe(0);
    expect(ask()).toMatchObject({ stdout: 'b\n', status: 0 });
  });

  it('answers on a processor without AVX', (context) => {
    const qemu = 'qemu-x86_64';
    if (process.arch !== 'x64' || spawnSync(qemu, ['--version']).status !== 0)
      context.skip('no qemu-x86_64 here (Debian package qemu-user)');
    const old = spawnSync(
      qemu,
      [
        '-cpu',
        'Nehalem',
        process.execPath,
        '--input-type=module',
        '-e',
        ASK,
        path.join(packed, 'dist', 'adapters', 'native', 'native-vector-index.js'),
      ],
      { cwd: packed, encoding: 'utf8' },
    );
    expect(old).toMatchObject({ stdout: 'b\n', status: 0 });
  }, 120_000);

  it('refuses an addon that is not the packed one, and says what to install where there is none', () => {
    const changed = readFileSync(addon);
    changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1;
    writeFileSync(addon, changed);
    expect(ask().stderr).toContain('DIGEST_MISMATCH');
    const built = node(path.join('scripts', 'build-addon.mjs'));
    expect(built.stdout).toContain('not as it was packed');
    expect(built.stderr).toMatch(/Expected cmake.*Get it with:/);
    expect(built.status).toBe(1);
    rmSync(path.dirname(addon), { recursive: true });
    const { stderr } = ask();
    expect(stderr).toContain('TOOL_MISSING');
    expect(stderr).toContain('C++17 compiler');
  });
});
