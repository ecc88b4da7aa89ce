// Owns the line that shows that something is under way, and for how long. Knows no turn. Invariant: no timer runs while it is hidden.
import { Container, Loader, type TUI } from '@earendil-works/pi-tui';
import { systemClock } from '#base/clock.ts';
import type { Paint } from '../../terminal-text.ts';

export class WorkingLine {
  /** Empty while nothing is under way. */
  readonly container = new Container();
  readonly #loader: Loader;
  readonly #label: (elapsed: string) => string;
  #from = 0;
  #stopTicking: (() => void) | undefined;

  /** @param label what is under way, asked anew for each look */
  constructor(tui: TUI, paint: Paint, label: (elapsed: string) => string) {
    this.#label = label;
    this.#loader = new Loader(
      tui,
      (text) => paint('cyan', text),
      (text) => paint('dim', text),
      '',
    );
    this.#loader.stop();
  }

  show(): void {
    if (this.container.children.length > 0) return;
    this.#from = systemClock.monotonic();
    this.container.addChild(this.#loader);
    this.#loader.start();
    this.#tick();
  }

  hide(): void {
    this.#stopTicking?.();
    this.#loader.stop();
    this.container.clear();
  }

  #tick(): void {
    this.#loader.setMessage(this.#label(elapsed(systemClock.monotonic() - this.#from)));
    this.#stopTicking = systemClock.after(250, () => this.#tick());
  }
}

export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
