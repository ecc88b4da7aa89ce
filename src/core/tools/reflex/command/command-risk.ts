// Owns what a command would write or delete, as far as its words show, so that reflex asks first (reflex 8).
// Knows no approval: the terminal tool has its own, and this is no substitute. Invariant: doubt counts as risk.

/** Where a command begins. */
const HEAD = String.raw`(?:^|[;&|(\x60{"']\s*|\b(?:sudo|doas|xargs|time|nohup|do|then|exec|env|command|busybox|builtin|nice|ssh\s+\S+)\s+(?:-\S+\s+)*)`;

const RISKS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [new RegExp(`${HEAD}(?:\\S*/)?(rm|rmdir|unlink|shred|srm|trash|trash-put|del|erase)(\\s|$)`), 'deletes files'],
  [/\b(rm|rmdir|unlink|shred|srm)\s+(-\w*[rRfd]|--recursive|--force|[~/*])/, 'deletes files'],
  [
    /\s-delete\b|\s-exec(dir)?\s+\S*(rm|mv|sed|shred|truncate)\b|\bxargs\b.*\b(rm|mv|sed|kill)\b|\s--delete\S*|\s--remove-source-files/,
    'deletes files',
  ],
  [new RegExp(`${HEAD}(dd|mkfs\\S*|fdisk|sfdisk|parted|wipefs|truncate|mkswap|format)(\\s|$)`), 'overwrites data'],
  [/(^|[^0-9&>=-])>(?![>&]|\s*\/dev\/null|\()/, 'overwrites a file'],
  [new RegExp(`${HEAD}(mv|cp|install|rename|tee(?!\\s+-a)|rsync|patch)(\\s|$)`), 'may overwrite files'],
  [/\b(sed|perl|ruby|awk|gawk)\b.*\s(-\w*i\b|--in-place|-i\S*|inplace)/, 'changes files in place'],
  [
    new RegExp(`${HEAD}(chmod(?!\\s+(?:[ugoa]*\\+[rx]+)\\s)|chown|chgrp|setfacl|chattr|umount)(\\s|$)`),
    'changes permissions or mounts',
  ],
  [new RegExp(`${HEAD}(su|sudo|doas|pkexec)(\\s|$)`), 'runs with more rights'],
  [
    new RegExp(`${HEAD}(kill|pkill|killall|xkill|shutdown|reboot|halt|poweroff)(\\s|$)`),
    'ends processes or the machine',
  ],
  [
    /\bgit\s+(?:-\S+\s+\S+\s+)*(reset|clean|restore|rm|gc|prune|filter-branch|filter-repo|rebase|update-ref)\b|\bgit\s.*\breflog\s+(expire|delete)/,
    'may lose changes of the repository',
  ],
  [
    /\bgit\s+checkout\s+(.*\s)?(--|\.|-f|--force)(\s|$)|\bgit\s+switch\s+.*(-f|--force|--discard-changes|-C)\b/,
    'may lose changes of the repository',
  ],
  [/\bgit\s+push\b.*(\s-\w*f|--force|--delete|-d\b|--mirror|--prune|\s[:+]\S)/, 'overwrites a remote repository'],
  [
    /\bgit\s+(branch|tag|remote|stash|worktree|config|submodule|notes)\s+(.*\s)?(-[dDmMf]\b|--delete|--force|--unset\S*|drop|clear|remove|rm|deinit)/,
    'deletes from the repository',
  ],
  [/\bgit\s+commit\b.*--amend/, 'rewrites a commit'],
  [/\b(docker|podman|nerdctl)\S*\s+(.*\s)?(rm|rmi|prune|kill|down)(\s|$)/, 'removes containers or images'],
  [
    /\b(kubectl|oc|helm|terraform|tofu|pulumi|vagrant|cdk|serverless|sls)\s+.*\b(delete|destroy|uninstall|drain|replace|undeploy|remove)\b|\bterraform\s+.*\b(apply|state\s+rm)\b/,
    'changes a running system',
  ],
  [
    /\b(aws|gcloud|az|heroku|fly|flyctl|doctl|gh|glab|vercel|netlify|wrangler|firebase)\s+.*\b(delete\S*|rm|rb|remove\S*|terminate\S*|destroy|purge)\b/,
    'deletes from a remote system',
  ],
  [
    /\b(npm|pnpm|yarn|bun)\s+(publish|unpublish|uninstall|remove|rm|un|deprecate|prune|cache\s+clean)\b/,
    'removes or publishes packages',
  ],
  [
    /\b(pip3?|pipx|uv|gem|cargo|apt|apt-get|dnf|yum|brew|pacman|snap|apk|conda|dpkg|choco|winget|flatpak)\s+(-\S+\s+)*(pip\s+)?(uninstall|remove|purge|autoremove|-R\S*|-r|-P|publish|yank|cleanup)\b/,
    'removes or publishes packages',
  ],
  [
    /\b(drop|truncate)\s+(table|database|schema|index|user|view|collection|column|keyspace)\b|\bdelete\s+from\b|\btruncate\s+\w+|\bupdate\s+\w+\s+set\b|\balter\s+table\b|\.(drop|deleteMany|remove|dropDatabase)\(/i,
    'changes a database',
  ],
  [
    /\b(dropdb|dropuser|mongorestore|flushall|flushdb|pg_restore)\b|\b(db:(drop|reset|purge|wipe)|migrate:(fresh|reset|rollback)|db\s+(reset|drop))\b/i,
    'changes a database',
  ],
  [/\b(systemctl|service|launchctl)\s+.*\b(stop|disable|mask|kill|unload)\b/, 'stops services'],
  [/\bcrontab\s+(-r|(?!-)\S+$)/, 'replaces the schedule'],
  [
    /\b(curl|wget|fetch)\b.*\|\s*(sudo\s+)?(ba|z|da|fi|k)?sh\b|\|\s*(sudo\s+)?(ba|z|da)?sh\s*$|\bbase64\s+(-d|--decode).*\|/,
    'runs what it fetches',
  ],
  [
    /\b(curl|wget|http)\b.*(\s-X\s*(DELETE|PUT|PATCH)|--request[ =](DELETE|PUT|PATCH)|\s-o\s|\s-O\b|--output)/,
    'changes a remote system or overwrites a file',
  ],
  [
    /\b(rimraf|rmtree|rmSync|unlinkSync|rmdirSync|os\.remove|os\.unlink|Remove-Item|File\.delete|FileUtils\.rm)\b/,
    'deletes files',
  ],
  [
    /^(?!\s*(?:grep|rg|echo|printf|cat|man|which|ls|git\s+(?:log|commit|grep|show))\b)\s*\S+(?:\s+\S+){0,2}\s+(?:delete|destroy|purge|uninstall|remove|wipe|nuke|flush|flushall|erase)(?:\s|$)/,
    'deletes or removes',
  ],
  [/\s--(?:force|delete|purge|hard|prune|no-preserve-root|overwrite)\b/, 'forces a change'],
  [/:\(\)\s*\{|\b(eval|source)\s+["$`]/, 'runs what it cannot show'],
  [
    /\b(make|npm run|pnpm|yarn|just|task|rake|gradle|gradlew|mvn|cargo|go|dotnet|flutter|bazel|lerna|composer|mix|sbt|cmake --build \S+ --target)\s+(run\s+)?(\S*[:-])?(clean(?!\s+(?:verify|install|package|build|test|compile|assemble|check)\b(?!.*\bdeploy\b))|distclean|mrproper|deploy|release|publish|destroy|purge|uninstall|reset|nuke|wipe|expunge)\b/,
    'cleans or publishes',
  ],
  [/\b(tar|bsdtar)\s+(-\S+\s+)*-?\w*x\w*|\b(unzip|7z\s+x|gunzip|bunzip2|unxz|gzip|bzip2|xz)\s/, 'may overwrite files'],
  [
    /\b(history\s+-c|ssh-keygen|passwd|userdel|usermod|deluser|visudo|gpg\s+--delete\S*|iptables\s+-F|ufw\s+(reset|disable)|swapoff|diskutil|hdparm)\b/,
    'changes the account or the system',
  ],
  [/\bln\s+(-\w*f|--force)|\btouch\s+-t\b/, 'may overwrite files'],
  [/\b(redis-cli)\b.*\b(del|flush\w*)\b|\bmysqladmin\s+drop\b|\bmongo\S*\b.*\bdrop/i, 'changes a database'],
];

/** What the command would change, in words; undefined when nothing in it shows a change. */
export function commandRisk(command: string): string | undefined {
  const plain = command.replace(/\\\n/g, ' ').replace(/(\w)["'\\]+(?=\w)/g, '$1');
  return RISKS.find(([pattern]) => pattern.test(plain) || pattern.test(command.replace(/["'\\]/g, '')))?.[1];
}
