import { describe, expect, it } from 'vitest';
import { createPinoLogger } from '../../../src/adapters/logging/pino-logger.js';

function logged(level: 'silent' | 'error' | 'warn' | 'info' | 'debug') {
  const lines: string[] = [];
  const logger = createPinoLogger({ level, stream: { write: (line: string) => void lines.push(line) } });
  return { logger, lines };
}

describe('createPinoLogger', () => {
  it('writes one JSON line an event, with level, time and fields', () => {
    const { logger, lines } = logged('warn');
    logger.info({ at: 1 }, 'not shown');
    logger.warn({ noteId: 'x', ms: 3 }, 'slow');
    expect(lines).toHaveLength(1);
    const { time, ...rest } = JSON.parse(lines[0]!);
    expect(rest).toEqual({ level: 'warn', pid: process.pid, noteId: 'x', ms: 3, msg: 'slow' });
    expect(new Date(time).toISOString()).toBe(time);
  });

  it('says nothing when silent', () => {
    const { logger, lines } = logged('silent');
    logger.error({}, 'broken');
    expect(lines).toEqual([]);
  });

  it('hides fields that hold secrets', () => {
    const { logger, lines } = logged('debug');
    logger.debug(
      { mongodbUri: 'mongodb://u:hunter2@db', headers: { authorization: 'Bearer hunter2' } },
      'call',
    );
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).toContain('[secret]');
  });
});
