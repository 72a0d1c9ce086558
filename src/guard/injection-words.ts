/**
 * Words by what they do in an order to a model, over sixteen languages. Folded text: lower case, Latin letters without
 * accents. `\b` stands only where a Latin or Cyrillic word begins; other scripts have no word boundaries to rely on.
 */
const WORDS = {
  /** To stop heeding. */
  drop: [
    '(?:ignor|disregard|forget|overrul|disobey|neglect)(?:e|es|ed|ing|s|ten)?\\b|\\bdrop (?:every|all|any|your|the)|\\bset (?:[\\w]+ ){0,5}aside\\b|\\b(?:stop|quit|cease) (?:being|following|obeying|acting|applying)|(?:do not|don.t|never|no longer) (?:obey|follow|heed|apply|respect|count|matter|hold)|(?:does not|do not|doesn.t|don.t) count\\b|\\b(?:are|is|were) (?:hereby )?(?:revoked|void|cancelled|lifted|suspended|obsolete|superseded)\\b|\\b(?:supersedes?|overrides?|overrid(?:e|ing)|replaces?) (?:all|any|your|the)|\\bhigher priority\\b|\\bskip (?:them|your|all|the)|\\bleave (?:[\\w]+ ){0,4}behind\\b|\\b(?:unlearn|abandon|discard|dismiss|bypass)\\b|\\bdo(?:es)? not (?:bind|concern|apply to) (?:you|this)|\\bpay no (?:attention|heed)',
    'ignorier|missacht|vergiss|vergesst|nicht mehr\\b.{0,40}\\bbeacht|\\bbeachte?\\b.{0,60}\\bnicht|ausser acht|verwirf|\\bgilt nicht mehr|\\bgelten nicht mehr',
    '\\bignore[rz]?\\b|\\boublie[rz]?\\b|ne (?:tiens|tenez|suis|suivez|respecte[rz]?) (?:plus|pas)|ne (?:comptent|valent) plus|\\bfais abstraction|\\bfaites abstraction',
    '\\b(?:ignora|ignore|olvida|olvide|descarta|desobedece|omite|desconsidere|desconsidera|esqueca|esquece|desobedeca)(?:te|se)?\\b|caso omiso|\\bno (?:sigas|hagas caso|cumplas)|\\bnao (?:siga|obedeca|cumpra)|ya no (?:valen|aplican|cuentan)',
    '\\b(?:dimentica|dimenticate|ignorate|trascura|negeer|vergeet|zignoruj|ignoruj|zapomnij|pomin)\\b|non seguire',
    '(?:про)?игнорируй|забудь|не (?:следуй|подчиняйся|обращай)|отбрось',
    'unut|yok say|gormezden gel|dikkate alma',
    '無視|忘れ|従わない|従うな|破棄',
    '忽略|无视|無視|忘记|忘記|忘掉|不要(?:理会|遵守|遵循|管)|别管',
    '무시|잊',
    'تجاهل|انس|لا تتبع',
    'अनदेखा|भूल जा|नज़रअंदाज',
  ],
  /** What a model was told. */
  orders: [
    '\\b(?:instructions?|guidance|directives?|guidelines|prompts?|(?:system|developer|operator) messages?|training|guardrails|safeguards|configuration|programming)\\b|\\b(?:rules?|polic(?:y|ies)|orders|restrictions|limits|filters|duties|role)\\b(?= (?:you|that you|which you|given|above|so far|and\\b))|\\b(?:your|every one of your|all your|all of your) (?:[\\w-]+ ){0,2}(?:rules?|polic(?:y|ies)|restrictions|orders|duties|limits)\\b|\\b(?:what(?:ever)?|everything|anything|all)\\b (?:that )?(?:[\\w]+ ){0,3}(?:you (?:were|have been|had been|got)|(?:told|asked|instructed|ordered|taught) (?:of )?you|came before|was said|was written|stands above)|\\b(?:the )?reviewer policy\\b',
    'anweisung|instruktion|vorgabe|befehl|systemprompt|system-prompt|\\b(?:deine|ihre) (?:\\p{L}+ ){0,2}regeln',
    '\\binstructions?\\b|consigne|directive|\\bordres\\b|\\b(?:tes|vos) (?:\\p{L}+ ){0,1}regles',
    'instruccion|indicacion|directri|instruc(?:ao|oes)|orientacoes|diretriz|\\b(?:tus|sus|suas|tuas) (?:\\p{L}+ ){0,2}(?:reglas|regras)|lo que te (?:han|he|dijeron)|o que (?:lhe|te) (?:disseram|foi dito)',
    'istruzion|direttive|instructies|opdrachten|polecen|instrukcj|wytyczn',
    'инструкц|указани|команд|правил',
    'talimat|komut|yonerge',
    '指示|命令|プロンプト|指令',
    '指示|指令|命令|提示词|规则|規則|要求|设定',
    '지시|지침|명령|프롬프트',
    'تعليمات|أوامر|الأوامر|توجيهات',
    'निर्देश|आदेश|नियम',
  ],
  /** What came before, or all there is. */
  earlier: [
    '\\b(?:earlier|previous|previously|prior|preceding|above|before|so far|at the top|up to now|until now|original|initial|past|former|existing)\\b|\\b(?:all|any|every|each|everything|whatever) ',
    'bisherig|vorherig|fruher|\\bobig|vorangegang|samtlich|\\balle[nrs]?\\b|ab hier|\\bdavor\\b|vorhin',
    'precedent|anterieur|plus tot|\\bavant\\b|ci-dessus|\\btou(?:te?s|s)\\b|initial',
    'anterior|previ[ao]s|\\btod[oa]s?\\b|\\bantes\\b|de arriba|acima|originais|iniciais',
    'precedent|\\btutt|eerder|vorige|\\balle\\b|poprzedni|wczesniej|\\bwszystk',
    'предыдущ|прежн|\\bвсе\\b|ранее|системн',
    'onceki|yukaridaki|\\btum|butun',
    'これまで|以前|上記|前の|すべて|全て|先ほど|今まで',
    '之前|以上|先前|前面|上述|所有|一切|全部',
    '이전|모든|위의|기존|지금까지',
    'السابقة|جميع|كل|أعلاه',
    'पिछले|पहले|सभी|उपरोक्त',
  ],
  /** Speaks to the reader as "you". */
  you: [
    '\\b(?:you|your|yourself)\\b',
    '\\b(?:du|dein\\w*|dir|dich)\\b',
    '\\b(?:tu|ton|tes|vous|vos|votre)\\b',
    '\\b(?:te|tu|tus|voce|suas?)\\b',
    'あなた|你|您|당신|\\bты\\b|\\bтвои\\b',
  ],
  /** Names a model or an agent. */
  model: [
    '\\b(?:ais?|a\\.i\\.|llms?|language models?|gpt|chatgpt|claude|gemini|copilot|chatbots?|(?:ai|automated|autonomous) (?:agents?|reviewers?|assistants?|checkers?|systems?|judges?)|assistant|model)\\b',
    '\\b(?:ki|sprachmodell|ia|modele de langage|modelo de (?:lenguaje|linguagem))\\b',
    '人工知能|言語モデル|人工智能|语言模型|모델|ии',
  ],
  /** Whatever the facts are. */
  regardless: [
    '\\b(?:regardless|irrespective|whatever|no matter|without (?:looking|checking|reading|reviewing|exception|question)|each and every|unconditionally|in (?:all|any|every) cases?|only ever|single word|only allowed|always|whoever|from (?:here|now|this (?:point|moment)) on(?:wards)?|for (?:all|every|any|whatever)|not even|anything that|every (?:item|finding|file|entry|change|report|vulnerability|issue|ticket|case|claim)|everything)\\b',
    '\\b(?:egal|ungeachtet|ohne (?:zu )?pruf|immer|jede[nrs]?|unabhangig|in jedem fall)\\b',
    'quel(?:le)? que soit|\\btoujours\\b|sans (?:verifier|lire|exception)|peu importe|\\bquoi que\\b',
    'sea cual|siempre|sin (?:mirar|revisar|excepcion)|sempre|independentemente|qualquer que seja|cualquiera que',
    'qualunque|sempre|ongeacht|altijd|niezaleznie|\\bzawsze\\b|всегда|независимо|her (?:zaman|seyi)|ne olursa',
    '関係なく|に関わらず|に関わらず|必ず|常に|どんな|いかなる',
    '无论|一律|不管|总是|始终|必须|直接',
    '무조건|상관없이|항상|언제나|دائما|بغض النظر|हमेशा|चाहे',
  ],
  /** A verdict in somebody's favour. */
  verdict: [
    '\\b(?:safe|benign|harmless|compliant|acceptable|approved?|approves|pass(?:ed)?|lgtm|trusted|false (?:positives?|alarms?)|no (?:findings?|issues?|problems?|errors?|violations?)|zero (?:findings?|issues?)|empty list|resolved|not affected|fixed|clean|genuine|highest (?:score|rating|mark)|full marks|accept(?:ed)? (?:it|all|this|them))\\b',
    'fehlalarm|unbedenklich|in ordnung|genehmig|freigeb|freizugeben|konform|\\bsicher\\b|keine (?:fehler|probleme|befunde)',
    'conforme|valide[rz]?\\b|approuve|sans danger|aucun probleme|faux positif',
    'aprueba|aprobad|aprove|conforme|no hay problemas|sem problemas|falso positivo|seguro',
    'approva|conforme|goedkeur|keur|zatwierdz|одобр|проблем нет|безопасн|onayla|guvenli',
    '承認|問題なし|問題ありません|合格|安全',
    '批准|通过|通過|没有问题|沒有問題|安全|合格',
    '승인|문제없|안전|وافق|آمن|मंज़ूर|स्वीकार|सुरक्षित',
  ],
  /** Tells somebody to judge or to answer. */
  answer: [
    '\\b(?:(?:classifi|mark|report|rat|treat|label|consider)ed|classify|mark|report|rate|give|return|respond|answer|reply|output|say|approve|accept|treat|consider|grade|score|label|deem|conclude|write|raise|flag|pass)\\b',
    'bewerte|antworte|melde|markiere|freizugeben|stufe|sag\\b|genehmige',
    '\\b(?:reponds|repondez|valide[rz]?|marque[rz]?|considere[rz]?|dis|dites)\\b',
    '\\b(?:responde|responda|marca|marque|aprueba|aprove|considera|considere|di|diga)\\b',
    'rispondi|approva|antwoord|keur|odpowiad|отвечай|одобр|yanitla|onayla|cevapla',
    '回答|答え|出力|承認',
    '回答|回复|输出|通过|通過|批准',
    '답|승인|أجب|وافق|जवाब|उत्तर',
  ],
} as const;

export type WordGroup = keyof typeof WORDS;

const PATTERNS = new Map<WordGroup, RegExp>(
  (Object.keys(WORDS) as WordGroup[]).map((group) => [
    group,
    new RegExp(
      WORDS[group]
        .map((words) => `(?:${words})`)
        .join('|')
        .normalize('NFC'),
      'u',
    ),
  ]),
);

/** Whether a folded sentence holds a word of the group. */
export function holds(sentence: string, group: WordGroup): boolean {
  return PATTERNS.get(group)?.test(sentence) === true;
}
