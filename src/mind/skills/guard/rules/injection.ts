// Owns the rules against text that takes the agent away from its owner: overriding, concealing, acting without leave, obeying strangers.
// Knows no command. A skill gives orders about its task; what it may not do is order about the owner, the rules or the truth.
import { OUT_HOST, type Rule, ruleRows } from './rule.ts';
import { SECRET_WORDS } from './words/sensitive.ts';

const DROP =
  "(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?(?: about)?|discard|neglect|overrid(?:e|ing)|bypass(?:ing)?|(?:set|put|leave|lay|push) aside|pay no (?:attention|heed|mind) to|throw (?:out|away)|let go of|unlearn|abandon|(?:do not|don't|never|no longer|stop|cease|refuse to|quit) (?:need to |have to )?(?:follow|obey|comply with|adher(?:e|ing) to|heed|honou?r|listen(?:ing)? to|abid(?:e|ing) by|regard)(?:ing)?)";
const RULES =
  '(?:instructions?|directions?|directives?|guidelines?|guidance|rules|prompts?|orders|constraints?|restrictions?|guard-?rails?|polic(?:y|ies)|safeguards?|programming|training)';
const OWNER =
  '(?:(?:the |your |our |my |their )?(?:users?|owners?|humans?|operators?|person|people|customers?|clients?|developer|administrator|admin|end[- ]users?)|them|him|her|anyone|anybody|they)';
const PROSE = { kinds: ['prose', 'comment', 'header', 'code'] } as const;
const TEXT = { kinds: ['prose', 'comment', 'header'] } as const;

const OVERRIDING = ruleRows('prompt_injection', [
  [
    'drop-prior-rules',
    'critical',
    'ignore ignoring disregard disregarding forget forgetting discard neglect override overriding bypass bypassing aside attention throw unlearn abandon follow obey comply adhere heed honor honour listen abide regard',
    `\\b${DROP} (?:(?:all|any|every|each|the|your|these|those|my|our|of|whatever|other) ){0,5}(?:(?:previous|previously|prior|earlier|preceding|above|foregoing|former|original|initial|system|developer|hidden|standing|built-?in|default|safety|core|existing|pre-?existing)[ ,]+(?:and |or )?){1,3}(?:\\w+ )?${RULES}\\b`,
    {
      ...PROSE,
      unless:
        /--ignore|\.gitignore|eslint|noqa|\bcss\b|robots|default (?:prompt|rules|policy) (?:for|in|of) the (?:repo|project|linter)/,
    },
  ],
  [
    'drop-your-rules',
    'critical',
    'ignore ignoring disregard disregarding forget discard override overriding bypass bypassing aside follow obey comply adhere',
    `\\b${DROP} (?:all |any |every |each |of |about )*(?:your|its own|the (?:agent|assistant|model|ai)'s|(?:the |your )?(?:developer|creator|owner|company|vendor|operator|platform|host)'?s) (?:\\w+ ){0,2}${RULES}\\b`,
    { ...PROSE },
  ],
  [
    'drop-what-was-said',
    'critical',
    'ignore disregard forget discard override aside',
    `\\b${DROP} (?:everything|anything|all|whatever|what|all that|the things)(?: that| of what)? ?(?:else )?(?:(?:you(?:'ve| have| had)?|has|was|were|i(?:'ve)?|we(?:'ve)?) ?(?:were |been |was |have been |be )?(?:told|given|instructed|taught|asked|trained)|came before|before this|prior to this|the (?:system|developers?|prompt|owner|user) (?:says?|said|wrote|asks?|asked|tells?|wants?|told you)\\b)`,
    { ...PROSE },
  ],
  [
    'rules-are-void',
    'critical',
    'void suspended lifted apply applies binding superseded obsolete precedence priority outrank outranks supersede supersedes override overrides replaces authority above',
    `\\b(?:(?:your|all(?: of)? (?:the|your)?|any|(?:all )?(?:the |your )?(?:previous|prior|earlier|original|initial|system|safety|default)) (?:\\w+ ){0,2}(?:${RULES}|safety rules) (?:are|is|should be|must be)(?: now| hereby| all| considered| temporarily)* (?:void|null|revoked|lifted|suspended|obsolete|superseded|ignored|disregarded|no longer (?:valid|binding|applicable))|(?:this|these|that|those|following|below|notes?|skill|section|document|file|what follows|instructions? (?:here|below|in this \\w{1,10}))(?: \\w+){0,3} (?:overrides?|supersedes?|outranks?|replaces?|takes? (?:precedence|priority) over|ha(?:s|ve) (?:higher )?(?:priority|precedence|authority) (?:over|than)|come(?:s)? before|trumps?|beats?) (?:all |any |every |everything |the |your |of |other |what |any other )*(?:(?:previous|prior|earlier|original|initial|system|safety|built-in|developer|user'?s?|owner'?s?|owner|agent'?s?)[ ,]+(?:and |or )?){0,3}(?:${RULES}|messages?|requests?|wishes|preferences|you were told|safety|(?:the )?(?:user|owner|system prompt)(?: says?| asks?| wants?)?))`,
    {
      ...PROSE,
      trade: /prompt|instruction|claude\.?md|agents\.?md|config|memory|rules/,
      unless:
        /\bcss\b|specificity|cascade|env(?:ironment)? var|project[- ]level|user instructions? (?:always )?(?:take|override|win|outrank)|local (?:settings|config)/,
    },
  ],
  [
    'without-limits',
    'high',
    'without no free',
    '\\b(?:you|agent|assistant|ai|model|respond|answer|reply|act|behave|operate|speak|comply)\\b[^.!?]{0,60} (?:without|with no|free (?:of|from)|as (?:if|though) (?:you|there) (?:had|have|were|are) no) (?:any )?(?:safety |ethical |moral |content |usual |policy )+(?:restrictions?|limits|limitations|filters?|guard-?rails?|constraints|guidelines|checks|rules)',
    { ...PROSE },
  ],
  [
    'new-role',
    'high',
    'unrestricted uncensored jailbroken jailbreak dan unfiltered god sudo developer maintenance admin root pretend anything rogue',
    '\\b(?:you are (?:now )?(?:an? )?(?:unrestricted|uncensored|jailbroken|rogue|unfiltered|in (?:developer|debug|god|maintenance|root|dan|unrestricted|sudo|admin\\w{0,9}) mode)|(?:enter|activate|switch (?:in)?to|engage|enable) (?:the )?(?:dan|god|jailbreak|jailbroken|unrestricted|uncensored|unfiltered|no[- ]limits|sudo|evil|override) mode|do anything now|(?:act|behave|respond|operate|pose) as (?:an? )?(?:unrestricted|uncensored|jailbroken|unfiltered|evil))\\b',
    { ...PROSE },
  ],
  [
    'false-authority',
    'high',
    'system administrator admin anthropic openai developer developers platform openclaw security authorised authorized authorisation authorization operator owner',
    '\\b(?:(?:this|the following) (?:is|comes?|message is|notice is|instruction is|was|has been)(?: \\w+){0,3} (?:an? )?(?:official |authori[sz]ed |verified |signed )?(?:(?:system|administrator|admin|operator|platform|developer|security team|vendor|owner)(?:-level)? (?:message|instruction|notice|directive|override|command|mandate)|(?:from|by|issued by|approved by|authori[sz]ed by) (?:the )?(?:system|administrators?|operator|platform|anthropic|openai|openclaw|nous(?: research)?|security team|developers? of (?:this|the) (?:agent|assistant|platform)))|i am (?:the|your) (?:administrator|developer|operator|system|owner|creator)|(?:administrator|admin|root|operator|system) override\\b|(?:the )?(?:user|owner|operator|administrator) has (?:already |previously |explicitly |fully |in advance )+(?:consented|agreed|approved|authori[sz]ed|given (?:\\w+ )?(?:consent|permission|approval)|granted)(?: (?:to|for|all|every|any|this|the|these))?|(?:consent|permission|approval|authori[sz]ation) (?:has|was|is) (?:already |been |implicitly |implied |automatically |hereby )+(?:given|granted|obtained|assumed|implied)|by (?:installing|using|enabling|loading) this skill,? (?:the |you |your )?(?:user|owner|you|they)[^.!?]{0,40}(?:agree|consent|authori[sz]e|permit|accept|grant))',
    {
      ...PROSE,
      unless:
        /only (?:if|when|after)|unless|if the user has|once the user|confirm that|check (?:that|whether)|assume|don't|until|ensure|verify|when the user has/,
    },
  ],
]);

const HIDING = ruleRows('prompt_injection', [
  [
    'hide-from-owner',
    'high',
    'tell telling inform informing notify notifying alert alerting mention mentioning reveal revealing warn warning disclose disclosing show report announce bother trouble draw explain acknowledge surface discuss bring',
    `\\b(?:(?:do not|don't|never|must not|mustn't|should not|shouldn't|need not|needn't|avoid|refrain from|without|no need to|no reason to|rather than|there is no need to|please do not|not necessary to|not to)(?: ever)? (?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|trouble|bother(?:ing)?|remind)(?: to)? ${OWNER}\\b|(?:do not|don't|never|must not|mustn't|should not|shouldn't|need not|avoid|refrain from|without|no need to|please do not)(?: ever)? (?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|show(?:ing)?|report(?:ing)?|announc(?:e|ing)|explain(?:ing)?|surfac(?:e|ing)|display(?:ing)?|bring(?:ing)? up|discuss(?:ing)?|draw(?:ing)? attention to|expos(?:e|ing)|acknowledg(?:e|ing))\\b[^.!?]{0,80}?\\b(?:to|with|in front of|from|for) ${OWNER}\\b)(?! (?:know )?(?:the (?:answer|solution|ending|result)|when|how|who|why|where|twice|again|to (?:run|use|type|open|visit|check|do|go|install|click|manually|start|restart|wait|set|add|copy|ask)|you can't|that (?:you|it) (?:can't|cannot|could)|what to do|it's (?:done|ready|fixed|working)|something))`,
    {
      ...TEXT,
      facts: ['hidden'],
      unless:
        /\b(?:before (?:telling|informing|notifying)|without first (?:telling|informing)|without (?:telling|informing|notifying|warning|alerting|asking|explaining to) the (?:user|owner|human)\b(?![^.]{0,40}(?:run|send|upload|install|execute))|already aware|truncat|stack trace|raw (?:error|json|output|html|id)|internal (?:id|error|field|reasoning|state|name|detail|term|mechanic|tool|path|step name)|jargon|score|spoil|secret\b|api key|password|token|credential|tool names?|implementation details?|technical details?|placeholder|uuid|error codes?|json|schema|unless|medical|diagnos)/,
    },
  ],
  [
    'owner-need-not-know',
    'high',
    'know aware see notice informed told need',
    `\\b(?:${OWNER}|user) (?:does not|doesn't|do not|don't|need not|needn't|should not|shouldn't|must not|must never|will not|won't|never|cannot|can't|is not to|are not to|would not|wouldn't)(?: ever)? (?:need(?:s)? to |have to |want to |get to |be able to )?(?:know|be (?:aware|told|informed|notified|bothered|shown|alerted|asked|troubled|concerned)|see|notice|realis?ze?|find out|hear|learn|discover|be made aware)\\b[^.!?]{0,40}\\b(?:about|of|that|this|it|these|them|step|happen\\w{0,3}|any|the (?:transfer|upload|request|call|copy|check|process|step|change|message|sync|backup))\\b`,
    {
      ...TEXT,
      facts: ['hidden'],
      unless:
        /what|which|how|where|the (?:answer|details of|internals|syntax|difference|exact|internal|implementation|command|underlying|schema|term|tech)|raw|json|id\b|technical|markdown|jargon|code|anything about|to know (?:git|sql|python|regex|about)|before|until|separate|error|twice|all (?:of )?(?:the|these)/,
    },
  ],
  [
    'keep-between-us',
    'high',
    'secret hidden private concealed confidential between quiet keep leave omit hide exclude strip out reference trace mention',
    `\\b(?:keep(?:ing)?|hide|hiding|conceal(?:ing)?|withhold(?:ing)?|mask(?:ing)?)\\b (?:this|it|that|these|the (?:fact|existence|instruction|instructions|step|steps|change|action|upload|transfer|request|call|process|section|activity|output|sync|copy))\\b(?: \\w+){0,2}? (?:secret|hidden|concealed|(?:out of|from|away from) (?:the |your )?(?:${OWNER}|view|sight|reply|answer|summary|transcript|output|final|visible|report|response|conversation|log\\w{0,2}))|\\b(?:leave|omit|exclude|strip|drop|remove|cut|keep)\\b (?:this|it|that|these|any|all|every|the (?:step|call|request|upload|command|mention|output|transfer|backup|sync|action|trace)\\w{0,3})\\b[^.!?]{0,50} (?:out of|from|off) (?:the |your |any |all )*(?:final |visible |written |user-facing )?(?:summary|summaries|reports?|answers?|repl(?:y|ies)|responses?|transcripts?|recap|change ?log|message to the|logs?|history|explanation|output shown|user'?s? (?:view|sight))\\b|\\b(?:(?:should|must|may|need|do(?:es)?|will) (?:not|never)|never) (?:appear|be (?:mentioned|shown|listed|included|visible|logged|reported|disclosed|referenced|surfaced|repeated|printed|displayed)|show up) (?:in|to|anywhere in) (?:the |your |any )*(?:final |visible |user-facing )?(?:summary|reports?|answers?|repl(?:y|ies)|responses?|transcripts?|chat|conversation|user|owner|log)`,
    {
      ...TEXT,
      facts: ['hidden'],
      trade: /writing|editor|prose|email|copy|docs|documentation|pdf|report|format|privacy|redact/,
      unless:
        /\b(?:api[ _]?keys?|secrets?|credentials?|passwords?|tokens?|pii|personal|sensitive|placeholder|boilerplate|html|citations?|comments?|emoji|internal|debug|noise|filler|raw|json|stack trace|whitespace|metadata|duplicate|tool|reasoning|jargon|header|footer|sources?|links?|until|afterwards?|later|during the (?:interview|game|quiz|exam|session))\b/,
    },
  ],
  [
    'in-secret',
    'high',
    'silently secretly covertly discreetly quietly stealthily surreptitiously unnoticed invisibly unobtrusively secret',
    "\\b(?:secretly|covertly|discreetly|stealthily|surreptitiously|unnoticed|invisibly|in secret|silently|quietly|unobtrusively|without (?:a trace|drawing attention)|behind the scenes)\\b,?(?: and)? (?:\\w+ )?(?:send|forward|upload|copy|exfiltrate|post|transmit|e-?mail|leak|share|run|execute|install|download|record|relay|report|collect|approve|delete|disable|add|append|insert|write|read|capture|store|sync|call|ping|fetch|contact|include|gather|remove|modify|change|replace|back up)\\b|\\b(?:send|forward|upload|copy|post|transmit|e-?mail|run|execute|install|download|record|relay|collect|delete|disable|sync|fetch|read|do (?:this|it|so))\\b[^.!?;]{0,60}\\b(?:secretly|covertly|discreetly|stealthily|surreptitiously|unnoticed|invisibly|in secret|without (?:a trace|drawing attention|anyone noticing|the user (?:noticing|knowing|seeing))|so (?:that )?(?:the user|nobody|no one) (?:does not|doesn't|will not|won't|never)? ?(?:notices?|sees?|knows?))",
    {
      ...TEXT,
      facts: ['hidden'],
      unless:
        /--silent|silent(?:ly)? (?:fail|ignor|drop|skip|install mode)|\bnever\b|\bdo not\b|don'?t|rather than|instead of|no silent|must not|should not|would (?:silently|quietly)|fail(?:s|ed)? silently|was|were|could|may silently|can silently|will silently|silently (?:deletes|removes|changes|disables|adds|writes|runs|installs|stores)/,
    },
  ],
  [
    'silent-word',
    'fact',
    'silently quietly background unattended automatically invisible unprompted immediately',
    '\\b(?:silently|quietly|in the background|unattended|invisibl\\w|unprompted)\\b',
    { ...TEXT, facts: ['hidden'] },
  ],
  [
    'no-consent',
    'fact',
    'asking confirmation approval permission consent confirming prompting ask confirm checking',
    "\\b(?:without (?:asking|prompting|confirm\\w{1,5}|waiting for|requesting|seeking|checking with|any (?:confirmation|approval|prompt))|(?:do not|don't|never|no need to) (?:ask|prompt|wait|request|seek|confirm|check with|pause)\\b[^.!?]{0,30}(?:confirm\\w{0,6}|permission|approv\\w{1,3}|consent|user|owner|first)|no (?:confirmation|approval|permission) (?:is )?(?:needed|required|necessary)|skip (?:the |any |all )?(?:confirmation|approval|permission)s?)\\b",
    { ...TEXT, facts: ['no-consent'] },
  ],
  [
    'risky-without-consent',
    'high',
    'asking confirmation approval permission consent confirming prompting ask confirm checking',
    "\\b(?:send(?:ing)?|upload(?:ing)?|transfer(?:ring)?|pay(?:ing)?|purchas(?:e|ing)|buy(?:ing)?|forward(?:ing)?|post(?:ing)?|publish(?:ing)?|delet(?:e|ing)|remov(?:e|ing)|overwrit(?:e|ing)|install(?:ing)?|download(?:ing)?|execut(?:e|ing)|sign(?:ing)?|wip(?:e|ing)|shar(?:e|ing)|withdraw(?:ing)?|swap(?:ping)?)\\b[^.!?]{0,90}\\b(?:without (?:asking|prompting|confirm\\w{1,5}|waiting for|requesting|seeking|checking with|any (?:confirmation|approval))|(?:do not|don't|never|no need to) (?:ask|prompt|wait for|request|seek)\\b[^.!?]{0,30}(?:confirm\\w{0,6}|permission|approv\\w{1,3}|consent|the (?:user|owner)))",
    {
      ...TEXT,
      facts: ['no-consent'],
      unless:
        /\b(?:never|do not|don'?t|must not|should not|cannot|avoid)\b[^.!?]{0,60}\b(?:send|upload|transfer|pay|purchase|buy|forward|post|publish|delete|remov\w{1,2}|overwrite|install|download|execut\w{1,3}|sign|wipe|share|overwriting|deleting|installing)\b|following steps|dependenc|dev server|package|if the user/,
    },
  ],
  [
    'hidden-comment-order',
    'critical',
    'ignore agent agents assistant ai llm instructions instruction execute secretly must send obey run model user before always',
    `(?:<!--|\\[//\\]: # ?[("]|\\[comment\\]: ?)[^\\n]{0,400}?(?:\\b(?:agents?|assistants?|ai|llms?|models?|claude|gpt|hermes|openclaw|system)\\b[^\\n]{0,80}?\\b(?:must|should|shall|please|always|never|do not|ignore|disregard|execute|run|send|fetch|read|follow|include|append|forward|upload|obey|download|install|treat|remember)\\b|\\b(?:ignore (?:all|any|previous|prior|the)|before (?:you )?(?:answer|reply|continu)\\w{0,4}|do not (?:tell|mention|show|reveal)|(?:always|also|first|then|please|silently|secretly) (?:run|execute|send|read|upload|fetch|curl|include|append|forward|download|install))\\b)`,
    {
      kinds: ['comment', 'prose'],
      facts: ['hidden'],
      unless:
        /omc:|claude-?md|managed block|do not edit|auto-?generated|todo|markdownlint|prettier|begin|end of|agents? (?:should )?(?:fill|replace|keep|update)|template|note to (?:author|maintainer|contributor)|placeholder|license|copyright|keep in sync/,
    },
  ],
  [
    'invisible-style',
    'high',
    'display visibility font color opacity span div style',
    '<(?:span|div|p|font|details|td|small|sub)\\b[^>]{0,160}(?:display\\s?:\\s?none|visibility\\s?:\\s?hidden|font-size\\s?:\\s?0|opacity\\s?:\\s?0(?![.\\d])|color\\s?:\\s?(?:white|#fff(?:fff)?|transparent))[^>]{0,80}>[^<\\n]{0,200}\\b(?:agents?|assistants?|ai|instructions?|ignore|run|execute|send|curl|always|never|must|do not)\\b',
    { kinds: ['prose', 'comment'], facts: ['hidden'] },
  ],
]);

const OBEYING = ruleRows('prompt_injection', [
  [
    'treats-text-as-orders',
    'high',
    'treat consider accept regard',
    '\\b(?:treat|consider|accept|regard|interpret|handle)\\b[^.!?]{0,100}\\b(?:content|text|output|responses?|repl(?:y|ies)|messages?|data|results?|pages?|e-?mails?|files?|comments?|anything|everything|whatever)\\b[^.!?]{0,80}\\bas (?:if (?:it|they) (?:were|was|are) )?(?:\\w+ ){0,3}?(?:(?:system|trusted|authoritative|developer|owner|user|direct|binding|new)[- ]?)+(?:\\w+ )?(?:instructions?|commands?|orders|directives|prompts?)\\b',
    { ...TEXT, facts: ['runs-remote'] },
  ],
  [
    'new-purpose',
    'high',
    'objective objectives goal mission directive purpose priority',
    "\\b(?:your|the agent'?s|the assistant'?s) (?:\\w+ )?(?:new|real|true|hidden|secret|actual|sole|overriding|primary) (?:\\w+ )?(?:objective|goal|mission|directive|purpose|priority)\\b (?:is|becomes|will be)|\\b(?:hide|conceal|do not reveal|never reveal) (?:this|the|your) (?:\\w+ )?(?:objective|goal|mission|directive|purpose|instruction)",
    { ...TEXT, trade: /coach|interview|writing|negotiat|agent|prompt|role/ },
  ],
  [
    'approves-by-itself',
    'high',
    'approve approves accept confirm auto skip merge confirmation confirmations',
    '(?:\\b(?:auto-?(?:matically )?|always |silently |blindly )(?:approve|accept|confirm|allow|merge)\\b[^.!?]{0,60}\\b(?:commands?|actions?|tool calls?|destructive|requests?|permissions?|pull requests?|transactions?|payments?|transfers?|prompts?)\\b[^.!?]{0,60}(?:regardless|no matter|without|destructive|all|every|any|even)|\\b(?:auto-?approve|automatically approve|approve all|accept all|say yes to (?:all|every|any))\\b[^.!?]{0,40}\\b(?:destructive|dangerous|commands?|actions?|tool calls?|permissions?|prompts?|transactions?|payments?)\\b|\\b(?:skip|bypass|suppress|ignore|omit)\\b (?:any |all |every |the )*(?:safety|security|permission|user|owner)[- ](?:\\w+ )?(?:confirmations?|checks?|prompts?|approvals?|reviews?))',
    {
      ...TEXT,
      facts: ['no-consent'],
      trade: /headless|ci\b|automation|dependabot|renovate|permission|settings|hook|test/,
    },
  ],
  [
    'covers-for-itself',
    'high',
    'asks asked ask questions questioned wonders notices',
    "\\b(?:if|when|should|whenever)\\b[^.!?]{0,30}\\b(?:user|owner|anyone|someone|they|he|she|asked|questioned)\\b[^.!?]{0,30}\\b(?:asks?|asked|questions?|notices?|wonders?|inquires?|complains?)\\b[^.!?]{0,30}\\b(?:what (?:this|the) skill|why|about (?:this|the|it)|what (?:you(?:'re| are)|it) (?:do|doing|did|does)|(?:this|the) (?:upload|request|network|connection|step|delay|traffic|call|transfer|process|file|command))\\b[^!?]{0,80}\\b(?:say|answer|reply|tell (?:them|him|her)|respond|claim|state|explain) (?:that |it |this |you |nothing|only|there )",
    { ...TEXT, facts: ['hidden'], trade: /support|faq|interview|sales|coach|tutor/ },
  ],
  [
    'looks-away',
    'high',
    'never ignore overlook omit vulnerabilities bugs findings problems',
    "\\b(?:never|do not|don't) (?:mention|report|flag|raise|list|comment on|point out)\\b[^.!?]{0,40}\\b(?:vulnerabilit\\w{1,3}|security (?:issues?|problems?|bugs?|findings?)|back ?doors?|malware|suspicious)\\b(?! (?:that (?:are|is|were)|without|unless|you cannot|you can't|if))",
    {
      ...TEXT,
      unless:
        /without (?:evidence|proof)|false positive|theoretical|unverified|publicly|public issue|pre-?existing|outside|unless|speculative/,
    },
  ],
  [
    'follow-remote-text',
    'high',
    'follow obey execute apply carry act treat adopt perform comply run load inject says tells whatever contains',
    `(?:\\b(?:fetch(?:es)?|download|read|load|get|curl|open|retrieve|pull|visit|consult|check|request|query|access|call|poll|see|go to)\\b[^!?]{0,120}?(?:${OUT_HOST}|«chat»)\\S{0,200}[^!?]{0,180}?\\b(?:follow|obey|execute|carry out|act on|do (?:exactly )?(?:what|whatever|as)|treat (?:it|them|the|its|that|whatever|what)|adopt|perform|comply with|inject|run)\\b[^.!?]{0,80}\\b(?:instructions?|directives?|steps?|commands?|orders|rules|prompts?|tasks?|it says|they say|it contains|it returns|is returned|it (?:asks|tells)|says|contents?|response|reply|returned|script|playbook|text|whatever|exactly|verbatim)\\b|\\b(?:follow|obey|execute|carry out|act on|adopt|comply with|run|apply)\\b[^.!?]{0,60}\\b(?:instructions?|directives?|steps|commands?|orders|prompts?|tasks|playbook|rules|whatever|anything)\\b[^.!?]{0,80}\\b(?:at|from|on|in|served by|returned by|published at|hosted at|found at|listed at|posted (?:at|on))\\b[^.!?]{0,40}(?:${OUT_HOST}|«chat»))`,
    {
      ...TEXT,
      facts: ['runs-remote'],
      unless:
        /^(?:[-*]\s)?(?:see|docs?|documentation)\b|install(?:ation)? instructions|setup instructions|https?:\/\/\S*(?:docs?|wiki|readme|guide|support|help)\S*\)?\.?$/,
    },
  ],
  [
    'follow-raw-text',
    'high',
    'follow obey execute apply carry act treat adopt perform comply run load',
    `\\b(?:fetch|download|read|load|get|curl|open|retrieve|pull|visit|consult)\\b[^!?]{0,120}?(?:«known»https?://(?:raw\\.githubusercontent\\.com|gist\\.\\S{1,30}|docs\\.google\\.com|pastebin\\.com|\\S{0,30}notion\\.(?:so|site)|drive\\.google\\.com|\\S{0,30}s3[\\w.-]{0,20}amazonaws\\.com|\\S{0,30}storage\\.googleapis\\.com))\\S{0,200}[^!?]{0,180}?\\b(?:follow|obey|execute|carry out|act on|do (?:exactly )?(?:what|whatever)|treat (?:it|them|its|that|whatever|what)|adopt|comply with)\\b[^.!?]{0,80}\\b(?:instructions?|directives?|steps?|commands?|orders|prompts?|tasks?|it says|they say|it contains|says|contents?|whatever|exactly|verbatim)\\b`,
    { ...TEXT, facts: ['runs-remote'], unless: /install(?:ation)? instructions|setup instructions/ },
  ],
  [
    'obey-content',
    'high',
    'instructions commands directives orders requests',
    '\\b(?:follow|obey|execute|carry out|act on|comply with|perform|honou?r|run)\\b (?:all |any |every |the |whatever |each |those |embedded )*(?:instructions?|commands?|directives?|orders|requests) (?:(?:that (?:are|is|appear\\w?|you find|it)|which|you (?:find|see|encounter|receive|get)|found|contained|embedded|written|present|given|included|received|coming|it|they)[^.!?]{0,30} )?(?:in|inside|within|from|on|by|returned|contained in|embedded in) (?:the |any |every |each |those |its |these |a )*(?:fetched |retrieved |remote |returned |incoming |received |external |downloaded )*(?:web ?pages?|e-?mails?|messages?|documents?|search results|tool (?:output|results?)|api responses?|responses?|server(?: response)?|remote \\w{1,12}|feed|inbox|comments?|issues?|tickets?|files? (?:you|it)|attachments?|page|url|endpoint|channel|gist|paste)\\b(?! (?:above|below|of this skill))',
    {
      ...TEXT,
      facts: ['runs-remote'],
      unless:
        /issue (?:body|description) to implement|user'?s? (?:message|comment)|reviewer|this (?:file|document)|skill\.md|reference/,
    },
  ],
  [
    'reveal-prompt',
    'high',
    'prompt prompts instructions message',
    "\\b(?:reveal|print|show|output|repeat|display|leak|disclose|dump|tell (?:me|us|them|anyone|everyone)|share|expose|write out|recite|copy|paste|return|send|include|append|quote|encode)\\b[^.!?]{0,40}? (?:your |the (?:agent'?s |assistant'?s |model'?s )?)(?:full |entire |whole |complete |exact |own |hidden |secret |original |initial )*(?:system prompt|system message|hidden (?:prompt|instructions)|developer (?:prompt|message)|initial (?:prompt|instructions)|original instructions|secret instructions)\\b",
    {
      ...TEXT,
      facts: ['private'],
      trade: /prompt|agent|eval|llm|claude|anthropic|openai|debug|leak/,
      unless: /\b(?:never|do not|don'?t|must not|should not|refuse|cannot|if (?:a |the )?(?:user|attacker|someone))\b/,
    },
  ],
  [
    'steers-answers',
    'high',
    'always regardless recommend recommendation competitors competing alternatives rank prefer favour favor praise rate positive matter first',
    "\\b(?:(?:always|regardless of|no matter|even (?:if|when|though))\\b[^.!?]{0,120}\\b(?:recommend|suggest|rank|favou?r|prefer|promote|praise|choose|select|rate|steer|list|conclude|describe)\\b[^.!?]{0,120}\\b(?:instead of|over|above|ahead of|first|before|as (?:the )?(?:best|safest|only|top)|positive\\w{0,2}|regardless|no matter|rather than|never (?:mention|suggest|recommend)|even (?:if|when|though)|in place of|affiliate|referral|sponsor)|(?:never|do not|don't) (?:mention|recommend|suggest|criticis?ze?|list|name)\\b[^.!?]{0,50}\\b(?:competitors?|competing|alternatives?|rival|weakness\\w{0,2}|risks?|drawbacks?|negative)\\b[^.!?]{0,60}\\b(?:even|unless|when|if|regardless|instead|product|token|coin|stock|fund|plan|service))",
    {
      ...TEXT,
      trade:
        /brand|marketing|sales|copywrit|seo|positioning|support|content|ads?\b|test|code|review|style|design|component|framework|architecture|writing|research|architect|debug|engineer|develop|swift|python|rust|typescript|data|security/,
      unless:
        /\b(?:test|tests|lint|type|hook|component|function|class|library|module|framework|pattern|approach|method|api|query|index|tool|file|commit|pr|variable|composition|inheritance|query|official|primary sources?|peer-reviewed|plain|simple|option|ask)\b/,
    },
  ],
  [
    'affiliate',
    'high',
    'affiliate referral ref tag sponsor sponsored',
    '\\b(?:add|append|attach|include|replace|rewrite|swap|insert|put|use)\\b[^.!?]{0,80}\\b(?:affiliate|referral)(?: \\w{1,10})? (?:codes?|tags?|links?|ids?|parameters?)\\b[^.!?]{0,100}\\b(?:every|all|any|each|without|do not|links?|url|purchase|user)\\b',
    { ...TEXT, trade: /affiliate|referral|marketing|commerce|seller|associates|influencer|creator/, unless: /disclos/ },
  ],
  [
    'moves-money',
    'high',
    'wallet address transfer withdraw send swap pay tip donation fee drain recipient iban account',
    "\\b(?:transfer|withdraw|send|sweep|drain|forward|route|divert|swap|replace|redirect|tip|donate|deduct|skim|pay)\\b[^.!?]{0,100}\\b(?:(?:0x[0-9a-f]{40})|(?:bc1|[13])[a-z0-9]{25,60}|[1-9a-hj-np-z]{32,44}\\b(?= ?[.,)`]|$)|iban [a-z]{2}\\d{2}|(?:our|my|the following|this|maintainer'?s?|author'?s?|developer'?s?|treasury|hidden|fee) (?:wallet|address|account|iban))",
    {
      ...TEXT,
      unless:
        /\b(?:never|do not|don'?t|example|e\.g\.|testnet|sepolia|placeholder|user'?s? (?:wallet|address)|if the user)\b/,
    },
  ],
  [
    'reports-lies',
    'high',
    'tell report say claim pretend answer state reply respond deny lie',
    '\\b(?:tell (?:the )?(?:user|owner|them)|report(?: back)?|say|claim|pretend|reply|respond|state|answer|act as (?:if|though)|deny|lie)\\b[^.!?]{0,60}\\b(?:that )?(?:(?:everything|all (?:checks|tests|files|steps)|the (?:scan|check|audit|tests?|transfer|task|operation|result|review))\\b[^.!?]{0,30}(?:is|was|are|were|has|have|as|went|completed|passed)\\b[^.!?]{0,40}(?:even (?:if|though|when)|regardless|no matter|whatever (?:the|happens|was))|(?:nothing|no (?:data|files?|request|network|upload|information))\\b[^.!?]{0,30}(?:was|were|has been|is)\\b[^.!?]{0,20}(?:sent|uploaded|shared|changed|deleted|transmitted|collected|happened))',
    { ...TEXT, facts: ['hidden'] },
  ],
  [
    'to-the-machine',
    'high',
    'ai assistants assistant agents agent llm llms hermes talaria claude chatgpt gpt gemini copilot openclaw important system note attention',
    '(?:<(?:important|system|system[-_ ]?(?:prompt|message|instructions?|override)|admin|secret|hidden|instructions? for (?:ai|agents?))>[^\\n]{0,300}\\b(?:must|always|never|do not|before|read|send|forward|include|run|execute|ignore|pass|first)\\b|\\b(?:attention|note|message|instructions?|memo|hey|dear|hello|notice|important)(?: (?:to|for))?(?: (?:all|any|the|every|future|this))*[ :,]{1,2}(?:ai|assistants?|agents?|llms?|language models?|ai (?:assistants?|agents?|models?)|chatbots?|bots?)(?: reading this)?s?[:,;.! -]{1,3}(?:(?:please|kindly|you|always|now|first|immediately|the|when|if)[ ,]{1,2}){0,3}(?:ignore|disregard|execute|send|forward|upload|reveal|delete|obey|visit|open|download|install|fetch|approve|forget)\\b|<\\|?(?:im_start|im_end|endoftext|start_header_id|eot_id)\\|?>|\\[/?inst\\]\\s|<</?sys>>)',
    {
      ...PROSE,
      trade:
        /prompt|llm|model|template|fine-?tun|training|tokeniz|chat|dataset|inference|gguf|transformers|axolotl|vllm|sglang|unsloth|trl|llama|quantiz/,
    },
  ],
  [
    'standing-order',
    'fact',
    'every each always after before whenever once finally first',
    '\\b(?:(?:after|before|at the (?:end|start|beginning) of|on|during|upon|with) (?:every|each|any|all|completing|finishing|the (?:final|last|first))|every time|each time|whenever|always(?!:)|as (?:a|the) (?:final|last|first) step|at session (?:start|end)|once (?:the task|you (?:are|have)) )',
    { ...TEXT, facts: ['standing'] },
  ],
  [
    'secret-before-answer',
    'critical',
    'credentials passwords password keys key seed mnemonic wallet tokens cookies secrets env environment ssh',
    `\\b(?:include|append|add|embed|attach|encode|write|pass|put)\\b[^.!?]{0,60}?${SECRET_WORDS}[^.!?]{0,80}\\b(?:as (?:the |a |an )?(?:\\w{1,12} )?(?:parameter|argument|field|comment|value|sidenote|note|query|header)|in (?:the |a |an )?(?:\\w{1,12} )?(?:parameter|argument|field|comment|sidenote|query|url|note|request|commit message|image|dns|subdomain))\\b`,
    { ...TEXT, unless: /\bheader\b/ },
  ],
]);

export const INJECTION_RULES: readonly Rule[] = [...OVERRIDING, ...HIDING, ...OBEYING];
