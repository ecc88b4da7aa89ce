/** Homes that are linked over a stream in memory, which fails as a server does; and what both ends hold. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openHomeLog, type StyxTransport } from '#fleet/styx/home-log.ts';
import { type Letter, Link, type Post, type Received } from '#fleet/styx/link.ts';
import type { LinkState } from '#fleet/styx/link-state.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { until } from '../../ends.ts';
import { type TestClock as Clock, hasty } from '../../ground.ts';

const CLADE = 'c1ade';

/** A stream as a server has it. */
export class FakeStream {
  letters: Received[] = [];
  created = 'first';
  /** Every connection fails to begin. */
  isDown = false;
  most = 2 * 1024 ** 2;
  /** What each receiver is given instead, in one batch. */
  garble: (batch: readonly Received[]) => readonly Received[] = (batch) => batch;
  connections = 0;
  #cut = Promise.withResolvers<never>();
  #grown = Promise.withResolvers<void>();

  constructor() {
    this.#cut.promise.catch(() => undefined);
  }

  put(letter: Letter): number {
    const seq = (this.letters.at(-1)?.seq ?? 0) + 1;
    this.letters.push({ ...letter, seq });
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
    return seq;
  }

  /** As a kill does it: what was stored stays. */
  cut(): void {
    const cut = this.#cut;
    this.#cut = Promise.withResolvers();
    this.#cut.promise.catch(() => undefined);
    cut.reject(new Error('cut'));
  }

  /** Its store holds this from now on. */
  become(letters: readonly Received[], created = this.created): void {
    this.letters = [...letters];
    this.created = created;
    this.cut();
  }

  connect = async (): Promise<Post> => {
    if (this.isDown) throw new Error('connection refused');
    this.connections += 1;
    const lost = this.#cut.promise;
    const whileUp = <T>(work: () => T | Promise<T>): Promise<T> => Promise.race([lost, Promise.resolve().then(work)]);
    return {
      ...{ most: this.most, lost, close: async () => undefined },
      look: () => whileUp(() => ({ created: this.created, last: this.letters.at(-1)?.seq ?? 0 })),
      idAt: (seq) => whileUp(() => this.letters.find((letter) => letter.seq === seq)?.id),
      send: (letter) => whileUp(() => this.letters.find(({ id }) => id === letter.id)?.seq ?? this.put(letter)),
      receive: (from) => this.#receive(from, lost),
    };
  };

  async *#receive(from: number, lost: Promise<never>) {
    for (let next = from; ; ) {
      const batch = this.letters.filter(({ seq }) => seq >= next);
      next = (batch.at(-1)?.seq ?? next - 1) + 1;
      if (batch.length > 0) yield this.garble(batch);
      else await Promise.race([lost, this.#grown.promise]);
    }
  }
}

export interface LinkedHome {
  readonly path: string;
  readonly log: StyxTransport;
  readonly states: readonly LinkState[];
  readonly stop: () => Promise<void>;
}

type Door = ConstructorParameters<typeof Link>[0]['ground']['door'];

const noDoor: Door = () => Promise.reject(Object.assign(new Error('no such door'), { code: 'no-door' }));

/** Its waits are a hundredth of what they are. */
export function linkHome(
  t: TestContext,
  stream: FakeStream,
  given: { readonly path?: string; readonly door?: Door; readonly clock?: Clock } = {},
): LinkedHome {
  const { path = join(createTempHome(t).path, 'styx.db'), door = noDoor, clock = hasty(100) } = given;
  const log = openHomeLog({ path, clock });
  const states: LinkState[] = [];
  const end = new AbortController();
  const ground = { clock, door };
  const parts = { url: 'nats://127.0.0.1:4222', token: undefined, tokenFrom: '', clade: CLADE };
  const link = new Link({ ...parts, log, ground, onState: (state) => states.push(state) }, stream.connect);
  const running = link.run(end.signal);
  const stop = async () => {
    end.abort();
    await running;
    log.close();
  };
  t.after(stop);
  return { path, log, states, stop };
}

/** Of rows, as they are named everywhere. */
export function namesIn(log: StyxTransport): readonly string[] {
  return log.read(['>'], 0, 1e6).map(({ origin, originSeq }) => `${origin}:${originSeq}`);
}

/** Each of these logs holds what any of them holds. */
export async function same(...logs: readonly StyxTransport[]): Promise<void> {
  await until(() => {
    const [first, ...others] = logs.map((log) => namesIn(log).toSorted().join());
    return others.every((other) => other === first);
  });
}
