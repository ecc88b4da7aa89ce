// Owns the pairing of calls with their results, and which of them were work on the owner's task. Knows no tool's insides. Pure.
// Invariant: order of the results; a call without a result is not done.
import type { JsonObject } from '#base/json.ts';
import { type Message, type ToolCallPart, type ToolResultPart, toolCalls } from '#core/model/message.ts';

export interface DoneCall {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart;
  /** Place of the result in the messages. */
  readonly at: number;
}

/** Looking things up in one's own head is no step of a task. */
const HOUSEKEEPING: ReadonlySet<string> = new Set([
  'memory',
  'skill_manage',
  'skill_view',
  'skills_list',
  'session_search',
  'todo',
  'clarify',
]);

export function doneCalls(messages: readonly Message[]): readonly DoneCall[] {
  const calls = new Map<string, ToolCallPart>();
  const done: DoneCall[] = [];
  for (const [at, message] of messages.entries()) {
    for (const call of toolCalls(message)) calls.set(call.callId, call);
    if (message.role !== 'tool') continue;
    const [result] = message.parts;
    const call = calls.get(result.callId);
    if (call !== undefined) done.push({ call, result, at });
  }
  return done;
}

/** Calls that ran and belong to the task itself. */
export function workCalls(messages: readonly Message[]): readonly DoneCall[] {
  return doneCalls(messages).filter(
    ({ call, result }) => !HOUSEKEEPING.has(call.name) && result.observed.refused === undefined,
  );
}

export function succeeded({ result }: DoneCall): boolean {
  return !result.isError && result.observed.refused === undefined;
}

/** Did the agent itself write with this tool? Its answer is JSON that says so. */
export function wroteWith(tool: string, done: DoneCall): boolean {
  return done.call.name === tool && succeeded(done) && !/"success":\s*false|"staged":\s*true/.test(done.result.text);
}

export function textArgument(data: JsonObject, key: string): string {
  const value = data[key];
  return typeof value === 'string' ? value : '';
}
