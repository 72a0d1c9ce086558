import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../src/domain/audit.js';
import { eventDigest } from '../../src/domain/audit-chain.js';

const event: AuditEvent = {
  ...{ id: 'n:1', at: '2026-01-01T00:00:00.000Z', actor: 'ada', action: 'created' },
  ...{ namespace: 'team', noteId: 'n', changes: ['status: none → ACTIVE'] },
};

describe('digest of an audit event', () => {
  it('is what it was for events of before there were origins', () => {
    const list =
      '["n:1","2026-01-01T00:00:00.000Z","ada","created","team","n",null,["status: none → ACTIVE"]]';
    expect(eventDigest(event)).toBe(createHash('sha256').update(list).digest('hex'));
  });

  it('covers the origin, which can neither be changed, added nor taken away', () => {
    const origin = { via: 'API', address: '203.0.113.7', client: 'curl' } as const;
    const digests = [
      event,
      { ...event, origin },
      { ...event, origin: { ...origin, via: 'CLI' as const } },
      { ...event, origin: { ...origin, address: '203.0.113.8' } },
      { ...event, origin: { via: 'API' as const, client: 'curl' } },
      { ...event, origin: { via: 'API' as const, address: 'curl' } },
    ].map(eventDigest);
    expect(new Set(digests).size).toBe(digests.length);
    expect(digests.slice(1).every((digest) => /^2:[0-9a-f]{64}$/.test(digest))).toBe(true);
  });
});
