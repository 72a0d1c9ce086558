import type { IncomingMessage } from 'node:http';
import { ErrataError } from '../domain/errors.js';

/**
 * Reads a body up to a limit that may differ from request to request. What comes after the limit is discarded while it
 * arrives (Node does so once the answer is sent), so that the client gets to read the answer.
 *
 * Errors: `INPUT_TOO_LARGE`, `ABORTED` where the client goes away.
 */
export function readBody(stream: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const stop = (): void => {
      stream.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
    };
    const tooLarge = (): void => {
      stop();
      stream.resume();
      reject(
        new ErrataError(
          'INPUT_TOO_LARGE',
          `Expected at most ${limitBytes} bytes for the body, received more`,
          {
            details: { field: 'body', maximum: limitBytes },
          },
        ),
      );
    };
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) tooLarge();
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      resolve(Buffer.concat(chunks, sizeBytes));
    };
    const onGone = (): void => {
      stop();
      reject(new ErrataError('ABORTED', 'Expected a whole body, received part of it'));
    };
    if (Number(stream.headers['content-length'] ?? 0) > limitBytes) tooLarge();
    else stream.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Errors: `INVALID_TEXT` for bytes that are not UTF-8 (they would turn into U+FFFD and change note ids), `INVALID_INPUT` for JSON that cannot be read. */
export function parseJsonBody(body: Buffer): unknown {
  let text: string;
  try {
    text = decoder.decode(body);
  } catch (cause) {
    throw new ErrataError('INVALID_TEXT', 'Expected UTF-8 for the body, received other bytes', { cause });
  }
  try {
    return JSON.parse(text);
  } catch {
    // No cause: the engine's text quotes the body.
    throw new ErrataError('INVALID_INPUT', 'Expected JSON for the body, received another text', {
      details: { field: 'body' },
    });
  }
}
