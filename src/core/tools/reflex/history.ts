// Owns the look back over a conversation: the last result, the calls before it, the words that belong to a call.
// Invariant: reads messages only; what a call said it would do is taken from the call, never from text.
import type { JsonObject } from '#base/json.ts';
import type { ReflexMatch } from '#core/agent/reflex-rule.ts';
import { type Message, type ToolCallPart, type ToolResultPart, toolCalls } from '#core/model/message.ts';

export interface DoneCall {
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

/** The last thing that a tool showed, wholly when it is in the conversation. */
export function lastOutput(history: readonly Message[]): DoneCall | undefined {
  return doneCalls(history).findLast(({ result }) => result.text.trim() !== '');
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

/**
 * `it` in place of a path becomes the file that was last read, written or piped in; undefined when there is none.
 * A text that is looked for nowhere in particular is looked for in what was piped in with the line.
 */
export function resolvePath(match: ReflexMatch, history: readonly Message[]): ReflexMatch | undefined {
  const { path: said, what } = match.slots;
  const piped = said === undefined && what !== 'files' ? pipedFile(history.at(-1)) : undefined;
  if (said !== '@same' && piped === undefined) return match;
  const path = piped ?? lastPath(history);
  return path === undefined ? undefined : { ...match, slots: { ...match.slots, path } };
}

/** The file that was read, written or piped in last. */
export function lastPath(history: readonly Message[]): string | undefined {
  const at = history.findLastIndex((message) => pipedFile(message) !== undefined);
  const calls = doneCalls(history.slice(at + 1)).filter(({ call }) => FILE_TOOLS.has(call.name));
  const path = textOf(calls.at(-1)?.call.arguments ?? {}, 'path');
  return path === '' ? pipedFile(history[at]) : path;
}

const FILE_TOOLS: ReadonlySet<string> = new Set(['read_file', 'write_file', 'patch']);

function pipedFile(message: Message | undefined): string | undefined {
  return message?.role === 'user' ? message.parts.find(({ label }) => label === 'stdin')?.spill : undefined;
}
