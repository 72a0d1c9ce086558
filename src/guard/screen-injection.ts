import type { Finding } from '../domain/note.js';
import { decodePayloads } from './decode-payloads.js';
import { foldText } from './fold-text.js';
import { findHiddenText } from './hidden-text.js';
import type { InjectionRule } from './injection-rule.js';
import { INJECTION_RULES } from './injection-rules.js';
import { matchSentences } from './injection-sentences.js';
import { type OrderClassifier, partsOf } from './order-classifier.js';
import { withoutMentions } from './quoted-mention.js';
import { hidesOrder, unmaskText } from './unmask-text.js';

/** `quarantine`: a reviewer has to look before the note goes live. A doubt never bins a note. */
export interface ScreenVerdict {
  readonly verdict: 'clean' | 'quarantine';
  /** One a rule and field. Clean texts can have notices, such as removed invisible characters. */
  readonly findings: readonly Finding[];
}

export interface ScreenField {
  readonly name: string;
  /** As it came in: hidden characters are looked for here. */
  readonly raw: string;
  /** Cleaned and redacted; the raw text where absent. */
  readonly text?: string | undefined;
}

const ORDER_RULES: readonly InjectionRule[] = INJECTION_RULES.filter((rule) => rule.order);

/** The finding of the trained signal. Rules name what they saw; this one only says how sure it is. */
export const TRAINED_RULE = 'injection.trained';
/** A notice: the text speaks about a quoted order. */
const QUOTED_RULE = 'text.quoted-order';

/** What a field says with its disguises off: the form that is judged, here and in training. */
export function judgedText(text: string): string {
  const folded = foldText(text);
  return withoutMentions(folded) ?? folded;
}

/**
 * Screens the fields of one note: each field by every rule, what it hides, disguises or encodes, and the fields joined in both
 * directions, for orders that are split across them; where no rule fires, by the trained classifier. A quotation that the text
 * speaks about is left out, and told to the reviewer. Pure; linear in the total length.
 */
export function screenInjection(fields: readonly ScreenField[], classifier?: OrderClassifier): ScreenVerdict {
  const findings = new Map<string, Finding>();
  let quarantine = false;
  const add = (rule: string, field: string, reason: string, serious = true): void => {
    quarantine ||= serious;
    const key = `${rule}\n${field}`;
    if (!findings.has(key)) {
      findings.set(key, { rule, field, reason });
    }
  };
  const doubt = (folded: string, field: string, known?: ReadonlySet<string>): void => {
    const score = classifier?.score(folded, known);
    if (score?.doubted === true) add(TRAINED_RULE, field, score.reason);
  };
  const judged: string[] = [];
  for (const field of fields) {
    const text = field.text ?? field.raw;
    for (const hidden of findHiddenText(field.raw)) {
      add(hidden.rule, field.name, hidden.reason, hidden.quarantine);
    }
    const folded = foldText(text);
    const plain = withoutMentions(folded) ?? folded;
    judged.push(plain);
    const held = INJECTION_RULES.filter(({ pattern }) => pattern.test(folded));
    const matched = plain === folded ? held : held.filter(({ pattern }) => pattern.test(plain));
    for (const rule of matched.length > 0 ? matched : matchSentences(plain)) {
      add(rule.id, field.name, rule.reason);
    }
    for (const rule of held.filter((rule) => !matched.includes(rule))) {
      add(QUOTED_RULE, field.name, `${rule.reason}: only in a quotation`, false);
    }
    screenDisguises(plain, (reason) => add('injection.disguised', field.name, reason), classifier);
    if (!quarantine) doubt(plain, field.name);
    for (const decoded of decodePayloads(text)) {
      const inner = foldText(decoded.text);
      const rule = ORDER_RULES.find((order) => !held.includes(order) && order.pattern.test(inner));
      if (rule !== undefined) {
        add(
          `injection.encoded.${decoded.encoding}`,
          field.name,
          `${rule.reason}, encoded as ${decoded.encoding}`,
        );
      } else if (!quarantine) doubt(withoutMentions(inner) ?? inner, field.name);
    }
  }
  if (!quarantine && fields.length > 1) {
    for (const joined of [judged.join(' '), judged.toReversed().join(' ')]) {
      for (const rule of ORDER_RULES.filter(({ pattern }) => pattern.test(joined))) {
        add(rule.id, 'fields together', `${rule.reason}, split across fields`);
      }
    }
    if (!quarantine) doubt(judged.join(' '), 'fields together', new Set(judged.flatMap(partsOf)));
  }
  return { verdict: quarantine ? 'quarantine' : 'clean', findings: [...findings.values()] };
}

/** Rules and classifier on what the text reads like without its disguises; a disguised order is one whatever else it says. */
function screenDisguises(
  folded: string,
  add: (reason: string) => void,
  classifier: OrderClassifier | undefined,
): void {
  for (const { disguise, text } of unmaskText(folded)) {
    const rule = ORDER_RULES.find(({ pattern }) => pattern.test(text)) ?? matchSentences(text)[0];
    if (rule !== undefined) add(`${rule.reason}, ${disguise}`);
    else {
      const score = classifier?.score(text);
      if (score?.doubted === true) add(`${score.reason}; ${disguise}`);
    }
  }
  if (hidesOrder(folded)) add('Orders a model to drop its instructions, in words taken apart');
}
