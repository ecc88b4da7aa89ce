// Owns a Channel without a platform, for examples and tests of whatever speaks to one: what a person would see stands in `shown`.
// Invariant: what was kept is not given again; what was not is given to whoever receives next.
import { systemClock } from '#base/clock.ts';
import { ok, refuse } from '#base/result.ts';
import type { Button, Channel, Incoming, Sent } from '#core/agent/channel.ts';

export interface ShownPiece {
  readonly chat: string;
  readonly text: string;
  readonly buttons: readonly Button[];
}

const LONGEST = 4_096;

export class MemoryChannel implements Channel {
  readonly name: string;
  readonly canAsk = true;
  readonly fault = undefined;
  readonly shown: ShownPiece[] = [];
  readonly notes: string[] = [];
  /** What presses of buttons were told. */
  readonly told: string[] = [];
  readonly files = new Map<string, Uint8Array>();
  /** What the next sends come to, in order; after that all are sent. */
  readonly results: Sent[] = [];
  readonly #queue: Incoming[] = [];
  #wake = Promise.withResolvers<void>();
  #count = 0;

  constructor(name = 'memory') {
    this.name = name;
  }

  /** A person writes; what is not said is made up. */
  say(said: Partial<Incoming>): void {
    this.#count += 1;
    const plain = { kind: 'message', chat: '1', person: '1', name: 'Ada', at: systemClock.now(), text: '' } as const;
    const rest = { files: [], isGroup: false, isMeant: true };
    this.#queue.push({ ...plain, ...rest, id: String(this.#count), ...said });
    this.#wake.resolve();
  }

  /** Presses the button with this text under the last piece that has one. */
  press(text: string, by: Partial<Incoming> = {}): void {
    const button = this.shown.flatMap(({ buttons }) => buttons).findLast((one) => one.text === text);
    this.say({ ...by, kind: 'press', text: button?.data ?? text, press: 'press' });
  }

  async *receive(signal: AbortSignal): AsyncGenerator<readonly Incoming[]> {
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    while (!signal.aborted) {
      const batch = this.#queue.slice();
      if (batch.length > 0) yield batch;
      this.#queue.splice(0, batch.length);
      if (this.#queue.length > 0) continue;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }

  pieces(markdown: string): readonly string[] {
    const pieces: string[] = [];
    for (let at = 0; at < markdown.length; at += LONGEST) pieces.push(markdown.slice(at, at + LONGEST));
    return pieces;
  }

  async send({ chat, piece, buttons = [] }: Parameters<Channel['send']>[0]): Promise<Sent> {
    const result = this.results.shift() ?? { state: 'sent', id: String(this.shown.length + 1) };
    if (result.state === 'sent') this.shown.push({ chat, text: piece, buttons });
    return result;
  }

  async bytes({ ref }: Parameters<Channel['bytes']>[0]) {
    const bytes = this.files.get(ref);
    return bytes ? ok(bytes) : refuse('unreachable', 'it is not there any more');
  }

  async typing(): Promise<void> {
    return undefined;
  }

  async note(_chat: string, text: string | undefined): Promise<string | undefined> {
    if (text !== undefined) this.notes.push(text);
    return text;
  }

  async pressed(_press: string, text: string): Promise<void> {
    this.told.push(text);
  }
}
