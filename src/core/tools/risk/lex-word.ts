// Owns the data that a command line becomes when it is read without being run, and reading one word of it: quotes, escapes, variables,
// substitutions, braces. Knows no command and no rule. Invariants: what is only known when the shell runs is marked as uncertain, never guessed;
// reading moves forward by at least one character; a quoted character never acts as an operator.

export interface ShellWord {
  /** The word as the shell would pass it: quotes gone, known variables put in, unknown ones left as `$NAME`. */
  readonly text: string;
  /** False when a part is only known at run time (substitution, unknown variable). */
  readonly certain: boolean;
  /** Holds an unquoted `*`, `?` or `[`. */
  readonly glob: boolean;
  readonly quoted: boolean;
}

export interface ShellRedirect {
  /** Without its file descriptor: `>`, `>>`, `<`, `&>`, `>|`, `<>`, `>&`. */
  readonly operator: string;
  readonly target: ShellWord;
}

/** One simple command, wherever it stood: in a pipe, a subshell, a substitution, the body of a loop or function. */
export interface ShellCommand {
  readonly words: readonly ShellWord[];
  readonly assignments: readonly { readonly name: string; readonly value: ShellWord }[];
  readonly redirects: readonly ShellRedirect[];
  /** Body of a here-document or here-string. */
  readonly input?: string;
  /** The command whose output it reads. */
  readonly pipedFrom?: ShellCommand;
  readonly background: boolean;
}

export interface ShellScript {
  /** In order of appearance; inner commands of a substitution come before the command that holds it. */
  readonly commands: readonly ShellCommand[];
  /** Names of functions that the script defines. */
  readonly functions: ReadonlySet<string>;
  /** Why a part could not be read; empty for an ordinary script. */
  readonly doubts: readonly string[];
}

/** What a reader of scripts keeps while it reads. Positions only go forward: reading is linear. */
export interface LexState {
  readonly text: string;
  at: number;
  readonly depth: number;
  readonly shared: LexShared;
  /** What the script as a whole reads from: the command before the pipe that leads into a subshell. */
  readonly pipe?: ShellCommand | undefined;
  /** Reads a nested script from `at` to the closing parenthesis (or the end). */
  readonly readScript: (state: LexState, closer: ')' | '') => void;
}

/** Shared by a script and everything nested in it. */
export interface LexShared {
  /** Known values; `undefined`: the name is set to something unknown. */
  variables: Map<string, string | undefined>;
  readonly commands: ShellCommand[];
  readonly functions: Set<string>;
  readonly doubts: Set<string>;
}

const MAX_NESTING = 24;
const MAX_VARIABLES = 64;

/** A reader of `text` inside of `state`: same variables, same list of commands. */
function nestedState(state: LexState, text: string): LexState {
  return { text, at: 0, depth: state.depth + 1, shared: state.shared, readScript: state.readScript };
}

/** A name that was set twice to different values has an unknown value: which one counts is only known at run time. */
export function setVariable(shared: LexShared, name: string, value: string | undefined): void {
  const { variables } = shared;
  if (variables.has(name) && variables.get(name) !== value) variables.set(name, undefined);
  else if (variables.size < MAX_VARIABLES) variables.set(name, value);
  else shared.doubts.add('it sets more variables than can be followed');
}

/** Reads a nested script; variables that it sets are its own. */
export function readNested(state: LexState, closer: ')' | '', pipe?: ShellCommand) {
  const { shared } = state;
  if (state.depth >= MAX_NESTING) return giveUp(state);
  const outer = new Map(shared.variables);
  const inner = { ...state, depth: state.depth + 1, pipe };
  state.readScript(inner, closer);
  state.at = inner.at;
  shared.variables = outer;
}

interface Draft {
  text: string;
  certain: boolean;
  glob: boolean;
  quoted: boolean;
  /** Something was read, so that `''` is a word. */
  started: boolean;
  /** An unquoted brace is open: with a comma it is a list, and the word falls apart. */
  list: boolean;
  readonly done: ShellWord[];
}

const WORD_END = new Set([' ', '\t', '\n', '\r', ';', '|', '&', '(', ')', '<', '>']);
const ESCAPED_IN_QUOTES = new Set(['$', '`', '"', '\\', '\n']);

/** Words at `state.at`: one, or several when an unquoted variable falls apart, or none. */
export function lexWord(state: LexState): readonly ShellWord[] {
  const draft = newDraft();
  if (isProcessSubstitution(state)) readProcessSubstitution(state, draft);
  while (state.at < state.text.length && !WORD_END.has(state.text[state.at] ?? '')) readPart(state, draft);
  endField(draft);
  return draft.done;
}

/** Runs the substitutions of a text that is expanded like a double-quoted one (an unquoted here-document). */
export function lexExpandedText(state: LexState, text: string): void {
  const inner = nestedState(state, text);
  const draft = newDraft();
  while (inner.at < text.length) readQuotedPart(inner, draft);
}

export function isProcessSubstitution(state: LexState): boolean {
  const pair = state.text.slice(state.at, state.at + 2);
  return pair === '<(' || pair === '>(';
}

function newDraft(): Draft {
  return { text: '', certain: true, glob: false, quoted: false, started: false, list: false, done: [] };
}

function readProcessSubstitution(state: LexState, draft: Draft): void {
  state.at += 2;
  readNested(state, ')');
  add(draft, '<(…)', { certain: false });
}

function add(
  draft: Draft,
  text: string,
  marks: { readonly certain?: boolean; readonly glob?: boolean; readonly quoted?: boolean } = {},
): void {
  draft.text += text;
  draft.started = true;
  if (marks.certain === false) draft.certain = false;
  if (marks.glob) draft.glob = true;
  if (marks.quoted) draft.quoted = true;
}

function endField(draft: Draft): void {
  if (draft.started) {
    draft.done.push({ text: draft.text, certain: draft.certain, glob: draft.glob, quoted: draft.quoted });
  }
  Object.assign(draft, newDraft(), { done: draft.done });
}

const PARTS: Readonly<Record<string, (state: LexState, draft: Draft) => void>> = {
  "'": readSingleQuoted,
  '"': readDoubleQuoted,
  '\\': readEscape,
  $: (state, draft) => readDollar(state, draft, false),
  '`': readBackticks,
  '~': readTilde,
};

function readPart(state: LexState, draft: Draft) {
  const char = state.text[state.at] ?? '';
  const special = PARTS[char];
  if (special) return special(state, draft);
  state.at += 1;
  if (char === '{') draft.list = true;
  if (char === ',' && draft.list) draft.certain = false;
  add(draft, char, { glob: char === '*' || char === '?' || char === '[' });
}

function readSingleQuoted(state: LexState, draft: Draft): void {
  const end = state.text.indexOf("'", state.at + 1);
  const stop = end < 0 ? state.text.length : end;
  add(draft, state.text.slice(state.at + 1, stop), { quoted: true });
  state.at = stop + 1;
}

function readDoubleQuoted(state: LexState, draft: Draft): void {
  state.at += 1;
  add(draft, '', { quoted: true });
  while (state.at < state.text.length && state.text[state.at] !== '"') readQuotedPart(state, draft);
  state.at += 1;
}

function readQuotedPart(state: LexState, draft: Draft) {
  const char = state.text[state.at] ?? '';
  if (char === '$') return readDollar(state, draft, true);
  if (char === '`') return readBackticks(state, draft);
  const next = state.text[state.at + 1] ?? '';
  if (char === '\\' && ESCAPED_IN_QUOTES.has(next)) {
    add(draft, next === '\n' ? '' : next);
    state.at += 2;
    return;
  }
  add(draft, char);
  state.at += 1;
}

function readEscape(state: LexState, draft: Draft): void {
  const next = state.text[state.at + 1];
  state.at += 2;
  if (next === '\n') return;
  add(draft, next ?? '\\', { quoted: true });
}

/** `~` and `~/…` at the start of a word or of an assigned value. */
function readTilde(state: LexState, draft: Draft) {
  const next = state.text[state.at + 1] ?? ' ';
  const atStart = !draft.started || /^\w+=$/.test(draft.text);
  state.at += 1;
  if (!atStart || draft.quoted) return add(draft, '~');
  const home = state.shared.variables.get('HOME');
  const isOwn = next === '/' || WORD_END.has(next);
  if (isOwn && home !== undefined) add(draft, home);
  else add(draft, '~', { certain: false });
}

function readBackticks(state: LexState, draft: Draft): void {
  let end = state.at + 1;
  while (end < state.text.length && state.text[end] !== '`') end += state.text[end] === '\\' ? 2 : 1;
  const inner = state.text.slice(state.at + 1, end).replace(/\\([`$\\])/g, '$1');
  readNested(nestedState(state, inner), '');
  add(draft, '`…`', { certain: false });
  state.at = Math.min(end, state.text.length) + 1;
}

function readDollar(state: LexState, draft: Draft, quoted: boolean) {
  const next = state.text[state.at + 1] ?? '';
  if (next === '(') return readSubstitution(state, draft);
  if (next === '{') return readBracedVariable(state, draft, quoted);
  if (next === "'" && !quoted) return readAnsiQuoted(state, draft);
  if (next === '"' && !quoted) {
    state.at += 1;
    return readDoubleQuoted(state, draft);
  }
  const name = NAME.exec(state.text.slice(state.at + 1, state.at + 65))?.[0];
  state.at += 1 + (name?.length ?? 0);
  if (name === undefined) add(draft, '$');
  else putVariable(state, draft, name, quoted);
}

const NAME = /^(?:[A-Za-z_]\w*|[0-9@*#?$!-])/;

function readSubstitution(state: LexState, draft: Draft): void {
  state.at += 2;
  readNested(state, ')');
  add(draft, '$(…)', { certain: false });
}

/** `${NAME}` is a variable; every other form is only known at run time, but substitutions inside of it are read. */
function readBracedVariable(state: LexState, draft: Draft, quoted: boolean) {
  const simple = /^\$\{(\w{1,64})\}/.exec(state.text.slice(state.at, state.at + 68))?.[1];
  if (simple !== undefined) {
    state.at += simple.length + 3;
    return putVariable(state, draft, simple, quoted);
  }
  if (state.depth >= MAX_NESTING) return giveUp(state);
  state.at += 2;
  const inside = newDraft();
  const inner = { ...state, depth: state.depth + 1 };
  while (inner.at < inner.text.length && inner.text[inner.at] !== '}') {
    if (inner.text[inner.at] === '"') readDoubleQuoted(inner, inside);
    else readQuotedPart(inner, inside);
  }
  state.at = inner.at + 1;
  add(draft, '$…', { certain: false });
}

function giveUp(state: LexState): void {
  state.shared.doubts.add('it is nested too deeply to be read');
  state.at = state.text.length;
}

function putVariable(state: LexState, draft: Draft, name: string, quoted: boolean) {
  if (name === 'IFS' && !quoted) return endField(draft);
  const value = state.shared.variables.get(name);
  if (value === undefined) return add(draft, `$${name}`, { certain: false });
  if (quoted) return add(draft, value);
  const fields = value.split(/[ \t\n]+/);
  for (const [i, field] of fields.entries()) {
    if (i > 0) endField(draft);
    if (field !== '') add(draft, field, { glob: /[*?[]/.test(field) });
  }
}

/** `$'\x72m'`: what the shell decodes, we decode. */
function readAnsiQuoted(state: LexState, draft: Draft): void {
  let at = state.at + 2;
  while (at < state.text.length && state.text[at] !== "'") at += state.text[at] === '\\' ? 2 : 1;
  const body = state.text.slice(state.at + 2, at);
  add(draft, body.replace(ANSI_ESCAPE, decodeAnsi), { quoted: true });
  state.at = at + 1;
}

const ANSI_ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))/gs;
const LETTERS = new Map(
  Object.entries({ n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', v: '\v' }),
);

function decodeAnsi(_: string, ...groups: readonly (string | undefined)[]): string {
  const [hex, short, long, octal, letter = ''] = groups;
  const digits = hex ?? short ?? long;
  if (digits !== undefined) return fromCode(Number.parseInt(digits, 16));
  if (octal !== undefined) return fromCode(Number.parseInt(octal, 8));
  return LETTERS.get(letter) ?? letter;
}

function fromCode(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
}
