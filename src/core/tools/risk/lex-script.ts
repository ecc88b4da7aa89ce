// Owns reading a whole command line into simple commands without running anything: separators, pipes, subshells, redirects, here-documents,
// reserved words, builtins that set variables. Knows no rule about what is dangerous. Invariants: never throws, linear in its input, every simple
// command of the text comes out; a name that may have been changed is never taken for its old value.
import {
  isProcessSubstitution,
  type LexShared,
  type LexState,
  lexExpandedText,
  lexWord,
  readNested,
  type ShellCommand,
  type ShellRedirect,
  type ShellScript,
  type ShellWord,
  setVariable,
} from './lex-word.ts';

/** Longer texts are not read: nobody types them, and nobody can approve them by looking. */
const MAX_SCRIPT = 100_000;

/** Reads `text` as a POSIX or bash script. `variables` are values that are known beforehand, e.g. HOME. */
export function lexScript(text: string, variables: Readonly<Record<string, string>> = {}): ShellScript {
  const shared = {
    variables: new Map(Object.entries(variables)),
    commands: [],
    functions: new Set<string>(),
    doubts: new Set<string>(),
  };
  const state: LexState = { text: text.slice(0, MAX_SCRIPT), at: 0, depth: 0, shared, readScript };
  if (text.length > MAX_SCRIPT) shared.doubts.add('it is too long to be read');
  while (state.at < state.text.length) readScript(state, '');
  return { commands: shared.commands, functions: shared.functions, doubts: [...shared.doubts] };
}

/** The command that is being read, and what surrounds it. */
interface Frame {
  words: ShellWord[];
  redirects: ShellRedirect[];
  input: string | undefined;
  pipedFrom: ShellCommand | undefined;
  /** Here-documents whose bodies begin on the next line. */
  heredocs: Heredoc[];
}

interface Heredoc {
  readonly delimiter: string;
  readonly expands: boolean;
  readonly stripTabs: boolean;
  /** The command that reads it, once it is complete. */
  owner?: { input?: string };
}

function readScript(state: LexState, closer: ')' | ''): void {
  const frame: Frame = { words: [], redirects: [], input: undefined, pipedFrom: state.pipe, heredocs: [] };
  while (state.at < state.text.length) {
    const char = state.text[state.at] ?? '';
    if (char !== ')') readToken(state, frame, char);
    else {
      state.at += 1;
      endCommand(state, frame);
      if (closer === ')') return;
    }
  }
  endCommand(state, frame);
}

function readToken(state: LexState, frame: Frame, char: string): void {
  if (char === ' ' || char === '\t' || char === '\r') state.at += 1;
  else if (char === '\n') endLine(state, frame);
  else if (char === '#') skipComment(state);
  else if (char === '\\' && state.text[state.at + 1] === '\n') state.at += 2;
  else if (readRedirect(state, frame)) return;
  else if (char === ';' || char === '&' || char === '|') readSeparator(state, frame);
  else if (char === '(') openParenthesis(state, frame);
  else frame.words.push(...lexWord(state));
}

function skipComment(state: LexState): void {
  const end = state.text.indexOf('\n', state.at);
  state.at = end < 0 ? state.text.length : end;
}

function readSeparator(state: LexState, frame: Frame): void {
  const operator = /^(?:\|\||&&|\|&|;;&|;;|;&|[;&|])/.exec(state.text.slice(state.at, state.at + 3))?.[0] ?? ';';
  state.at += operator.length;
  const ended = endCommand(state, frame, operator === '&');
  const pipes = operator === '|' || operator === '|&';
  frame.pipedFrom = pipes ? (ended ?? state.shared.commands.at(-1)) : state.pipe;
}

/** `name()` defines a function; anything else opens a subshell that reads from the same pipe. */
function openParenthesis(state: LexState, frame: Frame): void {
  const pair = /^\(\s{0,20}\)/.exec(state.text.slice(state.at, state.at + 24))?.[0];
  const name = frame.words.at(-1);
  if (pair !== undefined && name && frame.words.length <= 2) {
    state.shared.functions.add(name.text);
    frame.words = [];
    state.at += pair.length;
    return;
  }
  state.at += 1;
  readNested(state, ')', frame.pipedFrom);
}

/** Pushes what was read; returns it, or undefined when there was nothing. */
function endCommand(state: LexState, frame: Frame, background = false): ShellCommand | undefined {
  const { words, redirects, input, pipedFrom } = frame;
  Object.assign(frame, { words: [], redirects: [], input: undefined });
  const isPiece = words.length > 0 || redirects.length > 0 || input !== undefined;
  if (!isPiece) return undefined;
  const plain = dropKeywords(words, state.shared);
  const { assignments, rest } = splitAssignments(plain);
  const command: ShellCommand = {
    words: rest,
    assignments,
    redirects,
    background,
    ...(input === undefined ? {} : { input }),
    ...(pipedFrom ? { pipedFrom } : {}),
  };
  state.shared.commands.push(command);
  learnVariables(command, state.shared);
  for (const heredoc of frame.heredocs) heredoc.owner ??= command;
  return command;
}

const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]]{0,100}\])?\+?=/;

function splitAssignments(words: readonly ShellWord[]) {
  const assignments: { name: string; value: ShellWord }[] = [];
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at];
    const match = word ? ASSIGNMENT.exec(word.text) : null;
    if (!word || !match?.[1]) break;
    const isPlain = match[0] === `${match[1]}=`;
    const value = { ...word, text: word.text.slice(match[0].length), certain: word.certain && isPlain };
    assignments.push({ name: match[1], value });
  }
  return { assignments, rest: words.slice(at) };
}

const REDIRECT = /^(?:\d{0,4}|&)(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)/;

/** Reads a redirect at `at`; false when there is none. `2>&1` and its kin name a descriptor and no file. */
function readRedirect(state: LexState, frame: Frame): boolean {
  const match = REDIRECT.exec(state.text.slice(state.at, state.at + 8));
  const operator = match?.[1];
  if (!match || operator === undefined || isProcessSubstitution(state)) return false;
  state.at += match[0].length;
  skipBlanks(state);
  const target = isProcessSubstitution(state) || !atSeparator(state) ? lexWord(state) : [];
  const [word, ...more] = target;
  if (!word) return true;
  frame.words.push(...more);
  if (operator.startsWith('<<')) takeInput(frame, operator, word);
  else if (!(operator.endsWith('&') && /^(?:\d+-?|-)$/.test(word.text))) {
    frame.redirects.push({ operator, target: word });
  }
  return true;
}

function skipBlanks(state: LexState): void {
  while (state.text[state.at] === ' ' || state.text[state.at] === '\t') state.at += 1;
}

function atSeparator(state: LexState): boolean {
  return [undefined, '\n', ';', '|', '&', '(', ')', '<', '>'].includes(state.text[state.at]);
}

function takeInput(frame: Frame, operator: string, word: ShellWord): void {
  if (operator === '<<<') frame.input = word.text;
  else {
    frame.heredocs.push({ delimiter: word.text, expands: !word.quoted, stripTabs: operator === '<<-' });
    frame.input ??= '';
  }
}

function endLine(state: LexState, frame: Frame): void {
  state.at += 1;
  endCommand(state, frame);
  frame.pipedFrom = state.pipe;
  const { heredocs } = frame;
  frame.heredocs = [];
  for (const heredoc of heredocs) readBody(state, heredoc);
}

function readBody(state: LexState, heredoc: Heredoc): void {
  const lines: string[] = [];
  while (state.at < state.text.length) {
    const end = state.text.indexOf('\n', state.at);
    const stop = end < 0 ? state.text.length : end;
    const raw = state.text.slice(state.at, stop);
    state.at = stop + 1;
    const line = heredoc.stripTabs ? raw.replace(/^\t+/, '') : raw;
    if (line === heredoc.delimiter) break;
    lines.push(line);
  }
  const body = lines.join('\n');
  if (heredoc.owner) heredoc.owner.input = body;
  if (heredoc.expands) lexExpandedText(state, body);
}

const LEADING = new Set('if then else elif while until do { } ! coproc fi done esac'.split(' '));
const LOOPS = new Set(['for', 'select']);

/** The words of a simple command without the reserved words before it; empty when there is only syntax. */
function dropKeywords(words: readonly ShellWord[], shared: LexShared): readonly ShellWord[] {
  let at = 0;
  while (at < words.length && isKeyword(words[at], LEADING)) at += 1;
  const first = words[at];
  if (isKeyword(first, LOOPS)) {
    setUnknown(shared, words[at + 1]?.text);
    return [];
  }
  // The pattern of a `case` stands where a command would; it runs nothing.
  if (isKeyword(first, new Set(['case']))) return [];
  if (isKeyword(first, new Set(['function']))) {
    shared.functions.add(words[at + 1]?.text ?? '');
    return dropKeywords(words.slice(at + 2), shared);
  }
  return at === 0 ? words : words.slice(at);
}

function isKeyword(word: ShellWord | undefined, names: ReadonlySet<string>): boolean {
  return word !== undefined && !word.quoted && names.has(word.text);
}

const DECLARES = new Set(['export', 'declare', 'typeset', 'local', 'readonly']);
const SETS_NAMES = new Set(['read', 'mapfile', 'readarray', 'getopts', 'unset', 'let', 'printf']);

/** Follows assignments: alone on a line they count for what comes after; before a program they do not. */
function learnVariables(command: ShellCommand, shared: LexShared): void {
  const [program, ...args] = command.words;
  if (!program) {
    for (const { name, value } of command.assignments)
      setVariable(shared, name, value.certain ? value.text : undefined);
    return;
  }
  if (DECLARES.has(program.text)) for (const arg of args) declare(arg, shared);
  if (SETS_NAMES.has(program.text)) for (const arg of args) setUnknown(shared, arg.text);
}

function declare(word: ShellWord, shared: LexShared): void {
  const cut = word.text.indexOf('=');
  if (cut > 0) setVariable(shared, word.text.slice(0, cut), word.certain ? word.text.slice(cut + 1) : undefined);
}

function setUnknown(shared: LexShared, name: string | undefined): void {
  if (name !== undefined && /^[A-Za-z_]\w*$/.test(name) && (shared.variables.has(name) || shared.variables.size < 64)) {
    shared.variables.set(name, undefined);
  }
}
