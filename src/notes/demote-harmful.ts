import { transition } from '../domain/lifecycle.js';
import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import { wilson } from '../domain/wilson.js';
import type { Keyset } from '../ports/note-store.js';
import { changeNote } from './change-note.js';
import type { WriteContext } from './note-deps.js';

const RULE = 'outcome.harmful';
const JUDGE = { name: 'outcomes', roles: [] } as const;
/** Actions by which a reviewer has said that the note may stand, whatever came before. */
const STANDS = new Set(['approved', 'kept', 'replaced', 'restored']);

interface Verdicts {
  readonly harmful: number;
  readonly total: number;
}

/**
 * Takes an active note out of retrieval and before a reviewer once it is likely that too many of its uses do harm: when the
 * lower Wilson bound of the harmful share crosses `policy.harmLimit`. Verdicts from before a reviewer's approval of a note that
 * was demoted already do not count again. Gives whether the note was demoted.
 */
export async function demoteIfHarmful(
  context: WriteContext,
  namespace: string,
  id: NoteId,
): Promise<boolean> {
  const note = await context.store.notes.get(namespace, id);
  if (note === undefined || note.status !== 'ACTIVE') return false;
  const verdicts = await verdictsOf(context, note);
  const { low } = wilson(verdicts.harmful, verdicts.total);
  if (low <= context.policy.harmLimit) return false;
  const reason = `${verdicts.harmful} of ${verdicts.total} verdicts were harmful: at least ${Math.floor(low * 100)}% of uses, with 95% confidence`;
  let demoted = false;
  await changeNote(context, {
    caller: JUDGE,
    namespace,
    id,
    change: (before) => {
      demoted = before.status === 'ACTIVE';
      if (!demoted) return undefined;
      const others = before.findings.filter(({ rule }) => rule !== RULE);
      return {
        set: {
          status: transition(before.status, 'demote'),
          findings: [...others, { rule: RULE, field: 'outcomes', reason }],
        },
        action: 'demoted',
        reason,
      };
    },
  });
  if (demoted) await context.catchUp();
  return demoted;
}

async function verdictsOf(context: WriteContext, note: FeedbackNote): Promise<Verdicts> {
  if (note.findings.some(({ rule }) => rule === RULE)) return verdictsSinceApproval(context, note);
  const { helpful, harmful, ignored } = note.outcomes;
  return { harmful, total: helpful + harmful + ignored };
}

/** From the note's history, newest first, as far as the reviewer's last word. */
async function verdictsSinceApproval({ store }: WriteContext, note: FeedbackNote): Promise<Verdicts> {
  let [harmful, total] = [0, 0];
  let after: Keyset | undefined;
  for (;;) {
    const page = await store.audit.list(
      [note.namespace],
      { noteId: note.id },
      { limit: LIMITS.pageSize, after },
    );
    for (const { action, changes } of page.items) {
      if (STANDS.has(action)) return { harmful, total };
      if (action !== 'outcome') continue;
      total += 1;
      if (changes.includes('verdict: HARMFUL')) harmful += 1;
    }
    after = page.keysets.at(-1);
    if (!page.hasNext || after === undefined) return { harmful, total };
  }
}
