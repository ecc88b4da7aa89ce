// Owns what the events of turns add up to on the screen: money, the size of the last request, what is going on. Knows no screen.
import type { TurnEvent } from '#core/agent/turn-event.ts';

export class TurnMeter {
  #cost: number | null = 0;
  #inputTokens: number | undefined;
  #activity = 'working';

  /** US dollars since the start; null once a price was unknown. */
  get cost(): number | null {
    return this.#cost;
  }

  /** One word for what goes on. */
  get activity(): string {
    return this.#activity;
  }

  /** Share of a window of `tokens` that the last request took; undefined before the first. */
  contextOf(tokens: number): number | undefined {
    return this.#inputTokens === undefined || tokens <= 0 ? undefined : this.#inputTokens / tokens;
  }

  /** Another conversation: its last request is not known. */
  forgetContext(): void {
    this.#inputTokens = undefined;
  }

  take(event: TurnEvent): void {
    switch (event.type) {
      case 'reasoning-delta':
        this.#activity = 'thinking';
        return;
      case 'text-delta':
        this.#activity = 'answering';
        return;
      case 'tool-start':
        this.#activity = 'running';
        return;
      case 'turn-start':
      case 'step-start':
        this.#activity = 'working';
        return;
      case 'step-end':
        if (event.usage.inputTokens > 0) this.#inputTokens = event.usage.inputTokens;
        return;
      case 'turn-end':
        this.#cost = this.#cost === null || event.cost === null ? null : this.#cost + event.cost;
        return;
      default:
        return;
    }
  }
}
