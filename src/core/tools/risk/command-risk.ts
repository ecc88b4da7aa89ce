// Owns the verdict on a shell command: reads it, takes wrappers off, asks every rule, keeps the strictest answer; and the list of programs that
// only read, since nothing else runs unasked where no wall can be built. Knows no approver. Invariants: never throws, linear in its input; what
// cannot be read needs an answer, whatever it looks like. Serves the approval policy of the design (hard list never, risky list asks).
import type { Reach } from '#core/agent/approver.ts';
import type { Risk } from '#core/agent/tool.ts';
import { hiddenAt } from '../files/file-access.ts';
import { isGitHarmlessIn } from '../walls/git-folders.ts';
import type { WallState } from '../walls/walls.ts';
import { ask, type Call, type Finding, hasFlag, never, operandsOf, programName, unwrapCommand } from './call.ts';
import { lexScript } from './lex-script.ts';
import type { ShellCommand, ShellScript, ShellWord } from './lex-word.ts';
import { absolutePath, isInWorkspace, makePlace, type Place, type PlaceOptions, secretAt, targetOf } from './place.ts';
import { judgeCode, programFindings } from './program-rules.ts';
import { verbFindings } from './verb.rules.ts';
import { inputFindings, redirectFindings, secretFindings, TALKERS, writeFindings } from './write-rules.ts';

/** How dangerous `command` is when a shell runs it in `place.cwd`, and how far it goes. Whether an answer may be remembered is not known here. */
export function commandRisk(command: string, options: PlaceOptions): Risk {
  const place = makePlace(options);
  const found = findRisks(command, place);
  const worst = found.find(({ level }) => level === 'never');
  if (worst) return { level: 'never', reason: `it ${worst.reason}` };
  const { walls } = options;
  if (walls?.kind === 'none') return withoutWalls({ command, place, found }, walls);
  const findings = walls?.kind === 'walls' ? found.filter(isAskedInside) : found;
  if (findings.length === 0) return { level: 'none' };
  const reach = findings.map((finding) => (walls?.kind === 'walls' ? innerReach(finding) : finding.reach));
  return { level: 'ask', reason: reasonOf(findings), key: '', preview: command, reach: farthest(reach) };
}

/** Walls keep all else: what a command loses in its folder, and what it does to others over a network that was opened for it. */
function isAskedInside(finding: Finding): boolean {
  return finding.deletes === true || finding.reach === 'network';
}

function innerReach({ deletes, reach }: Finding): Reach {
  return deletes ? 'folder' : reach;
}

function farthest(reach: readonly Reach[]): Reach {
  return (['beyond', 'network'] as const).find((far) => reach.includes(far)) ?? 'folder';
}

function reasonOf(findings: readonly Finding[]): string {
  return `it ${[...new Set(findings.map((finding) => finding.reason))].join('; it ')}`;
}

/** Nothing keeps a command: only what plainly reads runs unasked. */
function withoutWalls(
  { command, place, found }: { command: string; place: Place; found: readonly Finding[] },
  { detail, fix }: WallState,
): Risk {
  if (found.length === 0 && onlyReads(command, place)) return { level: 'none' };
  const what = found.length === 0 ? 'it does more than read' : reasonOf(found);
  const reason = `${what}, and no wall keeps it in: ${detail}${fix === undefined ? '' : ` (${fix})`}`;
  return { level: 'ask', reason, key: '', preview: command, reach: 'beyond' };
}

const MAX_DEPTH = 6;
/** No file system has longer paths. */
const MAX_PATH = 4_096;

function readScript(text: string, { home, cwd }: Place): ShellScript {
  return lexScript(text, { HOME: home, ...(cwd === undefined ? {} : { PWD: cwd }) });
}

/** One simple command of a line, where it runs, and the program behind its wrappers; that is absent where only a shell's own words stand. */
export interface Simple {
  readonly command: ShellCommand;
  readonly place: Place;
  readonly unwrapped: ReturnType<typeof unwrapCommand>;
  readonly call?: Call;
}

function simpleCommands({ commands }: ShellScript, from: Place): readonly Simple[] {
  let here = from;
  return commands.map((command) => {
    const place = here;
    here = afterCommand(command, here);
    const unwrapped = unwrapCommand(command.words);
    const [first, ...args] = unwrapped.words;
    const { openEnded } = unwrapped;
    if (!first) return { command, place, unwrapped };
    return { command, place, unwrapped, call: { program: programName(first.text), args, command, place, openEnded } };
  });
}

/** A line, and what it hands to further shells. */
export interface Read {
  readonly text: string;
  readonly script: ShellScript;
  readonly simple: readonly Simple[];
  /** What is nested deeper is not read. */
  readonly isDeepest: boolean;
}

export function* readLine(text: string, place: Place, depth = 0): Generator<Read> {
  const script = readScript(text, place);
  const simple = simpleCommands(script, place);
  yield { text, script, simple, isDeepest: depth === MAX_DEPTH };
  if (depth === MAX_DEPTH) return;
  for (const { place: here, unwrapped, call } of simple) {
    const handed = unwrapped.scripts.map((word) => word.text);
    const code = call ? judgeCode(call, false).scripts : [];
    for (const inner of [...handed, ...code]) yield* readLine(inner, here, depth + 1);
  }
}

function findRisks(text: string, place: Place, depth = 0): readonly Finding[] {
  if (depth > MAX_DEPTH) return [ask('hides commands inside commands')];
  const script = readScript(text, place);
  const simple = simpleCommands(script, place);
  const doubts = script.doubts.map((doubt) => ask(`cannot be judged: ${doubt}`));
  const findings = [...doubts, ...simple.flatMap((one) => judgeCommand(one, script, depth))];
  return simple.some(makesLink) ? findings.map(throughLink) : findings;
}

/** A link that a command makes is not there yet when it is judged: what is deleted after it may be anything. */
function throughLink(finding: Finding): Finding {
  return finding.reach === 'folder' ? { ...finding, reach: 'beyond' } : finding;
}

function makesLink({ call }: Simple): boolean {
  const name = call?.program;
  return name === 'ln' || name === 'link' || (call && name === 'cp' && hasFlag(call, '-s', '--symbolic-link')) === true;
}

/** `cd` moves what follows; where it cannot be followed, relative paths are unknown. */
function afterCommand(command: ShellCommand, place: Place): Place {
  const [program, ...args] = command.words;
  if (program?.text !== 'cd' && program?.text !== 'pushd') return place;
  const word = args.find(({ text }) => !text.startsWith('-') || text === '-');
  if (!word) return { ...place, cwd: place.home };
  const path = word.certain && word.text !== '-' && !word.glob ? targetOf(word, place).path : undefined;
  return { ...place, cwd: path !== undefined && path.length <= MAX_PATH ? path : undefined };
}

function judgeCommand(simple: Simple, script: ShellScript, depth: number): readonly Finding[] {
  const { command, place, unwrapped, call } = simple;
  const redirects = redirectFindings({ command, place });
  const pre = [...redirects, ...judgeAssignments(command)];
  if (command.words.length === 0) return [...pre, ...inputFindings({ command, place, program: 'read' })];
  const nested = unwrapped.scripts.flatMap((word) => [
    ...(word.certain ? [] : [ask('runs code that is only known when it runs')]),
    ...findRisks(word.text, place, depth + 1),
  ]);
  const found = [...pre, ...unwrapped.findings, ...nested];
  const [first] = unwrapped.words;
  if (!first || !call) return found;
  if (isForkBomb(command, first, script)) return [...found, never('starts itself without end')];
  if (!first.certain || (first.glob && !/^\[{1,2}$/.test(first.text)))
    return [...found, ask('runs a program that is only known when it runs')];
  return [...found, ...judgeCall(call, { asRoot: unwrapped.asRoot, depth })];
}

interface How {
  readonly asRoot: boolean;
  readonly depth: number;
  readonly openEnded?: boolean;
  /** It is what stood behind a program that nobody knows. */
  readonly isTail?: boolean;
}

function judgeCall(call: Call, how: How): readonly Finding[] {
  const code = judgeCode(call, how.asRoot);
  return [
    ...verbFindings(call),
    ...programFindings(call),
    ...writeFindings(call),
    ...secretFindings(call),
    ...code.findings,
    ...code.scripts.flatMap((text) => findRisks(text, call.place, how.depth + 1)),
    ...judgeExec(call, how),
    ...judgeTail(call, how),
  ];
}

/** Programs whose further words are names or text, whatever they look like. */
const TAKES_TEXT =
  /^(?:git|hg|e?grep|fgrep|rg|ag|ack|g?sed|g?awk|jq|npm|pnpm|yarn|pip3?|apt|apt-get|brew|dnf|yum|apk|cargo|gem|go|ls|cat|head|tail|wc|sort|diff|cp|mv|ln|tar|touch|mkdir|rmdir?|chmod|chown|find|fd|cd|tee|curl|wget|kill|ssh|trap|eval|pkill|pgrep|killall|aws)$/;
const RUNS =
  /^(?:\S*\/)?(?:rm|rmdir|unlink|shred|rimraf|dd|mkfs\S*|wipefs|find|truncate|shutdown|reboot|sudo|env|xargs|(?:ba|z|da|k)?sh)$/;
const MOST_TAILS = 3;

/** A program that nobody knows may run what stands behind it: `setpriv --x rm -rf ~`. */
function judgeTail(call: Call, how: How): readonly Finding[] {
  if (how.isTail || TALKERS.test(call.program) || TAKES_TEXT.test(call.program)) return [];
  const starts = call.args.flatMap(({ text }, at) => (RUNS.test(text) ? [at] : [])).slice(0, MOST_TAILS);
  return starts.flatMap((at) =>
    judgeFed(call, call.args.slice(at), { ...how, openEnded: call.openEnded, isTail: true }),
  );
}

/** `find … -exec PROGRAM … ;` runs a program for every file that it finds. Each word belongs to one program only. */
function judgeExec(call: Call, how: How): readonly Finding[] {
  if (!/^fd(?:find)?$|^find$/.test(call.program) || how.depth > MAX_DEPTH) return [];
  const findings: Finding[] = [];
  for (let at = 0; at < call.args.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(call.args[at]?.text ?? '')) continue;
    const from = at + 1;
    while (at + 1 < call.args.length && !/^[;+]$/.test(call.args[at + 1]?.text ?? '')) at += 1;
    findings.push(...judgeFed(call, call.args.slice(from, at + 1), how));
  }
  return findings;
}

/** A program that gets its last arguments from elsewhere. */
function judgeFed(call: Call, fed: readonly ShellWord[], how: How): readonly Finding[] {
  const { words, findings, openEnded } = unwrapCommand(fed);
  const [first, ...args] = words;
  if (!first || how.depth > MAX_DEPTH) return findings;
  const given = args.filter((word) => word.text !== '{}');
  const isFed = (how.openEnded ?? true) || openEnded;
  const inner: Call = { ...call, program: programName(first.text), args: given, openEnded: isFed };
  return [...findings, ...judgeCall(inner, { ...how, depth: how.depth + 1 })];
}

/** Loading code into every program that follows. */
function judgeAssignments(command: ShellCommand): readonly Finding[] {
  const loads = command.assignments.some(({ name }) => /^(?:LD_PRELOAD|DYLD_\w+|BASH_ENV|PROMPT_COMMAND)$/.test(name));
  return loads ? [ask('loads code into other programs')] : [];
}

function isForkBomb(command: ShellCommand, first: ShellWord, script: ShellScript): boolean {
  if (!script.functions.has(first.text)) return false;
  return command.pipedFrom?.words[0]?.text === first.text;
}

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
