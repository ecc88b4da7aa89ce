// Owns the conversations that are open in this process: model switches reach them, shutdown ends them. Knows no surface.
// Invariant: after `closeAll` every lease is given back, and every turn whose events somebody reads came to its own end.
import { type Clock, systemClock } from '#base/clock.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient } from '#core/model/model-client.ts';

export interface OpenConversations {
  /** The conversation as surfaces see it: its turns also end when the app shuts down. */
  track(conversation: Conversation): Conversation;
  switchModel(model: ModelClient): void;
  /** Stops running turns, waits `patienceMs` at most for their last events to be read, then closes. */
  closeAll(reason: Error, patienceMs: number): Promise<void>;
}

export function createOpenConversations(clock: Clock = systemClock): OpenConversations {
  const open = new Set<Conversation>();
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
    track(conversation) {
      open.add(conversation);
      return tracked(conversation, {
        send: (text, options) => watched((signal) => conversation.send(text, { ...options, signal }), options.signal),
        compress: (given) => watched((signal) => conversation.compress(signal), given),
        close: async () => {
          open.delete(conversation);
          await conversation.close();
        },
      });
    },
    switchModel(model) {
      for (const conversation of open) conversation.switchModel(model);
    },
    async closeAll(reason, patienceMs) {
      stop.abort(reason);
      const patience = new AbortController();
      const ended = Promise.all(running).then(() => patience.abort());
      await Promise.race([ended, clock.sleep(patienceMs, patience.signal).catch(() => undefined)]);
      const closing = [...open].map((conversation) => conversation.close());
      open.clear();
      await Promise.all(closing);
    },
  };
}

function tracked(inner: Conversation, own: Pick<Conversation, 'send' | 'compress' | 'close'>): Conversation {
  return {
    get session() {
      return inner.session;
    },
    get prompt() {
      return inner.prompt;
    },
    get model() {
      return inner.model;
    },
    get history() {
      return inner.history;
    },
    send: own.send,
    steer: (text) => inner.steer(text),
    takeBack: () => inner.takeBack(),
    switchModel: (model) => inner.switchModel(model),
    compress: own.compress,
    takeBackTurn: () => inner.takeBackTurn(),
    close: own.close,
  };
}
