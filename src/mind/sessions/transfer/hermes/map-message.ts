// Owns turning one message of hermes-agent (a row, or an entry of a session file) into ours, with the origin of each part.
// Knows no database. Invariant: pure; what cannot be carried (images, provider data) is counted or named in the text, never guessed.
// Serves design 7: user text is the owner's only where the owner typed it, tool results are foreign, assistant text is the model's.
import { isJsonObject, type JsonObject, type JsonValue, parseJson, parseJsonObject } from '#base/json.ts';
import type { AssistantMessage, Message, Origin, TextPart, ToolCallPart, ToolMessage } from '#core/model/message.ts';

/** A message in the chat format, as both sources have it once their columns are read. */
export interface HermesMessage {
  readonly role: string;
  /** Text, a list of parts, or nothing. */
  readonly content: JsonValue;
  readonly reasoning?: string;
  readonly toolCalls: readonly JsonValue[];
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly finishReason?: string;
  /** What was sent in place of `content`: the same with recalled text around it. */
  readonly sent?: string;
  /** Overheard in a group: nobody spoke to the agent. */
  readonly overheard?: boolean;
  /** Written by a compression. */
  readonly summary?: boolean;
}

export interface MappingPlace {
  readonly model: string;
  /** False where a job or another agent wrote the user messages. */
  readonly typedByOwner: boolean;
  /** Call id → name of the tool; filled while mapping. */
  readonly toolNames: Map<string, string>;
}

export interface Mapped {
  /** Absent: the role is none of a conversation. */
  readonly message?: Message;
  /** Pictures and other parts without text. */
  readonly dropped: number;
}

export function mapMessage(row: HermesMessage, place: MappingPlace): Mapped {
  const { text, dropped } = textOf(row.content);
  if (row.role === 'user') return { message: { role: 'user', parts: userParts(row, text, place) }, dropped };
  if (row.role === 'assistant') return { message: assistant(row, text, place), dropped };
  if (row.role === 'tool') return { message: toolResult(row, text, place), dropped };
  return { dropped: 0 };
}

function userParts(row: HermesMessage, text: string, { typedByOwner }: MappingPlace): readonly TextPart[] {
  if (row.summary) return [{ type: 'text', text, origin: 'model', label: 'summary' }];
  const origin: Origin = typedByOwner && !row.overheard ? 'owner' : 'foreign';
  const at = row.sent === undefined || text === '' ? -1 : row.sent.indexOf(text);
  const before = at < 0 ? '' : (row.sent ?? '').slice(0, at);
  const after = at < 0 ? '' : (row.sent ?? '').slice(at + text.length);
  return [...context(before), { type: 'text', text, origin }, ...context(after)];
}

/** Recalled text that was injected around what was typed. */
function context(text: string): readonly TextPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text: text.trim(), origin: 'foreign', label: 'context' }];
}

function assistant(row: HermesMessage, text: string, place: MappingPlace): AssistantMessage {
  const calls = row.toolCalls.map(toolCall);
  for (const call of calls) place.toolNames.set(call.callId, call.name);
  const parts: AssistantMessage['parts'] = [
    ...(row.reasoning ? [{ type: 'reasoning', text: row.reasoning, origin: 'model' } as const] : []),
    ...(text === '' ? [] : [{ type: 'text', text, origin: 'model' } as const]),
    ...calls,
  ];
  const cut = row.finishReason === 'length' ? ({ cut: 'length' } as const) : {};
  return { role: 'assistant', model: place.model, parts, ...cut };
}

function toolCall(value: JsonValue, index: number): ToolCallPart {
  const call = isJsonObject(value) ? value : {};
  const inner = isJsonObject(call.function) ? call.function : call;
  const ids = [call.id, call.call_id, call.tool_call_id];
  const callId = ids.map(stringOf).find((id) => id) ?? `call_${index}`;
  const name = stringOf(inner.name) ?? 'unknown';
  const base = { type: 'tool-call', callId, name, origin: 'model' } as const;
  if (isJsonObject(inner.arguments)) return { ...base, arguments: inner.arguments };
  const raw = stringOf(inner.arguments) ?? '';
  const parsed = parseJsonObject(raw.trim() === '' ? '{}' : raw);
  return parsed.ok ? { ...base, arguments: parsed.value } : { ...base, arguments: {}, malformed: raw };
}

function toolResult(row: HermesMessage, text: string, { toolNames }: MappingPlace): ToolMessage {
  const callId = row.toolCallId ?? '';
  const name = row.toolName ?? toolNames.get(callId) ?? '';
  const answer = text.startsWith('{') ? parseJsonObject(text) : undefined;
  const data = answer?.ok ? answer.value : {};
  const exitCode = name === 'terminal' && Number.isInteger(data.exit_code) ? { exitCode: Number(data.exit_code) } : {};
  const observed = { ms: 0, bytes: Buffer.byteLength(text), ...exitCode };
  const part = {
    type: 'tool-result',
    callId,
    name,
    text,
    isError: saysError(data),
    origin: 'foreign',
    observed,
  } as const;
  return { role: 'tool', parts: [part] };
}

/** Every tool there answers with JSON; a failure has `error`, or `success: false`. */
function saysError(data: JsonObject): boolean {
  return data.success === false || (typeof data.error === 'string' && data.error !== '');
}

function textOf(content: JsonValue): { readonly text: string; readonly dropped: number } {
  if (typeof content === 'string') return { text: content, dropped: 0 };
  if (!Array.isArray(content)) return { text: '', dropped: 0 };
  let dropped = 0;
  const texts = content.map((part: JsonValue) => {
    if (typeof part === 'string') return part;
    const text = isJsonObject(part) ? (stringOf(part.text) ?? stringOf(part.content)) : undefined;
    if (text !== undefined) return text;
    dropped += 1;
    return `[${isJsonObject(part) ? (stringOf(part.type) ?? 'part') : 'part'} left out at import]`;
  });
  return { text: texts.join('\n'), dropped };
}

/** A list in the chat format is stored as NUL, `json:`, JSON. */
export function storedContent(text: string | undefined): JsonValue {
  if (text === undefined) return null;
  if (!text.startsWith('\0json:')) return text;
  const parsed = parseJson(text.slice('\0json:'.length));
  return parsed.ok ? parsed.value : text.slice(1);
}

/** `tool_calls` as stored: a JSON list; anything else counts as none. */
export function storedCalls(text: string | undefined): readonly JsonValue[] {
  const parsed = text ? parseJson(text) : undefined;
  return parsed?.ok && Array.isArray(parsed.value) ? parsed.value : [];
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
