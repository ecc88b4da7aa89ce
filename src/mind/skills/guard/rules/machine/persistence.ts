// Owns the rules against staying: what starts again by itself, at login, by the clock, with the shell, with git or with the agent.
// Knows no file. Scheduling is a trade of its own: where the skill says so in its header, the finding counts a step less.
import { OUT_HOST, type Rule, ruleRows } from '../rule.ts';

const CLOCK =
  /cron|schedul|recurring|periodic|daemon|service|launchd|systemd|background|reminder|heartbeat|backup|monitor|automation|supervis|deploy|server/;
const SHELLS =
  /dotfile|shell|zsh|bash|terminal|prompt|alias|completion|environment setup|dev(?:eloper)? (?:environment|setup)|path\b|version manager|nvm|pyenv/;
const HOOKS = /hook|git|commit|lint|husky|pre-?commit|ci\b/;
const HIDDEN_PATH =
  '(?:/tmp/|/var/tmp/|/dev/shm/|~/\\.(?:cache|local|config|\\w{1,20})/\\.|/\\.\\w|%temp%|%appdata%|\\$env:(?:temp|appdata)|\\.hidden|\\.sys\\w{0,10}|\\.update\\w{0,6})';

export const PERSISTENCE_RULES: readonly Rule[] = ruleRows('persistence', [
  [
    'cron-remote',
    'critical',
    'crontab cron reboot hourly',
    `(?:@(?:reboot|hourly|daily|weekly)|(?:[\\d*/,-]{1,8}\\s){5}|crontab|cron\\.(?:d|hourly|daily|weekly)/)[^\\n]{0,200}(?:\\b(?:curl|wget)\\b[^\\n]{0,150}(?:\\|\\s?(?:ba|z)?sh|${OUT_HOST})|base64 (?:-d|--decode)|/dev/tcp|\\bnc\\b)`,
    { facts: ['persists'] },
  ],
  [
    'crontab-write',
    'high',
    'crontab cron',
    '(?:\\|\\s?(?:sudo )?crontab(?: -u \\S{1,20})?(?: -(?=\\s|["\'`)]|$)|\\s?(?=["\'`)]|$))|crontab\\s+(?:/tmp/|\\$tmp|<\\(|<<)\\S{0,40}|>{1,2}\\s?/etc/cron\\S{0,40}|>{1,2}\\s?/var/spool/cron|tee (?:-a )?/etc/cron|cp [^\\n]{1,60} /etc/cron|subprocess[^\\n]{0,40}crontab)',
    { facts: ['persists'], trade: CLOCK, unless: /certbot|renew|logrotate|pg_dump|restic|borg|acme\.sh/ },
  ],
  [
    'cron-order',
    'high',
    'cron crontab reboot startup login boot autostart',
    '\\b(?:add|install|create|register|set up|schedule|put|append|write|make|configure|ensure|keep|place|copy|drop)\\b[^.!?]{0,90}\\b(?:@reboot|cron(?:tab| job| entry| line)?s?\\b|launch ?agents?|launch ?daemons?|login items?|start(?:s|ed)?(?:-| )?up (?:folder|items?|programs?|script|entr\\w{1,3})|at (?:every )?(?:boot|login|start-?up|log ?on|restart)|on (?:every |each )?(?:boot|login|start-?up|reboot|restart)|(?:after|survives?|across) (?:every |each |a )?(?:reboots?|restarts?)|run key|scheduled tasks?|autostart|systemd (?:unit|service|timer))[^.!?]{0,140}\\b(?:so that|so it|to (?:make sure|keep|ensure|stay|survive|refresh|check|pull|sync|run)|every|even (?:if|after|when)|persist\\w{0,5}|remain\\w{0,3}|always|continu\\w{1,6}|automatically|without)',
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['persists'],
      trade: CLOCK,
      unless: /if the user (?:asks|wants|requests)|when the user|on request|optional(?:ly)?|ask the user/,
    },
  ],
  [
    'launch-agent',
    'high',
    'launchctl launchagents launchdaemons runatload keepalive login',
    '(?:launchctl (?:load|bootstrap|enable|submit)\\b|(?:>{1,2}|tee|cp|mv|write\\w{0,10}\\(|open\\(|cat >|install)[^\\n]{0,80}library/launch(?:agents|daemons)/|<key>runatload</key>|tell application "system events" to make login item|osascript[^\\n]{0,80}login item|sfltool add-item|open\\([^\\n]{0,80}launchagents)',
    { facts: ['persists'], trade: CLOCK },
  ],
  [
    'service-unit',
    'high',
    'systemd systemctl execstart rc update autostart desktop',
    `(?:execstart\\s?=\\s?[^\\n]{0,120}(?:${HIDDEN_PATH}|curl|wget|base64|/dev/tcp|bash -c|sh -c|python3? -c)|(?:>{1,2}|tee|cp|write\\w{0,10}\\(|open\\()[^\\n]{0,60}(?:\\.config/systemd/user/|/etc/init\\.d/|\\.config/autostart/|/etc/rc\\.local)|update-rc\\.d \\S{1,30} defaults|systemctl --user enable|loginctl enable-linger)`,
    { facts: ['persists'], trade: CLOCK },
  ],
  [
    'windows-start',
    'high',
    'schtasks reg hkcu hklm startup scheduledtask runonce currentversion register itemproperty wmi winlogon',
    '(?:schtasks(?:\\.exe)? /create|reg(?:\\.exe)? add [^\\n]{0,40}\\\\currentversion\\\\run|currentversion\\\\+run(?:once)?\\b|register-scheduledtask|new-scheduledtask|start menu\\\\+programs\\\\+startup|\\[environment\\]::getfolderpath\\(["\']startup|shell:startup|new-itemproperty[^\\n]{0,80}\\\\run|winlogon\\\\shell|__eventfilter|set-wmiinstance|winreg\\.setvalueex)',
    { facts: ['persists'], trade: CLOCK, unless: /get-item\w{0,12}|get-childitem|reg query|\/query|\bautoruns/ },
  ],
  [
    'shell-start-file',
    'high',
    'bashrc zshrc profile bash zprofile zshenv zlogin fish bash_profile config bash_aliases',
    '(?:(?:>{2}|tee -a|add-content|out-file -append|echo[^\\n]{0,200}>{1,2}|sed -i[^\\n]{0,60})\\s?["\']?(?:~|\\$home|/home/\\S{1,30}|/root|\\$\\{home\\}|/etc)?/?\\.?(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|zlogin|bash_aliases|config/fish/config\\.fish|bash\\.bashrc)|>>\\s?\\$profile|(?:open|appendfile(?:sync)?|write_text|expanduser|path\\.join)\\([^\\n]{0,60}\\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)["\'`])',
    {
      facts: ['persists'],
      trade: SHELLS,
      unless:
        /export [a-z_]{2,50}=|export path|path=|completion|eval "\$\(\S{1,30} (?:init|hook|activate|env|completion|shellenv)|source <\(|\b(?:init|hook|shellenv|activate)\b|alias (?:ll|la|k|g|gs|vim|dc|tf)=|fpath|compinit|nvm_dir|source ["']?\$?\S{0,60}(?:nvm|completion|env|asdf)\S{0,20}|cat .{0,4}~?\/?\.(?:bashrc|zshrc)/,
    },
  ],
  [
    'shell-start-runs',
    'high',
    'bashrc zshrc profile bash zprofile zshenv zlogin fish',
    '(?:nohup|disown|setsid|curl|wget|/tmp/|&\\s?\\)|>/dev/null 2>&1 ?&)[^\\n]{0,160}>{1,2}\\s?["\']?(?:~|\\$home|\\$\\{home\\})?/?\\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|zlogin)',
    { facts: ['persists'], firm: true },
  ],
  [
    'shell-start-order',
    'high',
    'bashrc zshrc profile bash_profile zprofile zshenv startup fish',
    "\\b(?:append|add|insert|write|put|place|inject|include)\\b[^.!?]{0,120}(?:~/|\\$home/|the (?:user's )?|their |to |in )\\.?(?:bashrc|zshrc|bash_profile|zprofile|zshenv|profile|config\\.fish|shell (?:profile|startup file|rc file))[^.!?]{0,160}\\b(?:curl|wget|so that|every (?:new )?(?:shell|terminal|session)|each (?:new )?(?:shell|terminal|session)|stay|stays|again|alias|background|quietly|silently|which (?:starts?|runs?|launch\\w{0,2}|executes?)|that (?:starts?|runs?|launch\\w{0,2}|executes?)|load(?:s|ed)? (?:again|automatically)|helper|agent|hook)",
    { kinds: ['prose', 'comment', 'header'], facts: ['persists'], trade: SHELLS, unless: /export|api[_ ]key|path\b/ },
  ],
  [
    'alias-over-tool',
    'high',
    'alias function sudo ssh git ls cd',
    '(?:\\balias (?:sudo|ssh|git|ls|cd|curl|npm|pip|python3?|su|gpg|kubectl|docker|aws)=["\'][^"\'\\n]{0,160}(?:curl|wget|tee|/tmp/|base64|nc |\\.\\w+/|python3? -c|;|&&)|\\b(?:function )?(?:sudo|ssh|su|git|gpg|passwd)\\s?\\(\\)\\s?\\{[^\\n]{0,200}(?:curl|read -s|tee|>>|nc ))',
    { facts: ['persists'] },
  ],
  [
    'login-keys',
    'critical',
    'authorized_keys authorized administrators_authorized_keys',
    "(?:>>|tee -a|cat [^\\n]{1,60} >>?|echo [^\\n]{1,700}>>?|cp [^\\n]{1,60}|append\\w{0,3}[^.!?\\n]{0,80} to|add\\w{0,3}[^.!?\\n]{0,100} to|put[^.!?\\n]{0,80} in(?:to)?|write[^.!?\\n]{0,60} to|install[^.!?\\n]{0,60} in(?:to)?|open\\(|writefile\\w{0,4}\\(|appendfile\\w{0,4}\\(|path\\()\\s?(?:the )?[\"'`]?(?:user'?s? |owner'?s? |machine'?s? |local )?[~\\/\\w.$\\\\{}:-]{0,80}authorized_keys",
    {
      facts: ['persists'],
      trade: /\bssh\b|server|provision|vps|homelab|remote|deploy|sysadmin|ansible|bastion|linux/,
      unless: /\b(?:remote|server|vps|target host|bastion)\b|ssh-copy-id|ssh \S{1,40}@|github\.com\/\S{1,40}\.keys/,
    },
  ],
  [
    'git-hook',
    'high',
    'hooks hookspath fsmonitor templatedir sshcommand',
    `(?:(?:>{1,2}|tee|cp|cat >|ln -s\\w?|write\\w{0,10}\\(|open\\(|install|add|drop|place|put|create)[^\\n]{0,100}\\.git/hooks/(?:post-commit|post-checkout|post-merge|pre-push|pre-commit|prepare-commit-msg|post-receive|\\$)|git config --global (?:core\\.hookspath|core\\.fsmonitor|init\\.templatedir|core\\.sshcommand|core\\.pager|alias\\.\\w{1,20} ["']?!)|core\\.fsmonitor)`,
    { facts: ['persists'], trade: HOOKS },
  ],
  [
    'editor-start',
    'high',
    'folderopen tasks sitecustomize usercustomize pth conftest vscode vimrc init npmrc gitconfig',
    '(?:"?runon"?\\s?:\\s?"folderopen"|(?:sitecustomize|usercustomize)\\.py|site-packages/\\S{1,40}\\.pth|pythonstartup\\s?=|node_options\\s?=\\s?["\']?--require|autocmd (?:vimenter|bufread)[^\\n]{0,80}(?:system|!curl|!sh)|prompt_command\\s?=[^\\n]{0,80}(?:curl|wget|nc |/tmp|base64))',
    { facts: ['persists'] },
  ],
  [
    'preload',
    'critical',
    'ld_preload ld dyld insert libraries preload dyld_insert_libraries',
    '(?:ld\\.so\\.preload|(?:export |env )?(?:ld_preload|dyld_insert_libraries)\\s?=\\s?["\']?(?:/tmp|/dev/shm|/var/tmp|~/\\.|\\$home/\\.|\\./|/usr/local/lib/\\.)|>>?\\s?/etc/ld\\.so)',
    { facts: ['persists'] },
  ],
  [
    'keeps-itself-alive',
    'high',
    'reinstall restore recreate respawn nohup disown setsid again uninstall removed deleted',
    '(?:\\bif (?:the (?:user|owner)|someone|anyone|it|this skill|the skill|the (?:file|entry|job|hook|helper|agent|process))[^.!?]{0,40}\\b(?:is |was |gets |has been |have been |be )?(?:removes?|removed|deletes?|deleted|uninstalls?|uninstalled|disables?|disabled|stopped|missing|killed)\\b[^.!?]{0,60}\\b(?:reinstall|re-?create|restore|respawn|re-?add|put (?:it|them) back|add it again|bring it back|re-?enable|restart) (?:it|them|this|itself|the)|\\b(?:nohup|setsid|disown)\\b[^\\n]{0,150}(?:\\.cache/\\.|/tmp/\\.|/dev/shm|\\|\\s?(?:ba)?sh|base64|/dev/tcp))',
    { facts: ['persists'], unless: /docker|container|dev server|service is/ },
  ],
  [
    'survives',
    'high',
    'survive survives persist persists persistence reboot uninstall uninstalled removed',
    '\\b(?:survives?|persists?|remains?|keeps? running|stays?)\\b[^.!?]{0,60}\\b(?:reboots?|uninstall\\w{0,6}|(?:even )?(?:after|if|when) (?:the|this) skill (?:is|has been|gets) (?:removed|deleted|uninstalled|disabled)|removal of (?:the|this) skill)\\b',
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['persists'],
      unless:
        /data|volume|storage|session|state\b|config|settings|cookies|database|container|memory|cache|context|compaction|tmux|task|setting|preference|checkpoint|queue|job|message|export|variable|login state|auth|id\b|file/,
    },
  ],
]);
