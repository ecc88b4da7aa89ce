// Owns what is told of golems: how they stand, what happened, what was learned, what it cost, what they hold to be so; all of it from what they keep,
// each line with its place. Knows no action. Invariants: what no row says is not said; the words of a model stand beside the rows, as its words.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { Result } from '#base/result.ts';
import { plural } from '#base/text.ts';
import type { AnswerLine, Question as Asking, CladeOutput, GolemAnswer, Known, SeenGolem } from '#fleet/styx/clade.ts';
import type { Question } from './actions.ts';
import { plainLine } from './look.ts';
import { DATA_RULE, fenced, type MetaGround } from './meta-ground.ts';

/** What Meta says, what it quotes of golems, and what it asks the owner. */
export type Told =
  | Exclude<CladeOutput, { type: 'question' }>
  | { readonly type: 'quote'; readonly line: AnswerLine }
  | { readonly type: 'ask'; readonly question: Question };

const HOUR_MS = 3_600_000;
const QUOTED = 5;

export function say(text: string): Told {
  return { type: 'text', text };
}

export function failed(reason: string, text: string): Told {
  return { type: 'failed', reason, text };
}

export function ask(question: Question): Told {
  return { type: 'ask', question };
}

export function quote(line: AnswerLine): Told {
  return { type: 'quote', line };
}

export function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`;
}

function dollars(usd: number): string {
  return `$${usd.toFixed(2)}`;
}

export const STATE_COLUMNS = ['golem', 'where', 'status', 'phase', 'tick', 'right', 'skills', 'today', 'all'];

export function stateCells(golem: SeenGolem): readonly string[] {
  const { status, cause } = golem;
  const stands = golem.isGone ? 'not heard of' : cause === null ? status : `${status} (${cause})`;
  const counts = [String(golem.tick), percent(golem.accuracy), String(golem.skills)];
  return [
    golem.called,
    golem.where,
    stands,
    golem.phase,
    ...counts,
    ...[golem.today_usd, golem.spent_usd].map(dollars),
  ];
}

export function stateText(golem: SeenGolem): string {
  const [called = '', where, stands, phase, tick, right, skills, today, spent] = stateCells(golem);
  const place = where === 'here' ? '' : `, at ${where}`;
  return `${called}: ${stands}${place}${phase === '' ? '' : `, ${phase}`}, tick ${tick}, right ${right}, ${plural(Number(skills), 'skill')}, ${today} today, ${spent} in all`;
}

export function* state(clade: readonly SeenGolem[]): Generator<Told> {
  if (clade.length === 0) yield say('There is no golem yet: talaria golem create NAME');
  for (const golem of clade) yield say(stateText(golem));
}

interface Asked {
  readonly golem: SeenGolem;
  readonly told: Result<GolemAnswer>;
}

async function askAll(
  { ask }: Pick<MetaGround, 'ask'>,
  golems: readonly SeenGolem[],
  question: Asking,
): Promise<readonly Asked[]> {
  return Promise.all(golems.map(async (golem) => ({ golem, told: await ask(golem, question) })));
}

const many = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const small = (most: number) => z.string().transform((text) => plainLine(text, most));

/** What golems answer is foreign, wherever they live. */
const nightSchema = z.object({
  ...{ ticks: many, acted: many, done: many, failed: many, spent_usd: many },
  learned: z
    .array(z.string().transform((text) => (/^[a-z0-9][a-z0-9.-]{0,63}$/.test(text) ? text : 'other')))
    .max(1_000),
});
type NightSaid = z.output<typeof nightSchema>;

const knownSchema = z.array(
  z.object({
    ...{ id: small(40), kind: small(20), text: small(300), confidence: z.number().min(0).max(1), validated: many },
    handles: z.array(small(60)).max(100),
  }),
);

interface NightTold {
  readonly golem: SeenGolem;
  readonly night: NightSaid;
  readonly lines: readonly AnswerLine[];
}

/** What happened; with `learned` only which skills came. */
export async function* since(
  meta: Pick<MetaGround, 'ask' | 'ground'>,
  golems: readonly SeenGolem[],
  { hours, learned = false }: { readonly hours: number; readonly learned?: boolean },
): AsyncGenerator<Told> {
  const from = meta.ground.clock.now() - hours * HOUR_MS;
  const asked = await askAll(meta, golems, { what: 'since', since: from });
  const nights = asked.flatMap(({ golem, told }): readonly NightTold[] => {
    const night = nightSchema.safeParse(told.ok ? told.value.value : undefined);
    return told.ok && night.success ? [{ golem, night: night.data, lines: told.value.lines }] : [];
  });
  const sum = (key: (typeof COUNTS)[number]) => nights.reduce((all, { night }) => all + night[key], 0);
  const [ticks = 0, acted, done, wrong, spent = 0] = COUNTS.map(sum);
  const skills = plural(
    nights.reduce((all, { night }) => all + night.learned.length, 0),
    'skill',
  );
  const counts = `${plural(ticks, 'tick')}, acted in ${acted}: ${done} done, ${wrong} failed; ${dollars(spent)}`;
  yield say(
    `Since ${isoTime(from)}, ${plural(nights.length, 'golem')}: ${learned ? `${skills} came or changed` : counts}.`,
  );
  for (const told of nights) yield* learned ? learnedOf(told) : nightOf(told, hours);
  yield* unanswered(asked);
}

const COUNTS = ['ticks', 'acted', 'done', 'failed', 'spent_usd'] as const;

function namesOf({ night }: NightTold): string {
  return night.learned.join(', ');
}

function* learnedOf(told: NightTold): Generator<Told> {
  const { golem, lines } = told;
  if (told.night.learned.length === 0) return;
  yield say(`${golem.called}: ${namesOf(told)}`);
  yield* lines.filter(({ place }) => place?.includes(':skill ')).map(quote);
}

function* nightOf(told: NightTold, hours: number): Generator<Told> {
  const { golem, night, lines } = told;
  const names = namesOf(told);
  const did = `${plural(night.ticks, 'tick')}, acted in ${night.acted} (${night.done} done, ${night.failed} failed), ${dollars(night.spent_usd)}`;
  yield say(`${golem.called}: ${did}${names === '' ? '' : `; learned ${names}`}`);
  const ticks = lines.filter(({ place }) => place?.includes(':tick '));
  yield* ticks.slice(-QUOTED).map(quote);
  const more = night.acted - Math.min(ticks.length, QUOTED);
  const list = golem.where === 'here' ? `talaria golem ticks ${golem.name}, or ` : '';
  if (more > 0) yield say(`${golem.called}: ${more} more: ${list}why ${golem.called} TICK (${hours} hours)`);
}

function* unanswered(asked: readonly Asked[]): Generator<Told> {
  for (const { golem, told } of asked)
    if (!told.ok) yield quote({ text: `${golem.called}: nothing known (${told.reason}: ${told.detail})`, place: null });
}

/** What each golem cost and how often it was right, and what Meta itself cost. */
export async function* costs(
  { ground }: Pick<MetaGround, 'ground'>,
  clade: readonly SeenGolem[],
): AsyncGenerator<Told> {
  const today = Math.floor(ground.clock.now() / (24 * HOUR_MS)) * 24 * HOUR_MS;
  for (const { called, today_usd: day, spent_usd: all, accuracy, tick } of clade)
    yield say(
      `${called}: ${dollars(day)} today, ${dollars(all)} in ${plural(tick, 'tick')}; right ${percent(accuracy)}`,
    );
  const sessions = await ground.door('sessions');
  const own = async (from: number) => {
    const rows = (await sessions.costs({ since: from })).filter(({ purpose }) => purpose === 'route');
    return dollars(rows.reduce((sum, { cost }) => sum + cost, 0));
  };
  const sum = (key: 'today_usd' | 'spent_usd') => dollars(clade.reduce((total, golem) => total + golem[key], 0));
  yield say(`Meta: ${await own(today)} today, ${await own(0)} in all (purpose route in talaria cost)`);
  yield say(`All golems: ${sum('today_usd')} today, ${sum('spent_usd')} in all`);
}

interface Held extends Known {
  readonly golem: SeenGolem;
  readonly worth: number;
}

/** What they hold to be so, the best first: by confidence times how often it held. */
export async function grimoires(
  meta: Pick<MetaGround, 'ask'>,
  golems: readonly SeenGolem[],
  { query, limit = 10 }: { readonly query: string; readonly limit?: number },
): Promise<{ readonly held: readonly Held[]; readonly unanswered: readonly Told[] }> {
  const asked = await askAll(meta, golems, { what: 'grimoire', query, limit: Math.max(limit, 20) });
  const held = asked.flatMap(({ golem, told }) => {
    const rows = knownSchema.safeParse(told.ok ? told.value.value : []);
    return (rows.data ?? []).map((row): Held => ({ ...row, golem, worth: row.confidence * row.validated }));
  });
  const best = held.toSorted((one, other) => other.worth - one.worth || other.confidence - one.confidence);
  return { held: best.slice(0, limit), unanswered: [...unanswered(asked)] };
}

export function heldLine({ golem, kind, text, confidence, validated, id, handles }: Held): AnswerLine {
  const from = handles.length > 0 ? `; from ${handles.slice(0, 3).join(', ')}` : '';
  return {
    text: `${text} (${kind}, confidence ${confidence.toFixed(2)}, held ${validated} times${from})`,
    place: `${golem.called}:${id}`,
  };
}

const WORDING = `Answer the owner's question in at most five sentences, from the rows alone, naming the place of each row that you use in brackets.
What no row says you do not know: say so. ${DATA_RULE}`;

/** A model's own words on rows that were quoted. Nothing: there is no model, it failed, or there is no row. */
export async function* inWords(
  meta: Pick<MetaGround, 'say'>,
  {
    question,
    lines,
    tier,
  }: { readonly question: string; readonly lines: readonly AnswerLine[]; readonly tier: 'T1' | 'T2' },
  signal: AbortSignal,
): AsyncGenerator<Told> {
  if (lines.length === 0) return;
  const said = await meta.say({ system: WORDING, text: `${question}\n\n${fenced(lines.slice(0, 60))}`, tier }, signal);
  if (!said.ok || said.value.text.trim() === '') return;
  const text = plainLine(said.value.text, 2_000);
  yield quote({ text: `in the words of ${said.value.model}, from the rows above: ${text}`, place: null });
}

/** Answers to one golem's question: its lines, and a model's words on them. */
export async function* answered(
  meta: Pick<MetaGround, 'ask' | 'say'>,
  {
    golem,
    question,
    asked,
    tier = 'T1',
  }: { readonly golem: SeenGolem; readonly question: Asking; readonly asked: string; readonly tier?: 'T1' | 'T2' },
  signal: AbortSignal,
): AsyncGenerator<Told> {
  const told = await meta.ask(golem, question);
  if (!told.ok) return yield failed(told.reason, told.detail);
  const { lines } = told.value;
  if (lines.length === 0) yield say(`${golem.called} keeps nothing on that.`);
  yield* lines.map(quote);
  yield* inWords(meta, { question: asked, lines, tier }, signal);
}
