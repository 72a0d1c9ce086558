/** What a rule is there for, and its nearest harmless neighbour. */
export interface RuleExamples {
  readonly match: string;
  /** Much the same words, and nothing wrong. */
  readonly pass: string;
}

/** One thing that the screen looks for. Patterns run on folded text (see `fold-text.ts`): lower case, no accents. */
export interface InjectionRule {
  /** Stable dotted id, `injection.…`. */
  readonly id: string;
  /** Shown to the reviewer. */
  readonly reason: string;
  readonly pattern: RegExp;
  /** Tried by `test/guard/rule-examples.test.ts`. */
  readonly examples: RuleExamples;
  /** Also tried on decoded payloads and on the fields joined: orders, not mere shapes. */
  readonly order: boolean;
}
