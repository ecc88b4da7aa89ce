// Owns what a command would write or delete, as far as its words show, so that reflex asks first (reflex 8).
// Knows no approval: the terminal tool has its own, and this is no substitute. Invariant: doubt counts as risk.

const RISKS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(^|[\s;&|(`])(rm|rmdir|unlink|shred|srm|trash)(\s|$)/, 'deletes files'],
  [/\s-(delete|exec|execdir|ok)\b|\bxargs\b/, 'may delete or change files'],
  [/(^|[\s;&|(`])(dd|mkfs\S*|fdisk|parted|wipefs|truncate)(\s|$)/, 'overwrites data'],
  [/(^|[^0-9&])>{1,2}(?!\s*(&|\/dev\/null))/, 'writes a file'],
  [
    /(?:^|[;&|(`{]\s*|\b(?:sudo|xargs|time|nohup|do|then)\s+)(mv|cp|tee|ln|install|rsync|scp|touch|mkdir|patch|rename)(\s|$)/,
    'writes files',
  ],
  [/\b(sed|perl|ruby)\b.*\s-\w*i/, 'changes files in place'],
  [/(^|[\s;&|(`])(chmod|chown|chgrp|setfacl|chattr|mount|umount)(\s|$)/, 'changes permissions or mounts'],
  [/(^|[\s;&|(`])(sudo|su|doas|pkexec)(\s|$)/, 'runs with more rights'],
  [
    /(?:^|[;&|(`{]\s*|\b(?:sudo|xargs|do|then)\s+)(kill|pkill|killall|shutdown|reboot|halt|poweroff)(\s|$)/,
    'ends processes or the machine',
  ],
  [
    /\bgit\s+(?:-\S+\s+\S+\s+)*(push|reset|clean|checkout|restore|switch|rebase|merge|cherry-pick|revert|rm|mv|gc|prune|filter-branch|filter-repo|am|apply|pull|commit|add|init|clone|update-ref|reflog\s+(expire|delete))\b/,
    'changes the repository',
  ],
  [
    /\bgit\s+(branch|tag|remote|stash|worktree|config|submodule)\s+(-[dDmMfc]\b|--delete|--force|--unset|drop|clear|pop|remove|rm|add|set-url|apply|update)/,
    'changes the repository',
  ],
  [/\b(docker|podman)\S*\s+.*\b(rm|rmi|prune|kill|stop|down|volume\s+rm|system)\b/, 'removes or stops containers'],
  [
    /\b(kubectl|helm|terraform|pulumi|vagrant)\s+.*\b(delete|destroy|apply|uninstall|drain|scale|rollback|replace|patch)\b/,
    'changes a running system',
  ],
  [
    /\b(npm|pnpm|yarn|bun)\s+(publish|unpublish|uninstall|remove|rm|un|deprecate|audit\s+fix|prune|cache\s+clean)\b/,
    'changes packages',
  ],
  [
    /\b(pip3?|pipx|gem|cargo|apt|apt-get|dnf|yum|brew|pacman|snap|apk|conda|dpkg)\s+(-\S+\s+)*(uninstall|remove|purge|autoremove|-R\S*|publish|yank|clean|upgrade|dist-upgrade)\b/,
    'changes packages',
  ],
  [
    /\b(drop|truncate|delete|alter|update|insert)\s+(table|database|from|schema|into|index|user)\b/i,
    'changes a database',
  ],
  [/\b(dropdb|mongorestore|flushall|flushdb|pg_restore)\b/i, 'changes a database'],
  [/\b(systemctl|service|launchctl)\s+.*\b(stop|disable|mask|restart|kill|unload)\b/, 'stops services'],
  [/\bcrontab\s+(-r|-i|\S+$)/, 'changes the schedule'],
  [/\b(curl|wget|fetch)\b.*\|\s*(ba|z|da|fi)?sh\b|\b(eval|source)\s/, 'runs what it fetches'],
  [/\b(unzip|tar\s+-?\w*x|gunzip|7z\s+x)\b/, 'unpacks files'],
  [/\b(curl|wget)\b.*\s(-o|-O|--output|-X\s*(POST|PUT|DELETE|PATCH)|-d|--data)\b/, 'writes a file or a remote system'],
  [/:\(\)\s*\{/, 'is a fork bomb'],
  [
    /\b(make|npm run|pnpm|yarn|just|task|rake|gradle|mvn|cargo|go)\s+(run\s+)?(clean|distclean|deploy|release|publish|destroy|purge|uninstall|reset|nuke|wipe)\b/,
    'cleans or publishes',
  ],
  [/\bfind\b.*\s-(delete|fls|fprint)/, 'deletes or writes files'],
  [/\b(history\s+-c|ssh-keygen|gpg\s+--delete\S*|passwd|userdel|useradd|usermod|visudo)\b/, 'changes the account'],
];

/** What the command would change, in words; undefined when nothing in it shows a change. */
export function commandRisk(command: string): string | undefined {
  const plain = command.replace(/\\\n/g, ' ').replace(/(\w)["'\\]+(?=\w)/g, '$1');
  return RISKS.find(([pattern]) => pattern.test(plain) || pattern.test(command.replace(/["'\\]/g, '')))?.[1];
}
