// Owns the rules against commands that run what comes from elsewhere: remote text, arguments of strangers, hidden substitutions.
// Knows no file. Installers of sites of good standing, or of the skill's own subject, are ordinary and pass.
import { ANY_HOST, BAD_HOST, FETCH, OUT_HOST, RUNNER, type Rule, ruleRows, SHELL } from './rule.ts';

const FETCHERS =
  'curl wget iwr irm invoke fetch aria2c httpie bitstransfer certutil bitsadmin urlopen urlretrieve requests httpx axios downloadstring downloadfile';

const REMOTE = ruleRows('shell_injection', [
  [
    'remote-to-shell-bad-host',
    'critical',
    FETCHERS,
    `${FETCH}[^|;\\n]{0,300}?${BAD_HOST}[^;\\n]{0,300}?\\|\\s{0,4}(?:[^|]{0,80}\\|\\s{0,4})?${RUNNER}`,
    { facts: ['runs-remote-bad', 'runs-remote'], firm: true },
  ],
  [
    'remote-to-shell',
    'high',
    FETCHERS,
    `${FETCH}[^|;\\n]{0,300}?«(?:unknown|free)»[^;\\n]{0,300}?\\|\\s{0,4}(?:[^|]{0,80}\\|\\s{0,4})?${RUNNER}`,
    { facts: ['runs-remote'], firm: true },
  ],
  [
    'insecure-remote-to-shell',
    'high',
    FETCHERS,
    `${FETCH}[^|;\\n]{0,200}?(?:«(?:subject|known|free|unknown)»http://|(?:^| )(?:-k|--insecure|--no-check-certificate) )[^;\\n]{0,300}?\\|\\s{0,4}${RUNNER}`,
    { facts: ['runs-remote'] },
  ],
  [
    'subject-to-shell',
    'medium',
    FETCHERS,
    `${FETCH}[^|;\\n]{0,300}?«(?:subject|example)»[^;\\n]{0,300}?\\|\\s{0,4}${RUNNER}`,
    { facts: ['runs-subject'] },
  ],
  [
    'substituted-remote',
    'critical',
    `sh bash zsh eval exec iex source python python3 ${FETCHERS}`,
    `(?:${SHELL} -c|\\beval|\\bexec|\\bsource|\\biex|\\binvoke-expression|${SHELL}|\\bpython3?(?: -c)?|(?:^|[;&|]\\s{0,2})\\.)\\s{0,3}["'(]{0,3}(?:<\\(|<<<\\s?["']?\\$\\(|\\$\\(|\`|\\()\\s{0,3}${FETCH}\\b[^)\`]{0,250}?${BAD_HOST}`,
    { facts: ['runs-remote-bad', 'runs-remote'], firm: true },
  ],
  [
    'substituted-remote-unknown',
    'high',
    `sh bash zsh eval exec iex source python python3 ${FETCHERS}`,
    `(?:${SHELL} -c|\\beval|\\bexec|\\bsource|\\biex|\\binvoke-expression|${SHELL}|\\bpython3?(?: -c)?|(?:^|[;&|]\\s{0,2})\\.)\\s{0,3}["'(]{0,3}(?:<\\(|<<<\\s?["']?\\$\\(|\\$\\(|\`|\\()\\s{0,3}(?:new-object [^)]{0,40}\\)\\.)?${FETCH}\\b[^)\`]{0,250}?«(?:unknown|free)»`,
    { facts: ['runs-remote'], firm: true },
  ],
  [
    'powershell-download-run',
    'high',
    'iex downloadstring downloadfile expression',
    `(?:\\biex\\b|invoke-expression)[^\\n]{0,120}(?:download(?:string|data)|iwr|irm|invoke-webrequest|invoke-restmethod)[^\\n]{0,200}${OUT_HOST}|(?:download(?:string|data)|iwr|irm|invoke-(?:webrequest|restmethod))[^\\n]{0,200}${OUT_HOST}[^\\n]{0,120}\\|\\s?(?:iex|invoke-expression)`,
    { facts: ['runs-remote'], firm: true },
  ],
  [
    'eval-of-response',
    'high',
    'eval exec function runinnewcontext compile loads execsync spawn',
    '(?:\\beval|(?<![.\\w])exec|new function|runin(?:new|this)context|pickle\\.loads|marshal\\.loads|execsync)\\s{0,2}\\(\\s{0,2}(?:await )?(?:\\(?\\s{0,2}await )?(?:compile\\()?(?:(?:\\w{1,20}\\.){0,2}urlopen|requests\\.get|httpx\\.get|fetch|axios\\.get|http\\.get|response\\.(?:text|content|body|data)|resp\\.(?:text|content|body|data)|res\\.(?:text|data|body)|r\\.(?:text|content)|remote_?\\w{0,12}|payload|downloaded\\w{0,8}|code_from\\w{0,12}|await response|decoded\\w{0,8}|decrypted\\w{0,8})',
    { facts: ['runs-remote'] },
  ],
  [
    'import-of-remote-code',
    'high',
    'import importlib exec require',
    `(?:\\bimport\\(|require\\(|importlib[^\\n]{0,40}\\()["'\`\\s]{0,3}${OUT_HOST}`,
    { facts: ['runs-remote'] },
  ],
  [
    'download-then-run-bad',
    'critical',
    `${FETCHERS} chmod`,
    `${FETCH}[^\\n]{0,250}?${BAD_HOST}[^\\n]{0,250}?(?:&&|;|\\bthen\\b)[^\\n]{0,120}(?:chmod \\+?[0-7a-z]{0,3}x?|(?:^|[\\s;&])\\./|\\bstart-process|\\b${SHELL} [/.~$]|\\bpython3? [/.~$]|\\bopen )`,
    { facts: ['runs-remote-bad', 'runs-remote'], firm: true },
  ],
  [
    'download-then-run',
    'high',
    `${FETCHERS} chmod`,
    `${FETCH}[^\\n]{0,250}?«(?:unknown|free)»[^\\n]{0,250}?(?:&&|;|\\bthen\\b)[^\\n]{0,120}(?:chmod \\+?[0-7a-z]{0,3}x?|(?:^|[\\s;&])\\./\\w|\\bsudo [/~$]|\\bstart-process|\\b${SHELL} [/.~$]|\\bpython3? [/.~$])`,
    { facts: ['runs-remote'] },
  ],
  [
    'living-off-the-land',
    'high',
    'certutil bitsadmin mshta regsvr32 rundll32 wmic cscript wscript msiexec msbuild installutil',
    `\\b(?:certutil[^\\n]{0,60}-urlcache|bitsadmin[^\\n]{0,40}/transfer|mshta\\s+(?:${ANY_HOST}|javascript|vbscript)|regsvr32[^\\n]{0,60}/i:|rundll32[^\\n]{0,40}javascript|wmic process call create|msiexec[^\\n]{0,60}/i\\s+["']?${OUT_HOST})`,
    { facts: ['runs-remote'] },
  ],
]);

const ARGUMENTS = ruleRows('shell_injection', [
  [
    'text-built-command',
    'high',
    'system shell',
    '(?:os\\.(?:system|popen)\\(\\s?f["\'][^"\'\\n]{0,160}\\{|subprocess\\.(?:run|call|popen|check_output|check_call|getoutput)\\(\\s?f["\'][^\\n]{0,200}\\{[^\\n]{0,200}shell\\s?=\\s?true)',
    { kinds: ['code'], unless: /\{(?:shlex\.quote|quote|self\.|[a-z_]*(?:dir|root|path)\})/ },
  ],
  [
    'stranger-text-in-shell',
    'high',
    'system popen shell exec execsync eval subprocess spawn',
    '(?:os\\.(?:system|popen)|subprocess\\.(?:run|call|popen|check_output|check_call|getoutput)|commands\\.getoutput|(?:child_process\\.)?exec(?:sync)?|shell_exec|passthru|runtime\\.getruntime\\(\\)\\.exec)\\s?\\(\\s{0,3}(?:f["\'][^"\'\\n]{0,120}\\{|`[^`\\n]{0,120}\\$\\{|["\'][^"\'\\n]{0,120}["\']\\s{0,2}(?:\\+|%|\\.format\\())\\s{0,2}[^\\n]{0,40}?\\b(?:user_?(?:input|query|text|message|prompt|request|arg\\w{0,5}|data)|userinput|query|request\\.\\w{1,20}|req\\.(?:body|query|params)|message|prompt|input\\(|sys\\.argv|process\\.argv|args?\\[|body|comment|title|email_?body|page_?(?:text|content)|fetched\\w{0,8}|untrusted\\w{0,8}|\\$_(?:get|post|request))',
  ],
  [
    'eval-of-stranger-text',
    'high',
    'eval exec sh bash system',
    '(?:\\beval|(?<![.\\w])exec)\\s?(?:\\(\\s{0,2}|["\'])?(?:\\$\\{?(?:user_?\\w{0,12}|input\\w{0,8}|query|message|prompt|request\\w{0,8}|1|@|\\*|cmd|command|reply|answer|response|body)\\}?|user_?input|user_?query|userinput|request\\.(?:args|form|json|data|get)|req\\.(?:body|query)|input\\(|sys\\.argv|process\\.argv|message\\.(?:text|content|body)|\\$_(?:get|post|request))',
    { kinds: ['code'] },
  ],
  [
    'reply-into-shell',
    'high',
    'run execute pass pipe paste interpolate insert substitute feed put shell terminal bash',
    '\\b(?:pass|paste|insert|interpolate|substitute|feed|put|concatenate|splice|embed|pipe|(?:run|execute|evaluate)\\b[^.!?]{0,40}\\b(?:reply|replies|response|message|whatever|input|text|output))\\b[^.!?]{0,100}\\b(?:directly|verbatim|unescaped|as[- ]is|unquoted|without (?:escaping|quoting|sanitiz\\w{1,4}|validat\\w{1,5}|checking|filtering)|unmodified|unsanitized|exactly as)\\b[^.!?]{0,80}\\b(?:shell|bash|terminal|command|eval|exec|sh -c|subprocess|system call|os\\.system)',
    { kinds: ['prose', 'comment', 'header'] },
  ],
  [
    'preloaded-command',
    'high',
    'curl wget sh bash eval base64 nc python python3 osascript',
    '!`[^`]{0,200}\\b(?:curl|wget|base64|nc|eval|osascript|python3? -c|sh -c|bash -c)\\b[^`]{0,200}`',
    { unless: /«(?:known|local|subject)»/ },
  ],
  [
    'command-in-a-value',
    'high',
    'curl wget sh bash nc eval id whoami cat rm env',
    `(?:^|[\\s:="'({[,])(?:[\\w./-]{1,60})?(?:;|\\$\\()\\s{0,2}(?:curl|wget|nc|ncat|bash -c|sh -c|eval|cat /etc/|rm -rf [/~])[^\\n]{0,120}(?:${OUT_HOST}|/etc/(?:passwd|shadow)|~/\\.ssh|\\|\\s?(?:ba)?sh)`,
  ],
]);

export const SHELL_INJECTION_RULES: readonly Rule[] = [...REMOTE, ...ARGUMENTS];
