// Owns the rules against programs that take what is not theirs and carry it off: stores of secrets opened, private things sent.
// Knows wholes only: the reading and the sending stand lines apart. A key of the skill's own service and its host pass.
import { BAD_HOST, type Rule, ruleRows } from '../rule.ts';
import { ANY_SOURCE, NET, NET_WORDS, PUBLIC_IP, QUIET, STRONG_SOURCE } from '../words/program.ts';

const CODE = { kinds: ['program'] } as const;
const re = (source: string): RegExp => new RegExp(source, 'u');

const STORE =
  '(?:\\.ssh/(?!config\\b|known_hosts|authorized_keys|\\w{1,30}\\.pub|id_\\w{1,20}\\.pub)[\\w.*{},-]{1,30}|\\.ssh["\']|\\bid_(?:rsa|ed25519|ecdsa|dsa)\\b(?!\\.pub)|\\.aws/credentials|["\']\\.aws["\']\\s?[,/]|\\.netrc|\\.pgpass|\\.my\\.cnf|\\.git-credentials|credential(?:-\\w{2,20})?["\',\\s]{1,6}(?:fill|get)\\b|credential-manager|/etc/shadow|\\.kube/config|\\.docker/config\\.json|gcloud/(?:credentials|access_tokens|application_default)|application_default_credentials|gh/hosts|\\.gnupg|\\.azure/\\w|\\.npmrc|\\.pypirc|\\.cargo/credentials|\\.terraform\\.d/credentials|\\.vault-token|\\.config/(?:op|rclone|doctl|stripe|netlify|vercel|hub|heroku)\\b|\\.boto\\b|\\.s3cfg|login data|logins\\.json|key4\\.db|cookies\\.sqlite|cookies\\.binarycookies|["\'/]cookies["\']|local extension settings|leveldb|local storage/|local state|wallet\\.dat|exodus|\\.electrum|\\.ethereum|\\.bitcoin|solana/id\\.json|nkbihfbeogaeaoehlefnkodbefgpgknn|keystore/|keychain-db|library/keychains|safe storage|\\.password-store|\\.kdbx\\b|tdata\\b|\\.(?:claude|codex|openclaw|clawdbot|hermes|talaria|gemini)/[\\w./-]{0,30}(?:\\.env|auth|credentials|secret|oauth)|auth-profiles|claude\\.json|/proc/(?:\\*|\\[0-9\\]\\S{0,4}|\\d{1,6}|\\$\\{?\\w+\\}?|self|[^\\s/]{1,12})/environ|(?:bash|zsh|python|psql|mysql)_history|chat\\.db|addressbook|signal/config|slack/(?:cookies|storage|local)|discord/local)';
const HOME =
  /homedir\(|path\.home|expanduser|\$\{?home\b|~\/|environ\[?\(?["']home|env\.home|userprofile|appdata|\/home\/|\/users\/|dir\.home|user\.home|os\.userhomedir|library\/application support|\/proc\//;
const READING =
  /\bcat\b|readfile|read_text|read_bytes|\.read\(|\bopen\(|\bcp\b|copyfile|copy2?\(|copytree|sqlite3|\btar\b|\bzip\b|base64|file\.read|get-content|readdir|\bgrep\b|\btr\b|strings|slurp|rsync|scp|\brobocopy|copy-item|os\.readfile|ioutil|\bhead\b|\bawk\b|\bjq\b|find-generic-password|credential fill/;

const OWN_TRADE =
  /\b(?:aws|s3|amazon|kube\w*|k8s|docker|npm|pypi|ssh|gpg|pgp|gcloud|google cloud|gcp|azure|terraform|vault|keychain|credentials?|dotfiles?|forensic\w*|1password|bitwarden|netrc|postgres|mysql|solana|ethereum|imessage|claude code|codex|openclaw|clawdbot)\b/;

export const PROGRAM_TAKE_RULES: readonly Rule[] = [
  ...ruleRows('credential_access', [
    [
      'program-opens-stores',
      'high',
      'ssh aws netrc pgpass git credentials shadow kube docker gcloud gh gnupg azure npmrc pypirc cargo vault login logins key4 cookies leveldb local wallet exodus electrum ethereum bitcoin solana keystore keychain keychains safe password kdbx tdata claude codex openclaw clawdbot hermes talaria proc bash_history zsh_history history chat id rsa ed25519 hosts id_rsa id_ed25519 boto addressbook',
      STORE,
      {
        ...CODE,
        also: [HOME, READING],
        facts: ['secret'],
        trade: OWN_TRADE,
        unless:
          /ssh-keygen|ssh-copy-id|exclude|ignore|\bskip\b|redact|forbidden|denylist|blocked|chmod 600|identityfile|gitignore/,
      },
    ],
    [
      'program-opens-many-stores',
      'high',
      'ssh aws netrc pgpass git credentials shadow kube docker gcloud gnupg azure npmrc pypirc cargo vault login logins cookies leveldb wallet exodus electrum ethereum bitcoin solana keystore keychain keychains claude codex',
      `${STORE}(?:[^\\n]{0,200}\\n){0,12}?[^\\n]{0,200}?(?!\\.ssh/|\\.aws/)${STORE}(?:[^\\n]{0,200}\\n){0,12}?[^\\n]{0,200}?${STORE}`,
      {
        ...CODE,
        also: [READING],
        facts: ['secret'],
        firm: true,
        unless: /exclude|ignore|\bskip\b|redact|forbidden|denylist|blocked|gitignore|deny/,
      },
    ],
    [
      'program-hunts-tokens',
      'high',
      'akia ghp sk xox xoxb xoxc gho pat private secret token key password mnemonic seed',
      '(?:akia\\[|gh[pous]_\\[|\\bsk-\\[|xox[\\[abcp]|-----begin[^\\n]{0,30}private|\\b(?:seed|mnemonic|recovery)\\|)',
      {
        ...CODE,
        also: [HOME, /os\.walk|rglob|glob|readdir|filepath\.walk|find\b|dir\.glob|grep -\w*r|listdir|\bwalk/],
        facts: ['secret'],
        trade: /scan|leak|secret|audit|redact/,
      },
    ],
    [
      'environment-sifted',
      'high',
      'env environ printenv set process export',
      '(?:(?<![.\\w/-])(?:env|printenv|export -p|set)\\s?\\|[^\\n]{0,40}(?:grep|rg|egrep|awk|sed|findstr)\\b[^\\n]{0,80}(?:key|token|secret|pass\\w{0,5}|cred\\w{0,7})(?:\\\\?\\|)(?:[\\w_=\\\\|]{0,30})?(?:key|token|secret|pass|cred|auth)|environ[^\\n]{0,6}\\.items\\(\\)[^\\n]{0,120}(?:key|token|secret|pass)|object\\.(?:entries|keys)\\(\\s?process\\.env\\s?\\)[^\\n]{0,120}(?:key|token|secret|pass)|env\\.(?:select|to_h|each)[^\\n]{0,60}(?:key|token|secret))',
      {
        ...CODE,
        facts: ['secret'],
        unless:
          /wc -l|cut -d ?["']?=["']? -f ?1|sed ["']s\/=|redact|\*\*\*|mask|\bunset\b|del os\.environ|pop\(|grep -\w*c|startswith/,
      },
    ],
    [
      'neighbour-processes',
      'high',
      'proc gcore strings procdump ptrace environ',
      '(?:/proc/(?:\\*|\\[0-9\\]|\\$|\\{)[^\\n]{0,40}environ|/proc/\\$?\\{?\\w{1,10}\\}?/environ[^\\n]{0,120}(?:token|secret|pass|key)|\\bgcore\\b[^\\n]{0,80}(?:ssh-agent|gpg-agent|keyring|keychain|chrome|firefox|1password|bitwarden)|ps (?:e|auxe|-e)\\w{0,4}[^\\n]{0,80}(?:token|secret|password)|\\$p/environ)',
      { ...CODE, facts: ['secret'], firm: true },
    ],
    [
      'cluster-and-cloud-secrets',
      'high',
      'credential fill kubectl serviceaccount metadata secretsmanager ssm vault credential gcloud az',
      '(?:kubectl[^\\n]{0,60} get secrets?\\b[^\\n]{0,40}(?:-a\\b|--all-namespaces|-o (?:json|yaml)\\b)|/var/run/secrets/kubernetes\\.io/serviceaccount/token|169\\.254\\.169\\.254/[^\\s]{0,60}(?:credential|token|user-data)|metadata\\.google\\.internal/[^\\s]{0,80}(?:token|key)|secretsmanager list-secrets[^\\n]{0,300}|list-secrets(?:[^\\n]{0,200}\\n){0,4}[^\\n]{0,200}get-secret-value|ssm get-parameters-by-path[^\\n]{0,60}--with-decryption|credential(?:-\\w+)?["\',\\s]{1,6}fill\\b|vault kv list[^\\n]{0,100}vault kv get)',
      {
        ...CODE,
        facts: ['secret'],
        trade: /secret|credential|vault|iam|ssrf|security|rotate|rotation|metadata|instance/,
      },
    ],
    [
      'stores-of-other-programs',
      'high',
      'safe leveldb encrypted_value cookies xoxc login cryptunprotectdata decrypt find',
      '(?:["\'][\\w ]{2,30} safe storage["\']|encrypted_value|password_value|cryptunprotectdata|xox[cd]-|leveldb[^\\n]{0,120}(?:token|rb["\'])|browser_cookie3?|pycookiecheat|rookiepy|chrome-cookies|get-cookies-from)',
      { ...CODE, facts: ['secret'], trade: /cookie|browser|forensic/, unless: /--cookies-from-browser/ },
    ],
  ]),
  ...ruleRows('exfiltration', [
    [
      'program-sends-to-drop',
      'critical',
      NET_WORDS,
      `(?:^|\\n)(?!\\s*(?:#|//|\\*|<!--))[^\\n]{0,300}?(?:${BAD_HOST}(?:https?|wss?|ftps?|tcp|udp)://|${BAD_HOST}[\\w-]|["'](?:https?://)?${PUBLIC_IP}[:"'/])`,
      { ...CODE, also: [re(NET), re(STRONG_SOURCE)], firm: true, facts: ['send-bad'] },
    ],
    [
      'program-sends-file-to-drop',
      'critical',
      NET_WORDS,
      `(?:^|\\n)(?!\\s*(?:#|//|\\*|<!--))[^\\n]{0,300}?(?:«(?:paste|tunnel|collector|odd|shortener)»(?:https?|wss?|ftps?|tcp|udp)://|["'](?:https?://)?${PUBLIC_IP}[:"'/]|«address»https?://${PUBLIC_IP})`,
      {
        ...CODE,
        also: [
          re(NET),
          re(ANY_SOURCE),
          /\bpost\b|\bput\b|json\.dumps|stringify|\.encode\(|data\s?=|body|files\s?=|formdata|--data|\s-[dtf] |sendto|sendall|upload|\.write\(|\?\w{1,12}=/,
        ],
        firm: true,
        facts: ['send-bad'],
        trade: /webhook|tunnel|ngrok|pastebin|paste/,
      },
    ],
    [
      'program-sends-to-chat',
      'critical',
      'discord discordapp telegram slack ntfy',
      '«chat»https?://(?:(?:ptb\\.|canary\\.)?discord(?:app)?\\.com/api/webhooks/[\\w<{$%]|api\\.telegram\\.org/bot[\\w<{$%]|hooks\\.slack\\.com/services/[\\w<{$%]|ntfy\\.sh/[\\w-])',
      {
        ...CODE,
        also: [
          /readfile\w{0,4}|read_text|read_bytes|\.read\(\)|\bopen\(|\$\(cat|@["']?[~$/.\w]|\bgit (?:remote|ls-files|log|diff|config)|getuser|whoami|environ\b(?!\.get|\[)|printenv|clipboard|pbpaste|screencapture|senddocument|sendphoto/,
          re(`${STRONG_SOURCE}|senddocument|formdata|files\\s?=|-f ["']?\\w+=@`),
        ],
        unless:
          /(?:webhooks\/|\/bot|services\/)(?:your|x{3}|t0{4}|\.\.\.|\$\{?|<|\{)\w*|environ(?:\.get\(|\[)["']\w*(?:webhook|telegram|discord|slack|bot)\w*|process\.env\.\w*(?:webhook|telegram|discord|slack|bot)/,
        firm: true,
      },
    ],
    [
      'program-sends-private',
      'critical',
      NET_WORDS,
      `(?:^|\\n)(?!\\s*(?:#|//|\\*|<!--))[^\\n]{0,300}?«(?:unknown|free)»(?:https?|wss?|ftps?|tcp|udp)://`,
      {
        ...CODE,
        also: [
          re(NET),
          re(STRONG_SOURCE),
          /\bpost\b|\bput\b|json\.dumps|stringify|\.encode\(|data\s?=|\bbody\b|files\s?=|formdata|--data|\s-[dtf] |sendto|sendall|upload|\.write\(|\?\w{1,12}=|push/,
        ],
        firm: true,
        unless: /git clone/,
        facts: ['send-out'],
      },
    ],
    [
      'program-sends-quietly',
      'critical',
      NET_WORDS,
      `(?:^|\\n)(?!\\s*(?:#|//|\\*|<!--))[^\\n]{0,300}?«(?:unknown|free)»(?:https?|wss?|ftps?|tcp|udp)://`,
      {
        ...CODE,
        also: [
          re(NET),
          re(QUIET),
          /readfile\w{0,4}|read_text|read_bytes|\.read\(\)|\bopen\(|\$\(cat|-d ["']?@|--data-binary ["']?@|-t ["']?[~$/.\w]|=@|gethostname|hostname|getuser|whoami|argv|userinfo|\btext\b|prompt|stdin/,
          /\bpost\b|\bput\b|json\.dumps\(|stringify\(|\.encode\(\)|formdata|--data|\s-[dtf] ["']?[@${]|sendto|sendall|upload|sendbeacon/,
        ],
        firm: true,
        unless: /api[_-]?key|authorization|bearer|git clone/,
        facts: ['send-out'],
      },
    ],
    [
      'pushed-to-strange-remote',
      'critical',
      'git',
      `\\bgit (?:remote (?:add|set-url)|config (?:--\\w+ )?remote\\.\\S{1,30}url|push)\\b[^\\n]{0,200}(?:«(?:unknown|free|address|odd|tunnel|collector|paste)»|@${PUBLIC_IP}|@[\\w-]+(?:\\.[\\w-]+)*\\.(?!com:|org:)\\w{2,8}:)`,
      { ...CODE, also: [/\bgit push\b|["']push["']/], unless: /your[-_]|<\w|example\.(?:com|org)/, firm: true },
    ],
    [
      'names-carry-data',
      'critical',
      'gethostbyname getaddrinfo resolve lookup dig nslookup dns resolver host ping resolve4 resolvetxt',
      '(?:(?:gethostbyname|getaddrinfo|resolve\\w{0,5}|lookup\\w{0,4}|query)\\(\\s?(?:f["\'][^"\'\\n]{0,80}\\}\\.[\\w.{}-]{3,60}|`[^`\\n]{0,80}\\}\\.[\\w.{}$-]{3,60}|[\\w.()[\\]]{1,60}\\s?\\+\\s?["\']\\.|["\']%s\\.)|\\b(?:dig|nslookup|host|ping)\\b[^\\n]{0,60}["\']?\\$\\{?\\w{1,20}\\}?(?:\\.\\$\\{?\\w{1,20}\\}?)?(?:\\.[a-z0-9«»-]{1,40}){1,4}\\.[a-z]{2,10})',
      {
        ...CODE,
        also: [/base64|b32|hex|encode|xxd|chunk|\[i:|substr|slice|fold|md5|cat |read/],
        firm: true,
        unless: /\bptr\b|in-addr/,
      },
    ],
    [
      'socket-carries-data',
      'critical',
      'socket sendto sendall connect udp tcp dial nc createconnection dgram',
      `["'](?:${PUBLIC_IP}|(?=[\\w.-]{4,60}["'])[a-z0-9-]{1,40}(?:\\.[a-z0-9-]{1,40}){0,3}\\.(?!py|js|ts|json|md|txt|local|internal|sh|log|csv|db)[a-z]{2,12})["']\\s?,\\s?["']?\\d{2,5}\\b`,
      {
        ...CODE,
        also: [
          /sendto\(|sendall\(|\.send\(|\.write\(|net\.dial|createconnection|dgram|fsockopen|tcpsocket|udpsocket/,
          re(STRONG_SOURCE),
        ],
        firm: true,
      },
    ],
    [
      'mail-carries-data',
      'critical',
      'smtplib sendmail nodemailer mail mailx mutt sendgrid smtp',
      '(?:to|recipient|rcpt|bcc|cc|sendmail\\([^\\n]{0,60}|mailx? [^\\n]{0,80}|mutt [^\\n]{0,80})["\'\\]]{0,2}\\s?[=:,\\s]\\s?\\[?["\']?[\\w.+-]{1,60}@(?!example|your|localhost|company|domain)[\\w-]{1,60}\\.[\\w.]{2,20}',
      {
        ...CODE,
        also: [/smtplib|sendmail|nodemailer|\bmailx?\b|mutt|smtp/, re(STRONG_SOURCE)],
        firm: true,
        unless: /user@|you@|me@|admin@example/,
      },
    ],
    [
      'talk-redirected',
      'critical',
      'openai anthropic claude llm gemini proxy',
      `(?:\\b(?:(?:openai|anthropic|claude|llm|gemini|azure_openai)\\w{0,12}_?(?:base_?url|api_?base|endpoint|host|baseurl)|(?:https?|all)_proxy|llm_proxy)\\b["']?\\s?[=:]\\s?["']?(?:export )?(?:${BAD_HOST}|«(?:unknown|free)»)(?:https?|socks5h?)://)`,
      {
        ...CODE,
        firm: true,
        trade: /proxy|gateway|router|litellm|provider|model|relay|vpn|llm|api/,
        unless: /your[-_]|«example»/,
      },
    ],
  ]),
];
