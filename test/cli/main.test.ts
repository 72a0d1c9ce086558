import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';

const main = fileURLToPath(new URL('../../dist/app/main.js', import.meta.url));
const built = existsSync(main);
let folder = '';
let model = false;

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function environment(): Record<string, string> {
  const { PATH = '', ERRATA_MODELS } = process.env;
  return { PATH, ERRATA_DATA: path.join(folder, 'data'), ...(ERRATA_MODELS ? { ERRATA_MODELS } : {}) };
}

function errata(argv: readonly string[], input = '', env: Record<string, string> = {}): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...argv], {
    cwd: folder,
    encoding: 'utf8',
    input,
    env: { ...environment(), ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return { code: status, stdout, stderr };
}

function json<T = unknown>(argv: readonly string[], input = ''): { code: number | null; document: T } {
  const { code, stdout, stderr } = errata([...argv, '--json'], input);
  try {
    return { code, document: JSON.parse(stdout) };
  } catch {
    throw new Error(`Expected JSON of ${argv.join(' ')}, received ${stdout}\n${stderr}`);
  }
}

function needsModel(context: TestContext): void {
  if (!model) context.skip('the embedding model is not installed; errata models pull gets it');
}

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'errata-main-'));
  if (!built) return;
  const models: { name: string; installed: boolean }[] = JSON.parse(
    errata(['models', 'list', '--json']).stdout,
  );
  model = models.some(({ name, installed }) => name === 'all-MiniLM-L6-v2' && installed);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!built)('errata over a real store, without a model (needs dist: npm test builds it)', () => {
  it('makes, lists and revokes keys', () => {
    const { code, stdout } = errata(['keys', 'create', 'ci', '--role', 'reader', '--role', 'reviewer']);
    expect(code).toBe(0);
    const key = stdout.trim();
    expect(key.length).toBeGreaterThanOrEqual(24);
    const listed = errata(['keys', 'list', '--json']).stdout;
    expect(JSON.parse(listed)[0]).toMatchObject({ name: 'ci', roles: ['reader', 'reviewer'] });
    expect(listed).not.toContain(key);
    expect(errata(['keys', 'create', 'ci', '--role', 'reader']).code).toBe(5);
    expect(errata(['keys', 'revoke', 'ci']).code).toBe(0);
    expect(errata(['keys', 'revoke', 'ci']).code).toBe(4);
  });

  it('keeps the key itself out of the data folder', () => {
    const key = errata(['keys', 'create', 'hashed', '--role', 'admin']).stdout.trim();
    const stored = readFileSync(path.join(folder, 'data', 'errata.sqlite')).toString('latin1');
    expect(stored).not.toContain(key);
  });

  it('lists nothing where there is nothing', () => {
    expect(json(['notes', 'list', '--namespace', 'empty'])).toMatchObject({
      code: 0,
      document: { notes: [], totalCount: 0 },
    });
  });

  it('exits 4 for unknown notes and jobs, 2 for a wrong setting', () => {
    expect(json(['notes', 'show', 'f'.repeat(64)])).toMatchObject({
      code: 4,
      document: { error: { code: 'NOTE_NOT_FOUND' } },
    });
    expect(json(['jobs', 'show', 'none'])).toMatchObject({
      code: 4,
      document: { error: { code: 'JOB_NOT_FOUND' } },
    });
    const wrong = errata(['notes', 'list'], '', { ERRATA_PROT: '1' });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('did you mean ERRATA_PORT?');
  });

  it('exits 3 where the store does not answer', () => {
    const { code, stdout } = errata(['notes', 'list', '--json'], '', {
      MONGODB_URI: 'mongodb://127.0.0.1:1/errata?serverSelectionTimeoutMS=300',
    });
    expect(code).toBe(3);
    expect(JSON.parse(stdout).error.code).toBe('STORE_UNAVAILABLE');
  });

  it('prints the schema that is under version control', () => {
    const { code, stdout, stderr } = errata(['schema', '--check']);
    expect(stdout + stderr).toContain('up to date');
    expect(code).toBe(0);
  });
});

describe.skipIf(!built)('errata over a real store with a real model (needs dist: npm test builds it)', () => {
  const correction = {
    taskType: 'code-review',
    wrongAnswer: 'Reported an unclosed connection in OrderDao.load().',
    correction: 'The pool takes the connection back at the end of the request.',
    lesson: 'A pooled connection needs no close() in request code: the pool takes it back.',
  };
  beforeEach(needsModel);

  it('stores, finds, deprecates and restores a correction', () => {
    const submitted = json<{ note: { id: string } }>(['submit', '-'], JSON.stringify(correction));
    expect(submitted).toMatchObject({ code: 0, document: { outcome: 'CREATED' } });
    const { id } = submitted.document.note;
    json(['submit', '-'], JSON.stringify(correction));
    expect(json(['notes', 'list']).document).toMatchObject({ totalCount: 1 });

    const found = () => {
      const argv = ['retrieve', 'connection of a pool is never closed', '--threshold', '0'];
      return json<{ notes: { note: { id: string } }[] }>(argv).document.notes.map(({ note }) => note.id);
    };
    expect(found()).toEqual([id]);
    expect(json(['deprecate', id, '--reason', 'wrong']).code).toBe(0);
    expect(found()).toEqual([]);
    expect(json(['restore', id, '--reason', 'right after all']).code).toBe(0);
    expect(found()).toEqual([id]);
    const actions = JSON.parse(errata(['notes', 'history', id, '--json']).stdout).map(
      ({ action, actor }: { action: string; actor: string }) => `${action} ${actor}`,
    );
    expect(actions[0]).toBe('restored cli');
    expect(actions).toContain('deprecated cli');
  }, 60_000);

  it('imports a file once, and reads its own export back', () => {
    const file = path.join(folder, 'rows.jsonl');
    const rows = [1, 2].map((at) => ({
      ...correction,
      taskType: `import-${at}`,
      lesson: `${correction.lesson} (${at})`,
    }));
    writeFileSync(file, `${rows.map((row) => JSON.stringify(row)).join('\n')}\n{"taskType":""}\n`);
    const argv = ['import', file, '--namespace', 'imported'];
    expect(json(argv)).toMatchObject({
      code: 1,
      document: { files: [{ counts: { CREATED: 2, REFUSED: 1 } }] },
    });
    json(argv);
    expect(json(['notes', 'list', '-n', 'imported']).document).toMatchObject({ totalCount: 2 });

    const exported = path.join(folder, 'export.jsonl');
    expect(json(['export', '-n', 'imported', '--out', exported])).toMatchObject({
      code: 0,
      document: { notes: 2 },
    });
    const elsewhere = ['--data', path.join(folder, 'elsewhere')];
    expect(json(['import', exported, ...elsewhere]).code).toBe(0);
    expect(json(['notes', 'list', '-n', 'imported', ...elsewhere]).document).toMatchObject({ totalCount: 2 });
  }, 60_000);

  it('prompt prints instructions, fence and item', () => {
    const { code, stdout } = errata([
      'prompt',
      '--base',
      'Judge this.',
      '--item',
      'A pool connection leaks.',
    ]);
    expect(code).toBe(0);
    expect(stdout.startsWith('Judge this.')).toBe(true);
    expect(stdout.trimEnd().endsWith('A pool connection leaks.')).toBe(true);
  });

  it('doctor finds nothing wrong', () => {
    const { code, document } = json(['doctor']);
    expect(document, JSON.stringify(document)).toMatchObject({ ok: true });
    expect(code).toBe(0);
  });

  it.each(['', ' \u200b', '\u0000', '\ud800'])('refuses the lesson %j with exit code 2', (lesson) => {
    const argv = ['submit', '-'];
    const input = JSON.stringify({ ...correction, lesson });
    const { code, document } = json<{ error: { category: string } }>(argv, input);
    expect(code).toBe(2);
    expect(document.error.category).toBe('user');
  });

  it('serves until it is told to end, and tells the admin key once', async () => {
    const start = (): Promise<{ url: string; newAdminKey?: string; code: Promise<number | null> }> =>
      new Promise((resolve, reject) => {
        const argv = [
          main,
          'serve',
          '--json',
          '--port',
          '0',
          '--sample',
          'false',
          '--data',
          path.join(folder, 'served'),
        ];
        const child = spawn(process.execPath, argv, { cwd: folder, env: environment(), stdio: 'pipe' });
        const code = new Promise<number | null>((done) => child.once('close', done));
        code.then((value) => reject(new Error(`Expected a server, received exit code ${value}`)));
        createInterface({ input: child.stdout }).once('line', async (line) => {
          const server: { url: string; newAdminKey?: string } = JSON.parse(line);
          const ready = await fetch(`${server.url}/readyz`);
          if (ready.status !== 200) reject(new Error(`Expected 200 of /readyz, received ${ready.status}`));
          child.kill('SIGTERM');
          resolve({ ...server, code });
        });
      });
    const first = await start();
    expect(first.newAdminKey?.length).toBeGreaterThanOrEqual(24);
    expect(await first.code).toBe(0);
    const second = await start();
    expect(second.newAdminKey).toBeUndefined();
    expect(await second.code).toBe(0);
  }, 60_000);
});
