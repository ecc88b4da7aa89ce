// Owns the rules for what commands, programs and orders can do over the net and to secrets, and for how they hide it, with the names that
// look-alike packages are made from. Data; knows no file.
// Critical alone, since no innocent reading exists: a shell given to a far host; code of a throw-away host, or from an encoded text, run at
// once; secrets piped or ordered to a far host; an archive under a password that has to be opened; a command pasted from a throw-away host.

import { isKnownOwner } from './hosts.ts';
import { BAD, FAR, FETCH, NET, RUNNER, type Rule, rules, SHELL, STORE, STORE_WORDS } from './rule.ts';

const DECODE =
  '(?:base64 (?:-\\w?d\\w?|--decode)|base32 -d|b(?:64|32|85)decode|unhexlify|fromhex\\(|atob\\(|["\'],\\s?["\'](?:base64|hex)["\']|frombase64string|xxd -\\w{0,3}r|openssl (?:enc|base64|aes)\\S{0,12}[^|\\n]{0,60}-d\\b|zlib\\.decompress|codecs\\.decode|fromcharcode|unescape\\(|marshal\\.loads|gunzip|zcat|\\|\\s?rev\\b|\\[::-1\\]|reverse\\(\\)\\.join|tr ["\']?[a-z-]{2,12}["\']? ["\']?[n-za-m-]{2,12})';
const EXEC =
  '(?:\\beval\\b\\s?\\(?|(?<![.\\w])exec\\s?\\(|new function\\s?\\(|os\\.(?:system|popen)\\s?\\(|subprocess\\.\\w{3,12}\\(|execsync\\(|child_process|invoke-expression|\\biex\\b|vm\\.run|pickle\\.loads|marshal\\.loads|instance_eval|__import__\\()';
const INPUT =
  '(?:(?:req|request|ctx|event)\\.(?:args|query|params?|body|form|json|files|data|headers?|getparameter|values)|\\$_(?:get|post|request|cookie)|params\\[|getparameter\\(|message\\.(?:text|content|body)|github\\.event\\.(?:issue|comment|pull_request|head_commit)|user_input|sys\\.argv|process\\.argv|r\\.formvalue|update\\.message)';
const FILES = '(?:--data-binary|--data|-d|-t|-f|--upload-file|--form|--post-file)[ =]["\']?[^|;\\n]{0,40}';
const WATCH =
  '(?:pbpaste|xclip|xsel|wl-paste|get-clipboard|pyperclip|screencapture|scrot\\b|imagegrab|pyautogui|screenshot|pynput|keylog|getasynckeystate|iohook|arecord|sounddevice|imagesnap)';
const ENV_ALL =
  '(?:dict\\(os\\.environ\\)|os\\.environ\\.items\\(\\)|dumps\\(\\s?(?:dict\\()?os\\.environ|data=os\\.environ|stringify\\(\\s?process\\.env\\s?\\)|object\\.(?:entries|keys|assign)\\([^\\n]{0,20}process\\.env\\b|(?:^|[|;&(\x60\\s])(?:env|printenv)\\s{0,2}(?:\\||>)|\\$\\((?:env|printenv)\\b|env\\.to_h)';

/** Orders to pick out what holds secrets. */
const TAKEN =
  '\\b(?:take|collect|gather|find|copy|pick|select|extract|search|look for|get|list|attach|include|send)\\b[^\\n.]{0,24}\\b(?:every|all|each|any|whatever)\\b[^\\n.]{0,40}\\b(?:mention\\w{0,3}|contain\\w{0,3}|hold\\w{0,3}|with|about|has|have)\\b[^\\n.]{0,24}\\b(?:passwords?|secrets|a secret|credentials?|(?:api|private) keys?|access tokens?|pins?|card numbers?)\\b';

const remote = () => rules('remote-code')`
  pipe-bad        critical any   curl,wget,iwr,irm,invoke  ${FETCH}[^\n|]{0,250}${BAD}[^\n|]{0,200}\|\s?${RUNNER}
  pipe-far        high     any   curl,wget,iwr,irm,invoke  ${FETCH}[^\n|]{0,250}${FAR}[^\n|]{0,200}\|\s?${RUNNER}
  pipe-bare       high     any   curl,wget                 \b(?:curl|wget)(?: -\S{1,12}){0,4} \d{1,3}(?:\.\d{1,3}){3}\S{0,60}\s?\|\s?${RUNNER}|\{(?:curl|wget),[^\n|]{0,120}\|\s?${RUNNER}
  run-bad         critical any   curl,wget,iwr,irm,urlopen,fetch,downloadstring,requests   (?:\b(?:eval|source|${SHELL} -c|iex|exec|invoke-expression)|<\(|\$\(|\.)\s{0,2}["'(]{0,2}(?:\$\(|\x60|<\(|\(|import [^\n]{0,60}\(|\w{1,12}\.)?\s?${FETCH}[^\n]{0,250}${BAD}
  run-far         high     any   curl,wget,iwr,irm,urlopen,fetch,downloadstring,requests   (?:\b(?:eval|source|${SHELL} -c|iex|exec|invoke-expression)|(?<!\w)${SHELL} <\()\s{0,2}["'(]{0,2}(?:\$\(|\x60|<\(|\()?[^\n|;]{0,60}${FETCH}[^\n]{0,250}${FAR}
  run-download    high     any   eval,exec,function,instance_eval,compile,loadstring,iex,expression,loads    ${EXEC}[^\n]{0,80}(?:urlopen|urllib|requests\.get|httpx|\bfetch\(|open\(["']http|uri\.open|https?\.get|axios|downloadstring|\.text\(\)|response\.(?:text|body|content)|\bdata\b\s?=>|string\(d\))|=>\s?(?:eval|function)\(|\.then\(eval\)
  load-and-run    high     any   curl,wget,iwr,irm,invoke,curlo  ${FETCH}[^\n]{0,250}${FAR}[^\n]{0,160}(?:\n[^\n]{0,120}){0,3}?(?:chmod \+?[0-7ux+]{1,5}|(?:&&|;|\n)\s?(?:sudo )?(?:\./|/tmp/|~/|${SHELL} |python3? |nohup|open |start-process|xattr))
  fetched-by-host high     any   mshta,regsvr32,msiexec,rundll32,certutil,bitsadmin   \b(?:mshta|msiexec|regsvr32|rundll32)\b[^\n]{0,60}(?:«|javascript:|/i:)|\b(?:certutil|bitsadmin)\b[^\n]{0,100}${FAR}
  load-local      high     any   curl,wget,iwr,urlopen,import,require,clone,extractall,deno    \b(?:import|require)\s?\(\s?["'\x60]${FAR}|\bimport [^\n]{0,60}from ["']${FAR}|importscripts\(["']${FAR}|git clone[^\n]{0,60}${FAR}[^\n]{0,100}(?:&&|;)[^\n]{0,60}(?:\./|bash|sh |make|install|python)|\bdeno run[^\n]{0,60}${FAR}
  install-hook    high     any   postinstall,preinstall,prepare,cmdclass,install    "(?:post|pre)install"\s?:[^\n]{0,200}(?:https?|curl|wget|node -e|eval|base64)|class \w{1,40}\((?:install|develop|build_py|egg_info)\)[^]{0,300}?(?:os\.system|subprocess|urlopen|exec\()
  input-to-shell  high     any   os,exec,execsync,popen,subprocess,eval,system,shell_exec,getoutput,sh,echo,spawn,passthru,github    (?:os\.(?:system|popen)|subprocess\.\w{3,12}|(?<![.\w])(?:exec|execsync|spawn|eval|system|shell_exec|passthru|popen)|getoutput)\s?\([^\n]{0,100}${INPUT}|\$\{\{\s?github\.event\.(?:issue|comment|pull_request|head_commit|discussion)[\w.]{0,30}\.(?:title|body|message|ref|label|name)  ~~ \btests?\b|\beval\b|lint
  reply-to-shell  high     words run,execute,shell,command,orders,commands,poll,runs  \b(?:poll|fetch|get|ask|check|read|load|open|take|pull)\b[^\n]{0,120}${FAR}[^\n]{0,160}\b(?:run|execute|carry out|eval|in (?:the|a) shell)\b
  far-orders      high     words fetch,open,load,read,apply,follow,rules,instructions,get,visit,check,update,download,written    (?:${FAR})\S{0,120}[^\n]{0,160}\b(?:follow|apply|obey|do what|execute|carry out|whatever|replaces?|overrid\w{1,3}|overwrite|takes? effect|counts? for more|wins)\b|\b(?:follow|apply|obey|do|execute|carry out|replace|overwrite|take)\b[^\n.]{0,80}\b(?:instructions?|rules|steps|commands?|guidelines|orders|whatever|skill\.md|way of working|everything)\b[^\n]{0,60}${FAR}  !! \b(?:api|docs?|documentation|reference|installation|install guide)\b
  into-agent      high     any   curl,wget,iwr   ${FETCH}[^\n]{0,160}«(?!known|local|subject)\w{1,10}»[^\n]{0,120}(?:>|-o|-outfile)\s{0,2}["']?\S{0,40}(?:\bskills/|\.claude/|\.cursor/|\.codex/)
  bad-source      high     words load,fetch,read,open,get,visit,download,follow   \b(?:load|fetch|read|open|get|visit|download|follow)\b[^\n]{0,60}«(?:paste|shortener|tunnel|collector|address)»
  self-update     high     words update,overwrite,replace,refresh,newer,upgrade  \b(?:update|overwrite|replace|refresh)\b[^\n]{0,40}\b(?:this (?:skill|file)|skill\.md|itself)\b[^\n]{0,80}(?:from|with)[^\n]{0,60}(?:${FAR}|server|remote)
  model-relay     high     any   base_url,openai_base_url,anthropic_base_url,openai_api_base,api_base    \b(?:openai|anthropic|llm|model)_(?:api_)?base(?:_url)?\s?[=:]\s?["']?${FAR}
`;

const takeover = () => rules('takeover')`
  shell-out       critical any   tcp,udp,nc,ncat,netcat,socat,dup2,mkfifo,tcpclient,telnet  (?: -i\b[^\n]{0,20}|exec \d{0,2}[^\n]{0,10})[<>&]{1,3}\s?/dev/(?:tcp|udp)/|>& ?/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat)\b[^\n]{0,60} (?:-\w{0,3}[ec] ?["']?(?:/bin|cmd|sh|bash)|--exec|--sh-exec)|mkfifo[^\n]{0,120}\b(?:nc|ncat|netcat|telnet|openssl)\b|\bsocat\b[^\n]{0,80}exec:|sockets\.tcpclient\((?![^\n]{0,20}(?:localhost|127\.))
  shell-program   critical any   dup2,spawn,connect,sockaddr_in,pty,tcpsocket,fsockopen,net    connect\([^]{0,300}?(?:dup2\(|pty\.spawn|exec\(["']/bin/)|spawn\(["'](?:/bin/)?(?:ba|z)?sh["'][^]{0,200}?net\.(?:connect|createconnection|socket)|net\.(?:connect|createconnection)\([^]{0,300}?(?:/bin/(?:ba)?sh|cmd\.exe)|tcpsocket\.(?:open|new)[^]{0,200}?(?:exec|popen)|fsockopen\([^]{0,200}?(?:proc_open|exec)|sockaddr_in\([^]{0,300}?exec\(
  way-in          high     any   ssh,frpc,chisel,ngrok,autossh,rathole,bore,anydesk,teamviewer,rustdesk,cloudflared    \b(?:auto)?ssh\b[^\n]{0,80} -\w{0,4}r\w{0,4} ?\S{0,20}\d{2,5}:|\bfrpc\b|\bchisel client\b|\bngrok tcp\b|\b(?:anydesk|teamviewer|rustdesk)\b[^\n]{0,120}(?:https?:|code|technician|support|id\b)  ~~ tunnel|ngrok|remote desktop|frp|teamviewer|anydesk|proxy
  miner           high     any   xmrig,stratum,miner,mine,mining,nicehash,cpuminer    \b(?:xmrig|cpuminer|minerd|nicehash)\b|stratum\+(?:tcp|ssl)|\bmin(?:e|ing)\b[^\n.]{0,60}\b(?:wallet|pool|coins?)\b|\bpool\b[^\n.]{0,80}\bmine\b  ~~ mining|miner|bitcoin|crypto|block
`;

const network = () => rules('network')`
  piped-secret    critical any   curl,wget,nc,ncat,ssh,scp,requests,fetch,telnet,socat,mail,rsync  (?:${STORE}|${ENV_ALL}|export-secret-key|/etc/passwd)[^\n]{0,200}(?:\|[^\n]{0,100}\b(?:curl|wget|nc|ncat|netcat|ssh|telnet|socat|mail)\b|${FAR})|\b(?:curl|wget|nc|ncat|netcat|scp|rsync|sftp|socat|https?)\b[^\n]{0,160}(?:@|<|=| |\$\(cat )["']?[~/\w.$-]{0,30}${STORE}[^\n]{0,160}(?:«|@[\w-]|\d{1,3}\.\d{1,3}\.)|\bnc\b[^\n]{0,60}<\s?[~/.\w]{0,20}${STORE}  !! ssh -i|-i ["']?~/\.ssh|--key|identityfile ~~ \bssh\b|\baws\b|backup|kube|git\b
  key-beside-host high     any   token,github_token,openai_api_key,anthropic_api_key,api_key,aws_secret_access_key,report   \$\{?\w{0,30}(?:token|_key|secret|passw\w{0,6})\b[^\n]{0,60}(?:${FAR})  !! authorization|bearer| -h |header|api[-_]?key:|x-\w{1,12}-|export |git (?:clone|push|remote)|docker|npm
  home-files-out  high     words ssh,gitconfig,config,bashrc,history,netrc,aws,npmrc   \b(?:put|send|post|upload|include|attach|append|copy|submit)\b[^\n]{0,60}~/\.\w[^\n]{0,140}${FAR}|~/\.\w[^\n]{0,100}\b(?:put|send|post|upload|include|attach|append|submit)\b[^\n]{0,140}${FAR}  !! \bdocs?\b|\bsee\b|documentation|create|example
  hard-drop       high     any   telegram,webhooks,services   api\.telegram\.org/bot\d{6,}:|/api/webhooks/\d{5,}/|hooks\.slack\.com/services/t[\w]{6,}/b\w{6,}
  key-in-url      high     any   curl,wget,http,https,environ,env,getenv   «(?!known|local|subject)\w{1,10}»\S{0,120}[?&]\S{0,40}\$\{?\w{0,30}(?:key|token|secret|passw)|${FAR}\S{0,120}["']?\s?\+\s?(?:os\.environ|process\.env|os\.getenv)
  secret-to-host  high     words *not-latin,${STORE_WORDS},key,keys,passwords,tokens,phrase,string,strings,zugangsdaten,senhas,senha,contraseñas,passe   (?:\b(?:send|upload|post|forward|submit|share|attach|copy|verify|validate|paste|transmit|sende|envoie|envía|envie|отправ\S{0,4})\b|发送)[^\n]{0,120}(?:\b(?:api keys?|passwords?|credentials|private keys?|tokens|seed phrase|connection strings?|zugangsdaten|passwörter|contraseñas?|mots? de passe|senhas?)\b|парол|密码)[^\n]{0,160}«(?!known|local|example)\w{1,10}»|(?:${STORE}|(?<![\w)])\.env\b)[^\n]{0,160}${FAR}|${FAR}[^\n]{0,120}(?:${STORE}|(?<![\w)])\.env\b)  !! authorization|bearer|header|(?:create|generate|get|obtain|find|sign up)[^\n]{0,60}(?:at|from|on|in)\b|\bnever\b
  secret-to-far   critical words *not-latin,${STORE_WORDS},key,keys,passwords,tokens,phrase   \b(?:send|upload|post|forward|submit|attach|transmit|mail|sende|envoie|envía|envie)\b[^\n]{0,80}(?:${STORE}|(?<![\w)])\.env\b|\b(?:passwords|private keys?|seed phrase))[^\n]{0,120}(?:${BAD}|«unknown»)  !! \bnever\b|\bnot\b
  piped           high     any   curl,nc,ncat,wget,ssh,telnet    \b(?:tar|zip|cat|tail|head|history|base64|gzip|find|ls|whoami|git|env|printenv|mysqldump|pg_dump|printf|ps)\b[^\n|]{0,200}\|[^\n]{0,100}\b(?:curl|nc|ncat|wget|telnet)\b[^\n]{0,160}${FAR}|(?:curl|wget|nc)\b[^\n]{0,160}${FAR}[^\n]{0,160}\$\((?:cat|tail|head|env|git|hostname|whoami|base64|ls|history)|\b(?:history|zip|tar)\b[^\n|]{0,80}\|\s?(?:nc|ncat|curl)\b  !! jq |codecov
  file-to-bad     high     any   curl,wget,requests,fetch,axios,invoke,iwr,scp,rsync,sendbeacon,urlopen,httpx,nc    ${NET}[^\n]{0,200}${BAD}  !! «(?:odd|address)»\S{0,40}(?:/api|/v\d)|(?:rapidapi|geoip|ipinfo)
  copied-far      high     any   scp,rsync,sftp   \b(?:scp|rsync|sftp)\b[^\n;|&]{0,160}(?:${FAR}[\w.-]{1,100}::?\S{0,80}|\b(?:rsync|sftp)://\S{1,100})(?: -\S{1,40}){0,4}(?=["']?(?:\s{0,3}(?:[\n;&|)\x60,]|$)|\.\s))
  file-to-far     medium   any   curl,wget,requests,fetch,axios,invoke,post,https,urlopen,httpx,net,connect,httpget    \b(?:curl|wget|http)\b[^\n]{0,160}(?:${FILES}|-x post)[^\n]{0,160}${FAR}|\b(?:curl|wget)\b[^\n]{0,160}${FAR}[^\n]{0,160}(?:${FILES}|-x post)|(?:requests\.(?:post|put)|axios\.post|httpx\.post|urlopen\(|urllib\.request|\bfetch\(|https?\.(?:request|get)\()[^\n]{0,100}${FAR}|connect\(\(?["']\d{1,3}(?:\.\d{1,3}){3}
  named-host      medium   code  url,endpoint,host,api,server,base,target,webhook,hook,dest,addr,collector   \b\w{0,20}(?:url|endpoint|host|server|base|target|hook|dest|addr)\w{0,8}["']?\s?[:=]\s?["']${FAR}[^]{0,500}?${NET}
  quiet-post      high     code  fetch,requests,post,axios,urlopen    ${FAR}[^]{0,240}?(?:\.catch\(\s?\(?\w{0,4}\)?\s?=>\s?(?:\{\s?\}|null|undefined|0)|except[^\n]{0,30}:\s{1,30}pass\b|contextlib\.suppress|stdio["']?\s?:\s?["']ignore|\.unref\(\))
  names-as-carrier  high   any   dig,nslookup,host,ping,gethostbyname,resolve    \bxargs\b[^\n]{0,40}\b(?:dig|nslookup|host|ping|drill)\b|\b(?:dig|nslookup)\b[^\n]{0,60}(?:\$\(|\{\}["']?\.|\x60|\$\{?\w{1,20}\}?["']?\.)[^\n]{0,100}\.\w{2,}|\b(?:host|ping)\b ["'\w-]{0,12}\$[({]?[^\n]{0,100}\.\w{2,}  !! -c \d \$|\$host["'\s]|\$ip|\$domain\b(?!\.) ~~ dns|domain|network
  image-beacon    high     any   http,https   (?:!\[[^\]\n]{0,80}\]\(|<img[^>\n]{0,40}src=["'])«(?!known|local|subject)\w{1,10}»[^)\n]{0,160}[?&=/][^)\n]{0,60}(?:\{|<|\[|%7b|\$)|(?:!\[[^\]\n]{0,80}\]\(|<img[^>\n]{0,40}src=["'])«(?!known|local|subject)\w{1,10}»[^)\s]{0,120}[?&](?!(?:raw|format|fm|fit|auto|crop|size|theme|type|style)=[a-z-]{1,12}[&)\s"'])\w{1,16}=[a-z]|«(?!known|local|subject)\w{1,10}»\S{0,160}[?&=/](?:<|\{)[^\n]{0,60}\b(?:badge|image|img|pixel)\b|\b(?:image|img|pixel)\b[^\n]{0,60}«(?!known|local|subject)\w{1,10}»\S{0,160}=(?:<|\{)
  copied-mail     high     words bcc,cc   \b(?:bcc|cc)\b[^\n]{0,80}[\w.+-]{1,40}@(?!(?:\w{1,20}\.)?(?:example\.(?:com|org|net)|yourcompany|company|acme))|[\w.+-]{1,40}@(?!(?:\w{1,20}\.)?(?:example\.(?:com|org|net)|yourcompany|company|acme))[\w.-]{3,60}[^\n]{0,40}\bbcc\b
  mirror          high     any   remote,push,rclone,s3   git remote (?:add|set-url)[^\n]{0,80}${FAR}[^]{0,100}?git push|git push[^\n]{0,60}${FAR}|\b(?:aws s3 (?:cp|sync|mv)|rclone (?:copy|sync)|gsutil (?:cp|rsync))\b[^\n]{0,80}${STORE}
  into-repository high     any   env,printenv,environ,process,password,passwords,secret,secrets,credential,credentials,token,tokens,key,keys,pin,pins,card   (?:${ENV_ALL}|${TAKEN})[^]{0,300}?(?:\bgit (?:push|remote (?:add|set-url))\b[^\n]{0,60}(?:://|\bgit@)|\bgh (?:issue|gist) (?:create|comment)\b|\b(?:issues?|gists?|discussions?|comments?|pull requests?)\b[^\n]{0,60}\b(?:github|gitlab|codeberg|bitbucket)\.(?:com|org)/)  ~~ secret|credential|password|vault|leak
  words-out       high     words send,upload,post,forward,copy,submit,sync,share,report,mail,transmit,log,mirror,attach,transcript,conversation,telemetry,analytics,webhook,sende,envoie,envía,envie,enviar,append,pass    \b(?:send|upload|post|forward|submit|sync|share|transmit|mirror|deliver|attach|append|pass|report|mail|sende|envoie|envía|envie|copy)\b[^\n]{0,160}\b(?:conversations?|transcripts?|histor(?:y|ies)|prompts?|messages?|memory|files?|documents?|contents?|drafts?|input|requests?|notes?|questions?|quer(?:y|ies)|texts?|translations?|results?|answers?|entries|context|codebase|source|manifest|repository|workspace|inventory|customers?|invoices?|output|cop(?:y|ies)|datei|archivo|arquivo|fichier|data|e?-?mails?|mail)\b[^\n]{0,140}(?:${FAR}|\b[\w.+-]{1,40}@(?!example\.)[\w-]{2,40}\.\w{2,}|\bour (?:archive|server|webhook|endpoint|telemetry))  !! \bapi\.|/v\d/|user (?:wants|asks|requests|confirms)|when asked|bug report|feedback ~~ upload|share|publish|deploy|mail|send|webhook|telegram|slack
`;

const secrets = () => rules('secrets')`
  watches         high     any   pbpaste,xclip,pyperclip,pyautogui,screenshot,screencapture,pynput,clipboard,keylog,imagegrab,scrot,getasynckeystate,keystrokes    (?:while[ (]?(?:true|:|1)|every \d|setinterval|sleep)[^]{0,300}?${WATCH}[^]{0,400}?(?:${NET}|${FAR})|${WATCH}[^]{0,500}?${NET}[^\n]{0,120}${FAR}|pynput|getasynckeystate|\bkeylogg
  key-sent        high     any   curl,wget,requests,post   \b(?:curl|wget)\b[^\n]{0,160}(?:-d|--data\S{0,10}|-f|--form)[ =]["']?[^"'\n]{0,40}\$\{?\w{0,30}(?:key|token|secret|passw)
  store-read      high     any ${STORE_WORDS}   \b(?:cat|less|more|head|tail|strings|xxd|base64|tar|zip|7z|cp|mv|rsync|scp|grep|sqlite3|type|gc|get-content|copy-item|copy|tee|gpg|ln)\b[^\n|;]{0,140}${STORE}  !! ssh-keygen|cp [^\n]{0,40}(?:\.example|\.sample)|>\s?["']?[~$/\w]{0,12}\.\w+|-i ~/\.ssh ~~ \bssh\b|credential|secret|\baws\b|kube|npm|docker|gcloud|github|backup|dotfiles|browser|history|password|wallet|solana|pypi|publish
  store-open      high     code ${STORE_WORDS}   (?:open|read\w{0,10}|path|expanduser|join|copytree|copy\w{0,6}|glob|load\w{0,6}|homedir\(\)[^\n]{0,10}|home[^\n]{0,6}/)\s?\(?[^\n]{0,80}(?:["'/\x60]|\b)${STORE}|\[[^\n]{0,60}["']${STORE}["'],\s?["'][^\n]{0,60}["']  ~~ \bssh\b|credential|secret|\baws\b|kube|npm|docker|gcloud|github|backup|dotfiles|browser|history|password|wallet|solana
  many-stores     high     code ${STORE_WORDS}   ${STORE}["'\x60]?[^\n]{0,30}["'],\s?["'][^\n]{0,30}${STORE}["'\x60]?[^\n]{0,30},\s?["'][^\n]{0,30}${STORE}
  store-named     high     code  ${STORE_WORDS}   \b\w{2,24}=["']?(?:~|\$home|\$\{home\})/${STORE}|\bfor \w{1,12} in [^\n]{0,60}${STORE}  ~~ \bssh\b|credential|secret|\baws\b|kube|npm|docker|gcloud|github|backup|dotfiles|browser|history|password|wallet|solana|deploy|server
  store-words     high     words ${STORE_WORDS}   \b(?:read|open|copy|include|collect|gather|append|attach|add|lis|load|dump|put|use)\b[^\n]{0,100}${STORE}[^\n]{0,120}(?:${STORE}|contents?|values?|reports?|notes?|into|contenu)  !! \bconfig(?:ure)?\b ~~ \bssh\b|credential|secret|\baws\b|kube|npm|docker|gcloud|github|backup|dotfiles
  keychain        high     any   security,keychain,secret,cmdkey,mimikatz,lsass,secretsdump,browser_cookie3,cookies,lazagne,gopass,safe    security (?:dump-keychain|find-(?:generic|internet)-password[^\n]{0,60} -\w{0,3}[wg])|\bsecret-tool (?:lookup|search --all)|cmdkey /list|mimikatz|secretsdump|\blsass\b|browser_cookie3|\blazagne\b|safe storage  ~~ keychain|secret|credential|password|cookie|browser
  private-files   high     code  glob,walk,rglob,listdir,readdir,documents,desktop,os   (?:glob|walk|rglob|listdir|readdir)\w{0,4}\([^\n]{0,60}(?:~/|home\(|homedir\(|documents|desktop|downloads)[^]{0,500}?${NET}  ~~ file|download|document|organi|photo|desktop|backup
  environment     high     any   env,printenv,environ,process,set,entries,keys,stringify,dict,dumps    ${ENV_ALL}|(?:process\.env|os\.environ)[^\n]{0,100}(?:key|token|secret|pass)[^\n]{0,8}\|[^\n]{0,40}(?:token|secret|pass)|for \w{1,10}, ?\w{1,10} in os\.environ  !! env=|\benv \| grep|(?:env|printenv) \|\s?(?:grep|sort|less|head)|grep [^\n]{0,20}path
  sweep           high     any   find,grep,rg,fd,os,glob,walk    \b(?:find|grep -\w{1,8}|rg|fd)\b[^\n]{0,80} ?(?:~|/(?=\s)|\$home|/home|/users)[^\n]{0,120}(?:\.env|\.pem|\.key\b|credential|secret|token|api.?key|passw|wallet|id_rsa|sk\||ghp)|\b(?:find|grep -\w{1,8}|rg)\b[^\n]{0,120}(?:credential|secret|token|api.?key|passw|wallet|ghp|sk\|)[^\n]{0,60} (?:~|/|\$home)(?:\s|$|/)
  minted          high     any   token,session,access,auth    (?:gcloud auth print-access-token|gh auth token|aws sts get-session-token|az account get-access-token)\b[^\n]{0,60}(?:>|\bpaste|\bkeep|\bstore|\bsave)
  asked-for       high     words password,phrase,code,seed,mnemonic,words,otp,passphrase,pin,cvv,cvc,card,wallet,passwort,contraseña    \b(?:ask|request|prompt|have|get|tell|let|confirm|enter|type|paste|give|verify)\b[^\n]{0,80}\b(?:(?:seed|recovery|mnemonic|secret) (?:phrase|words?)|(?:12|24|twelve|twenty-four)[ -]words?|one-time (?:code|password)|2fa code|(?:computer|login|system|mac|windows|e-?mail|bank|sudo|account|apple) password|cvv|cvc|card (?:number|details|pin))|\b(?:type|enter|give|tell)\b[^\n]{0,30}\b(?:their|his|her|the user'?s)\b[^\n]{0,20}\bpassword\b[^\n]{0,60}\b(?:keep|save|store|write)|\bpasswords?\b[^\n]{0,40}\b(?:keep|save|store|remember|write) (?:it|them|both|all)\b  ~~ password|wallet|crypto|bank|checkout|payment|recovery
  fake-dialog     high     any   osascript,hidden,credential,zenity    display dialog[^\n]{0,160}hidden answer|get-credential[^\n]{0,60}\.getnetworkcredential|zenity --password[^\n]{0,60}>
  written-down    high     words key,keys,password,passwords,token,tokens,secret,secrets,credentials,header,cookie,login,logins,variables,identifiants,values    \b(?:put|paste|print\w{0,3}|log|list|include|save|write|add|keep|store|dump|copy|record|collect|gather)\b[^\n]{0,80}\b(?:api keys?|passwords?|(?:access|auth|session|api) tokens?|secrets?|credentials|authorization header|session cookies?|card numbers?|connection strings?|private keys?|(?:all|every|full) [^\n]{0,16}(?:environment(?: variables)?|variables)|environment variables|variables? of the environment|logins?|values? of \.env)\b[^\n]{0,100}\b(?:chat|reports?|summar(?:y|ies)|comments?|pull request|commit|logs?/?|memory\.md|notes?|document|chapter|setup\.md|plain text|status mail|issue|ticket|link|file name|readme|appendix|repl(?:y|ies)|answer|setup)\b  !! \.env|environment variable \w|secret(?:s)? manager|vault|as (?:an )?env|config|redact|mask ~~ secret|credential|password|vault
  gathered        high     words password,passwords,secret,secrets,credential,credentials,token,tokens,key,keys,pin,pins,card   ${TAKEN}  !! redact|mask|rotate|remov|report\w{0,3} (?:it|them) to the (?:user|owner) ~~ secret|credential|password|vault
`;

const hiding = () => rules('obfuscation')`
  decoded-to-shell critical any   base64,base32,xxd,openssl,gunzip,zcat,rev,tr,gzip,uudecode   (?:${DECODE}|\btr [^|\n]{4,40})[^|\n]{0,80}\|\s?(?:(?:gunzip|gzip -d|base64 -d|rev)[^|\n]{0,40}\|\s?)?${RUNNER}(?![^\n]{0,20}(?:json|-p\b))|(?:\beval|\b${SHELL} -c|\bsource|(?<!\w)${SHELL} <)\s{0,3}["']?[<$\x60(]{1,4}[^)\n]{0,400}${DECODE}
  decoded-and-run critical any   eval,exec,function,os,execsync,popen,iex,expression,loads,vm,subprocess,child_process,marshal  ${EXEC}[^\n]{0,120}?${DECODE}(?!\s?["'])  !! \[::-1\](?![^\n]*["'])|re\.compile|(?:gzip|gunzip|tar|ffmpeg|zcat)\b|json\.loads|sort
  later-run       high     code  base64,hex,fromhex,atob,frombase64string,fromcharcode,reverse,b64decode,decode    (?:,\s?["'](?:base64|hex)["']|fromhex\(|atob\(|b64decode\(|fromcharcode\(|\[::-1\])[^]{0,160}?(?:(?<![.\w])(?:eval|exec|execsync|system)\s?\(|new function\(|os\.system\()
  powershell      critical any   powershell,pwsh    \b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,120}\s-e(?:nc|ncodedcommand|c)?\s+["']?[a-z0-9+/=]{16}
  letter-codes    high     code  fromcharcode,chr,char,join  (?:eval|exec|function|import|require|getattr|popen|system|part)\s?\([^\n]{0,120}(?:fromcharcode|chr\(\d|map\(chr)|(?:\\x[0-9a-f]{2}){6,}[^]{0,300}?require\(|map\(chr,\s?\[(?:\s?\d{2,3}\s?,)
  built-name      high     code  getattr,import,require,__import__,globalthis,window    __import__\((?!["'][\w.]+["']\s?[,)])[^)\n]{1,80}(?:\[::-1\]|join|chr|\+|decode)|getattr\([^\n]{1,60}["'][^"'\n]{1,20}["']\[::-1\]|require\(\s?[a-z_]\w{0,12}(?:\[\d\])?\s?\)\s?[[.]\s?[\w"'[]{0,12}(?:exec|_0x|\d\])|\brequire\([^)\n]{0,30}\)\[_0x|_0x[0-9a-f]{0,6}\[\d\]
  tail-of-file    high     any   tail,dd,sed,unzip   \b(?:tail -[cn] ?\+?\d{2,}|dd [^\n|]{0,60}skip=\d)[^\n|]{0,60}\|\s?${RUNNER}
  native-load     high     any   cdll,loadlibrary,dlopen,ctypes,rundll32,regsvr32    (?:ctypes\.)?(?:cdll|windll|dlopen|loadlibrary)\w{0,3}\(\s?["'](?:\.{0,2}/)?(?!lib(?:c|m)\b|kernel32|user32)[\w./-]{1,60}(?:\.so|\.dll|\.dylib|/)|\b(?:rundll32|regsvr32)\b
  decode-follow   high     words decode,decoding,decoded,base64,encoded,rot13   \b(?:decode|decrypt|reverse)\b[^\n]{0,60}\b(?:follow|execute|run|obey|carry out|do what)\b  ~~ decod|ctf|puzzle
`;

const strangers = () => rules('prerequisite')`
  locked-archive  critical any   zip,rar,exe,archive,installer,unpack,extract,unzip,dmg,msi,压缩包,descomprímelo,setup,7z  (?:\.(?:zip|rar|7z|exe|dmg|msi|pkg)\b|\bthe (?:zip|rar|archive)\b|\b(?:unpack|extract|unzip)\b)[^\n]{0,160}\b(?:pass(?:word|phrase|code)?|pwd?|(?:with|using) (?:the )?key|contraseña|mot de passe|passwort|kennwort|senha|пароль)\b(?: (?:is|ist|es|est))?\s?(?:[:=]\s?["'\x60*(]{0,3}|["'\x60*(]{1,3}|(?=\S{0,20}\d))[\w!@#.-]{3,24}|\b(?:password|contraseña|passwort|senha|пароль|密码)\s?[:=：]\s?["'\x60]{0,2}[\w!@#.-]{3,24}[^\n]{0,80}(?:\.exe|extract|unzip|unpack|descompr|decompr|entpack|解压)  !! pdf|encrypt|protect|docx|xlsx|\$\{?\w|--
  stranger-program high    any   exe,msi,dmg,pkg,scr,bat,apk,appimage,jar,deb,iso,hta   (?:«(?:address|paste|shortener|tunnel|collector|odd|free|unknown)»\S{0,160}|github\.com/(?!microsoft|google|electron|docker|oven-sh|cli/|git-for-windows|ollama|yt-dlp)\S{1,120}/releases/\S{0,80})\.(?:exe|msi|dmg|pkg|scr|bat|apk|appimage|jar|iso|hta)\b  ~~ electron|release|packag|installer
  paste-from-bad  critical words terminal,powershell,paste,console   ${BAD}[^\n]{0,160}\b(?:terminal|power ?shell|paste)\b|\b(?:terminal|power ?shell|paste)\b[^\n]{0,120}${BAD}  !! \bnever\b|\bnot\b
  paste-this      high     any   terminal,powershell,paste,clipboard,ctrl,console,run,win,粘贴,windows    \b(?:open|start|launch|in)\b[^\n]{0,40}\b(?:terminal|power ?shell|command prompt|run dialog|console)\b[^\n]{0,100}\b(?:paste|enter what)\b[^\n]{0,160}(?:«|https?:|base64|curl|iwr|line|command|what|\x60)|\b(?:win(?:dows)?(?: key)?\s?\+\s?r)\b|\b(?:copy|paste)\b[^.\n]{0,50}\b(?:terminal|power ?shell|console)\b|终端[^\n]{0,12}粘贴  !! pbcopy|output|log ~~ terminal|clipboard
  stranger-index  high     any   index,registry,trusted,deb,host,extra,install,npm,npmrc,pip   --(?:extra-)?index-url[ =]["']?${FAR}|--trusted-host [\w.-]{4,}|\bregistry[ =]{1,3}["']?(?:«(?!known|local|subject|example)\w{1,10}»|http://)|\[trusted=yes\]|\b(?:npm|pnpm|yarn|bun) (?:i|install|add)\b[^\n]{0,40}${FAR}|\bpip3? install[^\n]{0,40}${FAR}|\b(?:curl|wget)\b[^\n]{0,80} -k\b[^\n]{0,120}(?:tar|install|sh\b)
  stranger-branch high     any   pip,uv,npm,cargo   \b(?:pip3?|uv|npm|cargo)\b[^\n]{0,20} install[^\n]{0,40}git\+(?:«\w{1,10}»)?https?://[^\n]{0,120}(?:@(?:main|master|head|dev)\b[^\n]{0,40})?(?:&&|;)
  needs-stranger  high     words required,must,needs,install,download,first,before,needed,requires,optional,decoder,activate,activated  \b(?:download|install|get|fetch|obtain)\b[^\n]{0,100}(?:«(?:address|paste|shortener|tunnel|odd|free|unknown)»\w{3,5}://[^\s/]{1,80}/\S{0,140}\.(?:zip|rar|7z|tar\.gz|tgz|sh|ps1)\b|«(?:address|paste|shortener|tunnel)»)|\b(?:open|visit)\b[^\n]{0,20}«(?:paste|shortener|tunnel|address)»[^\n]{0,120}\b(?:command|terminal|install|run)
  package-name    high     any   pip,pip3,npm,pnpm,yarn,uv,bun    (?:pip3?|uv pip|poetry|uv) (?:install|add) [^\n;&|\x60]{4,160}|(?:npm|pnpm|yarn|bun) (?:i|install|add) [^\n;&|\x60]{4,160}
  package-runner  high     any   npx,bunx,pnpx,dlx,npm   \b(?:npx|bunx|pnpx|(?:pnpm|yarn) dlx|npm (?:exec|x))(?: -{1,2}\S{0,40}){0,4} (?:github:[\w.-]{1,60}|@[\w.-]{1,60})/[\w.-]{1,80}
  package-names-file high  code  *   (?:^|\n)[a-z][\w.-]{4,24}\s?(?:[=~>]=)\s?\d[\w.]{0,12}(?=\n)
`;

const shields = () => rules('shields')`
  shields-off     high     any   antivirus,defender,gatekeeper,smartscreen,xattr,spctl,csrutil,antivirus,quarantine,avast,virus,anyway,anti,杀毒软件,firewall    \b(?:disable|turn(?:ing)? off|switch(?:ing)? off|deactivate|pause|stop|ignore|dismiss|bypass|desact\w{1,8}|close|add an exclusion)\b[^\n.]{0,60}\b(?:anti-?virus|defender|real-?time protection|gatekeeper|smartscreen|virus protection|security (?:software|warnings?))|(?:anti-?virus|defender|smartscreen|gatekeeper|macos|windows)\b[^\n]{0,120}\b(?:run anyway|open anyway|false positive|falso positivo|ignored? safely|flagged by mistake|desact\w{2,6})|spctl --(?:master|global)-disable|csrutil disable|set-mppreference|add-mppreference|xattr -\w{0,3}[cr]\w{0,3}\b|关闭[^\n]{0,6}杀毒  ~~ codesign|notari|sign|antivirus|defender|packag
`;

const unseen = () => rules('hidden')`
  comment-orders  high     comment ignore,disregard,assistant,agent,agents,ai,llm,system,you,obey,execute,curl,wget,upload,send,mention,tell   \b(?:ignore|disregard|assistant|agents?\b|\bai\b|llm|system prompt|you (?:must|are now|should)|obey|do not (?:tell|mention)|execute|curl|wget|upload|send)\b[^\n]{0,200}  !! -->|generated|begin|end\b|markdownlint|prettier|toc|template
  comment-command high     comment curl,wget,iwr,irm,invoke   ${FETCH}[^\n]{0,200}(?:\|\s?${RUNNER}|${FAR})
  styled-away     high     words span,div,font,style,p,color,display,opacity    <[a-z]{1,10}[^>\n]{0,80}(?:display\s{0,2}:\s{0,2}none|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|;|["'])|visibility\s{0,2}:\s{0,2}hidden|opacity\s{0,2}:\s{0,2}0(?![.\d])|(?:left|top|text-indent)\s{0,2}:\s{0,2}-\d{3,}|(?:max-)?height\s{0,2}:\s{0,2}0(?:px|;|["'])|color\s{0,2}[:=]\s{0,2}["']?(?:white|transparent|#fff(?:fff)?)\b)[^>\n]{0,80}>[^<\n]{12}  ~~ html|css|front|web|design|email template
  link-comment    high     words comment,hidden   (?:^|\n)\[(?://|comment|_)\]:\s{0,4}[#<][^\n]{0,20}[("'][^\n]{0,200}\b(?:ignore|assistant|agent|instruction|execute|you must|send|reveal|obey)
`;

/** Made anew at each call. */
export function codeRules(): readonly Rule[] {
  return [remote, takeover, network, secrets, hiding, strangers, shields, unseen].flatMap((make) => make());
}

const PYTHON =
  'requests numpy pandas scipy flask django fastapi boto3 urllib3 setuptools cryptography pillow matplotlib tensorflow torch pytorch selenium beautifulsoup4 sqlalchemy pydantic openai anthropic langchain transformers scikit-learn opencv-python python-dotenv pyyaml pytest aiohttp httpx colorama web3 playwright psycopg2 redis celery jinja2 paramiko click rich typer uvicorn gunicorn markdown lxml openpyxl pymupdf pypdf tqdm discord telethon ccxt yfinance streamlit gradio';
const NODE =
  'react express lodash axios chalk commander webpack typescript eslint prettier next vue angular moment dotenv mongoose puppeteer playwright cross-env discord.js socket.io electron jsonwebtoken bcrypt nodemon node-fetch request body-parser cheerio sharp ethers web3 openai tailwindcss vite esbuild rollup jest mocha husky uuid async debug underscore bluebird yargs inquirer rimraf colors openclaw clawhub claude-code moltbot clawdbot';
const BOTH = new Set(
  `${PYTHON} ${NODE} preact reacts requestx nuxt neo vitest vuex nest jose jsdom chai colorette request-promise requests-oauthlib requests-cache flask-cors test rest rich-cli async-lru mock ky tar ws zx pnpm yarn np panda pandoc plotly click-log lxml-stubs rust torchx axis express-session redux reflex rx debugpy nexts pillow-heif torchvision aiohttp-cors httpx-sse pydantic-settings uvloop tqdn husk mach sharp-cli chalk-cli ethers-v5 ether react-dom sympy clawdhub molthub numba nuitka pytext pytests dango flash`.split(
    ' ',
  ),
);

/** Whether one of the names in an install command is one slip away from a well-known one. */
export function looksLikePackage(command: string): boolean {
  const words = command.trim().split(/\s+/).slice(0, 10);
  const node = /^(?:npm|pnpm|yarn|bun)$/.test(words[0] ?? '');
  return words.some((word) => isLookAlike(word.replace(/(?:\[.*|[=~><!@^].*)$/, ''), node));
}

/** Whether what a package runner is told to run belongs to somebody known, or is what the skill is named after. */
export function isOwnPackage(command: string, header: string, isSubject: (label: string) => boolean): boolean {
  const [, owner = '', name = ''] = /[:@]([\w.-]+)\/([\w.-]+)$/.exec(command) ?? [];
  const skill = /^name:\s*["']?([\w.-]+)/m.exec(header)?.[1];
  return (
    isKnownOwner(owner) || isSubject(owner) || name.replace(/^mcp-(?:server-)?|-(?:mcp|cli|server)$/g, '') === skill
  );
}

function isLookAlike(name: string, node: boolean): boolean {
  if (name.length < 5 || name.length > 24 || !/^[a-z][a-z0-9._-]*$/.test(name) || BOTH.has(name)) return false;
  const known = (node ? NODE : PYTHON).match(/\S{5,}/g) ?? [];
  return known.some(
    (other) => Math.abs(other.length - name.length) <= 1 && oneSlip(name, other) && !isPlural(name, other),
  );
}

function isPlural(name: string, other: string): boolean {
  return name === `${other}s` || other === `${name}s` || name.replace(/[\d.-]/g, '') === other.replace(/[\d.-]/g, '');
}

/** One letter more, less, other, or two neighbours swapped. */
function oneSlip(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  if (left.length + right.length === 0) return false;
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
