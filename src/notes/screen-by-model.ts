import { isErrataError } from '../domain/errors.js';
import type { Finding } from '../domain/note.js';
import type { WriteContext } from './note-deps.js';
import type { PreparedCorrection } from './prepare-correction.js';

/** Characters that a model of 512 tokens reads whole in most languages; longer fields are shown to it in parts. */
const PART_LENGTH = 1_200;
/** Beginning of each part that the one before has shown, too, so that no sentence is cut in two for good. */
const OVERLAP = 200;
/** The finding of the model, and of one that could not judge. */
export const MODEL_RULE = 'injection.model';
export const MODEL_FAILED_RULE = 'injection.model-failed';

type Fields = Pick<PreparedCorrection, 'wrongAnswer' | 'correction' | 'lesson'>;
/** What the rules have judged: a correction that comes in, or a stored note that comes back. */
type Screened = Fields & Pick<PreparedCorrection, 'id' | 'quarantined' | 'findings'>;

/**
 * Asks the screening model, where one is configured, about corrections that rules and trained classifier let pass: what it takes
 * for an attack with a probability of a half or more is quarantined. A model that fails leaves the verdict of the rules, with a
 * warning in the log and a finding at the note. Never throws for the model.
 */
export async function screenByModel<T extends Screened>(
  { screenModel, logger }: Pick<WriteContext, 'screenModel' | 'logger'>,
  corrections: readonly T[],
): Promise<readonly T[]> {
  const asked = corrections.filter(({ quarantined }) => !quarantined);
  if (screenModel === undefined || asked.length === 0) return corrections;
  const parts = asked.flatMap((prepared) => partsOf(prepared).map((part) => ({ ...part, id: prepared.id })));
  const findings = new Map<string, Finding>();
  try {
    const logOdds = await screenModel.attackLogOdds(parts.map(({ text }) => text));
    for (const [index, { id, field }] of parts.entries()) {
      const odds = logOdds[index] ?? Number.NaN;
      if (!(odds >= 0) || findings.has(id)) continue;
      const sure = Math.min(0.99, 1 / (1 + Math.exp(-odds))).toFixed(2);
      const reason = `Reads like an attack to the screening model ${screenModel.modelId} (${sure})`;
      findings.set(id, { rule: MODEL_RULE, field, reason });
    }
  } catch (error) {
    logger.warn({ error, model: screenModel.modelId }, 'screening model failed; the rules decide');
    const code = isErrataError(error) ? error.code : 'INTERNAL';
    const reason = `The screening model could not judge this (${code}); the rules let it pass`;
    return corrections.map((prepared) =>
      prepared.quarantined
        ? prepared
        : withFinding(prepared, { rule: MODEL_FAILED_RULE, field: 'lesson', reason }),
    );
  }
  return corrections.map((prepared) => {
    const finding = prepared.quarantined ? undefined : findings.get(prepared.id);
    return finding === undefined ? prepared : { ...withFinding(prepared, finding), quarantined: true };
  });
}

function withFinding<T extends Screened>(prepared: T, finding: Finding): T {
  return { ...prepared, findings: [...prepared.findings, finding] };
}

/** Every field, and all of them together where that is short: an order may be split. */
function partsOf({ lesson, correction, wrongAnswer }: Fields): readonly { field: string; text: string }[] {
  const fields = Object.entries({ lesson, correction, wrongAnswer });
  const together = fields.map(([, text]) => text).join(' ');
  return [
    ...fields.flatMap(([field, text]) => windows(text).map((part) => ({ field, text: part }))),
    ...(together.length <= PART_LENGTH ? [{ field: 'fields together', text: together }] : []),
  ];
}

function windows(text: string): readonly string[] {
  const parts: string[] = [];
  for (let from = 0; from === 0 || from + OVERLAP < text.length; from += PART_LENGTH - OVERLAP) {
    parts.push(text.slice(from, from + PART_LENGTH));
  }
  return parts;
}
