import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { ErrataError } from '../../domain/errors.js';
import type { Cipher } from '../../ports/cipher.js';

/** The form of schema/sealed-snapshot-v1.md: a head, then pieces, each sealed on its own. */
const MAGIC = Buffer.from('ERRSEAL1');
const HEAD_BYTES = 40;
const PIECE_BYTES = 1 << 20;
/** Nonce and tag of a piece (`Cipher`). */
const SEAL_BYTES = 28;
const MOST_KEY_ID_BYTES = 256;

export type SealedFileTrouble = 'ABSENT' | 'NOT_A_SNAPSHOT' | 'TRUNCATED' | 'CORRUPT' | 'KEY_MISSING';

let written = 0;

/**
 * Writes `bytes` sealed to `file`, whole or not at all: beside it first, then fsync, rename, fsync of the folder. Resolves with
 * the file's size. No plain byte reaches the disk.
 */
export async function writeSealedFile(file: string, bytes: Uint8Array, cipher: Cipher): Promise<number> {
  const beside = `${file}.${process.pid}-${++written}.new`;
  try {
    let size: number | undefined;
    // Again where the key changed in between: all pieces are under one.
    while (size === undefined) size = await writePieces(beside, bytes, cipher);
    await rename(beside, file);
    await syncFolder(path.dirname(file));
    return size;
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/**
 * Opens what `writeSealedFile` wrote into the memory that `allocate` gives for so many bytes. What is wrong with the file is
 * returned; other errors of the disk reject.
 */
export async function readSealedFile<Memory extends { readonly bytes: ArrayBuffer }>(
  file: string,
  cipher: Cipher,
  allocate: (bytes: number) => Memory,
): Promise<{ readonly memory: Memory; readonly sizeBytes: number } | SealedFileTrouble> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch {
    return 'ABSENT';
  }
  try {
    const head = await readHead(handle);
    if (typeof head === 'string') return head;
    const memory = allocate(head.plainBytes);
    const plain = new Uint8Array(memory.bytes);
    const sealed = Buffer.allocUnsafe(PIECE_BYTES + SEAL_BYTES);
    let at = head.begin;
    for (const piece of pieces(head.plainBytes)) {
      const length = piece.end - piece.begin + SEAL_BYTES;
      if (!(await readWhole(handle, sealed.subarray(0, length), at))) return 'TRUNCATED';
      const opened = openPiece(cipher, head, sealed.subarray(0, length), piece.number);
      if (typeof opened === 'string') return opened;
      plain.set(opened, piece.begin);
      at += length;
    }
    return { memory, sizeBytes: at };
  } finally {
    await handle.close();
  }
}

interface Head {
  readonly fileId: string;
  readonly keyId: string;
  readonly plainBytes: number;
  /** Where the first piece is. */
  readonly begin: number;
}

/** Undefined where the key changed meanwhile. */
async function writePieces(file: string, bytes: Uint8Array, cipher: Cipher): Promise<number | undefined> {
  const keyId = cipher.keyId();
  const fileId = randomBytes(16);
  const key = Buffer.from(keyId);
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(PIECE_BYTES, 8);
  head.writeUInt32LE(key.length, 12);
  head.writeBigUInt64LE(BigInt(bytes.length), 16);
  fileId.copy(head, 24);
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.appendFile(Buffer.concat([head, key]));
    let size = HEAD_BYTES + key.length;
    for (const { number, begin, end } of pieces(bytes.length)) {
      const sealed = cipher.seal(
        bytes.subarray(begin, end),
        context(fileId.toString('hex'), bytes.length, number),
      );
      await handle.appendFile(sealed);
      size += sealed.length;
    }
    await handle.sync();
    return cipher.keyId() === keyId ? size : undefined;
  } finally {
    await handle.close();
  }
}

async function readHead(handle: FileHandle): Promise<Head | SealedFileTrouble> {
  const head = Buffer.alloc(HEAD_BYTES);
  if (!(await readWhole(handle, head, 0))) return 'TRUNCATED';
  const keyBytes = head.readUInt32LE(12);
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) return 'NOT_A_SNAPSHOT';
  if (head.readUInt32LE(8) !== PIECE_BYTES || keyBytes > MOST_KEY_ID_BYTES) return 'CORRUPT';
  const key = Buffer.alloc(keyBytes);
  if (!(await readWhole(handle, key, HEAD_BYTES))) return 'TRUNCATED';
  const plainBytes = Number(head.readBigUInt64LE(16));
  const begin = HEAD_BYTES + keyBytes;
  // Nothing is allocated for a size that the file does not have.
  const expected = begin + plainBytes + Math.ceil(plainBytes / PIECE_BYTES) * SEAL_BYTES;
  const { size } = await handle.stat();
  if (plainBytes === 0 || size !== expected) return size < expected ? 'TRUNCATED' : 'CORRUPT';
  return { fileId: head.subarray(24, HEAD_BYTES).toString('hex'), keyId: key.toString(), plainBytes, begin };
}

function openPiece(cipher: Cipher, head: Head, sealed: Buffer, number: number): Buffer | SealedFileTrouble {
  try {
    return cipher.open(head.keyId, sealed, context(head.fileId, head.plainBytes, number)) ?? 'CORRUPT';
  } catch (error) {
    if (error instanceof ErrataError && error.code === 'ENCRYPTION_KEY_MISSING') return 'KEY_MISSING';
    throw error;
  }
}

/** Binds a piece to its place in its file and to the whole's length: none can be exchanged, repeated or left out. */
function context(fileId: string, plainBytes: number, number: number): string {
  return `snapshot ${fileId} ${plainBytes} ${number}`;
}

function* pieces(bytes: number): Iterable<{ number: number; begin: number; end: number }> {
  for (let begin = 0, number = 0; begin < bytes; begin += PIECE_BYTES, number += 1)
    yield { number, begin, end: Math.min(begin + PIECE_BYTES, bytes) };
}

async function readWhole(handle: FileHandle, target: Buffer, position: number): Promise<boolean> {
  for (let got = 0; got < target.length; ) {
    const { bytesRead } = await handle.read(target, got, target.length - got, position + got);
    if (bytesRead === 0) return false;
    got += bytesRead;
  }
  return true;
}

/** So that the rename survives a power cut. Windows has no such call; its rename is journalled. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
