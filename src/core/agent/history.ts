// Owns the messages of a conversation as they stand: what a process that died left open is closed, turns are counted, known secrets are taken out;
// how large it is reckoned to be, without a tokenizer, how much of a window it may take, and what of it is in the context now. Knows no store and no
// secret: it is given a way to redact. Invariants: what comes out is a legal history; only what must change does, so that what is stored is what is
// sent; the size of a conversation is the sum of its messages, so that it is kept up by addition.

import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { estimateTokens } from '#base/text.ts';
import {
  type AssistantMessage,
  imagesIn,
  isText,
  type Message,
  type Part,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
  toolCalls,
} from '#core/model/message.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import { summaryText, turnsOf } from './compress/summary.ts';
import type { FrozenPrompt, StoredMessage } from './session-store.ts';

/** Results to append so that the last assistant message's calls are all answered; empty when the history is legal. */
export function missingResults(history: readonly Message[]): readonly ToolMessage[] {
  const answered = new Set(history.flatMap((message) => (message.role === 'tool' ? [message.parts[0].callId] : [])));
  const lastAssistant = history.findLast((message) => message.role === 'assistant');
  if (!lastAssistant) return [];
  return toolCalls(lastAssistant)
    .filter((call) => !answered.has(call.callId))
    .map(interruptedResult);
}

function interruptedResult(call: ToolCallPart): ToolMessage {
  const text =
    'No result: the process ended while this call was running. It may or may not have had its effect; check before repeating it.';
  const observed = { ms: 0, bytes: 0, refused: 'interrupted' };
  return {
    role: 'tool',
    parts: [
      { type: 'tool-result', callId: call.callId, name: call.name, text, isError: true, origin: 'observed', observed },
    ],
  };
}

export function countTurns(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + turnsIn(message), 0);
}

/** Each turn begins with a user message that somebody gave: not with context, a steer or a summary alone. */
export function isTurnStart(message: Message): boolean {
  return message.role === 'user' && message.parts.some((part) => part.label === undefined);
}

function turnsIn(message: Message): number {
  const summary = summaryText(message);
  if (summary !== undefined) return turnsOf(summary);
  return isTurnStart(message) ? 1 : 0;
}

type Redact = (text: string) => string;

export function redactMessage(message: Message, redact: Redact): Message {
  switch (message.role) {
    case 'user':
      return { ...message, parts: message.parts.map((part) => (isText(part) ? redactText(part, redact) : part)) };
    case 'assistant':
      return { ...message, parts: message.parts.map((part) => redactAssistantPart(part, redact)) };
    case 'tool':
      return { ...message, parts: [{ ...message.parts[0], text: redact(message.parts[0].text) }] };
  }
}

function redactText(part: TextPart, redact: Redact): TextPart {
  return { ...part, text: redact(part.text) };
}

/** Signed reasoning goes back to its provider byte for byte, so it stays as it came. */
function redactAssistantPart(
  part: AssistantMessage['parts'][number],
  redact: Redact,
): AssistantMessage['parts'][number] {
  if (part.type === 'text') return redactText(part, redact);
  if (part.type === 'reasoning') return part.replay === undefined ? { ...part, text: redact(part.text) } : part;
  const malformed = part.malformed === undefined ? {} : { malformed: redact(part.malformed) };
  return { ...part, arguments: redactObject(part.arguments, redact), ...malformed };
}

function redactObject(object: JsonObject, redact: Redact): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, redactValue(value, redact)]));
}

function redactValue(value: JsonValue | undefined, redact: Redact): JsonValue | undefined {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redact) ?? null);
  return isJsonObject(value) ? redactObject(value, redact) : value;
}

/** What the frame of a message takes beside its words. */
const FRAME_TOKENS = 4;

/** Messages never change, so each is reckoned once. */
const known = new WeakMap<Message, number>();

export function messageTokens(message: Message): number {
  const before = known.get(message);
  if (before !== undefined) return before;
  const words = message.parts.reduce((sum, part) => sum + estimateTokens(partText(part)), FRAME_TOKENS);
  const tokens = words + imageTokens(message);
  known.set(message, tokens);
  return tokens;
}

function mostTokens(message: Message): number {
  return message.parts.reduce((sum, part) => sum + partText(part).length, FRAME_TOKENS) + imageTokens(message);
}

/** About what the providers count for a picture: pixels by 750, of a picture that they have made smaller where it is large. */
function imageTokens(message: Message): number {
  return imagesIn(message).reduce(
    (sum, { width, height }) => sum + Math.min(1_600, Math.ceil((width * height) / 750)),
    0,
  );
}

/** System text and tool schemas. */
export function promptTokens({ system, tools }: FrozenPrompt): number {
  return estimateTokens(system) + estimateTokens(JSON.stringify(tools));
}

/** A provider's count over our estimate of the same request; undefined when they are so far apart that it counted something else, e.g. what was not cached. */
export function countFactor(counted: number, estimated: number): number | undefined {
  const factor = counted / Math.max(1, estimated);
  return factor >= 0.5 && factor <= 4 ? factor : undefined;
}

function partText(part: Part): string {
  if (part.type === 'image') return '';
  if (part.type === 'tool-call') return `${part.name} ${part.malformed ?? JSON.stringify(part.arguments)}`;
  return part.text;
}

/** All in tokens. */
export interface CompressionBudget {
  /** Prompt and messages of this size are compressed before a turn. */
  readonly soft: number;
  /** Of this size they are compressed in mid-turn, and with whatever is at hand. */
  readonly hard: number;
  readonly head: number;
  readonly tail: number;
  readonly summary: number;
}

export interface WindowFacts {
  readonly contextWindow: number;
  readonly promptTokens: number;
  /** Share of the window. */
  readonly threshold: number;
}

export const DEFAULT_THRESHOLD = 0.5;
const HARD_SHARE = 0.85;
/** Under this the prompt may take two fifths, so the threshold is a share of what it leaves. */
const SMALL_WINDOW = 32_768;
/** What a conversation can grow by, at least, until it is compressed again. */
const GROWTH_SHARE = 0.1;
const TAIL = { tokens: 20_000, share: 0.2, shareOfRest: 0.25 };
const HEAD_SHARE = { large: 0.25, small: 0.06 };
const SUMMARY = { share: 0.08, least: 500, most: 8_000 };

export function compressionBudget({ contextWindow, promptTokens, threshold }: WindowFacts): CompressionBudget {
  const small = contextWindow < SMALL_WINDOW;
  const rest = Math.max(0, contextWindow - promptTokens);
  const hard = Math.floor(contextWindow * HARD_SHARE);
  const head = Math.floor(contextWindow * (small ? HEAD_SHARE.small : HEAD_SHARE.large));
  const tail = Math.floor(Math.min(TAIL.tokens, contextWindow * TAIL.share, rest * TAIL.shareOfRest));
  const summary = Math.min(SUMMARY.most, Math.max(SUMMARY.least, Math.floor(contextWindow * SUMMARY.share)));
  const kept = (small ? head : 0) + tail + summary + contextWindow * GROWTH_SHARE;
  const start = small ? promptTokens + rest * threshold : contextWindow * threshold;
  const soft = Math.floor(Math.min(hard, Math.max(start, promptTokens + kept)));
  return { soft, hard, head, tail, summary };
}

export class LiveContext {
  #stored: StoredMessage[] = [];
  #messages: Message[] = [];
  #prompt: FrozenPrompt;
  /** Each is reckoned when it is first asked for: a short run never asks. */
  #reckoned: { messages?: number; prompt?: number; most?: number } = {};
  /** What the provider counted for the last request, and how many messages it held. */
  #counted: { readonly model: string; readonly tokens: number; readonly messages: number } | undefined;
  #factor: { readonly model: string; readonly of: number } | undefined;
  /** Sizes at which a model said that it is full, by its id: its window is no larger, whatever its traits say. */
  readonly #fullAt = new Map<string, number>();

  constructor(prompt: FrozenPrompt, stored: readonly StoredMessage[]) {
    this.#prompt = prompt;
    this.#set(stored);
  }

  get prompt(): FrozenPrompt {
    return this.#prompt;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get stored(): readonly StoredMessage[] {
    return this.#stored;
  }

  get promptTokens(): number {
    this.#reckoned.prompt ??= promptTokens(this.#prompt);
    return this.#reckoned.prompt;
  }

  /** Prompt and messages, about. */
  get tokens(): number {
    this.#reckoned.messages ??= this.#messages.reduce((sum, message) => sum + messageTokens(message), 0);
    return this.promptTokens + this.#reckoned.messages;
  }

  /** Does so much more fit, before a turn or in mid-turn, without any compression? */
  hasRoom(
    incoming: number,
    model: ModelClient,
    { threshold, isTurn }: { threshold: number; isTurn: boolean },
  ): boolean {
    if (this.#isSurelyRoom(incoming, model, threshold)) return true;
    const facts = { contextWindow: this.reach(model), promptTokens: this.promptTokens, threshold };
    const { soft, hard } = compressionBudget(facts);
    return this.tokens + incoming < (isTurn ? soft : hard);
  }

  /** Is it so little that nothing needs to be reckoned? Each text is taken for as many tokens as it has UTF-16 units. */
  #isSurelyRoom(incoming: number, model: ModelClient, threshold: number): boolean {
    const { system, tools } = this.#prompt;
    const ofPrompt = () => system.length + JSON.stringify(tools).length;
    this.#reckoned.most ??= this.#messages.reduce((sum, message) => sum + mostTokens(message), ofPrompt());
    return this.#reckoned.most + incoming < Math.floor(this.reach(model) * Math.min(threshold, HARD_SHARE));
  }

  /** What a provider counted for a request of the prompt and all messages of now. Reckons nothing yet. */
  counted(model: string, tokens: number): void {
    if (tokens > 0) this.#counted = { model, tokens, messages: this.#messages.length };
  }

  /** How many tokens of this model stand for one of ours; 1 while nobody has counted. */
  factor(model: string): number {
    if (this.#counted) {
      const { tokens, messages } = this.#counted;
      const ours = this.#messages.slice(0, messages).reduce((sum, one) => sum + messageTokens(one), this.promptTokens);
      this.#factor = { model: this.#counted.model, of: countFactor(tokens, ours) ?? 1 };
      this.#counted = undefined;
    }
    return this.#factor?.model === model ? this.#factor.of : 1;
  }

  /** `size`: prompt, messages and what was about to come, as we estimate them. */
  noteFull({ id }: ModelClient, size: number): void {
    this.#fullAt.set(id, size);
  }

  /** The model's window, by its traits and by what it said; `reach`: in tokens as we estimate them. */
  window({ id, traits }: ModelClient): number {
    return Math.min(traits.contextWindow, this.#fullAt.get(id) ?? Number.POSITIVE_INFINITY);
  }

  reach({ id, traits }: ModelClient): number {
    const estimated = Math.floor(traits.contextWindow / this.factor(id));
    return Math.min(estimated, this.#fullAt.get(id) ?? Number.POSITIVE_INFINITY);
  }

  push(stored: StoredMessage): void {
    this.#stored.push(stored);
    this.#messages.push(stored.message);
    const { messages, most } = this.#reckoned;
    if (messages !== undefined) this.#reckoned.messages = messages + messageTokens(stored.message);
    if (most !== undefined) this.#reckoned.most = most + mostTokens(stored.message);
  }

  /** What `SessionStore.compact` did, done here: `inserted` stands where the last of `ids` stood. */
  replace(ids: readonly number[], inserted: readonly StoredMessage[], prompt: FrozenPrompt): void {
    this.factor('');
    const gone = new Set(ids);
    const last = this.#stored.findLastIndex((stored) => gone.has(stored.id));
    const all = [...this.#stored.slice(0, last + 1), ...inserted, ...this.#stored.slice(last + 1)];
    this.#prompt = prompt;
    this.#set(all.filter((stored) => inserted.includes(stored) || !gone.has(stored.id)));
  }

  #set(stored: readonly StoredMessage[]): void {
    this.#stored = [...stored];
    this.#messages = stored.map(({ message }) => message);
    this.#reckoned = {};
  }
}
