// Owns citations of stored messages: their handle (`message:123`), the argument `evidence` of the tools that keep something, what a foreground
// write rests on when its writer names nothing, and how one is shown. Knows no gate, no tool and no surface. Invariants: lenient in form (ids as
// text, `#12`, one object instead of a list, no id at all), never in substance: what cannot be found is cited as it was given, so that the gate
// can name it; by itself only what is stored is cited.

import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { foldText } from '#base/text/fold.ts';
import { findQuote, foldQuote } from '#base/text/quotes.ts';
import { ellipsize } from '#base/text.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { isText, type Message, messageText, toolCalls } from '#core/model/message.ts';
import { lastMessages } from '#mind/sessions/told-messages.ts';
import type { Proposal, Provenance, ShownCitation } from './proposal.ts';
import type { Citation } from './trace-guard/claim.ts';

export function messageHandle(id: number): string {
  return `message:${id}`;
}

/** The id in a handle of a message; undefined for anything else. */
export function messageIdOf(handle: string): number | undefined {
  const digits = /^message:([1-9]\d{0,15})$/.exec(handle)?.[1];
  return digits === undefined || !Number.isSafeInteger(Number(digits)) ? undefined : Number(digits);
}

/** Optional in every schema; loose, so that other forms are read too. What is no list of objects cites nothing, and breaks no call. */
export const evidenceArgument = z
  .preprocess(listOfObjects, z.array(z.looseObject({})))
  .describe('what it rests on: {quote, message?} exact words, {call} that worked')
  .optional();

function listOfObjects(value: unknown): readonly JsonObject[] {
  const given = value as JsonValue | undefined;
  return (Array.isArray(given) ? given : [given]).filter((item: JsonValue | undefined) => isJsonObject(item));
}

const MOST = 40;

/**
 * `messages`: of the session, oldest first. For a quote without a number of this session the newest message that holds it is meant, the
 * owner's before any other.
 */
export function readEvidence(value: JsonValue | undefined, messages: readonly StoredMessage[]): readonly Citation[] {
  const items = Array.isArray(value) ? value : isJsonObject(value) ? [value] : [];
  return items.slice(0, MOST).flatMap((item) => (isJsonObject(item) ? citationOf(item, messages) : []));
}

/** The arguments as the tool that would make the change takes them. */
export function withoutEvidence({ evidence: _cited, ...change }: JsonObject): JsonObject {
  return change;
}

function citationOf(item: JsonObject, messages: readonly StoredMessage[]): readonly Citation[] {
  const { quote, call } = item;
  if (typeof quote === 'string' && quote.trim() !== '') {
    const named = numberOf(item.message ?? item.message_id ?? item.id);
    const id = messages.some((one) => one.id === named) ? named : (idOfQuote(quote, messages) ?? named);
    return [{ handle: id === undefined ? 'message:?' : messageHandle(id), quote }];
  }
  const id = call === undefined ? undefined : (idOfCall(String(call), messages) ?? numberOf(call));
  return id === undefined ? [] : [{ handle: messageHandle(id), quote: '' }];
}

function numberOf(value: JsonValue | undefined): number | undefined {
  const id = /^(?:message:|#)?(\d{1,15})$/.exec(String(value ?? '').trim())?.[1];
  return id === undefined ? undefined : Number(id);
}

function idOfQuote(quote: string, messages: readonly StoredMessage[]): number | undefined {
  const folded = foldQuote(quote);
  const holds = ({ message }: StoredMessage) => findQuote(foldText(messageText(message)), folded).length > 0;
  const own = messages.findLast((one) => one.message.role === 'user' && holds(one));
  return (own ?? messages.findLast(holds))?.id;
}

/** The result says how it ended; ids may come again in later turns, then the last one is meant. */
function idOfCall(callId: string, messages: readonly StoredMessage[]): number | undefined {
  const done = messages.findLast(({ message }) => message.role === 'tool' && message.parts[0].callId === callId);
  return (done ?? messages.findLast(({ message }) => toolCalls(message).some((one) => one.callId === callId)))?.id;
}

const QUOTE = 300;
/** Messages back in which the turn's beginning is looked for. */
const LOOKED_AT = 200;

export function foregroundCitations(database: Database, sessionId: string): readonly Citation[] {
  const newestFirst = lastMessages(database, sessionId, LOOKED_AT);
  const said = newestFirst.find((stored) => ownerText(stored) !== '');
  const called = newestFirst.find(({ message }) => message.role === 'assistant');
  const isThisTurn = called !== undefined && (said === undefined || called.id > said.id);
  return [
    ...(said === undefined ? [] : [{ handle: messageHandle(said.id), quote: ellipsize(ownerText(said), QUOTE) }]),
    ...(isThisTurn ? [{ handle: messageHandle(called.id), quote: '' }] : []),
  ];
}

function ownerText({ message }: StoredMessage): string {
  if (message.role !== 'user') return '';
  const typed = message.parts
    .filter(isText)
    .filter(({ origin, label }) => origin === 'owner' && (label === undefined || label === 'steer'));
  return typed
    .map(({ text }) => text)
    .join('\n')
    .trim();
}

/** Without a message it was forgotten, and only the quote is left. */
export function showCitation(citation: Citation, stored: StoredMessage | undefined): ShownCitation {
  if (stored === undefined) return citation;
  const { sessionId, id, at, message } = stored;
  return { ...citation, sessionId, messageId: id, role: message.role, at, text: shownText(message) };
}

function shownText(message: Message): string {
  const calls = toolCalls(message).map(({ name, arguments: given }) => `${name} ${canonicalJson(given)}`);
  return [messageText(message), ...calls].filter((text) => text !== '').join('\n');
}

const SHOWN = 400;

/** A proposal as a person reads it before saying yes: the change, then the words that it rests on. */
export function proposalLines({ action, target, change, citations, detail }: Proposal): readonly string[] {
  const text = Object.entries(change).flatMap(([key, value]) => {
    if (key === 'action' || key === 'target') return [];
    return `  ${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  const why = detail === undefined ? [] : [`  it waits: ${detail}`];
  return [`${action} ${target}`, ...text, ...citations.map(({ handle, quote }) => `  ${handle}: "${quote}"`), ...why];
}

export function provenanceLines({ proposal, citations, verdicts }: Provenance): readonly string[] {
  const { actor, createdAt, sessionId } = proposal;
  const head = `  written by ${actor}, ${isoTime(createdAt)}${sessionId === undefined ? '' : `, session ${sessionId}`}`;
  const none = actor === 'owner' ? '  your own words, by a command' : '  it cites no message';
  const read = verdicts.map(
    ({ model, verdict, why }) => `  read by ${model || 'no model'}: ${verdict}${why === '' ? '' : `, ${why}`}`,
  );
  return [head, ...(citations.length === 0 ? [none] : ordered(citations).flatMap(citationLines)), ...read];
}

function ordered(citations: readonly ShownCitation[]): readonly ShownCitation[] {
  return citations.toSorted((a, b) => (a.messageId ?? 0) - (b.messageId ?? 0));
}

function citationLines(citation: ShownCitation): readonly string[] {
  const { handle, messageId, role, at, text, quote, sessionId } = citation;
  const place = messageId === undefined ? handle : `message ${messageId}`;
  const when = at === undefined ? '' : `, ${isoTime(at)}`;
  const head = `  ${place}${role === undefined ? '' : ` (${role})`}${when}${sessionId === undefined ? '' : `, session ${sessionId}`}`;
  if (text === undefined) return [`${head}: it was forgotten; cited were the words "${quote}"`];
  // What was run stands in our own record, not in the text of its result.
  const ran = role === 'tool' && !text.includes(quote) ? [`    ${quote}`] : [];
  return [
    head,
    ...ran,
    ...ellipsize(text.trim(), SHOWN)
      .split('\n')
      .map((row) => `    ${row}`),
  ];
}
