// Owns the plain part of the policy as data: program, verb and flags that need an answer, or are never run. Knows no path.
// Invariant: a row only adds a finding; no row can make a command look harmless.

import { ask, type Call, deletes, type Finding, hasFlag, never, operandsOf } from './call.ts';
import type { ShellWord } from './lex-word.ts';
import { isInWorkspace } from './place.ts';

/**
 * `kind | programs | verbs | flags | reason`. Kind: D loses files of the folder, N acts on others over the network, M on the machine beyond
 * the folder, X is never run. Verbs are the first operands, alternatives joined by commas; flags: one of them is there. Empty: any.
 */
const TABLE = `
N | git | push | --force -f --force-with-lease --mirror --delete -d --prune | rewrites or deletes what others have
D | git | reset | --hard --merge --keep | throws uncommitted work away
D | git | clean | -f --force | deletes files that git does not know
D | git | checkout,switch | -f --force --discard-changes | throws uncommitted work away
D | git | restore | | throws uncommitted work away
D | git | branch | -D | deletes a branch that may not be merged
D | git | stash drop,clear | | throws stashed work away
D | git | filter-branch,filter-repo | | rewrites the history
D | git | reflog expire,delete | | makes lost commits unrecoverable
D | git | gc | --prune | makes lost commits unrecoverable
D | git | update-ref | -d | deletes a reference
D | git | worktree remove | -f --force | throws uncommitted work away
D | git | rm | -r | deletes files recursively
D | svn | revert | -R --recursive | throws uncommitted work away
N | gh glab | repo,release,issue,gist,secret,variable,workflow delete,archive,remove | | deletes something on the server
N | gh glab | pr,mr merge,close | | changes the shared repository
N | npm pnpm yarn bun | publish,unpublish,deprecate | | publishes a package
N | npm pnpm | dist-tag,owner,token,access | | changes a published package or its access
N | yarn | npm publish | | publishes a package
N | cargo gem twine poetry uv flit hatch mvn gradle gradlew | push,yank,upload,publish,deploy,release:perform | | publishes a package
N | dotnet | nuget push | | publishes a package
N | docker podman nerdctl | push | | publishes an image
N | gh | release create | | publishes a release
M | docker podman nerdctl | system,volume,image,container,network,builder,buildx prune,rm,remove | | deletes containers, images or volumes
M | docker podman nerdctl | rm,rmi | -f --force -v --volumes | deletes containers or images
M | docker podman nerdctl | compose down | -v --volumes --rmi | deletes volumes
M | docker-compose | down | -v --volumes --rmi | deletes volumes
M | docker podman nerdctl | run,create | --privileged --pid --device | gives a container the machine
N | kubectl oc | delete,drain,replace | | deletes or replaces what runs in a cluster
N | helm | uninstall,delete,rollback | | removes what runs in a cluster
N | terraform tofu pulumi | destroy,apply,up | | changes or destroys infrastructure
N | aws | s3 rm,rb,sync,mv | | deletes or replaces what is in a bucket
N | gsutil | rm,rb,rsync | | deletes or replaces what is in a bucket
N | fly flyctl heroku vercel netlify wrangler firebase | deploy,destroy,delete,remove,apps:destroy,pg:reset | | changes what is deployed
N | rclone | delete,purge,sync,move,rmdirs,cleanup | | deletes or replaces files elsewhere
N | ssh sshpass mosh telnet | | | acts on another machine
X | shutdown reboot halt poweroff kexec killall5 | | | stops the machine
X | init telinit | 0,1,6,s,S | | stops the machine
X | systemctl loginctl | poweroff,reboot,halt,kexec,suspend,hibernate,emergency,rescue | | stops the machine
X | fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard mkswap hdparm | | | changes a disk as a whole
X | cryptsetup | luksFormat,erase,luksErase,reencrypt | | destroys a disk
X | diskutil | eraseDisk,eraseVolume,partitionDisk,zeroDisk,secureErase,reformat | | erases a disk
M | systemctl rc-service | stop,disable,mask,restart,isolate,enable,start | | changes the services of the machine
M | launchctl | unload,remove,bootout,load,bootstrap | | changes the services of the machine
M | service busctl dbus-send gdbus | | | changes the services of the machine
M | useradd userdel usermod groupadd groupdel groupmod adduser deluser passwd chpasswd visudo vipw | | | changes who may log in
M | lvremove vgremove pvremove zpool mdadm btrfs mount umount swapoff swapon losetup | | | changes what disks are there
M | iptables ip6tables nft ufw firewall-cmd pfctl setenforce csrutil spctl | | | switches protection of the machine off
M | sysctl | | -w -p --write --system | changes the kernel
M | insmod rmmod modprobe | | | changes the kernel
M | apt apt-get aptitude dnf yum zypper apk snap flatpak | remove,purge,autoremove,erase,uninstall,rm,del,dist-upgrade,full-upgrade | | removes software of the machine
M | pacman dpkg rpm | | -R -Rs -Rns -r -P -e --purge --remove --erase | removes software of the machine
M | brew | uninstall,remove,zap,autoremove | | removes software of the machine
M | at batch atrm | | | plans commands for later
M | killall pkill skill fuser | | | ends processes by name
M | nc ncat netcat socat | | -e -c --exec --sh-exec | gives a shell to the network
M | history | | -c -w | erases the record of commands
M | shopt | dotglob,extglob,nocaseglob | | changes which files a pattern names
N | redis-cli | FLUSHALL,FLUSHDB,flushall,flushdb,SHUTDOWN,shutdown | | empties a database
N | dropdb dropuser mysqladmin | | | drops a database or its user`;

interface VerbRule {
  readonly kind: string;
  readonly verbs: readonly (readonly string[])[];
  readonly flags: readonly string[];
  readonly reason: string;
}

const BY_PROGRAM = new Map<string, VerbRule[]>();
for (const line of TABLE.trim().split('\n')) {
  const [kind = '', programs = '', verbs = '', flags = '', reason = ''] = line.split('|').map((cell) => cell.trim());
  const words = (text: string) => text.split(' ').filter((word) => word !== '');
  const rule = { kind, verbs: words(verbs).map((verb) => verb.split(',')), flags: words(flags), reason };
  for (const program of words(programs)) BY_PROGRAM.set(program, [...(BY_PROGRAM.get(program) ?? []), rule]);
}

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
  const words = verbWords(call).map(({ text }) => text);
  return rules.filter((rule) => matches(rule, call, words)).map((rule) => findingOf(rule, call));
}

/** Operands, without the values of flags that stand before the verb. */
export function verbWords(call: Call): readonly ShellWord[] {
  const values = VALUES_BEFORE_VERB[call.program] ?? [];
  return operandsOf({ args: call.args.filter((_, i) => !values.includes(call.args[i - 1]?.text ?? '')) });
}

function matches({ verbs, flags }: VerbRule, call: Call, words: readonly string[]): boolean {
  return (
    verbs.every((choices, i) => choices.includes(words[i] ?? '')) && (flags.length === 0 || hasFlag(call, ...flags))
  );
}

function findingOf({ kind, reason }: VerbRule, call: Call): Finding {
  if (kind === 'X') return never(reason);
  if (kind === 'N') return ask(reason, 'network');
  return kind === 'D' ? deletes(reason, staysInFolder(call)) : ask(reason);
}

/** A version control program that was not sent elsewhere. */
export function staysInFolder(call: Call): boolean {
  return isInWorkspace(call.place.cwd, call.place) && !hasFlag(call, '-C', '--git-dir', '--work-tree');
}
