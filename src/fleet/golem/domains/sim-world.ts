// Owns the simulated world of the trial (hierarchy notes G): kinds of incident with words and a cure, its neighbour in which some cures changed,
// and one incident while it is worked on. Knows no golem. Invariant: the same seed gives the same world and the same incidents.
import { seededRandom, shuffled } from '#base/ids.ts';

export const SIM_ACTIONS = ['restart', 'rotate', 'drain', 'scale', 'rollback', 'flush', 'reindex', 'failover'] as const;

export type SimAction = (typeof SIM_ACTIONS)[number];

export interface SimKind {
  readonly name: string;
  /** Five symptoms; no two kinds share one. */
  readonly words: readonly string[];
  /** Three different actions, in order. */
  readonly cure: readonly SimAction[];
  /** Seen from a neighbouring world: its cure is still good, is another one, or it was never met. */
  readonly is: 'known' | 'drifted' | 'fresh';
}

const KINDS = 12;
const WORDS = 5;
const SHOWN = 4;
const NOISE = 2;
const MOST_ACTIONS = 8;
/** Kinds of a neighbour from here on have another cure, and were never met. */
const DRIFTED_FROM = 7;
const FRESH_FROM = 9;

/** 60 symptoms, and those that take the place of one or belong to kinds that nobody met. */
const SYMPTOMS = [
  'latency timeout backlog throttle jitter packet retransmit handshake certificate expiry cipher resolver nameserver subnet',
  'gateway upstream proxy header cookie session token lease quorum leader election heartbeat split replica lag',
  'snapshot restore checksum corruption sector inode quota partition mount volume swap pressure eviction cache',
  'hitrate warmup index shard rebalance merge compaction tombstone journal fsync deadlock lock contention spinning',
  'scheduler starvation affinity thermal frequency voltage fan firmware driver interrupt queue depth burst spike',
  'ingest parser schema migration column overflow truncation encoding charset locale webhook callback retry duplicate',
].flatMap((line) => line.split(' '));

const NOISE_WORDS = [
  'today again server morning ticket report slow weird since maybe team noticed looks started night users after before',
].flatMap((line) => line.split(' '));

export class SimWorld {
  readonly kinds: readonly SimKind[];

  constructor(kinds: readonly SimKind[]) {
    this.kinds = kinds;
  }

  static of(seed: number): SimWorld {
    const random = seededRandom(seed);
    const words = shuffled(SYMPTOMS, random);
    return new SimWorld(
      Array.from({ length: KINDS }, (_, at) => ({
        name: `kind-${at}`,
        words: words.slice(at * WORDS, (at + 1) * WORDS),
        cure: drawCure(random),
        is: 'known',
      })),
    );
  }

  /** The same symptoms but for a word a kind; seven cures as they were, two changed, three kinds that were never met. */
  neighbour(seed: number): SimWorld {
    const random = seededRandom(seed);
    const taken = new Set(this.kinds.flatMap(({ words }) => words));
    const others = shuffled(
      SYMPTOMS.filter((word) => !taken.has(word)),
      random,
    );
    const unmet = Array.from({ length: (KINDS - FRESH_FROM) * (WORDS - 1) }, () => others.pop() ?? '');
    return new SimWorld(
      this.kinds.map((kind, at) => {
        const word = others.pop() ?? '';
        if (at >= FRESH_FROM) {
          const words = [word, ...unmet.splice(0, WORDS - 1)];
          return { name: `fresh-${at}`, words, cure: drawCure(random), is: 'fresh' };
        }
        const gone = Math.floor(random() * WORDS);
        const words = kind.words.map((old, index) => (index === gone ? word : old));
        if (at < DRIFTED_FROM) return { ...kind, words, is: 'known' };
        return { ...kind, words, cure: anotherCure(kind.cure, random), is: 'drifted' };
      }),
    );
  }

  /** Incidents one after the other, from a stream of their own. */
  *incidents(seed: number): Generator<SimIncident, never, undefined> {
    const random = seededRandom(seed);
    for (;;) {
      const kind = this.kinds[Math.floor(random() * this.kinds.length)] as SimKind;
      const shown = shuffled(kind.words, random).slice(0, SHOWN);
      const noise = shuffled(NOISE_WORDS, random).slice(0, NOISE);
      yield new SimIncident(kind, shuffled([...shown, ...noise], random).join(' '));
    }
  }
}

/** One incident while it is worked on: an action is right when it is the next of the cure. */
export class SimIncident {
  readonly kind: SimKind;
  /** What is seen of it. */
  readonly text: string;
  #done = 0;
  #actions = 0;

  constructor(kind: SimKind, text: string) {
    this.kind = kind;
    this.text = text;
  }

  get isCured(): boolean {
    return this.#done === this.kind.cure.length;
  }

  get actions(): number {
    return this.#actions;
  }

  get isOver(): boolean {
    return this.isCured || this.#actions === MOST_ACTIONS;
  }

  /** True: it was right. Nothing changes once it is over. */
  act(action: string): boolean {
    if (this.isOver) return false;
    this.#actions += 1;
    const isRight = this.kind.cure[this.#done] === action;
    if (isRight) this.#done += 1;
    return isRight;
  }
}

function drawCure(random: () => number): readonly SimAction[] {
  return shuffled(SIM_ACTIONS, random).slice(0, 3);
}

function anotherCure(cure: readonly SimAction[], random: () => number): readonly SimAction[] {
  for (;;) {
    const drawn = drawCure(random);
    if (drawn[0] !== cure[0]) return drawn;
  }
}
