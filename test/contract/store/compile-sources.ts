import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = ['domain', 'ports', 'jobs', 'adapters/records', 'adapters/sqlite', 'adapters/mongo'];

/**
 * The stores as JavaScript that a child process can import, from the sources as they are now. Inside the project, so that
 * packages are found; the caller removes the folder.
 */
export async function compileSources(): Promise<string> {
  await mkdir(path.join(root, '.cache'), { recursive: true });
  const target = await mkdtemp(path.join(root, '.cache', 'stores-'));
  await writeFile(path.join(target, 'package.json'), '{"type":"module"}');
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  for (const folder of FOLDERS) {
    const files = await readdir(path.join(root, 'src', folder));
    await mkdir(path.join(target, folder), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const source = await readFile(path.join(root, 'src', folder, file), 'utf8');
      const { outputText } = ts.transpileModule(source, { compilerOptions });
      await writeFile(path.join(target, folder, file.replace(/\.ts$/, '.js')), outputText);
    }
  }
  return target;
}
