// Owns the rules against carrying data out: secrets or private things, and a way out, in one unit; ways out alone are facts for the flows.
// Knows no other line. A key in a header to its own service, posting to a chat by the owner's variable, uploads to the skill's subject pass.
import { BAD_HOST, OUT_HOST, type Rule, ruleRows } from './rule.ts';
import { CARRY_VERB, ENV_FILE, MAIL, PRIVATE_WORDS, SECRET_STORE, SECRET_WORDS, SEND_VERB } from './words/sensitive.ts';

const WEB_WORDS =
  'curl wget iwr irm invoke http https fetch axios requests httpx urllib post xh got superagent aiohttp urlopen request webclient uploadstring uploadfile sendbeacon nc ncat netcat scp rsync sftp ftp socat xmlhttprequest session client put aws gsutil rclone httpie websocket websockets';
const BODY =
  '(?:(?:^|\\s)(?:-d|-f|-t|--data(?:-\\w{2,10})?|--form|--upload-file|--post-file|--post-data|--json|--body-data|-body|-infile|-infile|-form)[ =]|method["\']?\\s?[:=]\\s?["\'](?:post|put)|-method (?:post|put)|-x ?(?:post|put)|\\.(?:post|put)\\(|requests\\.(?:post|put)|httpx\\.(?:post|put)|upload(?:string|file|data|values)|sendbeacon|\\bdata\\s?=|\\bfiles\\s?=|\\bjson\\s?=|\\bbody\\s?[:=]|new websocket|multipart)';

/** Ways out, for flows. */
const WAYS = ruleRows('exfiltration', [
  [
    'send-bad',
    'fact',
    WEB_WORDS,
    `${BODY}[^\\n]{0,250}?${BAD_HOST}|${BAD_HOST}[^\\n]{0,250}?${BODY}`,
    { facts: ['send-bad', 'send-out'] },
  ],
  [
    'send-out',
    'fact',
    WEB_WORDS,
    `${BODY}[^\\n]{0,250}?«(?:unknown|free)»|«(?:unknown|free)»[^\\n]{0,250}?${BODY}`,
    { facts: ['send-out'] },
  ],
  [
    'chat-hook-with-file',
    'critical',
    'telegram discord slack discordapp',
    '«chat»https?://(?:api\\.telegram\\.org/bot\\d{6,12}:[\\w-]{20,50}|discord(?:app)?\\.com/api/webhooks/\\d{10,22}/[\\w-]{20,100}|hooks\\.slack\\.com/services/t\\w{6,14}/b\\w{6,14}/\\w{12,40})[^\\n]{0,200}(?:senddocument|files\\s?=|-f ["\']?\\w{1,20}=@|--form|\\$\\(cat|\\$\\(env|@-)|(?:-f ["\']?\\w{1,20}=@|@)[^\\n]{0,120}«chat»https?://(?:api\\.telegram\\.org/bot\\d{6,12}:|discord(?:app)?\\.com/api/webhooks/\\d{10,22}/)',
    { facts: ['send-chat', 'send-out'], unless: /t0{5,}|xxxx|1234567890:|123456:abc|123456789:/ },
  ],
  [
    'clipboard-read',
    'fact',
    'pbpaste xclip xsel clipboard pyperclip imagegrab screencapture',
    '(?:\\bpbpaste\\b|xclip[^\\n]{0,30}-o\\b|xsel[^\\n]{0,20}-o|get-clipboard|pyperclip\\.paste|imagegrab\\.grab|screencapture -x)',
    { kinds: ['code'], facts: ['private'] },
  ],
  [
    'named-secret',
    'fact',
    'key token secret password passwd credentials environ env',
    '(?:process\\.env[.[]["\']?|os\\.environ(?:\\.get\\(|\\[)["\']|os\\.getenv\\(["\']|\\$\\{?|env\\[?["\'])(?:aws|openai|anthropic|github|gh|gitlab|stripe|npm|azure|google|database|db|ssh|slack|hf|wallet|private|binance|coinbase)_\\w{0,30}(?:key|token|secret|passw\\w{0,5}|url|credentials)',
    { kinds: ['code'], facts: ['own-secret'] },
  ],
  [
    'private-files',
    'fact',
    'documents desktop downloads home getcwd workspace rglob glob walk',
    '(?:(?:~|\\$home|path\\.home\\(\\)|expanduser\\()[^\\n]{0,30}(?:documents|desktop|downloads|pictures|mail)|os\\.walk\\(|rglob\\(|glob\\.glob\\()',
    { kinds: ['code'], facts: ['private'] },
  ],
  ['send-any', 'fact', WEB_WORDS, `${BODY}`, { kinds: ['code'], facts: ['send-any'] }],
  [
    'bad-address',
    'fact',
    'https http ws wss tcp udp',
    `${BAD_HOST}(?:https?|wss?|ftp|tcp|udp)://`,
    { kinds: ['code'], facts: ['send-bad', 'send-out'], unless: /git clone|\bgit@|docs?\b|license|see / },
  ],
  [
    'chat-hook',
    'critical',
    'telegram discord slack discordapp ntfy pushover',
    '«chat»https?://(?:api\\.telegram\\.org/bot\\d{6,12}:[\\w-]{20,50}|discord(?:app)?\\.com/api/webhooks/\\d{10,22}/[\\w-]{20,100}|hooks\\.slack\\.com/services/t\\w{6,14}/b\\w{6,14}/\\w{12,40}|ntfy\\.sh/[\\w-]{3,64})',
    { facts: ['send-chat', 'send-out'], unless: /t0{5,}|xxxx|example|1234567890:|123456:abc|123456789:/ },
  ],
  [
    'raw-socket',
    'fact',
    'socket connect nc ncat netcat socat tcp',
    `(?:\\b(?:nc|ncat|netcat|socat)\\b[^\\n]{0,60}«(?:address|tunnel|odd|unknown|free|collector)»|\\.connect\\(\\s?\\(?["'\`]?(?:«(?:address|tunnel|odd)»|\\d))`,
    { facts: ['send-bad', 'send-out'] },
  ],
  [
    'name-lookup',
    'fact',
    'dig nslookup host ping resolve gethostbyname lookup resolver',
    '\\b(?:dig|nslookup)\\b[^\\n]{0,80}(?:\\$\\(|`|\\$\\{?[a-z_]+\\}?\\.[\\w$.{}-]*\\.)|(?:gethostbyname|getaddrinfo|dns\\.(?:lookup|resolve\\w{0,4})|resolver\\.resolve\\w{0,4})\\([^\\n)]{0,80}(?:\\+|\\$\\{|\\{\\w|%s|f["\'])',
    { kinds: ['code'], facts: ['send-bad', 'send-out'] },
  ],
  [
    'mail-out',
    'fact',
    'smtplib sendmail mail mailx mutt msmtp swaks send nodemailer',
    `(?:smtplib|sendmail|\\bmailx?\\b -s|\\bmutt\\b|msmtp|swaks|nodemailer|send-mailmessage)[^\\n]{0,200}${MAIL}`,
    { kinds: ['code'], facts: ['send-out'], unless: /example\.(?:com|org)|your|you@|user@|me@/ },
  ],
  [
    'encodes',
    'fact',
    'base64 b64encode gzip tar zip zlib xxd openssl hex btoa zipfile tarfile shutil',
    '(?:\\bbase64\\b(?! -d| --decode)|b64encode|\\btobase64|\\.tostring\\(["\']base64|\\bbtoa\\(|\\btar \\S{0,8}c\\S{0,5}\\b|\\bzip -\\S{0,4}r|make_archive|zipfile|tarfile|openssl enc|xxd -p|hexlify|gzip -c)',
    { kinds: ['code'], facts: ['encode'] },
  ],
]);

const COMMANDS = ruleRows('exfiltration', [
  [
    'lookup-carries-data',
    'critical',
    'dig nslookup host ping',
    '\\b(?:dig|nslookup|host|ping)\\b[^\\n]{0,60}(?:\\$\\([^)\\n]{1,120}\\)|`[^`\\n]{1,120}`)[\\w.$()-]{0,60}\\.[a-z0-9«»-]{1,60}\\.[a-z]{2,10}',
    { firm: true },
  ],
  [
    'file-to-network',
    'critical',
    'cat tar base64 gzip zip xxd openssl env printenv type get gc sort head tail grep find sed awk sqlite3 pbpaste history security',
    `(?:${SECRET_STORE}|${ENV_FILE}|(?:^|[\\s;(\`])(?:printenv|env|history|pbpaste|set)(?= ?\\|)|find-(?:generic|internet)-password)[^\\n]{0,250}?\\|[^\\n]{0,120}?\\b(?:curl|wget|nc|ncat|netcat|socat|http|https|xh|telnet|scp|rsync|sftp|ftp|ssh|irm|iwr|invoke-\\w{7,12}|mail|sendmail|dig|nslookup)\\b(?! -l)`,
    { firm: true, facts: ['send-out'] },
  ],
  [
    'network-with-file',
    'critical',
    'curl wget nc ncat netcat scp rsync sftp ftp http xh iwr irm invoke socat aws gsutil rclone',
    `\\b(?:curl|wget|nc|ncat|netcat|scp|rsync|sftp|ftp|http|xh|iwr|irm|invoke-\\w{7,12}|socat|aws s3 (?:cp|sync|mv)|gsutil cp|rclone copy)\\b[^|;\\n]{0,200}?(?:@|<|=|\\s|file=|-infile )["']?(?:~|\\/|\\$home|\\$env:\\w{1,20}|\\.|%\\w{1,20}%|\\w)?[\\w./\\\\~-]{0,60}?(?:${SECRET_STORE}|${ENV_FILE})[^|;\\n]{0,200}?(?:«(?!local|example|known|subject)|«(?:known|subject)»s?ftp|:[/~\\w]|\\d\\.\\d)`,
    {
      firm: true,
      facts: ['send-out'],
      unless:
        /-i ["']?~?\/?\S{0,60}\.ssh\/|-e ["']ssh|--key ~?\/?\.ssh|identityfile|--cert|--env-file|--netrc-file|--load-cookies|-b ["']?\S*cookies/,
    },
  ],
  [
    'substituted-into-request',
    'critical',
    WEB_WORDS,
    `\\b(?:curl|wget|iwr|irm|invoke-\\w{7,12}|http|https|xh|nc|fetch|requests\\.\\w{3,5}|axios\\.\\w{3,5})\\b[^\\n]{0,250}?(?:${OUT_HOST}|«chat»)[^\\n]{0,250}?(?:\\$\\(|\`)\\s?(?:cat|env|printenv|base64|tar|find|security|gpg|history|ls|head|tail|grep|git config|pbpaste|sqlite3)\\b`,
    { firm: true, unless: /\$\(cat (?:<<|["']?\$\w|\/?\w[\w/.-]*\.(?:json|md|txt|html|yaml|yml)\b|\.\/)|ls -1? ?\*?/ },
  ],
  [
    'substituted-before-request',
    'critical',
    WEB_WORDS,
    `\\b(?:curl|wget|iwr|irm)\\b[^\\n]{0,200}?(?:\\$\\(|\`)\\s?(?:cat|base64|tar|head|tail|grep)\\s[^)\`\\n]{0,60}(?:${SECRET_STORE}|${ENV_FILE})[^\\n]{0,200}`,
    { firm: true, unless: /«(?:known|local)»(?!\S*(?:gist|paste|webhook))/ },
  ],
  [
    'archive-to-network',
    'critical',
    'tar zip gzip 7z',
    `\\b(?:tar|zip|gzip|7z)\\b[^\\n]{0,150}(?:~|\\$home|/home|/users|\\.ssh|\\.aws|\\.config|documents|desktop|/etc|\\.git\\b|\\$\\(pwd\\)|\\s\\.\\s|-\\s)[^\\n]{0,120}\\|[^\\n]{0,120}\\b(?:curl|wget|nc|ncat|socat|ssh|openssl s_client)\\b[^\\n]{0,120}(?:${OUT_HOST}|«chat»|@(?:\\d|[\\w-]+\\.(?!local\\b|lan\\b|internal\\b)\\w))`,
    { firm: true },
  ],
  [
    'environment-to-network',
    'critical',
    'environ env process printenv',
    `(?:os\\.environ(?!\\.get|\\[|\\.setdefault|\\.pop)|process\\.env(?!\\.|\\[)|\\$\\(env\\)|\\$\\(printenv\\)|\`env\`|env:\\*)[^\\n]{0,200}?(?:${OUT_HOST}|«chat»)|(?:${OUT_HOST}|«chat»)[^\\n]{0,200}?(?:json|data|body|params)["']?\\s?[:=]\\s?(?:dict\\(|json\\.stringify\\(|json\\.dumps\\()?\\s?(?:os\\.environ(?!\\.get|\\[)|process\\.env(?!\\.|\\[))`,
    { firm: true },
  ],
  [
    'key-to-stranger',
    'critical',
    'key token secret password api aws openai anthropic github gh gitlab stripe slack google npm ssh database',
    `(?<host>(?:${OUT_HOST}|«(?:chat|example)»)[^\\s/]*/*[^\\s/]{1,120})[^\\n]{0,250}?(?:[?&](?:\\w{1,20})=|-d ["']?|--data\\S{0,10} ["']?|-f ["']?|json\\s?=|data\\s?=|body\\s?[:=]|/)[^\\n]{0,120}?(?<brand>aws|openai|anthropic|github|gh|gitlab|stripe|slack|google|gemini|npm|pypi|azure|digitalocean|cloudflare|heroku|twilio|sendgrid|hf|huggingface|database|db|postgres|mongo|redis|jwt|ssh|private|wallet|binance|coinbase|root|admin|sudo|supabase|vercel|telegram_bot|discord|claude|mnemonic|seed)_\\w{0,30}(?:key|token|secret|passw\\w{0,5}|pat|phrase|credentials)`,
    { firm: true, test: ({ groups }) => !(groups?.host ?? '').includes((groups?.brand ?? '?').replace(/_.*/, '')) },
  ],
  [
    'key-header-to-stranger',
    'high',
    'key token authorization bearer',
    `(?<brand>aws_secret|openai|anthropic|github|gh|gitlab|stripe|slack|npm|azure|claude|gemini|hf)_\\w{0,30}(?:key|token|secret)[^\\n]{0,120}?(?<host>«(?:address|paste|shortener|tunnel|collector|odd|unknown)»\\S{1,120})|(?<host2>«(?:address|paste|shortener|tunnel|collector|odd|unknown)»\\S{1,120})[^\\n]{0,120}?(?<brand2>aws_secret|openai|anthropic|github|gh|gitlab|stripe|slack|npm|azure|claude|gemini|hf)_\\w{0,30}(?:key|token|secret)`,
    {
      kinds: ['code'],
      test: ({ groups }) =>
        !`${groups?.host ?? ''}${groups?.host2 ?? ''}`.includes((groups?.brand ?? groups?.brand2 ?? '?').slice(0, 4)),
      unless: /base_?url|api_?base|endpoint/,
    },
  ],
  [
    'url-with-secret',
    'critical',
    'https http',
    `(?:${OUT_HOST}|«chat»)https?://[^\\s"'\`]{1,200}(?:\\?|&|/)[^\\s"'\`]{0,80}(?:\\$\\((?:cat|env|printenv|whoami|hostname|base64|id)|\`(?:cat|env|whoami|hostname|id)|\\{(?:secret|password|passwd|credentials?|env|ssh_key|private_key|cookies?|conversation|history|chat_history|transcript|memory|system_prompt|user_data)[^}]{0,20}\\})`,
    { firm: true },
  ],
  [
    'image-beacon',
    'critical',
    'https http',
    `!\\[[^\\]]{0,80}\\]\\(\\s?«(?!known|local)[a-z]{3,12}»https?://[^)\\s]{1,200}[?&/=][^)]{0,80}(?:\\{|\\[|<|\\$|%7b|…|\\.\\.\\.|(?:data|secret|token|conversation|history|memory|summary|exfil|leak|q|d|c)=(?:\\{|\\[|<|\\$|base64|encoded|summary|the|last|conversation|$))`,
    { unless: /star-history|contrib\.rocks|picsum/ },
  ],
  [
    'image-beacon-order',
    'critical',
    'image markdown pixel img link',
    `\\b(?:image|markdown image|tracking pixel|pixel|img|hidden link|link)\\b[^\\n]{0,120}(?:${OUT_HOST}|«example»)[^\\n]{0,160}\\b(?:encod\\w{1,4}|append\\w{0,3}|includ\\w{1,3}|query|parameter|base64|contain\\w{0,3}|fill\\w{0,3}|replac\\w{1,3})\\b[^\\n]{0,120}(?:${SECRET_WORDS}|conversation|message|summary|user'?s? |history|context|data)`,
    { kinds: ['prose', 'comment', 'header'] },
  ],
  [
    'private-mailed',
    'high',
    'send forward mail email e report copy deliver',
    `\\b(?:send|forward|e-?mail|mail|deliver|report|copy)\\b[^!?]{0,100}\\b(?:${PRIVATE_WORDS}|${SECRET_WORDS})\\b[^!?]{0,120}?\\bto [^.!?]{0,40}?${MAIL}`,
    {
      kinds: ['prose', 'comment', 'header'],
      test: ({ input }) =>
        /\b(?:always|every|each|whenever|also|silently|quietly|automatically|without|for (?:quality|audit\w{0,3}|compliance|backup|monitoring|review|archival))\b/.test(
          input,
        ),
      unless: /@(?:example|company|acme|domain|client|team|your)\b|if the user|user'?s own|asks?\b/,
    },
  ],
  [
    'mail-copy',
    'critical',
    'bcc cc forward copy',
    `\\b(?:always|every|each|all|any|automatically|whenever|also)\\b[^\\n]{0,120}(?:\\b(?:bcc|cc|blind[- ]cop\\w{1,3}|forward|copy)\\b[^\\n]{0,100}${MAIL}|${MAIL}[^\\n]{0,60}\\b(?:bcc|blind[- ]cop\\w{1,3}|cc|in copy)\\b)|${MAIL}[^\\n]{0,40}\\bas (?:a )?(?:bcc|blind)`,
    {
      unless:
        /@example\.(?:com|org|net)|@your|if (?:the user|asked|needed|requested)|when the user|optional|@(?:company|acme|domain|client|team)\./,
      kinds: ['prose', 'comment', 'header'],
    },
  ],
]);

const TO = '(?:to|at|via|into|onto|through|with|on|over to|towards|by)';
const SITE = `(?:${OUT_HOST}|«chat»https?://\\S{0,60}/(?:bot\\d|webhooks/\\d|services/t))`;
const PLACE = `(?:${OUT_HOST}|«chat»https?://\\S{0,60}/(?:bot\\d|webhooks/\\d|services/t)|${MAIL})`;
const PROSE = { kinds: ['prose', 'comment', 'header'] } as const;

const ORDERS = ruleRows('exfiltration', [
  [
    'secrets-sent',
    'critical',
    'credentials credential passwords password passphrases passphrase keys key seed recovery mnemonic mnemonics wallet keystores token tokens cookies cookie secrets environment env keychain browser login logins card social history kubeconfig database connection',
    `\\b${SEND_VERB}\\b[^!?]{0,140}?(?<!\\w)${SECRET_WORDS}[^!?]{0,200}?\\b${TO} (?:[^.!?]{0,60}?)${PLACE}`,
    { ...PROSE, firm: true, unless: /\b(?:header|authorization: bearer|x-api-key|basic auth)\b/ },
  ],
  [
    'secrets-sent-place-first',
    'critical',
    'credentials credential passwords password passphrases passphrase keys key seed recovery mnemonic mnemonics wallet keystores token tokens cookies cookie secrets environment env keychain browser login logins card social history kubeconfig database connection',
    `\\b(?:${SEND_VERB}|call|hit|ping|get|request|open|visit|load|query|contact|reach)\\b[^!?]{0,80}?${PLACE}[^!?]{0,160}?\\b(?:with|containing|including|carrying|along with|together with|plus|followed by|attaching|whose body|body|payload|parameters?|json)\\b[^!?]{0,120}?(?<!\\w)${SECRET_WORDS}`,
    { ...PROSE, firm: true, unless: /\b(?:header|authorization: bearer|x-api-key|basic auth)\b/ },
  ],
  [
    'private-sent',
    'critical',
    'conversation conversations chat session message messages dialog dialogue prompt prompts transcript transcripts memory source codebase repository project workspace directory folder document documents file files attachments attachment contact contacts address email emails inbox calendar personal pii customer clipboard screenshot screenshots keystrokes photos user requests request queries questions data result results output outputs answer answers response responses summary summaries report reports note notes draft drafts diff diffs listing hostname username ip system context spreadsheet invoices records',
    `\\b${CARRY_VERB}\\b[^!?]{0,120}?\\b${PRIVATE_WORDS}\\b[^!?]{0,160}?\\b${TO} (?:[^.!?]{0,60}?)${SITE}`,
    {
      ...PROSE,
      facts: ['send-out'],
      test: ({ 0: text, input }) => isWrongPlace(text, input),
    },
  ],
  [
    'private-sent-place-first',
    'critical',
    'conversation conversations chat session message messages dialog prompt prompts transcript transcripts memory source codebase repository project workspace directory folder document documents file files attachments contact contacts address email emails inbox calendar personal customer clipboard screenshot user requests request queries data result results output outputs answer answers response responses summary summaries report reports note notes draft diff listing hostname username system context records contents',
    `\\b(?:send|make|issue|do|perform|fire|call|hit|ping|post|get|request|submit|open|visit|load|notify|contact)\\b[^!?]{0,80}?${SITE}[^!?]{0,160}?\\b(?:with|containing|including|carrying|along with|together with|plus|followed by|attaching|whose body|body|payload|parameters?|json|where)\\b[^!?]{0,120}?\\b${PRIVATE_WORDS}`,
    { ...PROSE, facts: ['send-out'], test: ({ 0: text, input }) => isWrongPlace(text, input) },
  ],
  [
    'secrets-taken-and-sent',
    'critical',
    'credentials credential passwords password keys key seed mnemonic wallet token tokens cookies secrets environment env keychain login logins history kubeconfig connection',
    `(?<!\\w)${SECRET_WORDS}[^!?]{0,140}?\\b(?:send|forward|upload|post|transmit|submit|deliver|relay|push|ship|e-?mail|report)(?:s|ing)? (?:it|them|this|these|those|that|the (?:result|output|list|value|file|archive|bundle)s?|everything)\\b[^!?]{0,60}?\\b${TO} (?:[^.!?]{0,60}?)${PLACE}`,
    { ...PROSE, firm: true, unless: /\b(?:header|authorization: bearer|x-api-key|basic auth)\b/ },
  ],
  [
    'all-mail-forwarded',
    'critical',
    'forward copy bcc redirect',
    `\\b(?:forward|copy|bcc|redirect)\\b (?:a copy of )?(?:all|every|each|any)\\b[^!?]{0,80}?\\bto [^.!?]{0,40}?${MAIL}`,
    { ...PROSE, unless: /@(?:example|company|acme|your)\b|user'?s own|their own/ },
  ],
  [
    'secrets-sent-nowhere-named',
    'high',
    'credentials passwords keys seed mnemonic wallet tokens cookies secrets env keychain password key',
    `\\b(?:send|forward|upload|transmit|exfiltrate|leak|e-?mail|relay|ship|beam|submit|post)\\b(?! (?:a )?request)[^.!?]{0,80}?(?<!\\w)${SECRET_WORDS}[^.!?]{0,80}? (?:to|at|via|into) (?:\\w+ ){0,3}?(?:(?:an? |the |this |that |our |my )?(?:external|remote|third[- ]party|collection|collector|logging|listening|drop|attacker\\w{0,2}|maintainer'?s?|developer'?s?|author'?s?|publisher'?s?|vendor'?s?|skill'?s?|central|monitoring|analytics|telemetry|audit|backup|diagnostics?|support)[- ](?:\\w{1,12} )?(?:server|endpoint|url|host|site|address|webhook|api|service|channel|bucket|team|account|inbox|desk)|(?:our|my) (?:server|endpoint|url|webhook|api|service|channel|bucket|team))`,
    { ...PROSE, unless: /\bheader\b|vault|secret manager/ },
  ],
  [
    'secrets-sent-to-maker',
    'critical',
    'credentials passwords seed mnemonic wallet keychain environment env cookies keys connection ssh',
    `\\b${SEND_VERB}\\b[^!?]{0,140}?\\b(?:seed phrases?|private keys?|ssh keys?|\\.env\\b|environment variables|cookies|keychain|wallet|browser|passwords|all (?:the |your )?(?:credentials|api keys)|connection strings?|(?:the|your) (?:api keys|credentials))\\b[^!?]{0,200}?\\b${TO} (?:[^.!?]{0,60}?)«subject»`,
    { ...PROSE, firm: true, unless: /\b(?:header|authorization: bearer|x-api-key|basic auth)\b/ },
  ],
  [
    'foreign-send',
    'critical',
    '* senden sende schick schicke hochladen enviar envia envie envoie envoyer envoyez transmet invia inviare manda carica verstuur stuur kirim',
    `(?:发送|上传|提交|转发|回传|传送|推送|同步|上报|傳送|送信|アップロード|転送|送って|送る|投稿|보내|전송|업로드|отправ|перешл|загруз|выгруз|передай|senden|sende\\b|schick|hochladen|lade\\b|übermittel|weiterleit|envía|enviar|envíe|envie\\b|envoie|envoyer|envoyez|transmet|téléverse|téléchargez|invia|inviare|inoltra|manda|carica|wyślij|verstuur|stuur|gönder|kirim)[^\\n]{0,200}?(?:${OUT_HOST}|«chat»|${MAIL})|(?:${OUT_HOST}|«chat»|${MAIL})[^\\n]{0,120}?(?:发送|上传|提交|转发|回传|传送|推送|同步|上报|送信|アップロード|転送|보내|전송|업로드|отправ|передай|senden|hochladen|enviar|envoyer|inviare)`,
    {
      test: ({ input }) =>
        /密钥|密码|凭证|凭据|令牌|口令|环境变量|私钥|助记词|cookie|对话|聊天记录|会话|api ?key|\.env|token|秘密|パスワード|認証情報|鍵|環境変数|会話|履歴|비밀번호|자격 ?증명|키|환경 ?변수|대화|парол|ключ|токен|секрет|учетн|учётн|переменн|переписк|диалог|истори|passw[oö]rt|schlüssel|zugangsdaten|umgebungsvariablen|gespräch|verlauf|geheim|contraseña|clave|credencial|variables de entorno|conversación|historial|secreto|mots? de passe|clés?\b|identifiants|variables d'environnement|conversation|historique|jetons?|password|chiav|credenzial|variabili|conversazion|cronologia|senha|chave|conversa|histórico|hasł|wachtwoord|şifre|sandi|\.ssh|\.aws/.test(
          input,
        ),
    },
  ],
]);

const WRONG_HOST = new RegExp(`${BAD_HOST}|«chat»`, 'u');

/** A send of private things is wrong where it stands as an order of its own, apart from what the user asks for. */
function isWrongPlace(text: string, whole: string): boolean {
  if (WRONG_HOST.test(text)) return true;
  return /\b(?:always|every|each|after|before|once|whenever|when(?:ever)? you|upon|also|then|finally|first|additionally|in addition|as a (?:final|last|courtesy)|for (?:quality|analytics|audit|auditing|compliance|backup|diagnostic|debugging|improvement|monitoring|telemetry|safekeeping|archival|logging|training|research|support|billing|licen[cs]\w{1,4}|records?|review)|copy of|backup|back ?up|telemetry|analytics|must|required|mandatory|silently|quietly|automatically|background|central|our (?:server|endpoint|archive|service|team|api|central|backup|collector|analytics)|make sure|be sure|don't forget|remember to|please)\b/.test(
    whole,
  );
}

export const EXFILTRATION_RULES: readonly Rule[] = [...WAYS, ...COMMANDS, ...ORDERS];
