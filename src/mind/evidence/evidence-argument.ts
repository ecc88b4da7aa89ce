// Owns the argument `evidence` of the tools that keep something: its schema, and reading it as citations. Knows no gate and no tool.
// Invariant: lenient in form (ids as text, `#12`, one object instead of a list, no id at all), never in substance: what cannot be found
// is cited as it was given, so that the gate can name it.
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { messageText, toolCalls } from '#core/model/message.ts';
import { messageHandle } from './message-handle.ts';
import type { Citation } from './trace-guard/claim.ts';
import { findQuote, foldQuote } from './trace-guard/find-quote.ts';
import { foldText } from './trace-guard/fold-text.ts';

/** Optional in every schema; loose, so that other forms are read too. What is no list of objects cites nothing, and breaks no call. */
export const evidenceArgument = z
  .preprocess(listOfObjects, z.array(z.looseObject({})))
  .describe('what it rests on: {quote, message?} exact words, {call} id of one that worked')
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
