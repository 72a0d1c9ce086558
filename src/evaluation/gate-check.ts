/** One rule of a gate and what it found. */
export interface GateCheck {
  readonly name: string;
  readonly ok: boolean;
  /** One line: what was allowed and what was found. */
  readonly text: string;
}
