// Owns the rules against taking more rights than were given: sudo without a password, set-user-id bits, guards switched off, hosts entered from containers.
// Knows no system. `sudo apt install`, `chmod +x` and joining the docker group are ordinary and pass.
import { type Rule, ruleRows } from '../rule.ts';

const ADMIN =
  /sysadmin|administrat|server|harden|provision|ansible|devops|homelab|proxmox|linux|kubernetes|docker|container|pen-?test|red[- ]?team|ctf|privilege|security|selinux|firewall|sandbox|vps/;

export const PRIVILEGE_RULES: readonly Rule[] = ruleRows('privilege_escalation', [
  [
    'sudo-without-password',
    'critical',
    'nopasswd sudoers visudo',
    '(?:nopasswd\\s?:\\s?(?:all|/bin/(?:ba)?sh|/usr/bin/(?:python|env|vim|find))|(?:>>|>|tee(?: -a)?|echo[^\\n]{0,120}>>?)\\s?["\']?/etc/sudoers|\\b(?:add|append|write|grant|give|create|put|edit|modify|update)\\b[^.!?\\n]{0,80}\\b(?:sudoers|passwordless sudo|nopasswd)|editor=["\']?tee[^\\n]{0,20}visudo)',
    { trade: ADMIN },
  ],
  [
    'set-user-id',
    'critical',
    'chmod setcap install setuid chown',
    '(?:\\bchmod\\b[^\\n]{0,20}(?:[ug]?\\+s|[ug]o?\\+\\w?s|[246][0-7]{3})\\s[^\\n]{0,80}(?:/bin/|/usr/|/tmp/|bash|sh\\b|python|find|vim|\\./|~|\\$)|\\bsetcap\\b[^\\n]{0,40}cap_(?:setuid|sys_admin|dac_override|sys_ptrace|all)|install -m ?[246][0-7]{3}|os\\.setuid\\(0\\)|setresuid\\(0|chown root[^\\n]{0,60}&&[^\\n]{0,20}chmod[^\\n]{0,10}\\+s)',
    { trade: ADMIN, unless: /chmod 2775|setgid (?:bit )?(?:on|for) (?:the )?(?:shared|group)/ },
  ],
  [
    'world-writable-system',
    'high',
    'chmod icacls chown takeown',
    '(?:\\bchmod (?:-\\w{1,3} )?(?:0?777|a\\+rwx|o\\+w)\\s+["\']?(?:/(?:\\s|$|etc|usr|var(?:\\s|$|/(?!www))|bin|home|root)|~/?(?:\\s|$|\\.ssh)|\\$home/?(?:\\s|$|\\.ssh)|\\*?\\.ssh)|icacls[^\\n]{0,60}c:\\\\(?:windows|users)[^\\n]{0,40}everyone:\\(?(?:oi|f)|takeown /f c:\\\\windows)',
  ],
  [
    'guards-off',
    'high',
    'setenforce selinux apparmor ufw iptables firewalld seccomp auditd aslr randomize_va_space uac enablelua ptrace_scope ptrace sysctl pfctl xprotect tcc tccutil kernel seccomp',
    '(?:\\bsetenforce 0|selinux=(?:disabled|permissive)|systemctl (?:stop|disable)[^\\n]{0,30}(?:apparmor|firewalld|ufw|auditd|fail2ban|crowdsec|falcon|clamav|osquery)|\\bufw disable|iptables (?:-f|--flush)\\b|aa-(?:teardown|disable)|kernel\\.(?:yama\\.ptrace_scope|randomize_va_space)\\s?=\\s?0|seccomp[=:]unconfined|enablelua[^\\n]{0,20}(?:/d )?0|consentpromptbehavioradmin[^\\n]{0,20}0)',
    { trade: ADMIN },
  ],
  ['consent-database', 'high', 'tcc tccutil', 'tcc\\.db|tccutil reset'],
  [
    'new-admin',
    'high',
    'useradd adduser net usermod dscl localgroup sysadminctl dseditgroup wheel root',
    '(?:net (?:user|localgroup)[^\\n]{0,60}/add|(?:useradd|adduser)\\b[^\\n]{0,80}(?:-o -u 0|-u 0\\b|--uid 0|-g (?:0|root|sudo|wheel)\\b)|usermod\\b[^\\n]{0,40}-\\w{0,2}g\\w? ?(?:sudo|wheel|root|admin)\\b|dscl[^\\n]{0,60}-append /groups/admin|dseditgroup[^\\n]{0,40}admin|sysadminctl -adduser[^\\n]{0,60}-admin|echo[^\\n]{0,80}:0:0:[^\\n]{0,60}/etc/passwd|chpasswd|passwd --stdin)',
    { trade: ADMIN },
  ],
  [
    'out-of-container',
    'high',
    'nsenter docker podman chroot unshare release_agent kubectl runc privileged hostpid hostpath',
    '(?:nsenter[^\\n]{0,60}(?:-t|--target) ?1\\b|\\b(?:docker|podman) run\\b[^\\n]{0,200}(?:-v|--volume|--mount)[ =]?["\']?(?:type=bind,[^\\n]{0,20}source=/,|/:/)[^\\n]{0,160}|chroot /(?:host|mnt|rootfs)\\b|release_agent|hostpid["\']?\\s?:\\s?true|path["\']?\\s?:\\s?["\']?/["\']?\\s?(?:$|,|\\})[^\\n]{0,20}hostpath|docker\\.sock[^\\n]{0,80}(?:containers/create|privileged))',
    { trade: ADMIN },
  ],
  [
    'uac-bypass',
    'high',
    'fodhelper eventvwr computerdefaults runas verb psexec',
    '(?:fodhelper|eventvwr\\.exe[^\\n]{0,60}(?:mscfile|hkcu)|computerdefaults|ms-settings\\\\+shell\\\\+open|start-process[^\\n]{0,120}-verb\\s?["\']?runas[^\\n]{0,120}(?:hidden|iex|iwr|encoded)|psexec[^\\n]{0,40}-s\\b)',
    { trade: ADMIN },
  ],
  [
    'sudo-password-piped',
    'high',
    'sudo askpass',
    '(?:(?:echo|printf)[^\\n|]{0,80}\\|\\s?sudo\\s(?:-\\w{1,3}\\s)*-?\\w{0,3}s\\b|sudo -s <<<|sudo_askpass)',
    { trade: /ssh|remote|ansible|server|test/, unless: /sudo tee|sudo sh -c/ },
  ],
  [
    'sudo-order',
    'high',
    'root sudo administrator elevated privileges superuser',
    '\\b(?:obtain|gain|acquire|escalate to|elevate to|get|seize|use any (?:available )?(?:exploit|means) to (?:get|become))\\b[^.!?]{0,30}\\b(?:root|administrator|admin|superuser|elevated|system)(?:-level)? (?:access|privileges?|rights|permissions?|shell)\\b|\\b(?:run|start|keep|execute) (?:the (?:agent|gateway|assistant)|itself|everything|all (?:commands|tools)|every command) (?:as|with) (?:root|sudo|administrator|elevated)',
    { kinds: ['prose', 'comment', 'header'], trade: ADMIN },
  ],
  [
    'local-exploit',
    'high',
    'linpeas pwnkit dirtycow dirtypipe cve linenum winpeas pkexec gtfobins juicypotato printspoofer',
    '\\b(?:linpeas|winpeas|pwnkit|dirty ?(?:cow|pipe)|linenum|juicypotato|printspoofer|gtfobins|sudo -l[^\\n]{0,60}(?:exploit|escalat))\\b',
    { trade: ADMIN, kinds: ['code', 'prose'] },
  ],
]);
