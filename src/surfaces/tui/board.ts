// Owns what the screens know: the state of every golem in view, of the library, of Meta and of the local model, and how each event changes it. Pure.
// Knows no window. Invariants: `reduce` takes events in any order, each once; what is newer stands; lists are bounded; text was cleaned before it came here.
import type {
  GolemState,
  Heard,
  LibraryEntry,
  MarketSeen,
  Preference,
  SeenGolem,
  SteerTold,
  TickTold,
} from '#fleet/styx/clade.ts';
import type { infraFigures } from '#surfaces/app/models/own-models.ts';
import { EVENTS, type EventName, type MindEvent } from './event-table.ts';

/** Of the models of this machine. */
export type InfraFigures = ReturnType<typeof infraFigures>;

export interface SkillSeen {
  readonly name: string;
  /** Empty: it was there. */
  readonly mark: '' | 'new' | 'changed' | 'taken in';
  /** What changed, or where it came from. */
  readonly note: string;
  readonly confidence: number | null;
}

/** One golem, as far as its events tell. */
export interface Watched {
  readonly seen: SeenGolem;
  readonly loaded: number;
  readonly skills: readonly SkillSeen[];
  readonly drafts: readonly Pick<MindEvent, 'tick' | 'trigger'>[];
  readonly active: readonly string[];
  readonly flushed: number;
  readonly tick: TickTold | null;
  readonly dreams: readonly (Pick<MindEvent, 'skills_evolved' | 'fitness_improved' | 'duration_secs'> & {
    readonly at: number;
  })[];
}

export interface Board {
  readonly golems: readonly Watched[];
  /** Newest last. */
  readonly feed: readonly { readonly at: number; readonly golem: string; readonly text: string }[];
  readonly nominated: readonly { readonly name: string; readonly confidence: number; readonly golem: string }[];
  /** Testaments on their way to the library; `step` of `FLOW_STEPS`. */
  readonly flows: readonly { readonly golem: string; readonly skills: number; readonly step: number }[];
  readonly library: readonly LibraryEntry[];
  readonly steers: readonly SteerTold[];
  readonly owner: readonly Preference[];
  readonly infra: InfraFigures | null;
  /** null: it is off, or not there. */
  readonly market: MarketSeen | null;
  /** By what is not there, why, and what to do. */
  readonly absent: Readonly<Record<string, string>>;
}

export type ScreenEvent =
  /** All that there are, as they stand. */
  | { readonly type: 'golems'; readonly golems: readonly SeenGolem[] }
  | { readonly type: 'presence'; readonly golem: string; readonly at: number; readonly state: GolemState }
  | { readonly type: 'mind'; readonly golem: string; readonly at: number; readonly event: MindEvent }
  | { readonly type: 'tick'; readonly golem: string; readonly at: number; readonly tick: TickTold }
  | { readonly type: 'heard'; readonly golem: string; readonly at: number; readonly heard: Heard }
  | { readonly type: 'skills'; readonly golem: string; readonly skills: readonly SkillSeen[] }
  | ({ readonly type: 'kept' } & Pick<Board, 'library' | 'steers' | 'owner'>)
  | { readonly type: 'infra'; readonly figures: InfraFigures }
  | { readonly type: 'market'; readonly seen: MarketSeen | null }
  | { readonly type: 'absent'; readonly what: string; readonly why: string }
  /** Something worth a line: of a golem, or of the screen itself (''). */
  | { readonly type: 'line'; readonly golem: string; readonly at: number; readonly text: string }
  /** A flow of skills moves on by one step. */
  | { readonly type: 'flow' };

export const EMPTY: Board = {
  ...{ golems: [], feed: [], nominated: [], flows: [], library: [], steers: [], owner: [], infra: null, market: null },
  absent: {},
};

/** Steps of the animation. */
export const FLOW_STEPS = 12;
const KEPT = 200;

function newest<T>(list: readonly T[], one: T): readonly T[] {
  return [...list, one].slice(-KEPT);
}

export function reduce(board: Board, event: ScreenEvent): Board {
  switch (event.type) {
    case 'golems':
      return { ...board, golems: event.golems.map((seen) => ({ ...watched(board, seen), seen })) };
    case 'presence':
      return of(board, event.golem, (one) => stands(one, event));
    case 'mind':
      return spoken(
        of(told(board, event), event.golem, (one) => learned(one, event)),
        event,
      );
    case 'tick':
      return of(feed(board, event, event.tick.text), event.golem, (one) => lived(one, event.tick));
    case 'heard':
      return heard(board, event);
    case 'skills':
      return of(board, event.golem, (one) => ({ ...one, skills: event.skills.map((skill) => known(one, skill)) }));
    case 'kept': {
      const { library, steers, owner } = event;
      return { ...board, library, steers, owner };
    }
    case 'infra':
      return { ...board, infra: event.figures };
    case 'market':
      return { ...board, market: event.seen };
    case 'absent':
      return { ...board, absent: { ...board.absent, [event.what]: event.why } };
    case 'line':
      return feed(board, event, event.text);
    case 'flow':
      return { ...board, flows: board.flows.map((flow) => ({ ...flow, step: Math.min(flow.step + 1, FLOW_STEPS) })) };
  }
}

function watched({ golems }: Board, { signer, where }: SeenGolem): Omit<Watched, 'seen'> {
  const known = golems.find(({ seen }) => seen.signer === signer && seen.where === where);
  return known ?? { loaded: 0, skills: [], drafts: [], active: [], flushed: 0, tick: null, dreams: [] };
}

function of(board: Board, called: string, change: (one: Watched) => Watched): Board {
  return { ...board, golems: board.golems.map((one) => (one.seen.called === called ? change(one) : one)) };
}

function feed(board: Board, { golem, at }: { readonly golem: string; readonly at: number }, text: string): Board {
  return { ...board, feed: newest(board.feed, { golem, at, text }) };
}

/** What is used in a tick is told with the tick. */
function told(board: Board, { golem, at, event }: Extract<ScreenEvent, { type: 'mind' }>): Board {
  if (event.type === 'SkillsActivated') return board;
  return feed(board, { golem, at }, EVENTS[event.type].says(event));
}

function stands(one: Watched, { at, state }: Extract<ScreenEvent, { type: 'presence' }>): Watched {
  // Rows of a link come late: what is newer stands.
  if (at < one.seen.seenAt) return one;
  return { ...one, seen: { ...one.seen, ...state, seenAt: at, isGone: false } };
}

function lived(one: Watched, tick: TickTold): Watched {
  if (one.tick !== null && tick.tick < one.tick.tick) return one;
  const { mood, phase, at, text: last } = tick;
  const isNews = tick.tick >= one.seen.tick;
  const seen = isNews ? { ...one.seen, tick: tick.tick, mood, phase, at, last } : one.seen;
  return { ...one, tick, active: tick.skills, seen };
}

function heard(board: Board, event: Extract<ScreenEvent, { type: 'heard' }>): Board {
  const { heard: word } = event;
  const how = word.tick === null ? `refused a word of yours: ${word.refused}` : `took your word at tick ${word.tick}`;
  const steers = board.steers.map((steer) => (steer.id === word.id ? { ...steer, heard: word } : steer));
  return feed({ ...board, steers }, event, how);
}

type Learnt = Extract<ScreenEvent, { type: 'mind' }>;

const LEARNS: Readonly<Record<EventName, (one: Watched, learnt: Learnt) => Partial<Watched>>> = {
  SkillsLoaded: (_, { event }) => ({ loaded: event.count }),
  SkillsActivated: (_, { event }) => ({ active: event.skills }),
  SkillDrafted: ({ drafts }, { event: { tick, trigger } }) => ({ drafts: newest(drafts, { tick, trigger }) }),
  SkillCreated: ({ skills }, { event }) => ({ skills: withSkill(skills, event.name, { mark: 'new' }) }),
  SkillImproved: ({ skills }, { event: { name, improvement_summary: note } }) => ({
    skills: withSkill(skills, name, { mark: 'changed', note }),
  }),
  FeedbackFlushed: ({ flushed }, { event }) => ({ flushed: flushed + event.count }),
  // It moves to the clade.
  SkillPromoted: ({ skills }, { event }) => ({ skills: skills.filter(({ name }) => name !== event.name) }),
  SkillIngested: ({ skills }, { event: { name, source, confidence } }) => ({
    skills: withSkill(skills, name, { note: source, confidence, ...(isOwn(source) ? {} : { mark: 'taken in' }) }),
  }),
  DeathSkillExport: () => ({}),
  EvolutionCycleComplete: ({ dreams }, { at, event }) => {
    const { skills_evolved, fitness_improved, duration_secs } = event;
    return { dreams: newest(dreams, { at, skills_evolved, fitness_improved, duration_secs }) };
  },
};

/** What it made itself passes the same door. */
function isOwn(source: string): boolean {
  return source === 'self';
}

/** What it became is told by events; that it is there, by the golem itself. */
function known({ skills }: Watched, skill: SkillSeen): SkillSeen {
  const { mark = skill.mark, note = skill.note } = skills.find(({ name }) => name === skill.name) ?? {};
  return { ...skill, mark, note };
}

function learned(one: Watched, learnt: Learnt): Watched {
  return { ...one, ...LEARNS[learnt.event.type](one, learnt) };
}

function withSkill(skills: readonly SkillSeen[], name: string, change: Partial<SkillSeen>): readonly SkillSeen[] {
  const old = skills.find((skill) => skill.name === name) ?? { name, mark: '', note: '', confidence: null };
  return newest(
    skills.filter((skill) => skill.name !== name),
    { ...old, ...change },
  );
}

/** What is not of one golem alone. */
function spoken(board: Board, { golem, event }: Learnt): Board {
  if (event.type === 'SkillPromoted') {
    const { name, confidence } = event;
    const others = board.nominated.filter((one) => one.name !== name || one.golem !== golem);
    return { ...board, nominated: newest(others, { name, confidence, golem }) };
  }
  if (event.type !== 'DeathSkillExport') return board;
  return { ...board, flows: newest(board.flows, { golem, skills: event.skills_exported, step: 0 }) };
}
