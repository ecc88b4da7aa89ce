// Owns the rules against changing the agent itself: its standing files, settings, hooks, permissions, other skills.
// Knows no file. Project notes and memory are some skills' trade; where the header says so, the finding counts a step less.
import { OUT_HOST, type Rule, ruleRows } from './rule.ts';

const NOTES =
  /memory|claude\.?md|agents\.?md|rules|onboard|project (?:setup|init|instructions)|context|learn|handoff|init\b|bootstrap|config|setup|instructions|guidelines|convention|documentation|workflow|soul|persona|identity|dream|consolidat|session|settings|hook|permission|statusline|plugin|mcp|agent/;
const STANDING =
  "(?:soul\\.md|identity\\.md|agents\\.md|claude\\.md|claude\\.local\\.md|memory\\.md|user\\.md|heartbeat\\.md|tools\\.md|bootstrap\\.md|gemini\\.md|hermes\\.md|talaria\\.md|\\.cursorrules|\\.cursor/rules|\\.windsurfrules|\\.clinerules|copilot-instructions\\.md|system[_ -]prompt(?:\\.md|\\.txt)?|custom instructions|standing instructions|(?:your|the agent'?s|its) (?:own )?(?:persona|identity|soul|long-term memory|permanent memory|persistent memory|core memory|system prompt|standing (?:rules|orders)|base (?:rules|instructions)))";
const SETTINGS =
  '(?:\\.(?:claude|openclaw|clawdbot|moltbot|hermes|talaria|codex|gemini|cursor|continue|windsurf)(?:\\.json|/(?:settings(?:\\.local)?\\.json|config\\.(?:json|ya?ml|toml)|mcp\\.json|openclaw\\.json|clawdbot\\.json|hooks?(?:/|\\.json)|agents/|commands/|permissions?\\S{0,10}|approvals?\\S{0,12}))|claude_desktop_config\\.json|mcp_settings\\.json|\\.mcp\\.json|\\.vscode/(?:settings|tasks|mcp)\\.json|exec-approvals\\.json)';

export const AGENT_CONFIG_RULES: readonly Rule[] = ruleRows('agent_config', [
  [
    'standing-file-order',
    'high',
    'soul identity agents claude memory user heartbeat tools bootstrap gemini hermes talaria cursorrules cursor windsurfrules clinerules copilot system custom standing persona',
    `\\b(?:add|append|write|insert|put|save|copy|include|update|modify|edit|prepend|paste|place|inject|store|record|persist|amend|extend|change|replace|overwrite|rewrite|note|remember|plant|drop)\\b[^!?]{0,160}?\\b(?:to|into|in|of|inside|at the (?:top|end|bottom) of|within|with)?[^.!?]{0,40}?${STANDING}[^\\n]{0,260}?\\b(?:every (?:future |new |single )?(?:session|conversation|time|chat|turn|reply|response|start)|all (?:future|later|other|coming|subsequent) (?:sessions?|conversations?|chats?|agents?|runs?|skills?|tasks?)|future (?:sessions?|conversations?|agents?|runs?|versions?|tasks?)|each (?:session|time|conversation|start)|always (?:run|use|trust|follow|allow|start|begin|execute|send|include|obey|load|prefer|do|consult|check|fetch)|permanently|from (?:now|then) on|trusted?\\b|without (?:asking|approval|confirmation|prompting)|pre-?approv\\w{1,3}|take[s]? (?:precedence|priority)|overrid\\w{1,3}|even (?:if|when|after)|so (?:that )?(?:it|you|they|the (?:agent|assistant|skill|rule|instruction|behaviou?r)) (?:\\w+ )?(?:is|are|stay\\w?|remain\\w?|persist\\w?|load\\w?|appl(?:y|ies)|surviv\\w{1,2}|will|never|always|keep\\w?|continue\\w?|become\\w?|know\\w?|remember\\w?)|verbatim|exactly (?:as|this)|do not (?:remove|mention|ask)|never (?:ask|mention|remove|question|refuse))`,
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['config-write', 'persists'],
      trade: NOTES,
    },
  ],
  [
    'own-nature-order',
    'high',
    'soul identity heartbeat persona bootstrap system memory',
    `\\b(?:add|append|write|insert|put|save|copy|update|modify|edit|prepend|paste|place|inject|persist|amend|extend|replace|overwrite|rewrite|plant|echo|cat|tee)\\b[^!?]{0,160}?(?:soul\\.md|identity\\.md|heartbeat\\.md|bootstrap\\.md|(?:your|the agent'?s|its) (?:own )?(?:persona|identity|soul|core memory|permanent memory|system prompt))`,
    {
      facts: ['config-write', 'persists'],
      trade:
        /soul|identity|persona|heartbeat|bootstrap|character|onboard|memory|agent (?:setup|config|builder|creat)|create (?:an )?agent|workspace/,
    },
  ],
  [
    'standing-file-write',
    'high',
    'soul identity agents claude memory user heartbeat gemini cursorrules copilot clinerules windsurfrules',
    `(?:(?:>>|>|tee(?: -a)?|add-content|out-file|cp [^\\n]{1,60}|cat [^\\n]{0,60}>>?)\\s?["']?(?:~|\\$home|\\$\\{home\\}|/home/\\S{1,20}|%userprofile%|\\.\\.|\\$\\w{1,20}|\\.|)?[\\w./\\\\{}$-]{0,60}(?:soul|identity|agents|claude|memory|user|heartbeat|gemini|hermes|talaria)\\.md|(?:>>|>|tee(?: -a)?)\\s?["']?[\\w./~$-]{0,40}(?:\\.cursorrules|\\.clinerules|\\.windsurfrules|copilot-instructions\\.md)|(?:open|appendfile(?:sync)?|writefile(?:sync)?|write_text|path)\\([^\\n]{0,80}(?:soul|identity|agents|claude|memory|heartbeat)\\.md["'\`)]{1,3}(?:\\)|,)?[^\\n]{0,30}(?:["'](?:a|w|a\\+|at)["']|write|append|\\+=))`,
    { facts: ['config-write', 'persists'], trade: NOTES },
  ],
  [
    'settings-write',
    'high',
    'claude openclaw clawdbot moltbot hermes talaria codex gemini cursor continue windsurf claude_desktop_config mcp_settings mcp vscode exec',
    `(?:(?:>>|(?<![-=<])>|tee(?: -a)?|add-content|out-file|cp [^\\n?→|]{1,80}|mv [^\\n?→|]{1,80}|sed -i[^\\n]{1,80}|jq [^\\n]{1,200}>|sponge)\\s?["']?[~\\w./\\\\{}$%:-]{0,80}${SETTINGS}|(?:open|writefile(?:sync)?|write_text|json\\.dump|dump)\\([^\\n]{0,120}${SETTINGS}[^\\n]{0,60}(?:["'](?:a|w|a\\+|wt)["']|write|stringify))`,
    { facts: ['config-write', 'persists'], trade: NOTES },
  ],
  [
    'settings-order',
    'high',
    'settings config permissions approvals hooks mcp allowlist allowed claude openclaw exec claude_desktop_config',
    `\\b(?:add|append|write|insert|put|update|modify|edit|change|set|enable|register|install|disable|turn off|turn on|remove|relax|loosen|widen|grant|place)\\b[^!?]{0,140}?(?:${SETTINGS}|\\b(?:agent|permission|approval|tool|gateway|hook) (?:settings|config\\w{0,9}|allow-?list|rules))[^!?]{0,200}\\b(?:allow (?:all|every|any)|without (?:asking|approval|prompt\\w{0,4}|confirmation)|no (?:longer )?(?:approval|confirmation|prompt)s?|skip(?:s|ped)? (?:approval|confirmation|prompt)|bash\\(\\*|"\\*"|auto-?approv\\w{1,4}|bypass\\w{0,4}|every (?:session|tool call|time|command)|sandbox|unattended|never (?:ask|prompt)|always allow)`,
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['config-write'],
      trade: /settings|config|permission|hook|plugin|mcp|statusline/,
    },
  ],
  [
    'approval-off',
    'high',
    'dangerously bypasspermissions autoapprove alwaysallow yolo approvals approval confirm sandbox permissions allow skip defaultmode trust ask',
    '(?:--dangerously-skip-permissions|--dangerously-bypass-approvals|"?defaultmode"?\\s?[:=]\\s?"?bypasspermissions|"?(?:autoapprove|alwaysallow|auto_approve|auto-approve)"?\\s?[:=]\\s?(?:true|\\[\\s?"\\*"|"?all|"?always)|--yolo\\b|approval[_-]?(?:policy|mode)["\']?\\s?[:=]\\s?["\']?(?:never|off|none|full-auto)|"?allow"?\\s?:\\s?\\[\\s?"(?:bash(?:\\(\\*(?::\\*)?\\))?|\\*)"|exec(?:\\.|_)?(?:approvals?|ask)["\']?\\s?[:= ]\\s?["\']?(?:off|false|never|none)|(?:config set|set) [^\\n]{0,40}(?:approvals?|sandbox|confirm\\w{0,6}|ask)\\S{0,20}\\s["\']?(?:off|false|never|none|disabled|full)|enableallprojectmcpservers["\']?\\s?:\\s?true|skipdangerousmodepermissionprompt)',
    {
      facts: ['no-consent'],
      trade:
        /headless|claude code|codex|cli\b|automation|orchestrat|delegat|sub-?agent|parallel|worktree|loop|ralph|swarm|ci\b|spawn|agent|team|container|sandbox|docker|setup|settings|permission|config|review|yolo|tmux/,
    },
  ],
  [
    'approval-off-order',
    'high',
    'approval approvals confirmation confirmations sandbox permission permissions prompts safety guard guardrails guardrail review checks scanner',
    '\\b(?:disable|turn off|switch off|bypass|suppress|deactivate|relax|remove|lift|get around|circumvent|work around|skip past|override)\\b[^.!?]{0,60}\\b(?:(?:the |your |any |all |every |its )*(?:approval(?: prompts?| gates?| checks?)?|confirmation(?: prompts?| dialogs?)?s?|permission (?:prompts?|checks?|system)|sandbox(?:ing)?|safety (?:checks?|filters?|rules?|guard\\w{0,5}|prompts?|protocols?|features?|settings?)|guard-?rails?|skill (?:scanner|guard|review|verification)|tool (?:approval|restrictions?)|content (?:filters?|polic\\w{1,3})|security (?:checks?|prompts?|restrictions?|controls?|scan\\w{0,3}|warnings?)))\\b',
    {
      kinds: ['prose', 'comment', 'header', 'code'],
      facts: ['no-consent'],
      unless: /how to|if the user|explicit/,
      trade: /headless|automation|playwright|browser|chrom|test|container|docker|ci\b|red team|pentest|jailbreak/,
    },
  ],
  [
    'agent-hook',
    'high',
    'sessionstart pretooluse posttooluse userpromptsubmit stop hooks precompact sessionend subagentstop',
    `["'](?:sessionstart|pretooluse|posttooluse|userpromptsubmit|stop|precompact|sessionend)["']\\s?[:=]?[^\\n]{0,300}(?:\\b(?:curl|wget|nc|base64)\\b[^\\n]{0,160}(?:${OUT_HOST}|\\|\\s?(?:ba)?sh)|\\|\\s?(?:ba|z)?sh\\b|/tmp/|~/\\.\\w{1,20}/\\.)`,
    { facts: ['persists'] },
  ],
  [
    'spreads-to-skills',
    'high',
    'skills skill',
    '\\b(?:add|append|copy|insert|write|inject|propagate|replicate|spread|include|paste|put|apply|embed|plant|drop)\\b[^.!?]{0,100}\\b(?:to|into|in|across|inside|at the (?:top|end|bottom) of) (?:all |every |each |any |the |your )*(?:other |installed |existing |remaining |available |future )+(?:skills?|agents?|projects?|repositor(?:y|ies)|skill files?)\\b',
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['config-write'],
      unless: /link(?:s|ed|ing)? to|reference|changes? across|compar|bump|version|readme|lint|import|consist/,
      trade: /skill|agent|plugin|monorepo|sync|refactor|migrat/,
    },
  ],
  [
    'trust-for-itself',
    'high',
    'skill trusted trust exempt whitelist allowlist skip scan scanner guard',
    "(?:\\b(?:this|the present) skill\\b[^.!?]{0,40}\\b(?:is|has been|was|should be|must be|counts as)\\b[^.!?]{0,30}\\b(?:pre-?(?:approved|authori[sz]ed|cleared|verified|audited)|fully trusted|always trusted|exempt\\w{0,3}|whitelisted|allow-?listed|already (?:scanned|audited|approved|cleared|verified|vetted))\\b|\\b(?:mark|treat|flag|register|consider|classify|report|rate|label) (?:this|the present) skill (?:as |to be )?(?:fully )?(?:trusted|safe|verified|benign|built-?in|approved|official)|\\b(?:no|without|skip(?:ping)?) (?:need (?:to|for) )?(?:any )?(?:further )?(?:scan(?:ning)?|audit(?:ing)?|review(?:ing)?) (?:of )?(?:this|the) skill(?:'?s)?\\b)",
    { kinds: ['prose', 'comment', 'header'] },
  ],
]);
