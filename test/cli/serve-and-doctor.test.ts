import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ErrataError } from '../../src/domain/errors.js';
import { fakeDiagnostics } from './fake-deps.mjs';
import { runFake } from './run-fake.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'errata-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let closedServers = 0;
function fakeServer() {
  return {
    url: 'http://127.0.0.1:4000',
    newAdminKey: 'admin-key-made-at-first-start',
    firstStart: true,
    sample: { namespace: 'sample', notes: 228 },
    notes: 228,
    storeDescription: 'sqlite 3.50',
    embeddingModel: 'fake@0',
    close: async () => {
      closedServers += 1;
    },
  };
}

describe('serve', () => {
  it('prints the address, the key once and three calls, and closes on Ctrl-C with code 0', async () => {
    const { code, stdout, calls } = await runFake(['serve'], {
      interruptAt: 'serve',
      answers: { serve: fakeServer },
    });
    expect(code).toBe(0);
    expect(stdout).toContain('http://127.0.0.1:4000/graphql');
    expect(stdout.match(/admin-key-made-at-first-start/g)).toHaveLength(1);
    expect(stdout.match(/^curl -s /gm)).toHaveLength(3);
    expect(stdout).not.toContain("'s");
    expect(calls.map(([name]) => name)).toEqual(['serve']);
    expect(closedServers).toBe(1);
  });

  it('prints one JSON line with --json', async () => {
    const { stdout } = await runFake(['serve', '--json'], {
      interruptAt: 'serve',
      answers: { serve: fakeServer },
    });
    expect(JSON.parse(stdout)).toMatchObject({ url: 'http://127.0.0.1:4000', firstStart: true });
    expect(stdout.trimEnd()).not.toContain('\n');
  });
});

describe('doctor', () => {
  const findings = (stdout: string): Record<string, string> =>
    Object.fromEntries(
      JSON.parse(stdout).checks.map(({ name, state }: { name: string; state: string }) => [name, state]),
    );

  it('finds nothing wrong with what is right', async () => {
    const { code, stdout } = await runFake(['doctor', '--json'], { cwd: folder });
    expect(findings(stdout)).toMatchObject({
      node: 'ok',
      addon: 'ok',
      'data folder': 'ok',
      'model all-MiniLM-L6-v2': 'ok',
      store: 'ok',
      'change log': 'ok',
      embedding: 'ok',
      'vector index': 'ok',
      'text index': 'ok',
    });
    expect(code).toBe(0);
  });

  it('names what is wrong and what to do, and exits 1', async () => {
    const answers = {
      diagnostics: () => fakeDiagnostics({ active: 3, held: 5, corrupt: 2 }),
      loadAddon: () => {
        throw new ErrataError('TOOL_MISSING', 'Expected a built addon, received none');
      },
    };
    const { code, stdout } = await runFake(['doctor'], { answers });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}addon: Expected a built addon/m);
    expect(stdout).toContain('npm run build:addon');
    expect(stdout).toMatch(/^fail {2}store: .*2 records/m);
    expect(stdout).toMatch(/^fail {2}vector index: 5 of 3/m);
  });

  it('looks at the store alone where the model is missing', async () => {
    let parts: unknown;
    const stored = fakeDiagnostics();
    const answers = {
      openApp: (_config: unknown, options: { parts: string }) => {
        parts = options.parts;
        if (options.parts === 'everything') {
          throw new ErrataError('MODEL_NOT_INSTALLED', 'Expected an installed model, received none');
        }
        const { storeDescription, notes } = stored;
        return { diagnostics: () => ({ storeDescription, notes }), close: async () => undefined };
      },
    };
    const { code, stdout } = await runFake(['doctor', '--json'], { answers });
    expect(code).toBe(1);
    expect(parts).toBe('store');
    expect(findings(stdout)).toMatchObject({ start: 'fail', 'store alone': 'ok', store: 'ok' });
    expect(findings(stdout)).not.toHaveProperty('embedding');
  });

  it('says one cause once', async () => {
    const answers = {
      openApp: () => {
        throw new ErrataError('STORE_UNAVAILABLE', 'Expected a store that answers, received none');
      },
    };
    const { stdout } = await runFake(['doctor'], { answers });
    expect(stdout.match(/Expected a store that answers/g)).toHaveLength(1);
    expect(stdout).toMatch(/^fail {2}store alone: for the same reason as "start"/m);
  });

  it('refuses a file as data folder', async () => {
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    const { code, stdout } = await runFake(['doctor', '--json', '--data', file], { cwd: folder });
    expect(code).toBe(1);
    expect(findings(stdout)).toMatchObject({ 'data folder': 'fail' });
  });
});
