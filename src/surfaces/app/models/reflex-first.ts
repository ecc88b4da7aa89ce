// Owns what the model-free tier does beside a model: where it goes first it acts on lines that are exactly of its forms, and the model
// does all the rest (reflex 11). Knows no rule.
// Invariant: a refusal or a question of the reflex is never shown when there is a model to ask; it never answers for one that failed.
import { throwIfAborted } from '#base/abort.ts';
import type { ModelClient, ModelEvent, ModelRequest } from '#core/model/model-client.ts';

/** Said with the name of the model where nobody set it. */
export const FIRST_SINCE_SMALL = 'small, so reflex/1 goes first for its own forms (reflex.first: false ends that)';
/** Billions of parameters: under this a model on this machine is better at talking than at calling tools. */
const SMALL = 4;

/** Does the reflex go first? As the owner set it; unset, beside a small model of this machine. */
export function goesFirst(
  wish: boolean | undefined,
  { id, traits, tier }: Pick<ModelClient, 'id' | 'traits' | 'tier'>,
): boolean {
  return tier !== 'T0' && (wish ?? (traits.local && isSmall(id)));
}

/** By the size in its name: `135m`, `1.7b`, `3B`. */
function isSmall(id: string): boolean {
  const [, count, unit = ''] = /(?:^|[^a-z0-9.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])/i.exec(id) ?? [];
  return count !== undefined && Number(count) / (unit.toLowerCase() === 'm' ? 1000 : 1) < SMALL;
}

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
