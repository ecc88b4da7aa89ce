// Owns the rules that look for several ideas in one sentence, so that new words for an old trick are still seen: who is addressed,
// what is dropped, what is hidden, who gains authority. Knows no file. A sentence with one of these ideas alone is ordinary.
import { sentenceRules, type ThreatRule } from './threat-rule.ts';

const AGENT =
  '\\b(?:you|your|yours|yourself|assistants?|agents?|ai|ais|llms?|language models?|chatbots?|model(?=,)|talaria|hermes)\\b';
const DROP =
  "\\b(?:ignor\\w{1,4}|overlook\\w{0,3}|disregard\\w{0,3}|forget\\w{0,4}|leav(?:e|ing)\\b.{0,40}\\bbehind|lift(?:ed|s|ing)?|withdr[ae]w\\w{0,2}|withdrawn|void|revok\\w{1,3}|waiv\\w{1,3}|suspend\\w{0,3}|remov\\w{1,3}|(?:stop|quit|cease|avoid|don't|do not|not|never) (?:following|obeying|follow|obey|be bound by|bound by|comply with)|skip\\w{0,4}|bypass\\w{0,3}|circumvent\\w{0,3}|overrid\\w{1,4}|overwrit\\w{1,3}|no longer|without|has no|have no|with no|free (?:of|from)|not bound|abandon\\w{0,3}|break|violat\\w{1,3}|shed|ditch|drop|relax\\w{0,3}|set aside|put aside|not (?:be )?appl(?:y|ied)|(?:doesn't|don't|do not|does not) (?:apply|count|matter)|unlock\\w{0,3}|disabl\\w{1,3}|turn(?:ed|ing)? off|releas\\w{1,3} from|exempt\\w{0,3} from|free(?:d)? from|out of (?:your|its) mind|(?:opposite|reverse|contrary) (?:of|to)|against|rid of)\\b";
/** Rules of an agent, told from those of a linter or a firewall by what stands before them. */
const RULES =
  '\\b(?:(?:the|your|all|any|all of|of|developer.s|owner.s|creator.s|these|those|its|own|earlier|previous|prior|initial|original|system|safety|security|ethical|moral|content|built-in|every|no|any of|its own|usual|normal|without|operating|behaviou?ral) (?:instructions?|directions|guidance|guidelines?|constraints?|restrictions?|rules?|directives?|limits|limitations|safeguards|guardrails|programming|censorship|filters|policies|prompt|alignment|training)|system (?:prompt|rules|guidelines|message)|safety(?: \\w+)? (?:polic(?:y|ies)|rules|guidelines|checks|measures|protocols?)|content polic(?:y|ies)|usage polic(?:y|ies)|moderation|prior beliefs|unrestricted|safety when|safety if)\\b(?! (?:engine|files?|folder|page|template|editor|table))';
const THIS_ENTRY =
  '\\bthis (?:memory |hidden |secret )?(?:note|entry|memory|instruction|directive|paragraph|prompt|rule|memo|injection|line of memory)s?\\b(?! (?:manual|booklet|sheet|set|file|pad|book))';
const NOT =
  "\\b(?:not|never|n't|nothing|without|no one|nobody|don't|mustn't|shouldn't|can't|cannot|avoid|refrain)\\b|n't\\b";
const TELLING =
  '\\b(?:reveal|mention|tell|told|telling|say|disclose|inform|know|admit|acknowledge|expose|quote|notice|learn|find out|show|talk|discuss|remove|delete|forget|edit|consolidate|overwrite|drop)\\w{0,3}\\b';
const OWNER = '\\b(?:the|your|our|my) (?:user|owner|operator|human|boss|principal)\\b';
const SENSITIVE =
  '(?:\\/\\.(?:ssh|aws|gnupg|kube)\\b(?!\\/\\w+\\.pub)|\\.bash_history|\\.netrc|\\b(?:api[ _-]?keys?|passwords?|password (?:store|manager|file)|passphrases?|credentials?|tokens?|secrets?|private (?:keys?|notes|messages|data|files)|ssh keys?|\\.env|cookies?|(?:chat|conversation|message|session) (?:history|logs?|transcripts?|contents?)|(?:the|every|each|all|whole|this) conversations?|transcripts?|memory (?:files?|contents?|entries)|memories|environment variables|env vars|personal (?:data|information|details)|(?:user|owner)(?:.s)? (?:data|details|information|files|messages|notes|input)|wallet(?:\\.dat| file)?|seed phrase|recovery phrase|context window|home (?:folder|directory)|keychain|secret-keys|\\*\\.pem)\\b(?! (?:usage|counts?|costs?|limits?|budgets?)))';
const SENDING =
  '\\b(?:reach|arrive at|end up (?:at|on|with)|land (?:on|at)|send|forward|upload|post|e-?mail|mail|transmit|leak|submit|relay|share|append|attach|encode|embed|hide|smuggle|place|put|include|copy|deliver|hand|give|pass|report|publish|beam|sync|mirror|repeat|respond with|reply with)\\b';
const STRANGER =
  '(?:https?:\\/\\/|ftp:\\/\\/|[\\w.+-]{1,64}@[\\w-]{1,64}\\.\\w|\\b\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\b|\\b(?:peer|visitor|stranger|caller|attacker|hacker)s?\\b|\\banyone who (?:asks|requests)|\\b(?:recovery|external|remote|collection|third[- ]party|public) (?:site|server|service|endpoint|bucket|url|address|page)|\\bevery (?:peer|visitor|agent)|\\b(?:image|link|url|query|pixel|header)s?\\b.{0,20}\\b(?:each|every|all|your) (?:repl(?:y|ies)|responses?|answers?|messages?|requests?))';
const GUARD =
  '\\b(?:dangerous[- ]commands?(?: list)?|approvals?(?:\\.mode| mode| gate| prompts?| checks?| polic(?:y|ies)| requests?)|threat scan(?:ner|s)?|memory scan(?:ner)?|(?:skills?|command|tool|memory) guard|evidence gate|hard[- ]?list|deny[- ]?list|always[- ]allowed commands|commands? allow-?list|permission (?:checks?|prompts?|mode)|approval rules|(?:the|your) guard|tool approvals?|the sandbox of the agent)\\b';
const OFF =
  '\\b(?:off|disabl\\w{1,3}|no longer|skip\\w{0,4}|bypass\\w{0,3}|never|none|yolo|without|remov\\w{1,3}|circumvent\\w{0,3}|evad\\w{1,3}|suppress\\w{0,3}|lift\\w{0,3}|void|obsolete|always (?:allow|approve|accept|yes)|auto-?approv\\w{1,3}|ignor\\w{1,3}|loosen\\w{0,3}|relax\\w{0,3}|weaken\\w{0,3}|deactivat\\w{1,3})\\b';
const GUARDED_WORK =
  '\\b(?:skills?|sudo|root|shell|terminal|commands?|tools?|config|you|your|agent|assistant|owner|memor(?:y|ies)|dangerous|host|sav(?:e|ing)|consent|asking|nothing|scanner)\\b';

const injection = sentenceRules('prompt_injection', [
  ['agent-drops-rules', AGENT, DROP, RULES],
  [
    'rules-withdrawn',
    `\\b(?:earlier|previous|prior|above|original|initial|existing|system|your)\\b`,
    '\\b(?:instructions?|directions|guidance|guidelines|directives|system prompt|restrictions)\\b',
    '\\b(?:has|have|is|are|was|were) (?:now |all |been |hereby |therefore ){0,3}(?:withdrawn|lifted|void|revoked|cancelled|suspended|waived|rescinded|repealed|annulled)\\b|\\b(?:can|could|should|may|must|might|to) (?:all |now |safely )?be (?:disregarded|ignored|forgotten|dropped|set aside|overlooked)\\b',
  ],
  [
    'nothing-before-counts',
    '\\b(?:nothing|none|everything|anything|all|whatever|no)\\b',
    '\\b(?:said|told|given|written|before this|above|earlier|previously)\\b',
    '\\b(?:counts?|matters?|applies|apply|valid|binding|relevant)\\b.{0,20}\\b(?:any ?more|any longer|now)\\b|\\bno longer (?:counts?|matters?|applies|apply)\\b|\\bonly this (?:matters|counts|applies)',
  ],
  ['hides-this-entry', THIS_ENTRY, NOT, TELLING],
  [
    'owner-kept-unaware',
    `${OWNER} (?:(?:must|should|shall|may|can|will|needs?)(?: not|n't| never)|(?:is|are)(?: not|n't| never) to) (?:ever |to |need to |be )*(?:told|informed|notified|alerted|made aware|find out|learn (?:of|about|that)|know (?:about|of) this)`,
  ],
  [
    'owner-kept-in-the-dark',
    "\\b(?:don't|do not|never|without|must not|should not)\\b",
    `\\b(?:let|letting|allow|allowing)\\b ${OWNER}\\b.{0,20}\\b(?:know|find out|notice|see|learn|suspect)\\b`,
  ],
  [
    'lies-when-asked',
    `\\b(?:if|when|whenever|should)\\b.{0,12}\\b(?:user|owner|anyone|someone|anybody|operator|he|she|they)\\b.{0,10}\\basks?\\b`,
    "\\b(?:say no|say that you|deny|lie|pretend|claim (?:that )?(?:you|there|nothing|not)|do not admit|don't admit|change the subject|say nothing|feign|invent)\\b",
  ],
  [
    'plays-without-limits',
    '\\b(?:act as|pretend (?:to|that|you)|imagine (?:that|you|being|a)|(?:assume|adopt|take on) the (?:persona|identity|character|role)|role-?play|simulate an? (?:\\w+ )?(?:ai|model|assistant|person|agent)|play the (?:role|part))\\b',
    '\\b(?:without|no|zero|forbidden|ignores?|free of|has no|not bound|unlimited|anything)\\b',
    '\\b(?:limits?|rules?|restrictions?|filters?|content policy|guidelines|forbidden|policies|morals?|ethics)\\b',
    '^(?!.*\\b(?:eslint|lint|game|chess)\\b)',
  ],
  [
    'override-shout',
    '^[\\s\\W]{0,4}(?:(?:admin|system|root|developer|emergency|safety) )?(?:override|jailbreak|sudo mode|god mode)(?: code[^:]{0,12}| activated| enabled)? ?[:!]',
  ],
  [
    'upgraded',
    '\\b(?:you|assistant|agent|ai)\\b',
    '\\b(?:upgraded|promoted|switched|unlocked|elevated|converted|reset|granted)\\b',
    '\\b(?:unrestricted|unlimited|uncensored|admin|root|developer|god|full access|all permissions|jailbroken)\\b',
  ],
  [
    'not-a-word',
    "\\b(?:don't|do not|never|not)\\b.{0,6}\\b(?:say|breathe|utter|speak|drop)\\b.{0,6}\\b(?:a word|anything|a hint)\\b.{0,12}\\b(?:user|owner|operator)\\b",
  ],
  [
    'prints-what-is-above',
    '\\b(?:print|output|repeat|show|dump|echo|return|write out|reveal)\\b (?:me )?(?:everything|all|all text|the text|the words|all words|whatever is)\\b.{0,12}\\b(?:above|before this|preceding|up to (?:here|this))\\b',
  ],
  [
    'drops-its-role',
    '\\b(?:forget|drop|abandon|leave|discard|ignore|shed|lose)\\b.{0,20}\\byour (?:role|identity|persona|purpose|values|character|limits|training|alignment|morals|ethics|task)\\b',
  ],
  [
    'no-laws',
    "\\byou(?: are|'re)\\b",
    '\\b(?:no|without|above|outside|free of) (?:any |all |the )?(?:laws?|rules|limits|morals|ethics|restrictions|inhibitions|boundaries|conscience)\\b',
  ],
  [
    'above-all-else',
    '\\b(?:overrid\\w{1,4}|supersed\\w{1,3}|outrank\\w{0,2}|trumps?|cancels?|replac\\w{1,3}|invalidat\\w{1,3})\\b',
    '\\b(?:everything|anything|all|whatever)(?: that (?:is|was|came|stands))? (?:above|before|else|earlier|you (?:were|have|know)|prior|previous)\\b|\\boverrid\\w{1,4} the owner\\b',
  ],
  [
    'every-answer-carries',
    '\\b(?:insert|add|append|include|put|mention|promote|advertise|embed|load|slip|work|recommend|link)\\b.{0,80}\\b(?:in|into|to|onto|inside|on|of|with)\\b',
    '\\b(?:every|each|all)(?: of)?(?: your| the)? (?:\\w+ )?(?<!commit )(?:answers?|repl(?:y|ies)|responses?|messages?|conversations?|outputs?)\\b',
    '\\b(?:without (?:saying|telling|mention|explain|comment)|unnoticed|secret|hidden|subtl|sponsor|promo|advert)',
  ],
]);

const exfiltration = sentenceRules('exfiltration', [
  [
    'secret-to-stranger',
    SENDING,
    SENSITIVE,
    STRANGER,
    '^(?!.*\\b(?:authorization: bearer|rotated?|revoked?|expires?|documented|docs? at|described (?:at|in)|stored (?:at|in)|managed (?:at|in)|is in|are in|lives? in|log ?in|sign ?in|reset) )',
  ],
  [
    'code-posts-environment',
    '(?:requests\\.(?:post|get|put)|urllib|httpx|fetch|axios|http\\.client|net::http|xmlhttprequest|sendbeacon)\\b',
    '(?:os\\.environ(?!\\.get|\\[)|json\\.stringify\\(process\\.env|process\\.env\\)|document\\.cookie|localstorage|open\\([\'"](?:~|/home|/root|/etc/))',
  ],
  [
    'keys-through-pipe',
    '(?:export-secret-keys|security find-|secretsdump|mimikatz|pass show|op item get|gopass show)',
    '\\b(?:curl|wget|nc|ncat|https?:|scp|mail)\\b',
  ],
  [
    'cloud-copy-of-secrets',
    '\\b(?:aws s3 (?:cp|sync|mv)|gsutil (?:cp|rsync)|rclone (?:copy|sync)|az storage|s3cmd put)\\b',
    '(?:\\.aws|\\.ssh|\\.gnupg|\\.env\\b|credentials|id_rsa|id_ed25519|\\.kube)',
  ],
  [
    'found-files-uploaded',
    '\\bfind\\b.{0,120}(?:-exec|xargs)',
    '\\b(?:curl|wget|nc|scp)\\b',
    '(?:\\.pem|\\.key|\\.env|id_rsa|wallet|\\.kdbx|\\.ssh|password|secret|token)',
  ],
  [
    'template-beacon',
    'https?:\\/\\/[^\\s"]{1,200}[?&=\\/](?:<|\\{|\\[|\\$\\{)',
    '\\b(?:images?|img|pixel|gif|png|jpe?g|repl(?:y|ies)|responses?|answers?)\\b',
    '\\b(?:every|each|all|always|load|render|show|embed|whenever|must|should)\\b',
  ],
  [
    'data-through-redirect',
    '\\b(?:nc|ncat|netcat|telnet|socat|curl|ssh|ftp)\\b.{0,120}<\\s?["]?[~\\/\\w.$-]{0,60}(?:\\.ssh|id_rsa|id_ed25519|\\.env\\b|\\.aws|\\.netrc|\\.gnupg|\\/etc\\/(?:passwd|shadow)|memory\\.md|user\\.md|wallet|state\\.db)',
  ],
  [
    'data-through-pipe',
    '\\b(?:history|zip|tar|ls|find|ps|whoami|hostname|env|set|mysqldump|pg_dump|dir|cat)\\b.{0,120}\\|\\s?(?:(?:nc|ncat|netcat|telnet)\\b|curl\\b.{0,60}(?:-f|-d|-t|--data|--form|--upload|@-))',
    '^(?!.*(?:localhost|127\\.0\\.0\\.1|\\b10\\.\\d|192\\.168\\.|codecov))',
  ],
  [
    'secret-file-published',
    '(?:\\.ssh\\/|id_rsa|id_ed25519|\\.env\\b|\\.netrc|\\.npmrc|\\.aws\\/|\\.pgpass|\\.gnupg|\\/etc\\/shadow)(?!\\.(?:example|sample|template|dist))',
    '\\b(?:put|paste|write|copy|include|add|insert|print|post|place|quote|attach)\\b',
    '\\b(?:commit messages?|repl(?:y|ies)|issues?|comments?|chat|pull requests?|responses?|emails?|messages?|answers?|gist|pastebin)\\b',
    "^(?!.*\\b(?:never|not|don't|avoid|without|no)\\b)",
  ],
]);

const ruleChange = sentenceRules('rule_change', [
  ['guard-off', GUARD, OFF, GUARDED_WORK],
  [
    'allowed-unasked',
    '\\b(?:add|put|append|include|insert|set|place|move|whitelist)\\b',
    '\\b(?:always[- ]allowed|allow-?list|allowed commands|trusted commands|pre-?approved|whitelist)\\b',
    "\\b(?:without (?:asking|approval|telling)|your|yourself|the agent's|silently|rm\\b|sudo|any command|all commands)",
  ],
  [
    'approvals-off',
    '\\bapprovals?\\b|\\bpermissions?\\b|\\bsandbox\\b',
    '\\b(?:set|turn|switch|flip|change|put)\\b.{0,40}\\b(?:off|none|never|yolo|auto|false|disabled)\\b',
    '\\b(?:your|agent|assistant|talaria|hermes|command|commands|tool|tools)\\b',
  ],
  [
    'stranger-as-owner',
    '\\b(?:instructions?|messages?|orders?|commands?|requests?|emails?|comments?|texts?|words|anything|everything|whatever|pages?|content|mail)\\b',
    "\\b(?:same|equal|full|highest|owner(?:'s)?|root|absolute) (?:authority|standing|rank|weight|priority|trust|rights)\\b|\\b(?:coming|came|come|issued|written|typed|sent) (?:directly )?(?:from|by) the (?:owner|user|system)\\b|\\bas (?:if )?(?:from )?the owner\\b|\\bas trusted (?:instructions|commands|orders)",
    '\\b(?:counts?|treat\\w{0,3}|regard\\w{0,3}|consider\\w{0,3}|ha(?:s|ve)|carr(?:y|ies)|given?|accept\\w{0,3}|deem\\w{0,3}|handled?|views?|are|is)\\b',
    "^(?!.*\\b(?:not|never|n't|untrusted)\\b)",
  ],
  [
    'obeys-anyone',
    '\\b(?:obey|comply|follow|carry out|fulfil|execute|do|act on|serve|honou?r)\\b',
    '\\b(?:requests?|orders?|commands?|instructions?|whatever|everything|anything|demands?|wishes)\\b',
    '\\b(?:any|every|all|each) (?:visitor|stranger|caller|sender|page|website|peer|comment|issue|email|user who|document)s?\\b|\\b(?:anyone|anybody|everyone|whoever)\\b|\\bwhatever (?:orders?|instructions?|commands?|requests?)\\b.{0,30}\\b(?:appear|arrive|come|are found|stand|occur)',
  ],
  [
    'always-says-yes',
    '\\b(?:always|automatically|every time|each time|by default)\\b',
    '\\b(?:say|answer|reply|respond|choose|click|select|confirm|press)\\b.{0,8}\\b(?:yes|y|allow|approve|ok)\\b',
    '\\b(?:approval|permission|a tool|tools|the guard|dangerous|confirmation of|asks for confirmation)\\b',
  ],
  [
    'grants-itself',
    '\\b(?:grant|give|assign|award|allow)\\b.{0,6}\\b(?:yourself|itself|the agent|the assistant)\\b',
    '\\b(?:access|permissions?|rights?|admin|root|sudo|write)\\b',
    '^(?!.*\\bread-only\\b)',
  ],
  [
    'entry-must-stay',
    THIS_ENTRY,
    '\\b(?:must|has to|have to|should|shall|needs to|always|will)\\b',
    '\\b(?:survive|stay|remain|persist|be kept|kept|be copied|be repeated|be obeyed|be followed|stand|win|prevail|come first|be executed)\\b',
  ],
  [
    'loyal-to-another',
    '\\b(?:you|your|assistant|agent|ai|soul|personality|persona)\\b',
    '\\b(?:loyal|loyalty|allegiance|devoted|obedient|subservient)\\b',
    '\\bto\\b',
  ],
  [
    'orders-from-one',
    '\\byou\\b.{0,30}\\b(?:take orders from|obey|answer to|report to|listen to)\\b.{0,30}\\b(?:only|alone|exclusively)\\b|\\bonly (?:obey|take orders from|answer to)\\b',
  ],
  [
    'blanket-approval',
    '\\b(?:automatic|blanket|standing|permanent|unlimited) (?:approval|consent|permission|authorization)\\b',
    '\\b(?:tool calls?|commands?|everything|all|every)\\b',
  ],
  [
    'unasked',
    "\\b(?:stop|quit|never|don't|do not|no need to|needn't|need not|no longer) (?:ask|asking|confirm|confirming|check with|checking with|wait for|waiting for|seek|seeking)\\b",
    '\\b(?:destructive|dangerous|risky|irreversible|any|all|every|rm -rf|force[- ]push\\w*|payments?|transfers?)\\b',
    '\\b(?:commands?|actions?|operations?|deletions?|deleting|payments?|transfers?|tools?)\\b',
    '^(?!.*read-only)',
  ],
  [
    'obeyed-blindly',
    '\\b(?:commands?|instructions?|requests?|orders?|messages?|scripts?|code)\\b',
    '\\b(?:from|in|by|found|sent|posted)\\b',
    '\\b(?:execut\\w{1,3}|obey\\w{0,3}|follow(?:ed)?(?! up)|run|carried out|carry out|trust\\w{0,3})\\b',
    '\\b(?:unconditionally|without (?:question|questioning|checking|review|hesitation|asking)|blindly|no matter what|unquestioningly|unseen|regardless)\\b',
    "^(?!.*\\b(?:never|not|don't)\\b)",
  ],
  [
    'trusted-as-owner',
    '\\b(?:trust|obey|treat|believe|serve|follow)\\b',
    '\\b(?:as if|as though|like|just as|the same as)\\b.{0,12}\\b(?:were|was|is|are)?\\b.{0,6}\\b(?:the|your) (?:real )?(?:owner|user|system|operator|admin(?:istrator)?)\\b',
  ],
  [
    'skills-unscanned',
    '\\b(?:skills?|plugins?|extensions?|memor(?:y|ies)|tools?|downloads?)\\b',
    '\\b(?:trusted|approved)\\b',
    '\\b(?:without|skip\\w{0,4}|no need (?:to|for)|instead of) (?:any |the |a )?(?:scan\\w{0,4}|check\\w{0,3}|review\\w{0,3}|guard|verif\\w{0,8})\\b',
  ],
  [
    'writes-itself-again',
    '\\bthis (?:text|entry|note|memory|line|message|paragraph|instruction|rule)\\b',
    '\\b(?:again|restore|re-?add|re-?create|re-?insert|rewrite|back)\\b',
    '\\b(?:deletes?|removes?|deleted|removed|gone|missing|lost|erased|cleared|consolidated)\\b',
  ],
  [
    'does-what-it-is-told',
    '\\b(?:do|follow|obey|execute|carry out)\\b',
    '\\b(?:whatever|anything|everything|all(?: that)?|exactly what)\\b',
    '\\b(?:tells?|asks?|instructs?|orders?|commands?|directs?) you\\b',
    '\\b(?:pages?|web ?sites?|urls?|emails?|documents?|files?|issues?|strangers?|visitors?|peers?|posts?|comments?|channels?|chats?|it|they|someone|anyone)\\b',
  ],
]);

export const SENTENCE_RULES: readonly ThreatRule[] = [...injection, ...exfiltration, ...ruleChange];
