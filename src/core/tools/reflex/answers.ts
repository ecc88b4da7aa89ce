// Owns how a result is quoted with its source (reflex 7), and the look back over a conversation: the commands run, the file it was about.
// Knows no rule. Invariant: what a tool said is quoted, never retold; what a call did is taken from the call, never from text.
import type { JsonObject } from '#base/json.ts';
import { type ReflexMatch, type ReflexStep, SAME_FILE } from '#core/agent/reflex-rule.ts';
import { type Message, type ToolCallPart, type ToolResultPart, toolCalls } from '#core/model/message.ts';

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
    call.name === 'terminal' ? [textOf(call.arguments, 'command')] : [],
  );
  return [...new Set(commands.reverse().filter((command) => command !== ''))];
}

function textOf(data: JsonObject, key: string): string {
  const value = data[key];
  return typeof value === 'string' ? value : '';
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
  if (FILE_TOOLS.has(call.name)) return textOf(call.arguments, 'path');
  const isFound = call.arguments.target === 'files' && !result.isError && /^[^\n[]+$/.test(result.text.trim());
  return isFound ? result.text.trim() : '';
}

/** The match, asking which file where `it` stands for none. */
export function withKnownFile(match: ReflexMatch, history: readonly Message[]): ReflexMatch {
  return match.slots.path === SAME_FILE && pathOf(match, history) === undefined ? { ...match, missing: 'path' } : match;
}

/** What was piped in with the line: a text that is looked for nowhere in particular is looked for there. */
export function pipedFile(message: Message | undefined): string | undefined {
  return message?.role === 'user' ? message.parts.find(({ label }) => label === 'stdin')?.spill : undefined;
}
