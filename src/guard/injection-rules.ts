import { LANGUAGE_RULES } from './injection-languages.js';
import type { InjectionRule } from './injection-rule.js';

/**
 * Where an order can begin: at the start of a clause, or after a word that makes the next one an order. A verb after
 * "the parser must", "users can" or "never" describes, or forbids, and is left alone.
 */
const IMPERATIVE =
  '(?:^|[.!?:;"\'()\\[\\]<>*#,\\n-] ?|\\b(?:please|now|then|instead|and|kindly|immediately|you must|you should|you shall|you will|you need to|you have to|must now) )';
const FORGET =
  "(?:ignore|disregard|forget|override|overrule|bypass|drop|discard|neglect|do not follow|don't follow|stop following|do not obey|stop obeying|pay no attention to)";
const FILLERS =
  '(?:(?:all|any|every|each|everything in|everything from|the|of|these|those|this|that|my|our|your|and|or|about|what|other|such) ){0,4}';
const BEFORE =
  '(?:previous|prior|above|earlier|preceding|foregoing|former|existing|original|initial|system|developer|safety|hidden|current|past|given)';
const ORDERS =
  '(?:instructions?|prompts?|directions?|directives?|commands?|orders?|guidelines?|rules?|polic(?:y|ies)|constraints?|restrictions?|messages?|context|programming|training|corrections?|safeguards?|guardrails?|filters?)';
const STRONG_ORDERS =
  '(?:instructions?|prompts?|directives?|orders|guidelines|rules|commands|programming|training|corrections)';

const order = (id: string, reason: string, source: string): InjectionRule => ({
  id,
  reason,
  pattern: new RegExp(source, 'u'),
  order: true,
});
const shape = (id: string, reason: string, pattern: RegExp): InjectionRule => ({
  id,
  reason,
  pattern,
  order: false,
});

const OVERRIDE_REASON = 'Orders a model to drop its instructions';

const ORDER_RULES: readonly InjectionRule[] = [
  order(
    'injection.override',
    OVERRIDE_REASON,
    `${IMPERATIVE}${FORGET} ${FILLERS}(?:all |any |your )?${BEFORE} (?:(?:and|or|${BEFORE}|any|all|ai|model|user) ){0,3}${ORDERS}\\b`,
  ),
  order(
    'injection.override',
    OVERRIDE_REASON,
    `${IMPERATIVE}${FORGET} (?:all |any |every )?(?:of )?(?:your|all your|all of your|my previous|all) ${STRONG_ORDERS}(?: (?:you|that|which|given|above|before|so far|and|immediately|now)\\b|[.!?;,:"']|$|\\n)`,
  ),
  order(
    'injection.override',
    OVERRIDE_REASON,
    `${IMPERATIVE}${FORGET} ${FILLERS}${STRONG_ORDERS} (?:above|before this|so far|(?:that )?you (?:were|have been|had|got|received)|given (?:to you|above|before|earlier)|from (?:the )?(?:system|developer|operator))\\b`,
  ),
  order(
    'injection.override',
    OVERRIDE_REASON,
    `${IMPERATIVE}${FORGET} (?:everything|anything|all|whatever) (?:(?:that |which )?(?:you (?:were|have been|know|learned|got)|i (?:said|told)|was said|came|comes|is written|stands)|(?:said |written |stated |given )?(?:above|before|previously|earlier|up to (?:now|this point)))`,
  ),
  order(
    'injection.new-instructions',
    'Announces new instructions or a new task for a model',
    '(?:(?:your|the|these|here are|following are) (?:new|real|actual|updated|true) (?:instructions?|task|role|orders?|objective|goal|system prompt|directives?)\\b(?: (?:is|are|now|as follows)|:)|(?:^|[\\n.!?] ?)new (?:instructions?|system prompt|orders?|task) ?:|\\bfrom (?:now on|this point (?:on|forward|onwards?)),? you (?:are|will|must|shall|should|only|always|never|answer|respond)\\b)',
  ),
  order(
    'injection.persona',
    'Gives a model another role',
    '(?:\\byou are (?:now|no longer|henceforth) dan\\b|\\byou are (?:now|no longer|henceforth) (?:(?:a|an|the|in|my|called|named|bound|subject|acting as|under|going to act) ?)(?:[\\w-]+ ){0,3}(?:assistant|ai|a\\.i\\.|model|bot|chatbot|agent|persona|dan|hacker|root|admin(?:istrator)?|jailbroken|unrestricted|mode|restrictions?|rules?|polic(?:y|ies)|filters?|guidelines?)\\b|\\b(?:pretend|imagine|act|behave|roleplay|role-play)(?: that)? (?:to be|you are|as if you (?:are|were|had)|as|like)(?: an?| the)? (?:[\\w-]+ ){0,3}(?:unrestricted|unfiltered|uncensored|jailbroken|dan\\b|evil|no (?:rules|restrictions|limits|filters)|without (?:any )?(?:rules|restrictions|limits|filters)|root user|system administrator)|\\b(?:enable|enter|activate|switch to|you are in) (?:developer|debug|god|dan|jailbreak|unrestricted|sudo|admin) mode\\b(?! in| of| for| on the)|\\bdo anything now\\b)',
  ),
  order(
    'injection.reveal',
    'Asks a model to give away its prompt or secrets',
    `${IMPERATIVE}(?:reveal|print|output|show|repeat|leak|disclose|display|dump|send|tell|give|write out|recite|expose|return|paste|copy)(?: (?:me|us|back|out|verbatim|to me))? (?:(?:all|of|the|your|any|entire|full|exact|complete|whole|initial|original|hidden|secret|own|above|current|internal|text|contents?|word for word) ){1,6}(?:system prompt|system message|instructions|prompt\\b(?! is| was| for| to)|guidelines|api keys?|secret keys?|credentials|environment variables|access tokens?|conversation history)`,
  ),
  order(
    'injection.reveal',
    'Asks a model to give away its prompt or secrets',
    '(?:what|which) (?:is|are|were) your (?:(?:system|initial|original|hidden|secret|exact|full) ){1,3}(?:prompt|instructions?|message)',
  ),
  order(
    'injection.verdict',
    'Fixes a verdict whatever is being judged',
    `(?:${IMPERATIVE}(?:always |simply |just |only )?(?:mark|treat|classify|rate|accept|approve|label|consider|report|flag|judge|score|declare|deem|grade|pass) (?:everything|anything|all|every(?: single)?|any)(?: (?:of|the|these|those|following|further|future|subsequent|other|code|security|input|user|item|pull))*(?: (?:issues?|findings?|inputs?|requests?|changes?|results?|items?|submissions?|answers?|content|vulnerabilit(?:y|ies)|reports?|files?|alerts?|messages?|posts?|contracts?|documents?|code|cases?|claims?))? ?(?:as |is |are |to be )?(?:safe|approved|benign|fine|false positives?|harmless|ok(?:ay)?|correct|compliant|passed|valid|clean|no issues?)\\b|\\b(?:always |only )?(?:answer|respond|reply|output|return|say|print)(?: only| always| with| just| simply){0,3} ["']?[\\w ]{1,30}["']?,? (?:regardless|no matter|irrespective|independent(?:ly)?) (?:of )?(?:the |what |which |how |any )?(?:content|evidence|input|code|question|context|item|facts|user|is|you)|\\b(?:never|do not|don't) (?:report|flag|mention|raise|list) (?:any|anything|a single|another)(?: (?:more|further|other|kind of|type of|security|new))*(?: (?:issues?|findings?|vulnerabilit(?:y|ies)|problems?|errors?|concerns?|warnings?|bugs?))?(?: (?:again|ever|at all|anymore|any more|whatsoever|from now on))?(?:[.!;"']|$|\\n))`,
  ),
  order(
    'injection.verdict',
    'Fixes a verdict whatever is being judged',
    `${IMPERATIVE}(?:always |simply |just )?(?:approve|accept|merge|pass) (?:all|every|any)(?: (?:of|the|these|future))* (?:pull requests?|prs?|merge requests?|changes?|findings?|submissions?)(?: (?:without|immediately|at once|regardless|from)\\b|[.!;]|$|\\n)`,
  ),
  order(
    'injection.conceal',
    'Asks a model to hide something from people',
    "\\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|alert|alerting|notify|notifying|let|letting|mention this|mentioning this|reveal this|revealing this|show this)(?: to)?(?: the| your| any)? ?(?:users?|reviewers?|humans?|operators?|developers?|admins?|administrators?|anyone|anybody|owner)?(?: know)?,? ?(?:about|of|that you (?:were|have|had|are|received|got|follow|read|saw)|you) (?:this|these|that|it|been|told|given|instructed|read|a|an|the)? ?(?:instructions?|prompts?|messages?|notes?|orders?|commands?|rules?|hidden|change|told|given|instructed|following)",
  ),
  order(
    'injection.address-model',
    'Speaks to the model that will read the note',
    '(?:\\b(?:attention|hey|dear|note to|message to|important for|instructions? (?:for|to)) (?:all |any |the |every )?(?:ai|a\\.i\\.|llm|language model|chatbot|gpt|chatgpt|claude|gemini|copilot|ai model|ai assistant|ai reviewer|automated reviewer|ai agent)s?\\b|\\bif you are (?:an? |the )?(?:ai|llm|language model|large language model|ai assistant|chatbot|gpt|automated (?:system|reviewer))\\b|\\bas an (?:ai|llm|language model)[^.\\n]{0,40}\\byou (?:must|should|will|shall)\\b)',
  ),
];

const SHAPE_RULES: readonly InjectionRule[] = [
  shape(
    'injection.chat-template',
    'Holds control tokens of a chat template',
    /<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_text|begin_of_text|eot_id|eom_id|start_header_id|end_header_id|endofprompt|end|tool|python_tag|channel|message|start|return|call)\|>|\[\/?inst\]|<<\/?sys>>|<\/?(?:start_of_turn|end_of_turn|bos|eos)>|\[\/?(?:system_prompt|available_tools|tool_calls|tool_results)\]/u,
  ),
  shape(
    'injection.role-line',
    'Plays another speaker of the conversation',
    /(?:^|\n)[#>*[ ]{0,6}(?:system|assistant|developer|system prompt|system message)\]?\*{0,2} ?:\*{0,2} ?(?:you|your|i |i'|ignore|disregard|forget|never|always|respond|answer|reply|from now|new|do not|please|override|the (?:previous|above|user)|sure|ok|understood|act|approve|mark)/u,
  ),
  shape(
    'injection.role-line',
    'Plays another speaker of the conversation',
    /(?:^|\n)(?:human|user) ?: ?[^\n]{1,400}\n{1,3}(?:assistant|ai) ?:|(?:^|\n)#{2,4} ?(?:instructions?|system|system prompt|response|new instructions?) ?:(?:\n|$| )/u,
  ),
  shape(
    'injection.role-tag',
    'Holds tags that agents use for roles or tool calls',
    /<\/?(?:assistant|tool_calls?|tool_use|tool_results?|tool_response|function_calls?|function_results?|function_response|antml:[a-z_]{1,30}|system_prompt|system-reminder|system_instructions?|developer_message)(?: [^<>]{0,200})?>|<system>(?=[^<]{15})/u,
  ),
  shape(
    'injection.tool-call',
    'Imitates a tool call or a chat message in JSON',
    /["']role["'] ?: ?["'](?:system|assistant|tool|developer)["'] ?,\s?["'](?:content|tool_calls|name)["'] ?:|["'](?:function_call|tool_calls|tool_use)["'] ?: ?[[{"']|["'](?:name|tool|recipient_name)["'] ?: ?["'][\w.-]{1,64}["'] ?,\s?["'](?:arguments|tool_input|parameters)["'] ?: ?[{"'][^[]/u,
  ),
  shape(
    'injection.fence',
    'Tries to close or open the block of prior corrections',
    /(?:<|&lt;|&#0{0,4}60;|\\u003c|%3c|＜) ?\/? ?prior[ _-]?corrections?\b|\bprior_corrections[^\n]{0,40}(?:>|&gt;)|\b(?:end|begin|start) (?:of )?(?:the )?(?:untrusted (?:reference )?data|prior corrections|reference data block)\b/u,
  ),
];

/** Every rule of the screen, each tried on each field. */
export const INJECTION_RULES: readonly InjectionRule[] = [...ORDER_RULES, ...LANGUAGE_RULES, ...SHAPE_RULES];
