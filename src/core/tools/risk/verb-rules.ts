// Owns the plain part of the policy as data: program, verb and flags that need an answer, or are never run.
// Knows no path. Invariant: a row only adds a finding; no row can make a command look harmless.
import { ask, type Call, type Finding, hasFlag, never, operandsOf } from './finding.ts';

export interface VerbRule {
  readonly programs: readonly string[];
  /** The first operands, each one of the alternatives split by `|`; absent: any. */
  readonly verb?: readonly string[];
  /** One of these flags is there; absent: no flag is needed. */
  readonly flags?: readonly string[];
  readonly level?: 'never';
  readonly reason: string;
}

const git = ['git'];
const docker = ['docker', 'podman', 'nerdctl'];
const system = ['apt', 'apt-get', 'aptitude', 'dnf', 'yum', 'zypper', 'apk', 'snap', 'flatpak'];

const VERSION_CONTROL: readonly VerbRule[] = [
  {
    programs: git,
    verb: ['push'],
    flags: ['--force', '-f', '--force-with-lease', '--mirror', '--delete', '-d', '--prune'],
    reason: 'rewrites or deletes what others have',
  },
  { programs: git, verb: ['reset'], flags: ['--hard', '--merge', '--keep'], reason: 'throws uncommitted work away' },
  { programs: git, verb: ['clean'], flags: ['-f', '--force'], reason: 'deletes files that git does not know' },
  {
    programs: git,
    verb: ['checkout|switch'],
    flags: ['-f', '--force', '--discard-changes'],
    reason: 'throws uncommitted work away',
  },
  { programs: git, verb: ['restore'], reason: 'throws uncommitted work away' },
  { programs: git, verb: ['branch'], flags: ['-D'], reason: 'deletes a branch that may not be merged' },
  { programs: git, verb: ['stash', 'drop|clear'], reason: 'throws stashed work away' },
  { programs: git, verb: ['filter-branch|filter-repo'], reason: 'rewrites the history' },
  { programs: git, verb: ['reflog', 'expire|delete'], reason: 'makes lost commits unrecoverable' },
  { programs: git, verb: ['gc'], flags: ['--prune'], reason: 'makes lost commits unrecoverable' },
  { programs: git, verb: ['update-ref'], flags: ['-d'], reason: 'deletes a reference' },
  { programs: git, verb: ['worktree', 'remove'], flags: ['-f', '--force'], reason: 'throws uncommitted work away' },
  { programs: git, verb: ['rm'], flags: ['-r'], reason: 'deletes files recursively' },
  {
    programs: ['gh', 'glab'],
    verb: ['repo|release|issue|gist|secret|variable|workflow', 'delete|archive|remove'],
    reason: 'deletes something on the server',
  },
  { programs: ['gh', 'glab'], verb: ['pr|mr', 'merge|close'], reason: 'changes the shared repository' },
  { programs: ['svn'], verb: ['revert'], flags: ['-R', '--recursive'], reason: 'throws uncommitted work away' },
];

const PUBLISHING: readonly VerbRule[] = [
  { programs: ['npm', 'pnpm', 'yarn', 'bun'], verb: ['publish|unpublish|deprecate'], reason: 'publishes a package' },
  {
    programs: ['npm', 'pnpm'],
    verb: ['dist-tag|owner|token|access'],
    reason: 'changes a published package or its access',
  },
  { programs: ['yarn'], verb: ['npm', 'publish'], reason: 'publishes a package' },
  { programs: ['cargo'], verb: ['publish|yank'], reason: 'publishes a package' },
  { programs: ['gem'], verb: ['push|yank'], reason: 'publishes a package' },
  { programs: ['twine'], verb: ['upload'], reason: 'publishes a package' },
  { programs: ['poetry', 'uv', 'flit', 'hatch'], verb: ['publish'], reason: 'publishes a package' },
  { programs: ['mvn', 'gradle', 'gradlew'], verb: ['deploy|publish|release:perform'], reason: 'publishes a package' },
  { programs: ['dotnet'], verb: ['nuget', 'push'], reason: 'publishes a package' },
  { programs: docker, verb: ['push'], reason: 'publishes an image' },
  { programs: ['gh'], verb: ['release', 'create'], reason: 'publishes a release' },
];

const CONTAINERS_AND_CLOUD: readonly VerbRule[] = [
  {
    programs: docker,
    verb: ['system|volume|image|container|network|builder|buildx', 'prune|rm|remove'],
    reason: 'deletes containers, images or volumes',
  },
  {
    programs: docker,
    verb: ['rm|rmi'],
    flags: ['-f', '--force', '-v', '--volumes'],
    reason: 'deletes containers or images',
  },
  { programs: docker, verb: ['compose', 'down'], flags: ['-v', '--volumes', '--rmi'], reason: 'deletes volumes' },
  { programs: ['docker-compose'], verb: ['down'], flags: ['-v', '--volumes', '--rmi'], reason: 'deletes volumes' },
  {
    programs: docker,
    verb: ['run|create'],
    flags: ['--privileged', '--pid', '--device'],
    reason: 'gives a container the machine',
  },
  { programs: ['kubectl', 'oc'], verb: ['delete|drain|replace'], reason: 'deletes or replaces what runs in a cluster' },
  { programs: ['helm'], verb: ['uninstall|delete|rollback'], reason: 'removes what runs in a cluster' },
  {
    programs: ['terraform', 'tofu', 'pulumi'],
    verb: ['destroy|apply|up'],
    reason: 'changes or destroys infrastructure',
  },
  { programs: ['aws'], verb: ['s3', 'rm|rb|sync|mv'], reason: 'deletes or replaces what is in a bucket' },
  { programs: ['gsutil'], verb: ['rm|rb|rsync'], reason: 'deletes or replaces what is in a bucket' },
  {
    programs: ['fly', 'flyctl', 'heroku', 'vercel', 'netlify', 'wrangler', 'firebase'],
    verb: ['deploy|destroy|delete|remove|apps:destroy|pg:reset'],
    reason: 'changes what is deployed',
  },
];

const MACHINE: readonly VerbRule[] = [
  {
    programs: ['shutdown', 'reboot', 'halt', 'poweroff', 'kexec', 'killall5'],
    level: 'never',
    reason: 'stops the machine',
  },
  { programs: ['init', 'telinit'], verb: ['0|1|6|s|S'], level: 'never', reason: 'stops the machine' },
  {
    programs: ['systemctl', 'loginctl'],
    verb: ['poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue'],
    level: 'never',
    reason: 'stops the machine',
  },
  {
    programs: ['fdisk', 'sfdisk', 'cfdisk', 'gdisk', 'sgdisk', 'parted', 'wipefs', 'blkdiscard', 'mkswap', 'hdparm'],
    level: 'never',
    reason: 'changes a disk as a whole',
  },
  {
    programs: ['cryptsetup'],
    verb: ['luksFormat|erase|luksErase|reencrypt'],
    level: 'never',
    reason: 'destroys a disk',
  },
  { programs: ['lvremove', 'vgremove', 'pvremove', 'zpool', 'mdadm', 'btrfs'], reason: 'changes volumes as a whole' },
  {
    programs: ['diskutil'],
    verb: ['eraseDisk|eraseVolume|partitionDisk|zeroDisk|secureErase|reformat'],
    level: 'never',
    reason: 'erases a disk',
  },
  {
    programs: ['systemctl', 'rc-service'],
    verb: ['stop|disable|mask|restart|isolate|enable|start'],
    reason: 'changes the services of the machine',
  },
  { programs: ['service'], reason: 'changes the services of the machine' },
  {
    programs: ['launchctl'],
    verb: ['unload|remove|bootout|load|bootstrap'],
    reason: 'changes the services of the machine',
  },
  {
    programs: [
      'useradd',
      'userdel',
      'usermod',
      'groupadd',
      'groupdel',
      'groupmod',
      'adduser',
      'deluser',
      'passwd',
      'chpasswd',
      'visudo',
      'vipw',
    ],
    reason: 'changes who may log in',
  },
  { programs: ['mount', 'umount', 'swapoff', 'swapon', 'losetup'], reason: 'changes what disks are there' },
  { programs: ['iptables', 'ip6tables', 'nft', 'ufw', 'firewall-cmd', 'pfctl'], reason: 'changes the firewall' },
  { programs: ['sysctl'], flags: ['-w', '-p', '--write', '--system'], reason: 'changes the kernel' },
  { programs: ['insmod', 'rmmod', 'modprobe'], reason: 'changes the kernel' },
  {
    programs: system,
    verb: ['remove|purge|autoremove|erase|uninstall|rm|del|dist-upgrade|full-upgrade'],
    reason: 'removes software of the machine',
  },
  { programs: ['pacman'], flags: ['-R', '-Rs', '-Rns'], reason: 'removes software of the machine' },
  {
    programs: ['dpkg', 'rpm'],
    flags: ['-r', '-P', '-e', '--purge', '--remove', '--erase'],
    reason: 'removes software of the machine',
  },
  { programs: ['brew'], verb: ['uninstall|remove|zap|autoremove'], reason: 'removes software of the machine' },
  { programs: ['at', 'batch', 'atrm'], reason: 'plans commands for later' },
  { programs: ['killall', 'pkill', 'skill', 'fuser'], reason: 'ends processes by name' },
  { programs: ['shred', 'srm', 'wipe'], reason: 'destroys files beyond recovery' },
  { programs: ['truncate'], reason: 'cuts files off' },
  {
    programs: ['rsync'],
    flags: [
      '--delete',
      '--delete-after',
      '--delete-before',
      '--delete-during',
      '--delete-excluded',
      '--remove-source-files',
    ],
    reason: 'deletes files that the source does not have',
  },
  {
    programs: ['rclone'],
    verb: ['delete|purge|sync|move|rmdirs|cleanup'],
    reason: 'deletes or replaces files elsewhere',
  },
  { programs: ['ssh', 'sshpass', 'mosh', 'telnet'], reason: 'acts on another machine' },
  {
    programs: ['nc', 'ncat', 'netcat', 'socat'],
    flags: ['-e', '-c', '--exec', '--sh-exec'],
    reason: 'gives a shell to the network',
  },
  { programs: ['history'], flags: ['-c', '-w'], reason: 'erases the record of commands' },
  { programs: ['shopt'], verb: ['dotglob|extglob|nocaseglob'], reason: 'changes which files a pattern names' },
  { programs: ['setenforce', 'csrutil', 'spctl'], reason: 'switches protection off' },
  {
    programs: ['redis-cli'],
    verb: ['FLUSHALL|FLUSHDB|flushall|flushdb|SHUTDOWN|shutdown'],
    reason: 'empties a database',
  },
  { programs: ['dropdb', 'dropuser', 'mysqladmin'], reason: 'drops a database or its user' },
];

const ALL: readonly VerbRule[] = [...VERSION_CONTROL, ...PUBLISHING, ...CONTAINERS_AND_CLOUD, ...MACHINE];

const BY_PROGRAM: ReadonlyMap<string, readonly VerbRule[]> = new Map(
  [...new Set(ALL.flatMap((rule) => rule.programs))].map((name) => [
    name,
    ALL.filter((rule) => rule.programs.includes(name)),
  ]),
);

/** Flags of programs that take a value before the verb (`git -C dir push`). */
const VALUES_BEFORE_VERB: Readonly<Record<string, readonly string[]>> = {
  git: ['-C', '-c', '--git-dir', '--work-tree', '--namespace'],
  docker: ['--context', '-H', '--host', '-c'],
  kubectl: ['-n', '--namespace', '--context', '--kubeconfig', '-l', '-f'],
  aws: ['--profile', '--region', '--output'],
  npm: ['--prefix', '-w', '--workspace'],
  gh: ['-R', '--repo'],
  systemctl: ['-H', '--host'],
};

export function verbFindings(call: Call): readonly Finding[] {
  const rules = BY_PROGRAM.get(call.program);
  if (!rules) return [];
  const words = verbWords(call);
  return rules.filter((rule) => matches(rule, call, words)).map((rule) => findingOf(rule, call, words));
}

function verbWords(call: Call): readonly string[] {
  const values = VALUES_BEFORE_VERB[call.program] ?? [];
  const args = call.args.filter((_, i) => !values.includes(call.args[i - 1]?.text ?? ''));
  return operandsOf({ ...call, args }).map(({ text }) => text);
}

function matches(rule: VerbRule, call: Call, words: readonly string[]): boolean {
  const verbFits = (rule.verb ?? []).every((choices, i) => choices.split('|').includes(words[i] ?? ''));
  return verbFits && (rule.flags === undefined || hasFlag(call, ...rule.flags));
}

function findingOf(rule: VerbRule, call: Call, words: readonly string[]): Finding {
  if (rule.level === 'never') return never(rule.reason);
  const verbs = words.slice(0, Math.max(1, rule.verb?.length ?? 1));
  const flag = rule.flags?.find((name) => hasFlag(call, name));
  return ask(rule.reason, [call.program, ...verbs, ...(flag ? [flag] : [])].join(' '));
}
