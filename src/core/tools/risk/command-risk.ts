// Owns the verdict on a shell command: reads it, takes wrappers off, asks every rule, keeps the strictest answer.
// Knows no approver. Invariant: never throws, linear in its input; what cannot be read needs an answer, whatever it looks like.
// Serves the approval policy of the design (hard list never, risky list asks).
import type { Reach } from '#core/agent/approver.ts';
import type { Risk } from '#core/agent/tool.ts';
import { lexScript } from '../shell/lex-script.ts';
import type { ShellCommand, ShellScript, ShellWord } from '../shell/shell-script.ts';
import type { WallState } from '../walls/walls.ts';
import { judgeCode } from './code-rules.ts';
import { ask, type Call, type Finding, hasFlag, never, programName } from './finding.ts';
import { makePlace, type Place, type PlaceOptions, targetOf } from './place.ts';
import { programFindings } from './program-rules.ts';
import { onlyReads } from './read-only.ts';
import { unwrapCommand } from './unwrap-command.ts';
import { verbFindings } from './verb-rules.ts';
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

export const MAX_DEPTH = 6;
/** No file system has longer paths. */
const MAX_PATH = 4_096;

export function readScript(text: string, { home, cwd }: Place): ShellScript {
  return lexScript(text, { HOME: home, ...(cwd === undefined ? {} : { PWD: cwd }) });
}

function findRisks(text: string, place: Place, depth = 0): readonly Finding[] {
  if (depth > MAX_DEPTH) return [ask('hides commands inside commands')];
  const script = readScript(text, place);
  const findings: Finding[] = script.doubts.map((doubt) => ask(`cannot be judged: ${doubt}`));
  let here = place;
  for (const command of script.commands) {
    findings.push(...judgeCommand(command, { place: here, script, depth }));
    here = afterCommand(command, here);
  }
  return throughLink(script, findings);
}

/** A link that a command makes is not there yet when it is judged: what is deleted after it may be anything. */
function throughLink({ commands }: ShellScript, findings: readonly Finding[]): readonly Finding[] {
  const makesLink = commands.some(({ words }) => {
    const [first, ...args] = unwrapCommand(words).words;
    const name = programName(first?.text ?? '');
    return name === 'ln' || name === 'link' || (name === 'cp' && hasFlag({ args }, '-s', '--symbolic-link'));
  });
  if (!makesLink) return findings;
  return findings.map((finding) => (finding.reach === 'folder' ? { ...finding, reach: 'beyond' as const } : finding));
}

interface Reading {
  readonly place: Place;
  readonly script: ShellScript;
  readonly depth: number;
}

/** `cd` moves what follows; where it cannot be followed, relative paths are unknown. */
export function afterCommand(command: ShellCommand, place: Place): Place {
  const [program, ...args] = command.words;
  if (program?.text !== 'cd' && program?.text !== 'pushd') return place;
  const word = args.find(({ text }) => !text.startsWith('-') || text === '-');
  if (!word) return { ...place, cwd: place.home };
  const path = word.certain && word.text !== '-' && !word.glob ? targetOf(word, place).path : undefined;
  return { ...place, cwd: path !== undefined && path.length <= MAX_PATH ? path : undefined };
}

function judgeCommand(command: ShellCommand, reading: Reading): readonly Finding[] {
  const { place, script, depth } = reading;
  const redirects = redirectFindings({ command, place });
  const pre = [...redirects, ...judgeAssignments(command)];
  if (command.words.length === 0) return [...pre, ...inputFindings({ command, place, program: 'read' })];
  const unwrapped = unwrapCommand(command.words);
  const nested = unwrapped.scripts.flatMap((word) => [
    ...(word.certain ? [] : [ask('runs code that is only known when it runs')]),
    ...findRisks(word.text, place, depth + 1),
  ]);
  const found = [...pre, ...unwrapped.findings, ...nested];
  const [first, ...args] = unwrapped.words;
  if (!first) return found;
  if (isForkBomb(command, first, script)) return [...found, never('starts itself without end')];
  if (!first.certain || (first.glob && !/^\[{1,2}$/.test(first.text)))
    return [...found, ask('runs a program that is only known when it runs')];
  const call: Call = { program: programName(first.text), args, command, place, openEnded: unwrapped.openEnded };
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
