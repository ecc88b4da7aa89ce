// Owns what the record of tool calls says by itself: files touched, commands run and how they ended, errors, the task list.
// Knows no tool but by the names of its arguments. Invariant: only our own record counts here, never what a model says it did.
import { ellipsize, oneLine } from '#base/text.ts';
import type { Message, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import type { StoredMessage } from '../../session-store.ts';

export interface Work {
  readonly done: readonly string[];
  readonly files: readonly string[];
  readonly errors: readonly string[];
}

interface Run {
  readonly id: number;
  readonly call: ToolCallPart;
  readonly result: ToolResultPart | undefined;
}

const PATH_KEYS = ['path', 'file_path', 'file', 'filename', 'from', 'to'];
const LINE = 160;
const ERROR_LINE = /\b(?:error|failed|failure|exception|not found|denied|refused|cannot|invalid|E[A-Z]{3,})\b/i;

export function gatherWork(messages: readonly StoredMessage[]): Work {
  const runs = runsOf(messages);
  return {
    done: runs.map(doneLine),
    files: fileLines(runs),
    errors: runs.filter(isFailure).map(errorLine),
  };
}

function runsOf(messages: readonly StoredMessage[]): readonly Run[] {
  const results = new Map<string, ToolResultPart>();
  for (const { message } of messages)
    if (message.role === 'tool') results.set(message.parts[0].callId, message.parts[0]);
  return messages.flatMap(({ id, message }) =>
    message.parts.flatMap((part) =>
      part.type === 'tool-call' ? [{ id, call: part, result: results.get(part.callId) }] : [],
    ),
  );
}

function isFailure({ result }: Run): boolean {
  return result !== undefined && (result.isError || (result.observed.exitCode ?? 0) !== 0);
}

function doneLine(run: Run): string {
  const { result } = run;
  const exit = result?.observed.exitCode;
  const end = exit === undefined ? (result?.isError ? 'failed' : 'ok') : `exit ${exit}`;
  return `${shortCall(run.call)} → ${end} #${run.id}`;
}

function shortCall({ name, arguments: given }: ToolCallPart): string {
  const told = given.command ?? PATH_KEYS.map((key) => given[key]).find((value) => typeof value === 'string');
  const first = told ?? Object.values(given).find((value) => typeof value === 'string');
  return typeof first === 'string' ? `${name}: ${ellipsize(oneLine(first), LINE)}` : name;
}

function fileLines(runs: readonly Run[]): readonly string[] {
  const files = new Map<string, { readonly tools: Set<string>; last: number }>();
  for (const { id, call, result } of runs) {
    if (result?.isError) continue;
    for (const path of pathsOf(call)) {
      const known = files.get(path) ?? { tools: new Set(), last: id };
      known.tools.add(call.name);
      files.delete(path);
      files.set(path, { tools: known.tools, last: id });
    }
  }
  return [...files].map(([path, { tools, last }]) => `${path}: ${[...tools].join(', ')} #${last}`);
}

function pathsOf({ arguments: given }: ToolCallPart): readonly string[] {
  return PATH_KEYS.flatMap((key) => {
    const value = given[key];
    return typeof value === 'string' && value !== '' && value.length <= 300 ? [oneLine(value)] : [];
  });
}

function errorLine(run: Run): string {
  const lines = (run.result?.text ?? '').split('\n', 200).map((line) => line.trim());
  const telling = lines.find((line) => ERROR_LINE.test(line)) ?? lines.find((line) => line !== '') ?? '';
  return `${ellipsize(shortCall(run.call), LINE / 2)}: ${ellipsize(telling, LINE)} #${run.id}`;
}

const TASK_LINE = /^\[([ >x-])\] \S+: ./;

/** The task list as its tool printed it last, what is still open first; undefined when it was not printed in these messages. */
export function latestTasks(messages: readonly Message[]): readonly string[] | undefined {
  for (const message of messages.toReversed()) {
    const part = message.role === 'tool' ? message.parts[0] : undefined;
    if (part?.name !== 'todo' || part.isError) continue;
    const lines = part.text.split('\n').filter((line) => TASK_LINE.test(line));
    const open = lines.filter((line) => /^\[[ >]/.test(line));
    return [...open, ...lines.filter((line) => !open.includes(line))];
  }
  return undefined;
}
