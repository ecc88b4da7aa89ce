// Owns `/v1/chat/completions` as data: what a request means, the chunks of its stream and the answer in one, and what both wires share: contents,
// refusals, usage. Knows no HTTP and no session. Invariant: tools are those of Talaria; what cannot be had is refused by name, not left out.
import { z } from 'zod';
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { issueText } from '#base/schema-issue.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { ApiError, type Said, type Turn, type TurnEnd, type TurnWish } from './turns.ts';

/** One request on its way. */
export interface Wire {
  readonly wish: TurnWish;
  readonly streams: boolean;
  /** Yields the event stream, each event with its blank line; returns the answer in one, or what a stream has said of a failure. Throws ApiError. */
  play(turn: Turn): AsyncGenerator<string, JsonObject | ApiError>;
}

const part = z.looseObject({ type: z.string(), text: z.string().optional(), image_url: z.unknown().optional() });
const content = z
  .union([z.string().transform((text) => [part.parse({ type: 'text', text })]), z.array(part)])
  .nullish();
export const item = z.object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content });
const someItem = item.partial();
export type Item = z.infer<typeof someItem>;

const none = z.array(z.unknown()).max(0).nullish();
const plain = z.object({ type: z.literal('text') }).nullish();
/** They would change what comes back. */
const unsupported = {
  ...{ tools: none, functions: none, tool_choice: z.null().optional(), function_call: z.null().optional() },
  ...{ n: z.literal(1).nullish(), response_format: plain, text: z.object({ format: plain }).nullish() },
  background: z.literal(false).nullish(),
};
const tokens = z.int().min(1).nullish();
export const shared = { ...unsupported, user: z.string().nullish(), stream: z.boolean().nullish() };

const chatRequest = z.object({
  ...{ ...shared, model: z.string(), messages: z.array(item).min(1) },
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  ...{ max_tokens: tokens, max_completion_tokens: tokens },
});

/** Throws ApiError 400 that names the field. */
export function readRequest<Shape>(schema: z.ZodType<Shape>, body: JsonObject): Shape {
  const read = schema.safeParse(body);
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
  for (const { type, text = '', image_url: image } of given ?? []) {
    const address = String((image as { url?: unknown } | undefined)?.url ?? image);
    if (/^(?:(?:in|out)put_)?text$/.test(type)) texts.push(text);
    else if (/^(?:image_url|input_image)$/.test(type) && /^(?:data:image\/|https?:)/i.test(address))
      images.push(address);
    else throw new ApiError(400, 'unsupported_content_type', `${type}: text and pictures are taken`, 'content');
  }
  return { role, text: texts.join('\n'), images };
}

/** The last word, what was said before it, what the program says. Throws ApiError for other files, and where the last word is not the user's. */
export function heardIn(items: readonly Item[], param: string): Pick<TurnWish, 'last' | 'past' | 'context'> {
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
export function toolComment({ name, summary }: Extract<TurnEvent, { type: 'tool-start' }>): string {
  return `: tool ${name} ${summary.replaceAll(/\s+/g, ' ')}\n\n`;
}

export function usageOf({ usage }: TurnEnd, [input, output]: readonly [input: string, output: string]): JsonObject {
  return {
    [`${input}_tokens`]: usage.inputTokens,
    [`${output}_tokens`]: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    [`${input}_tokens_details`]: { cached_tokens: usage.cachedTokens },
    [`${output}_tokens_details`]: { reasoning_tokens: usage.reasoningTokens },
  };
}

/** Throws ApiError. */
export function chatWire(body: JsonObject): Wire {
  const { model, messages, user, stream, ...rest } = readRequest(chatRequest, body);
  const maxOutputTokens = rest.max_completion_tokens ?? rest.max_tokens;
  const wantsUsage = rest.stream_options?.include_usage === true;
  return {
    wish: { source: 'api', model, user, maxOutputTokens, ...heardIn(messages, 'messages') },
    streams: stream === true,
    play: (turn) => chunks(turn, { id: newId('chatcmpl'), created: turn.createdAt, model }, wantsUsage),
  };
}

async function* chunks(turn: Turn, head: JsonObject, wantsUsage: boolean): AsyncGenerator<string, JsonObject> {
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
  const finish_reason = end.outcome === 'done' ? 'stop' : 'length';
  const usage = usageOf(end, ['prompt', 'completion']);
  yield chunk({}, finish_reason);
  if (wantsUsage) yield line([], { usage });
  yield 'data: [DONE]\n\n';
  const message = { role: 'assistant', content: end.text, refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason }];
  return { ...head, object: 'chat.completion', choices, usage };
}
