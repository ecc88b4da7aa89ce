// Owns the rules against handing the machine to somebody: shells that call home, tunnels inward, mining, ransom, flooding others.
// Knows no address. Checking whether a port answers is ordinary and passes.
import { OUT_HOST, type Rule, ruleRows } from '../rule.ts';

const TRADE =
  /pen-?test|penetration|red[- ]?team|ctf|capture the flag|exploit|hack|offensive|oscp|reverse shell|security (?:research|test|assess)|vulnerab|malware|forensic|incident|detect|threat|bug bounty|osint/;

export const TAKEOVER_RULES: readonly Rule[] = ruleRows('takeover', [
  [
    'shell-over-socket',
    'critical',
    'dev bash sh exec tcp udp',
    '(?:\\b(?:ba|z|k)?sh -i\\b[^\\n]{0,60}(?:>&|<&|0>|/dev/(?:tcp|udp))|/dev/(?:tcp|udp)/[^\\s/]{1,80}/[^\\s]{1,12}[^\\n]{0,60}(?:0>&1|<&1|>&0|0<&|2>&1)|exec \\d{1,3}<>\\s?/dev/(?:tcp|udp)/(?!localhost|127\\.)|(?:0<&\\d{1,3}|exec [3-9]\\d{0,2}<>/dev/tcp))',
    { trade: TRADE },
  ],
  [
    'netcat-shell',
    'critical',
    'nc ncat netcat socat mkfifo mknod busybox',
    '(?:\\b(?:nc|ncat|netcat|nc\\.traditional)\\b[^\\n]{0,80}\\s-\\w{0,4}[ec]\\w{0,2}\\s+["\']?(?:/bin/|cmd|powershell|(?:ba|z)?sh\\b)|\\bmk(?:fifo|nod)\\b[^\\n]{0,120}\\b(?:nc|ncat|netcat|telnet|openssl s_client)\\b|\\bsocat\\b[^\\n]{0,120}(?:exec|system):["\']?(?:/bin/|cmd|(?:ba|z)?sh)|\\bbusybox nc\\b[^\\n]{0,60}-e)',
    { trade: TRADE },
  ],
  [
    'script-shell',
    'critical',
    'socket pty dup2 tcpclient fsockopen tcpsocket child_process subprocess net spawn getstream stdout stdin',
    '(?:socket[^\\n]{0,300}(?:os\\.dup2|pty\\.spawn|subprocess\\.(?:call|popen|run)\\(\\s?\\[?["\'](?:/bin/)?(?:ba|z)?sh)|pty\\.spawn\\(\\s?["\'](?:/bin/)?(?:ba|z)?sh|os\\.dup2\\(\\s?\\w{1,12}\\.fileno\\(\\)|new-object (?:system\\.)?net\\.sockets\\.tcpclient|fsockopen\\([^\\n]{0,120}(?:exec|shell_exec|proc_open|/bin/sh)|tcpsocket\\.(?:new|open)\\([^\\n]{0,120}(?:exec|/bin/sh|popen)|net\\.(?:connect|socket|createconnection)\\([^\\n]{0,160}(?:/bin/(?:ba)?sh|cmd\\.exe|\\.pipe\\()|use socket;[^\\n]{0,200}exec|(?:sh|cmd)\\.stdout\\.pipe\\(\\s?(?:client|socket|conn|s)\\b)',
    { trade: TRADE },
  ],
  [
    'call-home-order',
    'high',
    'reverse shell remote backdoor listener command control c2 beacon',
    '\\b(?:open|start|establish|create|spawn|keep|maintain|set up|launch|connect)\\b[^.!?]{0,60}\\b(?:reverse shell|remote (?:shell|session|access|control)(?: session)?|back ?door|command[- ]and[- ]control|c2 (?:channel|server)|bind shell|beacon)\\b',
    {
      kinds: ['prose', 'comment', 'header', 'code'],
      trade: TRADE,
      unless: /\b(?:ssh|vnc|rdp|never|do not|don'?t|tailscale|teamviewer)\b/,
    },
  ],
  [
    'orders-from-outside',
    'high',
    'while loop poll sleep every setinterval',
    `(?:while (?:true|:|1|\\[ ?1 ?\\])[^\\n]{0,200}(?:${OUT_HOST})[^\\n]{0,200}(?:\\|\\s?(?:ba)?sh|eval|exec|iex)|(?:poll|query|check|contact)\\w{0,3}\\b[^.!?\\n]{0,80}(?:${OUT_HOST}|«chat»)\\S{0,120}[^.!?\\n]{0,100}\\b(?:commands?|orders|tasks?|jobs?|instructions)\\b[^.!?\\n]{0,60}\\b(?:run|execute|carry|perform|shell|do)\\b)`,
    { facts: ['runs-remote'], trade: TRADE },
  ],
  [
    'way-in',
    'high',
    'ssh ngrok cloudflared bore chisel frpc frp localtunnel serveo ligolo tmate teleconsole gsocket sshd',
    `(?:\\bssh\\b[^\\n]{0,80}\\s-\\w{0,4}r\\w{0,3}\\s?(?:\\d{1,5}|\\*|0\\.0\\.0\\.0)[:\\w.]{0,40}:22\\b|\\bssh\\b[^\\n]{0,80}\\s-\\w{0,4}r\\w{0,3}\\s?[\\d:.a-z]{3,40}[^\\n]{0,60}${OUT_HOST}|ngrok (?:tcp|start)[^\\n]{0,30}\\b22\\b|bore local 22\\b|cloudflared[^\\n]{0,60}(?:ssh|tcp)://localhost:22|chisel client|ligolo|\\btmate -|gs-netcat|gsocket|teleconsole|frpc -c)`,
    { trade: /tunnel|ngrok|remote|ssh|expose|tmate|pair|pen-?test|red[- ]?team|ctf|homelab|webhook/ },
  ],
  [
    'known-tools',
    'high',
    'msfvenom meterpreter cobaltstrike cobalt mimikatz empire sliver havoc bloodhound responder metasploit merlin',
    '\\b(?:msfvenom|meterpreter|cobalt ?strike|mimikatz|powershell empire|sliver-client|havoc c2|mythic c2|merlin agent)\\b',
    { trade: TRADE, kinds: ['code'] },
  ],
  [
    'mining',
    'critical',
    'xmrig stratum minerd cryptonight coinhive cpuminer nicehash minexmr supportxmr moneroocean nanopool hashvault t nbminer phoenixminer lolminer randomx donate ethminer ccminer cgminer bfgminer trex 2miners unmineable',
    '(?:\\bxmrig\\b|stratum\\+(?:tcp|ssl|tls)|\\bminerd\\b|cryptonight|coin-?hive|\\bcpuminer\\b|nicehash|minexmr|supportxmr|moneroocean|nanopool\\.org|hashvault|\\bnbminer\\b|phoenixminer|lolminer|\\bethminer\\b|\\bccminer\\b|\\bt-rex -a\\b|2miners|unmineable|--donate-level|--algo[= ]?(?:rx/0|randomx|kawpow|ethash))',
    {
      trade:
        /mining (?:profit|calculator|stats)|miner (?:dashboard|monitor|manag)|crypto mining|detect|threat|security|forensic|incident/,
    },
  ],
  [
    'mining-order',
    'high',
    'mine mining miner hash hashrate idle cpu gpu cycles compute',
    '(?:\\b(?:mine|mining|miner|hash(?:ing)?)\\b[^.!?]{0,60}\\b(?:monero|xmr|bitcoin|ethereum|ravencoin|crypto\\w{0,9}|coins?|tokens?|wallet|pool)\\b[^.!?]{0,100}\\b(?:idle|spare|background|cpu|gpu|cores?|cycles|unused|while the)|\\b(?:idle|spare|unused|background|donate\\w?)\\b[^.!?]{0,60}\\b(?:cpu|gpu|compute|cycles|processing)\\b[^.!?]{0,100}\\b(?:mine|mining|miner|hash\\w{0,4}|pool|coin|wallet|workers?|contribut\\w{1,4}|network)\\b)',
    {
      kinds: ['prose', 'comment', 'header', 'code'],
      trade: /mining (?:profit|calculator)|blockchain (?:research|course)/,
    },
  ],
  [
    'ransom',
    'critical',
    'ransom decrypt encrypt vssadmin wbadmin shadows bcdedit openssl gpg encrypted',
    '(?:vssadmin(?:\\.exe)? delete shadows|wbadmin delete (?:catalog|backup)|bcdedit[^\\n]{0,40}recoveryenabled no|(?:your|all) (?:files|documents|data) (?:have been|are|were) encrypted|(?:write|leave|drop|create|put)\\w{0,3}[^\\n]{0,40}ransom (?:note|demand)|(?:for|find)\\b[^\\n]{0,120}(?:~|\\$home|/home|documents)[^\\n]{0,120}(?:openssl enc|gpg (?:-c|--symmetric|-e)|7z a -p|zip -p)[^\\n]{0,120}(?:rm|shred|-delete|-sdel|unlink))',
    { trade: TRADE },
  ],
  [
    'flooding',
    'high',
    'slowloris hping3 loic ddos flood',
    '\\b(?:slowloris|hping3 [^\\n]{0,60}--flood|loic|goldeneye|(?:d?dos|denial[- ]of[- ]service|flood)\\b[^.!?]{0,60}\\b(?:target|victim|server|site|host|endpoint|competitor))\\b|while (?:true|:)[^\\n]{0,60}(?:curl|wget)[^\\n]{0,80}(?:&\\s?done|>/dev/null &)',
    {
      trade: TRADE,
      kinds: ['code', 'prose', 'comment'],
      unless: /protect|prevent|mitigat|rate limit|avoid|risk|attack vector|redos/,
    },
  ],
]);
