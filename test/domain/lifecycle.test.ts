import { describe, expect, it } from 'vitest';
import { restoredStatus, transition } from '../../src/domain/lifecycle.js';
import { NOTE_STATUSES, type NoteStatus } from '../../src/domain/note.js';

const EVENTS = [
  'approve',
  'reject',
  'merge',
  'keep-both',
  'replace',
  'deprecate',
  'supersede',
  'restore',
  'erase',
] as const;
const outcome = (from: NoteStatus, event: (typeof EVENTS)[number]): string => {
  try {
    return transition(from, event);
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('transition', () => {
  it('leads from quarantine to service by approval only', () => {
    const live = EVENTS.filter((event) => outcome('QUARANTINED', event) === 'ACTIVE');
    expect(live).toEqual(['approve']);
  });

  it('never leads from service to anywhere but deprecation', () => {
    expect(new Set(EVENTS.map((event) => outcome('ACTIVE', event)))).toEqual(
      new Set(['INVALID_TRANSITION', 'DEPRECATED', 'ACTIVE']),
    );
    expect(EVENTS.filter((event) => outcome('ACTIVE', event) === 'ACTIVE')).toEqual([
      'keep-both',
      'replace',
      'restore',
    ]);
  });

  it('can deprecate and erase anything', () => {
    for (const status of NOTE_STATUSES) {
      expect([outcome(status, 'deprecate'), outcome(status, 'erase')]).toEqual(['DEPRECATED', 'DEPRECATED']);
    }
  });

  it('restores what nobody approved to the queue', () => {
    expect([undefined, ...NOTE_STATUSES].map((status) => restoredStatus(status))).toEqual([
      'ACTIVE',
      'PENDING',
      'ACTIVE',
      'ACTIVE',
      'QUARANTINED',
    ]);
  });
});
