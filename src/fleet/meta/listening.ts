// Owns what Meta does by itself while a surface is open: it hears the events of all golems, asks living ones for skills every five minutes, and orders
// back versions that do worse. Knows no message of the owner's. Invariants: it emits none of the ten events; one process of a home polls, however
// many are open; what it orders is a signed word that the owner can see.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { plural } from '#base/text.ts';
import type { SeenGolem } from '#fleet/styx/clade.ts';
import type { StyxRow } from '#fleet/styx/home-log.ts';
import { isAlive, plainLine } from './look.ts';
import type { MetaGround } from './meta-ground.ts';
import { rowsSince } from './steers.ts';

export const POLL_MS = 300_000;
const EVENTS = ['golem.*.event'];

/** How often each event came, and from how many golems. */
export type Cycle = Readonly<Record<string, { readonly count: number; readonly golems: readonly string[] }>>;

function eventOf({
  body,
}: StyxRow): { readonly golem: string; readonly event: JsonObject & { readonly type: string } } | undefined {
  const { golem, event } = isJsonObject(body) ? body : {};
  if (typeof golem !== 'string' || !isJsonObject(event as JsonValue)) return undefined;
  const { type } = event as JsonObject;
  return typeof type === 'string' && /^[A-Za-z]{1,40}$/.test(type)
    ? { golem: plainLine(golem, 44), event: { ...(event as JsonObject), type } }
    : undefined;
}

/** `before`: what was counted already. */
export function countEvents(rows: readonly StyxRow[], before: Cycle = {}): Cycle {
  const cycle: Record<string, Cycle[string]> = { ...before };
  for (const row of rows) {
    const told = eventOf(row);
    if (told === undefined) continue;
    const { count, golems } = cycle[told.event.type] ?? { count: 0, golems: [] };
    const isKnown = golems.includes(told.golem);
    cycle[told.event.type] = { count: count + 1, golems: isKnown ? golems : [...golems, told.golem] };
  }
  return cycle;
}

const SAID: Readonly<Record<string, string>> = {
  ...{ SkillDrafted: 'drafted skills', SkillCreated: 'created skills', SkillImproved: 'improved skills' },
  ...{
    SkillPromoted: 'nominated skills for the clade',
    SkillIngested: 'took in skills',
    DeathSkillExport: 'left skills behind',
  },
  EvolutionCycleComplete: 'dreamt',
};

/** `3 golems created skills this cycle` */
export function cycleLines(cycle: Cycle): readonly string[] {
  return Object.entries(cycle).flatMap(([type, { golems }]) =>
    SAID[type] ? [`${plural(golems.length, 'golem')} ${SAID[type]} this cycle`] : [],
  );
}

/** Events since the last cycle; the next call begins after them. */
async function takeCycle(meta: Pick<MetaGround, 'rows' | 'log' | 'ground'>): Promise<Cycle> {
  const after = meta.rows().value<number>('eventsUpTo') ?? 0;
  const heads = meta.log().latest(EVENTS);
  // What comes meanwhile counts next time.
  const upTo = heads.reduce((most, { seq }) => Math.max(most, seq), after);
  let cycle: Cycle = {};
  for (const topic of new Set(heads.map((row) => row.topic)))
    for await (const told of rowsSince(meta, [topic], after))
      cycle = countEvents(
        told.filter(({ seq }) => seq <= upTo),
        cycle,
      );
  await meta.rows().keep('eventsUpTo', upTo);
  return cycle;
}

/** All are asked when the first one is: who cannot be asked holds up nobody. */
function askedTogether({ ask }: Pick<MetaGround, 'ask'>, golems: readonly SeenGolem[]): MetaGround['ask'] {
  const asked = new Map<string, ReturnType<typeof ask>>();
  return (golem, question) => {
    if (question.what !== 'skills') return ask(golem, question);
    for (const one of asked.size === 0 ? golems : []) {
      const answer = ask(one, question);
      // Told where it is waited for.
      answer.catch(() => undefined);
      asked.set(one.signer, answer);
    }
    return asked.get(golem.signer) ?? ask(golem, question);
  };
}

/** One cycle: who is there, what they know, what does worse. Undefined: another process did it within five minutes. */
export async function pollClade(meta: MetaGround): Promise<JsonObject | undefined> {
  if (!meta.hasLog()) return undefined;
  const now = meta.ground.clock.now();
  const last = meta.rows().lastPoll();
  if (last && now - last.at < POLL_MS && now >= last.at) return undefined;
  // Claimed before anything is asked.
  await meta.rows().polled({});
  const clade = await meta.look();
  const events = cycleLines(await takeCycle(meta));
  const living = clade.filter(isAlive);
  const library = await meta.library.aggregate(askedTogether(meta, living), living);
  const orders = await orderRollbacks(meta, clade);
  const told = { events: [...events], library, orders: [...orders] };
  await meta.rows().polled(told);
  for (const text of [...events, ...orders]) await meta.rows().add('meta', text);
  return told;
}

/** A version that does worse over the golems that hold it is ordered back, once; the order is owed until it was sent. */
async function orderRollbacks(
  meta: MetaGround,
  clade: Awaited<ReturnType<MetaGround['look']>>,
): Promise<readonly string[]> {
  const said: string[] = [];
  for (const order of await meta.library.worse()) {
    const { signer, skill, version } = order;
    const golem = clade.find((one) => one.signer === signer);
    if (golem === undefined) continue;
    if (isAlive(golem)) {
      await meta.send({ golem: golem.golem, signer, kind: 'rollback', skill, version });
      said.push(`${golem.called}: version ${version} of ${skill} does worse over the clade; it is told to go back.`);
    }
    await meta.library.sent(order);
  }
  return said;
}

/** Nominations are told when they come. Gives what ends it. */
export function hearNominations(
  meta: Pick<MetaGround, 'rows' | 'log'>,
  hold: (work: Promise<unknown>) => void,
): () => void {
  return meta.log().follow(EVENTS, (row) => {
    const told = eventOf(row);
    if (told?.event.type !== 'SkillPromoted') return;
    const { name = '', confidence = 0 } = told.event;
    const worth = typeof confidence === 'number' ? ` (${confidence.toFixed(2)})` : '';
    hold(meta.rows().add('meta', `${told.golem} nominates ${plainLine(String(name), 64)} for the clade${worth}.`, ''));
  });
}
