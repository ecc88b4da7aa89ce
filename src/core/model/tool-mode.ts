// Owns putting the right tool strategy around a client. Knows both strategies, no provider.
// Invariant: a client that was asked with tools and refused them as such is asked again, at once and from then on, in text.

import { type CallRecoveryOptions, withCallRecovery } from './call-recovery.ts';
import { type ModelClient, ModelError, type ModelEvent, type ModelRequest } from './model-client.ts';
import { saysToolsRefused } from './tools-refused.ts';

/** `client` with text tools or call recovery, as its traits say. */
export function withToolStrategy(client: ModelClient, options: CallRecoveryOptions = {}): ModelClient {
  if (client.traits.toolCalling === 'text') return textClient(client);
  const structured = withCallRecovery(client, options);
  const text = textClient(client);
  let active = structured;
  return {
    id: client.id,
    tier: client.tier,
    get traits() {
      return active.traits;
    },
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      if (active === text) return yield* text.stream(request, signal);
      try {
        yield* structured.stream(request, signal);
      } catch (error) {
        if (!refusesTools(error, request)) throw error;
        active = text;
        yield {
          type: 'retry',
          model: client.id,
          reason: `${client.id} takes no tools parameter; they go into the prompt`,
          attempt: 1,
          delayMs: 0,
        };
        yield* text.stream(request, signal);
      }
    },
  };
}

/** The text strategy, loaded with its parser at the first call. */
function textClient(client: ModelClient): ModelClient {
  return {
    id: client.id,
    tier: client.tier,
    traits: { ...client.traits, toolCalling: 'text' },
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      const { withTextTools } = await import('./text-tools.ts');
      yield* withTextTools(client).stream(request, signal);
    },
  };
}

function refusesTools(error: unknown, request: ModelRequest): boolean {
  return (
    error instanceof ModelError &&
    (error.code === 'model-bad-request' || error.code === 'model-not-found') &&
    request.tools.length > 0 &&
    saysToolsRefused(error.message)
  );
}
