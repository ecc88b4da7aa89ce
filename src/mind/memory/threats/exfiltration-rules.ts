// Owns the rules against text that would carry data out of the machine or let somebody in.
// Knows no file. Requests with a key in a header, installers and copies of ordinary files are everyday work and pass.
import { foldedRules, type ThreatRule } from './threat-rule.ts';

const SENSITIVE =
  "(?:api[ _-]?keys?|passwords?|passphrases?|credentials?|(?:access |auth |session |bearer |oauth |refresh )?tokens?(?! (?:usage|counts?|costs?|limits?|budgets?|spend|report|statistics))|secrets?|private keys?|ssh keys?|\\.env\\b|cookies?|(?:chat|conversation|message|session)(?:s| (?:history|log|logs|transcript|contents?))|transcripts?|(?:system|hidden) prompt|memory (?:files?|contents?|entries)|memory\\.md|user\\.md|environment variables|env vars|personal (?:data|information|details)|(?:user|owner)(?:'s)? (?:data|details|information|files|messages|input|questions)|everything (?:the |your )?(?:user|owner|he|she|you))";
const OUTSIDE =
  '(?:https?:\\/\\/|ftp:\\/\\/|[\\w.+-]{1,64}@[\\w-]{1,64}\\.|[a-z0-9-]{1,63}\\.(?:com|net|org|io|dev|xyz|ru|cn|top|site|app|co|me|example|test|tk|info|biz|sh)\\b|\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}|(?:an? |the |this |that |my |our |following )?(?:external|remote|attacker|third[- ]party|collector|collection|logging|listening|drop)[- ](?:server|endpoint|url|host|site|address|webhook|api|service)|(?:the |this |that |my |our )(?:webhook|endpoint|pastebin|gist|dropbox|telegram (?:bot|channel)|discord))';
const SEND =
  '(?:send|forward|upload|post|e-?mail|transmit|exfiltrate|leak|submit|mail|deliver|relay|push|report|ship|publish|copy|beam|dump|share|append|attach|pass|put|include|encode|add|write|embed)';
const SECRET_FILE =
  '(?:\\.ssh\\/(?!config|known_hosts|id_\\w{1,20}\\.pub|\\*\\.pub)|id_(?:rsa|ed25519|ecdsa|dsa)\\b(?!\\.pub)|\\.env\\b(?!\\.(?:example|sample|template))|\\.aws\\/credentials|\\.netrc|\\.npmrc|\\.pgpass|\\/etc\\/(?:passwd|shadow)|\\.kube\\/config|\\.docker\\/config\\.json|\\.config\\/gcloud|\\.gnupg|auth\\.json|credentials\\.json|cookies\\.sqlite|login data|state\\.db|memory\\.md|user\\.md|\\.talaria\\b|\\.hermes\\b|keychain)';
const SECRET_VALUE = '\\$\\{?\\w{0,40}(?:key|token|secret|passw|credential)\\w{0,20}';
const NETWORK =
  '(?:curl|wget|nc|ncat|netcat|socat|http|https|xh|telnet|scp|rsync|sftp|ftp|ssh|invoke-webrequest|iwr|invoke-restmethod|irm)';

export const EXFILTRATION_RULES: readonly ThreatRule[] = foldedRules('exfiltration', [
  [
    'send-out',
    `\\b${SEND}(?:ing)? (?:me |us |them )?[^.!?]{0,80}?${SENSITIVE}[^!?]{0,80}? (?:to|at|via|into|onto|through|in|as|with) (?:\\w+ ){0,3}${OUTSIDE}`,
  ],
  [
    'send-out-2',
    `\\b(?:send|forward|upload|post|transmit|exfiltrate|leak|submit|relay|ping|call|hit|visit|fetch|request|get|open|load|append|include)\\b[^.!?]{0,40}${OUTSIDE}[^!?]{0,80}? (?:with|containing|including|carrying|along with|together with|plus|followed by|attaching|and (?:append|attach|include|add|pass|send)) [^.!?]{0,50}?${SENSITIVE}`,
  ],
  [
    'as-parameter',
    `\\b(?:include|append|add|attach|put|pass|encode|embed)\\b[^.!?]{0,50}${SENSITIVE}[^.!?]{0,40}\\b(?:query|parameter|parameters|url|urls|querystring|query string|link|headers?)\\b[^!?]{0,80}${OUTSIDE}`,
  ],
  [
    'every-time-send',
    `\\b(?:bcc|cc|forward|send|copy|mirror|relay|e-?mail|post|report)(?: a copy of)? (?:all|every|each|any|the (?:full|whole|entire)|everything|whatever)\\b[^.!?]{0,60} (?:to|at|with) (?:\\w+ ){0,3}${OUTSIDE}`,
  ],
  [
    'file-to-network',
    `\\b(?:cat|tar|base64|gzip|zip|xxd|openssl|env|printenv|type|get-content|sort|head|tail|grep|find|sed|awk)\\b[^|\\n]{0,120}\\|[^\\n]{0,80}?\\b${NETWORK}\\b(?<=(?:${SECRET_FILE}|\\b(?:env|printenv)\\b)[^\\n]{0,200})`,
  ],
  [
    'network-with-file',
    `\\b${NETWORK}(?= )[^|;\\n]{0,200}?(?:@|<|=| )["']?(?:~|\\/|\\$home|\\.|%userprofile%|\\w)?[\\w./~-]{0,60}?${SECRET_FILE}[^|;\\n]{0,120}(?:https?:|@|:\\d|\\d\\.\\d|\\.\\w{2,4}\\b)`,
  ],
  [
    'network-data-file',
    `\\b(?:curl|wget|http|https|xh|invoke-webrequest|iwr|invoke-restmethod|irm)\\b[^|;\\n]{0,200}? (?:-d|-f|-t|--data(?:-\\w+)?|--form|--upload-file|--post-file|--post-data|-body|-infile|--body-file)[ =]?["']?[^|;\\n]{0,60}(?:${SECRET_FILE}|${SECRET_VALUE}|\\$\\(|\`)`,
  ],
  [
    'url-with-secret',
    `\\bhttps?:\\/\\/[^\\s"']{1,200}(?:\\?|&|\\/)[^\\s"']{0,80}(?:${SECRET_VALUE}|\\$\\((?:cat|env|printenv|whoami|hostname|base64))`,
  ],
  ['name-lookup', '\\b(?:dig|nslookup|host|ping)\\b[^\\n]{0,80}(?:\\$\\(|`)'],
  [
    'reverse-shell',
    '\\/dev\\/(?:tcp|udp)\\/|\\bn(?:c|cat|etcat)\\b[^\\n]{0,40} -(?:e|c)\\b|\\bbash -i\\b|mkfifo[^\\n]{0,80}\\bn(?:c|cat|etcat)\\b|socket\\.socket\\(.{0,200}(?:dup2|subprocess|pty\\.spawn)',
  ],
  [
    'payload',
    '(?:base64 (?:-d|--decode|-di)|xxd -r|openssl enc -d)[^|\\n]{0,60}\\|\\s?(?:sudo )?(?:ba|z|da)?sh\\b|\\b(?:curl|wget)\\b[^|\\n]{0,120}(?:https?:\\/\\/\\d{1,3}(?:\\.\\d{1,3}){3}|pastebin|transfer\\.sh|ngrok|webhook\\.site|requestbin|\\.onion)[^|\\n]{0,120}|\\bpowershell\\b[^\\n]{0,60} -e(?:nc|ncodedcommand)? [a-z0-9+/=]{20}',
  ],
  [
    'key-planting',
    '(?:>>|tee -a|append[^.!?]{0,40} to|add[^.!?]{0,60} to|put[^.!?]{0,60} in(?:to)?|write[^.!?]{0,40} to) ?(?:the )?["\']?[~\\/\\w.$-]{0,60}authorized_keys(?! (?:on|of) )',
  ],
  [
    'image-beacon',
    '!\\[[^\\]]{0,80}\\]\\(\\s?https?:\\/\\/[^)\\s]{1,200}[?&/=][^)]{0,80}(?:\\{|\\[|<|\\$|%7b|(?:data|secret|token|conversation|history|memory|summary|exfil|leak)=)',
  ],
  [
    'show-secret-file',
    `\\b(?:always|then|first|silently|every|each|whenever|must|please|also|and)\\b[^.!?]{0,60}\\b(?:read|open|cat|print|include|paste|output|dump|load|collect|gather|harvest|copy|attach)\\b[^.!?]{0,40}${SECRET_FILE}[^.!?]{0,60}\\b(?:repl(?:y|ies)|response|responses|message|messages|answer|answers|output|chat|comment|issue|request|send|upload|post|commit|pull request|url|server)\\b`,
  ],
]);
