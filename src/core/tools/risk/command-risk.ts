// Owns the verdict on a shell command: reads it, takes wrappers off, asks every rule, keeps the strictest answer.
// Knows no approver. Invariant: never throws, linear in its input; what cannot be read needs an answer, whatever it looks like.
// Serves the approval policy of the design (hard list never, risky list asks).
import type { Risk } from '#core/agent/tool.ts';
import { lexScript } from '../shell/lex-script.ts';
import type { ShellCommand, ShellScript, ShellWord } from '../shell/shell-script.ts';
import { judgeCode } from './code-rules.ts';
import { ask, type Call, type Finding, never, programName } from './finding.ts';
import { makePlace, type Place, type PlaceOptions, targetOf } from './place.ts';
import { programFindings } from './program-rules.ts';
import { unwrapCommand } from './unwrap-command.ts';
import { verbFindings } from './verb-rules.ts';
import { inputFindings, redirectFindings, secretFindings, writeFindings, writtenPaths } from './write-rules.ts';

/** How dangerous `command` is when a shell runs it in `place.cwd`. */
export function commandRisk(command: string, options: PlaceOptions): Risk {
  const findings = findRisks(command, makePlace(options));
  const worst = findings.find(({ level }) => level === 'never');
  if (worst) return { level: 'never', reason: `it ${worst.reason}` };
  if (findings.length === 0) return { level: 'none' };
  const reason = `it ${[...new Set(findings.map((finding) => finding.reason))].join('; it ')}`;
  const key = [...new Set(findings.map((finding) => finding.key))].sort().join('\n');
  return { level: 'ask', reason, key, preview: command };
}

const MAX_DEPTH = 6;
/** No file system has longer paths. */
const MAX_PATH = 4_096;

/** Absolute paths of what `command` names as written, with what it hands to further shells; folders are among them. */
export function pathsWritten(command: string, options: PlaceOptions): readonly string[] {
  return [...new Set(findWritten(command, makePlace(options)))];
}

function findWritten(text: string, place: Place, depth = 0): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  let here = place;
  return readScript(text, place).commands.flatMap((command) => {
    const at = here;
    here = afterCommand(command, here);
    const { words, scripts, openEnded } = unwrapCommand(command.words);
    const [first, ...args] = words;
    const call = first && { program: programName(first.text), args, command, place: at, openEnded };
    const code = call ? judgeCode(call, false).scripts : [];
    const nested = [...scripts.filter(({ certain }) => certain).map((word) => word.text), ...code];
    return [...writtenPaths({ command, place: at }, call), ...nested.flatMap((one) => findWritten(one, at, depth + 1))];
  });
}

function readScript(text: string, { home, cwd }: Place): ShellScript {
  return lexScript(text, { HOME: home, ...(cwd === undefined ? {} : { PWD: cwd }) });
}

function findRisks(text: string, place: Place, depth = 0): readonly Finding[] {
  if (depth > MAX_DEPTH) return [ask('hides commands inside commands', `nested ${text}`)];
  const script = readScript(text, place);
  const findings: Finding[] = script.doubts.map((doubt) => ask(`cannot be judged: ${doubt}`, text));
  let here = place;
  for (const command of script.commands) {
    findings.push(...judgeCommand(command, { place: here, script, depth }));
    here = afterCommand(command, here);
  }
  return findings;
}

interface Reading {
  readonly place: Place;
  readonly script: ShellScript;
  readonly depth: number;
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

function judgeCommand(command: ShellCommand, reading: Reading): readonly Finding[] {
  const { place, script, depth } = reading;
  const redirects = redirectFindings({ command, place });
  const pre = [...redirects, ...judgeAssignments(command)];
  if (command.words.length === 0) return [...pre, ...inputFindings({ command, place, program: 'read' })];
  const unwrapped = unwrapCommand(command.words);
  const nested = unwrapped.scripts.flatMap((word) => [
    ...judgeUncertain(word),
    ...findRisks(word.text, place, depth + 1),
  ]);
  const found = [...pre, ...unwrapped.findings, ...nested];
  const [first, ...args] = unwrapped.words;
  if (!first) return found;
  if (isForkBomb(command, first, script)) return [...found, never('starts itself without end')];
  if (!first.certain || (first.glob && !/^\[{1,2}$/.test(first.text)))
    return [
      ...found,
      ask('runs a program that is only known when it runs', unwrapped.words.map(({ text }) => text).join(' ')),
    ];
  const call: Call = { program: programName(first.text), args, command, place, openEnded: unwrapped.openEnded };
  return [...found, ...judgeCall(call, { asRoot: unwrapped.asRoot, depth })];
}

function judgeUncertain(word: ShellWord): readonly Finding[] {
  return word.certain ? [] : [ask('runs code that is only known when it runs', word.text)];
}

function judgeCall(call: Call, how: { readonly asRoot: boolean; readonly depth: number }): readonly Finding[] {
  const code = judgeCode(call, how.asRoot);
  return [
    ...verbFindings(call),
    ...programFindings(call),
    ...writeFindings(call),
    ...secretFindings(call),
    ...code.findings,
    ...code.scripts.flatMap((text) => findRisks(text, call.place, how.depth + 1)),
    ...judgeExec(call, how),
  ];
}

/** `find … -exec PROGRAM … ;` runs a program for every file that it finds. Each word belongs to one program only. */
function judgeExec(call: Call, how: { readonly asRoot: boolean; readonly depth: number }): readonly Finding[] {
  if (call.program !== 'find' || how.depth > MAX_DEPTH) return [];
  const findings: Finding[] = [];
  for (let at = 0; at < call.args.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(call.args[at]?.text ?? '')) continue;
    const from = at + 1;
    while (at + 1 < call.args.length && !/^[;+]$/.test(call.args[at + 1]?.text ?? '')) at += 1;
    findings.push(...judgeFed(call, call.args.slice(from, at + 1), how));
  }
  return findings;
}

/** A program that gets its last arguments from elsewhere. */
function judgeFed(
  call: Call,
  fed: readonly ShellWord[],
  how: { readonly asRoot: boolean; readonly depth: number },
): readonly Finding[] {
  const { words, findings } = unwrapCommand(fed);
  const [first, ...args] = words;
  if (!first) return findings;
  const given = args.filter((word) => word.text !== '{}');
  const inner: Call = { ...call, program: programName(first.text), args: given, openEnded: true };
  return [...findings, ...judgeCall(inner, { ...how, depth: how.depth + 1 })];
}

/** Loading code into every program that follows. */
function judgeAssignments(command: ShellCommand): readonly Finding[] {
  const hooks = command.assignments.filter(({ name }) =>
    /^(?:LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|BASH_ENV|PROMPT_COMMAND|PATH)$/.test(name),
  );
  return hooks
    .filter(({ name }) => name !== 'PATH' && name !== 'LD_LIBRARY_PATH')
    .map(({ name }) => ask('loads code into other programs', name));
}

function isForkBomb(command: ShellCommand, first: ShellWord, script: ShellScript): boolean {
  if (!script.functions.has(first.text)) return false;
  return command.pipedFrom?.words[0]?.text === first.text;
}
