// Owns what a conversation sends now: its frozen prompt and the messages of the live context, with their size kept up by addition.
// Knows no store and no model. Invariant: after a replacement it holds what the store would give for the same session, in that order.
import type { Message } from '#core/model/message.ts';
import type { FrozenPrompt, StoredMessage } from '../session-store.ts';
import { countFactor, messageTokens, mostMessageTokens, mostPromptTokens, promptTokens } from './context-size.ts';

export class LiveContext {
  #stored: StoredMessage[];
  #messages: Message[];
  #prompt: FrozenPrompt;
  /** Reckoned when it is first asked for: a short run never asks. */
  #messageTokens: number | undefined;
  #promptTokens: number | undefined;
  #mostTokens: number | undefined;
  /** What the provider counted for the last request, and how many messages it held. */
  #counted: { readonly model: string; readonly tokens: number; readonly messages: number } | undefined;
  #factor: { readonly model: string; readonly of: number } | undefined;

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

  /** What a provider counted for a request of the prompt and all messages of now. Reckons nothing yet. */
  counted(model: string, tokens: number): void {
    if (tokens > 0) this.#counted = { model, tokens, messages: this.#messages.length };
  }

  /** How many tokens of this model stand for one of ours; 1 while nobody has counted. */
  factor(model: string): number {
    if (this.#counted) {
      const { tokens, messages } = this.#counted;
      const ours = this.#messages.slice(0, messages).reduce((sum, one) => sum + messageTokens(one), this.promptTokens);
      this.#factor = { model: this.#counted.model, of: countFactor(tokens, ours) ?? 1 };
      this.#counted = undefined;
    }
    return this.#factor?.model === model ? this.#factor.of : 1;
  }

  push(stored: StoredMessage): void {
    this.#stored.push(stored);
    this.#messages.push(stored.message);
    if (this.#messageTokens !== undefined) this.#messageTokens += messageTokens(stored.message);
    if (this.#mostTokens !== undefined) this.#mostTokens += mostMessageTokens(stored.message);
  }

  /** What `SessionStore.compact` did, done here: `inserted` stands where the last of `ids` stood. */
  replace(ids: readonly number[], inserted: readonly StoredMessage[], prompt: FrozenPrompt): void {
    this.factor('');
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
