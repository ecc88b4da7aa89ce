// Owns the intents `run` and `script`: a command that the owner spelled out goes to the terminal letter for letter; `run the tests`,
// `build`, `start` become the command that a file of the project names. Knows no shell.
// Invariant: what deletes, overwrites or sends is shown exactly and asked about first, here or by the approval, never by both (reflex 8).
import {
  type ProjectScript,
  type ReflexInput,
  type ReflexMatch,
  type ReflexRule,
  type ReflexStep,
  SAME_FILE,
} from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { commandsRun, quoteCommand, shellWord } from './answers.ts';
import { bareCommand, ownQuestion, spokenCommand } from './command-line.ts';

const FORMS: readonly string[] = [
  '(run|execute|exec|do|launch|start|call) [the] [shell|terminal] command {command:rest}',
  '(run|execute|exec|launch) {command:rest}',
  '(start|call|use|try) {command:quoted}',
  'what does {command:quoted} (print|say|output|return|show|give)',
  'show [me] the output of {command:rest}',
];
const DELETE: readonly string[] = [
  '(delete|remove|erase|trash|get rid of|throw away) {gone:file}',
  '(delete|remove|erase|get rid of) {tree:folder}',
  '(delete|remove|erase) [it|that|this|something|a file|file] !command',
];
const AGAIN: readonly string[] = [
  '(run|do|execute|try) (it|that|this|[the|that] [last|previous|same] (command|one|thing)) (again|once more|one more time)',
  '(run|execute) the (last|previous|same) (command|one) [again]',
  '(again|rerun|!!|once more|repeat (it|that|[the] last command)|rerun (it|that|[the] last command))',
];
const OPEN: readonly string[] = ['(run|execute) [it|that|this|something|a command|command]'];
/** A bare command gives way to whatever was said in words. */
const BARE = 0.93;
const UNSURE = 0.5;

export const runRule: ReflexRule = {
  purpose: 'act',
  intent: 'run',
  effect: 'write',
  examples: ['run `git status`', '$ ls -la', 'execute ls -la'],

  match(input) {
    const verbatim = /^\s*[$!]\s+(\S.*)$/.exec(input.text)?.[1] ?? /^\s*!([^!\s].*)$/.exec(input.text)?.[1];
    if (verbatim !== undefined) return { score: 1, slots: { command: verbatim.trim() } };
    if (input.fit(AGAIN) !== undefined) return commandMatch(commandsRun(input.history)[0]);
    if (input.fit(OPEN) !== undefined) return commandMatch(undefined);
    const fit = input.fit(FORMS);
    return fit === undefined ? (deletion(input) ?? bare(input)) : spokenMatch(fit);
  },

  restate({ slots }) {
    const command = slots.command ?? '';
    return command.includes('`') ? `$ ${command}` : `run \`${command}\``;
  },

  missing(_match, input) {
    const before = commandsRun(input.history).slice(0, 3);
    const offered = before.length > 0 ? before : input.folder.scripts.slice(0, 3).map(({ command }) => command);
    const choices = (offered.length > 0 ? offered : ['git status', 'ls -la']).map((command) => `run \`${command}\``);
    return { type: 'ask', question: 'Run which command?', choices, fill: 'run {}' };
  },

  act: (match, input, results) => runStep(match.slots.command ?? '', { input, results, line: runRule.restate(match) }),
};

function deletion(input: ReflexInput): ReflexMatch | undefined {
  const fit = input.fit(DELETE);
  if (fit === undefined || fit.missing !== undefined) return fit;
  const { gone, tree = '' } = fit.slots;
  if (gone === SAME_FILE) return { ...fit, slots: {}, missing: 'command' };
  return { ...fit, slots: { command: gone === undefined ? `rm -r ${shellWord(tree)}` : `rm ${shellWord(gone)}` } };
}

function spokenMatch(fit: ReflexMatch): ReflexMatch | undefined {
  const command = (fit.slots.command ?? '').replace(/^(?:this|the following)(?: command)?:\s*/i, '');
  const quoted = /^(?:```\w*\n)?[`"]?(?<=[`"\n])([^`]+?)\n?[`"]+$/.exec(command)?.[1];
  const spoken = spokenCommand(quoted ?? command, quoted !== undefined || fit.slots['command.quoted'] !== undefined);
  return spoken && { score: spoken.sure ? fit.score : UNSURE, slots: { command: spoken.command } };
}

function commandMatch(command: string | undefined): ReflexMatch {
  return command === undefined ? { score: 1, slots: {}, missing: 'command' } : { score: 1, slots: { command } };
}

function bare({ words }: ReflexInput): ReflexMatch | undefined {
  const found = bareCommand(words);
  return found && { score: found.sure ? BARE : UNSURE, slots: { command: found.command } };
}

interface Running {
  readonly input: Pick<ReflexInput, 'confirmed'>;
  readonly results: readonly ToolResultPart[];
  /** What picks exactly this out of the question. */
  readonly line: string;
}

/** Asks where nobody else would, runs, and quotes. */
export function runStep(command: string, { input, results: [result], line }: Running): ReflexStep {
  if (result !== undefined) return quoteCommand(command, result);
  const what = input.confirmed ? undefined : ownQuestion(command);
  if (what === undefined) return { type: 'call', calls: [{ name: 'terminal', arguments: { command } }] };
  return { type: 'ask', question: `This ${what}: ${command}\nRun exactly that?`, choices: [line], confirms: true };
}

const KINDS: readonly (readonly [kind: string, forms: readonly string[], names: RegExp])[] = [
  [
    'tests',
    [
      '(run|execute|start|do|launch|rerun) [all] [of] [my|our] [all] [unit|project] (tests|test|specs|testsuite|test suite|test suites|testing) [suite] [again|here|of this project]',
      'test (it|this|everything|the project|my code|the code|the app|this project)',
      '(do|are|did) (the|my|our|all) tests (pass|work|passing|green|ok)',
      'tests',
    ],
    /^(?:unit-?)?tests?(?:[:-].*)?$|^spec$|^check$/i,
  ],
  [
    'build',
    [
      '(run|execute|start|do|launch|make) (the|a|my|our) [project] build',
      '(build|compile|rebuild) [it|this|everything|project|[the|my|our|this] (project|app|code|site|package|library)] [again|from scratch]',
      '(run|do|execute) build',
    ],
    /^(?:build|compile|bundle|dist|all)(?:[:-].*)?$/i,
  ],
  [
    'start',
    [
      '(start|launch|boot|run|fire up|bring up|serve) [my|our|this|up] [dev|development|local|web] (app|server|project|application|site|website|program|service) [up]',
      '(start|start it|start it up|launch it|serve)',
      '(start|run|launch) [the] (dev|dev server)',
    ],
    /^(?:start|dev|serve|run|server)(?:[:-].*)?$/i,
  ],
];
const NAMED: readonly string[] = [
  '(run|start|execute|do) [the] [npm|package|make|project] (script|target|task) [called|named] {script:name}',
  '(run|start|execute) {script:name} [script|target|task]',
];

export const scriptRule: ReflexRule = {
  purpose: 'act',
  intent: 'script',
  effect: 'write',
  examples: ['run the tests', 'build', 'start the app'],

  match(input) {
    const kind = KINDS.flatMap(([name, forms]) => {
      const fit = input.fit(forms);
      return fit === undefined ? [] : [{ score: fit.score, slots: { kind: name } }];
    })[0];
    if (kind !== undefined) return kind;
    const fit = input.fit(NAMED);
    const script = input.folder.scripts.find(({ name }) => name === fit?.slots.script);
    return fit && script && { score: fit.score, slots: { script: script.name } };
  },

  restate: ({ slots }) =>
    slots.script === undefined ? (RESTATED[slots.kind ?? ''] ?? '') : `run the script ${slots.script}`,

  act({ slots }, input, results) {
    const found = scriptsFor(slots, input.folder.scripts);
    const [only, ...more] = found;
    if (only === undefined) return nothingThere(slots.kind ?? '', input.folder.scripts);
    const line = `run \`${only.command}\``;
    if (more.length === 0) return runStep(only.command, { input, results, line });
    return {
      type: 'ask',
      question: `The project names ${found.length} of these:`,
      choices: found.slice(0, 4).map(({ command }) => `run \`${command}\``),
    };
  },
};

const RESTATED: Readonly<Record<string, string>> = {
  tests: 'run the tests',
  build: 'run the build',
  start: 'start the app',
};

/** One that has just the name of the kind stands for all that begin with it; of several files the first counts. */
function scriptsFor(
  { script, kind }: ReflexMatch['slots'],
  scripts: readonly ProjectScript[],
): readonly ProjectScript[] {
  if (script !== undefined) return scripts.filter(({ name }) => name === script).slice(0, 1);
  const names = KINDS.find(([name]) => name === kind)?.[2];
  const fitting = scripts.filter(({ name }) => names?.test(name) === true);
  const plain = fitting.find(({ name }) => name === kind || `${name}s` === kind);
  return plain === undefined ? fitting : [plain];
}

function nothingThere(kind: string, scripts: readonly ProjectScript[]): ReflexStep {
  const there = scripts.slice(0, 8).map(({ command, file }) => `${command} (${file})`);
  const text = `No project file here names a command for: ${kind}.`;
  return {
    type: 'say',
    text: there.length === 0 ? `${text} Spell it out: run \`…\`.` : `${text} There is: ${there.join(', ')}.`,
  };
}
