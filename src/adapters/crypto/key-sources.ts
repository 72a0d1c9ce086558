import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { ErrataError } from '../../domain/errors.js';
import { type KeyRing, parseKeyRing } from './key-ring.js';

/** Where keys come from. Reading is synchronous: it happens at start and when a key changed, never for a note. */
export interface KeySource {
  load(): KeyRing;
  /** Whether what `load` would give may have changed since; cheap. */
  changed(): boolean;
}

const COMMAND_TIMEOUT_MS = 10_000;

/** Keys in the environment cannot change while the process runs. */
export function environmentKeys(text: string, name: string): KeySource {
  return { load: () => parseKeyRing(text, name), changed: () => false };
}

/** Errors: `INVALID_CONFIG` for a file that cannot be read, that others may read, or that holds something else. */
export function fileKeys(path: string): KeySource {
  let loadedMs = -1;
  return {
    load() {
      try {
        const { mtimeMs, mode } = statSync(path);
        if ((mode & 0o077) !== 0) {
          throw new ErrataError(
            'INVALID_CONFIG',
            `Expected a key file that only its owner may read at ${path}, received mode ${(mode & 0o777).toString(8)}; run chmod 600`,
          );
        }
        const ring = parseKeyRing(readFileSync(path, 'utf8'), path);
        loadedMs = mtimeMs;
        return ring;
      } catch (error) {
        if (error instanceof ErrataError) throw error;
        const code = (error as NodeJS.ErrnoException).code ?? 'an error';
        throw new ErrataError('INVALID_CONFIG', `Expected a readable key file at ${path}, received ${code}`, {
          cause: error,
        });
      }
    },
    changed() {
      // A file that is being replaced is looked at again the next time.
      return (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? loadedMs) !== loadedMs;
    },
  };
}

/**
 * A program that prints the keys, such as a client of a key service; run without a shell. Errors: `INVALID_CONFIG` for one that is
 * not there, fails, prints something else, or has not ended after `timeoutMs` (killed, whatever it does about signals).
 */
export function commandKeys(command: string, timeoutMs = COMMAND_TIMEOUT_MS): KeySource {
  const [program = '', ...args] = command.split(/\s+/u).filter(Boolean);
  return {
    load() {
      let text: string;
      try {
        text = execFileSync(program, args, {
          encoding: 'utf8',
          timeout: timeoutMs,
          killSignal: 'SIGKILL',
          stdio: ['ignore', 'pipe', 'ignore'],
        });
      } catch (error) {
        const { status, code } = error as { status?: number | null; code?: string };
        const ended = code ?? `exit code ${status ?? 'none'}`;
        const received = code === 'ETIMEDOUT' ? `none after ${timeoutMs / 1_000} s` : ended;
        // Without the cause: it holds what the command printed.
        throw new ErrataError(
          'INVALID_CONFIG',
          `Expected keys from the key command ${program}, received ${received}`,
        );
      }
      return parseKeyRing(text, `the output of ${program}`);
    },
    changed: () => false,
  };
}
