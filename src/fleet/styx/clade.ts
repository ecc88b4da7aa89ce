// Owns what the rooms of the fleet say to one another (hierarchy notes A8, A9, D7): how a golem is told of, what may be asked of it, the words of its
// owner, and the doors by which its room, Meta and the screens reach each other. Shapes only: whoever lends a door is not known here, and each
// may be absent. Invariants: all of it but the doors is JSON; what is told of the past names its place.
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Result } from '#base/result.ts';
import type { Signature } from './owner-key.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    /** Golems of this home; lent by the golems' room. */
    readonly golems: GolemsDoor;
    /** Who was born here, and what became of what they look at; lent by the golems' room. */
    readonly births: BirthsDoor;
    /** The conversation over the whole clade; lent by Meta. */
    readonly clade: CladeDoor;
    /** What outlives the golems; lent by Meta. */
    readonly library: {
      /** Text of the kit that a library of nothing but these testaments gives, all of it accepted and signed by the owner. */
      through(testaments: readonly string[], archetype: string): Promise<string>;
    };
    /** Selling and buying skills; lent by the desk of the market. */
    readonly market: {
      /** From what is kept: nobody is asked. Undefined: the owner has it off. */
      seen(): Promise<MarketSeen | undefined>;
      /** What pays what a 402 asks for (both x402, version 2). Throws TalariaError `market-off`, `real-money`, `no-sponsor`. */
      pay(required: string, purpose: string): Promise<string>;
    };
  }
}

/** How a golem stands: body of its rows `golem.NAME.presence`, written each minute of its life, when it comes and when it goes. */
export interface GolemState {
  /** `ledger-gen2` */
  readonly golem: string;
  readonly name: string;
  /** Address of its key, lower case: no two golems have one, on whatever machine. */
  readonly signer: string;
  readonly generation: number;
  readonly lineage: readonly string[];
  readonly archetype: string;
  readonly domain: string;
  readonly status: 'lives' | 'paused' | 'rests' | 'killed' | 'dead';
  /** Of death; null: it is not dead. */
  readonly cause: string | null;
  readonly tick: number;
  /** Epoch ms of its last tick; null: it lived none. */
  readonly at: number | null;
  readonly phase: string;
  /** 0 to 1. */
  readonly vitality: number;
  readonly mood: { readonly pleasure: number; readonly arousal: number; readonly dominance: number };
  /** Share of its last hundred predictions that came true, 0 to 1; null: too few. */
  readonly accuracy: number | null;
  /** Skills that are active. */
  readonly skills: number;
  /** US dollars, of its life and of today (UTC). */
  readonly spent_usd: number;
  readonly today_usd: number;
  /** Its last tick in which something happened, as one line. */
  readonly last: string | null;
  /** In rows: the owner of the home that it was born in signed `{kind: 'birth', golem, signer}` as `birth`. Without it nobody says whose it is. */
  readonly vouch?: Signature;
}

/** One tick as it is told to screens: body of its rows `golem.NAME.tick`, for every tick that acted or thought. */
export interface TickTold {
  readonly golem: string;
  readonly tick: number;
  /** Epoch ms. */
  readonly at: number;
  readonly tier: string;
  /** Of the nine, in order. */
  readonly steps: readonly string[];
  readonly gate: string;
  readonly saw: string;
  /** Names of the skills that were injected. */
  readonly skills: readonly string[];
  readonly followed: string | null;
  readonly prediction: { readonly claim: string; readonly p: number } | null;
  readonly answered_by: string;
  readonly actions: readonly { readonly label: string; readonly status: string }[];
  readonly outcome: { readonly success: boolean; readonly summary: string } | null;
  readonly phase: string;
  readonly mood: GolemState['mood'];
  /** The whole tick in one line. */
  readonly text: string;
}

/** What may be asked of a golem, and is answered from what it keeps, whether it runs, rests or is dead. Body of `golem.NAME.ask`, with `to`. */
export type Question =
  /** GolemState. */
  | { readonly what: 'state' }
  /** What happened since (epoch ms): counts, and the ticks behind them. Night. */
  | { readonly what: 'since'; readonly since: number }
  /** Why it did what it did then. */
  | { readonly what: 'tick'; readonly tick: number }
  /** Where a skill of it comes from. */
  | { readonly what: 'skill'; readonly name: string }
  /** What it holds to be so; without words the most certain first. Known[]. */
  | { readonly what: 'grimoire'; readonly query: string; readonly limit: number }
  /** Its skills as a bundle that it signed, whatever they are worth: text; null: it has none, or none but those of `known`, `hash` of an answer. */
  | { readonly what: 'skills'; readonly known?: string };

/** `text` of a line is data of a golem and foreign to whoever reads it; `place`: `ledger:tick 847`, `ledger:skill free-disk@2`. */
export interface AnswerLine {
  readonly text: string;
  readonly place: string | null;
}

export interface GolemAnswer {
  readonly golem: string;
  readonly lines: readonly AnswerLine[];
  /** What the question says it is. */
  readonly value: JsonValue;
  /** Of skills: of what they and their records say, whenever it was signed. */
  readonly hash?: string;
}

/** What happened to a golem since a time. */
export interface Night {
  readonly ticks: number;
  /** Ticks in which it acted, and of those the verified ones. */
  readonly acted: number;
  readonly done: number;
  readonly failed: number;
  readonly spent_usd: number;
  /** By name of event, how often. */
  readonly events: Readonly<Record<string, number>>;
  /** Skills that came or changed. */
  readonly learned: readonly string[];
}

/** A row of a Grimoire. */
export interface Known {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  /** 0 to 1. */
  readonly confidence: number;
  readonly validated: number;
  /** `tick:847` */
  readonly handles: readonly string[];
}

export type Urgency = 'normal' | 'now';

/** What an owner tells a golem: the signed part of the body of its rows `golem.NAME.steer`. */
export interface Word {
  /** No two words have one. */
  readonly id: string;
  readonly kind: 'steer' | 'pause' | 'resume' | 'dream' | 'retire' | 'rollback';
  /** Of whom it is meant for: GolemState.golem and GolemState.signer. */
  readonly golem: string;
  readonly signer: string;
  /** Epoch ms, by the clock of who said it. */
  readonly at: number;
  readonly text?: string;
  readonly urgency?: Urgency;
  /** Of a rollback: name of the skill, and the version that did worse. */
  readonly skill?: string;
  readonly version?: number;
}

/** Body of `golem.NAME.heard`: what became of a word. */
export interface Heard {
  readonly golem: string;
  readonly id: string;
  /** Tick that took it; null: it was not taken. */
  readonly tick: number | null;
  /** Why it was not: `unsigned`, `bad-signature`, `unknown-owner`, `replayed`, `not-for-it`. */
  readonly refused: string | null;
}

/** What the shops that the owner knows offer, as they were last looked at, and what he bought and sold. Money in micro-USDC. */
export interface MarketSeen {
  /** Of the last look, epoch ms; null: there was none yet. */
  readonly at: number | null;
  readonly offers: readonly {
    readonly id: string;
    readonly name: string;
    readonly category: string;
    readonly shop: string;
    /** Now: it falls with age. */
    readonly price: number;
    /** 0 to 1. */
    readonly confidence: number;
    /** Verified uses. */
    readonly validated: number;
  }[];
  /** By shop, why it did not answer. */
  readonly failed: Readonly<Record<string, string>>;
  /** The newest first. */
  readonly trades: readonly {
    readonly way: 'bought' | 'sold';
    readonly name: string;
    readonly state: string;
    readonly amount: number;
    readonly at: number;
  }[];
}

/** What a golem can look at, and its tempers. */
export const DOMAINS = ['watch', 'coding', 'sim'] as const;
export const PRESETS = ['cautious', 'balanced', 'bold'] as const;

export interface CreateGolem {
  readonly name: string;
  readonly domain: (typeof DOMAINS)[number];
  /** Absolute; absent for `sim`. */
  readonly dir?: string;
  readonly archetype?: string;
  readonly preset?: string;
  /** Path of a testament, bundle or kit, or name of a golem of this home. */
  readonly from?: string;
}

export interface GolemsDoor {
  /** All of this home, dead ones too, in order of names. One that cannot be read is left out and told of by `onTorn`. */
  states(onTorn?: (name: string, why: string) => void): Promise<readonly GolemState[]>;
  /** Refuses `no-such-golem`, `no-such-tick`, `no-such-skill`, `golem-torn`. Opens its files read-only, also while it lives. */
  ask(name: string, question: Question): Promise<Result<GolemAnswer>>;
  create(asked: CreateGolem, cwd: string): Promise<Result<{ readonly name: string; readonly root: string }>>;
  /** Of one that does not run; one that runs is told by a word. Path of the testament. */
  retire(name: string, signal: AbortSignal): Promise<Result<{ readonly testament: string }>>;
  /** Its private key, 64 hex characters: what it pays with, by its owner's word. Undefined: it has none here. */
  purse(name: string): Promise<string | undefined>;
  /** Rest of what it is for: its archetype's tags; `all`: it is given everything. */
  tags(domain: string, archetype: string): Promise<readonly string[] | 'all'>;
}

export interface BirthsDoor {
  /** Whose an address is that speaks for this golem: of one born here, of somebody whom the owner takes for good; undefined: nobody known. */
  standing(signer: string, golem: string): Promise<'own' | 'accepted' | undefined>;
  /** How much of what golems of this domain look at is another than then (epoch ms), 0 to 1, as far as one of them can tell. */
  changed(domain: string, since: number): Promise<number>;
  /** By its name or id; undefined: none of them lives. `strategy`: what its owner wants of it, in his words. */
  alive(
    called: string,
  ): Promise<
    (Pick<GolemState, 'golem' | 'signer' | 'archetype' | 'domain'> & { readonly strategy: string }) | undefined
  >;
}

/** A golem as the clade sees it. */
export interface SeenGolem extends GolemState {
  /** `here`, or the origin of the log of its home. */
  readonly where: string;
  /** What it is called here: its name, with the beginning of its origin where another has that name too. */
  readonly called: string;
  /** Epoch ms of when this was so. */
  readonly seenAt: number;
  /** It lives elsewhere and was not heard of for three minutes. */
  readonly isGone: boolean;
}

export interface SteerTold extends Word {
  readonly called: string;
  /** `directive` counts; `context`: it contradicts a newer one and is older than a day; `superseded`: a newer one of the last day stands instead. */
  readonly standing: 'directive' | 'context' | 'superseded';
  /** What it is about, in one key; two steers of one golem about the same contradict each other. null: nothing that was named. */
  readonly about: string | null;
  readonly heard: Heard | null;
  readonly pinned: boolean;
}

/** What the owner seems to want. */
export interface Preference {
  readonly key: string;
  readonly value: string;
  /** 0 to 1, now. */
  readonly confidence: number;
  /** Epoch ms. */
  readonly updatedAt: number;
  /** Messages and decisions that it rests on. */
  readonly evidence: readonly string[];
}

export interface LibraryEntry {
  readonly name: string;
  readonly description: string;
  readonly status: 'clade' | 'canonical' | 'held';
  /** 0 to 1, after the discount; `raw`: before. */
  readonly confidence: number;
  readonly raw: number;
  readonly isStale: boolean;
  readonly isCrossValidated: boolean;
  /** Ids of golems, oldest first. */
  readonly lineage: readonly string[];
  readonly source: 'testament' | 'bundle' | 'purchase' | 'owner';
  /** Golems that it was given to, and what came of that. */
  readonly equipped: number;
  readonly validated: number;
  readonly contradicted: number;
}

/** What Meta did with a message, as it does it. */
export type CladeOutput =
  | { readonly type: 'text'; readonly text: string }
  /** One of the six, before it is done; `why`: what decided it: the model's id, `rule`, or the owner's own choice. */
  | { readonly type: 'action'; readonly action: JsonObject; readonly why: string }
  /** It does not know what is meant; a number is an answer. */
  | { readonly type: 'question'; readonly text: string; readonly choices: readonly string[] }
  | { readonly type: 'failed'; readonly reason: string; readonly text: string };

export interface CladeDoor {
  /** Every golem, here and elsewhere. */
  look(): Promise<readonly SeenGolem[]>;
  /** One message of the owner's, whatever screen it was typed on. `focus`: the golem in view, as it is called. */
  say(
    text: string,
    about: { readonly focus?: string; readonly signal: AbortSignal; readonly cwd: string },
  ): AsyncIterable<CladeOutput>;
  /** Newest last. */
  messages(limit: number): readonly { readonly from: 'owner' | 'meta'; readonly text: string; readonly at: number }[];
  steers(): Promise<readonly SteerTold[]>;
  owner(): readonly Preference[];
  library(): Promise<readonly LibraryEntry[]>;
}
