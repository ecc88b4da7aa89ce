// Owns seeing the golems of the clade, here by the door of their room and elsewhere by their rows, what each is called, and asking one. Knows no
// command. Invariants: two golems never have one name here; what comes over the log passes a shape first; an answer is of the golem that was
// asked, and what does not fit is no answer.
import { z } from 'zod';
import { errorCode } from '#base/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { oneLine } from '#base/text.ts';
import type { GolemAnswer, GolemState, GolemsDoor, Question, SeenGolem } from '#fleet/styx/clade.ts';
import type { StyxRow, StyxTransport } from '#fleet/styx/home-log.ts';

const GONE_MS = 180_000;
const ANSWER_MS = 5_000;
const MOST_LINES = 500;
/** As JSON, characters; a bundle of skills is judged by the library. */
const MOST_ANSWER = 262_144;

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** One word: a sentence could be an order. */
const word = z.string().transform((text) => (/^[a-z0-9][a-z0-9-]{0,31}$/i.test(text) ? text : 'other'));
const PHASES = ['thriving', 'stable', 'conservation', 'declining', 'terminal', 'other'] as const;
const share = z.number().min(0).max(1);
const tilt = z.number().min(-1).max(1);
const money = z.number().min(0).max(1e9);
const whole = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const line = (most: number) => z.string().transform((text) => plainLine(text, most));

/** Everything but numbers is one word, so that a state may stand in a prompt; `last` may not. */
const stateSchema: z.ZodType<GolemState> = z.object({
  ...{ golem: z.string().regex(/^[a-z0-9-]{1,44}$/), name: z.string().regex(NAME) },
  signer: z.string().regex(/^0x[0-9a-f]{40}$/),
  generation: whole,
  lineage: z.array(z.string().max(44)).max(1_000),
  ...{ archetype: word, domain: word },
  status: z.enum(['lives', 'paused', 'rests', 'killed', 'dead']),
  cause: word.nullable(),
  ...{ tick: whole, at: whole.nullable(), phase: z.enum(PHASES).catch('other'), vitality: share },
  mood: z.object({ pleasure: tilt, arousal: tilt, dominance: tilt }),
  ...{ accuracy: share.nullable(), skills: whole, spent_usd: money, today_usd: money },
  last: line(300).nullable(),
});

const answerSchema = z.object({
  golem: z.string(),
  lines: z.array(z.object({ text: line(2_000), place: line(120).nullable() })).max(MOST_LINES),
  value: z.json(),
  hash: z.string().length(64).optional().catch(undefined),
});

/** Foreign text on one line, without what steers a terminal or hides. */
export function plainLine(text: string, most: number): string {
  return oneLine(text.slice(0, most * 4).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' '), most);
}

export async function lookAtClade(options: {
  readonly now: number;
  /** Absent: no golem can live in this home. */
  readonly golems?: Pick<GolemsDoor, 'states'> | undefined;
  /** The newest of each topic and origin. Absent: this home has no log yet. */
  readonly presences?: readonly StyxRow[] | undefined;
  readonly onTorn?: (name: string, why: string) => void;
}): Promise<readonly SeenGolem[]> {
  const { now, golems, presences = [], onTorn } = options;
  const here = ((await golems?.states(onTorn)) ?? []).map((state) => ({
    ...state,
    where: 'here',
    seenAt: now,
    isGone: false,
  }));
  const own = new Set(here.map(({ signer }) => signer));
  const elsewhere = new Map<string, Omit<SeenGolem, 'called'>>();
  for (const row of presences) {
    const state = stateSchema.safeParse(row.body);
    // The row of a golem is under its name.
    if (!state.success || row.topic !== `golem.${state.data.name}.presence` || own.has(state.data.signer)) continue;
    // By this home's clock: of when it came.
    const seenAt = Math.min(row.at, now);
    const before = elsewhere.get(state.data.signer);
    if (before && before.seenAt > seenAt) continue;
    const isGone = state.data.status !== 'dead' && now - seenAt > GONE_MS;
    elsewhere.set(state.data.signer, { ...state.data, where: row.origin, seenAt, isGone });
  }
  return called([...here, ...elsewhere.values()]);
}

/** In order of names; where a name stands twice all that have it get the beginning of their origin. */
function called(all: readonly Omit<SeenGolem, 'called'>[]): readonly SeenGolem[] {
  const named = all.map((golem) => {
    const same = all.filter(({ name, signer }) => name === golem.name && signer !== golem.signer);
    if (same.length === 0) return { ...golem, called: golem.name };
    let length = Math.min(4, golem.where.length);
    const isShared = () => same.some(({ where }) => where.slice(0, length) === golem.where.slice(0, length));
    while (length < golem.where.length && isShared()) length += 1;
    return { ...golem, called: `${golem.name}@${golem.where.slice(0, length)}` };
  });
  return named.sort((one, other) => (one.called < other.called ? -1 : 1));
}

/** Whom a name may mean: as it is called, else by its id, else by its name. Case and a leading @ do not count. */
export function meantBy(clade: readonly SeenGolem[], typed: string): readonly SeenGolem[] {
  const text = typed.trim().toLowerCase().replace(/^@/, '');
  const exact = clade.filter(({ called: name }) => name === text);
  if (exact.length > 0) return exact;
  const byId = clade.filter(({ golem }) => golem === text);
  return byId.length > 0 ? byId : clade.filter(({ name }) => name === text);
}

export function isAlive({ status }: SeenGolem): boolean {
  return status !== 'dead';
}

/** Refuses what the door refuses, and `no-answer`, `not-its-answer`, `too-large`. */
export async function askGolem(
  {
    golems,
    log,
  }: {
    readonly golems?: Pick<GolemsDoor, 'ask'> | undefined;
    readonly log?: Pick<StyxTransport, 'ask'> | undefined;
  },
  seen: SeenGolem,
  question: Question,
): Promise<Result<GolemAnswer>> {
  if (seen.where === 'here') {
    if (golems === undefined) return refuse('no-answer', `${seen.called} cannot be asked: its room is not there.`);
    const told = await golems.ask(seen.name, question);
    return told.ok ? checked(told.value as unknown as JsonValue, seen, question) : told;
  }
  if (log === undefined) return refuse('no-answer', `${seen.called} lives elsewhere, and this home has no log.`);
  let told: JsonValue;
  try {
    told = await log.ask(`golem.${seen.name}.ask`, { ...question, to: seen.signer }, { timeoutMs: ANSWER_MS });
  } catch (error) {
    if (errorCode(error) !== 'no-answer') throw error;
    const why = 'nobody on its machine listens, or the link is down (talaria styx status)';
    return refuse('no-answer', `${seen.called} did not answer within ${ANSWER_MS / 1_000} s: ${why}.`);
  }
  const { ok: isAnswer, value = null, reason, detail = reason } = isJsonObject(told) ? told : {};
  if (isAnswer === true) return checked(value, seen, question);
  if (typeof reason !== 'string') return refuse('not-its-answer', `${seen.called} gave an answer of no known shape.`);
  return refuse(kebab(reason), `${seen.called}: ${plainLine(String(detail), 300)}`);
}

function kebab(reason: string): string {
  return /^[a-z][a-z-]{0,39}$/.test(reason) ? reason : 'refused';
}

function checked(told: JsonValue, seen: SeenGolem, { what }: Question): Result<GolemAnswer> {
  // As over a log, also from this home.
  const json = JSON.stringify(told);
  const most = `${seen.called} answered with more than ${MOST_ANSWER / 1024} KB; nothing of it is taken.`;
  if (what !== 'skills' && json.length > MOST_ANSWER) return refuse('too-large', most);
  const read = parseJson(json);
  const answer = answerSchema.safeParse(read.ok ? read.value : undefined);
  if (!answer.success) return refuse('not-its-answer', `${seen.called} gave an answer of no known shape.`);
  if (answer.data.golem !== seen.golem)
    return refuse(
      'not-its-answer',
      `An answer came for ${seen.called} in the name of ${plainLine(answer.data.golem, 44)}; it is not taken.`,
    );
  return ok(answer.data as GolemAnswer);
}
