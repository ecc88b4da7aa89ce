// Owns the conversations that are open in this process: model switches reach them, shutdown ends them. Knows no surface.
// Invariant: after `closeAll` every lease is given back, and every turn whose events somebody reads came to its own end.
import { type Clock, systemClock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { absentAsker } from '#core/agent/approver.ts';
import { type Conversation, createForkTurn } from '#core/agent/conversation.ts';
import type { Doors, TurnRequest } from '#core/agent/room.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import type { ComposedModels } from './models/model-desk.ts';
import type { Place } from './place.ts';

export interface OpenConversations {
  /** The conversation as surfaces see it: its turns also end when the app shuts down. */
  track(conversation: Conversation, isSwitched?: boolean): Conversation;
  /** Not of those that have a model of their own. */
  switchModel(model: ModelClient): void;
  /** Stops running turns, waits `patienceMs` at most for their last events to be read, then closes. */
  closeAll(reason: Error, patienceMs: number): Promise<void>;
}

export function createOpenConversations(clock: Clock = systemClock): OpenConversations {
  const open = new Map<Conversation, boolean>();
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  async function* watched(
    run: (signal: AbortSignal) => AsyncGenerator<TurnEvent, void>,
    signal: AbortSignal,
  ): AsyncGenerator<TurnEvent, void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    try {
      yield* run(AbortSignal.any([signal, stop.signal]));
    } finally {
      running.delete(promise);
      resolve();
    }
  }
  return {
    track(conversation, isSwitched = true) {
      const send = conversation.send.bind(conversation);
      const compress = conversation.compress.bind(conversation);
      const goOn = conversation.goOn.bind(conversation);
      const [close, leave] = [conversation.close.bind(conversation), conversation.leave.bind(conversation)];
      const ending = (end: () => Promise<void>) => () => {
        open.delete(conversation);
        return end();
      };
      open.set(conversation, isSwitched);
      return Object.assign(conversation, {
        send: ((text, options) =>
          watched((signal) => send(text, { ...options, signal }), options.signal)) as typeof send,
        goOn: ((options) => watched((signal) => goOn({ ...options, signal }), options.signal)) as typeof goOn,
        compress: (given: AbortSignal) => watched((signal) => compress(signal), given),
        close: ending(close),
        leave: ending(leave),
      });
    },
    switchModel(model) {
      for (const [conversation, isSwitched] of open) if (isSwitched) conversation.switchModel(model);
    },
    async closeAll(reason, patienceMs) {
      stop.abort(reason);
      const patience = new AbortController();
      const ended = Promise.all(running).then(() => patience.abort());
      await Promise.race([ended, clock.sleep(patienceMs, patience.signal).catch(() => undefined)]);
      const closing = [...open.keys()].map((conversation) => conversation.close());
      open.clear();
      await Promise.all(closing);
    },
  };
}

// Turns that an extension runs on a system prompt of its own: forks without tools, memory, skills or history, all beside one session that
// holds nothing but their cost. Invariant: no such session before the first turn; the turn is the one turn function.

type InnerTurn = TurnRequest & { readonly system: string };

export type RunInnerTurn = (request: InnerTurn, signal: AbortSignal) => AsyncGenerator<TurnEvent>;

interface InnerGround extends Pick<Place, 'clock' | 'home' | 'redact'> {
  readonly doors: Doors;
  readonly models: ComposedModels;
}

export function createInnerTurns({ clock, home, doors, models, redact }: InnerGround): RunInnerTurn {
  const store = doors.sessions;
  const place = { cwd: home.root, clock, asker: absentAsker, spillFolder: home.spill, redact };
  const access = { tools: new Map() };
  const forkTurn = createForkTurn({ store, model: models.desk.current, machine: { clock, place, access } });
  let session: Promise<{ readonly id: string }> | undefined;
  return async function* innerTurn({ text, purpose, system, maxSteps, ...wish }, signal) {
    const model = modelOf(models, wish);
    session ??= store.create({ source: 'extension', cwd: home.root });
    const fork = { sessionId: (await session).id, text, purpose, system, maxSteps, model, messages: [] };
    yield* forkTurn({ ...fork, runnable: new Map() }, signal);
  };
}

function modelOf(
  { desk }: ComposedModels,
  { model, tier, maxOutputTokens }: Pick<InnerTurn, 'model' | 'tier' | 'maxOutputTokens'>,
): ModelClient {
  const chosen = model === undefined ? undefined : desk.byName(model);
  if (chosen && !chosen.ok)
    throw new TalariaError(chosen.detail, { code: 'model-unknown', fix: 'See `talaria models`.' });
  return limited(chosen?.value ?? desk.forTier(tier), maxOutputTokens);
}

/** The same model, whose answers end at so many tokens. */
export function limited(client: ModelClient, maxOutputTokens: number | undefined): ModelClient {
  if (maxOutputTokens === undefined) return client;
  const { id, tier, traits } = client;
  return {
    ...{ id, tier, traits },
    stream: (request, signal) => client.stream({ ...request, maxOutputTokens }, signal),
  };
}
