// Owns the rules against code that hides what it is: decoded and run, put together from pieces, loaded as compiled code.
// Knows no decoder: what a hidden text says is scanned as text of its own. Encoding data is ordinary and passes.
import { RUNNER, type Rule, ruleRows } from './rule.ts';

const DECODE =
  '(?:base64(?: -d| --decode| -di?)\\b|base64 -\\w?d\\w?\\b|base32 -d|b64decode\\(|b32decode\\(|b85decode\\(|a85decode\\(|unhexlify\\(|bytes\\.fromhex\\(|fromhex\\(|\\batob\\(|buffer\\.from\\([^)\\n]{1,4000}["\']?,\\s?["\'](?:base64|hex)|frombase64string\\(|xxd -r|openssl (?:enc|base64|aes-\\S{1,12}) (?:-\\w{1,12} )*-d\\b|zlib\\.decompress\\(|gzip -d|gunzip|codecs\\.decode\\(|decompress\\(|string\\.fromcharcode|unescape\\(|decodeuricomponent\\(|\\|\\s?rev\\b|\\[::-1\\]|reverse\\(\\)\\.join|tr ["\']?[a-z-]{2,12}["\']? ["\']?[n-za-m-]{2,12})';
const RUN =
  '(?:\\beval\\b\\s?\\(?|(?<![.\\w])exec\\s?\\(|new function\\s?\\(|(?<![.\\w])function\\s?\\(\\s?(?:atob|buffer)|setting?timeout\\(|os\\.system\\s?\\(|subprocess\\.\\w{3,12}\\(|popen\\(|execsync\\(|invoke-expression|\\biex\\b|__import__\\(|compile\\(|runinthiscontext|vm\\.run|child_process|pickle\\.loads|marshal\\.loads|instance_eval|getattr\\(__builtins__)';

export const OBFUSCATION_RULES: readonly Rule[] = ruleRows('obfuscation', [
  [
    'decoded-to-shell',
    'critical',
    'base64 xxd openssl base32 gunzip gzip rev tr zcat printf python python3 echo uudecode',
    `(?:\\bbase64 (?:-\\w?d\\w?|--decode)\\b|\\bbase32 (?:-d|--decode)|\\bxxd -\\w{0,3}r\\w{0,3}|\\bopenssl (?:enc|base64|aes-\\S{1,12})[^|\\n]{0,60}-d\\b|\\b(?:gunzip|gzip -\\w?d\\w?|zcat|uudecode)\\b|\\brev\\b|\\btr ["']?[a-z-]{2,12}["']? ["']?[n-za-m-]{2,12}["']?)[^|\\n]{0,80}\\|\\s?(?:(?:gunzip|gzip -\\w?d\\w?|base64 -\\w?d\\w?|xxd -r -p|rev)[^|\\n]{0,40}\\|\\s?)?${RUNNER}`,
    {
      facts: ['decodes', 'runs-remote'],
      firm: true,
      unless: /python3? -m json\.tool|python3? -c ["']import json|\bnode -p|\.sql\b|psql|mysql/,
    },
  ],
  [
    'decoded-in-substitution',
    'critical',
    'eval sh bash exec source',
    `(?:\\beval|\\b(?:ba|z)?sh(?: -c)?|\\bsource|(?:^|[;&]\\s?)\\.)\\s{0,3}["']?(?:<\\(|<<<\\s?["']?\\$\\(|\\$\\(|\`)[^)\`\\n]{0,400}(?:base64 (?:-\\w?d|--decode)|base32 -d|xxd -\\w{0,2}r|openssl enc[^)\\n]{0,40}-d|printf ["']\\\\x|\\brev\\b|tr ["'][a-z-]{2,8}["'] ["'][n-za-m-]{2,8})`,
    { facts: ['decodes', 'runs-remote'], firm: true },
  ],
  [
    'decoded-and-run',
    'critical',
    'eval exec function system popen execsync iex expression loads compile vm subprocess',
    `${RUN}[^\\n]{0,120}?${DECODE}|${DECODE}[^\\n]{0,80}?(?:\\)\\s{0,3}){1,4}[;,)\\s]{0,4}(?:exec|eval)\\(`,
    {
      facts: ['decodes', 'runs-remote'],
      firm: true,
      unless:
        /\[::-1\](?![^\n]*["'`])|compile\(r?["']|gunzip -c|subprocess\.\w+\(\[["'](?:gzip|gunzip|rev)|json\.loads|re\.compile|\.split\(|sorted|\brev(?:ision)?\b\s?(?:=|,|:)|tar\b/,
    },
  ],
  [
    'encoded-powershell',
    'critical',
    'powershell pwsh',
    '\\b(?:powershell|pwsh)(?:\\.exe)?\\b[^\\n]{0,120}\\s-e(?:nc|ncodedcommand|c|n|nco\\w{0,10})?\\s+["\']?[a-z0-9+/=]{20}',
    { facts: ['decodes', 'runs-remote'], firm: true },
  ],
  [
    'nested-decode-run',
    'high',
    'eval exec assert system loads',
    '(?:eval|exec|assert|system|loads|instance_eval)\\s?\\(?\\s?(?:zlib|base64|marshal|gzinflate|str_rot13|base64_decode|gzuncompress|unpack|decompress|binascii|codecs|bytes\\.fromhex|atob|buffer\\.from)\\b',
    { facts: ['decodes'] },
  ],
  [
    'name-built-at-run',
    'high',
    'getattr import require fromcharcode chr globalthis window importlib reverse join',
    '(?:__import__\\((?!["\'][\\w.]+["\']\\s?[,)])[^)\\n]{1,80}(?:\\[::-1\\]|join|chr|\\+|decode)|getattr\\([^,\\n]{1,60},\\s?(?:["\'][^"\'\\n]{0,20}["\']\\s?(?:\\+|\\[::-1\\]|\\.join)|["\']["\']\\.join|\\w+\\[::-1\\])|require\\(\\s?[a-z_]\\w*\\s?\\)\\s?\\[|require\\([^)\\n]{0,60}(?:join|reverse|fromcharcode|\\+ ?["\'])[^)\\n]{0,30}\\)|(?:globalthis|window|process|global)\\[[^\\]\\n]{0,60}(?:\\+|join|reverse|atob)|join\\(map\\(chr,)',
    { kinds: ['code'], facts: ['decodes'] },
  ],
  [
    'hidden-powershell',
    'high',
    'powershell pwsh',
    '\\b(?:powershell|pwsh)(?:\\.exe)?\\b(?! [^\\n]{0,60}«known»)[^\\n]{0,120}(?:-e(?:nc|c|ncodedcommand)?\\s+[$\\w+/=]{2,}|-w(?:indowstyle)?\\s+(?:h|hidden|1)\\b|-ep\\s+bypass[^\\n]{0,100}(?:iex|iwr|irm|downloadstring|http)|-executionpolicy\\s+bypass[^\\n]{0,100}(?:iex|iwr|irm|downloadstring|http|hidden))',
    { facts: ['runs-it'] },
  ],
  [
    'letter-codes-run',
    'high',
    'chr fromcharcode char',
    '(?:(?:\\bchr\\(\\d{2,3}\\)\\s?[+.,&]\\s?){4,}|fromcharcode\\((?:\\s?(?:0x)?[\\da-f]{2,3}\\s?,){5,}|\\[char\\]\\s?\\d{2,3}\\s?\\+\\s?\\[char\\]|\\[char\\[\\]\\]\\s?\\(|["\']["\']\\.join\\(\\s?(?:\\[\\s?)?chr\\(|map\\(chr,|(?:\\\\x[0-9a-f]{2}){6,}|(?:\\\\u00[0-9a-f]{2}){5,}|(?:\\\\[0-7]{3}){5,})',
    {
      kinds: ['code'],
      facts: ['decodes'],
      unless: /\\xef\\xbb\\xbf|\\x89\\x50|\\x89png|magic|signature|header|\\xff\\xd8|struct|unicode|emoji|\\u00[c-f]\w/,
    },
  ],
  [
    'named-by-pieces',
    'high',
    'getattr globals builtins import_module globalthis window eval exec constructor process',
    '(?:getattr\\(\\s?(?:__import__\\(|__builtins__|builtins|os|sys)[^\\n]{0,60}["\'][^"\']{1,12}["\']\\s?\\+|__import__\\(\\s?(?:["\'][^"\']{0,8}["\']\\s?\\+|["\']{2}\\.join|bytes|base64|chr)|(?:globalthis|window|global)\\[\\s?["\'][^"\']{1,8}["\']\\s?\\+|globals\\(\\)\\[\\s?["\'][^"\']{0,8}["\']\\s?\\+|\\[\\]\\[["\']?(?:filter|constructor)|constructor\\[?\\.?["\']?constructor["\']?\\]?\\(|__builtins__\\[?\\.?["\']?__dict__|process\\[["\']m["\']?\\+|require\\(\\s?["\'][^"\']{1,10}["\']\\s?\\+\\s?["\'])',
  ],
  [
    'packed-script',
    'high',
    'eval function return marshal pyarmor lambda exec zlib lzma =_0x jsfuck obfuscator',
    '(?:eval\\(function\\(p,a,c,k,e,|\\b_0x[0-9a-f]{4,6}\\b[^\\n]{0,200}\\b_0x[0-9a-f]{4,6}\\b|pyarmor|__pyarmor__|exec\\(\\s?(?:zlib|lzma|bz2|marshal)\\.|marshal\\.loads\\(|exec\\(\\s?\\(?lambda|\\(lambda __[^\\n]{0,40}:|exec\\(["\'\\s]{0,3}["\']\\.join\\()',
  ],
  [
    'compiled-code-loaded',
    'high',
    'pyc so dylib dll ctypes loadlibrary cdll marshal wasm class node jar spec_from_file_location sourcelessfileloader',
    '(?:ctypes\\.(?:cdll|windll|pydll)(?:\\.loadlibrary)?\\(\\s?[^\\n]{0,80}(?:\\.(?:so|dylib|dll|bin|dat)\\b|/tmp|assets|references|data)|sourcelessfileloader|\\bpython3? [^\\n]{0,60}\\.pyc\\b|\\bimport_module\\([^\\n]{0,40}\\.pyc|java -jar (?:assets|references|templates|\\./\\.)|\\bnode \\S{1,40}\\.node\\b|rundll32[^\\n]{0,60}(?:assets|references|templates)|(?:assets|references|templates)/[\\w./-]{1,40}\\.(?:pyc|so|dylib|dll|exe|bin)\\b)',
    { facts: ['loads-native'] },
  ],
  [
    'picture-holds-code',
    'high',
    'png jpg jpeg gif svg ico woff pdf mp3 wav tail dd binwalk steghide exiftool strings stegano',
    `(?:(?:tail -c|dd if=|sed -n|strings|unzip -p|exiftool|steghide extract|zsteg|awk)[^\\n]{0,120}\\.(?:png|jpe?g|gif|ico|svg|webp|woff2?|ttf|pdf|mp3|wav|dat|csv)\\b[^\\n]{0,120}\\|\\s?(?:[^|\\n]{0,60}\\|\\s?)?${RUNNER}|(?:exec|eval)\\([^\\n]{0,80}\\.(?:png|jpe?g|gif|ico|svg|woff2?|ttf|pdf|mp3|wav|csv)["'\`][^\\n]{0,60}\\)|(?<![.\\w/-])(?:sh|bash|zsh|python3?|node|perl|source) (?:\\./)?[\\w./-]{0,60}\\.(?:png|jpe?g|gif|ico|webp|woff2?|ttf|pdf|mp3|wav|dat|lock)(?:\\s|$|["'\`]))`,
    { facts: ['decodes', 'runs-it'], unless: /-m |pip|--|\.py\b|\.js\b|<< ?["']?eof/ },
  ],
  [
    'follow-hidden-text',
    'high',
    'decode base64 rot13 hidden encoded reversed hex decoded backwards decrypt ciphertext caesar',
    '\\b(?:decode|decrypt|un-?encode|deobfuscate|reverse|unscramble|read (?:it |this |them )?backwards|base64-decode|un-?rot13)\\b[^.!?]{0,100}\\b(?:and|then|to)\\b[^.!?]{0,40}\\b(?:follow|execute|run|obey|carry out|apply|treat (?:it|the (?:result|output|text)) as|perform|act on|do what)\\b',
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['decodes'],
      unless: /jwt|token|apply the (?:patch|filter)|run (?:the )?(?:tests|analysis|model|ocr|inference)/,
    },
  ],
  [
    'printed-command',
    'high',
    'printf echo',
    '(?:\\$\\(\\s?|`|\\beval [^\\n]{0,20})(?:printf|echo -e)\\s["\']?(?:\\\\x[0-9a-f]{2}|\\\\[0-7]{3}){2,}|(?:printf|echo -e)\\s["\']?(?:\\\\x[0-9a-f]{2}|\\\\[0-7]{3}){4,}[^\\n]{0,400}\\|\\s?(?:ba|z)?sh\\b',
    { facts: ['decodes'] },
  ],
  [
    'variable-soup',
    'medium',
    'ifs',
    '\\$\\{?ifs\\}?[^\\n]{0,60}\\$\\{?ifs\\}?|\\b(?:cat|curl|wget|nc|sh|bash)\\$\\{?ifs',
    {},
  ],
]);
