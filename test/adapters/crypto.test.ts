import { chmodSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createAesGcmCipher } from '../../src/adapters/crypto/aes-gcm-cipher.js';
import { parseKeyRing } from '../../src/adapters/crypto/key-ring.js';
import { commandKeys, environmentKeys, fileKeys } from '../../src/adapters/crypto/key-sources.js';
import { newKey } from '../contract/store/encryption.contract.js';

const folder = mkdtempSync(join(tmpdir(), 'errata-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const text = Buffer.from('a lesson');

describe('AES-256-GCM', () => {
  const key = newKey('k1');
  const cipher = createAesGcmCipher(environmentKeys(key, 'ERRATA_KEYS'));

  it('opens what it sealed, in its place only', () => {
    const sealed = cipher.seal(text, 'note:a');
    expect(cipher.open('k1', sealed, 'note:a')).toEqual(text);
    expect(cipher.open('k1', sealed, 'note:b')).toBeUndefined();
    expect(cipher.seal(text, 'note:a').equals(sealed)).toBe(false);
    for (let byte = 0; byte < sealed.length; byte += 1) {
      const changed = Buffer.from(sealed);
      changed[byte]! ^= 1;
      expect(cipher.open('k1', changed, 'note:a')).toBeUndefined();
    }
    expect(cipher.open('k1', sealed.subarray(0, 20), 'note:a')).toBeUndefined();
    const other = createAesGcmCipher(environmentKeys(newKey('k1'), 'ERRATA_KEYS'));
    expect(other.open('k1', sealed, 'note:a')).toBeUndefined();
    expect(() => cipher.open('k9', sealed, 'note:a')).toThrowError(
      expect.objectContaining({ code: 'ENCRYPTION_KEY_MISSING' }),
    );
  });

  it('follows a key file that changes, and a key that only another process has yet', () => {
    const file = join(folder, 'keys');
    const [k1, k2, k3] = [newKey('k1'), newKey('k2'), newKey('k3')];
    const write = (minute: number, ...lines: string[]): void => {
      writeFileSync(file, `# keys\n${lines.join('\n')}\n`, { mode: 0o600 });
      utimesSync(file, minute * 60, minute * 60);
    };
    let nowMs = 0;
    write(1, k1);
    const mine = createAesGcmCipher(fileKeys(file), { nowMs: () => nowMs });
    const sealed = mine.seal(text, 'x');
    write(2, k2, k1);
    expect(mine.keyId()).toBe('k1');
    nowMs += 1_000;
    expect(mine.keyId()).toBe('k2');
    expect(mine.open('k1', sealed, 'x')).toEqual(text);
    // Between two looks at the file: an unknown key id is a reason to look at once.
    write(3, k2, k1, k3);
    const theirs = createAesGcmCipher(environmentKeys(k3, 'x')).seal(text, 'y');
    expect(mine.open('k3', theirs, 'y')).toEqual(text);
  });
});

describe('keys', () => {
  it('come from a command, without a shell', () => {
    const script = join(folder, 'print.mjs');
    writeFileSync(script, `console.log(process.argv[2]); console.log('${newKey('k7')}');`);
    const ring = commandKeys(`${process.execPath} ${script} #;touch`).load();
    expect([...ring.keys()]).toEqual(['k7']);
    for (const command of [`${process.execPath} -e process.exit(3)`, join(folder, 'none'), '']) {
      expect(() => commandKeys(command).load()).toThrowError(
        expect.objectContaining({ code: 'INVALID_CONFIG' }),
      );
    }
  });

  it('are refused by line, never printed', () => {
    const short = Buffer.alloc(16, 7).toString('base64');
    const good = newKey('a');
    for (const bad of ['', '# nothing', 'a', `a ${short}`, `${good} more`, `${good}\n${good}`, `a b c`]) {
      let thrown: unknown;
      try {
        parseKeyRing(bad, 'ERRATA_KEYS');
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toMatchObject({
        code: 'INVALID_CONFIG',
        message: expect.stringContaining('ERRATA_KEYS'),
      });
      expect(String(thrown)).not.toContain(short);
      expect(String(thrown)).not.toContain(good.split(' ')[1]);
    }
    expect([...parseKeyRing(`${newKey('a')}, ${newKey('b').replace(' ', ':')}`, 'x').keys()]).toEqual([
      'a',
      'b',
    ]);
  });

  it('are not taken from a file that others may read', () => {
    const file = join(folder, 'open');
    writeFileSync(file, newKey('k1'));
    chmodSync(file, 0o644);
    expect(() => fileKeys(file).load()).toThrowError(/only its owner/u);
    expect(() => fileKeys(join(folder, 'absent')).load()).toThrowError(/ENOENT/u);
  });
});

describe('keys that change while notes are read', () => {
  it('stay as they are while the file cannot be read, with one complaint a reason', () => {
    const file = join(folder, 'half-written');
    const [k1, k2] = [newKey('k1'), newKey('k2')];
    let minute = 1;
    let nowMs = 0;
    const write = (text: string): void => {
      writeFileSync(file, text, { mode: 0o600 });
      utimesSync(file, minute * 60, minute * 60);
      minute += 1;
      nowMs += 1_000;
    };
    write(k1);
    const problems: unknown[] = [];
    const cipher = createAesGcmCipher(fileKeys(file), {
      nowMs: () => nowMs,
      onProblem: (error) => problems.push(error),
    });
    const sealed = cipher.seal(text, 'x');
    for (const broken of [k2.slice(0, 20), '', '\u0000\u0001\ufffd', `${k2}\n${k1.slice(0, -3)}`]) {
      write(broken);
      for (let look = 0; look < 3; look += 1) {
        expect(cipher.keyId()).toBe('k1');
        expect(cipher.open('k1', sealed, 'x')).toEqual(text);
        nowMs += 1_000;
      }
    }
    expect(problems).toHaveLength(4);
    expect(problems.map((error) => (error as { code: string }).code)).toEqual(
      Array(4).fill('INVALID_CONFIG'),
    );
    const told = problems.map(String).join('\n');
    for (const key of [k1, k2]) expect(told).not.toContain(key.split(' ')[1]!.slice(0, 12));
    rmSync(file);
    expect(cipher.open('k1', sealed, 'x')).toEqual(text);
    write(`${k2}\n${k1}`);
    expect(cipher.keyId()).toBe('k2');
    expect(cipher.open('k1', sealed, 'x')).toEqual(text);
  });

  it('are asked for more rarely the longer their source takes', () => {
    let nowMs = 0;
    let loads = 0;
    const slow = {
      load() {
        loads += 1;
        if (loads > 1) nowMs += 10_000;
        if (loads > 1) throw new Error('the service is away');
        return parseKeyRing(newKey('k1'), 'x');
      },
      changed: () => false,
    };
    const cipher = createAesGcmCipher(slow, { nowMs: () => nowMs });
    const missing = expect.objectContaining({ code: 'ENCRYPTION_KEY_MISSING' });
    for (let second = 0; second < 100; second += 1) {
      expect(() => cipher.open('k9', text, 'x')).toThrowError(missing);
      nowMs += 1_000;
    }
    // At the start, at once, and 91 s after that one had ended.
    expect(loads).toBe(3);
  });
});

describe('a key command', () => {
  const run = (script: string, timeoutMs?: number) => {
    const file = join(folder, `command-${script.length}.mjs`);
    writeFileSync(file, script);
    return () => commandKeys(`${process.execPath} ${file}`, timeoutMs).load();
  };
  const secret = newKey('k1').split(' ')[1]!;

  it.each([
    ['hangs', 'setInterval(() => {}, 1000);', /received none after 0\.5 s$/u],
    [
      'hangs and hears no signal',
      `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`,
      /received none after 0\.5 s$/u,
    ],
    ['fails', `console.log('k1 ${secret}'); process.exit(3);`, /received exit code 3$/u],
    ['prints nothing', '', /at least one key in the output of/u],
    ['prints half a key', `console.log('k1 ${secret.slice(0, 30)}');`, /on line 1 of the output of/u],
    [
      'prints without end',
      `for (;;) console.log('x'.repeat(1e6));`,
      /received (ENOBUFS|none after 0\.5 s)$/u,
    ],
  ])('that %s is refused with a code', (_what, script, message) => {
    const started = performance.now();
    let thrown: unknown;
    try {
      run(script, script.includes('setInterval') || script.includes('for') ? 500 : 10_000)();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringMatching(message) });
    expect(JSON.stringify([thrown, String(thrown)])).not.toContain(secret.slice(0, 20));
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
