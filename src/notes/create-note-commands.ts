import { ErrataError } from '../domain/errors.js';
import { silentLogger } from '../ports/logger.js';
import type { NoteCommands, SubmitResult } from '../ports/use-cases.js';
import { deprecateBySource } from './deprecate-by-source.js';
import { deprecateNotes, restoreNotes } from './deprecate-restore.js';
import { createNoteEmbedder } from './embed-notes.js';
import { eraseNote } from './erase-note.js';
import { KeyedMutex } from './keyed-mutex.js';
import { DEFAULT_WRITE_POLICY, type NoteCommandDeps, type WriteContext } from './note-deps.js';
import type { PreparedCorrection } from './prepare-correction.js';
import { recordAnswer } from './record-answer.js';
import { recordOutcome } from './record-outcome.js';
import { restoreVersion } from './restore-version.js';
import { reviewNote } from './review-note.js';
import { judgeInputs, refusal, storeCorrections } from './submit-batch.js';

/**
 * The write path. Submissions of one (namespace, task type) are judged one after another within this process, so that of
 * two near duplicates the second sees the first. Across processes the index is brought up to the store right before the
 * look-up; what another process writes between look-up and insert is found in the change log afterwards, by whoever came
 * later (`settle-races.ts`). Identical corrections are one: their id is.
 */
export function createNoteCommands(deps: NoteCommandDeps): NoteCommands {
  const context: WriteContext = {
    ...deps,
    policy: { ...DEFAULT_WRITE_POLICY, ...deps.policy },
    logger: deps.logger ?? silentLogger,
    locks: deps.locks ?? new KeyedMutex(),
  };
  const embed = createNoteEmbedder(deps.embedder);
  const logged = (result: SubmitResult): SubmitResult => {
    const note = result.note ?? result.duplicateOf;
    context.logger.debug(
      {
        outcome: result.outcome,
        noteId: note?.id,
        namespace: note?.namespace,
        rules: result.findings.map(({ rule }) => rule),
      },
      'correction submitted',
    );
    return result;
  };
  return {
    async submit(caller, input) {
      const [judged] = judgeInputs(context, caller, [input]);
      if (judged === undefined || judged instanceof ErrataError) {
        throw judged ?? new TypeError('Expected one judged input, received none');
      }
      const [result] = await storeCorrections(context, embed, caller, [judged]);
      if (result === undefined) {
        throw new TypeError('Expected one result a correction, received none');
      }
      return logged(result);
    },
    async submitMany(caller, inputs) {
      const judged = judgeInputs(context, caller, inputs);
      const valid = judged.filter((entry): entry is PreparedCorrection => !(entry instanceof ErrataError));
      const stored = (await storeCorrections(context, embed, caller, valid)).values();
      return judged.map((entry) => {
        if (entry instanceof ErrataError) {
          return logged(refusal(entry));
        }
        const next = stored.next();
        if (next.done === true) {
          throw new TypeError('Expected one result a correction, received fewer');
        }
        return logged(next.value);
      });
    },
    review: (caller, input) => reviewNote(context, embed, caller, input),
    deprecate: (caller, namespace, ids, reason) =>
      deprecateNotes(context, { caller, namespace, ids, reason }),
    restore: (caller, namespace, ids, reason) => restoreNotes(context, { caller, namespace, ids, reason }),
    restoreVersion: (caller, namespace, id, version, reason) =>
      restoreVersion(context, { caller, namespace, id, version, reason }),
    deprecateBySource: (caller, request) => deprecateBySource(context, caller, request),
    recordOutcome: (caller, receiptId, noteId, verdict, comment) =>
      recordOutcome(context, { caller, receiptId, noteId, verdict, comment }),
    recordAnswer: (caller, receiptId, correct, comment) =>
      recordAnswer(context, { caller, receiptId, correct, comment }),
    erase: (caller, namespace, id, reason) => eraseNote(context, caller, namespace, id, reason),
  };
}
