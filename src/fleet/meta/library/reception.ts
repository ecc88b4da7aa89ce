// Owns how knowledge comes into the library (hierarchy notes A5, A8): testaments and bundles, from the log, from a golem that was asked, or as files,
// through four stages, each attempt a row that says how far it came and why. Invariants: nothing is executed; what comes twice counts once; what
// nobody known signed waits for the owner whole; each skill that came is kept as proof, whether it enters or not.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { sha256 } from '#base/ids.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { StyxRow, StyxTransport } from '#fleet/styx/home-log.ts';
import { isSignedBy } from '#fleet/styx/owner-key.ts';
import { wholeParcels } from '#fleet/styx/parcels.ts';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { SKILL_NAME, skillLimits } from '#mind/skills/format/skill-text.ts';
import { readBundle, type SkillBundle, type SkillTestament, verifyBundle } from '#mind/skills/format/testament.ts';
import type { Library, Named, ProofRow } from './library-home.ts';
import { type Attempt, note, type Origin, rate, settleDead, shelve, timesRejected } from './shelves.ts';

type Bundle = SkillTestament | SkillBundle;

export interface Received extends Named {
  /** Names of entries that stand and were made or changed by it. */
  readonly entered: readonly string[];
  /** And of those that wait. */
  readonly held: readonly string[];
  /** It was here before, and nothing was done. */
  readonly isKnown: boolean;
}

export type Unreceived = 'unread' | 'bad-signature' | 'unsigned' | 'unknown-signer' | 'rejected-thrice';

export interface Reception {
  /** The owner looked at it and takes it: it counts as from outside where no golem of his signed it. */
  readonly trusted?: boolean;
  /** A golem was asked and said it: no file is kept. */
  readonly isAnswer?: boolean;
  /** It is dead, and this is all that it held. */
  readonly isDead?: boolean;
  /** Of its skills this one alone. */
  readonly only?: string;
}

const REJECTED_FOR_GOOD = 3;

export async function receive(
  library: Library,
  text: string,
  given: Reception = {},
): Promise<Result<Received, Unreceived>> {
  const hash = sha256(text);
  const about = { name: hash.slice(0, 12), source: 'bundle', hash };
  if (timesRejected(library, hash) >= REJECTED_FOR_GOOD)
    return refuse('rejected-thrice', 'It was rejected three times, and is not looked at again.');
  const read = readBundle(text);
  if (!read.ok) {
    const reason = `${read.reason}: ${read.detail}`;
    await noteIt(library, { ...about, stage: 'QUARANTINE', outcome: 'rejected', reason });
    return refuse('unread', read.detail);
  }
  const { source_golem: golem } = read.value;
  const signer = read.value.signer ?? '';
  const named = { name: golem, source: golem, hash };
  if (isTaken(library, hash)) return ok({ golem, signer, entered: [], held: [], isKnown: true });
  if (given.isAnswer !== true)
    atomicWrite(join(library.root, 'testaments', `${golem}-${hash.slice(0, 12)}.json`), text);
  const standing = await standingOf(library, read.value, given.trusted ?? false);
  if (!standing.ok) {
    const outcome = standing.reason === 'bad-signature' ? 'rejected' : 'held';
    await noteIt(library, { ...named, stage: 'QUARANTINE', outcome, reason: `${standing.reason}: ${standing.detail}` });
    return standing;
  }
  const skills = read.value.skills.filter(({ name }) => given.only === undefined || name === given.only);
  const changed = await takeIn(library, originOf(read.value, standing.value), skills);
  await settle(library, read.value, given);
  if (given.isAnswer !== true)
    await noteIt(library, { ...named, stage: 'ADOPT', outcome: 'accepted', reason: 'whole bundle looked at' });
  return ok({ golem, signer, ...changed, isKnown: false });
}

function isTaken({ database }: Library, hash: string): boolean {
  const sql = "SELECT 1 FROM ingestions WHERE hash = ? AND stage = 'ADOPT' AND outcome = 'accepted' LIMIT 1";
  return database.get(sql, hash) !== undefined;
}

function noteIt(library: Library, attempt: Attempt): Promise<void> {
  return library.database.transaction(() => note(library, attempt));
}

/** Whole, and of somebody who counts: a golem born here or in another home of this owner, or whom he takes. */
async function standingOf(
  library: Library,
  bundle: Bundle,
  trusted: boolean,
): Promise<Result<ProofRow['standing'], 'unsigned' | 'bad-signature' | 'unknown-signer'>> {
  const { source_golem: golem, signer } = bundle;
  const known = signer === null ? undefined : await library.golems.standing(signer, golem);
  const verified = await verifyBundle(bundle, () => known);
  if (!verified.ok) return verified.reason === 'unsigned' && trusted ? ok('outside') : verified;
  if (known === 'own' || library.isVouched({ golem, signer: verified.value.signer })) return ok('clade');
  if (known === 'accepted' || trusted) return ok('outside');
  return refuse('unknown-signer', `It is signed by ${signer}, for whom no owner whom you trust vouches.`);
}

function originOf(bundle: Bundle, standing: ProofRow['standing']): Origin {
  const { source_golem: golem, signer, domain, archetype, lineage, timestamp: at, kind } = bundle;
  const isDead = kind === 'skill-testament';
  const source = standing === 'outside' ? 'purchase' : isDead ? 'testament' : 'bundle';
  return { golem, signer: signer ?? '', source, standing, domain, archetype, lineage, at, bloodstain: isDead };
}

/** The surest first: of two that contradict each other the other one waits. */
async function takeIn(library: Library, origin: Origin, skills: Bundle['skills']) {
  const inOrder = skills.toSorted((a, b) => b.record.confidence - a.record.confidence || (a.name < b.name ? -1 : 1));
  const touched = await library.database.transaction(
    () => new Set(inOrder.flatMap((skill) => shelve(library, origin, skill) ?? [])),
  );
  const all: { readonly name: string; readonly status: string }[] = [];
  for (const name of touched) all.push({ name, status: await rate(library, name) });
  if (touched.size > 0) await (await library.doors()).skills.refresh();
  for (const { name, status } of all) {
    const entry = library.entry(name);
    const outcome = status === 'held' ? ('held' as const) : ('accepted' as const);
    const stage = entry?.why.startsWith('contradicts ') ? ('CONSENSUS' as const) : ('ADOPT' as const);
    // A hash of its own, so that a whole bundle is never taken for a skill of it.
    const hash = sha256(`${origin.golem} ${name} ${entry?.why}`);
    await noteIt(library, { name, source: origin.golem, hash, stage, outcome, reason: entry?.why ?? '' });
  }
  const named = (isHeld: boolean) => all.filter(({ status }) => (status === 'held') === isHeld).map(({ name }) => name);
  return { entered: named(false), held: named(true) };
}

/** An end decides what was open about what the golem was given. */
async function settle({ database }: Library, bundle: Bundle, { isDead = false }: Reception): Promise<void> {
  const { kind, source_golem: golem, signer } = bundle;
  if (kind !== 'skill-testament' && !isDead) return;
  await database.transaction(() => {
    database.run('UPDATE golems SET is_dead = 1 WHERE golem = ? AND signer = ?', golem, signer);
    settleDead(database, { golem, signer: signer ?? '' }, isDead);
  });
}

/** The owner's own, or Meta's: it enters as it is, with the confidence that it has. Refuses what the door refuses; `isKnown` as of a bundle. */
export async function addOwn(
  library: Library,
  text: string,
  confidence: number,
): Promise<Result<Own, 'invalid-skill' | 'not-entered'>> {
  const name = nameIn(text);
  if (!name.ok) return name;
  const record = { confidence, ...UNUSED, tags: [], lineage: [] };
  const whose = { golem: 'owner', signer: 'owner', source: 'owner', standing: 'owner' } as const;
  const about = { domain: '', archetype: '', at: library.clock.now(), lineage: [], bloodstain: false };
  const entered = await addOne(
    library,
    { ...whose, ...about },
    { name: name.value, skill_md: text, files: [], record },
  );
  return entered.ok && entered.value.waits !== undefined ? refuse('not-entered', entered.value.waits) : entered;
}

/** What was paid for, as its seller stated it: from outside, for half of that. `waits`: it is here, and why it does not stand. */
export async function addBought(
  library: Library,
  text: string,
  sold: {
    readonly seller: string;
    readonly category: string;
    readonly confidence: number;
    readonly validated_count: number;
    readonly lineage: readonly string[];
  },
): Promise<Result<Own, 'invalid-skill' | 'not-entered'>> {
  const name = nameIn(text);
  if (!name.ok) return name;
  const { seller, category, confidence, validated_count } = sold;
  const lineage = [...sold.lineage];
  const record = { confidence, ...UNUSED, validated_count, tags: [], lineage };
  const whose = { golem: lineage.at(-1) ?? seller, signer: seller, source: 'purchase', standing: 'outside' } as const;
  const about = { domain: category, archetype: '', at: library.clock.now(), lineage, bloodstain: false };
  return addOne(library, { ...whose, ...about }, { name: name.value, skill_md: text, files: [], record });
}

const UNUSED = { validated_count: 0, improved_count: 0, use_count: 0, success_count: 0, failure_count: 0 };

function nameIn(text: string): Result<string, 'invalid-skill'> {
  const parsed = parseSkill(text);
  if (!parsed.ok) return refuse('invalid-skill', parsed.detail);
  const name = String(parsed.frontmatter.name ?? '');
  if (SKILL_NAME.test(name) && name.length <= skillLimits.name) return ok(name);
  return refuse(
    'invalid-skill',
    `${JSON.stringify(name.slice(0, 80))} is no name of a skill: lower-case letters, digits, . _ -`,
  );
}

async function addOne(
  library: Library,
  origin: Origin,
  skill: Bundle['skills'][number],
): Promise<Result<Own, 'not-entered'>> {
  const { entered, held } = await takeIn(library, origin, [skill]);
  const [entry] = entered;
  if (entry !== undefined) return ok({ name: entry, isKnown: false });
  const sql = 'SELECT entry FROM proofs WHERE signer = ? AND golem = ? AND skill = ? AND content = ?';
  const content = canonicalJson(skill as unknown as JsonValue);
  const same = [origin.signer, origin.golem, skill.name, content];
  const proved = library.database.get<{ entry: string | null }>(sql, ...same)?.entry;
  const known = library.entry(held[0] ?? proved ?? '');
  if (known === undefined) return refuse('not-entered', 'It was rejected.');
  return ok({ name: known.name, isKnown: held.length === 0, ...(known.status === 'held' ? { waits: known.why } : {}) });
}

type Own = Pick<Received, 'isKnown'> & { readonly name: string; readonly waits?: string };

/** Reader of the log, and rows that it takes at once. */
const READER = 'library';
const LOOK = 1_000;
/** Parts of one parcel lie no further apart. */
const SPREAD = 20_000;
const PARCELS = ['golem.*.testament', 'golem.*.bundle'];
const TOPICS = [...PARCELS, 'golem.*.presence', 'golem.*.ask'];

type Taken = readonly Result<Received, Unreceived>[];

/** Everything that came on the log since the last time. A kill between two rows repeats what counts once. */
export async function receiveRows(library: Library, log: StyxTransport): Promise<Taken> {
  const isQuiet = log.read(TOPICS, log.position(READER), 1).length === 0 && library.vouches(NEW).length === 0;
  // Where nothing came nobody is waited for.
  return isQuiet ? [] : library.alone(() => takeRows(library, log));
}

async function takeRows(library: Library, log: StyxTransport): Promise<Taken> {
  const received: Result<Received, Unreceived>[] = [];
  for (;;) {
    const after = log.position(READER);
    const rows = log.read(TOPICS, after, LOOK);
    const upTo = rows.at(-1)?.seq;
    if (upTo === undefined) break;
    for (const row of rows) await hear(library, row);
    for (const text of parcelsOf(log, rows, after)) received.push(await receive(library, text));
    await log.commit(READER, upTo);
  }
  for (const one of library.vouches(NEW)) received.push(...(await takeLeft(library, one)));
  return received;
}

const NEW = 'is_taken = 0';

/** What it left may have come before somebody vouched for it, or before the owner trusted who does. */
async function takeLeft(library: Library, { golem, signer }: Named): Promise<Taken> {
  const all: Result<Received, Unreceived>[] = [];
  for (const text of leftBy(library, golem)) all.push(await receive(library, text));
  await library.run('UPDATE vouches SET is_taken = 1 WHERE golem = ? AND signer = ?', golem, signer);
  return all.filter((one) => one.ok && !one.value.isKnown);
}

/** Those that became whole with these rows. */
function parcelsOf(log: StyxTransport, rows: readonly StyxRow[], after: number): readonly string[] {
  const upTo = rows.at(-1)?.seq ?? after;
  if (!rows.some(({ topic }) => topic.endsWith('.testament') || topic.endsWith('.bundle'))) return [];
  const all = log.read(PARCELS, Math.max(0, after - SPREAD), SPREAD);
  return wholeParcels(all).flatMap(({ text, seq }) => (seq > after && seq <= upTo ? [text] : []));
}

async function hear(library: Library, { topic, body, at }: StyxRow): Promise<void> {
  if (!isJsonObject(body)) return;
  if (topic.endsWith('.presence')) await meet(library, body, at);
  if (topic.endsWith('.ask') && body.kind === 'seed-kit') await noteAsk(library, body, at);
}

/** Files of that golem that are here. */
function leftBy({ root }: Library, golem: string): readonly string[] {
  const folder = join(root, 'testaments');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const own = files.filter((file) => file.startsWith(`${golem}-`) && file.endsWith('.json')).sort();
  return own.map((file) => readFileSync(join(folder, file), 'utf8'));
}

/** Whoever writes to the log can say that it is there; whose it is only a key says. */
async function meet({ database }: Library, body: JsonObject, at: number): Promise<void> {
  const { golem, archetype, domain, status, vouch } = body;
  if (typeof golem !== 'string' || typeof body.signer !== 'string') return;
  const signer = body.signer.toLowerCase();
  const { by, signature } = isJsonObject(vouch) ? vouch : {};
  const signed = { by: String(by), signature: String(signature) };
  const isVouch = isSignedBy('birth', { kind: 'birth', golem, signer }, signed);
  const values = [golem, signer, String(archetype), String(domain), Number(status === 'dead'), at];
  const sql = `INSERT INTO golems VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET is_dead = max(is_dead, excluded.is_dead), at = excluded.at`;
  await database.lightTransaction(() => {
    database.run(sql, ...values);
    const vouched = 'INSERT OR IGNORE INTO vouches(golem, signer, owner) VALUES(?, ?, ?)';
    if (isVouch) database.run(vouched, golem, signer, signed.by);
  });
}

/** A newborn asks; nothing is sent for that: the owner is told, and decides. */
async function noteAsk(library: Library, { golem, signer, archetype }: JsonObject, at: number): Promise<void> {
  const sent = 'SELECT 1 FROM loadouts WHERE golem = ?2 AND signer = ?3';
  const sql = `INSERT INTO loadouts(at, golem, signer, archetype, decision, proposed, taken)
    SELECT ?1, ?2, ?3, ?4, 'asked', '[]', '[]' WHERE NOT EXISTS (${sent})`;
  await library.run(sql, at, String(golem), String(signer), String(archetype));
}
