import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { ErrataError } from '../domain/errors.js';

/** More than any accepted input; what is larger is refused before it is in memory. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ErrataError('UNSUPPORTED_ENCODING', `Expected UTF-8 for ${name}, received other bytes`, {
      cause,
    });
  }
}

function tooLarge(name: string): ErrataError {
  return new ErrataError(
    'INPUT_TOO_LARGE',
    `Expected at most ${MAX_INPUT_BYTES} bytes for ${name}, received more`,
  );
}

/** Everything on standard input, as UTF-8. Errors: `INPUT_TOO_LARGE`, `UNSUPPORTED_ENCODING`. */
async function readStandardInput(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_INPUT_BYTES) throw tooLarge('standard input');
    chunks.push(bytes);
  }
  return decode(Buffer.concat(chunks), 'standard input');
}

/** The absolute path of a file that can be read. Errors: `INVALID_FILE` naming it. */
export async function existingFile(name: string, cwd: string): Promise<string> {
  const file = path.resolve(cwd, name);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile()) return file;
  throw new ErrataError(
    'INVALID_FILE',
    `Expected a file for ${name}, received ${found ? 'a folder' : 'nothing there'}`,
  );
}

/** The text of a file, or of standard input for `-`. */
export async function readText(name: string, stdin: Readable, cwd: string): Promise<string> {
  if (name === '-') return readStandardInput(stdin);
  const file = await existingFile(name, cwd);
  if ((await stat(file)).size > MAX_INPUT_BYTES) throw tooLarge(name);
  return decode(await readFile(file), name);
}

/** For arguments that are a text or the name of a file that holds it: a file where one has that name. */
export async function textOrFile(value: string, stdin: Readable, cwd: string): Promise<string> {
  if (value === '-') return readStandardInput(stdin);
  const looksLikeName = value.length < 1_024 && !value.includes('\n') && !value.includes('\0');
  const found = looksLikeName ? await stat(path.resolve(cwd, value)).catch(() => undefined) : undefined;
  return found?.isFile() ? readText(value, stdin, cwd) : value;
}

/** Parses JSON. Errors: `INVALID_INPUT` that quotes nothing of the text. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ErrataError('INVALID_INPUT', `Expected JSON for ${name}, received other text`, { cause });
  }
}
