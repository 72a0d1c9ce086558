import type { Caller } from '../domain/api-key.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { Receipt, ReceiptNote, Retrieval, ScoredNote } from '../domain/retrieval.js';
import type { PersonalDataOptions } from '../guard/personal-data.js';
import { redactAttributes } from '../guard/redact-attributes.js';
import { createRedactor, queryDigest } from '../guard/redact-secrets.js';
import type { NamespaceScope, Store } from '../ports/note-store.js';
import type { ValidRequest } from './check-request.js';

/** What is kept of an answer: ids, versions and scores, no text; the query as a digest only, filters without secrets. */
export function toReceipt(
  retrieval: Retrieval,
  request: ValidRequest,
  caller: Caller,
  options: PersonalDataOptions,
): Receipt {
  return {
    ...retrieval,
    notes: retrieval.notes.map(toReceiptNote),
    candidates: retrieval.candidates.map(toReceiptNote),
    queryDigest: queryDigest(request.query, options),
    taskType: request.taskType,
    attributes: redactAttributes(request.attributes, createRedactor(options)),
    candidateK: request.candidateK,
    finalK: request.finalK,
    caller: caller.name,
  };
}

/** A stored answer with its notes as they are now; notes that were erased since are left out. */
export async function readReceipt(
  store: Store,
  scope: NamespaceScope,
  id: string,
): Promise<Retrieval | undefined> {
  const receipt = await store.receipts.get(id);
  if (receipt === undefined) return undefined;
  if (scope !== 'all' && !scope.includes(receipt.namespace)) return undefined;
  const ids = [...new Set([...receipt.notes, ...receipt.candidates].map(({ noteId }) => noteId))];
  const notes = await store.notes.getMany(receipt.namespace, ids);
  const byId = new Map(notes.map((note) => [note.id, note]));
  const {
    queryDigest: _digest,
    caller: _caller,
    taskType: _task,
    attributes: _attributes,
    candidateK: _k,
    finalK: _f,
    ...rest
  } = receipt;
  return { ...rest, notes: hydrate(receipt.notes, byId), candidates: hydrate(receipt.candidates, byId) };
}

function toReceiptNote({ note, ...scores }: ScoredNote): ReceiptNote {
  return { ...scores, noteId: note.id, version: note.version };
}

function hydrate(
  entries: readonly ReceiptNote[],
  byId: ReadonlyMap<NoteId, FeedbackNote>,
): readonly ScoredNote[] {
  return entries.flatMap(({ noteId, version: _version, ...scores }) => {
    const note = byId.get(noteId);
    return note === undefined ? [] : [{ ...scores, note }];
  });
}
