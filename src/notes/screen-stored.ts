import type { FeedbackNote, Finding } from '../domain/note.js';
import { screenInjection } from '../guard/screen-injection.js';
import { newDoubts } from './new-doubts.js';
import type { WriteContext } from './note-deps.js';
import { screenByModel } from './screen-by-model.js';

type Screening = Pick<WriteContext, 'classifier' | 'screenModel' | 'logger'>;

/**
 * What today's screen doubts about a stored note that is to come back, whole or in an earlier state, and had not said of it when a
 * reviewer looked: rules, weights and models change while a note lies deprecated. Texts are stored clean, so hidden characters were
 * judged when they came in. Never throws for the model.
 */
export async function doubtsAboutStored(context: Screening, note: FeedbackNote): Promise<readonly Finding[]> {
  const { wrongAnswer, correction, lesson, attributes } = note;
  const { verdict, findings } = screenInjection(
    [
      ...Object.entries({ wrongAnswer, correction, lesson }).map(([name, raw]) => ({ name, raw })),
      ...Object.entries(attributes).map(([key, raw]) => ({ name: `attributes.${key}`, raw })),
    ],
    context.classifier,
  );
  const judged = { ...note, findings, quarantined: verdict === 'quarantine' };
  const [screened = judged] = await screenByModel(context, [judged]);
  return newDoubts(note, screened);
}
