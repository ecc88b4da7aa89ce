// Owns `reflex.first`: the model-free tier acts where its rules are sure, the model does all the rest (reflex 11).
// Knows no rule. Invariant: a refusal or a question of the reflex is never shown when there is a model to ask.
import { throwIfAborted } from '#base/abort.ts';
import type { ModelClient, ModelEvent, ModelRequest } from '#core/model/model-client.ts';

export function reflexFirst(reflex: ModelClient, model: ModelClient): ModelClient {
  return {
    get id() {
      return model.id;
    },
    get traits() {
      return model.traits;
    },
    tier: model.tier,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      const events: ModelEvent[] = [];
      for await (const event of reflex.stream(request, signal)) events.push(event);
      throwIfAborted(signal);
      const acts = events.some((event) => event.type === 'tool-call');
      if (acts || reflexIsAtWork(request, reflex.id)) yield* events;
      else yield* model.stream(request, signal);
    },
  };
}

/** The last step of this turn was the reflex's own: it quotes the results of its calls. */
function reflexIsAtWork(request: ModelRequest, reflexId: string): boolean {
  for (const message of request.messages.toReversed()) {
    if (message.role === 'assistant') return message.model === reflexId;
    if (message.role === 'user') return false;
  }
  return false;
}
