// Owns the model-free tier as the rest of the app sees it before it is needed: most starts have a model, and its rules take time to load.
// Knows no rule. Invariant: `reflex/1` under any load: same id, tier and traits as the client behind it, which is made once.
import type { Clock } from '#base/clock.ts';
import type { ReflexQuestion, ReflexRule } from '#core/agent/reflex-rule.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import type { ReflexExtras, ReflexTalk, ReflexTier } from './reflex-tier.ts';

export interface LazyReflex {
  readonly client: ModelClient;
  readonly rules: () => Promise<readonly ReflexRule[]>;
  /** The question of the reflex that a conversation ended with. */
  readonly question: (talk: ReflexTalk) => Promise<ReflexQuestion | undefined>;
}

/** `extra` is asked once, when the reflex is first needed. */
export function createLazyReflex(extra: () => ReflexExtras, clock: Clock): LazyReflex {
  let tier: Promise<ReflexTier> | undefined;
  const load = () => {
    tier ??= import('./reflex-tier.ts').then(({ createReflexTier }) => createReflexTier(extra(), clock));
    return tier;
  };
  const client: ModelClient = {
    id: 'reflex/1',
    tier: 'T0',
    traits: { contextWindow: 1_000_000, toolCalling: 'structured', cacheMarks: false, local: true },
    async *stream(request, signal) {
      yield* (await load()).client.stream(request, signal);
    },
  };
  return {
    client,
    rules: async () => (await load()).rules,
    question: async (talk) => (await load()).openQuestion(talk),
  };
}
