import type { Readable, Writable } from 'node:stream';

/** A stream that may be a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The world around the command line, so that tests can stand in for it. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calls back at every Ctrl-C or request to end; returns what stops that. */
  onInterrupt(listener: () => void): () => void;
  /** Ends the process at once: what a second Ctrl-C asks for. */
  exit(code: number): void;
}

/** Human output never runs wider than this, and never assumes more. */
const MAX_WIDTH = 80;

export function widthOf(stream: OutputStream): number {
  return Math.max(40, Math.min(MAX_WIDTH, stream.columns ?? MAX_WIDTH));
}

/** Colours only on a terminal, and never where NO_COLOR is set (no-color.org) or the terminal is dumb. */
export function hasColours(stream: OutputStream, env: Terminal['env']): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** Writes and waits where the reader is slower. Rejects with the stream's error, EPIPE included. */
export function write(stream: OutputStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Whether the reader of a pipe has gone, as `head` does when it has seen enough. */
export function isBrokenPipe(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
  );
}
