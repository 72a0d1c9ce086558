import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFake } from './run-fake.js';

describe('flags', () => {
  it.each([
    [['retrieve', 'x', '--final-k', '0'], '--final-k'],
    [['retrieve', 'x', '--final-k', 'many'], '--final-k'],
    [['retrieve', 'x', '--threshold', 'NaN'], '--threshold'],
    [['retrieve', 'x', '--risk', 'huge'], 'LOW, NORMAL'],
    [['retrieve', 'x', '--attribute', 'novalue'], 'key=value'],
    [['retrieve'], 'query'],
    [['notes', 'list', '--from', '2026-01-01T00:00:00'], '--from'],
    [['notes', 'list', '--after', '!!'], '--after'],
    [['jobs', 'start', 'dance'], 'BACKFILL'],
    [['keys', 'create', 'x', '--role', 'root'], 'reader'],
    [['submit', '-t', 'a'], '--wrong-answer'],
    [['retreive', 'x'], 'retrieve'],
    [['retrieve', 'x', '--port', 'eighty'], '--port'],
  ])('%j are refused with code 2 and a text that says why', async (argv, expected) => {
    const { code, stderr, stdout } = await runFake(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
    expect(stdout).toBe('');
  });

  it('reach the use case', async () => {
    const argv = ['retrieve', 'q', '-t', 'code-review', '-a', 'repo=x', '-a', 'lang=a=b'];
    argv.push('--candidate-k', '50', '--final-k', '5', '--threshold', '0.25', '--risk', 'low', '-n', 'team');
    const { calls } = await runFake(argv);
    expect(calls.find(([name]) => name === 'retrieve')?.[2]).toEqual({
      query: 'q',
      namespace: 'team',
      taskType: 'code-review',
      attributes: { repo: 'x', lang: 'a=b' },
      candidateK: 50,
      finalK: 5,
      threshold: 0.25,
      risk: 'LOW',
    });
  });

  it('set the configuration on any command', async () => {
    const { calls } = await runFake(['keys', 'list', '--data', 'here', '--log-level', 'info'], {
      cwd: tmpdir(),
    });
    const config = calls.find(([name]) => name === 'openApp')?.[1];
    expect(config).toMatchObject({ dataDir: path.join(tmpdir(), 'here'), logLevel: 'info' });
  });

  it('help lists commands, settings and exit codes', async () => {
    const help = await runFake(['--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('Exit codes:');
    expect(help.stdout).toMatch(/^ {4}4 {2}note, receipt/m);
    const serve = await runFake(['serve', '--help']);
    expect(serve.stdout).toContain('ERRATA_PORT');
    expect(serve.stdout).toContain('MONGODB_URI');
    expect((await runFake([])).code).toBe(2);
  });
});
