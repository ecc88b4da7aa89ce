// Owns what Meta does with the library, one call each: it is opened for the call and closed after it. Knows no conversation. Invariants: what came
// on the log is taken in first; nothing that is given was not named by the owner; each answer is one sentence or plain data.
import { existsSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import type { Ground } from '#core/agent/room.ts';
import type { GolemAnswer, LibraryEntry, Question, SeenGolem } from '#fleet/styx/clade.ts';
import { homeLogPath, openHomeLog, type StyxTransport } from '#fleet/styx/home-log.ts';
import { ownerOf } from '#fleet/styx/owner-key.ts';
import { sendKit } from '#fleet/styx/words.ts';
import { aggregate, type Order, orderSent, owedOrders, worseVersions } from './curation.ts';
import { entryOf, type Library, lentBy, withLibrary } from './library-home.ts';
import { type Decision, decide, makeKit, propose, type Wanted } from './loadout.ts';
import { receive, receiveRows } from './reception.ts';
import { merge, promote } from './shelves.ts';

/** To whom; of the clade. */
export type Meant = Pick<SeenGolem, 'golem' | 'signer' | 'called' | 'archetype' | 'domain'>;

interface Proposal {
  readonly golem: Meant;
  readonly query?: string | undefined;
  /** Names that are left out. */
  readonly without: readonly string[];
}

export function libraryHands(ground: Ground) {
  // What arrived is taken in before each.
  const open = <T>(work: (library: Library, arrived: number) => Promise<T>) =>
    withLibrary(ground, async (library) => work(library, await takeIn(library)));
  return {
    entries: () => open(async (library) => library.entries().map(entryOf)),
    search: (query: string) => open((library) => search(library, query)),
    propose: (asked: Proposal) =>
      open(async (library) => {
        const lines = (await propose(library, await wantedFor(library, asked))).filter(
          ({ entry }) => !asked.without.includes(entry.name),
        );
        return ok({
          lines: lines.map(({ entry: { name }, startsAt: confidence, reason }) => ({ name, confidence, reason })),
        });
      }),
    equip: (asked: Proposal & { readonly names: readonly string[] }) =>
      open(async (library) => {
        const proposed = (await propose(library, await wantedFor(library, asked))).map(({ entry }) => entry.name);
        const given = await giveTo(library, asked.golem, { proposed, taken: asked.names });
        return given.ok
          ? ok(
              `${asked.golem.called} is sent ${plural(asked.names.length, 'skill')}; it takes them in at its next heartbeat.`,
            )
          : given;
      }),
    promote: (bundle: string, skill: string) => open((library) => promoteOf(library, bundle, skill)),
    merge: (one: string, other: string) =>
      open(async (library) => {
        const done = await merge(library, one, other);
        return done.ok ? ok(`${other} is part of ${one} now.`) : done;
      }),
    aggregate: (
      ask: (golem: SeenGolem, question: Question) => Promise<Result<GolemAnswer>>,
      clade: readonly SeenGolem[],
    ): Promise<JsonValue> =>
      open(async (library, arrived) => {
        const done = await aggregate(library, clade, ask);
        await askDead(library);
        return { ...done, arrived } as unknown as JsonValue;
      }),
    /** Orders that are owed, also of before. */
    worse: () => open(async (library) => worseVersions(library).then(() => owedOrders(library))),
    /** It is owed no more. */
    sent: (order: Order) => withLibrary(ground, (library) => orderSent(library, order)),
  };
}

/** How many bundles came. Where another process is at it for long, what stands is what there is. */
export async function takeIn(library: Library): Promise<number> {
  try {
    const heard = await withLog(library.ground, (log) => receiveRows(library, log));
    return heard?.filter((one) => one.ok).length ?? 0;
  } catch (error) {
    if (errorCode(error) === 'locked') return 0;
    throw error;
  }
}

/** Those of this home that ended while it was open what became of their kit: what they never used is known now. */
async function askDead(library: Library): Promise<void> {
  const sql = "SELECT DISTINCT signer FROM equip_history WHERE outcome = 'pending'";
  const open = new Set(library.database.all<{ signer: string }>(sql).map(({ signer }) => signer));
  const door = open.size === 0 ? undefined : await lentBy(library.ground, 'golems');
  const dead = (await door?.states())?.filter(({ signer, status }) => status === 'dead' && open.has(signer)) ?? [];
  if (door === undefined || dead.length === 0) return;
  const asked = dead.map((one) => ({ ...one, called: one.name }));
  await aggregate(library, asked, ({ name }, question) => door.ask(name, question));
}

/** Undefined: nothing was ever said in this home. */
async function withLog<T>({ places, clock }: Ground, work: (log: StyxTransport) => Promise<T>): Promise<T | undefined> {
  const path = homeLogPath(places.home);
  if (!existsSync(path)) return undefined;
  const log = openHomeLog({ path, clock });
  try {
    return await work(log);
  } finally {
    log.close();
  }
}

/** Entries that fit these words, the nearest first; held ones are found by no search. */
export async function search(library: Library, query: string): Promise<readonly LibraryEntry[]> {
  const { ranker } = await library.doors();
  const found = await ranker.rank(query, { limit: 20 }, new AbortController().signal);
  const entries = found.map(({ header }) => library.entry(header.name));
  return entries.flatMap((entry) => (entry === undefined || entry.status === 'held' ? [] : [entryOf(entry)]));
}

/** With the words of the owner's strategy for it, where it lives here. */
export async function wantedFor(
  library: Library,
  { golem, query = '' }: Pick<Proposal, 'golem' | 'query'>,
): Promise<Wanted> {
  const { archetype, domain } = golem;
  const { strategy = '' } = (await library.golems.alive(golem.golem)) ?? {};
  return { archetype, domain, words: `${query}\n${strategy}`.trim() };
}

/** Records what was decided, and sends what was taken. */
export async function giveTo(
  library: Library,
  { golem, signer, archetype }: Meant,
  chosen: { readonly proposed: readonly string[]; readonly taken: readonly string[] },
): Promise<Result<Decision, 'no-such-entry' | 'held' | 'no-log'>> {
  const about = { golem, signer, archetype };
  if (chosen.taken.length === 0) return ok(await decide(library, about, chosen));
  const kit = await makeKit(library, chosen.taken, archetype);
  if (!kit.ok) return kit;
  const { ground } = library;
  const owner = ownerOf(ground.places.home, ground.clock);
  const sent = await withLog(ground, async (log) => {
    await sendKit(log, owner, { golem, signer, text: kit.value });
    return true;
  });
  if (sent === undefined) return refuse('no-log', 'No golem of this home ever ran: there is nobody to send it to.');
  return ok(await decide(library, about, chosen));
}

async function promoteOf(library: Library, bundle: string, skill: string): Promise<Result<string>> {
  const taken = await receive(library, bundle, { isAnswer: true, only: skill });
  if (!taken.ok) return taken;
  const { golem, signer } = taken.value;
  const sql = 'SELECT entry FROM proofs WHERE golem = ? AND signer = ? AND skill = ?';
  const name = library.database.get<{ entry: string | null }>(sql, golem, signer, skill)?.entry;
  if (!name) return refuse('no-such-skill', `${golem} has no ${skill} that could enter.`);
  const status = await promote(library, name);
  if (status === 'held') return refuse('held', `${name} waits: ${library.entry(name)?.why}`);
  return ok(`${name} stands in the library, at ${library.entry(name)?.confidence.toFixed(2)}.`);
}
