import type { Instant } from './note.js';

export interface ModelChoice {
  /** As `errata models list` names it. */
  readonly name: string;
  /** Id of its vectors. */
  readonly modelId: string;
}

/** Which model an installation answers with; every process follows it. */
export interface ServedModel extends ModelChoice {
  /** What `errata models rollback` goes back to; its vectors are kept. */
  readonly previous?: ModelChoice | undefined;
  /** Models before that one whose vectors are still there. */
  readonly earlier?: readonly ModelChoice[] | undefined;
  readonly switchedAt: Instant;
}

/** Models whose vectors stand beside those in use. */
export function heldModels({ previous, earlier = [] }: ServedModel): readonly ModelChoice[] {
  return [...(previous === undefined ? [] : [previous]), ...earlier];
}

/** Name of the setting that holds it, as JSON. Absent: the model of the configuration. */
export const SERVED_MODEL = 'served-model';
