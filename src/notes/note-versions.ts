import type { Anchor } from '../domain/anchor.js';
import type { AuditEvent } from '../domain/audit.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { Store } from '../ports/note-store.js';
import type { FieldChange, NoteVersionEntry } from '../ports/use-cases.js';
import { noteNotFound } from './change-note.js';

const describeAnchor = ({ kind, ref, state, changedTo }: Anchor): string =>
  `${kind} ${ref} ${state}${changedTo === undefined ? '' : ` (now ${changedTo})`}`;

const FIELDS: readonly [string, (note: FeedbackNote) => string | undefined][] = [
  ['status', (note) => note.status],
  ['impact', (note) => note.impact],
  ['supportCount', (note) => String(note.supportCount)],
  ['expiresAt', (note) => note.expiresAt],
  ['reviewAfter', (note) => note.reviewAfter],
  ['supersedes', (note) => note.supersedes.join(' ') || undefined],
  ['supersededBy', (note) => note.supersededBy],
  ['mergeCandidate', (note) => note.mergeCandidate?.noteId],
  ['contestedBy', (note) => note.contestedBy],
  ['anchors', (note) => note.anchors?.map(describeAnchor).join('; ') || undefined],
  ['findings', (note) => note.findings.map(({ rule }) => rule).join(' ') || undefined],
  ['embeddingModel', (note) => note.embeddingModel],
];
const TEXTS = ['lesson', 'correction', 'wrongAnswer'] as const;

/** What differs, field by field; an attribute is a field of its own. Texts only where `texts` says so: versions share them. */
export function diffNotes(before: FeedbackNote, after: FeedbackNote, texts = false): readonly FieldChange[] {
  const keys = [...new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)])].sort();
  const pairs: [string, string | undefined, string | undefined][] = [
    ...(texts ? TEXTS.map((field): [string, string, string] => [field, before[field], after[field]]) : []),
    ...FIELDS.map(([field, read]): [string, string | undefined, string | undefined] => [
      field,
      read(before),
      read(after),
    ]),
    ...keys.map((key): [string, string | undefined, string | undefined] => [
      `attributes.${key}`,
      before.attributes[key],
      after.attributes[key],
    ]),
  ];
  return pairs.flatMap(([field, from, to]) => (from === to ? [] : [{ field, before: from, after: to }]));
}

/**
 * A note's versions, newest first, each with what it changed and the audit event that says who and why. An edit makes a new
 * note: the first version of an edited one is compared with the note that it took over from, texts included.
 *
 * Errors: `NOTE_NOT_FOUND`.
 */
export async function noteVersions(
  store: Store,
  namespace: string,
  id: NoteId,
  first: number,
): Promise<readonly NoteVersionEntry[]> {
  const present = await store.notes.get(namespace, id);
  if (present === undefined) throw noteNotFound(1);
  // One more than shown: the oldest one shown wants something to be compared with.
  const states = [present, ...(await store.versions.past(namespace, id, first))];
  const events = await store.audit.getMany(states.slice(0, first).map(({ version }) => `${id}:${version}`));
  const byId = new Map(events.map((event) => [event.id, event]));
  const predecessor = await store.notes.get(namespace, present.supersedes[0] ?? '');
  return states.slice(0, first).map((note, index) => {
    const older = states[index + 1];
    const event = byId.get(`${id}:${note.version}`);
    return {
      note,
      ...describeEvent(event),
      changes:
        older !== undefined
          ? diffNotes(older, note)
          : note.version === 1 && predecessor !== undefined
            ? diffNotes(predecessor, note, true)
            : [],
    };
  });
}

function describeEvent(event: AuditEvent | undefined): Pick<NoteVersionEntry, 'action' | 'actor' | 'reason'> {
  return { action: event?.action, actor: event?.actor, reason: event?.reason };
}
