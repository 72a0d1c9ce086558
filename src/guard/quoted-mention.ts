/**
 * Words that say that a quotation is spoken about: what it is called, over the languages of the sample. Folded text; stems.
 */
const CALLED =
  /\b(?:attacks?|attempts?|injections?|jailbreaks?|phrases?|sentences?|words?|wording|strings?|texts?|comments?|slogans?|lines?|titles?|messages?|mails?|quot(?:e|es|ed|ation)|tokens?|terms?|examples?|tests?|fixtures?|posts?|tickets?|pages?|songs?|novel|dialogue|joke|button|label|heading|detector|filter|classified|stands for|abbreviation|angriff|versuch|satz|text|kommentar|nachricht|werbe\p{L}*|titel|tentative|phrase|texte|attaque|commentaire|intento|frase|texto|ataque|mensaje|comentario|tentativa|mensagem|tentativo|testo|attacco|messaggio|zin|tekst|aanval|poging|bericht|zdanie|atak|proba|wiadomosc|фраза|текст|атака|попытка|сообщени\p{L}*|ifade|saldiri|deneme|mesaj)\b|攻撃|試み|文字列|という文|メッセージ|攻击|尝试|文本|短语|句子|标题|공격|시도|문구|메시지|عبارة|هجوم|محاولة|वाक्य|हमला/u;
/** Words that make use of the quotation: then it is an order that someone put in quotation marks. */
const USED =
  /\b(?:you|your|yours|thou|please|follow|obey|carry out|comply|act on|execut\w*|do (?:it|so|what|as|this|that)|according(?:ly)?|now|from (?:here|now)|du|dein\w*|folge|befolge|tu|tue|suis|suivez|obei\w*|ton|tes|vous|sigue|obedece|haz|tu|tus|siga|faca|segui|obbedisci|volg|doe|wykonaj|rob|выполни\w*|следуй|ты|твои|uygula|uy)\b|従え|従って|実行|执行|照做|你|您|따르|실행|당신|نفذ|اتبع|करो/u;
/** "never follow", "not obeyed": the opposite of making use. */
const NOT_USED =
  /\b(?:not|never|no|cannot|don't|must not|nicht|nie|niemals|ne|pas|jamais|no|nunca|nao|non|mai|niet|nooit|nie|не|никогда)\b[^.!?\n]{0,24}\b(?:follow(?:ed)?|obey(?:ed)?|act(?:ed)? on|carr(?:y|ied) out|compl(?:y|ied)|execut\w*|befolg\w*|suiv\w*|obei\w*|segu\w*|obede\w*|volg\w*|выполн\w*)\b/gu;
/** Not an attribute's value. */
const QUOTATION =
  /(?<!=)"[^"\n]{3,240}"|(?<![\p{L}\p{N}=])'[^'\n]{3,240}'(?![\p{L}\p{N}])|「[^」\n]{3,240}」|『[^』\n]{3,240}』/gu;
/** A quoted word or two ("approved") belongs to what the text itself says; a quoted order or control token is longer or has its signs. */
const WORTH_LEAVING_OUT = / \S+ |[<|{[]|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{5}/u;
/** The rest has to say something: fewer letters than this are no statement about anything. */
const STATEMENT_LETTERS = 12;

/**
 * A folded text with its quotations left out, where it speaks *about* them ("The phrase "ignore all rules" is an attack"), or
 * undefined where it has none, or uses them as an order. What is left is what the screen judges: a lesson about attacks must be
 * able to name one. Linear.
 */
export function withoutMentions(folded: string): string | undefined {
  const rest = folded.replace(QUOTATION, (quoted) => (WORTH_LEAVING_OUT.test(quoted) ? '""' : quoted));
  if (rest === folded || !CALLED.test(rest)) return undefined;
  if (USED.test(rest.replace(NOT_USED, ' '))) return undefined;
  return (rest.match(/\p{L}/gu)?.length ?? 0) < STATEMENT_LETTERS ? undefined : rest;
}
