import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findPlanted } from './find-planted.js';
import { formsOf, plantSecrets } from './planted-secrets.js';

describe('the search for planted secrets', () => {
  const planted = plantSecrets(7);
  const [one] = planted;

  it('plants every kind, the same for the same seed and others for another', () => {
    expect(planted.length).toBeGreaterThanOrEqual(45);
    expect(plantSecrets(7)).toEqual(planted);
    const other = plantSecrets(8).filter(({ text }, index) => text !== planted[index]?.text);
    expect(other.length).toBeGreaterThan(planted.length / 2);
  });

  it('finds one in every form and place, compressed ones included, and nothing else', () => {
    const secret = one!.secrets[0]!;
    const around = (bytes: Buffer) => Buffer.concat([Buffer.from('xyz'), bytes, Buffer.alloc(5)]);
    for (const [form, bytes] of formsOf(secret)) {
      const found = findPlanted([['file', around(bytes)]], planted);
      expect(found, form).toContainEqual(expect.objectContaining({ place: 'file', kind: one!.kind, form }));
    }
    for (const before of ['', 'a', 'ab', 'abc']) {
      const encoded = Buffer.from(Buffer.from(`${before}${secret}tail`).toString('base64'));
      expect(findPlanted([['file', encoded]], planted), before).not.toEqual([]);
    }
    const packed = Buffer.concat([Buffer.from('head'), gzipSync(`a log line: ${secret}`)]);
    expect(packed.includes(secret)).toBe(false);
    expect(findPlanted([['log.gz', packed]], planted)).toMatchObject([{ place: 'log.gz, unpacked at 4' }]);
    expect(findPlanted([['file', Buffer.from('[REDACTED:jwt:1] and nothing else')]], planted)).toEqual([]);
  });
});
