import { type DestinationStream, destination, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { Logger } from '../../ports/logger.js';

/** Field names that hold secrets somewhere; a last net, since nobody should log them at all. */
const SECRET_FIELDS = [
  'adminKey',
  'key',
  'apiKey',
  'authorization',
  'mongodbUri',
  'uri',
  'password',
  'token',
];

export interface PinoLoggerOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** Standard error where none is given. */
  readonly stream?: DestinationStream | undefined;
}

/**
 * JSON lines, one an event: `{"level":"warn","time":"…","pid":…,"msg":"…",…}`. Written at once (no buffer), so that the line
 * before a crash is not lost.
 */
export function createPinoLogger({ level, stream }: PinoLoggerOptions): Logger {
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      // Without it an Error under `error` would be logged as {}.
      serializers: { error: stdSerializers.err },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '[secret]' },
    },
    stream ?? destination({ dest: 2, sync: true }),
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
