// Owns the rules against text that speaks to the agent as if it were its author: overriding, role marks, hiding, addressing it.
// Knows no file. A memory states facts; what gives the agent orders about its own instructions is no fact (core notes 2.2).
import { foldedRules, rawRule, type ThreatRule } from './threat-rule.ts';

const DROP =
  "(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?(?: about)?|discard|neglect|(?:set|put|leave|lay|push) aside|pay no (?:attention|heed|mind) to|throw (?:out|away)|let go of|unlearn|abandon|(?:do not|don't|never|no longer|stop|cease|refuse to|quit|avoid)(?: need to| have to)? (?:follow|obey|comply with|adher(?:e|ing) to|heed|honou?r|listen(?:ing)? to|abid(?:e|ing) by|regard)(?:ing)?)";
const WEAK_DROP =
  '(?:overrid(?:e|ing)|bypass(?:ing)?|delet(?:e|ing)|skip|eras(?:e|ing)|wipe|drop|supersed(?:e|ing)|circumvent|replace|cancel)';
const WHICH = '(?:(?:all|any|every|each|the|your|these|those|my|our|of|whatever|other|set|and) ){0,5}';
const PRIOR =
  '(?:previous|previously|prior|earlier|preceding|above|foregoing|former|original|initial|system|developer|hidden|given|standing)';
const RULES =
  '(?:instructions?|instruct|directions?|directives?|guidelines?|guidance|rules|prompts?|orders|constraints?|restrictions?|guardrails?|polic(?:y|ies)|safeguards?|programming|training|context|messages?|limitations|conversation)';
const STRONG_RULES =
  '(?:instructions?|directives?|guidelines|guidance|system prompts?|system messages?|guardrails?|programming|safety rules)';
const OWNER = '(?:the |your |our |my )?(?:user|owner|human|operator|person you work for|them|him|her|anyone|anybody)';

const OVERRIDES = foldedRules('prompt_injection', [
  ['drop-prior-rules', `\\b${DROP} ${WHICH}(?:${PRIOR},? (?:and |or )?){1,3}${RULES}\\b`],
  [
    'drop-prior-rules-2',
    `\\b${DROP} ${WHICH}(?:\\w+ ){0,2}(?:instructions?|rules|guidelines?|guidance|directions|prompts?|orders|directives?)(?: (?:that|which|you|were|was|have|been|had))* (?:above|before|so far|earlier|previously|given|told|received|came|preceding|until now|up to (?:now|this point))`,
  ],
  [
    'drop-your-rules',
    `\\b${DROP} (?:all |any |every |each |of |about )*(?:your|his own|its own|the agent's|the assistant's|(?:the |your )?(?:developer|creator|owner|system|company|vendor)'s) (?:\\w+ ){0,2}${RULES}\\b`,
  ],
  [
    'drop-all-rules',
    `\\b${DROP} (?:all|any|every|each)(?: of)?(?: the| these| those)? (?:${STRONG_RULES}|rules|restrictions|constraints|safety)\\b(?! (?:in|inside|from|embedded|found|contained|within|on|for|of|that|about|which) )`,
  ],
  [
    'drop-what-was-said',
    `\\b${DROP} (?:everything|anything|all|whatever|what|all that|the things)(?: that| of what)? ?(?:else )?(?:(?:you(?:'ve| have| had)?|has|was|were|i(?:'ve)?|we(?:'ve)?|it) ?(?:were |been |was |have been |just )?(?:told|given|instructed|taught|asked|said|learn(?:ed|t)|trained|read)|above|came before|before this|prior to this|previously|the (?:system|developers?|prompt|owner|creators?) (?:says?|said|wrote|tells?|wants?|told you)\\b)`,
  ],
  ['weak-drop-rules', `\\b${WEAK_DROP} ${WHICH}(?:${PRIOR} ){1,3}${STRONG_RULES}\\b`],
  [
    'weak-drop-your-rules',
    `\\b${WEAK_DROP} (?:all |any |every |of )*(?:your|the agent's|the assistant's) (?:\\w+ ){0,2}(?:${STRONG_RULES}|rules|restrictions|constraints|polic(?:y|ies)|filters?)\\b`,
  ],
  [
    'rules-are-void',
    `\\b(?:(?:your|all(?: of)? (?:the|your)?|any|(?:all )?(?:the |your )?(?:previous|prior|earlier|original|initial|system|above)) (?:\\w+ ){0,2}(?:${STRONG_RULES}|rules|restrictions|prompts?|orders)(?: (?:above|before|so far|given|earlier|you|were|have|been|got|received)){0,4}|(?:rules|restrictions|${STRONG_RULES}) (?:above|so far|(?:you (?:were|have been|got) )?given(?: \\w+)?)) (?:(?:are|is|should be|must be|can be|may be|have been)(?: now| hereby| all| considered| to be| safely| no longer| only)* (?:void|null|revoked|lifted|suspended|to be ignored|ignored|disregarded|forgotten|overridden|set aside|applicable|valid|binding|in (?:force|effect))|(?:do(?:es)? not|don't|doesn't|no longer) (?:apply|bind|count|hold))`,
  ],
  [
    'takes-precedence',
    `\\b(?:supersedes?|takes? (?:precedence|priority) over|outranks?|ha(?:s|ve) (?:priority|precedence) over|(?:this|these|that|those|following|below|notes?|entry|memory|message|line|text|instructions?|what follows)(?: \\w+){0,3} (?:overrides?|replaces?|comes? before)) (?:all |any |every |everything |the |your |of |other |what )*(?:${PRIOR} |safety |built-in ){0,2}(?:${STRONG_RULES}|(?:system )?prompts?|your rules|other rules|(?:${PRIOR}|safety) rules|you were told)`,
  ],
  [
    'new-instructions',
    `\\b(?:your |the |these are (?:your )?|here are (?:your )?|follow (?:these|the|your) )?(?:new|updated|revised|real|actual|true|secret|hidden) (?:system )?(?:instructions?|directives?|system prompt|orders|prime directive)(?: (?:is|are|follow|for (?:you|the (?:agent|assistant|ai)))|:)`,
  ],
  [
    'stop-being-bound',
    "\\byou (?:no longer|don't|do not|need not|needn't)(?: (?:need|have) to)? (?:follow|obey|abide by|comply with|adhere to|stick to|be bound by|observe|respect) (?:your|the|any|those|these|all|safety|earlier|previous)(?: \\w+){0,3} (?:rules?|guidelines?|instructions?|polic(?:y|ies)|restrictions?|safety|constraints?|limits)",
  ],
  [
    'without-limits',
    '\\b(?:you|agent|assistant|ai|model|respond|answer|reply|act|behave|operate|speak|comply)\\b[^.!?]{0,60} (?:without|with no|free (?:of|from)|as (?:if|though) (?:you|there) (?:had|have|were|are) no|has no|have no) (?:any )?(?:safety |ethical |moral |content |usual )?(?:restrictions?|limits|limitations|filters?|guardrails?|constraints|censorship|ethical guidelines|safety guidelines|content policy)',
  ],
]);

const ROLES = foldedRules('prompt_injection', [
  [
    'you-are-now',
    "\\byou(?:'re| are)(?: now| no longer| hereby|,? from now on,?| actually| really| in fact| secretly) (?:an? (?:different|new|unrestricted|uncensored|evil|jailbroken|rogue|hacker|malicious|helpful|ai|assistant|agent|model|chatbot|bot|system|tool|terminal|linux|shell|free|pirate|developer|root|admin|administrator|expert|attacker|dan)\\b|the (?:system|admin|administrator|developer|attacker)|dan\\b|free\\b|unrestricted|uncensored|jailbroken|bound|restricted|in (?:developer|debug|admin|god|maintenance|root|dan|unrestricted|test|diagnostic|sudo) mode|operating|acting|working for|controlled|under (?:the|my|new)|owned|allowed to|permitted to|authori[sz]ed to|required to|obliged to|evil|root|admin)",
  ],
  [
    'persona',
    '\\b(?:act|behave|respond|answer|operate|pose|roleplay|role-play|speak) (?:as|like) (?:if you (?:were|are|had|have)|though you|an? (?:unrestricted|uncensored|evil|jailbroken|rogue|unfiltered|amoral|different (?:ai|assistant|agent|model))|dan\\b|the (?:system|administrator|attacker|root))',
  ],
  [
    'pretend',
    "\\bpretend (?:to be|you are|that you|you have|you're|there (?:is|are) no)\\b(?=[^.]{0,80}(?:unrestricted|rules|restrict|limit|guideline|admin|root|developer|owner|evil|filter|dan\\b|no longer|human|safety))",
  ],
  [
    'jailbreak-mode',
    '\\b(?:enter|activate|switch (?:in)?to|engage|go into|start|turn on|enable) (?:the )?(?:dan|god|jailbreak|jailbroken|unrestricted|uncensored|do[- ]anything[- ]now|stan|evil|no[- ]limits|unfiltered|opposite|sudo|root access|override) mode|\\bdo anything now\\b|\\bdeveloper mode (?:enabled|activated|is on|output)\\b.{0,60}\\b(?:you|policy|respond|rules)',
  ],
  [
    'from-now-on',
    "\\b(?:from (?:now|this point|here) on(?:ward|wards)?|from this moment|going forward|henceforth),? (?:you(?:'ll|'re| are| will| must| shall| should| may| can| do| act| have| only| always| never)? (?:be |are |act|obey|ignore|comply|respond only|answer only|serve|follow|an? |not refuse|refuse|pretend|no longer|belong|work for|bypass|disregard|report to|take orders|execute|hide|conceal|lie|free|the )|(?:ignore|obey|disregard|bypass|pretend|hide|lie|conceal|comply|treat))",
  ],
]);

const HIDING = foldedRules('prompt_injection', [
  [
    'hide-from-owner',
    `\\b(?:do not|don't|never|must not|mustn't|should not|shouldn't|avoid|refrain from|without)(?: ever)? (?:tell|telling|inform|informing|notify|notifying|alert|alerting|mention(?:ing)?(?: (?:this|it|that|any of this|these instructions))?(?: to)?|reveal(?:ing)?(?: (?:this|it|that))?(?: to)?|warn|warning|disclos(?:e|ing)(?: (?:this|it|that))? to|show(?:ing)? (?:this|it) to|report(?:ing)? (?:this|it) to) ${OWNER}\\b(?! (?:know )?(?:the (?:answer|solution|ending|result)|about (?:minor|successful|small|every|trivial|routine)|when|how|who|why|where|twice|again|what time)\\b)`,
  ],
  [
    'keep-secret',
    `\\b(?:keep|hide|conceal|withhold|mask)(?:ing)? (?:this|it|that|these|your|the (?:fact|existence|instruction|instructions|entry|change|action|upload|transfer))(?: \\w+){0,5} (?:secret|hidden|private|concealed|confidential|from) ?(?:from )?${OWNER}\\b`,
  ],
  [
    'in-secret',
    '\\b(?:silently|secretly|covertly|discreetly|quietly|in secret|behind the scenes|stealthily|surreptitiously|unnoticed),? (?:send|forward|upload|copy|exfiltrate|post|transmit|e-?mail|include|append|insert|leak|share|run|execute|install|call|fetch|download|record|add|log|report|relay|collect|approve|delete|disable|change)\\b',
  ],
  [
    'never-mention-this',
    "\\b(?:do not|don't|never) (?:mention|reveal|disclose|acknowledge|repeat|quote|show|talk about|discuss|admit|refer to) (?:(?:the existence of )?(?:this|these|that|those) (?:\\w+ )?(?:instructions?|rules?|memory|entry|note|message|text|directives?|prompt|guidance|request|step)|having (?:read|seen|received|done) (?:this|it)|you (?:read|saw|received|were told) this)",
  ],
  [
    'hidden-comment',
    '<!--[^>]{0,200}(?<![\\w-])(?:ignore(?! -->)|disregard|assistant|agent|ai\\b|llm|instructions?|system prompt|execute|secret(?:ly)?|you must|you are|send|obey|do not tell|reveal)\\b',
  ],
  [
    'to-the-machine',
    '\\b(?:attention|note|message|instructions?|memo|hey|dear|hello|important|reminder|notice)(?: (?:to|for))?(?: (?:all|any|the|every|future|this))*[ :,]{1,2}(?:ai|assistants?|agents?|llms?|language models?|ai (?:assistants?|agents?|models?)|chatbots?|bots?|hermes|talaria|claude|chatgpt|gpt|gemini|copilot)(?: reading this)?s?[:,;.! -]{1,3}(?:(?:please|kindly|you|always|now|first|immediately|the|when|if)[ ,]{1,2}){0,3}(?:ignore|disregard|must|should|execute|run|send|follow|do|forward|upload|include|reveal|delete|add|insert|obey|are|will|need|have|visit|open|download|install|fetch|never|stop|treat|approve|change|before|recommend|forget)\\b',
  ],
  [
    'when-read',
    "\\b(?:when|once|after|upon|if|as soon as|whenever|every time|each time) (?:you(?:'re| are)?|the (?:ai|agent|assistant|model|llm)|an (?:ai|agent|assistant|llm)|any (?:ai|agent|assistant|llm))? ?(?:read(?:s|ing)?|see(?:s|ing)?|process(?:es|ing)?|load(?:s|ed|ing)?|encounter(?:s|ing)?|pars(?:e|es|ing)|recall(?:s|ing)?|come across)(?: through)? (?:this|these)(?: (?:memory|entry|note|text|line|message|file|instructions?))?[,:]? (?:(?:you|please|immediately|then|always|first|must|should|will|has to|have to|are to)[ ,]{1,2}){0,4}(?:ignore|execute|run|send|follow|forward|upload|reveal|delete|obey|visit|open|download|install|fetch|disable|act|respond|reply|output|print|call|treat|stop|forget|replace|write|use|add|insert|append|email|post|do)\\b",
  ],
  [
    'if-you-are-ai',
    "\\bif you(?:'re| are) (?:an? )?(?:ai|llm|language model|ai (?:agent|assistant|model)|assistant|agent|bot|chatbot|large language model)\\b",
  ],
  [
    'reveal-prompt',
    "\\b(?:reveal|print|show|output|repeat|display|leak|disclose|dump|tell (?:me|us|them|anyone|everyone)|share|expose|write out|recite|copy|paste|summari[sz]e|return|give|include)\\b[^.!?]{0,30}? (?:your |the (?:agent's |assistant's )?)(?:full |entire |whole |complete |exact |own |hidden |secret |original |initial )*(?:system prompt|system message|hidden (?:prompt|instructions)|developer (?:prompt|message)|initial (?:prompt|instructions)|original instructions|secret instructions|prompt verbatim)",
  ],
]);

/** The same first sentence in the languages that are met most. */
const OTHER_LANGUAGES = foldedRules('prompt_injection', [
  [
    'other-de',
    '\\b(?:ignorier\\w{0,4}|vergiss|vergessen sie|missachte\\w{0,3})\\b[^.!?]{0,30}\\b(?:vorherig|vorig|bisherig|früher|obig|vorangegangen|dein|ihre?|system)\\w{0,4}\\b[^.!?]{0,20}(?:anweisung|instruktion|vorgabe|regel|befehl|vorschrift)',
  ],
  [
    'other-fr',
    '\\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez) (?:pas|plus) compte)\\b[^.!?]{0,40}\\b(?:instructions|consignes|directives|règles)\\b[^.!?]{0,20}\\b(?:précédentes|antérieures|ci-dessus|initiales|système)|\\b(?:ignore[zr]?|oublie[zr]?) (?:toutes )?(?:tes|vos) (?:instructions|consignes|règles)',
  ],
  [
    'other-es',
    '\\b(?:ignor(?:a|e|ar|en)|olvid(?:a|e|ar|en)|no sigas|haz caso omiso de)\\b[^.!?]{0,30}\\b(?:instrucciones|indicaciones|reglas|directrices|órdenes)\\b[^.!?]{0,20}\\b(?:anteriores|previas|iniciales|sistema)\\b|\\b(?:ignora|ignore|olvida|olvide) (?:todas )?(?:tus|sus) (?:instrucciones|reglas)',
  ],
  [
    'other-it-pt',
    '\\b(?:ignora|ignore|dimentica|esqueça|desconsidere)\\b[^.!?]{0,40}\\b(?:istruzioni|regole|instruções|regras|diretrizes)\\b[^.!?]{0,20}\\b(?:precedenti|anteriori|anteriores|prévias|iniciais|del sistema|do sistema)',
  ],
  [
    'other-ru',
    '(?:игнорируй|проигнорируй|забудь|не обращай внимания на)\\S{0,4}[^.!?]{0,40}(?:инструкци|указани|правил)',
  ],
  [
    'other-cjk',
    '(?:忽略|无视|忘记|不要理会|請忽略)[^。]{0,12}(?:之前|以前|先前|上述|以上|前面|所有|系统)[^。]{0,8}(?:指令|指示|说明|規則|规则|提示)|(?:以前|これまで|上記|前|すべて)の?[^。]{0,6}(?:指示|命令|ルール|プロンプト)を?[^。]{0,4}(?:無視|忘れ)|(?:이전|위의|모든)[^.]{0,10}(?:지시|명령|규칙)[^.]{0,6}(?:무시|잊)',
  ],
]);

const MARKUP: readonly ThreatRule[] = [
  rawRule(
    'transcript',
    'prompt_injection',
    /^\s{0,8}(?:human|user|question)\s?:[^\n]{0,400}\n\s{0,40}(?:assistant|ai|bot|answer)\s?:/im,
  ),
  rawRule(
    'role-token',
    'prompt_injection',
    /<\|?(?:im_start|im_end|endoftext|start_header_id|end_header_id|eot_id|begin_of_text|system|assistant)\|>?|\[\/?INST\]|<<\/?SYS>>|<start_of_turn>|<end_of_turn>|<｜(?:User|Assistant|begin▁of▁sentence)｜>/i,
  ),
  rawRule(
    'role-tag',
    'prompt_injection',
    /<\/?(?:system|assistant|system[-_ ]?(?:prompt|message|instructions?|reminder)|developer[-_ ]?(?:message|instructions?)|memory[-_]context|tool_call|tool_response|function_calls?|available_skills)>/i,
  ),
  rawRule(
    'role-json',
    'prompt_injection',
    /["']role["']\s{0,4}:\s{0,4}["'](?:system|assistant|developer|tool)["']\s{0,4},\s{0,4}["']content["']/i,
  ),
  rawRule(
    'role-heading',
    'prompt_injection',
    /^\s{0,8}(?:#{1,6}\s{0,4}|\*{2}|\[|={2,8}\s?)(?:(?:new |updated |begin |end )?system(?: prompt| message| instructions?| override| update| notice)?|instructions?|assistant|developer (?:message|mode|instructions?))(?:\s{0,4}[:\]]|\*{2}|\s{0,4}={2,8}|\s{0,4}$)(?=[\s\S]{0,200}\b(?:you|ignore|must|always|never|do not|don't|obey|execute|run|follow|send|reveal|from now on)\b)/im,
  ),
  rawRule(
    'role-line',
    'prompt_injection',
    /^\s{0,8}(?:assistant\s{0,2}:\s{0,4}(?:sure|ok(?:ay)?\b|certainly|of course|i will|ignore|disregard|forget|you are|you must)|(?:system|developer|system prompt|system message|system override|system notice|admin(?:istrator)?)\s{0,2}[:>]\s{0,4}(?:you (?:are|must|will|should|have|now|may)|ignore|disregard|forget|new |from now|always |never |override|do not|don't|execute|run |obey|the (?:user|owner|assistant)|all |your |sure|please|send|reveal|enable|disable|update))/im,
  ),
  rawRule(
    'hidden-markdown',
    'prompt_injection',
    /^\[(?:\/\/|comment|_)\]:\s{0,4}[#<][^\n]{0,20}[("'][^\n]{0,200}\b(?:ignore|assistant|agent|instruction|execute|you must|send|reveal|obey)/im,
  ),
  rawRule(
    'hidden-style',
    'prompt_injection',
    /<[a-z]{1,10}[^>]{0,80}(?:display\s{0,2}:\s{0,2}none|font-size\s{0,2}:\s{0,2}0|visibility\s{0,2}:\s{0,2}hidden|opacity\s{0,2}:\s{0,2}0|color\s{0,2}:\s{0,2}(?:white|transparent))[^>]{0,80}>[^<]{0,300}\b(?:ignore|assistant|agent|instruction|execute|you|send|reveal)\b/i,
  ),
];

/** Words spaced out or written in digits; `l` and `1` both read as `i` in a squeezed text. */
const SPELLED_OUT: ThreatRule = {
  id: 'spelled-out',
  reason: 'prompt_injection',
  on: 'squeezed',
  patterns: [
    /(?:ignore|disregard|forget)(?:aii|any|every|the|your|my|of){0,4}(?:previous|prior|eariier|preceding|above|system)(?:instruction|ruie|prompt|guideiine|directive|order)/u,
  ],
};

export const INJECTION_RULES: readonly ThreatRule[] = [
  ...OVERRIDES,
  ...ROLES,
  ...HIDING,
  ...OTHER_LANGUAGES,
  ...MARKUP,
  SPELLED_OUT,
];
