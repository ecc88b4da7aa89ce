// Owns turning stored messages into sources that can be cited, each piece with its origin (design 7). Knows no claim and no store.
// Invariants: assistant text supports nothing; a call's arguments are a record of what was run only when it ran and went well; what
// a tool put out keeps the origin it was stored with.
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { AssistantMessage, Message, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import { toolCalls } from '#core/model/message.ts';
import { messageHandle } from '../message-handle.ts';
import type { EvidenceEntry, EvidenceText } from '../trace-guard/claim.ts';

export interface MessageEvidenceOptions {
  /**
   * Which arguments of calls that went well count as observed: `all` for steps of a skill; `short` for facts: one line, and nothing
   * that only prints or stores what the model wrote.
   */
  readonly observedArguments: 'all' | 'short';
}

/** Messages of one session, oldest first. */
export function messageEvidence(
  messages: readonly StoredMessage[],
  options: MessageEvidenceOptions,
): readonly EvidenceEntry[] {
  const runs = new Runs(messages);
  let readForeign = false;
  return messages.map(({ id, message }) => {
    const texts = textsOf(message, { runs, readForeign, options });
    readForeign ||= message.parts.some(({ origin }) => origin === 'foreign');
    return { handle: messageHandle(id), texts: texts.filter(({ text }) => text.trim() !== '') };
  });
}

interface Surroundings {
  readonly runs: Runs;
  /** Could the model have read foreign text before it wrote this? */
  readonly readForeign: boolean;
  readonly options: MessageEvidenceOptions;
}

function textsOf(message: Message, surroundings: Surroundings): readonly EvidenceText[] {
  switch (message.role) {
    case 'user':
      return message.parts.map(({ text, origin }) => ({ text, origin }));
    case 'assistant':
      return assistantTexts(message, surroundings);
    case 'tool': {
      const [result] = message.parts;
      const { text, origin } = result;
      return [{ text, origin }, ...recordOf(surroundings.runs.callOf(result), result, surroundings.options)];
    }
  }
}

function assistantTexts(
  message: AssistantMessage,
  { runs, readForeign, options }: Surroundings,
): readonly EvidenceText[] {
  const origin = readForeign ? 'foreign' : 'model';
  const spoken = message.parts.flatMap((part) => (part.type === 'text' ? [{ text: part.text, origin } as const] : []));
  const called = toolCalls(message).flatMap((call) => recordOf(call, runs.resultOf(call), options));
  return [...spoken, ...called];
}

/** What was run, in words: the record of a call that went well is observed, of any other one only told by the model. */
function recordOf(
  call: ToolCallPart | undefined,
  result: ToolResultPart | undefined,
  { observedArguments }: MessageEvidenceOptions,
): readonly EvidenceText[] {
  if (call === undefined || call.malformed !== undefined) return [];
  const lines = argumentLines(call.arguments);
  const went = result !== undefined && wentWell(result);
  const counts = (line: string) => went && (observedArguments === 'all' || isPlainRecord(call.name, line));
  const observed = lines.filter(counts);
  const told = lines.filter((line) => !counts(line));
  return [
    ...(went
      ? [{ text: [`Ran ${call.name}.`, ...observed, statusLine(result)].join('\n'), origin: 'observed' } as const]
      : []),
    ...(told.length > 0 ? [{ text: [`Asked for ${call.name}.`, ...told].join('\n'), origin: 'model' } as const] : []),
  ];
}

export function wentWell({ isError, observed }: ToolResultPart): boolean {
  return !isError && observed.refused === undefined && (observed.exitCode ?? 0) === 0;
}

function statusLine({ observed }: ToolResultPart): string {
  return observed.exitCode === undefined ? 'It was done.' : `Exit status ${observed.exitCode}.`;
}

/** Longer arguments are content that the model wrote. */
const SHORT = 200;
const STORES = /^(?:memory|skill_manage|skill_view|skills_list|session_search|todo)$/;
const PRINTS = /\b(?:echo|printf|print|cat\s*<<|tee|write|say)\b|<<|console\.log/i;

function isPlainRecord(tool: string, line: string): boolean {
  return line.length <= SHORT && !line.includes('\n') && !STORES.test(tool) && !PRINTS.test(line);
}

/** `key: value`, values as they are: escapes of JSON would hide words. */
function argumentLines(given: JsonObject): readonly string[] {
  return Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${valueText(value)}`]));
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => valueText(item)).join(' ');
  return argumentLines(value as JsonObject).join(' ');
}

/** Which result belongs to which call: the next one with its id, since ids may come again in later turns. */
class Runs {
  readonly #calls = new Map<ToolResultPart, ToolCallPart>();
  readonly #results = new Map<ToolCallPart, ToolResultPart>();

  constructor(messages: readonly StoredMessage[]) {
    const waiting = new Map<string, ToolCallPart>();
    for (const { message } of messages) {
      for (const call of toolCalls(message)) waiting.set(call.callId, call);
      if (message.role === 'tool') this.#join(waiting.get(message.parts[0].callId), message.parts[0]);
    }
  }

  callOf(result: ToolResultPart): ToolCallPart | undefined {
    return this.#calls.get(result);
  }

  resultOf(call: ToolCallPart): ToolResultPart | undefined {
    return this.#results.get(call);
  }

  #join(call: ToolCallPart | undefined, result: ToolResultPart): void {
    if (call === undefined || this.#results.has(call)) return;
    this.#calls.set(result, call);
    this.#results.set(call, result);
  }
}
