import { shareDifference } from '../domain/newcombe.js';
import type { NoteId } from '../domain/note.js';
import type { Trial } from '../domain/trial.js';
import { wilson } from '../domain/wilson.js';
import type { Store } from '../ports/note-store.js';
import type { EffectReport, NoteEffect } from '../ports/use-cases.js';

/** Settled trials that one report reads, newest first; at a share of 1% that is five million answers. */
const MAX_TRIALS = 100_000;

/** What serving notes does to the share of right checks, over the namespace and for the notes with most trials. */
export async function noteEffects(store: Store, namespace: string, first: number): Promise<EffectReport> {
  const trials = await store.trials.settled(namespace, MAX_TRIALS);
  const byNote = new Map<NoteId, Trial[]>();
  for (const trial of trials) byNote.set(trial.noteId, [...(byNote.get(trial.noteId) ?? []), trial]);
  const most = [...byNote].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  return {
    all: effectOf(trials),
    notes: most.slice(0, first).map(([noteId, own]) => ({ noteId, ...effectOf(own) })),
    truncated: trials.length === MAX_TRIALS,
  };
}

function effectOf(trials: readonly Trial[]): NoteEffect {
  const side = (withheld: boolean) => {
    const own = trials.filter((trial) => trial.withheld === withheld);
    return wilson(own.filter(({ correct }) => correct === true).length, own.length);
  };
  const [served, withheld] = [side(false), side(true)];
  return { served, withheld, effect: shareDifference(served, withheld) };
}
