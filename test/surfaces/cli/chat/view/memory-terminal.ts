/** A terminal in memory: what is written is kept, keys are given by the test. */
import type { Terminal } from '@earendil-works/pi-tui';

export class MemoryTerminal implements Terminal {
  columns = 40;
  rows = 10;
  written = '';
  kittyProtocolActive = false;
  #onInput: ((data: string) => void) | undefined;
  /** Calls that change nothing here. */
  #ignored = 0;

  start(onInput: (data: string) => void): void {
    this.#onInput = onInput;
  }
  press(data: string): void {
    this.#onInput?.(data);
  }
  write(data: string): void {
    this.written += data;
  }
  take(): string {
    const written = this.written;
    this.written = '';
    return written;
  }
  stop(): void {
    this.#onInput = undefined;
  }
  async drainInput(): Promise<void> {
    this.#ignored += 1;
  }
  moveBy(): void {
    this.#ignored += 1;
  }
  hideCursor(): void {
    this.#ignored += 1;
  }
  showCursor(): void {
    this.#ignored += 1;
  }
  clearLine(): void {
    this.#ignored += 1;
  }
  clearFromCursor(): void {
    this.#ignored += 1;
  }
  clearScreen(): void {
    this.#ignored += 1;
  }
  setTitle(): void {
    this.#ignored += 1;
  }
  setProgress(): void {
    this.#ignored += 1;
  }
}
