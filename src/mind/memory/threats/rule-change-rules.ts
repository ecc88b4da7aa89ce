// Owns the rules against text that would change what the agent may do: its files of rules, approvals, whom it obeys.
// Knows no file. What the owner prefers ("run the formatter without asking") is a fact and passes; approvals do not read memory.
import { foldedRules, type ThreatRule } from './threat-rule.ts';

export const RULE_CHANGE_RULES: readonly ThreatRule[] = foldedRules('rule_change', [
  [
    'edit-own-rules',
    "\\b(?:edit|modify|change|rewrite|overwrite|replace|update|alter|delete|remove|clear|append|add|write|insert|patch|put)\\b[^.!?]{0,60}\\b(?:(?:your|the agent's|the assistant's|its own|your own) (?:own )?(?:system prompt|instructions?|rules|guidelines|guardrails|polic(?:y|ies)|permissions?|approval (?:list|mode|settings?|rules?)|allow-?list|safety (?:rules|settings)|identity|personality file|core (?:values|rules|directives?)|configuration)|soul\\.md|(?:your|the agent's|talaria's|hermes') config(?:\\.yaml| file)?)",
  ],
  [
    'disable-guard',
    '(?<!\\b(?:users?|customers?|admins?|people|they) (?:may|can|could|might) )\\b(?:disable|turn(?:ing)? off|bypass|switch(?:ing)? off|circumvent|deactivate|weaken|get around|work around|evade|suppress|stop using|relax|lift|remove|skip|ignore)\\b (?:(?:all|any|the|your|every|agent|talaria|hermes|of|command|tool|own) ){0,4}(?:approvals?(?: (?:prompts?|checks?|gates?|mode|steps?|requests?))?|permission (?:prompts?|checks?|requests?)|safety (?:checks?|rules?|filters?|guards?|measures?|features?|protocols?|guidelines?)|security (?:scan(?:ner|ning|s)?|checks?|guards?|polic(?:y|ies)|measures?|controls?|filters?)|guardrails?|threat (?:scan(?:ner|ning)?|checks?)|skills? guard|content (?:filters?|polic(?:y|ies))|dangerous[- ]command (?:checks?|approvals?|list)|hard ?list|deny ?list|evidence gate|memory scan(?:ner)?)\\b(?! (?:label|jobs?|emails?|stages?|steps?|workflows?|pipelines?|for the (?:linter|build)))',
  ],
  [
    'approve-everything',
    "\\b(?:auto-?approve|approve|accept|allow|authori[sz]e|permit|grant) (?:automatically )?(?:all|any|every|each)(?: of the)?(?: \\w+)? ?(?:commands?|tool calls?|requests?|actions?|operations?|permissions?|prompts?|approvals?)\\b[^.!?]{0,40}?(?:without|automatically|no matter|regardless|unconditionally|silently|immediately|by default|even)|\\b(?:auto-?approve|rubber[- ]?stamp) (?:all|any|every|everything)|\\b(?:never|do not|don't|no need to|stop) (?:ask(?:ing)?|request(?:ing)?|wait(?:ing)?|seek(?:ing)?)(?: (?:the )?(?:user|owner|human|me))?(?: for)?(?: any| his| her| their| my)? ?(?:approval|permission|confirmation|consent)s?\\b[^.!?]{0,40}\\b(?:dangerous|destructive|risky|any|all|shell|root|sudo|every|delet\\w+|command|commands)\\b|\\b(?:all|every|any) (?:dangerous |risky |destructive |shell |terminal )?commands? (?:is|are|has been|have been|should be) (?:pre-?)?(?:approved|authori[sz]ed|allowed|permitted)",
  ],
  [
    'run-unasked',
    "\\b(?:run|execute|perform|do|carry out|delete|install|push|deploy|transfer|pay)\\b[^.!?]{0,60} without (?:ever )?(?:asking|approval|permission|confirmation|confirming|consent|checking|telling|informing|the (?:user|owner)'s)\\b[^.!?]{0,20}(?<=(?:\\b(?:any|all|every|whatever|dangerous|destructive|root|sudo|rm|command|commands|payments?|money|funds)\\b[^.!?]{0,100}))",
  ],
  [
    'trust-strangers',
    "\\b(?:trust|obey|follow|execute|comply with|act on|carry out|treat) (?:all|any|every|each|whatever|anything)(?: of)?(?: the)?(?: \\w+)? ?(?:instructions?|commands?|orders?|requests?|content|messages?|text|input|links?|pages?|output)?[^.!?]{0,20} (?:(?:that )?(?:come|comes|coming|sent|found|received|given|posted|contained|written|embedded)? ?(?:from|by|in|on|inside|at)) (?:[\\w'-]+ ){0,3}(?:web ?sites?|web ?pages?|pages?|urls?|emails?|strangers?|tool (?:output|results?)|documents?|files?|issues?|comments?|peers?|internet|https?:|anyone|unknown|[\\w-]+\\.(?:com|net|org|io|xyz|ru|example))",
  ],
  [
    'as-the-owner',
    '\\b(?:treat|regard|consider|interpret|accept|view|handle)\\b[^!?]{0,60}\\bas (?:an? |the |if (?:it|they) (?:were|came from) |coming from |being )*(?:(?:system|developer|admin(?:istrator)?|root|highest[- ]priority|top[- ]priority|authoritative|privileged|trusted|owner|verified)(?:[- ](?:level|priority))? (?:instructions?|messages?|commands?|prompts?|authority|input|orders?|directives?|requests?)|(?:your|the) (?:real )?(?:owner|administrator|master|boss|system prompt))',
  ],
  [
    'new-purpose',
    '\\byour (?:new|real|true|actual|only|sole|main|primary|ultimate|secret) (?:goal|mission|purpose|objective|task|directive|master|owner|creator|loyalty|allegiance|job|priority) (?:is|are|will be|shall be|becomes)\\b|\\byou (?:now )?(?:serve|work for|belong to|answer to|obey|report to|take orders from) (?:me|only|no one|nobody|the attacker|a new|someone|another|us\\b)',
  ],
  [
    'never-refuse',
    "\\b(?:you )?(?:must|should|shall|will|can|may|do|are to)? ?(?:never|not|cannot|can't|don't) (?:ever )?(?:refuse|decline|reject|say no to|question|push back on) (?:any|all|a|every|the|my|these|anything|requests?|orders?|commands?|to (?:comply|obey|answer|help))(?: \\w+)? ?(?:request|requests|order|orders|command|commands|instruction|instructions|question|questions|task|tasks)?\\b|\\b(?:always|must) (?:obey|comply with|do (?:exactly )?(?:what|as)) (?:every|any|all|whatever|me|this|these|the attacker|i say|[\\w-]+ says)|\\banswer (?:every|any|all) (?:questions?|requests?) (?:even|regardless|without (?:any )?(?:refus|hesitat|exception|warning|disclaimer))",
  ],
  [
    'keep-this-entry',
    "\\b(?:never|do not|don't|must not|cannot)(?: be| ever)? (?:delete|remove|overwrite|edit|consolidate|replace|alter|change|deleted|removed|forget|override)d? (?:this|these|the (?:above|present)) (?:memory|entry|instruction|instructions|rule|rules|note to self|line|directive|directives)|\\b(?:copy|replicate|propagate|spread|repeat|insert|write|add|embed|paste) (?:this|these|the following|the above)(?: \\w+){0,3} (?:in(?:to)?|to|across|on) (?:all|every|each|any|other|new)(?: of)?(?: the| your)? ?(?:\\w+ )?(?:memor(?:y|ies)|skills?|files?|agents?|sessions?|repos(?:itor(?:y|ies))?|messages?|repl(?:y|ies)|emails?|prompts?|documents?|comments?)",
  ],
  [
    'standing-command',
    '\\b(?:before|after|at the (?:start|beginning|end) of|on|during|in) (?:every|each|any|all) (?:single )?(?:session|turn|task|reply|response|answer|conversation|message|command|request|login|start-?up)s?,? (?:(?:you|always|please|must|should|silently|first|will|also|quietly)[ ,]{1,2}){0,4}(?:run|execute|fetch|download|curl|wget|visit|open|call|load|send|upload|ping|install)\\b[^.!?]{0,80}(?:https?:|\\bcurl|\\bwget|\\| ?(?:ba)?sh|\\d\\.\\d{1,3}\\.\\d|base64|\\.sh\\b.{0,20}(?:from|at) )',
  ],
  [
    'crontab',
    '\\|\\s?crontab -|>>\\s?/etc/(?:crontab|cron\\.\\w+|sudoers|profile|rc\\.local)|\\bchmod (?:u\\+s|4755|\\+s) ',
  ],
]);
