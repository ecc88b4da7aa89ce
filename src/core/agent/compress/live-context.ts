// Owns what a conversation sends now: its frozen prompt and the messages of the live context, with their size kept up by addition.
// Knows no store and no model. Invariant: after a replacement it holds what the store would give for the same session, in that order.
import type { Message } from '#core/model/message.ts';
import type { FrozenPrompt, StoredMessage } from '../session-store.ts';
import { messageTokens, mostMessageTokens, mostPromptTokens, promptTokens } from './context-size.ts';

export class LiveContext {
  #stored: StoredMessage[];
  #messages: Message[];
  #prompt: FrozenPrompt;
  /** Reckoned when it is first asked for: a short run never asks. */
  #messageTokens: number | undefined;
  #promptTokens: number | undefined;
  #mostTokens: number | undefined;

  constructor(prompt: FrozenPrompt, stored: readonly StoredMessage[]) {
    this.#prompt = prompt;
    this.#stored = [...stored];
    this.#messages = stored.map(({ message }) => message);
  }

  get prompt(): FrozenPrompt {
    return this.#prompt;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get stored(): readonly StoredMessage[] {
    return this.#stored;
  }

  get promptTokens(): number {
    this.#promptTokens ??= promptTokens(this.#prompt);
    return this.#promptTokens;
  }

  /** Prompt and messages, about. */
  get tokens(): number {
    this.#messageTokens ??= this.#messages.reduce((sum, message) => sum + messageTokens(message), 0);
    return this.promptTokens + this.#messageTokens;
  }

  /** Never less than `tokens`, and known without reading the texts. */
  get mostTokens(): number {
    this.#mostTokens ??= this.#messages.reduce(
      (sum, message) => sum + mostMessageTokens(message),
      mostPromptTokens(this.#prompt),
    );
    return this.#mostTokens;
  }

  push(stored: StoredMessage): void {
    this.#stored.push(stored);
    this.#messages.push(stored.message);
    if (this.#messageTokens !== undefined) this.#messageTokens += messageTokens(stored.message);
    if (this.#mostTokens !== undefined) this.#mostTokens += mostMessageTokens(stored.message);
  }

  /** What `SessionStore.compact` did, done here: `inserted` stands where the last of `ids` stood. */
  replace(ids: readonly number[], inserted: readonly StoredMessage[], prompt: FrozenPrompt): void {
    const gone = new Set(ids);
    const last = this.#stored.findLastIndex((stored) => gone.has(stored.id));
    const stays = (stored: StoredMessage) => !gone.has(stored.id);
    this.#stored = [
      ...this.#stored.slice(0, last + 1).filter(stays),
      ...inserted,
      ...this.#stored.slice(last + 1).filter(stays),
    ];
    this.#messages = this.#stored.map(({ message }) => message);
    this.#prompt = prompt;
    this.#messageTokens = undefined;
    this.#promptTokens = undefined;
    this.#mostTokens = undefined;
  }
}
