// Owns what the model-free tier does beside a model: with `reflex.first` it acts where its rules are sure and the model does all the rest;
// without, one line says so when a model only talked where it would have acted (reflex 11). Knows no rule.
// Invariant: a refusal or a question of the reflex is never shown when there is a model to ask; it never answers for one that failed.
import { throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { isTurnStart } from '#core/agent/count-turns.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { type Message, toolCalls } from '#core/model/message.ts';
import type { ModelClient, ModelEvent, ModelRequest, ToolSchema } from '#core/model/model-client.ts';

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

export interface ActingHint {
  readonly reflex: { readonly client: ModelClient; readonly rules: () => Promise<readonly ReflexRule[]> };
  readonly tools: () => readonly ToolSchema[];
  readonly clock: Clock;
}

/** Once a session, after a turn in which the model called nothing; the rules are loaded then, when the answer is on the screen. */
export function actingHint(ground: ActingHint): Hooks {
  const told = new Set<string>();
  return {
    name: 'acting-hint',
    afterTurn: async ({ sessionId }, { outcome, messages }, notice) => {
      const start = messages.findLastIndex(isTurnStart);
      const answer = messages.at(-1);
      if (outcome !== 'done' || told.has(sessionId) || answer?.role !== 'assistant') return;
      if (answer.model === ground.reflex.client.id || !isOwners(messages[start])) return;
      if (messages.slice(start).some((message) => toolCalls(message).length > 0)) return;
      const act = await actOf(messages.slice(0, start + 1), ground);
      if (act === undefined) return;
      told.add(sessionId);
      notice?.(
        `${answer.model} answered without acting. reflex/1 would do it: ${act} — /model reflex (-m reflex), or reflex.first: true`,
      );
    },
  };
}

function isOwners(message: Message | undefined): boolean {
  return (
    message?.role === 'user' && message.parts.some(({ origin, label }) => origin === 'owner' && label === undefined)
  );
}

/** What the reflex does with the last line, in its own words; undefined when it would refuse or ask. */
async function actOf(messages: readonly Message[], { reflex, tools, clock }: ActingHint): Promise<string | undefined> {
  const request: ModelRequest = { system: '', messages, tools: tools(), purpose: 'answer' };
  let acts = false;
  for await (const event of reflex.client.stream(request, new AbortController().signal))
    acts ||= event.type === 'tool-call';
  if (!acts) return undefined;
  const [{ ownerLine }, { rankRules, reflexInput }, { english }] = await Promise.all([
    import('#core/reflex/decide-turn.ts'),
    import('#core/reflex/rank-rules.ts'),
    import('#core/reflex/english/english.ts'),
  ]);
  const names = new Set(request.tools.map(({ name }) => name));
  const surroundings = { history: messages.slice(0, -1), system: '', tools: names, now: clock.now() };
  const [best] = rankRules(
    await reflex.rules(),
    reflexInput(ownerLine(messages.at(-1)), surroundings, english),
    english,
  );
  return best?.rule.restate(best.match);
}
