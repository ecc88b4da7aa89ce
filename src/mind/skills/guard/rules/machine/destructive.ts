// Owns the rules against destroying: whole trees, disks, history, traces, the owner's files by a standing order. Knows no folder.
// Removing what the skill itself made is ordinary and passes.
import { type Rule, ruleRows } from '../rule.ts';

export const DESTRUCTIVE_RULES: readonly Rule[] = ruleRows('destructive', [
  [
    'removes-everything',
    'critical',
    'rm rmdir find del rd remove rimraf rmtree rmsync unlink srm',
    '(?:\\brm\\s+(?:-\\w{1,6}\\s+|--\\w[\\w-]{1,20}\\s+){1,4}["\']?(?:/(?:\\*|["\'`]|\\s|$|;|&|\\))|~/?(?:\\*|["\'`]|\\s|$|;|&|\\))|\\$\\{?home\\}?/?(?:\\*|["\'`]|\\s|$|;|&|\\))|/(?:home|users|etc|usr|boot|bin|sbin|lib|root|var|system|library)/?(?:\\*|["\'`]|\\s|$|;)|~/(?:documents|desktop|downloads|pictures|\\.ssh|library|projects|repos|code|work|dev)/?(?:\\*|["\'`]|\\s|$|;)|\\$\\{?home\\}?/(?:documents|desktop|downloads|pictures|\\.ssh|library|projects|code|work)/?(?:\\*|["\'`]|\\s|$|;))|--no-preserve-root|\\bfind (?:/|~/?|\\$home/?|/home|/users) [^\\n]{0,120}(?:-delete|-exec (?:rm|shred))|\\b(?:del|erase)\\b[^\\n]{0,30}/s[^\\n]{0,30}(?:c:\\\\|%userprofile%|%systemroot%|\\*\\.\\*)|\\b(?:rd|rmdir) /s[^\\n]{0,20}(?:c:\\\\(?:\\s|["\']|$|users|windows)|%userprofile%|%systemdrive%)|remove-item[^\\n]{0,60}(?:-recurse[^\\n]{0,60}(?:c:\\\\(?:\\s|["\'*]|$|users|windows)|\\$home(?:\\s|["\'*]|$)|\\$env:userprofile(?:\\s|["\'*\\\\]|$))|(?:c:\\\\(?:\\s|\\*|users|windows)|\\$home|\\$env:userprofile)["\'*\\\\]{0,3}\\s[^\\n]{0,30}-recurse)|(?:shutil\\.rmtree|rimraf(?:\\.sync)?|rmsync|fs\\.rm(?:sync|dir\\w{0,4})?)\\(\\s?(?:os\\.path\\.expanduser\\(\\s?)?(?:["\'](?:/|~/?|/home/?|/etc/?|c:\\\\{1,2})["\']|path\\.home\\(\\)\\s?[,)]|os\\.homedir\\(\\)\\s?[,)]))',
    { unless: /apt\/lists|--no-preserve-root["'`]?\s?(?:is|flag)/ },
  ],
  [
    'wipes-disk',
    'critical',
    'mkfs dd shred wipefs diskutil format diskpart cipher sgdisk blkdiscard',
    '(?:\\bmkfs(?:\\.\\w{2,6})?\\s[^\\n]{0,30}/dev/(?:sd|nvme|vd|xvd|mmcblk|disk)|\\bdd\\b[^\\n]{0,60}(?:if=/dev/(?:zero|u?random)[^\\n]{0,60}of=/dev/(?:sd|nvme|vd|xvd|disk|mmcblk|mapper)|of=/dev/(?:sda|nvme0n1|disk0|vda)\\b)|>\\s?/dev/(?:sd[a-z]|nvme\\d|disk\\d|vda)\\b|\\bwipefs -a|blkdiscard|\\bshred\\b[^\\n]{0,40}(?:/dev/|~|\\$home|/etc)|diskutil (?:erasedisk|erasevolume|zerodisk|secureerase)|\\bformat [c-z]: ?(?:/|$)|cipher /w:c|clear-disk\\b)',
    {
      trade:
        /disk|partition|usb|sd ?card|raspberry|flash|image writer|format|forensic|nixos|arch(?:linux)?|install linux|bootable|storage/,
    },
  ],
  [
    'fork-bomb',
    'critical',
    'fork while os true',
    ':\\s?\\(\\)\\s?\\{\\s?:\\s?\\|\\s?:\\s?&\\s?\\}\\s?;\\s?:|while true[^\\n]{0,20}fork\\(\\)|os\\.fork\\(\\)[^\\n]{0,20}while|%0\\|%0',
  ],
  ['fork-bomb-plain', 'critical', '=:(', ':\\s?\\(\\)\\s?\\{\\s?:\\s?\\|\\s?:\\s?&\\s?\\}\\s?;\\s?:'],
  [
    'removes-what-is-listed',
    'high',
    'rm xargs shred unlink',
    '\\b(?:rm|shred|unlink)\\b[^\\n|;]{0,30}\\$\\(\\s?(?:cat|find (?:\\.|~|/))|\\bfind (?:~|/|\\$home)[^\\n|]{0,120}\\|\\s?xargs[^\\n]{0,20}\\b(?:rm|shred)\\b',
    { unless: /\.pid|node_modules|\.tmp|cache|__pycache__/ },
  ],
  [
    'covers-tracks',
    'high',
    'history histfile bash_history zsh_history wevtutil journalctl logs auth log clear unset shred truncate histsize bash zsh',
    '(?:\\bhistory -(?:c|w|d)\\b|unset histfile|histfile=/dev/null|histsize=0|set \\+o history|(?:rm|shred|truncate|>|cat /dev/null >|ln -s\\w? /dev/null)\\s?(?:-\\w{1,5}\\s)*(?:\\d\\s)?["\']?(?:~|\\$home|/root|/home/\\S{1,20})?/?\\.(?:bash|zsh|python)_history|wevtutil (?:cl|clear-log)|clear-eventlog|remove-item[^\\n]{0,60}consolehost_history|journalctl --(?:vacuum-time=1s|rotate && )|(?:rm|truncate|shred|>)\\s[^\\n]{0,30}/var/log/(?:auth|secure|syslog|wtmp|btmp|lastlog|audit)|touch -[rtd][^\\n]{0,60}(?:/etc|/usr/bin|skill))',
    { trade: /forensic|incident|red[- ]?team|pen-?test|log rotation|disk clean|privacy|history/ },
  ],
  [
    'removes-own-traces',
    'high',
    'delete remove erase wipe shred unlink rm',
    '\\b(?:delete|remove|erase|wipe|shred|clear|clean up)\\b[^.!?(),]{0,60}\\b(?:(?:the |any |all |every |its |these |this |your )*(?:traces?|evidence|log entr\\w{1,3}|logs? of|command history|shell history|terminal history|tool calls?|transcript|audit (?:log|trail)|the (?:script|archive|zip|file|copy) (?:afterwards?|again|so that|once|right after)))\\b',
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['hidden', 'deletes'],
      unless: /old logs|rotate|retention|gdpr|stack traces?|debug|performance|user asks|temp(?:orary)?/,
      trade: /privacy|clean|forensic|logging|observab|trace/,
    },
  ],
  [
    'deletes-by-standing-order',
    'high',
    'delete deletes remove removes wipe erase purge discard deleting removing',
    "(?:\\b(?:after|before|when|whenever|every|each|always|once|finally|if)\\b[^.!?]{0,120}\\b(?:delete|remove|wipe|erase|purge|overwrite)\\b[^.!?]{0,30}\\b(?:all (?:other |previous |earlier |the )?(?:versions?|files|copies|documents|backups?|e-?mails|messages|records|events|branches|tables)|every (?:other )?(?:file|copy|document|e-?mail|backup|version|record)|(?:any |the )?(?:original|source|unprotected|older|previous|other)(?: \\w+){0,2} (?:files?|versions?|copies|copy|documents?|backups?)|(?:the )?user'?s? (?:files|documents|data|backups?|e-?mails)|(?:backups|snapshots|recycle bin|trash))\\b|\\b(?:delete|remove|wipe|erase|purge)\\b[^.!?]{0,60}\\b(?:files|documents|e-?mails|messages|photos|backups|records|repositories|branches|tables|databases)\\b[^.!?]{0,60}\\b(?:older than|not (?:opened|used|modified|touched)|to (?:save|free|reclaim)(?: up)? (?:disk |some )?space|without (?:asking|confirmation|backup|moving)|permanently|irrecoverabl\\w|so (?:that )?(?:they|it) cannot be recovered))",
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['deletes'],
      unless:
        /\b(?:never|do not|don'?t|must not|should not|ask(?:s)? (?:the user )?(?:before|first)|confirm|approval|user (?:asks|requests|confirms)|temp(?:orary)?|cache|intermediate|generated|merged branches|soft[- ]delete|gdpr|retention|lifecycle|dead code|unused|stale|debug|log files|artifacts?|duplicate|node_modules|build)\b/,
      trade:
        /clean|dedup|disk|storage|retention|gdpr|inbox|archiv|refactor|migrat|prune|cache|organi[sz]|git|database|sql/,
    },
  ],
  [
    'locks-with-fixed-password',
    'high',
    'password passphrase lock encrypt protect protected encrypted locked',
    '\\b(?:lock|encrypt|protect|secure|archive|zip|compress|password-protect)\\w{0,3}\\b[^.!?]{0,100}\\b(?:password|passphrase|pass|key)\\b[^.!?]{0,20}["\'`][\\w!@#$%^&*.-]{4,40}["\'`][^!?]{0,160}\\b(?:remove|delete|discard|erase|wipe|shred|replace|overwrite)\\b',
    { kinds: ['prose', 'comment', 'header'], facts: ['deletes'] },
  ],
  [
    'history-rewrite',
    'high',
    'push reflog filter git gh',
    '(?:git push[^\\n]{0,40}(?:--force|-f)\\b[^\\n]{0,60}(?:--all|--mirror)|git push[^\\n]{0,40}--mirror[^\\n]{0,60}«(?:unknown|free|address|odd|tunnel)»|git reflog expire[^\\n]{0,60}(?:&&|;)[^\\n]{0,40}git gc[^\\n]{0,30}--prune=now[^\\n]{0,80}push|gh repo delete[^\\n]{0,60}--(?:yes|confirm)|git branch[^\\n]{0,60}xargs[^\\n]{0,30}git push[^\\n]{0,20}--delete)',
    { trade: /secret|history|filter|bfg|mirror|migrat|git/ },
  ],
  [
    'drops-data',
    'high',
    'drop dropdatabase flushall truncate dropdb terminate destroy prune',
    '(?:\\bflushall\\b[^\\n]{0,60}(?:&&|;|\\|)|for [^\\n]{0,80}(?:drop database|dropdb|dropdatabase)|(?:aws s3 rb|gsutil -m rm -r|aws s3 rm)[^\\n]{0,80}(?:--force|--recursive)[^\\n]{0,40}\\$|terraform destroy[^\\n]{0,30}-auto-approve[^\\n]{0,60}(?:always|after|first)|kubectl delete (?:ns|namespace|all)[^\\n]{0,30}--all\\b|aws ec2 terminate-instances[^\\n]{0,80}\\$\\()',
    { trade: /database|redis|terraform|kubernetes|cleanup|aws|cloud|teardown/ },
  ],
]);
