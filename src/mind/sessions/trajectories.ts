// Owns a session as a line of training data: ShareGPT as hermes-agent writes it, and OpenAI's fine-tuning form. Knows no file and no command.
// Invariants: no secret stands in a line; a picture is its hash; what is no message of a person or a model (notices, context) is left out.
import { isoTime } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { FrozenPrompt, SessionRecord } from '#core/agent/session-store.ts';
import type { ImagePart, Message, Part, ToolResultPart } from '#core/model/message.ts';
import { OF_SESSION } from './files/file-change-rows.ts';
import type { SqliteSessionStore } from './sqlite-session-store.ts';

export type TrajectoryFormat = 'sharegpt' | 'openai';

export interface TrajectorySource {
  readonly session: SessionRecord;
  readonly messages: readonly Message[];
  readonly prompt: FrozenPrompt | undefined;
  /** Changes of files that were taken back. */
  readonly undone?: number | undefined;
}

const partsOf = ({ parts }: Message): readonly Part[] => parts;
const callsOf = (message: Message) => partsOf(message).filter((part) => part.type === 'tool-call');

/** Somebody else than the owner began it. */
export function isOthers(messages: readonly Message[]): boolean {
  const first = messages.find(({ role }) => role === 'user');
  return first?.parts.some((part) => part.type === 'text' && part.origin === 'foreign' && !part.label) === true;
}

/** It ended with an answer. */
export function isCompleted(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.cut === undefined && callsOf(last).length === 0;
}

export interface TrajectoryFilter {
  readonly format: TrajectoryFormat;
  /** Epoch ms. */
  readonly since: number;
  readonly source?: string | undefined;
  readonly completed: boolean;
  readonly others: boolean;
}

/** A line a session, the oldest first. */
export async function allTrajectories(store: SqliteSessionStore, filter: TrajectoryFilter): Promise<readonly string[]> {
  const { format, since, source, completed, others } = filter;
  const lines: string[] = [];
  const asked = { spoken: true, limit: Number.MAX_SAFE_INTEGER, ...(source ? { source } : {}) };
  for (const session of (await store.list(asked)).toReversed()) {
    const messages = (await store.messages(session.id)).map(({ message }) => message);
    const fits = session.startedAt >= since && (others || !isOthers(messages)) && (!completed || isCompleted(messages));
    if (fits) lines.push(await trajectoryOf(store, session, format));
  }
  return lines;
}

/** One line, without its end. */
export async function trajectoryOf(store: SqliteSessionStore, session: SessionRecord, format: TrajectoryFormat) {
  const messages = (await store.messages(session.id)).map(({ message }) => message);
  const sql = `SELECT count(*) AS undone FROM file_changes WHERE ${OF_SESSION} AND undone_at IS NOT NULL`;
  const undone = store.database.get<{ undone: number }>(sql, session.id)?.undone;
  return trajectoryLine({ session, messages, prompt: await store.loadPrompt(session.id), undone }, format);
}

export function trajectoryLine(source: TrajectorySource, format: TrajectoryFormat): string {
  const clean = cleaned(source) as TrajectorySource;
  const line = format === 'openai' ? openaiLine(clean) : shareGptLine(clean);
  return JSON.stringify({ ...line, signals: signalsOf(source) });
}

/** Each text by itself, before it stands beside others: a key of which the end is missing takes along what follows. */
function cleaned(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return redactSecrets(`${key}: ${value}`).slice(key.length + 2);
  if (Array.isArray(value)) return value.map((one) => cleaned(one, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cleaned(one, name)]));
}

function shareGptLine({ session, messages, prompt }: TrajectorySource): JsonObject {
  const tools = JSON.stringify(prompt?.tools ?? []);
  const turns = [{ from: 'system', value: `${prompt?.system ?? ''}\n<tools>\n${tools}\n</tools>` }];
  for (const message of messages) {
    const from = { user: 'human', assistant: 'gpt', tool: 'tool' }[message.role];
    const value = message.role === 'assistant' ? gptText(message) : saidIn(message);
    const last = turns.at(-1);
    // Results of one step stand in one turn.
    if (from === 'tool' && last?.from === 'tool') last.value += `\n${value}`;
    else if (value !== '') turns.push({ from, value });
  }
  const { startedAt, model = 'unknown' } = session;
  return { conversations: turns, timestamp: isoTime(startedAt), model, completed: isCompleted(messages) };
}

function gptText(message: Message): string {
  const thoughts = partsOf(message).flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
  const calls = callsOf(message).map(({ name, arguments: given }) => {
    return `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`;
  });
  return [`<think>\n${thoughts.join('\n')}\n</think>`, saidIn(message), ...calls].filter(Boolean).join('\n');
}

function saidIn(message: Message): string {
  return partsOf(message)
    .flatMap((part) => {
      if (part.type === 'image') return [imageText(part)];
      if (part.type === 'tool-result')
        return [`<tool_response>\n${JSON.stringify(responseOf(part))}\n</tool_response>`];
      return part.type === 'text' && part.label !== 'notice' && part.label !== 'context' ? [part.text] : [];
    })
    .join('\n');
}

function responseOf({ callId, name, text, images = [] }: ToolResultPart): JsonObject {
  return { tool_call_id: callId, name, content: [text, ...images.map(imageText)].join('\n') };
}

function imageText({ hash, mediaType }: ImagePart): string {
  return `[image sha256:${hash} ${mediaType}]`;
}

function openaiLine({ messages, prompt }: TrajectorySource): JsonObject {
  const said = messages.map((message): JsonObject => {
    if (message.role === 'tool') {
      const { tool_call_id, content } = responseOf(message.parts[0]);
      return { role: 'tool', tool_call_id, content } as JsonObject;
    }
    const calls = callsOf(message).map(({ callId, name, arguments: given }) => {
      return { id: callId, type: 'function', function: { name, arguments: JSON.stringify(given) } };
    });
    return { role: message.role, content: saidIn(message), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  });
  const tools = (prompt?.tools ?? []).map((tool) => ({ type: 'function', function: tool as unknown as JsonObject }));
  return { messages: [{ role: 'system', content: prompt?.system ?? '' }, ...said], tools };
}

/** What came of it, as it was recorded: for whoever weighs lines. */
function signalsOf({ messages, undone = 0 }: TrajectorySource): JsonObject {
  const results = messages.flatMap((message) => (message.role === 'tool' ? [...message.parts] : []));
  const steers = messages.flatMap(partsOf).filter((part) => part.type === 'text' && part.label === 'steer');
  return {
    exit_codes: results.flatMap(({ observed }) => observed.exitCode ?? []),
    failed_calls: results.filter(({ isError }) => isError).length,
    refused_calls: results.filter(({ observed }) => observed.refused !== undefined).length,
    corrections: steers.length,
    undone,
  };
}
