// Owns `/v1/responses` as data: what a request means, the events of its stream, the response with its items, and one that was kept. Knows no HTTP.
// Invariants: items are made from the messages of the turn alone, so that one that is read again is as it was; `sequence_number` counts from 0 without gaps.
import { z } from 'zod';
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { Message, Part } from '#core/model/message.ts';
import * as chat from './chat-wire.ts';
import { ApiError, type Turn, type TurnDesk, type TurnEnd } from './turns.ts';

const text = z.string().transform((content) => [chat.item.parse({ role: 'user', content })]);

const responseRequest = z.object({
  ...{ ...chat.shared, model: z.string().default('talaria'), input: z.union([text, z.array(chat.item.partial())]) },
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullable().default(null),
  conversation: z.union([z.string().transform((id) => ({ id })), z.object({ id: z.string() })]).nullish(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.string()).nullable().default({}),
  max_output_tokens: z.int().min(1).nullable().default(null),
});

type ResponseRequest = z.infer<typeof responseRequest>;

/** Throws ApiError. */
export async function responsesWire(body: JsonObject, desk: TurnDesk): Promise<chat.Wire> {
  const asked = chat.readRequest<ResponseRequest>(responseRequest, body);
  const { model, user, input, instructions: content, previous_response_id: previous, conversation } = asked;
  const named = conversation ? { session: conversation.id } : undefined;
  const place = previous ? await desk.response(previous, 'previous_response_id') : named;
  const own = content ? [chat.item.parse({ role: 'system', content })] : [];
  const heard = chat.heardIn([...own, ...input], 'input');
  const wish = { source: 'api' as const, model, user, maxOutputTokens: asked.max_output_tokens, ...heard };
  return {
    wish: { ...wish, ...(place ? { place } : {}) },
    streams: asked.stream === true,
    play: (turn) => new ResponseEvents(turn, asked).play(),
  };
}

/** Throws ApiError 404. */
export async function readResponse(desk: TurnDesk, id: string): Promise<JsonObject> {
  const { body, messages } = await desk.response(id);
  return { ...body, output: itemsOf(messages, id) };
}

function itemsOf(messages: readonly Message[], id: string): readonly JsonObject[] {
  const parts = messages.flatMap(({ role, parts: all }) => (role === 'user' ? [] : [...all]));
  return parts
    .filter((part) => part.type !== 'text' || part.text !== '')
    .map((part, at) => itemOf(part, `${id}_${at}`));
}

function itemOf(part: Exclude<Part, { type: 'image' }>, id: string): JsonObject {
  if (part.type === 'text' || part.type === 'reasoning') return spokenItem(part.type, id, part.text);
  const call = { call_id: part.callId, status: 'completed' };
  if (part.type === 'tool-result') return { type: 'function_call_output', id: `fco_${id}`, ...call, output: part.text };
  const given = part.malformed ?? JSON.stringify(part.arguments);
  return { type: 'function_call', id: `fc_${id}`, ...call, name: part.name, arguments: given };
}

const SPOKEN = {
  text: { prefix: 'msg', part: { type: 'output_text', annotations: [] }, item: { type: 'message', role: 'assistant' } },
  reasoning: { prefix: 'rs', part: { type: 'reasoning_text' }, item: { type: 'reasoning', summary: [] } },
} as const;
type Kind = keyof typeof SPOKEN;

/** Without a text it has only begun. */
function spokenItem(kind: Kind, id: string, said?: string): JsonObject {
  const { prefix, part, item } = SPOKEN[kind];
  const rest = said === undefined ? { status: 'in_progress' } : { status: 'completed' };
  return { ...item, id: `${prefix}_${id}`, ...rest, content: said === undefined ? [] : [{ ...part, text: said }] };
}

/** Texts while they come, calls and results when they are durable. */
class ResponseEvents {
  readonly #id = newId('resp');
  readonly #turn: Turn;
  readonly #asked: ResponseRequest;
  #number = 0;
  /** Items that are whole. */
  #count = 0;
  #open: { readonly kind: Kind; text: string } | undefined;

  constructor(turn: Turn, asked: ResponseRequest) {
    this.#turn = turn;
    this.#asked = asked;
  }

  async *play(): AsyncGenerator<string, JsonObject | ApiError> {
    const response = this.#response();
    yield this.#event('created', { response });
    yield this.#event('in_progress', { response });
    try {
      return yield* this.#items();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message } = error;
      yield this.#event('failed', { response: { ...response, status: 'failed', error: { code, message } } });
      return error;
    }
  }

  async *#items(): AsyncGenerator<string, JsonObject> {
    for await (const event of this.#turn.events) {
      if (event.type === 'text-delta') yield* this.#say('text', event.text);
      if (event.type === 'reasoning-delta') yield* this.#say('reasoning', event.text);
      if (event.type === 'tool-start') yield chat.toolComment(event);
      if (event.type === 'message' && event.message.role !== 'user') yield* this.#act(event.message.parts);
    }
    const kept = this.#response(this.#turn.ended());
    if (kept.store) this.#turn.keepResponse(this.#id, kept);
    const response = { ...kept, output: itemsOf(this.#turn.messages(), this.#id) };
    yield this.#event(String(kept.status), { response });
    return response;
  }

  #response(end?: TurnEnd): JsonObject {
    const { model, metadata, conversation, previous_response_id, max_output_tokens } = this.#asked;
    const isCut = end !== undefined && end.outcome !== 'done';
    const ended = isCut ? 'incomplete' : 'completed';
    return {
      ...{ id: this.#id, object: 'response', created_at: this.#turn.createdAt, status: end ? ended : 'in_progress' },
      ...{ model, store: this.#asked.store !== false, metadata, previous_response_id, max_output_tokens },
      ...{ instructions: null, error: null },
      ...(conversation ? { conversation: { id: this.#turn.sessionId } } : {}),
      incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
      usage: end ? chat.usageOf(end, ['input', 'output']) : null,
      ...{ tools: [], tool_choice: 'auto', parallel_tool_calls: true, temperature: null, top_p: null },
      ...{ output: [], text: { format: { type: 'text' } } },
    };
  }

  #event(name: string, value: JsonObject): string {
    const type = `response.${name}`;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#number++, ...value })}\n\n`;
  }

  *#act(parts: readonly Part[]): Generator<string, void> {
    yield* this.#close();
    for (const part of parts) {
      if (part.type !== 'tool-call' && part.type !== 'tool-result') continue;
      const place = { output_index: this.#count, item: itemOf(part, `${this.#id}_${this.#count}`) };
      this.#count += 1;
      yield this.#event('output_item.added', place);
      yield this.#event('output_item.done', place);
    }
  }

  *#say(kind: Kind, said: string): Generator<string, void> {
    const { part } = SPOKEN[kind];
    const isNew = this.#open?.kind !== kind;
    const delta = isNew ? said.replace(/^\n\n/, '') : said;
    if (isNew) {
      yield* this.#close();
      const item = spokenItem(kind, `${this.#id}_${this.#count}`);
      yield this.#event('output_item.added', { output_index: this.#count, item });
      yield this.#event('content_part.added', { ...this.#at(kind), part: { ...part, text: '' } });
    }
    this.#open = { kind, text: (this.#open?.text ?? '') + delta };
    yield this.#event(`${part.type}.delta`, { ...this.#at(kind), delta, logprobs: [] });
  }

  *#close(): Generator<string, void> {
    if (!this.#open) return;
    const { kind, text: said } = this.#open;
    const { part } = SPOKEN[kind];
    yield this.#event(`${part.type}.done`, { ...this.#at(kind), text: said, logprobs: [] });
    yield this.#event('content_part.done', { ...this.#at(kind), part: { ...part, text: said } });
    const item = spokenItem(kind, `${this.#id}_${this.#count}`, said);
    yield this.#event('output_item.done', { output_index: this.#count++, item });
    this.#open = undefined;
  }

  #at(kind: Kind): JsonObject {
    const item_id = `${SPOKEN[kind].prefix}_${this.#id}_${this.#count}`;
    return { item_id, output_index: this.#count, content_index: 0 };
  }
}
