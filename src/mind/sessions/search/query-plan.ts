// Owns reading a question: which stems count how much, who is meant to have spoken, which time, what kind of answer is wanted.
// Knows no row. Invariant: total on every string; what it asks of the lane is bounded, however long the question.
import { localDate, localMidnight } from '#base/clock.ts';
import { isStopStem, splitWords, stemWord } from '#base/text/words.ts';
import type { LaneStatistics, SearchLane } from './search-lane.ts';
import { wordVariants } from './word-variants.ts';

/** How one stem of the index counts for one group. */
export interface PlannedStem {
  readonly stem: string;
  readonly group: number;
  readonly weight: number;
  /** Rows that hold it. */
  readonly rows: number;
}

/** One word of the question with its other spellings and relatives; a row counts the best of them. */
export interface QueryGroup {
  readonly stem: string;
  readonly rarity: number;
}

export interface QueryPlan {
  readonly groups: readonly QueryGroup[];
  readonly stems: readonly PlannedStem[];
  /** `a b` → bonus when the two stand side by side as in the question. */
  readonly pairs: ReadonlyMap<string, number>;
  /** Set when the question names exactly one speaker. */
  readonly speaker: string | undefined;
  readonly dates: readonly DateHint[];
  readonly asksWhen: boolean;
  readonly asksHowMany: boolean;
  readonly meanLength: number;
  readonly rows: number;
}

const RELATED_WEIGHT = 0.45;
const VARIANT_WEIGHT = 0.3;
const TYPO_WEIGHT = 0.8;
/** A speaker's name inside a text: said to them or about them; weak, since the speaker's own rows are raised anyway. */
const NAME_WEIGHT = 0.2;
const PAIR_WEIGHT = 0.3;
/** Rarity of a word that no row holds: it must not outweigh what its relatives could show. */
const RARITY_OF_UNKNOWN = 5;
const MOST_GROUPS = 24;
/** Characters of a question that are read. */
const MOST_CHARACTERS = 20_000;

export interface PlanContext {
  readonly lane: SearchLane;
  readonly speakers: readonly string[];
  readonly now: number;
}

export function planQuery(question: string, context: PlanContext): QueryPlan {
  const text = question.toWellFormed().slice(0, MOST_CHARACTERS);
  const words = splitWords(text);
  const statistics = context.lane.statistics();
  const named = namedSpeakers(words, context.speakers);
  const nameStems = new Set(named.flatMap((name) => splitWords(name)).map(stemWord));
  const wanted = rarestStems(words, statistics);
  const builder = new PlanBuilder(context.lane, statistics, new Set(wanted));
  for (const stem of wanted) builder.addGroup(stem, nameStems.has(stem) ? NAME_WEIGHT : 1);
  return {
    groups: builder.groups,
    stems: builder.stems,
    pairs: pairsOf(words.map(stemWord), nameStems, builder.rarityOf),
    speaker: named.length === 1 ? named[0] : undefined,
    dates: dateHints(text, context.now),
    asksWhen: /^\s*when\b|\bwhat (date|day|month|year|time)\b|\bhow long\b/i.test(text),
    asksHowMany: /\bhow (many|much|often|long|old)\b/i.test(text),
    meanLength: statistics.meanLength,
    rows: statistics.rows,
  };
}

/** Speakers all of whose names stand in the question, or whose first name does. */
function namedSpeakers(words: readonly string[], speakers: readonly string[]): readonly string[] {
  const asked = new Set(words);
  return speakers.filter((speaker) => {
    const [first] = splitWords(speaker);
    return first !== undefined && first.length > 1 && asked.has(first);
  });
}

/** Content stems, each once; of very long questions the rarest. */
function rarestStems(words: readonly string[], statistics: LaneStatistics): readonly string[] {
  const stems = [...new Set(words.map(stemWord))].filter((stem) => !isStopStem(stem));
  if (stems.length <= MOST_GROUPS) return stems;
  const counted = stems.slice(0, 2000).map((stem) => ({ stem, rows: statistics.rowsWith(stem) }));
  const found = counted.filter((one) => one.rows > 0).sort((a, b) => a.rows - b.rows);
  return found.slice(0, MOST_GROUPS).map((one) => one.stem);
}

class PlanBuilder {
  readonly groups: QueryGroup[] = [];
  readonly stems: PlannedStem[] = [];
  readonly #lane: SearchLane;
  readonly #statistics: LaneStatistics;
  readonly #asked: ReadonlySet<string>;

  constructor(lane: SearchLane, statistics: LaneStatistics, asked: ReadonlySet<string>) {
    this.#lane = lane;
    this.#statistics = statistics;
    this.#asked = asked;
  }

  /** Inverse document frequency as in BM25. */
  readonly rarityOf = (stem: string): number => rarity(this.#statistics.rowsWith(stem), this.#statistics.rows);

  addGroup(stem: string, factor: number): void {
    const rows = this.#statistics.rowsWith(stem);
    const own = rows === 0 ? Math.min(RARITY_OF_UNKNOWN, this.rarityOf(stem)) : this.rarityOf(stem);
    const group = this.groups.length;
    this.groups.push({ stem, rarity: own * factor });
    if (rows > 0) this.stems.push({ stem, group, weight: own * factor, rows });
    if (factor < 1) return;
    for (const [related, closeness] of relatedStems(stem)) this.#addOther(related, group, closeness * RELATED_WEIGHT);
    const variants = wordVariants(this.#lane, stem, this.#statistics);
    const weight = variants.kind === 'typo' ? TYPO_WEIGHT : VARIANT_WEIGHT;
    for (const variant of variants.stems) this.#addOther(variant, group, weight);
  }

  #addOther(stem: string, group: number, closeness: number): void {
    if (this.#asked.has(stem) || isStopStem(stem)) return;
    const rows = this.#statistics.rowsWith(stem);
    if (rows === 0) return;
    const weight = Math.min(this.rarityOf(stem), this.groups[group]?.rarity ?? 0) * closeness;
    this.stems.push({ stem, group, weight, rows });
  }
}

function rarity(rowsWith: number, rows: number): number {
  return Math.log(1 + (Math.max(0, rows - rowsWith) + 0.5) / (rowsWith + 0.5));
}

function pairsOf(
  stems: readonly string[],
  names: ReadonlySet<string>,
  rarityOf: (stem: string) => number,
): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>();
  const counts = (stem: string | undefined) => stem !== undefined && !isStopStem(stem) && !names.has(stem);
  for (let at = 0; at + 1 < Math.min(stems.length, 200); at += 1) {
    const [first, second] = [stems[at], stems[at + 1]];
    if (first === undefined || second === undefined || !counts(first) || !counts(second)) continue;
    pairs.set(`${first} ${second}`, (PAIR_WEIGHT * (rarityOf(first) + rarityOf(second))) / 2);
  }
  return pairs;
}

// A small everyday thesaurus: people ask with one word and had written another. Data, English, general; it knows no conversation.
// Invariant: a relation only adds weaker evidence to a word that the question holds; it never stands alone. The first word of a group
// relates to all others closely, the others to each other more loosely.

const GROUPS = `
  mother mom mum mama mommy parent; father dad daddy papa parent; grandmother grandma granny nana;
  grandfather grandpa; child kid son daughter baby toddler; brother sibling bro; sister sibling sis;
  wife husband spouse partner married marry wedding; boyfriend girlfriend partner dating date relationship;
  friend buddy pal mate; family relative parent child; baby newborn infant pregnant birth;
  aunt uncle cousin nephew niece relative; dog puppy pup canine pet; cat kitten kitty feline pet;
  pet animal dog cat turtle bird hamster fish; photo picture pic image photograph snapshot;
  movie film cinema show; show series tv television episode; song music tune track album;
  band musician concert singer gig; book novel read author story; game videogame gaming play console;
  art painting paint draw drawing sketch artwork artist; dance dancing dancer choreography;
  instrument guitar piano violin drum clarinet; job work career employment occupation profession position;
  boss employer manager; company business firm startup; office workplace; colleague coworker;
  fire layoff unemployed lose; hire employ recruit; salary income pay wage; retire retirement;
  quit resign leave stop; interview application apply; promote promotion advertise marketing campaign;
  school college university class student education; study learn course class degree;
  teacher professor instructor mentor; teach coach train mentor instruct; graduate degree diploma graduation;
  exam test quiz; research investigate look study; skill ability talent; house home apartment flat place;
  move relocate relocation; room bedroom; furniture couch chair table decor;
  garden yard plant flower gardening; neighbor neighborhood community; city town village place;
  country nation homeland; farm ranch; beach ocean sea shore coast; mountain hill peak summit;
  forest wood tree nature; lake river pond water; park outdoors nature; camp camping tent campfire campsite;
  hike hiking trail trek walk; trip travel vacation holiday journey getaway tour visit;
  flight plane airport fly; car vehicle auto drive truck; bike bicycle cycling ride; train railway;
  boat ship kayak sail; road trip drive; hotel resort airbnb stay; visit went trip travel;
  food meal dish cuisine eat cook; cook cooking bake baking recipe kitchen; restaurant cafe diner eat;
  breakfast lunch dinner supper meal; dessert cake cookie pastry sweet icecream;
  drink beverage coffee tea beer wine; vegetable vegetarian vegan salad; fruit apple berry; snack treat candy;
  sport athletic game team play; soccer football; basketball hoop nba; run running race marathon jog;
  gym workout exercise fitness training; yoga meditation pilates; swim swimming pool; team squad group club;
  competition contest tournament championship match; win victory champion first prize trophy award;
  award prize medal trophy honor recognition; score point goal; coach trainer; health healthy wellness medical;
  doctor physician hospital clinic; sick ill illness disease flu; pain hurt ache injury injured;
  injury accident hurt break sprain; medicine drug medication treatment;
  therapy therapist counseling counselor; anxiety stress worry nervous anxious; depression sad down blue;
  diet weight nutrition; sleep rest nap bed; die death pass away funeral lose; surgery operation;
  allergy allergic; happy glad joy excited thrilled delighted; sad upset unhappy down; angry mad furious;
  scared afraid fear frightened; proud pride; grateful thankful appreciate gratitude;
  love adore enjoy like passion; hate dislike; tired exhausted drained; surprise shocked;
  calm relax relaxing peace peaceful destress unwind; motivate inspire inspiration encourage motivation;
  support help assist aid; advice tip suggestion suggest recommend; goal dream plan aspiration ambition;
  hobby pastime activity interest; favorite fave fav best prefer top; money cash dollar fund financial finance;
  expensive cost price pay; buy purchase get bought order shop; sell sale; store shop boutique market;
  gift present surprise give; clothes clothing outfit fashion dress shirt wear; shoe sneaker boot;
  jewelry necklace ring bracelet; tattoo ink; collect collection; donate donation charity give;
  volunteer volunteering charity help community; charity nonprofit fundraiser foundation; shelter homeless;
  computer laptop pc; phone mobile cell smartphone; internet online web website;
  software program app code programming; camera photography photo; email mail message letter;
  blog post vlog channel; video clip film record; social media instagram facebook twitter;
  start begin launch open found; finish complete end done; make create build craft; create make design build;
  fix repair; meet encounter; join attend participate sign enroll; attend participate went event;
  event festival gathering fair conference; party celebrate celebration birthday;
  celebrate celebration anniversary party; birthday anniversary; christmas holiday xmas; thanksgiving holiday;
  wedding marry ceremony; decide choose decision pick; plan planning intend schedule; realize understand learn;
  discuss chat conversation; describe explain; share show; try attempt; want wish hope; need require;
  use utilize; change transform; grow growth develop; improve better progress;
  problem issue challenge difficulty trouble; difficult hard tough challenging; easy simple;
  important key significant; big large huge; small little tiny; new recent; old ancient;
  beautiful pretty gorgeous stunning lovely; funny hilarious; strange weird odd; smart clever;
  religion faith church god spiritual; church faith pray; politics political government election;
  military army veteran soldier war; law legal lawyer; police officer cop;
  environment climate nature sustainability; weather rain snow storm; flood hurricane storm disaster;
  science scientist physics chemistry; space star planet moon; lgbtq gay lesbian transgender queer pride;
  gender transgender identity; adopt adoption; identity self; nickname name call;
  color red blue green yellow purple; size small medium large;
`;

/** How close two words of one group are. */
const CLOSE = 1;
const LOOSE = 0.6;

let table: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined;

/** Related stems of a stem with their closeness (0..1]. */
export function relatedStems(stem: string): ReadonlyMap<string, number> {
  table ??= buildTable();
  return table.get(stem) ?? new Map();
}

function buildTable(): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const built = new Map<string, Map<string, number>>();
  for (const group of GROUPS.split(';')) relate(built, group.trim().split(/\s+/).map(stemWord));
  return built;
}

function relate(built: Map<string, Map<string, number>>, stems: readonly string[]): void {
  const [head] = stems;
  for (const one of stems) {
    const row = built.get(one) ?? new Map<string, number>();
    built.set(one, row);
    for (const other of stems.filter((stem) => stem !== one && stem !== '')) {
      const closeness = one === head || other === head ? CLOSE : LOOSE;
      row.set(other, Math.max(row.get(other) ?? 0, closeness));
    }
  }
}

// Reading dates out of a question: months, days, years, weekdays, and spans relative to now. Knows no row.
// Invariant: a hint only raises rows of that time; a question without one is ranked as if time did not exist.

/** How well a time fits, 0 to 1 for a vague hint, more for an exact day. */
interface DateHint {
  fit(epochMs: number): number;
}

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
].concat('november', 'december');
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const DAY_MS = 86_400_000;
const UNIT_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 };
const NUMBERS = ['zero', 'a', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** A day that is named wholly counts that much more than its month alone. */
const EXACT_DAY = 2.5;
/** A year or a weekday alone says little. */
const VAGUE = 0.5;

/** Hints of a question asked at `now`; at most one for the calendar and one for relative words. */
export function dateHints(question: string, now: number): readonly DateHint[] {
  const text = question.slice(0, 2000);
  return [calendarHint(text), relativeHint(text.toLowerCase(), now)].filter((hint) => hint !== undefined);
}

interface CalendarParts {
  readonly month: number;
  readonly day: number | undefined;
  readonly year: number | undefined;
}

function calendarHint(text: string): DateHint | undefined {
  const iso = /\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/.exec(text);
  if (iso) return monthHint({ month: Number(iso[2]), day: iso[3] ? Number(iso[3]) : undefined, year: Number(iso[1]) });
  const year = number(/\b((?:19|20)\d\d)\b/.exec(text)?.[1]);
  const month = monthIn(text);
  if (month !== undefined) return monthHint({ month, day: dayIn(text), year });
  if (year === undefined) return undefined;
  return { fit: (at) => (localDate(at).year === year ? VAGUE : 0) };
}

function monthHint(wanted: CalendarParts): DateHint {
  return {
    fit: (at) => {
      const date = localDate(at);
      if (date.month !== wanted.month || (wanted.year !== undefined && date.year !== wanted.year)) return 0;
      return wanted.day === date.day ? EXACT_DAY : 1;
    },
  };
}

/** `may` is a month only with a capital letter; the first three letters do for the others when they stand by a number. */
function monthIn(text: string): number | undefined {
  const lower = text.toLowerCase();
  const names = (name: string) => new RegExp(`\\b${name}\\b|\\b${name.slice(0, 3)}\\.? \\d`);
  const named = MONTHS.map((name) => (name === 'may' ? /\bMay\b/.test(text) : names(name).test(lower)));
  const at = named.indexOf(true);
  return at < 0 ? undefined : at + 1;
}

function dayIn(text: string): number | undefined {
  return number(/\b(\d{1,2})(?:st|nd|rd|th)?\b(?!:)/.exec(text)?.[1]);
}

function number(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function relativeHint(text: string, now: number): DateHint | undefined {
  const span = dayWord(text, now) ?? unitAgo(text, now) ?? lastUnit(text, now) ?? weekday(text, now);
  if (span === undefined) return undefined;
  const [from, to] = span;
  return { fit: (at) => (at >= from && at < to ? 1 : 0) };
}

type Span = readonly [from: number, to: number];

function midnight(at: number, shiftDays = 0): number {
  const date = localDate(at);
  return localMidnight(date.year, date.month, date.day + shiftDays);
}

function dayWord(text: string, now: number): Span | undefined {
  if (/\b(today|this morning|tonight|earlier)\b/.test(text)) return [midnight(now), midnight(now, 1)];
  if (/\b(yesterday|last night)\b/.test(text)) return [midnight(now, -1), midnight(now)];
  return /\b(recently|lately)\b/.test(text) ? [midnight(now, -14), midnight(now, 1)] : undefined;
}

/** `3 weeks ago`: the time meant is blurred by half a unit on both sides. */
function unitAgo(text: string, now: number): Span | undefined {
  const match = /\b(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten) (day|week|month|year)s? ago\b/.exec(
    text,
  );
  if (!match) return undefined;
  const [, amount = '', unit = 'day'] = match;
  const count = /^\d/.test(amount) ? Number(amount) : Math.max(1, NUMBERS.indexOf(amount));
  const days = UNIT_DAYS[unit] ?? 1;
  const middle = midnight(now, -count * days);
  const blur = unit === 'day' ? 0 : (days / 2) * DAY_MS;
  return [middle - blur, middle + DAY_MS + blur];
}

function lastUnit(text: string, now: number): Span | undefined {
  const match = /\b(last|past|previous|this) (week|weekend|month|year)\b/.exec(text);
  if (!match) return undefined;
  const back = match[1] === 'this' ? 0 : 1;
  const date = localDate(now);
  if (match[2] === 'year') return [localMidnight(date.year - back, 1, 1), localMidnight(date.year - back + 1, 1, 1)];
  if (match[2] === 'month') {
    return [localMidnight(date.year, date.month - back, 1), localMidnight(date.year, date.month - back + 1, 1)];
  }
  const sinceMonday = (date.weekday + 6) % 7;
  const monday = midnight(now, -sinceMonday - 7 * back);
  return [match[2] === 'weekend' ? midnight(monday, 5) : monday, midnight(monday, 7)];
}

/** The last such day before today, or today. */
function weekday(text: string, now: number): Span | undefined {
  const named = WEEKDAYS.findIndex((name) => new RegExp(`\\b${name}\\b`).test(text));
  if (named < 0) return undefined;
  const back = (localDate(now).weekday - named + 7) % 7;
  return [midnight(now, -back), midnight(now, 1 - back)];
}
