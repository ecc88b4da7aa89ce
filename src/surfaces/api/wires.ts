// Owns the two wires of OpenAI as data, `/v1/chat/completions` and `/v1/responses`: what a request means, the events of its stream, the answer in
// one. Knows no HTTP and no session. Invariants: tools are those of Talaria, and what cannot be had is refused by name; items of a response are made
// from the messages of its turn alone, so that one that is read again is as it was; `sequence_number` counts from 0 without gaps.
import { z } from 'zod';
import { newId } from '#base/ids.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { issueText } from '#base/schema-issue.ts';
import type { Message, Part } from '#core/model/message.ts';
import { ApiError, type Said, type Turn, type TurnDesk, type TurnEnd, type TurnWish } from './turns.ts';

/** One request on its way. */
export interface Wire {
  readonly wish: TurnWish;
  readonly streams: boolean;
  /** The event stream, each event with its blank line. Throws ApiError. */
  readonly frames: (turn: Turn) => AsyncGenerator<string, void>;
  /** The answer in one, of a turn that was played. Throws ApiError. */
  readonly whole: (turn: Turn) => JsonObject;
}

const part = z.looseObject({ type: z.string(), text: z.string().optional(), image_url: z.unknown().optional() });
const item = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(part)]).nullish(),
});
const someItem = item.partial();
type Item = z.infer<typeof someItem>;

const none = z.array(z.unknown()).max(0).nullish();
const no = z.null().optional();
const one = z.literal(1).nullish();
const plain = z.object({ type: z.literal('text') }).nullish();
const text = z.object({ format: plain }).nullish();
const background = z.literal(false).nullish();
/** They would change what comes back. */
const unsupported = { tools: none, functions: none, tool_choice: no, n: one, response_format: plain, text, background };
const tokens = z.int().min(1).nullish();
const shared = { ...unsupported, user: z.string().nullish(), stream: z.boolean().nullish() };

const chatRequest = z.object({
  ...shared,
  model: z.string(),
  messages: z.array(item).min(1),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
});

/** Throws ApiError 400 that names the field. */
function readRequest<Shape>(schema: z.ZodType<Shape>, text: string): Shape {
  const body = parseJsonObject(text);
  if (!body.ok) throw new ApiError(400, 'invalid_json', 'the body is no JSON object');
  const read = schema.safeParse(body.value);
  if (read.success) return read.data;
  const [first] = read.error.issues;
  const refused = read.error.issues.find(({ path }) => String(path[0]) in unsupported);
  if (refused) {
    const name = String(refused.path[0]);
    throw new ApiError(400, 'unsupported_parameter', `Unsupported parameter: '${name}'`, name);
  }
  const name = first?.path.join('.') || 'body';
  throw new ApiError(400, 'invalid_value', `${name} ${first ? issueText(first) : 'cannot be read'}`, name);
}

function saidOf(role: Said['role'], given: Item['content']): Said {
  const [texts, images]: [string[], string[]] = [[], []];
  const parts = typeof given === 'string' ? [{ type: 'text', text: given }] : (given ?? []);
  for (const { type, text = '', image_url: image } of parts as readonly z.infer<typeof part>[]) {
    const address = String((image as { url?: unknown } | undefined)?.url ?? image);
    if (/^(?:(?:in|out)put_)?text$/.test(type)) texts.push(text);
    else if (/^(?:image_url|input_image)$/.test(type) && /^(?:data:image\/|https?:)/i.test(address))
      images.push(address);
    else throw new ApiError(400, 'unsupported_content_type', `${type}: text and pictures are taken`, 'content');
  }
  return { role, text: texts.join('\n'), images };
}

/** The last word, what was said before it, what the program says. Throws ApiError for other files, and where the last word is not the user's. */
function heardIn(items: readonly Item[], param: string): Pick<TurnWish, 'last' | 'past' | 'context'> {
  const [past, own]: [Said[], string[]] = [[], []];
  for (const { role, content: given } of items) {
    if (role === 'user' || role === 'assistant') past.push(saidOf(role, given));
    // Calls, results and thoughts that come back are ours already.
    else if (role) own.push(saidOf('user', given).text);
  }
  const last = past.pop();
  if (last?.role === 'user' && (last.text.trim() !== '' || last.images.length > 0))
    return { last, past, context: own.join('\n\n') };
  throw new ApiError(400, 'invalid_value', 'the last message must be one of the user, and say something', param);
}

/** A tool that runs, for whoever reads along: clients pass comments over. */
function toolComment({ name, summary }: { readonly name: string; readonly summary: string }): string {
  return `: tool ${name} ${summary.replaceAll(/\s+/g, ' ')}\n\n`;
}

function usageOf({ usage }: TurnEnd, [input, output]: readonly [input: string, output: string]): JsonObject {
  return {
    [`${input}_tokens`]: usage.inputTokens,
    [`${output}_tokens`]: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    [`${input}_tokens_details`]: { cached_tokens: usage.cachedTokens },
    [`${output}_tokens_details`]: { reasoning_tokens: usage.reasoningTokens },
  };
}

/** Throws ApiError. */
export function chatWire(body: string): Wire {
  const { model, messages, user, stream, ...rest } = readRequest(chatRequest, body);
  const maxOutputTokens = rest.max_completion_tokens ?? rest.max_tokens;
  const head = { id: newId('chatcmpl'), model };
  return {
    wish: { source: 'api', model, user, maxOutputTokens, ...heardIn(messages, 'messages') },
    streams: stream === true,
    frames: (turn) => chunks(turn, { ...head, created: turn.createdAt }, rest.stream_options?.include_usage),
    whole: (turn) => {
      const end = turn.ended();
      const message = { role: 'assistant', content: end.text, refusal: null };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: reasonOf(end) }];
      return { ...head, object: 'chat.completion', created: turn.createdAt, choices, usage: usageOf(end, WORDS) };
    },
  };
}

const WORDS = ['prompt', 'completion'] as const;

function reasonOf({ outcome }: TurnEnd): string {
  return outcome === 'done' ? 'stop' : 'length';
}

async function* chunks(turn: Turn, head: JsonObject, wantsUsage?: boolean | null): AsyncGenerator<string, void> {
  const line = (choices: readonly JsonObject[], more: JsonObject = {}) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const chunk = (delta: JsonObject, finish: string | null = null) => line([{ index: 0, delta, finish_reason: finish }]);
  yield chunk({ role: 'assistant', content: '' });
  for await (const event of turn.events) {
    if (event.type === 'text-delta') yield chunk({ content: event.text });
    if (event.type === 'reasoning-delta') yield chunk({ reasoning_content: event.text });
    if (event.type === 'tool-start') yield toolComment(event);
  }
  const end = turn.ended();
  yield chunk({}, reasonOf(end));
  if (wantsUsage) yield line([], { usage: usageOf(end, WORDS) });
  yield 'data: [DONE]\n\n';
}

const responseRequest = z.object({
  ...shared,
  model: z.string().default('talaria'),
  input: z.union([z.string(), z.array(someItem)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullable().default(null),
  conversation: z.union([z.string().transform((id) => ({ id })), z.object({ id: z.string() })]).nullish(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.string()).nullable().default({}),
  max_output_tokens: z.int().min(1).nullable().default(null),
});

type ResponseRequest = z.infer<typeof responseRequest>;

/** Throws ApiError. */
export async function responsesWire(body: string, desk: TurnDesk): Promise<Wire> {
  const asked = readRequest<ResponseRequest>(responseRequest, body);
  const { model, user, input, instructions: content, previous_response_id: previous, conversation } = asked;
  const named = conversation ? { session: conversation.id } : undefined;
  const place = previous ? await desk.response(previous, 'previous_response_id') : named;
  const items: readonly Item[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const heard = heardIn([{ role: 'system', content }, ...items], 'input');
  const id = newId('resp');
  return {
    wish: { source: 'api', model, user, place, maxOutputTokens: asked.max_output_tokens, ...heard },
    streams: asked.stream === true,
    frames: (turn) => responseFrames(turn, asked, id),
    whole: (turn) => wholeResponse(turn, asked, id),
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

/** The same in each. */
const FIXED = { object: 'response', instructions: null, tools: [], tool_choice: 'auto', parallel_tool_calls: true };

/** Without an end it has only begun; items are added. */
function responseOf(turn: Turn, asked: ResponseRequest, id: string, end?: TurnEnd): JsonObject {
  const { model, metadata, conversation, previous_response_id, store } = asked;
  const ended = end?.outcome === 'done' ? 'completed' : 'incomplete';
  const status = end ? ended : 'in_progress';
  return {
    ...FIXED,
    id,
    created_at: turn.createdAt,
    status,
    model,
    metadata,
    previous_response_id,
    ...(conversation ? { conversation: { id: turn.sessionId } } : {}),
    store: store !== false,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    usage: end ? usageOf(end, ['input', 'output']) : null,
    output: [],
  };
}

/** Kept, unless the client does not want that. Throws ApiError. */
function wholeResponse(turn: Turn, asked: ResponseRequest, id: string): JsonObject {
  const response = responseOf(turn, asked, id, turn.ended());
  if (response.store) turn.keepResponse(id, response);
  return { ...response, output: itemsOf(turn.messages(), id) };
}

async function* responseFrames(turn: Turn, asked: ResponseRequest, id: string): AsyncGenerator<string, void> {
  const out = new ResponseEvents(id);
  const begun = responseOf(turn, asked, id);
  yield out.event('created', { response: begun });
  yield out.event('in_progress', { response: begun });
  try {
    yield* out.items(turn.events);
    const response = wholeResponse(turn, asked, id);
    yield out.event(String(response.status), { response });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    yield out.event('failed', { response: { ...begun, status: 'failed', error: { code, message } } });
  }
}

/** Texts while they come, calls and results when they are durable. */
class ResponseEvents {
  readonly #id: string;
  #number = 0;
  /** Items that are whole. */
  #count = 0;
  #open: { readonly kind: Kind; text: string } | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  event(name: string, value: JsonObject): string {
    const type = `response.${name}`;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#number++, ...value })}\n\n`;
  }

  async *items(events: Turn['events']): AsyncGenerator<string, void> {
    for await (const event of events) {
      if (event.type === 'text-delta') yield* this.#say('text', event.text);
      if (event.type === 'reasoning-delta') yield* this.#say('reasoning', event.text);
      if (event.type === 'tool-start') yield toolComment(event);
      if (event.type === 'message' && event.message.role !== 'user') yield* this.#act(event.message.parts);
    }
  }

  *#act(parts: readonly Part[]): Generator<string, void> {
    yield* this.#close();
    for (const part of parts) {
      if (part.type !== 'tool-call' && part.type !== 'tool-result') continue;
      const place = { output_index: this.#count, item: itemOf(part, `${this.#id}_${this.#count}`) };
      this.#count += 1;
      yield this.event('output_item.added', place);
      yield this.event('output_item.done', place);
    }
  }

  *#say(kind: Kind, said: string): Generator<string, void> {
    if (this.#open?.kind !== kind) yield* this.#begin(kind);
    // What stands between two steps stands between two items here.
    const delta = this.#open?.text === '' ? said.replace(/^\n\n/, '') : said;
    this.#open = { kind, text: (this.#open?.text ?? '') + delta };
    yield this.event(`${SPOKEN[kind].part.type}.delta`, { ...this.#at(kind), delta, logprobs: [] });
  }

  *#begin(kind: Kind): Generator<string, void> {
    yield* this.#close();
    this.#open = { kind, text: '' };
    const item = spokenItem(kind, `${this.#id}_${this.#count}`);
    yield this.event('output_item.added', { output_index: this.#count, item });
    yield this.event('content_part.added', { ...this.#at(kind), part: { ...SPOKEN[kind].part, text: '' } });
  }

  *#close(): Generator<string, void> {
    if (!this.#open) return;
    const { kind, text: said } = this.#open;
    const { part } = SPOKEN[kind];
    yield this.event(`${part.type}.done`, { ...this.#at(kind), text: said, logprobs: [] });
    yield this.event('content_part.done', { ...this.#at(kind), part: { ...part, text: said } });
    const item = spokenItem(kind, `${this.#id}_${this.#count}`, said);
    yield this.event('output_item.done', { output_index: this.#count++, item });
    this.#open = undefined;
  }

  #at(kind: Kind): JsonObject {
    const item_id = `${SPOKEN[kind].prefix}_${this.#id}_${this.#count}`;
    return { item_id, output_index: this.#count, content_index: 0 };
  }
}
