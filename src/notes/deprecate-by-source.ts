import { requireGrant } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import type { NoteId } from '../domain/note.js';
import { checkNamespace } from '../domain/validate-correction.js';
import type { SourceFilter } from '../ports/note-store.js';
import type { DeprecationReport } from '../ports/use-cases.js';
import { cleanReason } from './clean-reason.js';
import { deprecateNotes } from './deprecate-restore.js';
import { checkSourceFilter, findInfluence, notesOf } from './find-influence.js';
import type { WriteContext } from './note-deps.js';

const LIVE = ['ACTIVE', 'PENDING', 'QUARANTINED'] as const;
/** More batches than this would mean that notes come in as fast as they are taken out. */
const MAX_BATCHES = 1_000;

export interface SourceDeprecation {
  readonly namespace: string;
  readonly source: SourceFilter;
  readonly reason: string;
  readonly dryRun: boolean;
}

/**
 * Takes everything out of service that came from one author, import or other source, and says how many answers it had a part
 * in. Notes that other sources support go too: whoever wants to keep one restores it. Repeating it after a crash goes on.
 *
 * Errors: `INVALID_INPUT` for an empty selection; those of `deprecateNotes`.
 */
export async function deprecateBySource(
  context: WriteContext,
  caller: Caller,
  { source, reason, dryRun, namespace }: SourceDeprecation,
): Promise<DeprecationReport> {
  const scope = checkNamespace(namespace);
  requireGrant(caller, scope);
  const why = cleanReason(reason, context);
  checkSourceFilter(source);
  const filter = { source, statuses: LIVE };
  const matched = await context.store.notes.count([scope], filter);
  const chosen = await notesOf(context.store, scope, filter);
  const { answers } =
    chosen.ids.length === 0
      ? { answers: 0 }
      : await findInfluence(context.store, { namespace: scope, noteIds: chosen.ids }, 1);
  if (dryRun) return { dryRun, matched, deprecated: 0, noteIds: chosen.ids, answers };
  let deprecated = 0;
  let batch: readonly NoteId[] = chosen.ids;
  for (let round = 0; batch.length > 0 && round < MAX_BATCHES; round += 1) {
    await deprecateNotes(context, { caller, namespace: scope, ids: batch, reason: why });
    deprecated += batch.length;
    batch = (await notesOf(context.store, scope, filter)).ids;
  }
  return { dryRun, matched, deprecated, noteIds: chosen.ids, answers };
}
