import { ErrataError } from '../../domain/errors.js';
import type { NoteId } from '../../domain/note.js';

export function noteNotFound(id: NoteId): ErrataError {
  return new ErrataError('NOTE_NOT_FOUND', `Expected a note with id ${id} in the namespace, received none`);
}

export function versionConflict(id: NoteId, expected: number, actual: number): ErrataError {
  const message = `Expected version ${expected} of note ${id}, received ${actual}: someone else changed it; read it again`;
  return new ErrataError('VERSION_CONFLICT', message, { details: { expected, actual } });
}
