// Owns the intents `list` and `read`, how a result is quoted with its source (reflex 7), and the look back over a conversation: the commands
// run, the file it was about. Invariant: what a tool said is quoted with its place, never retold; what a call did is taken from the call.
import { type JsonObject, textOf } from '#base/json.ts';
import {
  type ReflexInput,
  type ReflexMatch,
  type ReflexRule,
  type ReflexStep,
  SAME_FILE,
} from '#core/agent/reflex-rule.ts';
import { isText, type Message, type ToolCallPart, type ToolResultPart, toolCalls } from '#core/model/message.ts';

/** The result of a command under `$ command · exit 0 · 12 ms`. */
export function quoteCommand(command: string, result: ToolResultPart): Extract<ReflexStep, { type: 'say' }> {
  const { exitCode, ms, refused, spill } = result.observed;
  if (refused !== undefined)
    return {
      type: 'say',
      text: 'It was not run.',
      quotes: [{ source: `$ ${command} · ${refused}`, text: result.text }],
    };
  const exit = exitCode === undefined ? '' : ` · exit ${exitCode}`;
  const rest = spill === undefined ? '' : ` · whole output in ${spill}`;
  const source = `$ ${command}${exit} · ${Math.round(ms)} ms${rest}`;
  return { type: 'say', text: '', quotes: [{ source, text: result.text }] };
}

/** A result as it is, under a name of its source. */
export function quoteResult(source: string, result: ToolResultPart): Extract<ReflexStep, { type: 'say' }> {
  return { type: 'say', text: result.isError ? 'That failed.' : '', quotes: [{ source, text: result.text }] };
}

/** Shell quoting for a path that the owner named. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}_@%+=:,./~-]+$/u.test(text) && !text.startsWith('-')
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A path, quoted when a line would otherwise not read it as one. */
export function spokenPath(path: string): string {
  return /^[\p{L}\p{N}_@+~./-]+$/u.test(path) ? path : `"${path}"`;
}

interface DoneCall {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart;
}

/** Calls with their results, oldest first. */
function doneCalls(history: readonly Message[]): readonly DoneCall[] {
  const calls = new Map<string, ToolCallPart>();
  const done: DoneCall[] = [];
  for (const message of history) {
    for (const call of toolCalls(message)) calls.set(call.callId, call);
    if (message.role !== 'tool') continue;
    const [result] = message.parts;
    const call = calls.get(result.callId);
    if (call !== undefined) done.push({ call, result });
  }
  return done;
}

/** Commands run so far, newest first, each once. */
export function commandsRun(history: readonly Message[]): readonly string[] {
  const commands = doneCalls(history).flatMap(({ call }) =>
    call.name === 'terminal' ? [textOf(call.arguments.command)] : [],
  );
  return [...new Set(commands.reverse().filter((command) => command !== ''))];
}

const FILE_TOOLS: ReadonlySet<string> = new Set(['read_file', 'write_file', 'patch']);

/** The path of the match; for `it`, the file that was read, written or piped in last; undefined when there is none. */
export function pathOf({ slots }: ReflexMatch, history: readonly Message[]): string | undefined {
  if (slots.path !== SAME_FILE) return slots.path;
  const at = history.findLastIndex((message) => pipedFile(message) !== undefined);
  const path = doneCalls(history.slice(at + 1))
    .map(fileOf)
    .findLast((file) => file !== '');
  return path ?? pipedFile(history[at]);
}

/** What a call was about; the one file that a search found. */
function fileOf({ call, result }: DoneCall): string {
  if (FILE_TOOLS.has(call.name)) return textOf(call.arguments.path);
  const isFound = call.arguments.target === 'files' && !result.isError && /^[^\n[]+$/.test(result.text.trim());
  return isFound ? result.text.trim() : '';
}

/** The match, asking which file where `it` stands for none. */
export function withKnownFile(match: ReflexMatch, history: readonly Message[]): ReflexMatch {
  return match.slots.path === SAME_FILE && pathOf(match, history) === undefined ? { ...match, missing: 'path' } : match;
}

/** What was piped in with the line: a text that is looked for nowhere in particular is looked for there. */
export function pipedFile(message: Message | undefined): string | undefined {
  return message?.role === 'user'
    ? message.parts.filter(isText).find(({ label }) => label === 'stdin')?.spill
    : undefined;
}

const THINGS =
  '(files|file|folders|directories|everything|contents|content|all files|files and folders|stuff|things|what is)';
const IN = '(in|inside|of|under|from|at|within)';
const SHOW = '(list|show|display|see|give|print|view|get)';
const LIST: readonly string[] = [
  '(ls|dir|ll) [{path:folder}]',
  `${SHOW} [all] [of] [my|our|the] ${THINGS} [that are|there are] [${IN}] [{path:folder}]`,
  `${SHOW} {path:folder} [contents|content|files]`,
  `list [the] (directory|folder|contents|files)`,
  `(what|which) [other|kind of] (files|folders|things|stuff) (are|is|do i have|do we have|exist) [there] [${IN}] [{path:folder}]`,
  `what is [there] [stored] ${IN} {path:folder}`,
  `what (is|all is) (here|there|around)`,
  `what [do] (i|we|you) have (here|in {path:folder})`,
  `(contents|files|listing) ${IN} {path:folder}`,
  '(look|peek) (in|into|inside) {path:folder}',
];
const READ_VERB =
  '(read|show|open|cat|print|display|view|see|give|get|less|more|type|look at|take a look at|have a look at|have look at|pull up|dump|output)';
const CONTENT = '[(all|whole|full|entire)] [of] [(contents|content|text|inside) of]';
const LINES = '(lines|line|rows|row)';
const READ: readonly string[] = [
  `[${READ_VERB}] [first|top|beginning] {head:number} ${LINES} (of|from|in) {path:file}`.replace(
    '[first|top|beginning]',
    '(first|top)',
  ),
  `[${READ_VERB}] (last|bottom|final) {tail:number} ${LINES} (of|from|in) {path:file}`,
  '(head|tail) {path:file}',
  `[${READ_VERB}] ${LINES} {range:range} (of|from|in) {path:file}`,
  `[${READ_VERB}] ${LINES} {from:number} (to|through|until|and|-|–) {to:number} (of|from|in) {path:file}`,
  `[${READ_VERB}] (line|row) {line:number} (of|from|in) {path:file}`,
  `${READ_VERB} {path:file} (lines|line) {range:range}`,
  `${READ_VERB} {path:file} (lines|from line|from|line) {from:number} (to|through|until|-|–) [line] {to:number}`,
  `${READ_VERB} {path:file} (from line|starting at line|from) {from:number} [on|onwards]`,
  `${READ_VERB} ${CONTENT} {path:file} [file|out|again|aloud|to me]`,
  `${READ_VERB} what is [written] in {path:file}`,
  'what (does|do) {path:file} (say|contain|hold|look like|have in it)',
  'what is [written|inside|there] [in|inside] {path:file}',
  'what is in {path:file}',
  `(contents|content) of {path:file}`,
];
const BARE: readonly string[] = ['{path:file} @0.5'];
const OPEN: readonly string[] = [`(read|open|show) [me] [(a|the|my|that|this)] [file|something] !path`];
export const listRule: ReflexRule = {
  purpose: 'act',
  intent: 'list',
  effect: 'read',
  examples: ['list the files here', 'ls', 'list the files in the src folder'],
  match: (input) => input.fit(LIST),
  restate: ({ slots }) =>
    folderOf(slots) === '.' ? 'list the files here' : `list the files in the folder ${spokenPath(folderOf(slots))}`,

  act({ slots }, input, [result]) {
    const path = folderOf(slots);
    const command = path === '.' ? 'ls -la' : `ls -la ${shellWord(path)}`;
    if (result?.name === 'terminal') return quoteCommand(command, result);
    if (result !== undefined) return quoteResult(path === '.' ? 'files here' : `files in ${path}`, result);
    const inShell = input.tools.has('terminal') && !command.includes("'");
    const search = { name: 'search_files', arguments: { pattern: '*', target: 'files', path } };
    return { type: 'call', calls: [inShell ? { name: 'terminal', arguments: { command } } : search] };
  },
};

function folderOf(slots: ReflexMatch['slots']): string {
  return slots.path ?? '.';
}

export const readRule: ReflexRule = {
  purpose: 'act',
  intent: 'read',
  effect: 'read',
  examples: ['read README.md', 'show me lines 10 to 20 of package.json', 'first 5 lines of README.md'],

  match(input) {
    const fit = input.fit(READ) ?? input.fit(BARE) ?? input.fit(OPEN);
    if (fit === undefined || fit.missing !== undefined) return fit;
    if (input.fit(BARE) !== undefined && fit.slots.path === SAME_FILE) return undefined;
    const same = pathOf(fit, input.history);
    return { ...fit, slots: spanOf({ ...fit.slots, path: same ?? fit.slots.path ?? '' }) };
  },

  restate: ({ slots }) => `read ${spanWords(slots)}${slots.path === SAME_FILE ? 'it' : spokenPath(slots.path ?? '')}`,

  missing: (_match, input) => askWhich(input),

  act(match, input, [result]) {
    const path = pathOf(match, input.history);
    const slots: Slots = { ...match.slots, path: path ?? '' };
    if (path === undefined) return askWhich(input);
    const command = slots.tail === undefined ? '' : `tail -n ${slots.tail} ${shellWord(path)}`;
    if (result !== undefined) return command === '' ? quoteFile(slots, result) : quoteCommand(command, result);
    const call =
      command === ''
        ? { name: 'read_file', arguments: readArguments(slots) }
        : { name: 'terminal', arguments: { command } };
    return { type: 'call', calls: [call] };
  },
};

function askWhich({ folder }: ReflexInput): ReflexStep & { readonly type: 'ask' } {
  const files = folder.entries.filter((name) => /\w\.\w+$/.test(name)).slice(0, 3);
  const choices = [...files.map((name) => `read ${spokenPath(name)}`), 'list the files here'];
  return { type: 'ask', question: 'Read which file?', choices, fill: 'read {}' };
}

type Slots = ReflexMatch['slots'];

/** Every way of naming lines becomes `from` and `to`, or `head` alone, or `tail`; `a.ts:10-20` too. */
function spanOf({ path = '', range, line, head, tail, ...slots }: Slots): Slots {
  const [, file, placed] = /^(.+\.\w+):(\d+(?:-\d+)?)$/.exec(path) ?? [];
  const [first, last] = (range ?? placed)?.match(/\d+/g) ?? [];
  const from = line ?? first ?? slots.from;
  const to = line ?? last ?? (placed === undefined ? slots.to : first);
  return {
    path: file ?? path,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(head === undefined ? {} : { head }),
    ...(tail === undefined ? {} : { tail }),
  };
}

function readArguments({ path = '', head, from, to }: Slots): JsonObject {
  if (head !== undefined) return { path, limit: Number(head) };
  if (from === undefined) return { path };
  return {
    path,
    offset: Number(from),
    ...(to === undefined ? {} : { limit: Math.max(1, Number(to) - Number(from) + 1) }),
  };
}

/** The lines under `path:from-to`, and how to go on when there are more. */
function quoteFile({ path = '', from = '1', to, head }: Slots, result: ToolResultPart): ReflexStep {
  if (result.isError) return quoteResult(path, result);
  const { lines, next } = filePage(result.text);
  const source = lines.length === 0 ? path : `${path}:${from}-${Number(from) + lines.length - 1}`;
  const isWhole = next === undefined || to !== undefined || head !== undefined;
  const text = isWhole
    ? ''
    : `More is left: read lines ${next} to ${Number(next) + lines.length} of ${spokenPath(path)}`;
  return { type: 'say', text, quotes: [{ source, text: lines.join('\n') }] };
}

const NOTE = /^\[(?:lines \d+-\d+ of |some bytes are not UTF-8|the file is empty|nothing at line \d+)[^\]]*\]$/;

/** What read_file shows without its own note at the end, and the next line to ask for; undefined when the file ends here. */
function filePage(text: string): { readonly lines: readonly string[]; readonly next: string | undefined } {
  const lines = text.split('\n');
  const note = NOTE.test(lines.at(-1) ?? '') ? (lines.pop() ?? '') : '';
  return { lines, next: /go on with offset (\d+)/.exec(note)?.[1] };
}

function spanWords({ head, tail, from, to }: Slots): string {
  if (head !== undefined) return `the first ${head} lines of `;
  if (tail !== undefined) return `the last ${tail} lines of `;
  return from === undefined ? '' : `lines ${from} to ${to ?? '1000000'} of `;
}
