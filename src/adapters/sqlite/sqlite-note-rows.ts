import type { FeedbackNote, NoteVectors, OutcomeCounts } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type { NoteWrite } from '../../ports/note-store.js';
import { searchedText } from '../records/fold-text.js';
import { openedAtOf, riskRank } from '../records/note-order.js';
import { readNote } from '../records/note-record.js';
import { type NoteTexts, openTexts, openVectors, sealTexts, type VectorBytes } from '../records/note-seal.js';
import type { NoteState } from './recent-notes.js';
import type { Parameters, Row, SqliteDatabase } from './sqlite-database.js';

/** What `noteFromRow` reads, for a table named `n`. */
export const NOTE_COLUMNS = `n.seq, n.id, n.namespace, n.task_type AS taskType, n.status, n.impact, n.risk,
  n.created_at AS createdAt, n.updated_at AS updatedAt, n.opened_at AS openedAt, n.version, n.model_id AS embeddingModel, n.retrieved, n.helpful,
  n.harmful, n.ignored, n.lesson, n.correction, n.wrong_answer AS wrongAnswer, n.rest,
  n.key_id AS keyId, n.sealed`;
/** What `stateFromRow` reads, for a table named `n`: a twentieth of the row. */
export const STATE_COLUMNS =
  'n.id, n.version, n.model_id AS embeddingModel, n.retrieved, n.helpful, n.harmful, n.ignored';
/** What `vectorsFromRow` reads, for a table named `v`. */
export const VECTOR_COLUMNS =
  'v.model_id AS vectorModel, v.key_id AS vectorKey, v.lesson AS lessonVector, v.situation AS situationVector';
/** Vectors of the model `@model`, else of the one that the note names. */
export const OF_MODEL = 'note_vectors v ON v.note = n.seq AND v.model_id = coalesce(@model, n.model_id)';

/** With the parameters of `noteParameters`, the outcome counts and `model`. Gives `seq`; an id that is taken changes no row and gives none. */
export const INSERT_NOTE = `INSERT INTO notes (id, namespace, task_type, status, impact, risk, created_at, updated_at, opened_at, version, model_id,
    retrieved, helpful, harmful, ignored, lesson, correction, wrong_answer, rest, searched, key_id, sealed)
  VALUES (@id, @namespace, @taskType, @status, @impact, @risk, @createdAt, @updatedAt, @openedAt, 1, @model,
    @retrieved, @helpful, @harmful, @ignored, @lesson, @correction, @wrongAnswer, @rest, @searched,
    @keyId, @sealed)
  ON CONFLICT (id) DO NOTHING RETURNING seq`;
/** With the parameters of `noteParameters`, `version` and `model`; outcome counts stay. */
export const UPDATE_NOTE = `UPDATE notes SET task_type = @taskType, status = @status, impact = @impact, risk = @risk,
    created_at = @createdAt, updated_at = @updatedAt, opened_at = @openedAt, version = @version, model_id = @model, lesson = @lesson,
    correction = @correction, wrong_answer = @wrongAnswer, rest = @rest, searched = @searched,
    key_id = @keyId, sealed = @sealed
  WHERE id = @id`;

/** The note of a row, or undefined where the row is damaged. Errors: `ENCRYPTION_KEY_MISSING`. */
export function noteFromRow(row: Row, cipher: Cipher | undefined): FeedbackNote | undefined {
  const rest = parseObject(row.rest);
  if (rest === undefined) return undefined;
  const { retrieved, helpful, harmful, ignored } = row;
  const texts = textsFromRow(row, cipher);
  return texts && readNote({ ...rest, ...row, ...texts, outcomes: { retrieved, helpful, harmful, ignored } });
}

/** What is sealed of a row, opened; nothing where nothing is; undefined where it does not open. */
export function textsFromRow(
  row: Row,
  cipher: Cipher | undefined,
): NoteTexts | Record<string, never> | undefined {
  const { id, keyId, sealed } = row;
  if (typeof keyId !== 'string') return {};
  return sealed instanceof Uint8Array ? openTexts(cipher, String(id), { keyId, bytes: sealed }) : undefined;
}

export function outcomesFromRow({ retrieved, helpful, harmful, ignored }: Row): OutcomeCounts {
  return {
    retrieved: Number(retrieved),
    helpful: Number(helpful),
    harmful: Number(harmful),
    ignored: Number(ignored),
  };
}

export function stateFromRow(row: Row): NoteState {
  const { id, version, embeddingModel } = row;
  return {
    id: String(id),
    version: Number(version),
    embeddingModel: embeddingModel === null ? undefined : String(embeddingModel),
    outcomes: outcomesFromRow(row),
  };
}

/** The vectors of a row; undefined where it has none or they cannot be read. Errors: `ENCRYPTION_KEY_MISSING`. */
export function vectorsFromRow(row: Row, cipher: Cipher | undefined): NoteVectors | undefined {
  const { id, vectorModel: modelId, vectorKey, lessonVector: lesson, situationVector } = row;
  if (typeof modelId !== 'string' || !(lesson instanceof Uint8Array)) return undefined;
  const keyId = typeof vectorKey === 'string' ? vectorKey : null;
  const situation = situationVector instanceof Uint8Array ? situationVector : null;
  return openVectors(cipher, String(id), { modelId, keyId, lesson, situation });
}

/** Columns of the texts: themselves, or sealed beside empty ones. They go over those of `noteParameters`. */
export function textColumns(cipher: Cipher | undefined, note: NoteWrite): Parameters {
  const sealed = sealTexts(cipher, note);
  if (sealed === undefined) return { keyId: null, sealed: null };
  const empty = { lesson: '', correction: '', wrongAnswer: '', searched: '' };
  return { ...empty, keyId: sealed.keyId, sealed: sealed.bytes };
}

/** Column values of a note's content: all but id, version, model and outcome counts. */
export function noteParameters(note: NoteWrite): Parameters {
  const { attributes, sources, supportCount, findings, expiresAt, reviewAfter } = note;
  const { supersedes, supersededBy, mergeCandidate, contestedBy, anchors, review } = note;
  return {
    id: note.id,
    namespace: note.namespace,
    taskType: note.taskType,
    status: note.status,
    impact: note.impact,
    risk: riskRank(note),
    createdAt: note.createdAt,
    updatedAt: note.updatedAt,
    openedAt: openedAtOf(note),
    lesson: note.lesson,
    correction: note.correction,
    wrongAnswer: note.wrongAnswer,
    rest: JSON.stringify({
      attributes,
      sources,
      supportCount,
      findings,
      expiresAt,
      reviewAfter,
      supersedes,
      supersededBy,
      mergeCandidate,
      contestedBy,
      anchors,
      review,
    }),
    searched: searchedText(note),
  };
}

/** Replaces what the attribute and author filters look up. */
export function writeFacets(db: SqliteDatabase, seq: unknown, note: NoteWrite, isNew: boolean): void {
  if (!isNew) db.run('DELETE FROM note_facets WHERE note = @seq', { seq });
  const insert =
    'INSERT OR IGNORE INTO note_facets (kind, key, value, note) VALUES (@kind, @key, @value, @seq)';
  for (const [key, value] of Object.entries(note.attributes)) {
    db.run(insert, { kind: 'attribute', key, value, seq });
  }
  for (const { author } of note.sources) {
    if (author !== undefined) db.run(insert, { kind: 'author', key: '', value: author, seq });
  }
  for (const { kind, ref } of note.anchors ?? []) {
    db.run(insert, { kind: 'anchor', key: kind, value: ref, seq });
  }
}

/** Adds or replaces vectors of their model; those of other models stay. */
export function writeVectors(db: SqliteDatabase, seq: unknown, vectors: VectorBytes): void {
  db.run(
    `INSERT INTO note_vectors (note, model_id, key_id, lesson, situation) VALUES (@seq, @modelId, @keyId, @lesson, @situation)
     ON CONFLICT (note, model_id) DO UPDATE SET key_id = excluded.key_id, lesson = excluded.lesson, situation = excluded.situation`,
    { ...vectors, seq },
  );
}

/** Of every model. */
export function dropAllVectors(db: SqliteDatabase, seq: unknown): void {
  db.run('DELETE FROM note_vectors WHERE note = @seq', { seq });
}

/** Parsed JSON object, or undefined where the text is none. */
export function parseObject(json: unknown): Row | undefined {
  if (typeof json !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Row) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
