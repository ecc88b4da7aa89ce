// Owns the last touches on a chat-completions body: order of its keys, the provider's own fields, cache marks.
// Knows endpoints by host name. Invariant: `messages` comes last, so that the bytes of a request extend those of the one before;
// where marks are taken every text is sent in block form, marked or not, so that its form never changes.
import { applyCacheMarks, type CacheTtl, type MarkableMessage } from '../prompt-cache.ts';
import type { Endpoint } from './provider-options.ts';

export interface BodyRules {
  readonly endpoint: Endpoint;
  readonly cacheMarks: boolean;
  readonly cacheTtl: CacheTtl;
  readonly sessionId?: string;
}

type Body = Readonly<Record<string, unknown>>;

export function rewriteBody(body: Body, rules: BodyRules): Record<string, unknown> {
  const { messages, max_tokens: limit, ...rest } = body;
  const openai = isOpenAi(rules.endpoint);
  return {
    ...rest,
    ...(limit === undefined ? {} : { [openai ? 'max_completion_tokens' : 'max_tokens']: limit }),
    ...(openai && rules.sessionId ? { prompt_cache_key: rules.sessionId } : {}),
    messages: rules.cacheMarks
      ? applyCacheMarks(asBlocks(messages as readonly MarkableMessage[]), rules.cacheTtl)
      : messages,
  };
}

/** OpenAI itself refuses `max_tokens` for its newer models and routes by `prompt_cache_key`; others may not know either. */
function isOpenAi(endpoint: Endpoint): boolean {
  return URL.parse(endpoint.baseUrl)?.hostname === 'api.openai.com';
}

function asBlocks(messages: readonly MarkableMessage[]): MarkableMessage[] {
  return messages.map((message) =>
    typeof message.content === 'string' && message.content !== ''
      ? { ...message, content: [{ type: 'text', text: message.content }] }
      : message,
  );
}
