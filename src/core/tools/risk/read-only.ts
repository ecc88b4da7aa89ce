// Owns the list of programs and flags that only read. Where no wall can be built, nothing else runs unasked.
// Knows no danger by name: what is not listed is no reader. Invariant: every word is plain, so that what was read here is what runs.
import { hiddenAt } from '../file/file-access.ts';
import { lexScript } from '../shell/lex-script.ts';
import type { ShellCommand } from '../shell/shell-script.ts';
import { isGitHarmlessIn } from '../walls/plain-repository.ts';
import { hasFlag, operandsOf } from './finding.ts';
import { secretAt } from './path-rules.ts';
import { absolutePath, isInWorkspace, type Place } from './place.ts';

/** `program: how many operands at most | flags that make it more than a reader`. */
const READERS = `
ls: | ; pwd: 0 | ; cat: | ; head: | ; tail: | -f -F --follow --retry ; wc: | --files0-from ; nl: | ; tac: | ; rev: | ; cut: | ; paste: |
tr: | ; comm: | ; cmp: | ; diff: | -l --paginate -r --recursive ; uniq: 1 | ; sort: | -o --output -T --temporary-directory --compress-program --files0-from
echo: | ; printf: | -v ; true: | ; false: | ; test: | ; [: | ; seq: | ; sleep: | ; basename: | ; dirname: | ; realpath: | ; readlink: |
stat: | ; file: | -C --compile -f --files-from ; du: | --files0-from -X ; df: | ; which: | ; type: | ; whoami: 0 | ; id: | ; uname: 0 | ; hostname: 0 | -F --file -b --boot
date: 0 | -s --set -f --file ; uptime: 0 | ; nproc: 0 | ; free: 0 | ; lsblk: | ; od: | ; strings: | ; column: | ; fold: | ; expand: |
md5sum: | ; sha1sum: | ; sha256sum: | ; sha512sum: | ; cksum: | ; tree: | -o --fromfile -R -H ; node: 0 | ; npm: 0 | ; python3: 0 |
find: | -exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf -files0-from
grep: | -r -R --recursive --dereference-recursive -f --file -d --directories ; egrep: | -r -R --recursive -f -d ; fgrep: | -r -R --recursive -f -d`;

const BY_NAME: ReadonlyMap<string, { readonly operands: number; readonly not: readonly string[] }> = new Map(
  [...READERS.matchAll(/(\S+): (\d*) ?\|([^;\n]*)/g)].map(([, name = '', most, not = '']) => [
    name,
    { operands: most ? Number(most) : Number.POSITIVE_INFINITY, not: not.trim().split(' ') },
  ]),
);
const BUILT_IN = /^(?:pwd|echo|printf|true|false|test|\[|type)$/;
const SYSTEM = /^\/(?:usr|bin|sbin|opt|nix|run\/current-system)\//;
/** Programs that run what they are given: they may only be asked for their version. */
const ASKED_FOR_VERSION = /^(?:node|npm|python3)$/;

const GIT_READS =
  /^(?:status|log|diff|show|rev-parse|ls-files|ls-tree|blame|shortlog|describe|rev-list|cat-file|merge-base|name-rev)$/;
/** They list when nothing is named. */
const GIT_LISTS = /^(?:branch|tag|remote|stash list)$/;
const GIT_NOT =
  `--ext-diff --textconv --submodule --output --no-index --filters --batch-command -o -O --contents --delete -d -D -m -M -c -C --edit-description
  --set-upstream-to -u --unset-upstream -f --force --sign -s`.split(/\s+/);

export function onlyReads(command: string, place: Place): boolean {
  // Not even in quotes: nobody has to know how a shell reads these to be sure.
  if (/[$`\\!{}]|[^\P{Cc}\t\n]/u.test(command)) return false;
  const { commands, functions, doubts } = lexScript(command);
  const isPlain = doubts.length === 0 && functions.size === 0 && commands.length > 0;
  return isPlain && commands.every((one) => isReader(one, place));
}

function isReader(command: ShellCommand, place: Place): boolean {
  const { words, assignments, redirects, background, input } = command;
  const isOpen = words.some(({ certain, glob }) => !certain || glob);
  const isDropped = redirects.every(({ operator, target }) => operator !== '<>' && target.text === '/dev/null');
  if (isOpen || !isDropped || background || input !== undefined || assignments.length > 0) return false;
  const [program, ...args] = words;
  if (!program || !isOfSystem(program.text, place) || !args.every(({ text }) => isOpenToAll(text, place))) return false;
  if (program.text === 'git') return gitReads(args) && isGitHarmlessIn(place.workspace);
  const reader = BY_NAME.get(program.text);
  // find reads on behind `--`, so that ends the flags of none.
  const flags = args.filter(({ text }) => text !== '--');
  if (!reader || operandsOf({ args }).length > reader.operands || hasFlag({ args: flags }, ...reader.not)) return false;
  return !ASKED_FOR_VERSION.test(program.text) || (args.length === 1 && args[0]?.text === '--version');
}

/** Of the shell itself, or found first in a folder of the system: a PATH may name folders of the session or of a home. */
function isOfSystem(program: string, place: Place): boolean {
  const folder = place.path.split(':').find((one) => !one.startsWith('/') || place.exists(`${one}/${program}`)) ?? '';
  const isSystem = [folder, place.real(folder)].every((one) => SYSTEM.test(`${one}/`)) && !isInWorkspace(folder, place);
  return isSystem || BUILT_IN.test(program);
}

function gitReads(args: ShellCommand['words']): boolean {
  const [{ text: name } = { text: '' }, ...rest] = args;
  if (GIT_READS.test(name)) return !hasFlag({ args: rest }, ...GIT_NOT.filter((flag) => !/^-[cCmMsdu]$/.test(flag)));
  const operands = operandsOf({ args: rest }).map(({ text }) => text);
  return GIT_LISTS.test([name, ...operands].join(' ')) && !hasFlag({ args: rest }, ...GIT_NOT);
}

/** No secret, by name or by link, nothing that walls hide, nothing of another process. */
function isOpenToAll(text: string, place: Place): boolean {
  return [text, ...text.split(/[=@:]/).slice(1)].every((part) => {
    const path = absolutePath(part, place);
    const both = path === undefined ? [] : [path, place.real(path)];
    const isHidden = (one: string) => (secretAt(one, place) ?? hiddenAt(one, place)) !== undefined;
    return both.every((one) => !isHidden(one) && !/^\/(?:proc|sys|dev(?!\/shm\/))\//.test(one));
  });
}
