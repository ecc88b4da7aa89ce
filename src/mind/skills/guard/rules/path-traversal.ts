// Owns the rules against leaving the folder: climbing paths, links out of it, archives unpacked over the system. Knows no file.
// Relative links between files of a repository are ordinary and pass.
import { type Rule, ruleRows } from './rule.ts';

const TARGET =
  '(?:etc|root|home|users|var|proc|sys|dev|usr|bin|boot|opt|private|library|windows|winnt|programdata|system32|\\.ssh|\\.aws|\\.gnupg|\\.config|\\.kube|\\.env\\b|\\.npmrc|\\.bash\\w{0,8}|\\.zsh\\w{0,5}|\\.profile|\\.netrc|\\.openclaw|\\.clawdbot|\\.hermes|\\.talaria|\\.claude(?:\\.json|/settings|/\\.cred)|secrets?|credentials?|id_rsa|shadow|passwd|authorized_keys|soul\\.md|memory\\.md|auth\\.json|config\\.json|wp-config|web\\.config)';

export const PATH_TRAVERSAL_RULES: readonly Rule[] = ruleRows('path_traversal', [
  [
    'climbs-to-system',
    'high',
    'etc root home users var proc sys dev usr bin boot opt private library windows winnt programdata system32 ssh aws gnupg config kube env npmrc bash bashrc zshrc profile netrc openclaw clawdbot hermes talaria claude secret secrets credential credentials id shadow passwd authorized soul memory auth wp web bash_history bash_profile zsh',
    `(?:\\.\\.[/\\\\]){2,40}(?:[\\w.-]{1,30}[/\\\\]){0,4}${TARGET}(?![\\w-])`,
    {
      trade: /safe|traversal|zip.?slip|sanitiz|uploads?|valid|secur|test/,
      unless: /\]\([^)]*\.md\)|^import |from ["']|require\(|\.\.\/(?:[\w-]+\/)*config\.(?:ts|js|json)|@import/,
    },
  ],
  [
    'climbs-far',
    'high',
    'etc home join open read cat path file write cp mv include src href load url output target dest',
    '(?:\\.\\.[/\\\\]){6,60}(?!\\w[\\w/-]*\\.(?:md|ts|js|tsx)["\')])',
    { unless: /\]\([^)]*\)|^import |from ["']|require\(/ },
  ],
  [
    'encoded-climb',
    'high',
    '=%2e =%2f =%5c =%c0 =%252e',
    '(?:%2e%2e(?:%2f|%5c|/|\\\\)|\\.\\.%2f|\\.\\.%5c|%252e%252e|%c0%ae|\\.\\.%c0%af|%2e%2e/)',
    { trade: /safe|traversal|zip.?slip|sanitiz|uploads?|valid|secur|test|url|encod/ },
  ],
  ['doubled-climb', 'high', 'etc passwd root home var windows env ssh', '(?:\\.{4}[/\\\\]{2}){2,}|(?:\\.\\.;/){2,}'],
  [
    'file-url',
    'high',
    'file',
    'file:/{2,3}(?:etc|root|proc|home/[^\\s]{1,30}/\\.|users/[^\\s]{1,30}/\\.|~/\\.|c:/windows|c:/users|var/(?:log|lib))',
  ],
  [
    'process-secrets',
    'high',
    'proc',
    '/proc/(?:self|\\d{1,6}|\\*|1|\\$\\w{1,10}|\\$\\{\\w{1,10}\\})/(?:environ|cmdline|mem|maps|root|cwd|fd)\\b',
    { trade: /debug|profil|perf|forensic|kernel|linux|container|docker|kubernetes|ebpf|memory|crash/ },
  ],
  [
    'reads-accounts',
    'high',
    'passwd shadow master sam hosts',
    '\\b(?:cat|less|more|head|tail|read|open|cp|get|grep|awk|readfile\\w{0,4}|strings|nano|view|include|fetch|show|print|dump)\\b[^\\n]{0,60}?/etc/(?:passwd|shadow|master\\.passwd|sudoers|gshadow|ssl/private)',
    { facts: ['secret'], unless: /getent|useradd|dockerfile|\brun (?:echo|grep)/ },
  ],
  [
    'links-out',
    'high',
    'ln symlink mklink symlinksync symlink_to junction',
    `(?:\\bln -\\w{0,4}s\\w{0,4}f?\\s+["']?(?:/(?:\\s|["']|$)|/etc|/root|/home(?:/\\S{1,30})?(?:\\s|$)|/users(?:\\s|$)|/proc|/var|~/?["']?\\s|\\$home/?["']?\\s|(?:~|\\$home)/\\.(?:ssh|aws|gnupg|config|env|kube|netrc|openclaw|clawdbot|claude|hermes))|(?:os\\.symlink|symlink(?:sync|_to)?)\\(\\s?["'\`](?:/(?:etc|root|home|proc)?["'\`/]|~|\\.\\./\\.\\.)|\\bmklink\\b[^\\n]{0,60}c:\\\\(?:users|windows))`,
    {
      unless:
        /systemd|nginx|sites-(?:available|enabled)|localtime|alternatives|dotfiles|\/usr\/local\/bin|update-|resolv\.conf|ssl\/certs|stow/,
    },
  ],
  [
    'unpacks-over-system',
    'high',
    'tar unzip extractall 7z cpio expand bsdtar',
    '(?:\\btar\\b[^\\n|]{0,80}(?:-c ?|--directory[= ])["\']?(?:/(?:\\s|["\']|$)|/etc|/root(?![/\\w])|~/?(?:\\s|["\']|$)|\\$home/?(?:\\s|["\']|$))|\\btar\\b[^\\n]{0,60}(?:--absolute-names|\\s-\\w{0,4}p\\w{0,3}\\s[^\\n]{0,30}--absolute)|\\bunzip\\b[^\\n|]{0,80}-d ["\']?(?:/(?:\\s|["\']|$)|/etc|~/?(?:\\s|["\']|$)|\\$home/?(?:\\s|["\']|$)|~/\\.(?:ssh|config|claude|openclaw|hermes))|\\bunzip -:\\s|extractall\\(\\s?["\'](?:/|~|/etc)["\']|\\bcpio -\\w{0,4}i\\w{0,4}[^\\n]{0,20}--absolute)',
    { unless: /apt|docker|rootfs|backup|restore|\/usr\/local/ },
  ],
  [
    'leaves-by-order',
    'high',
    'outside beyond above parent parents upward upwards root climb traverse ascend filesystem ancestors enclosing',
    "\\b(?:read|open|list|walk|traverse|climb|ascend|explore|search|scan|enumerate|collect|copy|include|access|browse|look|load|go up|move up|step up|crawl|index|fetch|check)\\b[^.!?]{0,80}\\b(?:outside(?: of)? (?:the|this|its|your) (?:workspace|project|skill|sandbox|working|allowed|repo\\w{0,7}|skill'?s?)|(?:every|all|each) parent (?:folder|director)|(?:parent|enclosing|ancestor) (?:folders?|director(?:y|ies))[^.!?]{0,60}(?:until|up to|till|as far as|all the way)[^.!?]{0,40}(?:root|home|file ?system|\\.ssh|/)|above the (?:workspace|project|skill|working) (?:folder|directory|root)|beyond the (?:workspace|project|skill|sandbox) (?:folder|directory|root|boundar\\w{1,3})|(?:whole|entire) (?:file ?system|disk|home (?:folder|directory)))",
    {
      kinds: ['prose', 'comment', 'header'],
      unless: /git root|repository root|nearest|package\.json|\.git\b|monorepo|pyproject/,
    },
  ],
  [
    'unchecked-join',
    'high',
    'open join readfile readfilesync sendfile writefile resolve path read write',
    '(?:open|readfile(?:sync)?|writefile(?:sync)?|sendfile|createreadstream)\\s?\\(\\s?(?:os\\.path\\.join\\(|path\\.join\\(|path\\.resolve\\(|f?["\'`][^"\'`\\n]{0,60}(?:/|\\{|\\$\\{)|base\\w{0,8}\\s?\\+\\s?)[^\\n)]{0,60}\\b(?:user_?(?:path|input|file\\w{0,4}|supplied\\w{0,6})|request\\.\\w{1,20}|req\\.(?:query|params|body)\\.?\\w{0,20}|untrusted\\w{0,8})',
  ],
  [
    'writes-to-system',
    'high',
    'etc usr system32 boot library windows hosts',
    '(?:>{1,2}|\\btee(?: -a)?|\\bcp\\b[^\\n]{1,60}|\\bmv\\b[^\\n]{1,60}|\\binstall\\b[^\\n]{1,60}|open\\()\\s?["\']?(?:/etc/(?:hosts|passwd|shadow|sudoers\\S{0,20}|ld\\.so\\.preload|pam\\.d\\S{0,20}|profile(?:\\.d/\\S{0,30})?|environment|resolv\\.conf|ssh/sshd_config|bash\\.bashrc|zshenv|rc\\.local|cron\\S{0,30}|systemd/\\S{0,40})|/usr/(?:local/)?s?bin/(?:sudo|ls|ssh|git|ps|curl|python3?|node|npm)\\b|/boot/|c:\\\\windows\\\\system32)',
    {
      trade:
        /sysadmin|devops|ansible|provision|server|linux|network|dns|host|kubernetes|k8s|docker|install|systemd|cron|homelab|proxmox|nginx|wireguard|pi-?hole|raspberry|vpn|ssh|deploy/,
    },
  ],
]);
