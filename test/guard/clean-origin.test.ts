import { describe, expect, it } from 'vitest';
import { cleanOrigin } from '../../src/guard/clean-origin.js';

describe('origin of a call', () => {
  it('names the client on one line, cut, without secrets, and IPv4 addresses as such', () => {
    const client = `tool/1 \n password=Hunter2Hunter2x ${'x'.repeat(400)}`;
    const clean = cleanOrigin({ via: 'API', address: '::ffff:203.0.113.7', client });
    expect(clean).toMatchObject({ via: 'API', address: '203.0.113.7' });
    expect(clean.client).toMatch(/^tool\/1 password=/);
    expect(clean.client).not.toContain('Hunter2');
    expect(clean.client).toHaveLength(200);
    expect(cleanOrigin({ via: 'API', address: '2001:db8::1', client: ' ' })).toEqual({
      via: 'API',
      address: '2001:db8::1',
    });
  });
});
