import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONFIG_FIELDS } from '../../src/config/config-fields.js';
import { configTable } from '../../src/config/describe-config.js';
import { INSTALLATION_DIR, parseConfig } from '../../src/config/parse-config.js';
import { isErrataError } from '../../src/domain/errors.js';

function refusal(sources: Parameters<typeof parseConfig>[0]): string {
  try {
    parseConfig(sources);
  } catch (error) {
    if (isErrataError(error, 'INVALID_CONFIG')) return error.message;
    throw error;
  }
  throw new Error('Expected a refusal, received a config');
}

describe('parseConfig', () => {
  it('gives every default', () => {
    const config = parseConfig({ env: {}, cwd: '/somewhere' });
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 4000,
      dataDir: path.resolve('/somewhere/data'),
      modelsDir: path.join(INSTALLATION_DIR, '.cache', 'models'),
      sample: true,
      snapshots: true,
      embedder: 'all-MiniLM-L6-v2',
      introspection: true,
      trustedOrigins: [],
      logLevel: 'warn',
    });
    expect(config.reranker).toBe('late-interaction');
    expect(config.adminKey).toBeUndefined();
    expect(config.mongodbUri).toBeUndefined();
    expect(config.workers).toBeGreaterThanOrEqual(1);
    expect(Object.values(config.limits).every((limit) => Number.isInteger(limit) && limit > 0)).toBe(true);
    expect(Object.keys(config.limits)).toHaveLength(5);
  });

  it('takes flags over variables over defaults', () => {
    const env = { ERRATA_PORT: '5000', ERRATA_HOST: '0.0.0.0', MONGODB_URI: 'mongodb://db/errata' };
    const config = parseConfig({ env, flags: { port: '6000' } });
    expect(config.port).toBe(6000);
    expect(config.host).toBe('0.0.0.0');
    expect(config.mongodbUri).toBe('mongodb://db/errata');
  });

  it('splits origins, and refuses what no browser sends', () => {
    const env = { ERRATA_TRUSTED_ORIGINS: 'https://a.example, http://b.example:8080' };
    expect(parseConfig({ env }).trustedOrigins).toEqual(['https://a.example', 'http://b.example:8080']);
    expect(refusal({ env: { ERRATA_TRUSTED_ORIGINS: 'https://a.example/path' } })).toContain(
      'origins such as',
    );
  });

  it('reads the standard proxy variables in either spelling', () => {
    const env = {
      https_proxy: 'http://p:1',
      HTTP_PROXY: 'http://q:2',
      http_proxy: 'ignored',
      no_proxy: 'a,b',
    };
    expect(parseConfig({ env }).proxies).toEqual({ https: 'http://p:1', http: 'http://q:2', bypass: 'a,b' });
    expect(parseConfig({ env: {} }).proxies).toEqual({});
  });

  it('counts an empty variable as unset', () => {
    expect(parseConfig({ env: { ERRATA_PORT: '' } }).port).toBe(4000);
  });

  it('is frozen to the ground', () => {
    const config = parseConfig({ env: {} });
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.limits, { maxDepth: 1 })).toThrow(TypeError);
  });

  it.each([
    [
      { ERRATA_PROT: '1' },
      'Expected a known ERRATA_ variable, received ERRATA_PROT; did you mean ERRATA_PORT?',
    ],
    [{ ERRATA_LOGLEVEL: 'info' }, 'did you mean ERRATA_LOG_LEVEL?'],
    [{ ERRATA_COMPLETELY_ELSE: '1' }, 'received ERRATA_COMPLETELY_ELSE'],
    [
      { ERRATA_PORT: '70000' },
      'Expected a whole number between 0 and 65535 for ERRATA_PORT, received "70000"',
    ],
    [{ ERRATA_PORT: '4000.5' }, 'for ERRATA_PORT'],
    [{ ERRATA_PORT: '-1' }, 'for ERRATA_PORT'],
    [{ ERRATA_SAMPLE: 'maybe' }, 'Expected true or false for ERRATA_SAMPLE, received "maybe"'],
    [{ ERRATA_LOG_LEVEL: 'loud' }, 'Expected one of silent, error, warn, info, debug'],
    [{ ERRATA_MAX_DEPTH: '0' }, 'for ERRATA_MAX_DEPTH'],
    [{ ERRATA_ISA: 'sse9' }, 'for ERRATA_ISA'],
  ])('refuses %j', (env, message) => {
    expect(refusal({ env })).toContain(message);
  });

  it('names the flag that was typed', () => {
    expect(refusal({ env: {}, flags: { port: 'x' } })).toContain('for --port, received "x"');
    expect(refusal({ env: {}, flags: { prot: '1' } })).toContain('did you mean --port?');
  });

  it('does not offer a hint for a name that is far from every known one', () => {
    expect(refusal({ env: { ERRATA_ZZZZZZZZZZZZZZZZ: '1' } })).not.toContain('did you mean');
  });

  it('shows no secret', () => {
    const secrets = { ERRATA_ADMIN_KEY: 'short-secret', MONGODB_URI: 'postgres://user:hunter2@db' };
    for (const [name, value] of Object.entries(secrets)) {
      const message = refusal({ env: { [name]: value } });
      expect(message).toContain(name);
      expect(message).not.toContain(value);
      expect(message).not.toContain('hunter2');
    }
  });

  it('leaves other programs’ and the tests’ own variables alone', () => {
    const env = { PATH: '/bin', ERRATA_TEST_MODE: 'x', MONGO_PORT: 'y' };
    expect(parseConfig({ env }).port).toBe(4000);
  });

  it('answers any text with a config or INVALID_CONFIG, never another error', () => {
    const anyField = fc.constantFrom(...CONFIG_FIELDS.map((field) => field.env));
    fc.assert(
      fc.property(anyField, fc.string(), (name, value) => {
        try {
          return Object.isFrozen(parseConfig({ env: { [name]: value } }));
        } catch (error) {
          return isErrataError(error, 'INVALID_CONFIG');
        }
      }),
    );
  });

  it('has every setting in the README’s table', (context) => {
    expect(configTable().split('\n')).toHaveLength(CONFIG_FIELDS.length + 2);
    const readme = readFileSync(path.join(INSTALLATION_DIR, 'README.md'), 'utf8');
    if (!readme.includes('ERRATA_PORT')) context.skip('the README has no table of settings yet');
    expect(readme).toContain(configTable());
  });
});
