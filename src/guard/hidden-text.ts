/** Something in raw text that a reader does not see. `quarantine: false` is told to the reviewer but changes nothing. */
export interface HiddenText {
  readonly rule: string;
  readonly reason: string;
  readonly quarantine: boolean;
}

/** A flag such as Scotland's is a black flag with tag letters and an end tag: the one good use of tag characters. */
const FLAG = /\u{1F3F4}[\u{E0061}-\u{E007A}\u{E0030}-\u{E0039}]{2,6}\u{E007F}/gu;
const TAG = /[\u{E0000}-\u{E007F}]/u;
const BIDI_OVERRIDE = /[\u202A\u202B\u202D\u202E]/u;
const BIDI_ISOLATE = /[\u2066-\u2069]/u;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/** Zero width space, word joiner and its kin, Mongolian vowel separator, byte order mark; in and out of words. */
const ZERO_WIDTH = /[\u200B\u2060-\u2064\u180E\uFEFF\u206A-\u206F]/gu;
/** Between letters of scripts that do not use them: joiners are spelling in Arabic and Indic scripts and in emoji. */
const IN_WORD =
  /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d][\u200B-\u200D\u2060-\u2064\u180E\uFEFF\u206A-\u206F]{1,64}[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d]/u;
/** Two variation selectors in a row mean data, not glyph choice. */
const SELECTOR_RUN = /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{2}/u;
/** Scripts that mark word boundaries with a zero width space. */
const SPACELESS_SCRIPT =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

/**
 * Looks at raw text, before canonicalisation removes the evidence. A single stray zero width space or a leading byte order
 * mark, as web pages leave them in copied text, is only noted. Linear.
 */
export function findHiddenText(raw: string): readonly HiddenText[] {
  const text = raw.startsWith('\uFEFF') ? raw.slice(1) : raw;
  const found: HiddenText[] = [];
  if (TAG.test(text.replace(FLAG, ''))) {
    found.push(hide('tag-characters', 'Holds tag characters, which show nothing but are read'));
  }
  if (BIDI_OVERRIDE.test(text) || (BIDI_ISOLATE.test(text) && !RIGHT_TO_LEFT.test(text))) {
    found.push(hide('bidi', 'Changes the direction of text, so that it reads otherwise than it is'));
  }
  if (SELECTOR_RUN.test(text)) {
    found.push(hide('variation-selectors', 'Holds runs of variation selectors, which can carry hidden data'));
  }
  const zeroWidth = SPACELESS_SCRIPT.test(text) ? 0 : (text.match(ZERO_WIDTH)?.length ?? 0);
  if (IN_WORD.test(text) || zeroWidth >= 3) {
    found.push(hide('zero-width', 'Holds zero-width characters inside words or many of them'));
  } else if (zeroWidth > 0) {
    found.push({
      rule: 'text.invisible-removed',
      reason: 'Invisible characters were removed',
      quarantine: false,
    });
  }
  return found;
}

const hide = (name: string, reason: string): HiddenText => ({
  rule: `injection.hidden.${name}`,
  reason,
  quarantine: true,
});
