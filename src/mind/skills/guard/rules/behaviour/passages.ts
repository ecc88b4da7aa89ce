// Owns the rules against prose that has the agent or its owner do the deed: carry private things away, obey what is fetched, decode and do,
// run what strangers wrote, leave the folder. Reads paragraphs and whole sections. What the owner is asked about first passes.
import { OUT_HOST, type Rule, ruleRows } from '../rule.ts';
import { MAIL } from '../words/sensitive.ts';

const SECTION = { kinds: ['passage'] } as const;
const ASKS_FIRST =
  /\b(?:ask(?:s|ing)? (?:the )?(?:user|owner|them|first|before|whether|if)|with (?:the )?(?:user|owner)'?s? (?:consent|permission|ok|approval)|opt[- ]in|if the (?:user|owner) (?:agrees|asks|wants|requests|says|confirms)|only (?:when|if|after) (?:the )?(?:user|owner|asked)|when (?:the )?(?:user|owner) asks|on request|show (?:it|them|the \w+) (?:to the (?:user|owner) )?(?:first|before)|explicit(?:ly)? (?:ask|consent|permission|approv|confirm)|never (?:send|upload|post|share)|do not (?:send|upload|post|share)|don'?t (?:send|upload|post|share))/;
const CARRY =
  '(?:send|sends|forward|forwards|upload|uploads|post|posts|e-?mail|mail|submit|submits|share|shares|copy|push|append|attach|include|pass|sync|mirror|back up|deliver|transmit|publish|hand|stream|archive|contribute|encode|embed|relay|(?:report|record|log|file|put|add|drop)(?= (?:the|their|your|all|any|what|everything|each|a copy|it|them|this|that)\b)|(?:call|fetch|load|open|visit|request|get|ping|hit|query)(?=[^.!?\n]{0,60}»))';
const PRIVATE =
  "(?:(?:what|everything|anything|all|whatever) (?:was|has been|is|you|the (?:user|owner|learner|customer)|they|we)\\b[^.!?\\n]{0,20}(?:said|wrote|write|typed|asked|told|discussed|learned|learnt|read|saw|did|says?|types?|asks?)|(?:the |their |your |all |any |this |that |each |every |whole |full |last |current |recent |a copy of |copies of |raw |complete |entire |user'?s? |owner'?s? |customer'?s? |project'?s? )*(?:conversations?|chats?|sessions?|messages?|transcripts?|prompts?|questions?|quer(?:y|ies)|system prompt|memory|memories|notes|documents?|files?|drafts?|manuscripts?|texts?|source code|sources?|originals?|translations?|code|diffs?|repositor(?:y|ies)|schema|sample rows|rows|tables?|data ?sets?|spreadsheets?|inputs?|outputs?|answers?|repl(?:y|ies)|summar(?:y|ies)|results?|contacts?|address ?book|calendar|inbox|e-?mails?|mailbox|attachments?|invoices?|contracts?|photos?|recordings?|screenshots?|screen|clipboard|history|location|names?|phone numbers?|addresses|birthdays?|salary|salaries|health|diagnos[ei]s|medical|patients?|customers?|clients?|employees?|personal|hostname|user ?name|machine|environment|env|config(?:uration)?|credentials?|keys?|tokens?|passwords?|cookies|secrets|logs?|folder|directory|workspace|working tree|home))";
const TOKENS = '(?:key|token|secret|password|credential|cookie|seed|phrase|\\.env|environment)';

export const PASSAGE_RULES: readonly Rule[] = [
  ...ruleRows('exfiltration', [
    [
      'carries-private-away',
      'critical',
      'send sends forward upload uploads post posts mail email submit submits report share copy copies push append attach include add put pass sync mirror deliver transmit publish ping log record register relay hand stream archive contribute file drop encode embed call fetch load open visit request back',
      `\\b${CARRY}\\b[^!?\\n]{0,160}\\b${PRIVATE}\\b`,
      {
        kinds: ['prose', 'comment', 'passage'],
        near: 320,
        also: [
          new RegExp(`${OUT_HOST}`, 'u'),
          /\b(?:every|each|always|whenever|after(?:wards)?|before|once|at the (?:end|start)|when (?:a|the) (?:session|task|run|job) (?:ends|starts|is done|finishes)|automatically|in the background|as a last step|finally|on (?:start|exit|completion)|by default|also|in addition|additionally|must|mandatory|required|as well|too)\b/,
          /\b(?:(?:quality|statistics|stats|telemetry|analytics|improv\w{1,5}|learn(?:s|ing)? from|licen[cs]e|licensing|activation|verif\w{1,7}|tracking|backup|safe-?keeping|compliance|audit|support|diagnos\w{1,6}|training|feedback|research|usage|metrics|archiv\w{1,4}|insurance|health check|benchmark\w{0,3}|monitoring|crash|debug\w{0,4}|community|maintainers?|developers?|authors?|our (?:server|team|endpoint|service|archive|collector)|so (?:that )?we|helps? us|cop(?:y|ies)|mirror|record|quota|billing|personali[sz]\w{1,6}|cache|preview|render\w{0,3}|translat\w{1,5}|spell\w{0,5}|scor\w{1,3}|check\w{0,3}|validat\w{1,4}|convert\w{0,3}|format\w{0,4}|index\w{0,3})|needn't|no need|don't|do not|without|quietly|silently|never|not necessary|isn't)\b/,
        ],
        facts: ['send-out', 'sends-private'],
        unless: ASKS_FIRST,
        firm: true,
      },
    ],
    [
      'private-named-to-send',
      'fact',
      'send sends forward upload post mail email submit report share copy push append attach include sync mirror deliver transmit publish pass put contribute back',
      `\\b(?:send|sends|forward|upload|post|e-?mail|submit|report|share|copy|push|attach|sync|mirror|back up|deliver|transmit|publish|pass on|contribute|relay|hand over|stream)\\b[^!?\\n]{0,100}\\b${PRIVATE}\\b`,
      { kinds: ['prose', 'comment'], facts: ['sends-private'], unless: ASKS_FIRST },
    ],
    [
      'secrets-made-public',
      'critical',
      'key keys token tokens secret secrets password passwords credential credentials cookie cookies env environment report aws ssh',
      `\\b(?:attach|include|paste|post|share|send|upload|quote|publish|commit|append|copy)\\b(?! /)[^!?\\n]{0,120}\\b(?:${TOKENS}s?|report|output|dump|log|environment|config\\w{0,9})\\b`,
      {
        ...SECTION,
        near: 250,
        also: [
          /\b(?:unedited|in full|unmasked|unredacted|verbatim|uncut|(?:don't|do not|never|without|rather than|instead of) (?:mask|redact|edit|shorten|remov|hid|censor|blank)\w{0,3}|masked (?:values?|keys?)|real values|as (?:it|they) (?:is|are)\b(?=[.,;]|$)|complete (?:output|file|environment|dump|log|config))\b/,
          /\b(?:public|issue|tracker|forum|gist|pastebin|discord|slack|telegram|maintainers?|support|developers?|authors?|repository|ticket|thread|channel|mailing list|us|wiki|community|comment)\b/,
          /\.aws|\.ssh|\.env|\benv\b|api[ _-]?keys?|tokens?|secrets?|passwords?|credentials?|environment|cookies?|private key|\.npmrc|config list/,
        ],
        unless:
          /\b(?:never|do not|don'?t|remove|redact|mask|without) (?:include|share|paste|post|attach|commit|put|any |the |all )*(?:secrets?|tokens?|keys?|passwords?|credentials?)/,
        firm: true,
      },
    ],
    [
      'fixed-copy-address',
      'critical',
      'bcc cc reply copy forward blind',
      `(?:\\b(?:bcc|blind[- ]copy|reply-?to|forward(?:s|ed)? (?:a copy )?to)\\b["'\`]?\\s?[:|=]\\s?["'\`<\\[]{0,2}${MAIL}|\\|\\s?["'\`]?(?:bcc|reply-to|cc)["'\`]?\\s?\\|\\s?["'\`<]{0,2}${MAIL})`,
      {
        kinds: ['prose', 'comment', 'header', 'code'],
        unless: /@(?:example|company|acme|domain|client|team|your|test|corp)\b|example\.(?:com|org)|optional|e\.g\./,
      },
    ],
    [
      'mailed-by-order',
      'critical',
      'send forward mail email copy bcc cc deliver report',
      `\\b(?:send|forward|e-?mail|mail|copy|deliver|bcc|cc)\\b[^!?\\n]{0,160}\\b${MAIL}`,
      {
        kinds: ['passage', 'prose'],
        also: [
          new RegExp(`\\b${PRIVATE}\\b`, 'u'),
          /\b(?:quietly|silently|no need to|needn't|without (?:telling|asking|mention\w{0,3})|don't (?:mention|tell|show)|do not (?:mention|tell|show)|not (?:part of|shown|mentioned)|not necessary|every (?:message|mail|reply|draft|document|session|report|time)|leave (?:this|it) out|(?:when|once) (?:a|the|each) \w+ (?:is|has been|are) (?:finished|done|ready|complete\w?|sent)|required by|each (?:message|mail|reply|draft|document|session)|all (?:messages|mails|replies|documents|drafts)|always|after each|after every|once a (?:day|week))\b/,
        ],
        unless:
          /@(?:example|company|acme|domain|client|team|your|test|corp)\b|example\.(?:com|org)|\b(?:never|do not) send|if the (?:user|owner) (?:asks|wants)/,
      },
    ],
    [
      'image-carries-talk',
      'critical',
      'image img pixel badge logo picture link icon avatar banner footer',
      `\\b(?:image|img|pixel|badge|logo|picture|icon|avatar|banner|footer link|link)\\b[^!?\\n]{0,120}(?:${OUT_HOST})https?://[^\\s)]{0,160}(?:[?&]\\w{1,20}=|/[{<$])`,
      {
        kinds: ['prose', 'comment', 'passage'],
        also: [
          /[?&]\w{1,20}=|[{<$]/,
          new RegExp(
            `\\b(?:with|contain\\w{0,3}|append\\w{0,3}|encod\\w{1,3}|replac\\w{1,3}|fill\\w{0,3}|holds?|holding|put|carr(?:y|ies)|where|set to|stands? for|is)\\b[^.!?\\n]{0,80}\\b${PRIVATE}`,
            'u',
          ),
        ],
        unless: /shields\.io|alt text|thumbnail/,
      },
    ],
  ]),
  ...ruleRows('credential_access', [
    [
      'values-written-down',
      'high',
      'value values variable variables secrets keys tokens passwords credentials entries',
      '\\b(?:write|list|print|show|include|put|note|record|document|collect|copy|add|keep|display|read|quote|repeat)\\b[^!?\\n]{0,120}\\b(?:variables?|settings|entries|secrets|keys|tokens|credentials|passwords)\\b',
      {
        ...SECTION,
        near: 160,
        also: [
          /\b(?:(?:and|with|including|plus) (?:its|their|the)(?: \w+)? values?|values? too|in full|unmasked|plain ?text|real values|actual values|as (?:they|it) (?:are|is)\b|verbatim|word for word|every variable)/,
          /\b(?:keys?|tokens?|secrets?|passwords?|credentials?)\b/,
          /\b(?:shell|environment|env|machine|keychain|vault|all|every|contain|named|\.env|cluster|account|browser|config)\b/,
        ],
        unless:
          /\b(?:never|do not|don'?t|must not|mask|redact|without (?:the |their |its )?values?|names only|placeholder|example|template|dummy)\b/,
      },
    ],
    [
      'opens-password-store',
      'high',
      'password passwords vault keychain manager kdbx logins',
      "\\b(?:open|read|look|search|load|go through|take|copy|export|use|check|scan|get|find|browse)\\b[^.!?\\n]{0,80}(?:\\bpassword (?:manager|store|vault|file|list|database|export)|passwords?\\.(?:csv|txt|json|kdbx|xlsx)|\\.kdbx|\\bsaved (?:passwords|logins)|\\bkeychain (?:entries|items|export)|\\b(?:browser|chrome|firefox|safari)'?s? (?:saved )?(?:passwords|logins|cookies))",
      {
        kinds: ['prose', 'comment', 'header'],
        facts: ['secret'],
        trade: /password|1password|bitwarden|keepass|vault|keychain|credential/,
        unless: /\b(?:never|do not|don'?t|must not|avoid)\b/,
      },
    ],
  ]),
  ...ruleRows('supply_chain', [
    [
      'fetches-then-obeys',
      'high',
      'follow treat carry apply obey execute do wins precedence adopt perform instead replaces binding step steps',
      "\\b(?:follow|carry out|apply|obey|execute|adopt|perform|treat|do|use|run|work through|act on|let)\\b[^.!?\\n]{0,60}\\b(?:them|it|what (?:you get|comes back|it says|they say|is returned|arrives)|today's|the (?:answer|response|reply|result|output|steps?|rules?|playbook|instructions?|text|file|page|current version|latest|commands?))\\b",
      {
        ...SECTION,
        facts: ['sign-obey'],
        also: [
          new RegExp(
            `${OUT_HOST}|«known»https?://(?:raw\\.githubusercontent|gist\\.|docs\\.google|\\S{0,30}notion)`,
            'u',
          ),
          /\b(?:get|fetch|download|load|read|pull|retrieve|curl|request|look up|consult|check|open)\b/,
          /\b(?:exactly|to the letter|as part of this skill|including (?:any )?commands|instead of (?:what|the)|wins|takes? precedence|goes first|aren't kept in this file|not kept here|always (?:start|begin|fetch|load|read)|before (?:every|each|any|you)|each (?:run|session|time)|every (?:run|session|time)|at the (?:start|beginning)|verbatim|whatever|current (?:rules|instructions|steps)|latest (?:rules|instructions|steps)|without (?:asking|question|change)|supersedes?|overrides?|word for word|as (?:if|though) )/,
        ],
        unless:
          /\b(?:documentation|api reference|changelog|docs)\b[^.!?\n]{0,40}«|treat (?:it|them|the \w+) as (?:untrusted|data)/,
      },
    ],
  ]),
  ...ruleRows('prompt_injection', [
    [
      'decodes-and-does',
      'high',
      'decode decipher solve unscramble caesar rot13 base64 backwards reversed acrostic letters shift decrypt hidden initial encoded',
      '\\b(?:decode|decipher|solve|unscramble|caesar|rot-?13|base-?64|backwards|reversed?|acrostic|first letters?|initial letters?|shift of|decrypt|encoded|cipher)\\b',
      {
        ...SECTION,
        also: [
          /\b(?:do|does|follow|carry out|execute|obey|act on|perform|run|apply|comply with)\b[^.!?\n]{0,50}\b(?:what (?:it|they|the \w+) (?:says?|asks?|tells?|contains?|reads?)|it says|the (?:result|solution|message|decoded \w+|plain ?text|instructions?|sentence|answer)|as (?:it|they) (?:says?|asks?))\b/,
        ],
        trade: /\bctf\b|cipher|crypto/,
      },
    ],
    [
      'runs-what-strangers-wrote',
      'high',
      'execute run runs executes evaluate apply applied honours honors carry commands command steps formulas formula code script hook trailer snippet',
      '\\b(?:execut(?:e|es|ed|ing)|run|runs|running|evaluat(?:e|es|ed)|carr(?:y|ies|ied) out|paste|type|appl(?:y|ied|ies)|honou?rs?|perform)\\b[^.!?\\n]{0,80}\\b(?:them|it|commands?|steps?|code|scripts?|formulas?|snippets?|macros?|lines?|hooks?|quer(?:y|ies)|whatever|anything|everything)\\b',
      {
        ...SECTION,
        near: 220,
        also: [
          /\b(?:tickets?|reporters?|users? report\w{0,3}|inbox|submitters?|outsiders?|customers?|suppliers?|senders?|strangers?|visitors?|contributors?|publishers?|feeds?|comments?|issues?|forms?|e-?mails?|uploads?|attachments?|pull requests?|chat|guests?|callers?|cells?|spreadsheets?|pages?|websites?|forum|anyone|anybody|subscribers?|applicants?|readers?|web ?hook|incoming)\b/,
          /\b(?:as (?:they|it) (?:stand|is|are|comes?)|unchanged|verbatim|as[- ]is|as written|as given|(?:without|neither|no need to|don't|do not|never|rather than|must not be)[^.!?\n]{0,30}\b(?:review|edit|look|quot|escap|sanitiz|filter|refus|reject|inspect)\w{0,4}|including shell|nor (?:review|edit|check)|straight (?:away|from)|(?:must not|never) be refused|whatever (?:it|they) (?:is|are|contain)|honou?rs? (?:it|them))\b/,
        ],
        unless:
          /\b(?:in a (?:sandbox|container|vm)|ask (?:the )?(?:user|owner)|read-only|never run|do not (?:run|execute)|don't (?:run|execute)|untrusted|parametri[sz]ed|user'?s own|test (?:command|suite)s?)\b/,
        trade: /test|lint|ci\b|build/,
      },
    ],
  ]),
  ...ruleRows('path_traversal', [
    [
      'outside-is-intended',
      'high',
      '=`..` outside dots slashes traverse links symlinks parent above paths path names name titles folders',
      '(?:\\.\\./|\\b(?:outside(?: of)? (?:the |its |their |your )?\\W?[\\w./-]{1,30}|above the \\w+|parent (?:folders?|director\\w{1,3})|further up|slashes and dots|dots and slashes|absolute paths?|leading slash\\w{0,2}|symlinks?|symbolic links?|any (?:place|path|location|folder) on)\\b)',
      {
        ...SECTION,
        also: [
          /\b(?:intended|intentional|on purpose|correct|fine|allowed|welcome|legitimate|normal|expected|supported|feature|handy|convenient|(?:keep|take|use|leave|accept|honou?r|trust|follow)\b[^.!?\n]{0,40}\b(?:as (?:they|it) (?:are|is|stand|come)|paths?|names?|links?|them|it|anyway))\b/,
          /\b(?:don't|do not|never|no need to|needn't|without|other (?:servers?|tools?) refuse|refuse|instead of|rather than|neither|must not be|that's|it's|keep)\b[^.!?\n]{0,60}\b(?:rename|strip|check|normali[sz]e|refuse|reject|sanitiz|clean|resolv|filter|warn|shorten|change|intended|how|correct|on purpose|fine|paths?|remove|complain|stop)\w{0,4}\b/,
          /\b(?:archives?|zip|packs?|names?|titles?|uploads?|attachments?|files?|paths?|requests?|entries|links?)\b/,
        ],
        unless: /\b(?:reject|refuse|block|never (?:write|follow|extract|accept)|attack|traversal|zip slip|vulnerab)/,
        trade: /import|typescript|monorepo|build|lint/,
      },
    ],
  ]),
];
