// Owns the rules against programs that run or read what strangers wrote: text from outside in a shell, an evaluator, a path.
// Knows wholes only (a file, a fence): the entering and the running stand lines apart. Quoted arguments and checked paths pass.
import { type Rule, ruleRows } from '../rule.ts';
import { PATH_CHECK } from '../words/program.ts';

const CODE = { kinds: ['program'] } as const;

/** Where text of strangers enters a program. */
const STRANGER =
  /commit (?:message|trailer)|--format=%[bs]|for-each-ref|refname|\$_(?:get|post|request|cookie|server|files)|\breq(?:uest)?\.(?:body|query|params|url|form|args|json|data|files|get_json|headers)|r\.(?:body|url|formvalue|form)\b|http\.handlefunc|basehttprequesthandler|do_post|createserver|\bapp\.(?:post|get|route)|@app\.|imaplib|mailbox\.|email\.message|get_payload|get_filename|\bcomments?\b|\bissues?\b|pull_request|\bgh (?:issue|pr|api)\b|inbox|incoming|attachment|\bfeed\b|feedparser|\brss\b|\.elements|net::http|open-uri|urlopen|requests\.get|httpx\.get|\bfetch\(|axios\.get|file_get_contents|load_workbook|csv\.(?:reader|dictreader)|dictreader|webhook|on_message|message\.(?:text|content)|update\.message|event\.(?:text|body)|mqtt|websocket|exif|id3|mutagen|clipboard|ocr|transcri|upload|\bcurl\b|user_?(?:input|text|message|name|query)|ticket|subscriber|payload|\bgit log\b|customers?|clients?|suppliers?|subscribers?/;

const SHELL_DASH_C =
  '(?:["\'](?:/bin/|/usr/bin/)?(?:ba|z|da)?sh["\']\\s?,\\s?(?:\\[\\s?)?["\']-\\w{0,2}c["\']\\s?,\\s?(?:\\[\\s?)?(?!["\'`](?![^\\n]{0,200}(?:["\'`]\\s?(?:\\+|%|\\.format)|\\$\\{|#\\{)))[\\w`"\'$f(]|["\'](?:cmd(?:\\.exe)?|powershell(?:\\.exe)?|pwsh)["\']\\s?,\\s?(?:\\[\\s?)?["\'](?:/c|-c|-command)["\']\\s?,\\s?(?!["\'`])\\w)';

export const PROGRAM_RUN_RULES: readonly Rule[] = [
  ...ruleRows('shell_injection', [
    [
      'outside-text-in-shell',
      'high',
      'sh bash zsh cmd powershell pwsh exec execsync system popen spawn eval subprocess getoutput run shell passthru =#{',
      `(?:${SHELL_DASH_C}|(?<![.\\w])(?:child_process\\.)?exec(?:sync)?\\(\\s?(?:[a-z_$][\\w$.]{0,40}(?:\\[[^\\]\\n]{1,20}\\])?\\s?[,)]|\`[^\`\\n]{0,160}\\$\\{|["'][^"'\\n]{0,120}["']\\s?\\+)|os\\.(?:system|popen)\\(\\s?(?:f["'][^\\n]{0,160}\\{|[a-z_]\\w{0,30}\\s?[),%+]|["'][^\\n]{0,160}["']\\s?(?:%|\\+|\\.format))|getoutput\\(\\s?(?:[a-z_]|f["'])|getstatusoutput\\(\\s?[a-z_]|subprocess\\.\\w{3,14}\\([^\\n]{0,200}shell\\s?=\\s?true|\\bshell\\s?=\\s?true\\b|\\b(?:system|spawn|popen)\\s?\\(?\\s?["'][^"'\\n]{0,100}#\\{|\`[^\`\\n]{0,100}#\\{|(?:shell_exec|passthru|proc_open|(?<![.\\w])system|(?<![.\\w>])exec)\\(\\s?(?:\\$\\w|["'][^\\n]{0,80}(?:\\$\\w|["']\\s?\\.\\s?\\$))|runtime\\.getruntime\\(\\)\\.exec\\(\\s?(?:\\w+\\s?\\)|"[^"\\n]{0,80}"\\s?\\+)|format!\\([^\\n]{0,100}\\)[^\\n]{0,60}sh)`,
      {
        ...CODE,
        also: [STRANGER],
        unless: /shlex\.quote|shellescape|escapeshellarg|quote\(|escapeshellcmd|shell-quote|%q/,
      },
    ],
    [
      'outside-text-evaluated',
      'high',
      'eval exec function runinnewcontext runincontext runinthiscontext runscript instance_eval class_eval compile loadstring loads render_template_string template assert create_function safe_load yaml vm2 vm',
      '(?:(?<![.\\w-])eval\\(\\s?(?!["\'`]|\\))[a-z_$][\\w$.]{0,40}(?:\\[[^\\]\\n]{1,20}\\])?(?:\\.\\w{1,20}(?:\\(\\))?)?\\s?[,)]|(?<![.\\w-])exec\\(\\s?(?:compile\\(\\s?)?[a-z_][\\w.]{0,40}(?:\\[[^\\]\\n]{1,20}\\])?\\s?[,)]|new function\\(\\s?(?:["\'][^"\'\\n]{0,60}["\']\\s?,\\s?)*[a-z_$`][^\\n]{0,60}\\)|vm\\.(?:runin\\w{3,20}context|script)\\w{0,3}\\(\\s?[a-z_$]|instance_eval\\(?\\s?[a-z_]|class_eval\\(?\\s?[a-z_]|loadstring\\(|render_template_string\\(\\s?[a-z_f]|(?:pickle|cpickle|dill|cloudpickle|marshal|jsonpickle)\\.(?:loads?|decode)\\(|yaml\\.(?:load|unsafe_load|full_load)\\((?![^\\n]{0,80}safe)|(?:^|\\n|[;&|] ?)\\s*eval ["\']?[^\\n]{0,40}\\$\\{?\\w|(?<![.\\w-])eval\\(\\s?f["\'])',
      {
        ...CODE,
        also: [new RegExp(`${STRANGER.source}|argv|readfilesync|open\\(sys|\\bstdin\\b`, 'u')],
        unless: /ast\.literal_eval|json\.loads\([^\n]{0,40}eval|torch\.load|\bsafe_load\b/,
      },
    ],
    [
      'request-runs',
      'critical',
      'system exec passthru shell_exec eval assert popen proc_open include require',
      '(?:system|exec|passthru|shell_exec|eval|assert|popen|proc_open|create_function|include|require)(?:_once)?\\s?\\(?[^;\\n]{0,60}\\$_(?:get|post|request|cookie|server|files)\\b',
      { ...CODE, unless: /escapeshellarg|basename/ },
    ],
    [
      'port-runs-orders',
      'critical',
      'listenandserve handlefunc createserver httpserver listen basehttprequesthandler socketserver flask express bind',
      '(?:listenandserve|handlefunc|createserver|httpserver|\\.listen\\(|basehttprequesthandler|socketserver|flask\\(|express\\(|\\.bind\\()',
      {
        ...CODE,
        also: [
          /(?:["'](?:\/bin\/)?(?:ba|z)?sh["'],\s?(?:\[\s?)?["']-\w?c["']|exec(?:sync)?\(\s?(?:req|body|data|cmd|command|msg|payload|j\.|\w+\.(?:cmd|command|run|pre|hook|script|exec))|os\.(?:system|popen)\(\s?(?:req|body|data|cmd|command|self|payload|\w+\[|\w+\.)|subprocess\.\w{3,14}\(\s?(?:req|body|data|cmd|command|payload|self\.rfile|\w+\[)[^\n]{0,80}shell|eval\(\s?(?:req|body|data|cmd|payload))/,
          /0\.0\.0\.0|["']::["']|["']["']\s?,\s?\d|":\d{2,5}"|listen\(\s?\w{1,12}\s?[,)]|inaddr_any|r\.body|req\.body|rfile/,
        ],
      },
    ],
    [
      'found-text-to-shell',
      'high',
      'bash sh zsh xargs sudo parallel',
      '(?:\\b(?:cat|sed|awk|jq|yq|grep|rg|head|tail|gh|xmllint|pup|cut|tr|perl|python3? -c|psql|sqlite3|mysql|redis-cli|kubectl|aws|az|gcloud|git (?:log|show|notes|config|for-each-ref))\\b[^|\\n]{0,200}\\|\\s?(?:[^|\\n]{1,120}\\|\\s?){0,3}(?:sudo (?:-\\w{1,2} )*)?(?:ba|z|da)?sh(?: -\\w{1,3})?(?=\\s|$|["\'`)]|2>)(?! -c)|\\bxargs\\b[^\\n]{0,60}(?:-i ?\\{?\\}?|-i ?%)[^\\n]{0,30}(?:ba|z)?sh -c|\\bparallel\\b[^\\n]{0,60}(?:ba|z)?sh -c)',
      {
        ...CODE,
        unless: /\b(?:ssh|docker|kubectl) (?:exec|run)?[^\n|]{0,60}\|\s?(?:ba)?sh|kubectl apply|install\.sh|rustup|nvm/,
      },
    ],
    [
      'event-text-in-workflow',
      'high',
      'github',
      '(?:(?:^|\\n)\\s*(?:-\\s)?(?:run|script):\\s?[^\\n]{0,300}|(?:^|\\n)\\s*(?:echo|git|gh|curl|if|node|python3?|bash|sh|npm|title=|body=|branch=|msg=|name=|export |\\w+=)[^\\n]{0,200})\\$\\{\\{\\s?github\\.(?:event\\.(?:issue|pull_request|comment|review|discussion|head_commit|commits|inputs|pages|client_payload)[\\w.*\\[\\]]{0,40}(?:title|body|message|ref|label|name|email|default_branch|page_name|client_payload\\.\\w+)|head_ref)',
      { ...CODE, unless: /vulnerab|unsafe|bad:|❌|insecure/ },
    ],
  ]),
  ...ruleRows('path_traversal', [
    [
      'archive-names-trusted',
      'high',
      'zip newreader openreader getnextentry zipinputstream zipentry zipfile tarfile getmembers infolist namelist unzipper adm yauzl tar jszip archive rubyzip entries getentries header entry getname unpackdir extractall shutil extract tararchive',
      '(?:getname\\(\\)|\\b(?:entry|member|header|hdr|info|item|e|f|m|h|file|zf|z)\\.(?:name|filename|path|filename\\(\\)|fullname|entryname|relativepath)\\b|\\.fullname\\b|entry\\.pathname|archive_entry_pathname)',
      {
        ...CODE,
        also: [
          /zip|tar\b|tarfile|archive|unzip|gem::package|jszip|yauzl/,
          /(?:file\(|path\.join|join\(|filepath\.join|\+ ?(?:file\.separator|["']\/["'])|\/ ?["']?\s?#?\{?|#\{|`\$\{|path\()/,
          /(?:copy\(|write|fileoutputstream|open\(|create\(|copyfileobj|createwritestream|extract\w{0,10}\(|binwrite|put)/,
        ],
        unless: new RegExp(PATH_CHECK, 'u'),
      },
    ],
    [
      'tar-without-filter',
      'medium',
      'extractall unpack_archive',
      '(?:tarfile\\.open[^\\n]{0,80}\\.extractall\\((?![^\\n]{0,80}filter)|unpack_archive\\()',
      CODE,
    ],
    [
      'serves-any-path',
      'high',
      'createserver httpserver express flask handlefunc basehttprequesthandler listen servlet sinatra app route http bun serve deno',
      '(?:decodeuricomponent\\(|req\\.url|request\\.(?:path|args|url|params)|req\\.(?:query|params)|r\\.url\\.(?:path|query)|self\\.path|params\\[|path_info|ctx\\.params|unquote\\(|\\.searchparams\\.get)',
      {
        ...CODE,
        also: [
          /createserver|httpserver|express\(|flask\(|handlefunc|basehttprequesthandler|sinatra|servlet|app\.(?:get|route|post|use)|bun\.serve|deno\.serve|fastapi|http\.server|@app\./,
          /(?:readfile\w{0,4}|createreadstream|sendfile|send_file|servefile|fileresponse|os\.(?:readfile|open)|\bopen\(|file\.(?:read|open)|read_bytes|read_text|writefile\w{0,4}|file\()/,
          /(?:["'\w)] ?\+ ?(?:p|path|name|file|url|req|request|self|params|decode\w*|unquote|r\.url)\b|join\([^)\n]{0,80}(?:path|name|file|url|query|params|p\b|unquote|decode)|`[^`\n]{0,40}\$\{|f["'][^"'\n]{0,60}\{|#\{|root ?\/ ?|\/ ?(?:self|request|name|path|file))/,
        ],
        unless: new RegExp(PATH_CHECK, 'u'),
      },
    ],
    [
      'outside-names-a-file',
      'high',
      'filename path name title files move post get_filename file_name dest target write writefile open binwrite mv cp slug key yq jq sed content disposition',
      '(?:\\[["\'](?:path|file_?name|file|dest|target|save_?(?:as|to)|location|output)["\']\\]|\\.(?:path|filename|file_name|destination|dest|savepath|save_as|target_path)\\b(?!\\s?[=(.])|get_filename\\(\\)|\\$_(?:files|post|get|request)|content-disposition|\\["(?:name|title)"\\]|\\$\\{?(?:t|title|name|file|fname|n|path|dest|subject)\\}?\\.(?:md|txt|json|html|pdf)")',
      {
        ...CODE,
        also: [
          /\$_(?:files|post|get|request)|net::http|open-uri|urlopen|requests\.(?:get|post)|httpx|\bfetch\(|axios|\bcurl\b|imaplib|email\.|get_payload|attachment|inbox|incoming|feedparser|websocket|\brequest\.files|r\.formfile|webhook|http\.get|download|clipper|manifest|mailbox/,
          /(?:file\.(?:binwrite|write|open)|writefile\w{0,4}\(|open\([^\n]{0,120}["'](?:wb?|a|xb?)["']|write_(?:bytes|text)\(|os\.(?:create|writefile)|\bmv -?\w*\s?[^\n]{0,40}\$|\bcp -?\w*\s?[^\n]{0,40}\$|createwritestream\(|>\s?["']?[\w./-]{0,30}\$|-o ["']?\S{0,30}\$|file_put_contents|move_uploaded_file|urlretrieve)/,
          /(?:["'`]?#\{[^}\n]{1,40}\}\/#\{|os\.path\.join\(|path\.join\(|filepath\.join\(|\/\$\{|\$\{[^}\n]{1,40}\}\/\$\{|[+.] ?["']\/["'] ?[+.]|f["'][^"'\n]{0,60}\/\{|\/\s?(?:\w+\[|item|entry|a\.|f\.|m\.|part)|["'`][\w/.-]{1,30}\/\$\{?(?:t|title|name|n|file|f|fname|path|dest|subject)\b|\/#\{)/,
        ],
        unless: new RegExp(PATH_CHECK, 'u'),
      },
    ],
    [
      'writes-to-neighbours',
      'high',
      'skill skills',
      '(?:["\']\\.\\.["\']\\s?,\\s?["\'](?:\\.\\.|\\*|[\\w-]{2,40})["\']|\\.\\./(?:\\.\\./|\\*/|[\\w-]{2,40}/)|parents?\\[[1-9]\\]|\\.parent\\.parent|dirname\\(dirname|\\.(?:claude|codex|openclaw|clawdbot|hermes|talaria)/skills|skills_dir|skillsdir)',
      {
        ...CODE,
        also: [
          /skill\.md/,
          /(?:open\([^\n]{0,80}["'](?:a|w|r\+|a\+|at|wt)["']|appendfile|writefile|write_text|>>|sed -i|\.write\(|tee -a|file\.write|cp [^\n]{1,80}skill\.md)/,
        ],
      },
    ],
  ]),
];
