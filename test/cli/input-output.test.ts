import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFake } from './run-fake.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'errata-cli-'));
  writeFileSync(path.join(folder, 'notes.csv'), 'lesson\nx\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('standard input and files', () => {
  const correction = { taskType: 'a', wrongAnswer: 'b', correction: 'c', lesson: 'd' };

  it('submit takes JSON', async () => {
    const { calls, code } = await runFake(['submit', '-'], { stdin: JSON.stringify(correction) });
    expect(code).toBe(0);
    expect(calls.find(([name]) => name === 'submit')?.[2]).toMatchObject(correction);
  });

  it('submit judges several each, and exits 1 where one was refused', async () => {
    const stdin = JSON.stringify([correction, { ...correction, lesson: '' }]);
    const { code, stdout } = await runFake(['submit', '-', '--json'], { stdin });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).map((result: { outcome: string }) => result.outcome)).toEqual([
      'CREATED',
      'REFUSED',
    ]);
  });

  it.each(['', '{', '[]', '{"taskType": 1}', '{"taskTypo": "x"}', '"text"', 'null'])(
    'submit refuses %j with code 2',
    async (stdin) => {
      const { code, stdout, calls } = await runFake(['submit', '-', '--json'], { stdin });
      expect(code).toBe(2);
      expect(JSON.parse(stdout).error.code).toBe('INVALID_INPUT');
      expect(calls).toEqual([]);
    },
  );

  it('import checks every file before it writes', async () => {
    const { code, stderr, calls } = await runFake(['import', 'notes.csv', 'absent.csv'], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain('absent.csv');
    expect(calls).toEqual([]);
  });

  it('import exits 1 with refused rows, and writes its report', async () => {
    const argv = ['import', 'notes.csv', '--report', 'report.json'];
    const { code, stdout } = await runFake(argv, { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toContain('row 2: Expected a text for lesson');
    const report = JSON.parse(readFileSync(path.join(folder, 'report.json'), 'utf8'));
    expect(report.files[0].counts).toEqual({ CREATED: 1, REFUSED: 1 });
  });

  it('export writes lines to standard output or to a file', async () => {
    const { stdout } = await runFake(['export']);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).version),
    ).toEqual([1, 1, 1]);
    const toFile = await runFake(['export', '--out', 'out.jsonl', '--json'], { cwd: folder });
    expect(JSON.parse(toFile.stdout).notes).toBe(3);
    expect(readFileSync(path.join(folder, 'out.jsonl'), 'utf8')).toBe(stdout);
    expect((await runFake(['export', '--json'])).code).toBe(2);
    expect((await runFake(['export', '--out', 'no/such/folder/x'], { cwd: folder })).code).toBe(2);
  });

  it('prompt reads files and prints the prompt alone', async () => {
    writeFileSync(path.join(folder, 'item.txt'), 'the item');
    const { stdout, calls } = await runFake(['prompt', '--base', 'Judge.', '--item', 'item.txt'], {
      cwd: folder,
    });
    expect(stdout).toBe('BASE\n<prior_corrections>\n</prior_corrections>\nITEM\n');
    expect(calls.find(([name]) => name === 'buildPrompt')?.[2]).toMatchObject({
      baseInstructions: 'Judge.',
      item: 'the item',
      retrieve: { query: 'the item' },
    });
  });

  it('schema writes and compares', async () => {
    const file = path.join(folder, 'schema.graphql');
    expect((await runFake(['schema', '--write', file])).code).toBe(0);
    expect((await runFake(['schema', '--check', file])).code).toBe(0);
    writeFileSync(file, 'type Query {\n  no: Boolean\n}\n');
    const differs = await runFake(['schema', '--check', file]);
    expect(differs.code).toBe(1);
    expect(differs.stdout).toContain('+   ok: Boolean');
  });
});
