// Owns the reading of session_search's answer as quotes: verbatim text under session, date and message id (reflex 4, 7).
// Knows no database. Invariant: a quote is what the tool returned, and names its handle; what cannot be read is no quote.

import { isoTime, localDate, parseTime } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import type { ReflexQuote } from '#core/agent/reflex-rule.ts';

export interface FoundMessage {
  readonly sessionId: string;
  /** Epoch ms; NaN when the answer gives no time. */
  readonly at: number;
  readonly messageId: number | undefined;
  readonly role: string;
  readonly text: string;
}

/** The hits of an answer, best first: the matched message itself, else the snippet or the session's first words. */
export function foundMessages(answer: string): readonly FoundMessage[] {
  const parsed = parseJsonObject(answer);
  if (!parsed.ok) return [];
  return objects(parsed.value.results).flatMap((result) => {
    const matched = Number(result.match_message_id);
    const messages = [...objects(result.messages), ...objects(result.last_messages)];
    if (!Number.isNaN(matched))
      return [
        hitOf(
          result,
          messages.find((message) => Number(message.id) === matched),
        ),
      ];
    if (messages.length > 0) return messages.map((message) => messageOf(result, message));
    return [messageOf(result, { role: 'user', text: result.first ?? result.title ?? '', when: result.when })];
  });
}

/** Session ids of a browse, newest first, with their times. */
export function foundSessions(answer: string): readonly { readonly id: string; readonly at: number }[] {
  const parsed = parseJsonObject(answer);
  if (!parsed.ok) return [];
  return objects(parsed.value.results).map((result) => ({ id: textOf(result.session_id), at: timeOf(result.when) }));
}

export function quoteOf(message: FoundMessage): ReflexQuote {
  const day = Number.isNaN(message.at) ? '' : ` · ${dayOf(message.at)}`;
  const handle = message.messageId === undefined ? '' : ` · message ${message.messageId}`;
  return { source: `${message.sessionId}${day}${handle} · ${message.role}`, text: message.text };
}

/** Local calendar day and minute, `2026-05-03 14:05`. */
function dayOf(at: number): string {
  const { year, month, day, hour, minute } = localDate(at);
  const two = (value: number) => String(value).padStart(2, '0');
  return Number.isFinite(year) ? `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}` : isoTime(0);
}

function hitOf(result: JsonObject, message: JsonObject | undefined): FoundMessage {
  const snippet = textOf(result.snippet).replaceAll('>>>', '').replaceAll('<<<', '');
  const own =
    message === undefined
      ? { role: result.matched_role, text: snippet, when: result.when, id: result.match_message_id }
      : message;
  return messageOf(result, own);
}

function messageOf(result: JsonObject, message: JsonObject): FoundMessage {
  const id = Number(message.id);
  return {
    sessionId: textOf(result.session_id),
    at: timeOf(message.when ?? result.when),
    messageId: message.id === undefined || Number.isNaN(id) ? undefined : id,
    role: textOf(message.speaker) || textOf(message.role),
    text: textOf(message.text).trim(),
  };
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function timeOf(value: JsonValue | undefined): number {
  if (typeof value === 'number') return value < 1e11 ? value * 1000 : value;
  return parseTime(textOf(value)) ?? Number.NaN;
}
