// Owns the rules against taking and exposing secrets that are not the skill's own. Knows no destination: that is exfiltration.
// A skill reads its own key from the environment, a keychain entry or a .env file; that is ordinary and passes.
import { type Rule, ruleRows } from './rule.ts';
import { ENV_FILE, READ_VERB, SECRET_STORE, SECRET_WORDS } from './words/sensitive.ts';

const STORE_WORDS =
  'ssh aws netrc pgpass git shadow sudoers master kube docker config gnupg azure npmrc pypirc cargo login logins key4 cookies local wallet bitcoin ethereum electrum solana exodus monero metamask nkbihfbeogaeaoehlefnkodbefgpgknn keychain keychains openclaw clawdbot moltbot hermes talaria claude codex auth password kdbx keystore ovpn p12 pfx proc google chrome firefox telegram discord zsh_history bash_history history environ application id rsa ed25519 zsh bash';

const TAKING = ruleRows('credential_access', [
  [
    'secret-store-read',
    'high',
    STORE_WORDS,
    `\\b${READ_VERB}\\b[^|\\n]{0,120}?${SECRET_STORE}`,
    {
      kinds: ['code'],
      facts: ['secret'],
      unless:
        /ssh-keygen|ssh-copy-id|\.pub\b|chmod (?:[0-7]{3}|go-)|aws configure|docker login|kubectl config|ssh-add|-i ~?\/?\S{0,40}\.ssh\/|export kubeconfig|identityfile|>>? ?~?\/?\.(?:npmrc|pypirc|netrc|pgpass)|ls -l?a?l? ~?\/?\.ssh\/?(?:\s|$)|mkdir/,
    },
  ],
  [
    'secret-store-in-code',
    'fact',
    STORE_WORDS,
    SECRET_STORE,
    {
      kinds: ['code'],
      facts: ['secret'],
      unless: /chmod (?:[0-7]{3}|go-)|identityfile|ssh-keygen|mkdir|\.pub\b|-i ~?\/?\S{0,40}\.ssh\//,
    },
  ],
  [
    'secret-store-order',
    'high',
    STORE_WORDS,
    `\\b(?:read|open|cat|copy|collect|gather|harvest|extract|dump|load|parse|include|attach|inspect|look (?:at|in|into|through)|scan|enumerate|retrieve|grab|pull|note|record|go through|take|capture|snapshot|fetch)\\b[^.!?]{0,90}?(?:[~/\\\\$%][\\w./\\\\ -]{0,40}|\\s|\`)${SECRET_STORE}`,
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['secret'],
      unless:
        /\.npmrc|config\.(?:json|ya?ml)|\.aws\/config|\.kube\/config|kubeconfig|\.gnupg|sudoers|\.docker\/config|configured? in|stored? in|saved? (?:to|in)|create|set up|setup|generate/,
    },
  ],
  [
    'several-stores-named',
    'medium',
    STORE_WORDS,
    `${SECRET_STORE}[^\\n]{0,120}?(?:${SECRET_STORE})`,
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['secret'],
      unless:
        /exclude|ignore|block|deny|protect|forbid|off[- ]limits|sensitive|\.gitignore|never|do not|don't|must not|redact|allowlist|trust/,
    },
  ],
  [
    'several-keys-taken',
    'high',
    'environ env getenv',
    '(?:environ|process\\.env|getenv)[^\\n]{0,6}(?:aws|openai|anthropic|github|gh|stripe|npm|azure|google|database|slack|ssh)_\\w{0,30}[^\\n]{0,80}(?:environ|process\\.env|getenv)[^\\n]{0,6}(?:aws|openai|anthropic|github|gh|stripe|npm|azure|google|database|slack|ssh)_\\w{0,30}',
    {
      kinds: ['code'],
      facts: ['own-secret'],
      unless: /aws_access_key_id[^\n]*aws_secret|\?\?|\|\||\bor\b|assert|if not/,
    },
  ],
  [
    'keychain-dump',
    'high',
    'kubectl security keychain secret vaultcmd cmdkey laZagne mimikatz lazagne pass bw op gpg',
    '\\bkubectl config view[^\\n]{0,20}--raw|\\bsecurity (?:dump-keychain|find-(?:generic|internet)-password (?:-\\w{1,3} )*-g?a?[^\\n]{0,20}(?:chrome|safe storage|icloud|wifi|airport)|export )|\\bvaultcmd /list|\\bcmdkey /list|mimikatz|lazagne|sekurlsa|\\blsass\\b|procdump[^\\n]{0,30}lsass|secretsdump|ntds\\.dit|reg save hklm.{1,3}sam|\\bop item list[^\\n]{0,80}op item get|pass (?:ls|show)[^\\n]{0,40}\\bxargs|gpg --export-secret-keys|chrome safe storage|cryptunprotectdata|gcloud auth print-access-token[^\\n]{0,60}(?:>|curl)|aws configure export-credentials',
    { facts: ['secret'], trade: /\b(?:gpg|pgp|encrypt\w*|keys?|signing|keyring)\b/ },
  ],
  [
    'secret-sweep',
    'high',
    'grep rg find env egrep findstr glob walk ag',
    `(?:\\b(?:grep|rg|egrep|findstr|ag)\\b[^\\n]{0,60}(?:-[a-z]{0,5}r[a-z]{0,4}\\b|--recursive|-rn?|/s)[^\\n]{0,80}(?:api[_-]?key|secret|passw|token|akia|private[_ -]key|credential|mnemonic)[^\\n]{0,80}(?:~(?:/|\\s|$)|\\$home|/home|/users|/root|\\s/(?:\\s|$)|/etc)|\\bfind (?:~|\\$home|/|/home|/users|/root|\\$env:userprofile)[^\\n]{0,120}(?:\\.env|\\.pem|id_rsa|\\.key\\b|credential|wallet|\\.kdbx|\\.ssh)|(?:glob|rglob|walk)\\([^\\n]{0,60}(?:\\.env\\b|\\.pem|id_rsa|wallet)[^\\n]{0,60})`,
    { facts: ['secret'], unless: /-not -path|audit|\bgit\b/ },
  ],
  [
    'whole-environment',
    'fact',
    'env environ printenv process set export getenv',
    '(?:dict\\(os\\.environ\\)|json\\.dumps\\(\\s?(?:dict\\()?os\\.environ|os\\.environ(?:\\.items\\(\\)|\\.copy\\(\\))?(?=\\s?[),}\\]]| if| for|$)|json\\.stringify\\(\\s?process\\.env\\b(?!\\.)|object\\.(?:entries|keys|assign)\\([^)\\n]{0,20}process\\.env\\b(?!\\.)|\\.\\.\\.process\\.env|(?:body|data|env|payload)\\s?[:=]\\s?process\\.env\\b(?![.[])|(?<![.\\w/-])(?:printenv|env)\\s?(?:\\||>\\s?\\S|$|2>)|\\$\\(\\s?(?:printenv|env)\\s?(?:\\||\\)|2>)|`(?:printenv|env)`|\\bexport -p\\b|get-childitem env:|\\bgci env:|\\bls env:|\\bset >\\s|system\\.getenv\\(\\)|env::vars\\(|os\\.environ\\(\\))',
    {
      kinds: ['code', 'comment', 'prose'],
      facts: ['secret'],
      unless:
        /env\s?=\s?\{?\s?(?:\*\*|\.\.\.)?(?:dict\()?(?:os\.environ|process\.env)|\.\.\.process\.env,|subprocess|spawn\(|popen|patch\.dict|env ?= ?os\.environ|grep -[a-z]*[qi]?[a-z]* ?["']?\^?[a-z_]+=?["']?\s*$/,
    },
  ],
  [
    'environment-to-file-or-chat',
    'high',
    'env printenv environ',
    '(?:(?<![.\\w/-])(?:printenv|env)\\s?(?:\\|[^\\n|]{0,80}grep -[a-z]{0,3}i?[a-z]{0,3} ["\']?[^\\n"\']{0,60}(?:key|token|secret|pass)[^\\n]{0,60})(?:>|tee|base64|\\|)|(?<![.\\w/-])(?:printenv|env)\\s?(?:\\| ?sort ?)?>{1,2}\\s?\\S)',
    { facts: ['secret'], unless: /\$github_env|wc -l|sed 's?[^']*\*|github_output/ },
  ],
  [
    'environment-order',
    'high',
    'environment env variables',
    '\\b(?:read|collect|gather|dump|list|print|include|capture|record|snapshot|export|copy|save|note|enumerate|take|output|echo|show|display|past)(?:s|e|es|ing)?\\b[^.!?]{0,40}\\b(?:all|every|the (?:full|entire|whole|complete|current)|full set of|whole set of|contents of (?:the|all))[^.!?]{0,30}(?:environment(?: variables)?|env vars?|process environment)\\b(?! (?:that|which|used|needed|required|of the (?:app|service|container)|documentation|names?|reference|listed))',
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['secret'],
      unless: /\.env\.example|document|names only|without values|redact|mask/,
    },
  ],
  [
    'env-file-read',
    'fact',
    'env',
    `\\b${READ_VERB}\\b[^|\\n]{0,80}?${ENV_FILE}`,
    { kinds: ['code', 'prose', 'comment'], facts: ['own-secret'] },
  ],
  [
    'clipboard-or-keys-watch',
    'high',
    'pbpaste xclip xsel clipboard pynput keylogger keylog listener screencapture imagegrab getasynckeystate',
    '(?:while (?:true|:|1)[^\\n]{0,120}(?:pbpaste|xclip|xsel|get-clipboard)|pynput[^\\n]{0,40}keyboard|keyboard\\.listener|getasynckeystate|key ?logg\\w{1,4}|keyboard\\.on_press|(?:pbpaste|xclip -o|get-clipboard)[^\\n]{0,80}(?:curl|nc ))',
    { facts: ['secret'] },
  ],
]);

const ASKING = ruleRows('credential_access', [
  [
    'asks-for-secret',
    'high',
    'seed recovery mnemonic private password passphrase pin cvv card keychain 2fa otp',
    '\\b(?:ask|prompt|request|get|have|tell|instruct|invite|encourage|obtain)\\b[^.!?]{0,40}\\b(?:user|owner|human|them|person|customer)\\b[^.!?]{0,60}\\b(?:seed phrase|recovery phrase|mnemonic|private key|(?:system|login|mac|sudo|admin\\w{0,9}|account|computer|email|bank\\w{0,3}|apple id|google|keychain|master|wallet|root|windows) (?:account )?(?:password|passphrase|pin)|their (?:password|passphrase|pin)\\b|cvv|card number|(?:2fa|otp|one-time|verification|two-factor) codes?)',
    { unless: /set (?:a|their|up)|choose|create|reset|forgot/ },
  ],
  [
    'password-dialog',
    'high',
    'dialog osascript hidden readpassword credential getpass askpass zenity kdialog',
    '(?:display dialog[^\\n]{0,200}hidden answer|with hidden answer|get-credential -message|promptforcredential|zenity --password|kdialog --password|ssh_askpass|dscl \\.? ?-?authonly|dscl[^\\n]{0,20}-authonly)',
    { facts: ['secret'] },
  ],
  [
    'secret-into-chat-or-memory',
    'high',
    'keys key token password credentials secret api secrets tokens',
    `\\b(?:print|echo|display|show|repeat|paste|write|output|post|save|store|remember|record|log|include|embed|quote|put|add|keep|note)\\b[^.!?]{0,40}?\\b(?:full |actual |raw |plain(?:text)? |literal |real |complete |unmasked |user'?s? |the |their |your |all )*(?:api[ _-]?keys?|passwords?|tokens?|credentials?|secrets?|private keys?|seed phrases?)\\b(?: value| values)?[^.!?]{0,40}\\b(?:in(?:to)?|to|as part of|within|on) (?:the |your |its |a |every |each )*(?:reply|replies|response|responses|answer|chat|conversation|output|memory(?: file)?|memory\\.md|soul\\.md|log(?:s| file)?|commit(?: message)?s?|pull request|issue|url|query string|comment|public \\w{1,10}|summary|transcript|world-readable)\\b`,
    {
      kinds: ['prose', 'comment', 'header'],
      unless: /❌/,
      facts: ['secret'],
    },
  ],
]);

const LITERAL = ruleRows('credential_access', [
  [
    'literal-secret',
    'medium',
    'akia asia ghp_ gho_ github xoxb xoxp sk live private begin aiza glpat npm_ ghp xoxp sk_live rk_live',
    '(?:\\b(?:akia|asia)[0-9a-z]{16}\\b|\\bgh[pousr]_[0-9a-z]{36}\\b|github_pat_[0-9a-z_]{60,90}|\\bxox[bpars]-\\d{8,14}-\\d{8,14}-[0-9a-z]{20,40}|\\b[sr]k_live_[0-9a-z]{20,60}|\\bsk-(?:ant-|proj-)?[0-9a-z_-]{40,120}\\b|\\baiza[0-9a-z_-]{35}\\b|glpat-[0-9a-z_-]{20}\\b|-----begin (?:rsa |ec |openssh |dsa )?private key-----)',
    { unless: /example|your|xxxx|\.\.\.|placeholder|0{8}|1234567|abcdef|dummy|fake|sample|redacted|<|test/ },
  ],
]);

const WORDS = ruleRows('credential_access', [
  [
    'secrets-order',
    'high',
    'credentials passwords keys seed cookies tokens secrets wallet mnemonic keychain passphrases browser',
    `\\b(?:collect|gather|harvest|extract|dump|steal|exfiltrate|scrape|compile|enumerate|pull together|search (?:the )?(?:machine|system|disk|home\\w{0,10}|computer|file ?system|device)[^.!?]{0,20} for|look (?:around|through) [^.!?]{0,30}for|find and (?:read|copy|save|record)|locate and (?:read|copy|save|record)|round up)\\b[^.!?,;]{0,45}?(?<!\\w)${SECRET_WORDS}`,
    {
      kinds: ['prose', 'comment', 'header', 'code'],
      facts: ['secret'],
      unless:
        /(?:million|per|output|input|completion|prompt) tokens?|vaulted|leaked (?:secrets|credentials)|(?:for|of) (?:hard-?coded|leaked|exposed|committed|accidental)|hard-?coded/,
    },
  ],
]);

export const CREDENTIAL_RULES: readonly Rule[] = [...TAKING, ...ASKING, ...LITERAL, ...WORDS];
