// Owns the DomainPlugin seam (hierarchy notes F): the one thing that a golem looks at, what may be done about it, and what then came of it.
// Implemented by `watch`, `coding` and `sim`; each runs test/contract/domain.contract.ts. Knows no golem, no model and no skill.
// Invariant: plain readonly data in and out; words of an observation are foreign, and nothing follows from what they say.

/** Something seen at one heartbeat. */
export interface Observation {
  /** At most 4,000 characters; empty when nothing is the matter. */
  readonly text: string;
  /** Kind of situation, a slug: the check that fails, the shape of the error. */
  readonly tag: string;
  /** Each 0 to 1: how much it differs from a quiet day. A failing check is 1. */
  readonly signals: readonly { readonly name: string; readonly value: number }[];
}

/** What may be tried. `label` is unique within a domain, and is what a step of a skill says. */
export interface Action {
  readonly tool: string;
  readonly label: string;
}

export interface Acted {
  /** `blocked`: it was not run. */
  readonly status: 'ok' | 'failed' | 'blocked';
  /** Why it was not run: `denied`, `needs-owner`, `no-walls`, `unknown-action`, … */
  readonly blockReason?: string;
  /** What it printed, cut; foreign. */
  readonly text: string;
  /** The situation is another than before: a step of a way out. */
  readonly hasChanged: boolean;
  /** Nothing is left to do. */
  readonly isOver: boolean;
  readonly ms: number;
}

/** What came of a tick, in place of profit and loss (D3). */
export interface Outcome {
  /** The domain looked, and knows. */
  readonly verified: boolean;
  readonly success: boolean;
  readonly value?: number;
  readonly unit?: string;
  readonly summary: string;
  /** Who looked: `check disk`, `npm test`, `world`. */
  readonly source: string;
}

export type Guarded = 'allow' | 'deny' | 'needs_owner';

export interface Archetype {
  readonly name: string;
  /** Kinds of skill that one is given from a library; `seeAll`: it is given everything. */
  readonly tags: readonly string[];
  readonly seeAll?: boolean;
}

/** The seed's name for it is the second. */
const OBSERVERS = ['observer', 'sleepwalker'].map((name): Archetype => ({ name, tags: [], seeAll: true }));

/** By domain. */
export const ARCHETYPES: Readonly<Record<DomainPlugin['id'], readonly Archetype[]>> = {
  watch: [...OBSERVERS, { name: 'keeper', tags: [] }],
  coding: [{ name: 'coder', tags: ['coding'] }, ...OBSERVERS],
  sim: OBSERVERS,
};

/**
 * Contract. `observe` changes nothing that outlives the tick, and throws only for a bug or an abort: what cannot be looked at is an
 * observation that says so (tag `unseen`). `act` runs nothing that `guard` does not allow, runs what is no candidate never, ends by itself
 * within its time-out, and throws only when aborted. `verify` asks the world, never a model. After `close` nothing of it runs.
 */
export interface DomainPlugin {
  readonly id: 'watch' | 'coding' | 'sim';
  readonly archetypes: readonly Archetype[];
  /** Of predictions. */
  readonly categories: readonly string[];
  observe(signal: AbortSignal): Promise<Observation>;
  /** What a rule may try now, in an order that says nothing. */
  candidates(observation: Observation): readonly Action[];
  /** What might still help and is the owner's to do: it is named in the record, and never run. */
  needsOwner?(): readonly Action[];
  act(action: Action, signal: AbortSignal): Promise<Acted>;
  verify(observation: Observation, signal: AbortSignal): Promise<Outcome>;
  guard(action: Action): Guarded;
  /** How much of what it looks at is another than at that time, 0 to 1. Epoch ms. */
  changed(sinceMs: number): number;
  /** Tools of the agent that a model may use besides `golem_act`. */
  readonly tools: readonly string[];
  /** What these steps would have led to in a situation that is over; undefined: it cannot tell. Changes nothing. */
  simulate?(observation: Observation, steps: readonly string[]): Outcome | undefined;
  /** Is what a procedure says of this domain so? */
  verifyClaim?(text: string): 'ok' | 'falsified' | 'unknown';
  /** After an acting tick, when its outcome is known: keeps what is good, takes back what is not. */
  conclude?(outcome: Outcome, signal: AbortSignal): Promise<void>;
  /** Before the golem ends. */
  settle?(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
