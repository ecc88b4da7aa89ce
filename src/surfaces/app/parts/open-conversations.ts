// Owns the conversations that are open in this process: model switches reach them, shutdown ends them. Knows no surface.
// Invariant: after `closeAll` no turn runs and every lease is given back.
import type { Conversation, SendOptions } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient } from '#core/model/model-client.ts';

export interface OpenConversations {
  /** The conversation as surfaces see it: its turns also end when the app shuts down. */
  track(conversation: Conversation): Conversation;
  switchModel(model: ModelClient): void;
  /** Stops running turns, then closes. */
  closeAll(reason: Error): Promise<void>;
}

export function createOpenConversations(): OpenConversations {
  const open = new Set<Conversation>();
  const stop = new AbortController();
  return {
    track(conversation) {
      open.add(conversation);
      return tracked(conversation, stop.signal, () => open.delete(conversation));
    },
    switchModel(model) {
      for (const conversation of open) conversation.switchModel(model);
    },
    async closeAll(reason) {
      stop.abort(reason);
      const closing = [...open].map((conversation) => conversation.close());
      open.clear();
      await Promise.all(closing);
    },
  };
}

function tracked(inner: Conversation, stop: AbortSignal, onClose: () => void): Conversation {
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
    send: (text: string, options: SendOptions): AsyncGenerator<TurnEvent, void> =>
      inner.send(text, { ...options, signal: AbortSignal.any([options.signal, stop]) }),
    steer: (text) => inner.steer(text),
    switchModel: (model) => inner.switchModel(model),
    close: async () => {
      onClose();
      await inner.close();
    },
  };
}
