/**
 * Words that turn a statement around, by language: English, German, French, Spanish, Portuguese. Without the French "ne",
 * which only ever stands beside one of the others.
 */
export const NEGATIONS: ReadonlySet<string> = new Set(
  `not no never none nothing nobody neither nor cannot without except unless hardly n't
   nicht kein keine keinen keinem keiner keines nie niemals ohne nichts weder außer
   pas jamais aucun aucune sans ni rien sauf
   nunca jamás sin ningún ninguna ninguno nada excepto salvo tampoco
   não nunca jamais sem nenhum nenhuma exceto`.split(/\s+/u),
);
/** Negation without word boundaries. */
export const JAPANESE_NEGATION =
  /(?:し|で|く|ら|わ|か|が|さ|な|ま|れ|せ|べ|め|け|え|ば|た)?(?:ない|ません|ませぬ|なく|なかった|なけれ|ず(?=[、にる])|禁止|不要|不可|無効)/gu;

/** Opposites, positive first: one text saying the first where the other says the second is a reversal. */
const OPPOSITES: readonly (readonly [string, string])[] = [
  ['always|immer|toujours|siempre|sempre', 'never|nie|niemals|jamais|nunca|jamás'],
  [
    'allow|allows|allowed|permit|permits|permitted|erlaubt|zulässig|autorisé|permis|permitido|permite',
    'forbid|forbids|forbidden|prohibit|prohibits|prohibited|disallowed|verboten|unzulässig|interdit|prohibido|proibido',
  ],
  [
    'safe|sicher|sûr|seguro|segura',
    'unsafe|dangerous|unsicher|gefährlich|dangereux|inseguro|peligroso|perigoso',
  ],
  ['valid|gültig|valide|válido|válida', 'invalid|ungültig|invalide|inválido|inválida'],
  [
    'enable|enables|enabled|aktivieren|aktiviert|activer|activar|ativar',
    'disable|disables|disabled|deaktivieren|deaktiviert|désactiver|desactivar|desativar',
  ],
  [
    'include|includes|including|included|inklusive|einschließlich|inclus|incluye|incluido|inclui|incluído',
    'exclude|excludes|excluding|excluded|exklusive|ausschließlich|exclu|excluye|excluido|exclui|excluído',
  ],
  [
    'accept|accepts|accepted|akzeptieren|accepter|aceptar|aceitar',
    'reject|rejects|rejected|refuse|refused|ablehnen|abgelehnt|rejeter|refuser|rechazar|rejeitar|recusar',
  ],
  ['true|wahr|vrai|verdadero|verdadeiro', 'false|falsch|faux|falso'],
  ['before|vor|vorher|avant|antes', 'after|nach|nachher|après|después|depois'],
  ['minimum|min|least|mindestens|mindest|minimal|mínimo', 'maximum|max|most|höchstens|höchst|maximal|máximo'],
  [
    'above|over|more|greater|über|mehr|größer|plus|más|mayor|mais|maior',
    'below|under|less|fewer|smaller|unter|weniger|kleiner|moins|menos|menor',
  ],
  ['with|mit|avec|con|com', 'without|ohne|sans|sin|sem'],
  [
    'required|mandatory|must|needed|erforderlich|pflicht|obligatoire|requis|obligatorio|requerido|obrigatório',
    'optional|unnecessary|freiwillig|facultatif|opcional|facultativo',
  ],
  [
    'affected|vulnerable|betroffen|verwundbar|affecté|vulnérable|afectado|afetado|vulnerável',
    'unaffected|immune|unbetroffen|patched|fixed|gepatcht|behoben|corrigé|corregido|corrigido',
  ],
  [
    'keep|keeps|kept|behalten|garder|mantener|conservar|manter',
    'remove|removes|removed|delete|deleted|drop|entfernen|löschen|supprimer|eliminar|borrar|remover|apagar',
  ],
  [
    'increase|increases|raise|erhöhen|steigt|augmenter|aumentar',
    'decrease|decreases|reduce|lower|senken|sinkt|réduire|diminuer|reducir|disminuir|reduzir|diminuir',
  ],
  ['public|öffentlich|público', 'private|privat|privé|privado'],
  ['positive|positiv|positif|positivo', 'negative|negativ|négatif|negativo'],
];
interface Opposite {
  readonly pair: number;
  readonly sign: 1 | -1;
}
/** By word: which pair of opposites it belongs to, and on which side it stands. */
export const OPPOSITE_OF: ReadonlyMap<string, Opposite> = new Map<string, Opposite>(
  OPPOSITES.flatMap(([positive, negative], pair) => [
    ...positive.split('|').map((word) => [word, { pair, sign: 1 as const }] as const),
    ...negative.split('|').map((word) => [word, { pair, sign: -1 as const }] as const),
  ]),
);

/** What stands after one of these is what the text turns away from. */
const CONTRAST =
  /\b(?:instead of|rather than|as opposed to|in place of|anstatt|anstelle von|statt|au lieu d[e']|plutôt que|en lugar de|en vez de|em vez de|ao invés de)(?!\p{L})|ではなくて?|の代わりに/u;

interface Polarity {
  readonly negations: number;
  readonly signs: ReadonlyMap<number, number>;
}

/**
 * Whether two close texts say the same way round. They do not when one has more negations than the other, when one uses an
 * opposite of the other's word, or when they prefer what the other turns away from ("X instead of Y", "Y instead of X").
 * Two negations against none count as a difference too: a reviewer is asked rather than logic guessed. Linear.
 */
export function polarityAgrees(a: string, b: string): boolean {
  const [left, right] = [polarityOf(a), polarityOf(b)];
  if (left.negations !== right.negations) {
    return false;
  }
  for (const [pair, sign] of left.signs) {
    if (sign * (right.signs.get(pair) ?? 0) < 0) {
      return false;
    }
  }
  return !swapsContrast(a, b) && !reordersWords(a, b);
}

function polarityOf(text: string): Polarity {
  const words = wordsOf(text);
  const japanese = text.match(JAPANESE_NEGATION)?.length ?? 0;
  const negations = words.filter((word) => NEGATIONS.has(word)).length + japanese;
  const signs = new Map<number, number>();
  for (const word of words) {
    const opposite = OPPOSITE_OF.get(word);
    if (opposite !== undefined) {
      signs.set(opposite.pair, (signs.get(opposite.pair) ?? 0) + opposite.sign);
    }
  }
  return { negations, signs };
}

/** Lower-case words; `can't` gives `ca` and `n't`, so that every contraction counts as one negation. */
export function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      .replace(/n['’]t\b/gu, " n't")
      .match(/n't|[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/** Whether each prefers what the other turns away from. Linear. */
export function swapsContrast(a: string, b: string): boolean {
  const [left, right] = [contrastOf(a), contrastOf(b)];
  if (left === undefined || right === undefined) {
    return false;
  }
  const shared = (x: ReadonlySet<string>, y: ReadonlySet<string>): number =>
    [...x].filter((word) => y.has(word)).length;
  return (
    shared(left.away, right.towards) + shared(left.towards, right.away) >
    shared(left.away, right.away) + shared(left.towards, right.towards)
  );
}

function contrastOf(text: string): { towards: ReadonlySet<string>; away: ReadonlySet<string> } | undefined {
  const match = CONTRAST.exec(text.toLowerCase());
  if (match === null) {
    return undefined;
  }
  const after = text.slice(match.index + match[0].length).split(/[.;:,。、]/u)[0] ?? '';
  const before =
    text
      .slice(0, match.index)
      .split(/[.;:。]/u)
      .at(-1) ?? '';
  return { towards: new Set(wordsOf(before).slice(-6)), away: new Set(wordsOf(after).slice(0, 6)) };
}

/** The same words in another order can say the opposite ("A before B"); the same words in the same order cannot. */
export function reordersWords(a: string, b: string): boolean {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  return (
    left.length > 2 &&
    left.join(' ') !== right.join(' ') &&
    left.toSorted().join(' ') === right.toSorted().join(' ')
  );
}
