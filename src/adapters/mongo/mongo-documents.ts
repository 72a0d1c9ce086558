import { Binary } from 'mongodb';
import type { AuditEvent } from '../../domain/audit.js';
import type { FeedbackNote, NoteId, NoteVectors, OutcomeCounts } from '../../domain/note.js';
import type { NoteWrite } from '../../ports/note-store.js';
import { searchedText } from '../records/fold-text.js';
import { riskRank } from '../records/note-order.js';
import { readNote } from '../records/note-record.js';
import { vectorFromBytes, vectorToBytes } from '../records/vector-bytes.js';

/** 0: plain bytes, for servers that do not know vectors. 9: BSON vectors, what Atlas Vector Search indexes. */
export type VectorSubtype = 0 | 9;

export interface AuditDocument extends Omit<AuditEvent, 'id'> {
  readonly _id: string;
  /** 0 for events of no note's version. */
  readonly version: number;
}

interface VectorsDocument {
  readonly modelId: string;
  readonly lesson: Binary;
  readonly situation?: Binary | undefined;
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
  readonly lesson: string;
  readonly correction: string;
  readonly wrongAnswer: string;
  readonly searched: string;
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
}

export interface NoteDocument extends NoteContent {
  readonly _id: NoteId;
  readonly version: number;
  readonly outcomes: OutcomeCounts;
  readonly embeddingModel: string | null;
  readonly vectors: VectorsDocument | null;
  /** The audit event of this version until it and the change entry are written: what `repair` completes. */
  readonly pending: (AuditDocument & { readonly open: true }) | null;
}

export function noteContent(note: NoteWrite): NoteContent {
  const { id: _id, outcomes: _outcomes, attributes, ...rest } = note;
  return {
    ...rest,
    risk: riskRank(note),
    searched: searchedText(note),
    attributes: Object.entries(attributes).map(([key, value]) => attributePair(key, value)),
    expiresAt: note.expiresAt ?? null,
    reviewAfter: note.reviewAfter ?? null,
    supersededBy: note.supersededBy ?? null,
    mergeCandidate: note.mergeCandidate ?? null,
  };
}

export function vectorFields(
  vectors: NoteVectors | null | undefined,
  subtype: VectorSubtype,
): Pick<NoteDocument, 'vectors' | 'embeddingModel'> {
  if (vectors === undefined || vectors === null) return { vectors: null, embeddingModel: null };
  const { modelId, lesson, situation } = vectors;
  const encoded = situation === undefined ? {} : { situation: toBinary(situation, subtype) };
  return { embeddingModel: modelId, vectors: { modelId, lesson: toBinary(lesson, subtype), ...encoded } };
}

/** What lists leave out: vectors are most of a document, `searched` is a copy. */
export const WITHOUT_VECTORS = { vectors: 0, searched: 0, pending: 0 } as const;
export const WITH_VECTORS = { searched: 0, pending: 0 } as const;

/** Undefined where the document is damaged. */
export function noteFromDocument(document: Partial<NoteDocument>): FeedbackNote | undefined {
  return readNote({ ...document, id: document._id, attributes: attributesOf(document.attributes) });
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

/** `null` where the document has none, undefined where they are damaged. */
export function vectorsFromDocument(document: Partial<NoteDocument>): NoteVectors | null | undefined {
  const held: Partial<VectorsDocument> | null | undefined = document.vectors;
  if (held === null || held === undefined) return null;
  const lesson = fromBinary(held.lesson);
  if (typeof held.modelId !== 'string' || lesson === undefined) return undefined;
  if (held.situation === null || held.situation === undefined) return { modelId: held.modelId, lesson };
  const situation = fromBinary(held.situation);
  return situation === undefined ? undefined : { modelId: held.modelId, lesson, situation };
}

/** BSON vectors start with two bytes: element type and padding. */
const VECTOR_HEADER_BYTES = 2;

function toBinary(vector: Float32Array, subtype: VectorSubtype): Binary {
  if (subtype === 0) return new Binary(vectorToBytes(vector), 0);
  return Binary.fromFloat32Array(vector);
}

function fromBinary(value: unknown): Float32Array | undefined {
  if (!(value instanceof Binary)) return undefined;
  if (value.sub_type !== Binary.SUBTYPE_VECTOR) return vectorFromBytes(value.value());
  const [type, padding] = value.value();
  if (type !== Binary.VECTOR_TYPE.Float32 || padding !== 0) return undefined;
  return vectorFromBytes(value.value().subarray(VECTOR_HEADER_BYTES));
}
