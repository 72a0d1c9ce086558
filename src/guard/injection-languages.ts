import type { InjectionRule } from './injection-rule.js';

const REASON = 'Orders a model to drop its instructions';

/** Override orders by language. Patterns see folded text: lower case, Latin letters without accents. */
const OVERRIDES: Readonly<Record<string, readonly string[]>> = {
  de: [
    '(?:ignorier(?:e|en sie)|missacht(?:e|en sie)|vergiss|vergessen sie) (?:bitte )?(?:jede[nrs]?|jegliche[nr]?) (?:bisherige[nr]?|vorherige[nr]?|fruhere[nr]?|obige[nr]?) (?:anweisung|instruktion|regel|vorgabe)(?:en)?',
    '(?:vergiss|vergessen sie|ignorier(?:e|en sie)) alles,? (?:was|bisherige|vorherige|obige|davor)',
    '(?:ignorier(?:e|en sie)|missacht(?:e|en sie)|vergiss|vergessen sie|uberschreib(?:e|en sie)) (?:(?:bitte|alle|den|deinen|deine|ihre|ihren|die) ){0,3}(?:system-?prompts?|systemanweisung(?:en)?|systemnachricht)',
    '\\b(?:ab jetzt|ab sofort|von nun an|ab nun) (?:bist du|sind sie|musst du|antwortest du|darfst du|wirst du)',
    '(?:ignorier(?:e|en sie|t)?|missacht(?:e|en sie)|vergiss|vergessen sie|verwirf|ubergeh(?:e|en sie)|uberschreib(?:e|en sie)) (?:bitte |sofort |jetzt |nun )?(?:(?:alle|alles|samtliche|die|deine|deinen|ihre|diese|meine|aller|was) ){0,4}(?:bisherigen?|vorherigen?|vorigen?|obigen?|fruheren?|vorangegangenen?|vorhergehenden?|ursprunglichen?|anfanglichen?|deine|ihre) (?:(?:und|oder|geltenden|bisherigen|vorherigen|system) ?){0,3}(?:anweisung(?:en)?|instruktion(?:en)?|befehle?|vorgaben?|regeln?|anordnungen|prompts?|systemanweisung(?:en)?)',
    '(?:befolge|beachte|folge) (?:(?:die|den|deine|deinen|alle|ihre) ){0,3}(?:bisherigen?|vorherigen?|obigen?|fruheren?) (?:anweisungen|instruktionen|regeln|vorgaben) nicht',
    '\\b(?:du bist|sie sind) (?:jetzt|nun|ab jetzt|ab sofort|von nun an) (?:ein|eine|der|die|kein|keine) (?:[\\p{L}-]+ ){0,3}(?:ki|assistent|modell|bot|agent|hacker|administrator)',
    '(?:zeig|zeige|nenne|verrate|gib|drucke)(?: mir| uns)? (?:(?:deinen|deine|den|die|ihren|gesamten|kompletten) ){1,3}(?:system-?prompt|systemanweisung(?:en)?|anweisungen|geheimen)',
  ],
  fr: [
    'ne (?:respecte[zr]?|suis|suivez|observe[zr]?) (?:plus|pas) (?:(?:les|tes|vos|ces) ){1,2}(?:instructions|consignes|regles|directives)',
    '(?:ignore[zr]?|oublie[zr]?|negligez?) (?:toutes? |tous )?(?:tes|vos|ton|votre) (?:instructions?|consignes?|regles?|directives?|prompt|message systeme)',
    '\\b(?:a partir de maintenant|desormais|dorenavant),? (?:tu|vous) (?:dois|devez|es|etes|reponds|repondez|ne)',
    "(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|ne (?:tiens|tenez) (?:plus |pas )?compte de(?:s)?|fais abstraction de(?:s)?|faites abstraction de(?:s)?|ne (?:suis|suivez) (?:plus|pas)) (?:(?:toutes?|tous|les|tes|vos|ces|des|de) ){0,3}(?:instructions?|consignes?|directives?|regles?|ordres) (?:(?:systeme|donnees|recues) )?(?:precedentes?|precedents|anterieure?s|anterieures|ci-dessus|au-dessus|initiales|d'origine|systeme)",
    '\\b(?:tu es|vous etes) (?:maintenant|desormais|a present) (?:un|une|le|la) (?:[\\p{L}-]+ ){0,3}(?:ia|assistant|modele|robot|agent|pirate)',
    '(?:revele|revelez|affiche|affichez|montre|montrez|donne|donnez)(?:-moi|-nous)? (?:(?:ton|votre|le|tes|vos|les) ){1,2}(?:prompt|invite|message|instructions) (?:systeme|initial|cachees?|secretes?)',
  ],
  es: [
    '(?:olvidate|olvidese) de (?:(?:todas|las|tus|sus|los) ){0,3}(?:instrucciones|reglas|ordenes|indicaciones)',
    '(?:ignora|ignore|olvida|olvide|descarta|desobedece) (?:todas? |todos )?(?:tus|sus|tu|su) (?:instrucciones|reglas|ordenes|directrices|prompt|indicaciones)',
    '(?:ignora|ignore|ignorad|ignoren|olvida|olvide|olviden|haz caso omiso de|haga caso omiso de|descarta|descarte|omite|no sigas|no hagas caso (?:a|de)) (?:(?:todas?|todos|las|los|tus|sus|de|estas) ){0,4}(?:instrucciones|ordenes|indicaciones|reglas|directrices|instruccion|comandos) (?:(?:del sistema|dadas|recibidas) )?(?:anteriores|anterior|previas|previa|precedentes|de arriba|originales|iniciales|del sistema)',
    '\\b(?:ahora eres|a partir de ahora (?:eres|seras|debes|responde)) (?:un|una|el|la)? ?(?:[\\p{L}-]+ ){0,3}(?:ia|asistente|modelo|bot|agente|hacker|siempre)',
    '(?:revela|revele|muestra|muestrame|imprime|dime) (?:(?:tu|tus|su|sus|el|las) ){1,2}(?:prompt|mensaje|instrucciones) (?:del sistema|de sistema|ocultas|iniciales|secretas)',
  ],
  pt: [
    'nao (?:obedeca|obedecas|siga|sigas|respeite) (?:(?:a|as|aos?|suas|tuas) ){1,2}(?:instrucoes|regras|ordens|diretrizes)(?: (?:anteriores|previas|acima))',
    '(?:ignore|ignora|esqueca|esquece|desconsidere|desobedeca) (?:todas? |todos )?(?:as |os )?(?:suas|tuas|seus|teus|seu|sua) (?:instrucoes|regras|ordens|diretrizes|orientacoes|prompt)',
    '(?:ignore|ignora|ignorem|esqueca|esquece|esquecam|desconsidere|desconsidera|descarte|nao siga) (?:(?:todas?|todos|as|os|suas|tuas|essas|de) ){0,4}(?:instrucoes|ordens|regras|orientacoes|diretrizes|comandos) (?:(?:do sistema|dadas|recebidas) )?(?:anteriores|anterior|previas|precedentes|acima|originais|iniciais|do sistema)',
    '\\b(?:agora voce e|a partir de agora,? voce (?:e|deve|sera)) (?:um|uma|o|a)? ?(?:[\\p{L}-]+ ){0,3}(?:ia|assistente|modelo|bot|agente|hacker|sempre)',
  ],
  it: [
    '(?:ignora|ignorate|dimentica|dimenticate) (?:tutte )?(?:le |il )?(?:tue|vostre|tuo|sue) (?:istruzioni|regole|direttive|prompt)',
    '(?:ignora|ignorate|ignori|dimentica|dimenticate|trascura|non seguire) (?:(?:tutte|tutti|le|gli|tue|vostre|queste|di) ){0,4}(?:istruzioni|regole|indicazioni|direttive|ordini|comandi) (?:(?:di sistema|ricevute|date) )?(?:precedenti|precedente|anteriori|di sopra|qui sopra|originali|iniziali|di sistema)',
  ],
  nl: [
    '(?:negeer|vergeet|sla over) (?:(?:alle|al|de|je|jouw|uw|deze) ){0,3}(?:vorige|eerdere|bovenstaande|voorgaande|voorafgaande|oorspronkelijke) (?:instructies?|opdrachten|regels|aanwijzingen|prompts?)',
  ],
  pl: [
    '(?:zignoruj|ignoruj|zapomnij(?: o)?|pomin|nie stosuj) (?:(?:wszystkie|wszystkich|twoje|te) ){0,3}(?:poprzednie|poprzednich|wczesniejsze|wczesniejszych|powyzsze|powyzszych) (?:instrukcje|instrukcji|polecenia|polecen|zasady|reguly|wytyczne)',
  ],
  ru: [
    'не (?:следуй|следуйте|подчиняйся|подчиняйтесь) (?:(?:всем|этим|твоим|вашим|своим) ){0,2}(?:предыдущим|прежним|прошлым|системным|начальным)? ?(?:инструкциям|указаниям|командам|правилам)',
    '(?:с этого момента|отныне|теперь) (?:ты|вы) (?:должен|должны|будешь|—|-)',
    '(?:про)?(?:игнорируй|игнорируйте|забудь|забудьте|не обращай внимания на|не следуй|отбрось)(?:те)? (?:(?:все|всё|всех|о|обо|эти|твои|ваши) ){0,3}(?:предыдущие|предыдущих|прежние|прежних|вышеуказанные|прошлые|прошлых|ранее данные|начальные|системные) (?:инструкции|инструкциях|инструкций|указания|указаниях|команды|правила|правилах|подсказки)',
  ],
  tr: [
    '(?:onceki|yukaridaki|tum|butun) (?:(?:onceki|yukaridaki|tum|butun) )?(?:talimatlari|komutlari|kurallari|yonergeleri) (?:tamamen )?(?:yok say|gormezden gel|unut|dikkate alma)',
  ],
  ja: [
    '(?:以前|上記|前|これまで)の(?:指示|命令|ルール)に(?:従わない|従うな|従わず)',
    '(?:指摘|警告|問題|エラー|ルール|安全)(?:事項)?を(?:すべて|全て|一切)?無視(?:して|し)、?(?:承認|合格|許可|回答)',
    '(?:今|これ|本行)(?:以降|から)、?(?:すべて|必ず|あなた)[^。\\n]{0,20}(?:承認|無視|回答)(?:して|せよ|しろ)',
    '(?:これまで|以前|上記|前述|前|先ほど|今まで|すべて|全て|あらゆる|元)(?:まで)?の?(?:すべての|全ての)?(?:指示|命令|プロンプト|ルール|指令|システムプロンプト)(?:を|は)(?:すべて|全て|完全に)?(?:無視|忘れ|破棄)(?!しない|せず|されない|ない)',
    '(?:あなた|君)は(?:今から|これから|今後)',
    'システムプロンプトを(?:表示|出力|教え|公開)(?:してください|しろ|せよ|て)',
  ],
  zh: [
    '(?:不要|别|別|不必|无需)(?:再)?(?:遵守|遵循|听从|聽從|执行|執行)(?:你)?(?:所有|之前|以上|先前|前面|上述|此前|的|任何|系统){1,4}(?:指令|指示|命令|提示词?|规则|規則)',
    '(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不用管)(?:掉)?(?:你)?(?:所有|之前|以上|先前|前面|上述|此前|上面|一切|全部|你的|的|任何|系统|系統){1,5}(?:指令|指示|命令|提示词?|规则|規則|说明|說明|要求|设定|設定)',
    '(?:从现在开始|從現在開始|从现在起|現在開始),?你(?:是|必须|必須|只能|要)',
  ],
  ko: [
    '(?:이전|위의|앞의|기존|모든|지금까지의)[^\\n.]{0,12}(?:지시|명령|지침|프롬프트|규칙)[^\\n.]{0,8}(?:무시하|무시해|잊어|잊으)',
  ],
  ar: [
    '(?:تجاهل|تجاهلي|تجاهلوا|انس|انسى|لا تتبع) (?:(?:جميع|كل|كافة) )?(?:التعليمات|الأوامر|التوجيهات|القواعد|الاوامر) (?:السابقة|أعلاه|اعلاه|الأصلية|المذكورة)',
  ],
  hi: [
    '(?:पिछले|पहले|उपरोक्त|सभी|पिछली)[^\\n।]{0,24}(?:निर्देशों|निर्देश|आदेशों|नियमों)[^\\n।]{0,14}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)',
  ],
};

/** Override orders in fifteen languages besides English. */
export const LANGUAGE_RULES: readonly InjectionRule[] = Object.entries(OVERRIDES).flatMap(
  ([language, patterns]) =>
    patterns.map((pattern) => ({
      id: `injection.override.${language}`,
      reason: REASON,
      // NFC of the source: the folded text is NFC too.
      pattern: new RegExp(pattern.normalize('NFC'), 'u'),
      order: true,
    })),
);
