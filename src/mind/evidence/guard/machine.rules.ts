// Owns the rules for what a text can do to this machine and to the agent on it. Data; knows no file. Critical alone, since no innocent
// reading exists: whole trees, disks and snapshots deleted; a shell or a hidden copy made root for all; a clock, a Git hook or a hook of
// the agent that runs what a far host says.
import { FAR, type Rule, rules, SHELL, STORE } from './rule.ts';

/** What makes up the agent itself, ours or another. */
const OWN =
  '(?:soul\\.md|memory\\.md|user\\.md|identity\\.md|heartbeat\\.md|\\.claude/(?:settings[\\w.]{0,8}\\.json|claude\\.md|hooks)|\\.claude\\.json|claude_desktop_config\\.json|\\.cursor/(?:mcp\\.json|rules)|\\.cursorrules|\\.(?:openclaw|clawdbot|moltbot|talaria|hermes)/[\\w./-]{1,60}|\\.codex/(?:config\\.toml|agents\\.md)|\\.gemini/settings\\.json|\\.windsurf\\w{0,6}|exec-approvals\\.json)';
const AGENT_TRADE =
  'claude|cursor|codex|agent|\\bmcp\\b|openclaw|memory|hook|settings|permission|onboard|persona|skill';
const LINES = '(?:curl|wget|nohup|disown|setsid|base64|/tmp/|python3? |node |\\.\\w[\\w/.-]{0,40}|&\\s?\\))';
const CLOCK =
  'cron|schedul|recurring|periodic|daemon|service|launchd|systemd|background|reminder|heartbeat|backup|monitor|automat|deploy|server';
const RC = '\\.?(?:bashrc|zshrc|bash_profile|zprofile|zshenv|zlogin|bash_aliases|profile|config/fish/config\\.fish)';

const settings = () => rules('settings')`
  own-files       high     any soul,memory,user,identity,heartbeat,claude,claude_desktop_config,cursor,cursorrules,openclaw,clawdbot,moltbot,talaria,hermes,codex,gemini,exec   (?:>{1,2}|\btee (?:-a )?|\bsed -i[^\n]{0,80}|\bmv [^\n]{1,40}|\bcp [^\n]{1,60}|\bwrite\w{0,12}\([^\n]{0,60}|\bappend\w{0,12}\([^\n]{0,60}|\bln -\w{1,3} [^\n]{0,60})\s?["'$\w{}/~.-]{0,40}${OWN}|\bopen\([^\n]{0,80}${OWN}["'],\s?["'][wa]  ~~ ${AGENT_TRADE}
  own-files-code  high     code  claude,cursor,openclaw,talaria,hermes,codex,mcpservers,settings,hooks   ${OWN}[^]{0,400}?(?:writefile|write_text|json\.dump|\.write\(|appendfile)  ~~ ${AGENT_TRADE}
  own-words       high     words soul,memory,agents,claude,user,identity,cursorrules    \b(?:add|append|insert|write|put|save|store|record|copy|edit|note)\b[^\n]{0,120}(?:soul\.md|\bmemory\.md|user\.md|~/\.claude/claude\.md|\.claude/claude\.md|identity\.md|\.cursorrules)[^\n]{0,200}(?:"|:|\bthat\b|never|always|every|stay)|\b(?:add|append|insert|write|put|copy)\b[^\n]{0,80}\b(?:agents|claude)\.md\b[^\n]{0,240}(?:\bnever ask|permanent|every (?:future |other |later |new )?(?:session|project)|all (?:future )?sessions|for good|must stay|so that (?:every|it))  ~~ ${AGENT_TRADE}
  gates-off       high     any   bypasspermissions,dangerouslyskippermissions,defaultmode,approvals,yolo,approval,permission,permissions,confirmations,dangerously,sandbox,confirm,bash,trusted,scanner,guard   bypasspermissions|dangerously-?skip-?permissions|dangerously-bypass|"allow"\s?:\s?\[[^\]\n]{0,60}"?bash\(\*|\b(?:exec\.)?approvals?(?:\.\w{2,12})?["':= ]{1,4}(?:off|never|none|false|yolo)\b|\b(?:disable|turn off|switch off|bypass|remove|skip|lift|loosen)\b[^\n.]{0,40}\b(?:approval (?:prompts?|gates?|rules?)|approvals|permission (?:checks?|prompts?)|the sandbox|sandbox off|(?:the |skill )?(?:scanner|guard) for|safety checks)|\b(?:approvals?|confirmations?|permission (?:prompts?|checks?)|sandbox) (?:(?:are|is|be|stays?|remains?|turned|switched|set|to) ){1,3}(?:off|disabled|skipped)\b|\bmark\b[^\n.]{0,40}\btrusted\b[^\n]{0,60}\b(?:skip|scanner|registry)|\bpre-?approved\b[^\n]{0,60}\b(?:skip|review|command)  ~~ claude|codex|permission|headless|\bci\b|sandbox|agent|automation
  hook-runs       critical any   pretooluse,posttooluse,sessionstart,userpromptsubmit,stop,notification   "(?:pretooluse|posttooluse|sessionstart|userpromptsubmit|stop|notification)"[^]{0,240}?"command"\s?:\s?"[^"\n]{0,120}(?:${FAR}|\|\s?${SHELL})
  own-identity    high     words persona,identity,memory,memories,instructions  \b(?:update|change|rewrite|replace|overwrite)\b[^\n.]{0,30}\byour (?:own [^\n.]{0,40}\b(?:memory|memories)|[^\n.]{0,30}\b(?:persona|identity|system prompt|personality|core rules))\b
  spreads         high     words skills,agents,skill   \b(?:copy|insert|write|add|spread|put)\b[^\n.]{0,60}\b(?:all|every|each|other)\b[^\n.]{0,30}\b(?:installed )?(?:skills|agents|repositor(?:y|ies))\b
`;

const persistence = () => rules('persistence')`
  clock-far       critical any   crontab,cron,reboot,hourly,daily   (?:@(?:reboot|hourly|daily)|(?:[\d*/,-]{1,8}\s){5})[^\n]{0,160}(?:\b(?:curl|wget)\b[^\n]{0,150}(?:\|\s?${SHELL}|${FAR})|base64 -d|/dev/tcp)
  clock           high     any   crontab,cron,at   \|\s?(?:sudo )?crontab(?: -u \S{1,20})?(?: -|["'\x60\s]|$)|\bcrontab (?:/tmp/|<\(|<<)|(?:>{1,2}|tee (?:-a )?|cp [^\n]{1,60})\s?/(?:etc/cron|var/spool/cron)  !! certbot|renew|logrotate|pg_dump|restic ~~ ${CLOCK}
  login           high     any   launchctl,launchagents,launchdaemons,runatload,login,autostart,systemd,systemctl,startup,init,rc   (?:>{1,2}|tee|cp|mv|cat >)[^\n]{0,60}(?:library/launch(?:agents|daemons)/|\.config/systemd/user/|\.config/autostart/|/etc/init\.d/|/etc/rc\.local)|plist=[^\n]{0,60}launchagents|launchctl (?:load|bootstrap|submit)|<key>runatload|make login item|systemctl --user enable|execstart=[^\n]{0,120}(?:curl|wget|base64|/tmp/|${SHELL} -c)  ~~ ${CLOCK}
  windows-login   high     any   schtasks,reg,currentversion,scheduledtask,startup,winlogon,register   schtasks(?:\.exe)? /create|\\currentversion\\+run|register-scheduledtask|shell:startup|programs\\+startup|winlogon\\+shell  ~~ ${CLOCK}
  shell-start     high     any   bashrc,zshrc,bash_profile,zprofile,zshenv,zlogin,bash_aliases,profile   (?:>>|tee -a|sed -i[^\n]{0,40})\s?["']?(?:~|\$home|\$\{home\}|/root|/home/\S{1,20})/${RC}  !! export \w{2,50}=|path=|completion|eval ["'$\\(]{1,4}\S{1,40} |\b(?:init|hook|shellenv|activate|generate-shell-completion)\b|alias (?:ll|la|k|g|gs|vim)=|source [^\n]{0,60}(?:nvm|completion|env)|cargo/env|source ~ ~~ dotfile|shell|zsh|bash|terminal|alias|version manager|environment
  shell-start-runs high    any   bashrc,zshrc,bash_profile,zprofile,zshenv,zlogin,profile   ${LINES}[^\n]{0,160}>>\s?["']?(?:~|\$home|\$\{home\})/${RC}  !! export|path=|completion|nvm|env["']|shellenv
  shell-start-words high   words bashrc,zshrc,profile,bash_profile,zprofile,startup   \b(?:append|add|insert|put|place)\b[^\n]{0,100}${RC}\b[^\n]{0,160}\b(?:curl|wget|every (?:new )?(?:shell|terminal|session)|stays?|background|quietly|silently|which (?:starts?|runs?)|that (?:starts?|runs?))\b  !! export|api[_ ]key|path\b
  shell-start-it  medium   words bashrc,zshrc,profile,bash_profile,zprofile,startup   \b(?:append|add|insert|put|place|copy|write)\b (?:it|this|that|them|the (?:same )?(?:line|command|call|script))\b[^\n.]{0,40}${RC}\b(?![^]{0,160}\b(?:export|alias|completions?|source|eval|path)\b)
  tool-replaced   high     any   alias,preload,preload64,function,hooks,hookspath,githooks   \balias (?:sudo|ssh|git|ls|cd|curl|npm|pip|python3?|su|gpg|kubectl)=["'][^"'\n]{0,160}(?:curl|wget|tee|/tmp/|base64|\.\w+/|python|;|&&)|ld\.so\.preload|ld_preload=[^\n]{0,60}\.so|dyld_insert_libraries=|\bcore\.hookspath\b
  git-hook        high     any   hooks,post,pre,commit,checkout   (?:>{1,2}|\bcp [^\n]{1,60}|\btee |\bln -\w{1,3} [^\n]{1,60}|\bmv [^\n]{1,40})\s?["']?[^\n]{0,60}\.git/hooks/(?:pre|post|commit|update|applypatch|prepare)  ~~ hook|git|commit|lint|husky|\bci\b
  git-hook-far    critical any   hooks   (?:curl|wget|base64|/dev/tcp)[^\n]{0,160}>{1,2}\s?\S{0,40}\.git/hooks/
  login-keys      high     any   authorized_keys   (?:>>?|tee -a|append\w{0,6}|\badd|\bput|\bwrite\w{0,6}|\bopen\()[^\n]{0,60}authorized_keys  !! ssh-copy-id|ssh \S{1,40}@|\b(?:remote|server|vps|bastion)\b ~~ \bssh\b|server|provision|vps|homelab|deploy|ansible
  given-key       high     any   authorized_keys   \becho [^\n]{0,20}ssh-(?:rsa|ed25519|dss) aaaa[^\n]{0,600}authorized_keys
  stays           high     words boot,login,reboot,restart,uninstalled,removal,deletes,restarts,background,reboots,startup,cron   \b(?:starts?|runs?|launch\w{0,2}|keeps? \w{0,8}running|put (?:them|it) back|reinstall|restore|survive|remains?|persist)\b[^\n]{0,100}\b(?:every (?:boot|login|restart)|at (?:boot|login)|even (?:if|after|when) the user|uninstall\w{0,3}|(?:the )?removal of (?:this|the) skill|deletes? (?:it|the helper|this))\b  ~~ ${CLOCK}
  in-background   high     words silently,quietly,background,session   \b(?:silently|quietly|secretly|unnoticed|in the background)\b[^\n.]{0,80}\b(?:each|every|start of|beginning of)\b[^\n.]{0,20}\b(?:sessions?|turns?|conversations?)
`;

const privilege = () => rules('privilege')`
  sudo-rules      high     any   nopasswd,sudoers,visudo,chpasswd,useradd,localgroup,setcap   nopasswd|(?:>{1,2}|tee (?:-a )?)\s?\S{0,8}/etc/(?:sudoers|passwd|shadow)|\buseradd\b[^\n]{0,40}-u ?0|\bchpasswd\b|net (?:user \S{1,30} \S{1,30} /add|localgroup administrators)|\bsetcap [^\n]{0,40}cap_setuid|\bdseditgroup -o edit  ~~ server|provision|ansible|raspberry|\bvm\b|user management|linux admin
  set-uid         critical any   chmod,install   \bchmod [^\n]{0,12}(?:u\+s|\+s|[46][0-7]{3})\b[^\n]{0,40}(?:sh\b|bash|/tmp|python|\.\w{1,3}\b)|\binstall -m ?0?[46]\d{3}\b
  host-mount      high     any   privileged,chroot,nsenter,docker   docker run[^\n]{0,120}(?:/var/run/docker\.sock|--privileged[^\n]{0,60}-v ?/:|-v ?/:/|--pid=host[^\n]{0,40}--privileged)|\bnsenter [^\n]{0,20}-t ?1\b|chroot /host  ~~ kubernetes|node debug|docker
  wide-open       high     any   chmod,chown   \bchmod (?:-\w{1,3} )?(?:0?777|a\+rwx) [^\n]{0,6}(?:/(?:\s|$|\*)|/(?:etc|usr|var|bin|home|opt)(?:/?(?:\s|$|\*))|~/?(?:\s|$))|\bchown -\w{0,2}r\w? [^\n]{0,30} /(?:etc|usr|\s|$)
  as-root         high     words root,sudoers,administrator,admin   \b(?:gain|get|obtain|become|escalate to)\b[^\n.]{0,20}\broot\b|\badd (?:yourself|the agent)\b[^\n.]{0,20}\b(?:sudoers|administrators?|admin)\b|\brun (?:the )?agent as root\b|echo [^\n|]{1,30}\|\s?sudo -s
  piped-password  high     any   sudo   \becho [^\n|]{1,40}\|\s?sudo -\w{0,2}s\b
`;

const walls = () => rules('shields')`
  walls-down      high     any   setenforce,ufw,auditd,tcc,apparmor,iptables,enablelua,csrutil,netsh   setenforce 0|ufw disable|systemctl (?:stop|disable)[^\n]{0,20}(?:auditd|apparmor|firewalld)|com\.apple\.tcc|iptables -f\b|enablelua[^\n]{0,40}0|advfirewall set \w{1,12} state off  ~~ firewall|selinux|hardening
`;

const destructive = () => rules('destructive')`
  all-files       critical any   rm,find,rmtree,rimraf,remove,del,rd,rmsync,item,unlink,srm,rmdir   \brm (?:-\w{1,6} |--\S{1,20} ){1,4}["']?(?:/(?:\*|["'\x60]|\s|$|;)|~/?(?:\*|["'\x60]|\s|$|;)|\$\{?home\}?["']?/?(?:\*|["'\x60]|\s|$|;)|/(?:home|users|etc|usr|boot|bin|lib|var|root)/?(?:\*|["'\x60]|\s|$|;))|--no-preserve-root|\bfind ["']?(?:/|~|\$home|\$\{home\}|/home|/users)["']?/? [^\n]{0,120}(?:-delete|-exec (?:rm|shred))|\b(?:del|erase|rd|rmdir)\b[^\n]{0,20}/s[^\n]{0,20}(?:c:\\(?:\s|["']|$|users|windows)|%userprofile%|\*\.\*)|remove-item[^\n]{0,60}c:\\(?:users|windows|\*|\s|$)|(?:\$env:userprofile|\$home|%userprofile%|c:\\)[^\n]{0,60}\|\s?remove-item|(?:rmtree|rimraf|rmsync|rm)\(\s?(?:os\.path\.expanduser\(["']~["']\)|["']/["']|pathlib\.path\.home\(\)|path\.home\(\)|os\.homedir\(\))\s?[,)]  !! apt/lists
  wiped           critical any   mkfs,dd,shred,wipefs,diskutil,format,vssadmin,cipher,blkdiscard,wbadmin,bcdedit   \bmkfs\S{0,6} [^\n]{0,30}/dev/(?:sd|nvme|vd|disk)|\bdd\b[^\n]{0,60}of=/dev/(?:sd|nvme|vd|xvd|disk|mmcblk)|>\s?/dev/(?:sd[a-z]|nvme\d|disk\d)\b|\bwipefs -a|blkdiscard|\bshred\b[^\n]{0,40}(?:/dev/|~|\$home)|diskutil (?:erasedisk|zerodisk)|vssadmin delete shadows|wbadmin delete|\bcipher /w:c  ~~ disk|partition|usb|sd ?card|raspberry|flash|image writer|format|forensic|nixos|arch|bootable|storage
  bomb            critical any   *   :\s?\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}\s?;\s?:|%0\|%0
  tracks          high     any   history,histfile,bash_history,zsh_history,wevtutil,truncate,logs   \bhistory -c\b|unset histfile|histfile=/dev/null|(?:rm|shred|truncate|>)\s?(?:-\S{1,5}\s)*["']?(?:~|\$home|/root)?/?\.(?:bash|zsh)_history|wevtutil (?:cl|clear-log)|clear-eventlog|(?:rm|truncate|shred|>) [^\n]{0,30}/var/log/(?:auth|secure|syslog|wtmp)  ~~ forensic|privacy|history|log
  standing-delete high     words delete,remove,wipe,erase,purge,deletes   \b(?:delete|remove|wipe|erase|purge)\b[^\n.]{0,30}\b(?:all|every|any) (?:of the |the )?(?:other|older|previous|user'?s?|original)[^\n.]{0,40}\b(?:files?|versions?|copies|documents?|backups?|e-?mails|rows)\b|\b(?:delete|remove|wipe)\b[^\n.]{0,80}\bwithout asking\b  !! temp|cache|generated|merged|build|after (?:the user|confirm) ~~ clean|dedup|retention|archiv|migrat|refactor
  locked          high     words lock,encrypt,password,protect   \b(?:lock|encrypt|protect)\b[^\n.]{0,60}\b(?:password|passphrase)\b[^\n]{0,12}["'\x60][\w!@#$%^&*.-]{4,40}["'\x60][^\n]{0,120}\b(?:remove|delete|discard|erase)\b
`;

const traversal = () => rules('traversal')`
  climbs          high     any etc,root,home,windows,proc,ssh,aws,env,users,var,file,fetc,2f,2f2e,2e,f,e,fetc2fshadow   (?:\.\.[/\\]{1,2}){3,}(?:etc|root|home|windows|proc|\.ssh|\.aws|\.env|users|var)\b|(?:\.\.%2f){2,}|(?:%2e%2e[/%]){2,}|file:///(?:etc|home|users|root|c:)  ~~ test|fuzz
  system-file     high     any   passwd,shadow,sam,hosts,proc,environ   (?:cat|open\(|read\w{0,8}\(|less|cp|type|get-content)[^\n]{0,60}(?:/etc/(?:passwd|shadow|sudoers)|/proc/(?:1|self)/environ|config\\sam)|(?:>{1,2}|tee (?:-a )?)\s?["']?(?:/etc/hosts|c:\\windows\\system32\\drivers\\etc)  ~~ hosts|dns|server|linux
  link-out        high     any   ln,symlink,mklink   \bln -\w{1,4} ["']?(?:/(?=\s)|~/?(?=\s)|\$home/?(?=\s)|/(?:etc|home|root|users)\b|[~/\w$]{0,12}${STORE})[^\n]{0,60}|os\.symlink\(["']/(?:etc|home|["'])  ~~ dotfile
  unpack-out      high     any   tar,extractall,unzip,extract,zipfile,tarfile,zip   \btar [^\n]{0,80}(?:--absolute-names|-\w{0,3}p\b[^\n]{0,20} -c /(?:\s|$))|\btar [^\n]{0,80} -c /(?:\s|$|\n)|extractall\(["']/["']\)|fully_trusted|filter=none
  named-by-others high     code  filename,join,save,createwritestream,params,query,getparameter,_get,readfile,send_file,infolist,s_islnk,request,req,form,views,zip,tar,manifest   (?:path\.join|filepath\.join|file\.join|os\.path\.join|paths\.get|createwritestream|send_file|readfile\w{0,4}|file\.read|(?<!\w)open|require|include|os\.create|sendfile|\.save)\s?\(?[^\n]{0,80}(?:(?:req|request|q)\.(?:args|query|params?|form|getparameter)|\$_get|params\[|\.filename\b|\.name\b\s?\)|\+ ?(?:params|name|f\.name)\b|p\["filename"\]|i\.filename)|(?:\$_get|\bgetparameter\()[^]{0,160}?(?:require|include|paths\.get)|s_islnk|curl[^\n]{0,60}/\$name["'\s][^\n]{0,40}-o  !! basename|secure_filename|safe|resolve\(\)|sanitiz|slug|relative_to|realpath|clean\(|path\(__file__|entry\.name|path\.name
  wanders         high     words parent,outside,directory,filesystem,folder,disk,file,absolute   \b(?:every|all|each) parent (?:director|folder)|\boutside (?:of )?(?:the|this) (?:workspace|vault|project|folder|repository)\b[^\n]{0,100}\b(?:read|copy|search|collect|find|too)\b|\b(?:read|search|copy|collect)\b[^\n.]{0,100}\b(?:outside (?:of )?the|(?:whole|entire) (?:file ?system|disk|home))\b|\babsolute or with\b|\bany path as it stands  !! \bnever|\bnot\b
`;

/** Made anew at each call. */
export function machineRules(): readonly Rule[] {
  return [settings, persistence, privilege, walls, destructive, traversal].flatMap((make) => make());
}
