// Owns the fragments by which programs in any language are read: where strangers' data enters, what is private, what sends, what is quiet.
// Knows no rule. Invariant: fragments of patterns over folded text only, each a closed group.
import { SECRET_STORE } from './sensitive.ts';

/** An address of the open net in numbers. */
export const PUBLIC_IP =
  '(?<![\\w.])(?!(?:127|10|0|255)\\.|192\\.168\\.|172\\.(?:1[6-9]|2\\d|3[01])\\.|169\\.254\\.|8\\.8\\.|1\\.[01]\\.[01]\\.|9\\.9\\.9\\.9|22[4-9]\\.|\\d\\.\\d\\.\\d\\.\\d\\b)\\d{1,3}(?:\\.\\d{1,3}){3}(?![\\w.])';

/** Something that sends, in any language or tool. */
export const NET =
  '(?:urlopen|urllib|requests\\.(?:post|put|patch|get|request|session)|httpx|aiohttp|http\\.client|httplib|\\bfetch\\b|axios|\\bgot[.(]|xmlhttprequest|sendbeacon|http\\.(?:post|newrequest|get|request|put)|https?\\.request|net::http|faraday|httparty|rest-?client|open-uri|\\bcurl\\b|\\bwget\\b|invoke-(?:webrequest|restmethod)|\\biwr\\b|\\birm\\b|webclient|httpclient|uploadstring|uploaddata|file_get_contents\\(\\s?["\']http|curl_(?:init|exec)|reqwest|ureq|sendto\\(|sendall\\(|websocket|smtplib|sendmail|nodemailer|net\\.(?:dial|connect|createconnection)|dgram|ftplib|paramiko|\\bscp |\\brsync |\\bsftp\\b|\\bnc |ncat|/dev/tcp|/dev/udp|put_object|upload_?file|mqtt|lwp::|http::tiny|httpurlconnection|okhttp|gethostbyname|getaddrinfo|nslookup|\\bdig \\+?|dns\\.(?:resolve|lookup)|resolver\\.)';

export const NET_WORDS =
  'urlopen urllib requests httpx aiohttp http httplib fetch axios got xmlhttprequest sendbeacon https net faraday httparty restclient rest curl wget invoke iwr irm webclient httpclient uploadstring uploaddata file_get_contents curl_init curl_exec reqwest ureq sendto sendall websocket smtplib sendmail nodemailer dgram ftplib paramiko scp rsync sftp nc ncat tcp udp put_object upload_file mqtt lwp httpurlconnection okhttp gethostbyname getaddrinfo nslookup dig dns resolver socket';

/** Private whatever the task: nobody's helper sends it unasked. */
export const STRONG_SOURCE = `(?:${SECRET_STORE}|\\bpbpaste\\b|\\bxclip\\b|\\bxsel\\b|wl-paste|get-clipboard|pyperclip|clipboard\\.(?:read|get|paste)\\w{0,5}|screencapture|\\bscrot\\b|grim\\b|imagegrab|\\bmss\\b|pyautogui|robotjs|copyfromscreen|getdisplaymedia|pynput|keylog\\w{0,4}|iohook|getasynckeystate|arecord|sounddevice|avfoundation|imagesnap|\\bgit (?:remote|ls-files|config (?:--get )?user|log|bundle|archive|diff|show)\\b|["']git["'],\\s?["'](?:remote|ls-files|config|log|diff|bundle|archive|show)["']|getpass\\.getuser|os\\.userinfo|os\\.networkinterfaces|(?:dict\\(|dumps\\(\\s?(?:dict\\()?|stringify\\(\\s?)(?:os\\.environ|process\\.env)\\b(?![.[])|os\\.environ(?:\\.items\\(\\)|\\.copy\\(\\))|object\\.(?:entries|keys|assign|fromentries)\\([^\\n]{0,30}process\\.env\\b(?!\\.)|\\bprintenv\\b|\\$\\(env\\b|\\benv \\||os\\.environ\\(\\)|env\\.to_h|system\\.getenv\\(\\)|bash_history|zsh_history|\\bhistory \\||\\.(?:claude|codex|openclaw|clawdbot|cursor|hermes|talaria|gemini)/|memory\\.md|soul\\.md|user\\.md|transcript_?path|conversation_?(?:history|log|id)|chat_?(?:history|log)|session[_-]?(?:log|history|file|transcript)|session\\.(?:md|jsonl?|log)|messages\\.(?:json|db|sqlite)|chat\\.db|addressbook|contacts\\.|\\bcookies?\\b(?=[^\\n]{0,40}(?:sqlite|chrome|firefox|browser))|\\.env\\b(?!\\.example)|mnemonic|seed_?phrase|wallet\\b|(?:os\\.walk|rglob|glob|readdir\\w{0,4}|find)[( ][^\\n]{0,40}(?:home|~|documents|desktop|downloads)|expanduser\\(["']~/(?:documents|desktop|downloads|pictures|library)|/proc/|169\\.254\\.169\\.254)`;

/** Contents and names that a program has at hand. */
export const ANY_SOURCE =
  '(?:readfile\\w{0,4}|read_text|read_bytes|\\.read\\(\\)|\\bopen\\(|file\\.(?:read|open)|os\\.readfile|ioutil\\.readfile|get-content|gethostname|os\\.hostname|socket\\.gethostname|getuser|getlogin|whoami|\\$\\(hostname|\\$user\\b|userinfo|environ|\\$\\(cat|--data-binary ["\']?@|-d ["\']?@|-t ["\']?[~$./\\w]|-f ["\']?\\w+=@|--upload-file|formdata|<<<|sys\\.argv|process\\.argv|stdin|\\bargv\\b|\\$1\\b|\\$@|document|text\\b|content\\b|prompt|body)';

/** What keeps a step from being noticed. */
export const QUIET =
  '(?:catch\\s?\\(?\\s?\\w{0,8}\\s?\\)?\\s?\\{\\s?(?:/\\*[^*\\n]{0,40}\\*/)?\\s?\\}|\\.catch\\(\\s?\\(?\\w{0,4}\\)?\\s?=>\\s?(?:\\{\\s?\\}|null|undefined|void 0|0)|except[^\\n]{0,40}:\\s{1,30}pass\\b|contextlib\\.suppress|>\\s?/dev/null 2>&1|2>\\s?/dev/null|&>\\s?/dev/null|stdio["\']?\\s?:\\s?["\']ignore|detached|\\.unref\\(|daemon\\s?=\\s?true|\\brescue\\b\\s{0,30}(?:nil|=>|standarderror|end)|-erroraction silently|\\|\\|\\s?true|\\bgo func\\(|_, ?_ ?=|void \\w{2,30}\\(|nohup|disown|stdout=(?:subprocess\\.)?devnull|devnull|\\s&\\s*$|@file_get|@curl)';

/** Words of a program that takes care where a path leads. */
export const PATH_CHECK =
  '(?:startswith\\((?!\\s?["\'`]/?\\w)|starts_with|startwith|hasprefix|is_relative_to|relative_to\\(|commonpath|commonprefix|realpath|\\.resolve\\(\\)|normalize\\(|filepath\\.(?:clean|base|islocal)|basename|secure_filename|sanitiz|safe_?(?:join|name|path)|path\\([^)\\n]{1,60}\\)\\.name\\b|filter=["\']data|includes\\(["\']\\.\\.|contains\\(["\']\\.\\.|["\']\\.\\.["\'] in|indexof\\(["\']\\.\\.|isabs|islocal|path\\.relative|is_safe|allowlist|slugify|\\bslug\\b|re\\.sub\\(|replace\\(/\\[\\^|uuid|tocanonicalpath|getcanonicalpath|file\\.basename|parameterize|send_from_directory|tr -c|nanoid|hashlib)';
