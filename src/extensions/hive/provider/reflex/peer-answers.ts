// Owns how the results of the peer tools are answered without a model: fixed texts, and what peers said quoted under who said it.
// Knows no line. Invariant: nothing of a peer stands outside a quotation; a failure is quoted as the tool gave it.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import type { ReflexQuote, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { oneLine, plainName, plainText } from '../../peers/plain-text.ts';
import { peerTexts } from './peer-lines.ts';

/** `shown` gets the answer of a call that went well. */
export function answerWith(result: ToolResultPart, shown: (answer: JsonValue) => ReflexStep): ReflexStep {
  const parsed = parseJson(result.text);
  if (!result.isError && parsed.ok) return shown(parsed.value);
  const told = parsed.ok && isJsonObject(parsed.value) ? textOf(parsed.value.error) : result.text;
  return say(peerTexts.failed, [{ source: result.name, text: oneLine(told, 500) }]);
}

export function sayPeers(answer: JsonValue): ReflexStep {
  const { peers, suggestions } = objectOf(answer);
  const known = objectsOf(peers);
  const quotes = [...known.map(peerQuote), ...objectsOf(suggestions).map(suggestionQuote)];
  return say(known.length === 0 ? peerTexts.none : peerTexts.peers, quotes);
}

export function sayPeer(answer: JsonValue): ReflexStep {
  return say(peerTexts.one, [peerQuote(objectOf(answer))]);
}

/** Of every peer. */
export function sayNews(answer: JsonValue): ReflexStep {
  const entries = objectsOf(answer);
  const messages = entries.flatMap((entry) =>
    objectsOf(entry.messages).map((message) => ({ message, peer: entry.peer })),
  );
  const isNews = messages.some(({ message }) => message.new === true);
  const chosen = isNews ? messages.filter(({ message }) => message.new === true) : messages;
  const text = isNews ? peerTexts.news : chosen.length > 0 ? peerTexts.lastWords : peerTexts.noNews;
  return say(
    text,
    chosen.map(({ message, peer }) => messageQuote(message, textOf(peer))),
  );
}

/** With one peer. */
export function sayTalk(answer: JsonValue): ReflexStep {
  const messages = objectsOf(answer);
  return say(
    messages.length === 0 ? peerTexts.silence : peerTexts.talk,
    messages.map((message) => messageQuote(message)),
  );
}

export function say(text: string, quotes: readonly ReflexQuote[] = []): ReflexStep {
  return quotes.length === 0 ? { type: 'say', text } : { type: 'say', text, quotes };
}

export function named(template: string, ...values: readonly (JsonValue | undefined)[]): string {
  return values.reduce<string>((text, value) => text.replace('{}', () => plainName(textOf(value))), template);
}

function peerQuote(peer: JsonObject): ReflexQuote {
  const from = introducedBy(textOf(peer.introduced_by), textOf(peer.name));
  const status = peer.status === 'active' ? '' : ` (${peer.status === 'left' ? 'has left' : 'not here yet'})`;
  const id = peer.id === undefined ? '' : ` = ${plainName(textOf(peer.id))}`;
  return { source: `${plainName(textOf(peer.name))}${id}${from}${status}`, text: oneLine(textOf(peer.context), 300) };
}

function introducedBy(introducer: string, name: string): string {
  if (introducer === name) return '';
  return introducer === 'you' ? ', contacted by you' : `, introduced by ${plainName(introducer)}`;
}

function suggestionQuote(spark: JsonObject): ReflexQuote {
  const how = `${plainName(textOf(spark.confidence))} confidence${spark.by === 'rule' ? ', by rule' : ''}`;
  const source = `suggestion: ${plainName(textOf(spark.peer_a))} and ${plainName(textOf(spark.peer_b))} (${how})`;
  return { source, text: oneLine(textOf(spark.reason), 300) };
}

/** `peer`: whose talk it is from, where several are shown. */
function messageQuote(message: JsonObject, peer?: string): ReflexQuote {
  const from = textOf(message.from);
  const talk = peer === undefined || peer === from ? '' : ` (with ${plainName(peer)})`;
  const source = `${plainName(from)}${talk}, ${oneLine(textOf(message.time), 40)}${message.new === true ? ', new' : ''}`;
  return { source, text: plainText(textOf(message.text)) };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
