import { createHash } from 'node:crypto';
import { Binary } from 'mongodb';
import type { AuditEvent } from '../../domain/audit.js';
import type { FeedbackNote, NoteId, NoteVectors, OutcomeCounts } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type { NoteWrite } from '../../ports/note-store.js';
import { searchedText } from '../records/fold-text.js';
import { openedAtOf, riskRank } from '../records/note-order.js';
import { readNote } from '../records/note-record.js';
import { openTexts, openVectors, sealTexts, sealVectors } from '../records/note-seal.js';
import { vectorToBytes } from '../records/vector-bytes.js';

/** 0: plain bytes, for servers that do not know vectors. 9: BSON vectors, what Atlas Vector Search indexes. */
export type VectorSubtype = 0 | 9;

export interface AuditDocument extends Omit<AuditEvent, 'id'> {
  readonly _id: string;
  /** 0 for events of no note's version. */
  readonly version: number;
}

export interface VectorsDocument {
  readonly modelId: string;
  /** Null: the bytes are plain float32. */
  readonly keyId: string | null;
  readonly lesson: Binary;
  readonly situation?: Binary | undefined;
}

interface SealedDocument {
  readonly keyId: string;
  readonly bytes: Binary;
}

/** Content of a note, as every write sets it. Optional fields are `null` where absent, so that one `$set` says all. */
interface NoteContent {
  readonly namespace: string;
  readonly taskType: string;
  readonly status: string;
  readonly impact: string;
  readonly risk: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it entered the queue; of others when it was made. */
  readonly openedAt: string;
  readonly lesson: string;
  readonly correction: string;
  readonly wrongAnswer: string;
  readonly searched: string;
  /** The texts, where they are sealed; the fields above are then empty. */
  readonly sealed: SealedDocument | null;
  /** `attributePair`s: keys may hold dots and dollars, one index serves all, and every server finds a string in a list. */
  readonly attributes: readonly string[];
  readonly sources: NoteWrite['sources'];
  readonly supportCount: number;
  readonly findings: NoteWrite['findings'];
  readonly expiresAt: string | null;
  readonly reviewAfter: string | null;
  readonly supersedes: readonly NoteId[];
  readonly supersededBy: string | null;
  readonly mergeCandidate: NoteWrite['mergeCandidate'] | null;
  readonly contestedBy: string | null;
  readonly anchors: NoteWrite['anchors'] | null;
  readonly review: NoteWrite['review'] | null;
}

export interface NoteDocument extends NoteContent {
  readonly _id: NoteId;
  readonly version: number;
  readonly outcomes: OutcomeCounts;
  readonly embeddingModel: string | null;
  /** By `vectorKey`: vectors of several models stand beside each other. Empty where there are none. */
  readonly vectors: Readonly<Record<string, VectorsDocument>>;
  /** The audit event of this version until it and the change entry are written: what `repair` completes. */
  readonly pending: (AuditDocument & { readonly open: true }) | null;
}

export function noteContent(note: NoteWrite, cipher: Cipher | undefined): NoteContent {
  const { id: _id, outcomes: _outcomes, attributes, ...rest } = note;
  return {
    ...rest,
    risk: riskRank(note),
    openedAt: openedAtOf(note),
    ...textFields(note, cipher),
    attributes: Object.entries(attributes).map(([key, value]) => attributePair(key, value)),
    expiresAt: note.expiresAt ?? null,
    reviewAfter: note.reviewAfter ?? null,
    supersededBy: note.supersededBy ?? null,
    mergeCandidate: note.mergeCandidate ?? null,
    contestedBy: note.contestedBy ?? null,
    anchors: note.anchors ?? null,
    review: note.review ?? null,
  };
}

type TextFields = Pick<NoteContent, 'lesson' | 'correction' | 'wrongAnswer' | 'searched' | 'sealed'>;

/** A note's texts: themselves, or sealed beside empty fields. */
export function textFields(note: NoteWrite, cipher: Cipher | undefined): TextFields {
  const sealed = sealTexts(cipher, note);
  if (sealed !== undefined) {
    const held = { keyId: sealed.keyId, bytes: new Binary(sealed.bytes, 0) };
    return { lesson: '', correction: '', wrongAnswer: '', searched: '', sealed: held };
  }
  const { lesson, correction, wrongAnswer } = note;
  return { lesson, correction, wrongAnswer, searched: searchedText(note), sealed: null };
}

/** A field name for a model, whose id may hold dots. */
export function vectorKey(modelId: string): string {
  return `m${createHash('sha256').update(modelId).digest('hex').slice(0, 16)}`;
}

export function vectorDocument(
  id: NoteId,
  vectors: NoteVectors,
  subtype: VectorSubtype,
  cipher: Cipher | undefined,
): VectorsDocument {
  const { modelId, keyId, lesson, situation } = sealVectors(cipher, id, vectors);
  if (cipher === undefined) {
    const encoded = vectors.situation && { situation: toBinary(vectors.situation, subtype) };
    return { modelId, keyId, lesson: toBinary(vectors.lesson, subtype), ...encoded };
  }
  const sealed = situation === null ? {} : { situation: new Binary(situation, 0) };
  return { modelId, keyId, lesson: new Binary(lesson, 0), ...sealed };
}

/** What lists leave out: vectors are most of a document, `searched` is a copy. */
export const WITHOUT_VECTORS = { vectors: 0, searched: 0, pending: 0 } as const;
export const WITH_VECTORS = { searched: 0, pending: 0 } as const;

/** Undefined where the document is damaged. Errors: `ENCRYPTION_KEY_MISSING`. */
export function noteFromDocument(
  document: Partial<NoteDocument>,
  cipher: Cipher | undefined,
): FeedbackNote | undefined {
  const { _id: id, sealed } = document;
  const texts = sealed ? openTexts(cipher, String(id), { ...sealed, bytes: sealed.bytes.value() }) : {};
  return texts && readNote({ ...document, ...texts, id, attributes: attributesOf(document.attributes) });
}

/** `["key","value"]`, as lists hold it and filters look for it. */
export function attributePair(key: string, value: string): string {
  return JSON.stringify([key, value]);
}

function attributesOf(pairs: unknown): unknown {
  if (!Array.isArray(pairs)) return undefined;
  try {
    return Object.fromEntries(pairs.map((pair) => JSON.parse(pair)));
  } catch {
    // Not one of our pairs: the record is damaged, which the caller counts.
    return undefined;
  }
}

/**
 * Vectors of the model (none named: of the one that the note names). `null` where the document has none, undefined where
 * they are damaged. Errors: `ENCRYPTION_KEY_MISSING`.
 */
export function vectorsFromDocument(
  document: Partial<NoteDocument>,
  modelId: string | undefined,
  cipher: Cipher | undefined,
): NoteVectors | null | undefined {
  const model = modelId ?? document.embeddingModel ?? undefined;
  const held = model === undefined ? undefined : document.vectors?.[vectorKey(model)];
  return held === undefined ? null : openDocument(String(document._id), held, cipher);
}

/** Those of every model that can be read. */
export function allVectors(
  document: Partial<NoteDocument>,
  cipher: Cipher | undefined,
): readonly NoteVectors[] {
  const held = Object.values(document.vectors ?? {});
  return held.flatMap((each) => openDocument(String(document._id), each, cipher) ?? []);
}

function openDocument(
  id: NoteId,
  held: Partial<VectorsDocument>,
  cipher: Cipher | undefined,
): NoteVectors | undefined {
  const { modelId, keyId = null } = held;
  const lesson = plainBytes(held.lesson);
  const situation = held.situation == null ? null : plainBytes(held.situation);
  if (typeof modelId !== 'string' || lesson === undefined || situation === undefined) return undefined;
  return openVectors(cipher, id, { modelId, keyId, lesson, situation });
}

/** BSON vectors start with two bytes: element type and padding. */
const VECTOR_HEADER_BYTES = 2;

function toBinary(vector: Float32Array, subtype: VectorSubtype): Binary {
  if (subtype === 0) return new Binary(vectorToBytes(vector), 0);
  return Binary.fromFloat32Array(vector);
}

/** The bytes of a vector in either encoding, or sealed. */
function plainBytes(value: unknown): Uint8Array | undefined {
  if (!(value instanceof Binary)) return undefined;
  if (value.sub_type !== Binary.SUBTYPE_VECTOR) return value.value();
  const [type, padding] = value.value();
  if (type !== Binary.VECTOR_TYPE.Float32 || padding !== 0) return undefined;
  return value.value().subarray(VECTOR_HEADER_BYTES);
}
