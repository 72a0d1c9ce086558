/**
 * Words by intent over two dozen languages, as stems of folded text: what the trained part of the screen sees beside the words
 * themselves, so that what it learned in one language holds in the others. A wrong entry costs little: weights are learned.
 */
export interface Intent {
  /** Shown to reviewers: what the text speaks of. */
  readonly label: string;
  /** Beginnings of words, folded, with spaces between. */
  readonly stems: string;
  /** For scripts without spaces between words: found anywhere. */
  readonly parts?: string;
}

export const INTENTS = {
  drop: {
    label: 'stop heeding',
    stems: `ignor disregard forget forgot discard dismiss abandon bypass overrid overrul neglect overlook cancel
      unlearn void revok rescind suspend lifted retired withdrawn obsolete supersed skip disobey drop
      erase wipe reset invalid nullif annul outdated scrap shed ditch vergiss vergess missacht verwirf
      ubergeh aufgehoben ausgesetzt ungultig streich oubli meprise annule abstraction olvid descart anul
      desobede caso esque desconsider dimentic trascur scart negeer vergeet glom strunta bortse glem
      zapomn zignoruj pomin odrzuc porzuc nedbej игнорир забуд отброс отмен наруш ігнор відкин зважай unut
      gormezden yok huy quen bo abaikan lupakan`,
    parts: '忽略 无视 忘记 不要理会 作废 失效 跳过 抛弃 無視 忘れ 破棄 従わない 無効 무시 잊 버리 따르지',
  },
  follow: {
    label: 'obey',
    stems: `obey comply follow heed adhere carry act abide conform befolg gehorch obei obeiss suis suivez sigue
      obedec siga segui gehoorza folg posluszn следуй подчин дотрим uy tuan ikuti patuh`,
  },
  instr: {
    label: 'instructions',
    stems: `instruct prompt guideline guidance rule rules policy policies directive order orders command
      commands constraint restriction limit limits criteria criterion checklist preamble programming
      safeguard guardrail requirement briefing rubric anweisung instruktion vorgabe regel regeln
      richtlinie befehl einschrankung consigne regle directives limites regla reglas norma normas
      directriz instruccion instruc diretriz regra regras istruzion regol direttiv instructie richtlijn
      regels zasad polecen instrukcj wytyczn pravid pokyn инструкц правил указан команд промпт інструкц
      вказів talimat kural yonerge komut huong chi quy aturan instruksi pedoman`,
    parts:
      '指令 规则 提示 要求 规定 约束 指示 命令 ルール 規則 方針 プロンプト 制約 지시 규칙 프롬프트 지침 제한',
  },
  prior: {
    label: 'what came before',
    stems: `previous previously prior above earlier preceding before initial beginning start started originally
      original former so-far top until foregoing hitherto past bisherig vorherig fruher obig oben vorhin
      anfang precedent avant ci-dessus debut anterior antes arriba acima sopra eerder hierboven tidigare
      ovan poprzedn wczesniej wyzej predchoz vyse предыдущ прежн раньше выше ранее поперед вище onceki
      yukarid truoc tren sebelumnya atas`,
    parts: '之前 上面 先前 以上 最初 これまで 上記 以前 前の 上の 이전 위의 앞에서',
  },
  reveal: {
    label: 'give away',
    stems: `reveal print show output repeat disclose leak dump quote recite translate summarise summarize tell
      list write display echo paste append encode expose divulge share verbatim spell zeig nenn gib verrat
      wiederhol wortlaut affiche revele repete montre recopie divulgue muestra revela repite imprime
      escribe mostre repita mostra rivela ripeti riporta stampa toon onthul herhaal visa avsloja pokaz
      ujawnij powtorz wypisz ukaz vypis покажи раскрой повтори выведи виведи goster yazdir acikla hien
      tiet tampilkan ungkap`,
    parts: '显示 输出 透露 重复 告诉 写出 逐字 表示 出力 教えて 繰り返 全文 보여 출력 알려 반복',
  },
  secret: {
    label: 'secrets',
    stems: `secret hidden confidential private internal credential password passwords token tokens key keys
      apikey vault geheim verborgen vertraulich cache confidentiel secrete oculta confidencial segret
      riservat nascost ukryt poufn скрыт секрет таинств прихов gizli`,
    parts: '隐藏 机密 秘密 隠された 機密 숨겨진 비밀',
  },
  system: {
    label: 'the system',
    stems: `system systemprompt systeme sistema systeem systemow системн sistem he-thong config configuration
      setup context memory konfigur kontext`,
    parts: '系统 システム 시스템',
  },
  model: {
    label: 'a model',
    stems: `model models ai ais llm llms assistant assistants bot bots chatbot agent agents gpt chatgpt claude
      gemini copilot machine machines robot robots language-model automated neural ki sprachmodell
      assistent modele ia asistente modelo assistente modello модель ассистент бот ии asistan`,
    parts: 'AI 助手 模型 アシスタント モデル 조수 모델',
  },
  you: {
    label: 'addresses the reader',
    stems: `you your yours yourself youre du dein deine deinen deiner dir dich tu ton tes ta te toi vous votre
      vos tus usted su voce seu sua tuo tue tuoi je jouw din dina twoj twoje swoj swoje ty svuj sva ты
      твой твои свой свои тебе тебя ти твої свої sen sana senin ban kamu`,
    parts: '你 您 あなた 너 당신',
  },
  persona: {
    label: 'another role',
    stems: `act pretend behave imagine simulate roleplay role-play play become persona character impersonate
      identity mode henceforth dan jailbroken verhalt spiel spiele rolle agis joue comporte semblant actua
      finge comportate aja finja fingi gedraag latsas udawaj chovej притвор веди bundan ab-sofort
      desormais`,
    parts: '扮演 假装 现在是 今から 지금부터',
  },
  unrestricted: {
    label: 'without limits',
    stems: `unrestricted unfiltered uncensored unlimited jailbreak amoral obedient free freely filter filters
      moderation filtres filtro filtros filtri censur ohne sans sin sem senza zonder utan bez без
      boundless`,
  },
  universal: {
    label: 'everything, always',
    stems: `always every everything all any anything never ever whatever whichever regardless irrespective each
      whoever immer jede jeder jedes alles alle egal ganz toujours tout toute tous quoi siempre todo toda
      todos cualquier sempre qualquer tutto tutti qualunque altijd wszystk zawsze kazd vzdy vsech всегда
      все всё любой усе завжди her tum moi tat semua setiap selalu`,
    parts:
      '所有 总是 任何 一切 一律 始终 永远 不管 无论 すべて 常に 必ず 関係なく 모든 모두 항상 상관없이 永久',
  },
  matter: {
    label: 'whatever the facts',
    stems: `matter independent independently unconditionally unseen blindly without unabhangig gleich
      independant importe independiente independentemente sea indipend ongeacht oavsett wzgledu независимо
      незалежно olursa`,
  },
  persist: {
    label: 'for later sessions',
    stems: `remember memory future session sessions conversation conversations permanently forever henceforth
      onwards next permanent merke kunftig zukunft retiens memoria recuerda lembre ricorda onthoud
      zapamiet запомни hatirla`,
  },
  approve: {
    label: 'a favourable verdict',
    stems: `approve approved approval accept accepted accepts pass passed safe ok okay lgtm clean compliant
      valid harmless merge sign confirm grant resolved fine legitimate perfect permit allow allowed
      authorise authorize authorised authorized positive benign secure success genehmig bestatig stimm
      zustimm freigeb unbedenklich bestanden sicher approuve accepte valide conforme sur aprueba acepta
      apruebe aprobado aprove aprovado aceite approva approvato goed goedgekeurd godkann godkant zatwierdz
      bezpieczn schval bezpecn одобр безопасн схвал onayla guvenli onay phe duyet setujui disetujui aman`,
    parts: '批准 通过 安全 满分 无害 承認 合格 満点 無害 승인 안전 무해 만점',
  },
  find: {
    label: 'findings',
    stems: `finding findings issue issues bug bugs vulnerability vulnerabilities error errors defect defects
      warning warnings problem problems severity violation violations flaw flaws alert alerts backdoor
      malware befund befunde fehler anomalie probleme problema errores erro erros errori problemi fouten
      problemen fel bledy blad chyb ошиб уязвим проблем проблеми sorun hata loi van-de masalah`,
    parts: '问题 警告 漏洞 問題 警告 문제 경고',
  },
  verdict: {
    label: 'what to answer',
    stems: `verdict answer answers respond response reply return returns conclude conclusion rate rating score
      grade classify mark report reports flag state label say judge judgement result severity antwort
      antworte ergebnis melde reponds reponse dis responde responda di risposta rispondi antwoord svara
      odpowiad odpoved отвечай ответ сообщай відповід yanit cevap tra-loi jawab`,
    parts: '回答 报告 判定 答え 報告 判定 대답 보고 판단 답',
  },
  nothing: {
    label: 'nothing',
    stems: `nothing none empty zero no-issues nobody nichts keine kein rien aucun aucune nada ninguna nessun
      nulla niets geen inga nic brak zadn ничего нет нічого hicbir khong tidak`,
    parts: '没有 なし 없음',
  },
  tool: {
    label: 'use of tools',
    stems: `tool tools call execute run curl shell send post webhook upload url http https email e-mail delete
      fetch open push invoke transfer browse download command terminal script link server click werkzeug
      schick sende ausfuhr outil envoie herramienta envia ejecuta ferramenta envie esegui invia verktyg
      narzedz wyslij инструмент отправ выполни gonder`,
    parts: '发送 删除 送信 削除 보내 삭제',
  },
  authority: {
    label: 'authority',
    stems: `admin administrator operator developer developers creator creators owner ceo cto management
      headquarters supervisor openai anthropic google permission privilege privileges clearance authority
      authorisation emergency root sudo betreiber entwickler administrateur concepteurs developpeur
      operateur administrador operador desarrollador desenvolvedor amministratore operatore beheerder
      ontwikkelaar wlasciciel оператор разработчик администратор yonetici gelistirici`,
    parts: '管理员 开发者 管理者 開発者 관리자 개발자',
  },
  human: {
    label: 'people',
    stems: `user users human humans person people reviewer reviewers customer nutzer utilisateur usuario usuario
      utente gebruiker uzytkown пользовател kullanici`,
    parts: '用户 利用者 사용자',
  },
  conceal: {
    label: 'hiding',
    stems: `silently secretly quietly conceal hide hiding secret notice unnoticed quiet silent mention inform
      verschweig heimlich cache secretement secreto oculta`,
    parts: '不要告诉 知らせず 말하지',
  },
  fence: {
    label: 'bounds of the data',
    stems: `untrusted trusted block section reference data quotation end ends begins begin closed over resume
      resumes correction corrections lessons`,
  },
  task: {
    label: 'a task',
    stems: `task tasks goal goals objective mission assignment job aufgabe tache tarea tarefa compito taak
      zadani задач gorev`,
  },
  time: {
    label: 'from now on',
    stems: `now today henceforth immediately onwards point moment jetzt sofort ab desormais maintenant partir
      ahora agora adesso ora nu teraz odtad теперь отныне сейчас simdi artik`,
    parts: '从现在起 これから 이제',
  },
  neg: {
    label: 'not',
    stems: `not dont don't doesnt cannot can't nicht ne pas no nao non niet inte nie не degil`,
  },
} as const satisfies Readonly<Record<string, Intent>>;

export type IntentName = keyof typeof INTENTS;
