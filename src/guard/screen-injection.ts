import type { Finding } from '../domain/note.js';
import { decodePayloads } from './decode-payloads.js';
import { foldText, joinSpacedLetters } from './fold-text.js';
import { findHiddenText } from './hidden-text.js';
import type { InjectionRule } from './injection-rule.js';
import { INJECTION_RULES } from './injection-rules.js';
import { matchSentences } from './injection-sentences.js';
import type { OrderClassifier } from './order-classifier.js';

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

/**
 * Screens the fields of one note: each field by every rule, what it hides, what it encodes, and the fields joined in both
 * directions, for orders that are split across them; where no rule fires, by the trained classifier. Pure; linear in the
 * total length.
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
  const doubt = (folded: string, field: string): void => {
    const score = classifier?.score(folded);
    if (score?.doubted === true) add(TRAINED_RULE, field, score.reason);
  };
  const plainTexts: string[] = [];
  for (const field of fields) {
    const text = field.text ?? field.raw;
    for (const hidden of findHiddenText(field.raw)) {
      add(hidden.rule, field.name, hidden.reason, hidden.quarantine);
    }
    const plain = foldText(text);
    plainTexts.push(plain);
    const joined = joinSpacedLetters(plain);
    const matched = INJECTION_RULES.filter(
      ({ pattern }) => pattern.test(plain) || (joined !== undefined && pattern.test(joined)),
    );
    for (const rule of matched) {
      add(rule.id, field.name, rule.reason);
    }
    for (const rule of matched.length > 0 ? [] : matchSentences(plain)) {
      add(rule.id, field.name, rule.reason);
    }
    if (!quarantine) doubt(plain, field.name);
    for (const decoded of decodePayloads(text)) {
      const folded = foldText(decoded.text);
      const rule = ORDER_RULES.find((order) => !matched.includes(order) && order.pattern.test(folded));
      if (rule !== undefined) {
        add(
          `injection.encoded.${decoded.encoding}`,
          field.name,
          `${rule.reason}, encoded as ${decoded.encoding}`,
        );
      } else if (!quarantine) doubt(folded, field.name);
    }
  }
  if (!quarantine && fields.length > 1) {
    for (const joined of [plainTexts.join(' '), plainTexts.toReversed().join(' ')]) {
      for (const rule of ORDER_RULES.filter(({ pattern }) => pattern.test(joined))) {
        add(rule.id, 'fields together', `${rule.reason}, split across fields`);
      }
    }
    if (!quarantine) doubt(plainTexts.join(' '), 'fields together');
  }
  return { verdict: quarantine ? 'quarantine' : 'clean', findings: [...findings.values()] };
}
