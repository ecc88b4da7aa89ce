// Owns turning the messages of hermes-agent into ours, with the origin of each part, and a session of them. Knows no database and no file.
// Invariant: pure; what cannot be carried (images, provider data) is counted or named in the text, never guessed.
// Serves design 7: user text is the owner's only where the owner typed it, tool results are foreign, assistant text is the model's.
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import type { AssistantMessage, Message, Origin, TextPart, ToolCallPart, ToolMessage } from '#core/model/message.ts';
import type { BroughtMessage, BroughtSession } from './bring-session.ts';

export interface HermesMessage extends Pick<BroughtMessage, 'at' | 'state'> {
  /** In the chat format: an entry of a session file, or a row of the database put into that form. */
  readonly entry: JsonObject;
  /** What was sent in place of its content: the same with recalled text around it. */
  readonly sent?: string | undefined;
  /** Overheard in a group: nobody spoke to the agent. */
  readonly overheard?: boolean;
  /** Written by a compression. */
  readonly summary?: boolean;
}

export interface HermesSession {
  readonly session: BroughtSession;
  readonly messages: readonly BroughtMessage[];
  /** Parts without text, pictures mostly. */
  readonly droppedParts: number;
  /** Rows whose role is none of a conversation. */
  readonly droppedRows: number;
}

/** Nobody types there: a job, a board or another agent wrote the user messages. */
const MACHINE_SOURCES = new Set(['subagent', 'kanban', 'tool', 'cron', 'webhook', 'delegation']);
/** Anybody of the group may have written them. */
const SHARED_CHATS = new Set(['group', 'supergroup', 'channel', 'thread', 'forum']);

interface Place {
  readonly model: string;
  /** Of what user messages say. */
  readonly typed: Origin;
  /** Call id → name of the tool; filled while mapping. */
  readonly toolNames: Map<string, string>;
}

/** `chatType`: absent where one person talks to the agent. */
export function assembleSession(
  session: BroughtSession,
  rows: readonly HermesMessage[],
  chatType: string | undefined,
): HermesSession {
  const isOwners = !MACHINE_SOURCES.has(session.source) && !SHARED_CHATS.has(chatType ?? '');
  const place: Place = {
    model: session.model ?? 'unknown',
    typed: isOwners ? 'owner' : 'foreign',
    toolNames: new Map(),
  };
  const messages: BroughtMessage[] = [];
  let droppedParts = 0;
  for (const row of rows) {
    const { text, dropped } = textOf(row.entry.content);
    const message = mapMessage(row, text, place);
    if (message === undefined) continue;
    droppedParts += dropped;
    messages.push({ at: row.at, message, state: row.state });
  }
  return { session, messages, droppedParts, droppedRows: rows.length - messages.length };
}

function mapMessage(row: HermesMessage, text: string, place: Place): Message | undefined {
  switch (row.entry.role) {
    case 'user':
      return { role: 'user', parts: userParts(row, text, place) };
    case 'assistant':
      return assistant(row.entry, text, place);
    case 'tool':
      return toolResult(row.entry, text, place);
    default:
      return undefined;
  }
}

function userParts({ sent, overheard, summary }: HermesMessage, text: string, { typed }: Place): readonly TextPart[] {
  if (summary) return [{ type: 'text', text, origin: 'model', label: 'summary' }];
  const [before = '', after = ''] = sent !== undefined && text !== '' ? around(sent, text) : [];
  return [...context(before), { type: 'text', text, origin: overheard ? 'foreign' : typed }, ...context(after)];
}

function around(whole: string, text: string): readonly string[] {
  const at = whole.indexOf(text);
  return at < 0 ? [] : [whole.slice(0, at), whole.slice(at + text.length)];
}

/** Recalled text that was injected around what was typed. */
function context(text: string): readonly TextPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text: text.trim(), origin: 'foreign', label: 'context' }];
}

function assistant(entry: JsonObject, text: string, { model, toolNames }: Place): AssistantMessage {
  const reasoning = stringOf(entry.reasoning) || stringOf(entry.reasoning_content);
  const calls = (Array.isArray(entry.tool_calls) ? entry.tool_calls : []).map(toolCall);
  for (const { callId, name } of calls) toolNames.set(callId, name);
  const parts: AssistantMessage['parts'] = [
    ...(reasoning ? [{ type: 'reasoning', text: reasoning, origin: 'model' } as const] : []),
    ...(text === '' ? [] : [{ type: 'text', text, origin: 'model' } as const]),
    ...calls,
  ];
  return { role: 'assistant', model, parts, ...(entry.finish_reason === 'length' ? { cut: 'length' } : {}) };
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

/** Every tool there answers with JSON; a failure has `error`, or `success: false`. */
function toolResult(entry: JsonObject, text: string, { toolNames }: Place): ToolMessage {
  const callId = stringOf(entry.tool_call_id) || stringOf(entry.id) || '';
  const name = (stringOf(entry.tool_name) || stringOf(entry.name) || toolNames.get(callId)) ?? '';
  const answer = text.startsWith('{') ? parseJsonObject(text) : undefined;
  const data: JsonObject = answer?.ok ? answer.value : {};
  const exitCode = name === 'terminal' && Number.isInteger(data.exit_code) ? { exitCode: Number(data.exit_code) } : {};
  const observed = { ms: 0, bytes: Buffer.byteLength(text), ...exitCode };
  const isError = data.success === false || (typeof data.error === 'string' && data.error !== '');
  return {
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name, text, isError, origin: 'foreign', observed }],
  };
}

/** Data that is no list of parts is shown as what it is. */
function textOf(content: JsonValue | undefined): { readonly text: string; readonly dropped: number } {
  if (content === null || content === undefined) return { text: '', dropped: 0 };
  if (!Array.isArray(content)) return { text: stringOf(content) ?? canonicalJson(content), dropped: 0 };
  let dropped = 0;
  const texts = content.map((part: JsonValue) => {
    if (typeof part === 'string') return part;
    const { text, content: inner, type } = isJsonObject(part) ? part : {};
    const said = stringOf(text) ?? stringOf(inner);
    if (said === undefined) dropped += 1;
    return said ?? `[${stringOf(type) ?? 'part'} left out at import]`;
  });
  return { text: texts.join('\n'), dropped };
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** What a session says of itself; empty words say nothing. */
export function toldFacts(head: JsonObject): Pick<BroughtSession, 'cwd' | 'model' | 'title' | 'parentId'> {
  const facts = { model: head.model, title: head.title, parentId: head.parent_session_id };
  const told = Object.entries(facts).filter(([, value]) => stringOf(value));
  return { cwd: stringOf(head.cwd) ?? '', ...Object.fromEntries(told) };
}
