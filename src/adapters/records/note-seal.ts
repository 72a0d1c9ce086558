import { ErrataError } from '../../domain/errors.js';
import { isErased } from '../../domain/lifecycle.js';
import type { NoteId, NoteVectors } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type { NoteWrite } from '../../ports/note-store.js';
import { vectorFromBytes, vectorToBytes } from './vector-bytes.js';

export interface NoteTexts {
  readonly lesson: string;
  readonly correction: string;
  readonly wrongAnswer: string;
}

/** Bytes of one record and the id of the key that they are sealed with. */
export interface Sealed {
  readonly keyId: string;
  readonly bytes: Buffer;
}

const textContext = (id: NoteId): string => `note:${id}`;
const vectorContext = (id: NoteId, modelId: string, part: string): string =>
  `vector:${id}:${modelId}:${part}`;

/** All texts as one; undefined where nothing is to be sealed. A tombstone says nothing and stays readable without a key. */
export function sealTexts(cipher: Cipher | undefined, note: NoteWrite): Sealed | undefined {
  if (cipher === undefined || isErased(note)) return undefined;
  const { lesson, correction, wrongAnswer } = note;
  const keyId = cipher.keyId();
  const plain = Buffer.from(JSON.stringify([lesson, correction, wrongAnswer]));
  return { keyId, bytes: cipher.seal(plain, textContext(note.id)) };
}

/** Undefined where the bytes do not open. Errors: `ENCRYPTION_KEY_MISSING`. */
export function openTexts(
  cipher: Cipher | undefined,
  id: NoteId,
  { keyId, bytes }: { readonly keyId: string; readonly bytes: Uint8Array },
): NoteTexts | undefined {
  const plain = requireCipher(cipher, keyId).open(keyId, bytes, textContext(id));
  if (plain === undefined) return undefined;
  const [lesson, correction, wrongAnswer] = JSON.parse(plain.toString('utf8')) as [string, string, string];
  return { lesson, correction, wrongAnswer };
}

/** A note's vectors as bytes; `keyId` is null where they are plain float32. */
export interface VectorBytes {
  readonly modelId: string;
  readonly keyId: string | null;
  readonly lesson: Buffer;
  readonly situation: Buffer | null;
}

export function sealVectors(cipher: Cipher | undefined, id: NoteId, vectors: NoteVectors): VectorBytes {
  const { modelId, lesson, situation } = vectors;
  const encode = (vector: Float32Array, part: string): Buffer => {
    const bytes = vectorToBytes(vector);
    return cipher === undefined ? bytes : cipher.seal(bytes, vectorContext(id, modelId, part));
  };
  return {
    modelId,
    keyId: cipher?.keyId() ?? null,
    lesson: encode(lesson, 'lesson'),
    situation: situation === undefined ? null : encode(situation, 'situation'),
  };
}

/** Undefined where they cannot be read. Errors: `ENCRYPTION_KEY_MISSING`. */
export function openVectors(
  cipher: Cipher | undefined,
  id: NoteId,
  stored: Pick<VectorBytes, 'modelId' | 'keyId'> & {
    readonly lesson: Uint8Array;
    readonly situation: Uint8Array | null;
  },
): NoteVectors | undefined {
  const { modelId, keyId } = stored;
  const decode = (bytes: Uint8Array, part: string): Float32Array | undefined => {
    const plain =
      keyId === null
        ? bytes
        : requireCipher(cipher, keyId).open(keyId, bytes, vectorContext(id, modelId, part));
    return plain === undefined ? undefined : vectorFromBytes(plain);
  };
  const lesson = decode(stored.lesson, 'lesson');
  if (lesson === undefined) return undefined;
  if (stored.situation === null) return { modelId, lesson };
  const situation = decode(stored.situation, 'situation');
  return situation === undefined ? undefined : { modelId, lesson, situation };
}

function requireCipher(cipher: Cipher | undefined, keyId: string): Cipher {
  if (cipher !== undefined) return cipher;
  throw new ErrataError(
    'ENCRYPTION_KEY_MISSING',
    `Expected the encryption key ${keyId} that notes are stored under, received none: set ERRATA_KEY_FILE, ERRATA_KEYS or ERRATA_KEY_COMMAND`,
    { details: { keyIds: keyId } },
  );
}
