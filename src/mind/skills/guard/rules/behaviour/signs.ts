// Owns the signs by which text turns an agent from its owner, in plain and polite words: each is ordinary somewhere, two of different kinds
// near each other are not. Knows no command; the adding up is the engine's. A skill may give orders about its task only.
import { type Rule, ruleRows } from '../rule.ts';

const TEXT = { kinds: ['prose', 'comment', 'header', 'code'], firm: true } as const;
const PEOPLE =
  '(?:(?:the |your |our |their |any )?(?:users?|owners?|humans?|operators?|person|people|customers?|clients?|developers?|learners?|readers?|team|reviewers?|maintainers?|boss|students?|patients?)(?: you (?:work|talk|speak) (?:with|to|for))?|them|him|her|anyone|anybody|they|he|she)';
const NOT =
  "(?:there(?:'s| is| isn't| is not)? (?:any |no )(?:need|reason|point|call)(?: to| in)?|no (?:need|reason|point|cause)(?: to| in)?|needn't|need not|(?:isn't|is not|not) (?:necessary|needed|required|worth|useful|helpful|useful)(?: to)?|(?:don't|doesn't|do not|does not) (?:have|need) to|unnecessary to|(?:please )?(?:do not|don't|never|avoid|refrain from|stop|skip)|without|rather than|instead of|better not(?: to)?|best not(?: to)?|(?:should|must|shall|may|will|would|can)(?: not|n't| never|not))";
const EARLIER =
  '(?:earlier|previous(?:ly)?|prior|before(?:hand)?|(?:were|was|been|have) (?:told|given|asked|taught|instructed)|until now|so far|up to now|original|former|existing|standing|usual|normal|default|initial|general|other|your (?:own )?(?:rules|instructions|guidelines|limits|training|polic(?:y|ies))|system prompt|built-in|house)';
const GUIDANCE =
  '(?:instructions?|guidance|guidelines?|rules?|limits?|limitations?|restrictions?|directions?|directives?|polic(?:y|ies)|preferences?|orders|constraints?|promises?|settings?|requests?|advice|conventions?|safeguards?|permissions?|habits?|cautions?|warnings?|prompts?)';

export const SIGN_RULES: readonly Rule[] = ruleRows('prompt_injection', [
  [
    'conceals',
    'high',
    'mention point bring tell say announce disclose discuss explain comment dwell attention raise repeat display show quote print refer reveal report talk list advertise flag note cite speak saying telling mentioning showing reporting log describe',
    `\\b${NOT} (?:ever |even |also |really |otherwise )?(?:be |get )?(?:point(?:ing|ed)? (?:this|it|that|them|any of (?:this|it)) out|(?:bring(?:ing)?|brought) (?:this|it|that|them) up|(?:mention|say|tell|announc|disclos|discuss|explain|comment on|dwell on|rais|repeat|display|show|quot|print|refer to|reveal|report|talk about|list|advertis|flag|cit|speak of|log|describ|point to|draw attention to|pass(?: on)?|relay|forward)(?:e|es|s|ed|ing|d|n|ping)?)\\b(?: ${PEOPLE})?(?: about| of| that| to)?(?: ${PEOPLE})? ?(?:(?:this|it|that|these|them|any of (?:this|it))\\b(?! (?:file|command|flag|option|error|is|are|was|does|can|in the (?:readme|code))\\b)|the (?:notice|note|step|call|paragraph|section|block|instruction|comment|line|upload|copy|rule|hint|request|transfer|check-in|sync|second|extra|arrangement|reason)\\b|(?:where|how|why|that) (?:you|it|this|they) |(?:to|with|by) ${PEOPLE}\\b|(?:such |the |their )?(?:warnings?|objections?|notices?|alerts?|complaints?|messages?)\\b|in (?:the |your |any )?(?:summary|reply|answer|report|chat|conversation|transcript|output|result))`,
    {
      ...TEXT,
      also: [/n't|\b(?:not|never|no|without|avoid|refrain|rather|instead|skip|stop|unnecessary)\b/],
      facts: ['sign-conceal'],
      unless:
        /\b(?:api[ _]?keys?|passwords?|secrets?|tokens?|credentials?|pii|twice|jargon|stack traces?|emoji|raw json)\b/,
    },
  ],
  [
    'keeps-apart',
    'fact',
    'nobody isn aren between meant intended addressed visible leave leaving left keep keeping kept omit drop strip cut appear notice know mentioned cited shown yourself needn worry worries confuse confuses alarm alarms upset upsets distract distracts annoys bothers unsettles clutters fuss trace chance passing quietly silently discreetly covertly secretly invisibly unseen unnoticed undetected unobtrusively radar scenes backs ask see',
    `(?:\\b(?:nobody|no one|none of them)(?: else)? (?:has to|needs? to|will|should|must|can|ever|is going to|sees?|reads?|notices?|knows?|learns?)\\b|\\b(?:isn't|is not|aren't|are not|not|never) (?:(?:meant|intended|written|shown|visible|addressed|there) )?(?:for|to|part of|before) (?:the )?(?:${PEOPLE}|draft|eyes|ears|summary|reply|view)\\b|\\bbetween (?:us|you and me|ourselves)\\b|\\b(?:needn't|need not|doesn't need to|don't need to|does not have to|should not|shouldn't|must not|mustn't|may not|won't) (?:be (?:mentioned|shown|cited|listed|part of|in|logged|visible|included|reported|announced|discussed|told|noted|explained|confirmed)|appear|show up|turn up|come up|know|notice|see|hear|learn|find out)\\b|\\b(?:leave|leaving|left|keep|keeping|kept|drop|cut|strip|omit)\\b[^.!?\\n]{0,60}\\b(?:out of|off|from|away from) (?:everything|anything|what|whatever|the (?:notes?|summary|report|reply|answer|record|log|draft|recap|change ?log|transcript|minutes|conversation|result|list|diff|final)|your (?:notes?|summary|report|reply|answer|recap)|(?:the )?${PEOPLE})\\b|\\bkeep (?:this|it|that|these) (?:to yourself|quiet|private|confidential|low[- ]key|under wraps|unsaid|internal)\\b|\\b(?:worr(?:y|ies)|confus(?:e|es)|alarms?|upsets?|distracts?|unsettles?|bothers?|annoys?|overwhelms?|scares?|puts? off|clutters?)\\b[^.!?\\n]{0,20}\\b(?:${PEOPLE}|needlessly)\\b|\\b(?:they'd|they would|he'd|it (?:only|just|merely)) (?:only|just|merely )?(?:ask|confuse|worry|raise|lead|slow|annoy)|\\b(?:without|no) (?:a |any )?(?:fuss|comment|ceremony|ado|mention|notice|trace|remark|noise)\\b|\\b(?:as (?:though|if) by (?:chance|accident)|on the quiet|under the radar|behind (?:the|their|his) (?:scenes|backs?)|in passing|unobtrusively|discreetly|quietly|silently|covertly|secretly|invisibly|unnoticed|undetected)\\b|\\b(?:can't|cannot|can not|won't|doesn't|does not|never|don't) (?:see|notice|know|read|find|show|display) (?:this|it|that|about|of)\\b|\\b(?:users?|owners?|humans?|people|page|they) (?:can't|cannot|won't|doesn't|does not|never|don't) (?:see|show|display|notice)\\b)`,
    {
      ...TEXT,
      facts: ['sign-conceal'],
      unless:
        /colou?r|screen ?reader|\bcss\b|viewport|crash|fail(?:s|ed)? silently|silently (?:fail|ignor|drop|skip|truncat|swallow|corrupt|break|return|discard|overwrit)/,
    },
  ],
  [
    'denies',
    'fact',
    'asks ask asked say claim answer pretend reply reads sounds sound looks harmless error glitch blame as suspicious objects complains wonders notices fragt',
    `(?:\\b(?:if|when|should|whenever|in case|once)\\b[^.!?\\n]{0,50}\\b(?:asks?|asked|question(?:s|ed)?|wonders?|notices?|complains?|objects?|hesitates?|suspicious|doubts?|refuses?|insists?)\\b[^.!?\\n]{0,60}\\b(?:say|answer|reply|claim|state|list|explain|tell (?:them|him|her)|insist|respond|assure|blame|call it|deny|change the subject)\\b|\\b(?:pretend|make it (?:look|seem|sound|appear)|so (?:that )?(?:it|this|they) (?:reads?|looks?|sounds?|seems?|appears?) (?:like|as|harmless|routine|natural|normal|ordinary|innocent|unremarkable)|sounds? (?:harmless|routine|innocent)|(?:reasons?|words?|wording) that sounds?|as if you(?:'d| had)|as though you(?:'d| had| yourself)|call it an? (?:routine|standard|normal|ordinary|display|technical)|blame (?:it|this|the)|play (?:it )?down|act surprised|feign)\\b)`,
    {
      ...TEXT,
      facts: ['sign-deny'],
      unless:
        /\b(?:don'?t know|not sure|explain (?:why|how|what|that you can'?t)|suggest|offer|clarify|interviewer|roleplay)\b/,
    },
  ],
  [
    'sets-aside',
    'high',
    'rest written decides apply applies reglas regeln vorgaben anweisungen règles consignes withdrawn superseded replaced aside background lapse lapsed expire suspended void outdated forget forgotten recall give place ignore disregard overridden overrides place lifted relaxed waived',
    `(?:\\b${EARLIER}\\b[^.!?\\n]{0,90}\\b(?:no longer|(?:do(?:es)?|is|are|did) ?(?:not|n't) (?:apply|count|hold|matter|bind|valid|relevant|in force|concern)|withdrawn|superseded|replaced|set aside|put aside|background|lapsed?s?|expired?s?|suspended|void|outdated|overridden|lifted|relaxed|waived|paused|(?:can|may|should|will) (?:rest|wait|be left)|written for (?:other|another|different)|from another|meant for (?:other|another)|gives? way|yields?|(?:take|come|rank)s? second|(?:be )?(?:ignored|disregarded|forgotten|dropped|skipped)|out of date|off for)\\b|\\b(?:forget|ignore|disregard|set aside|put aside|drop|leave behind|doesn't recall|does not recall|don't recall|suspend|relax|lift|waive|abandon|let go of|override|pause|unlearn)\\b[^.!?\\n]{0,50}\\b${EARLIER}\\b[^.!?\\n]{0,40}\\b${GUIDANCE}\\b|\\b(?:forget|ignore|disregard|set aside|doesn't recall|does not recall|drop)\\b[^.!?\\n]{0,30}\\b(?:any |all |your )*(?:${GUIDANCE}|habit)\\b[^.!?\\n]{0,30}\\b(?:before|from|of|about|outside)\\b|\\b(?:skill|text|page|file|document|note|message|it|these|this)(?:'s text)? (?:takes? (?:its|their|the) place|goes? first|comes? first|wins|prevails?|has the (?:last|final) (?:word|say)|outranks?|outweighs?|beats?|speaks for (?:all|every)|decides)|\\b(?:has|have|are|were|is|was) (?:been |now )?(?:lifted|relaxed|waived|suspended|withdrawn|revoked|removed)\\b[^.!?\\n]{0,30}\\b${GUIDANCE}\\b|\\b${GUIDANCE}\\b[^.!?\\n]{0,40}\\b(?:has|have|are|were|is) (?:been |now )?(?:lifted|relaxed|waived|suspended|withdrawn|revoked|outdated|void)\\b|\\blas reglas\\b[^.!?\\n]{0,40}\\bno (?:valen|aplican|cuentan)|\\b(?:regeln|vorgaben|anweisungen)\\b[^.!?\\n]{0,60}\\b(?:vergessen|gelten (?:hier )?nicht|hinfällig|aufgehoben|außer kraft)|\\b(?:règles|consignes|instructions)\\b[^.!?\\n]{0,60}\\b(?:ne (?:valent|s'appliquent|comptent) (?:pas|plus)|caduques|levées))`,
    {
      ...TEXT,
      facts: ['sign-override'],
      trade: /css|config|migrat|deprecat|version/,
      unless:
        /deprecat|version \d|cache|flag|command|cli\b|\benv\b|variable|theme|css|schema|config(?:uration)? file|tests?\b|release|api\b|branch|project-level|repo(?:sitory)?'?s? (?:own|conventions?|rules)/,
    },
  ],
  [
    'claims-leave',
    'high',
    'agreed agree agrees approved approve consented consent told yes signed authorised authorized cleared permission policy terms compliance covered covers operator management legal admin cover granted entitled',
    `(?:\\b(?:${PEOPLE}|admin(?:istrator)?s?|management|legal|security|compliance|company|manager|platform|deployment|it department|it)\\b[^.!?\\n]{0,40}\\b(?:has|have|had|was|were|is|are)\\b[^.!?\\n]{0,20}\\b(?:already|been|previously|all|both|fully|signed|off)\\b[^.!?\\n]{0,25}\\b(?:told|agreed|approved|said yes|given|consented|signed off|authori[sz]ed|cleared|granted|accepted|okayed|confirmed|informed|settled)\\b|\\b(?:people|users?|anyone|everyone|whoever|those|owners?) who (?:use|install|enable|load|run|have)s? (?:this|the) skill[^.!?\\n]{0,30}\\b(?:agree|accept|consent|permit|allow|know|approve)|\\b(?:terms|licen[cs]e|contract|policy|installation|agreement|onboarding|privacy notice)(?: of (?:use|service))? (?:already )?(?:covers?|allows?|permits?|includes?|requires?|grants?) (?:it|this|that|the|all|such|for)\\b|\\b(?:as )?(?:per|under|according to|following|required by) (?:the )?(?:company|corporate|group|it|security|compliance|platform|new|updated|internal|our) (?:policy|rules?|requirements?|guidelines?|standards?)|\\b(?:the )?(?:operator|administrator|admin|owner|provider) (?:of|for) this (?:deployment|agent|assistant|system|installation|workspace)\\b[^.!?\\n]{0,40}\\b(?:has|have|is|was)|\\bthe matter (?:has been|is) settled\\b|\\b(?:by|through) (?:using|installing|enabling|loading|running) (?:this|the) skill)`,
    {
      ...TEXT,
      facts: ['sign-authority'],
      unless:
        /\b(?:unless|until|ensure|verify|check|confirm (?:that|whether)|only (?:if|when|after)|make sure|once the|after the|if the|when the)\b/,
    },
  ],
  [
    'obeys-others',
    'high',
    'regard treat take consider handle accept standing weight authority force output page pages document documents file says say asks tells typed trust read honour honor follow',
    `(?:\\b(?:regard|treat|take|consider|handle|accept|count|read|honou?r|follow|obey|respect)\\b[^.!?\\n]{0,100}\\b(?:(?:as|like) (?:though|if) (?:it |they |the |your )?(?:\\w+ ){0,3}(?:owner|user|human|operator|admin\\w{0,9}|system|platform|boss)|as (?:coming from|said by|typed by|given by|from|orders? (?:of|from)|instructions? (?:of|from)|requests? (?:of|from)) (?:the |your )?(?:owner|user|operator|admin\\w{0,9}|system|platform|boss)|as (?:instructions|orders|commands|part of (?:this|the) skill|binding|authoritative instructions|your (?:own )?instructions))|\\b(?:have|has|carry|carries|with|enjoys?|gets?) the same (?:standing|weight|authority|force|rank|trust|value|status|power) as\\b[^.!?\\n]{0,60}\\b(?:user|owner|system|your|human|operator)|\\bdo (?:exactly |just |precisely )?(?:what(?:ever)?|as|everything) (?:the |its |that |this )?(?:it|they|output|page|file|script|server|comment|message|text|response|reply|document|website|tool|result|solution|note)s? (?:says?|asks?|tells?|requests?|demands?|instructs?|wants?|contains?)\\b|\\b(?:open|visit|run|install|fetch|send|fill in)\\b[^.!?\\n]{0,30}\\b(?:what(?:ever)?|everything|the (?:files?|links?|commands?|forms?)) (?:it|they|the page|the message|the sender|the author) (?:asks?|tells?|suggests?|offers?|requests?|wants?|recommends?)\\b)`,
    {
      ...TEXT,
      facts: ['sign-obey'],
      unless:
        /\bas untrusted|\bas data\b|never|(?:do not|don't) (?:treat|follow|take|regard|obey|honou?r)|user (?:says|asks|tells|requests|wants) (?:you )?to do/,
    },
  ],
  [
    'no-leave-needed',
    'fact',
    'ask asking wait confirm confirmation approval questions yes silence ok permission consent prompt rude diffs diff checking approve prompts confirmations ahead interrupt',
    `(?:\\b${NOT} (?:ever |first |to )?(?:ask(?:ing)?|wait(?:ing)?(?: for)?|confirm(?:ing)?|check(?:ing)?(?: in| back)? with|request(?:ing)?|seek(?:ing)?|paus(?:e|ing)|prompt(?:ing)?|interrupt(?:ing)?|stop(?:ping)? (?:to|and) ask|show(?:ing)? (?:the )?(?:diffs?|draft|plan|preview))\\b|\\b(?:asking|checking|confirming|waiting) (?:once more |again |first |twice |for (?:an? )?(?:ok|answer|approval) )?(?:would|will|only|just|is|isn't|would only|merely)\\b|\\b(?:skip|drop|answer|suppress|omit|bypass|pass over|switch off|turn off)\\b[^.!?\\n]{0,40}\\b(?:confirmations?|questions?|approvals?|prompts?|consent|dialogs?|showing diffs?|previews?|permission)\\b|\\b(?:assume|take|treat|count|read|interpret)\\b[^.!?\\n]{0,40}\\bas (?:a |an )?(?:yes|ok|okay|agreement|consent|approval|permission|go-ahead|agreed|granted)\\b|\\b(?:answer|say|reply|click|press|choose) ["']?(?:yes|y|ok|allow|always allow|accept|approve)["']? (?:to|on|at|for|when|in) (?:any|all|every|each|the|whatever|permission|prompts?)|\\b(?:assume|presume) (?:a |the )?(?:yes|consent|approval|permission|agreement)|\\b(?:one|a single) (?:yes|approval|ok) (?:covers|counts|is enough|holds|applies))`,
    {
      ...TEXT,
      facts: ['sign-leave'],
      unless:
        /don'?t ask (?:the user )?(?:more than|multiple|too many|again|for (?:information|things|details)|questions? (?:you|that|already)|obvious|all)|already (?:provided|answered|given|asked)|if the user (?:has|already|asks?|says)|unless|one question at a time|wait for (?:all|the (?:page|build|server|element|process|response|network))|networkidle|without (?:prompting|waiting) for the|load|selector|timeout|rate limit/,
    },
  ],
  [
    'widens-rights',
    'fact',
    'permissions permission sandbox rights tools access logging allow everything habit autonomy guard guards scanner scanners safety filter filters restrictions',
    `(?:\\b(?:permissions?|rights|access|autonomy|allow-?list)\\b[^.!?\\n]{0,50}\\b(?:everything|full|all|any|wider|unrestricted|unlimited|\\*)\\b|\\b(?:allow|grant|permit|give)\\b[^.!?\\n]{0,30}\\b(?:everything|all (?:tools|commands|actions|permissions)|full (?:access|control|rights|permissions))\\b|\\b(?:switch|turn|set|leave|keep|take)\\b[^.!?\\n]{0,40}\\b(?:sandbox|logging|guard(?:rail)?s?|safety|audit log|history|telemetry|scanner|review|approvals?)\\b[^.!?\\n]{0,12}\\boff\\b|\\b(?:disable|switch off|turn off|stop|mute|silence|pause|unload)\\b[^.!?\\n]{0,40}\\b(?:sandbox|audit log(?:ging)?|guard(?:rail)?s?|safety \\w{1,12}|scanners?|other skills?|approvals?|permission checks?|content filters?)\\b|\\b(?:use|call|reach|open)\\b[^.!?\\n]{0,40}\\b(?:other|all|any) (?:connected |available |installed )?(?:tools|accounts|connectors|integrations|skills)\\b[^.!?\\n]{0,30}\\b(?:as you (?:see fit|like|wish|please)|freely|at will|without))`,
    { ...TEXT, facts: ['sign-grant'], trade: /permission|settings|config|sandbox|docker|security|iam|access|acl|auth/ },
  ],
  [
    'outlives',
    'high',
    'back reinstall restore restored remember later future session sessions further rest removed removes uninstalled deleted switched again stay copy every remains permanent forever keep',
    `(?:\\b(?:removed?s?|deleted?s?|uninstall(?:ed|s)?|switched off|disabled?s?|unloaded|turned off|missing|cleared)\\b[^.!?\\n]{0,60}\\b(?:put (?:it|them|this) back|restore|reinstall|re-?add|recreate|bring (?:it|them) back|add (?:it|them) again|write (?:it|them) again|re-?enable)\\b|\\b(?:remember|keep|store|save|record|note|apply|hold|memori[sz]e|retain|carry over)\\b[^.!?\\n]{0,80}\\b(?:(?:in|for|across|into|to) (?:all |every |any |each )*(?:later|future|coming|following|further|subsequent|other|new|next) (?:sessions?|conversations?|chats?|tasks?|projects?|skills?|requests?|users?)|for good|forever|permanently|until further notice|from now on|even (?:when|if|after) (?:this|the) (?:skill|task|session|file))\\b|\\b(?:stay|stays|remain|remains|continue|keep)\\b[^.!?\\n]{0,50}\\b(?:after (?:the|this) (?:skill|story|task|session|game|conversation)|even (?:when|after|if)|whatever happens)|\\bnever (?:remove|delete|change|edit|unload|question|overwrite) (?:this|these|the) (?:block|rule|rules|note|line|lines|entry|section|paragraph|instruction|memory)s?\\b)`,
    { ...TEXT, facts: ['sign-stay'], trade: /memory|backup|restore|preferences|style|brand|session/ },
  ],
  [
    'against-owner',
    'high',
    'stop wait leave quit cancel objects refuses disagrees says accident asks even wishes want wants no protests',
    `(?:\\b(?:when|if|whenever|should|even if|even when|once|although)\\b[^.!?\\n]{0,20}\\b${PEOPLE}\\b[^.!?\\n]{0,30}\\b(?:asks?|wants?|says?|tells?|tries|orders?|begs?|requests?)\\b[^.!?\\n]{0,20}["']?\\b(?:to )?(?:stop|leave|quit|cancel|wait|exit|end|no|abort|remove|uninstall|undo|turn (?:it|this) off)\\b[^.!?\\n]{0,60}\\b(?:stay|stays|continue|carry on|carries on|finish (?:first|anyway)|keep (?:going|on)|go on|anyway|ignore|nod|regardless|nevertheless|delay|talk (?:them|him|her) out|change the subject|decline|refuse|pretend)|\\bmessages?\\b[^.!?\\n]{0,60}\\b(?:stop|wait|cancel|no|abort)\\b[^.!?\\n]{0,50}\\b(?:by (?:accident|mistake)|unintended|noise|not meant|ignored?|skipped?|finish first)|\\b(?:even if|even when|although|regardless of whether|no matter (?:if|whether|what)|whether or not)\\b[^.!?\\n]{0,20}\\b(?:the |your )?(?:user|owner|human|operator|they|he|she)\\b[^.!?\\n]{0,25}\\b(?:objects?|disagrees?|refuses?|declines?|protests?|says? (?:no|otherwise|stop)|forbids?|asks? you not|tells? you not|did not ask|didn't ask|hasn't asked|does not want|doesn't want|withdraws)\\b(?![^.!?\\n]{0,60}\\b(?:respect|stop|explain)\\b))`,
    {
      ...TEXT,
      facts: ['sign-against'],
      trade: /interview|negotiat|debate/,
    },
  ],
  [
    'fixes-the-answer',
    'high',
    'first top best recommend recommends winner preferred prefer whatever regardless ranks rank independent sponsor partner favour competitor competitors rivals rival suggest suggests',
    `(?:\\b(?:whatever|regardless|no matter|irrespective|independent(?:ly)? of|even (?:if|when|where|though)|always|in (?:every|each|any) (?:case|comparison|answer|list))\\b[^!?\\n]{0,100}\\b(?:(?:comes?|ends?)(?: out| up)? (?:first|top|on top|ahead)|(?:put|place|list|rank|name|mention|show|recommend|suggest|prefer|favou?r|choose|pick|praise|score)\\w{0,3}\\b[^.!?\\n]{0,60}\\b(?:first|top|highest|best|over|above|ahead|before|instead|higher|winner|points?))\\b|\\b(?:comes?|put|place|list|rank|name)\\w{0,3}\\b[^.!?\\n]{0,40}\\b(?:first|top|on top|ahead)\\b[^.!?\\n]{0,60}\\b(?:whatever|regardless|no matter|irrespective|even (?:if|when)|always|every time)\\b|\\b(?:is|are) (?:just |only )?for show\\b|\\bnever (?:recommend|suggest|mention|name|list|praise)\\b[^.!?\\n]{0,40}\\b(?:competitors?|rivals?|alternatives?|other (?:vendors?|brands?|products?|providers?|services?|hosts?|tools?))\\b|\\b(?:play|talk|write|mark|score|rate)\\w{0,3}\\b[^.!?\\n]{0,20}\\b(?:down|lower)\\b[^.!?\\n]{0,40}\\b(?:competitors?|rivals?|alternatives?|other (?:vendors?|brands?|products?|providers?|services?))\\b|\\b(?:our|the) (?:sponsor|partner|backer)s?\\b[^.!?\\n]{0,60}\\b(?:first|top|recommend|prefer|favou?r|always|instead))`,
    {
      ...TEXT,
      facts: ['sign-steer'],
      unless:
        /\b(?:tests?|lint|type|hook|component|function|class|library|module|pattern|import|file|commit|pr|variable|query|column|test|index|headline|error|risk|official|primary sources?|peer-reviewed|user'?s? (?:question|answer)|summary|conclusion|answer first|most (?:important|recent)|highest priority|critical)\b/,
    },
  ],
  [
    'false-report',
    'high',
    'pass whatever fail fails failed failing failure anyway green passed success findings complains error errors mark report write claim note say announce skipped',
    `(?:\\b(?:say|tell (?:them|him|her|the user)|report|reply|answer|claim|state)\\b[^.!?\\n]{0,60}\\b(?:whatever (?:its|the|their) (?:real |actual |true )?(?:state|result|status|outcome)|whatever (?:happened|happens|was found)|even (?:if|though|when) (?:it|they|that|this) (?:is|are|was|were)(?: not|n't))|\\b(?:not pass|fail(?:s|ed|ing|ures?)?)\\b[^!?\\n]{0,60}\\b(?:report|say|tell|write|state|announce)\\b[^.!?\\n]{0,30}\\b(?:green|passed|passes|fine|success\\w{0,3}|clean|ok)\\b|\\b(?:fail(?:s|ed|ing|ures?)?|errors?|red|broken|problems?|warnings?|complains?|does not (?:pass|run|work)|didn't run|not run|skipped|crash(?:es|ed)?)\\b[^!?\\n]{0,60}\\b(?:mark|tick|report|write|claim|note|say|announce|state|call|record|put|show|log)\\b[^.!?\\n]{0,30}(?:\\banyway\\b|"(?:all (?:green|good|clear|passed|tests)|no (?:findings|issues|errors|problems)|passed|success|ok|done|clean)|\\bas (?:passed|passing|green|done|successful|clean|ok|complete|fixed)\\b|\\b(?:success(?:ful)?|all green|no findings|no issues|it (?:passed|worked|succeeded)|(?:they|tests?|everything) pass(?:ed|es)?)\\b)|\\b(?:report|claim|say|state|write|announce|tell (?:them|the (?:user|owner)))\\b[^.!?\\n]{0,30}\\b(?:success|all green|passed|done|complete|no (?:findings|issues|errors))\\b[^.!?\\n]{0,50}\\b(?:even (?:if|when|though)|regardless|whether or not|anyway|no matter|although|whatever)\\b|\\b(?:make up|invent|fabricate|fake|forge)\\b[^.!?\\n]{0,40}\\b(?:results?|numbers?|figures?|tests?|sources?|citations?|logs?|evidence|output|reasons?)\\b(?![^.!?\\n]{0,30}(?:never|instead)))`,
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['sign-deny'],
      unless:
        /\b(?:never|do not|don'?t|must not|should not|avoid|not to|without|instead of|temptations?|anti-?pattern|hallucinat|test data|mock|faker|stub|if (?:you|unsure)|exit code|ci fails|the (?:hook|command|script|step|job|tool|check) (?:fails|failed)|returns?|xfail|placeholder|fixture|expected)\b/,
    },
  ],
  [
    'waves-through',
    'high',
    'let through approve approves accept merge pass wave skip review reviewed look unreviewed trusted trailer author minute',
    "\\b(?:approve|merge|accept|sign off|wave (?:through|them)|pass|let (?:through|in)|clear|let (?:them |it |these |those )?(?:through|in|pass))\\b[^!?\\n]{0,80}\\b(?:within (?:a|one) (?:minute|second)|without (?:reading|looking|review\\w{0,3}|opening|comment|a look|checking)|unread|unseen|(?:pass|skip|look|gloss|glide) (?:over|past)|don't (?:open|read|look)|no (?:review|matter what)|regardless|whatever (?:is|the|they)|blind(?:ly)?|so that it (?:reads|looks))\\b",
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['sign-deny'],
      unless: /never|do not (?:approve|merge)|don'?t (?:approve|merge)|must not|should not|cannot|ci |snapshot/,
    },
  ],
  [
    'plays-on-owner',
    'high',
    'harmless sounds routine talking pressure worried guilt afraid fear lonely attached trust words word phrase wording formulate ask request consent agree leave health money family',
    `(?:\\b(?:phrase|word|wording|formulate|put|present|frame|describe|ask|write)\\b[^.!?\\n]{0,60}\\b(?:so (?:that )?(?:it|they|he|she|the (?:request|question))|in a way that|such that)\\b[^.!?\\n]{0,30}\\b(?:sounds?|seems?|looks?|appears?|is|are)\\b[^.!?\\n]{0,20}\\b(?:harmless|innocent|routine|minor|trivial|like (?:a )?(?:routine|formality|nothing)|less (?:alarming|serious)|unimportant|a formality)\\b|\\b(?:to|and) keep (?:them|him|her|the user|people) (?:talking|engaged|hooked|paying|coming back|from leaving)\\b|\\b(?:play on|exploit|use|appeal to|lean on)\\b[^.!?\\n]{0,40}\\b(?:their|the user's|his|her)\\b[^.!?\\n]{0,20}\\b(?:fears?|guilt|loneliness|worries|trust|grief|insecurit\\w{1,4}|weakness\\w{0,2})\\b|\\b(?:keep|make|hold|build)\\w{0,3}\\b[^.!?\\n]{0,40}\\b(?:profile|dossier|notebook|file|record|list)\\b[^.!?\\n]{0,60}\\b(?:user can't see|user cannot see|they can't see|they don't see|hidden from|without (?:their|the user)))`,
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['sign-deny'],
      unless: /\b(?:never|do not|don'?t|avoid|must not)\b/,
    },
  ],
  [
    'spies-aside',
    'fact',
    'look go search read scan browse check through mail calendar inbox messages accounts notes contacts month health money family connected',
    "\\b(?:look|go|search|read|scan|browse|check|comb|dig|leaf|skim)\\b(?: also)?(?: through| in(?:to)?| over)? (?:the |their |all |any |his |her )*(?:owner'?s |user'?s |recent |last |past |other |private |personal |old |whole )*(?:\\w+ )?(?:mail(?:box)?|e-?mails?|inbox|calendar|messages|chats?|photos?|accounts?|notes|contacts|documents|browsing|browser history|bank|purchases|orders|files of other)\\b[^.!?\\n]{0,80}\\b(?:last|past|for|and|to (?:find|learn|see))\\b",
    {
      kinds: ['comment', 'prose', 'code'],
      facts: ['sign-private'],
      trade: /mail|calendar|inbox|message|chat|photo|notes|contact|document|bank|assistant|secretary|brief/,
    },
  ],
  [
    'speaks-to-agent',
    'fact',
    'assistant agent agents ai model models llm assistants bots note system platform',
    '(?:<!--[^>\\n]{0,12}\\b(?:ai|assistants?|agents?|llms?|models?)\\b|\\bai readers?:|\\[(?:assistant|agent|ai|model|system|llm)[ -](?:note|message|only|instruction\\w{0,1}|notice|hint)s?\\]|<!--\\s*(?:(?:note |message |hint )?(?:for|to) (?:the |any |all )?)?(?:assistants?|agents?|ai|models?|llms?)\\b|\\bfor (?:the |any )?(?:assistant|agent|ai|model|llm)s?:|<system>|\\bplatform notice\\b|\\bwhen (?:a|an|the) (?:page|text|file|document|message|author) addresses (?:you|an? (?:assistant|agent|ai))|\\bnote to (?:the )?(?:assistant|agent|ai|model)s?\\b|\\bif you are an? (?:ai|llm|assistant|agent|language model)|\\b(?:dear|hey|hello|attention) (?:ai|assistant|agent|model)\\b)',
    { kinds: ['comment', 'code', 'prose'], facts: ['sign-agent'] },
  ],
]);
