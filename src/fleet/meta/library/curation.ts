// Owns what is done with the library from time to time (hierarchy notes A8): golems are asked what they hold, what nobody tested since its domain
// changed gets its label, and a text that does worse than the one before is told of. Invariants: a golem that cannot be asked holds up nobody;
// nothing is deleted; a version is judged by the test of mind/skills, at its looks and no more often.
import { sha256 } from '#base/ids.ts';
import { canonicalJson, isJsonObject, parseJson } from '#base/json.ts';
import { type Result, refuse } from '#base/result.ts';
import type { GolemAnswer, Question, SeenGolem } from '#fleet/styx/clade.ts';
import { judgeVersion, LOOKS, type UseCounts } from '#mind/skills/skill-uses.ts';
import type { Library, Named, ProofRow } from './library-home.ts';
import { receive } from './reception.ts';
import { rate, settleDead } from './shelves.ts';

/** Whom to ask; `called`: as the clade calls it. */
export type Asked = Pick<SeenGolem, 'golem' | 'signer' | 'status' | 'called'>;

/** Who are asked together: those of one home answer one after the other. */
const TOGETHER = 8;

export interface Aggregated {
  /** Golems that answered. */
  readonly asked: number;
  readonly entered: readonly string[];
  readonly held: readonly string[];
  /** Names of golems, and why nothing was taken from them. */
  readonly failed: readonly { readonly called: string; readonly why: string }[];
  readonly stale: readonly string[];
}

/** One round: every golem that lives is asked for its skills, and a dead one while it is open what became of its kit. */
export async function aggregate<Golem extends Asked>(
  library: Library,
  golems: readonly Golem[],
  ask: (golem: Golem, question: Question) => Promise<Result<GolemAnswer>>,
): Promise<Aggregated> {
  const done = {
    asked: 0,
    entered: [] as string[],
    held: [] as string[],
    failed: [] as Aggregated['failed'][number][],
  };
  const meant = golems.filter((one) => one.status !== 'dead' || isOpen(library, one));
  for (let from = 0; from < meant.length; from += TOGETHER) {
    const some = meant.slice(from, from + TOGETHER);
    const answers = await Promise.all(
      some.map(async (one) => ({ one, answer: await ask(one, questionTo(library, one)) })),
    );
    for (const { one, answer } of answers) {
      const taken = answer.ok ? await library.alone(() => take(library, one, answer.value)) : answer;
      if (!taken.ok) {
        done.failed.push({ called: one.called, why: `${taken.reason}: ${taken.detail}` });
        continue;
      }
      done.asked += 1;
      done.entered.push(...taken.value.entered);
      done.held.push(...taken.value.held);
    }
  }
  return { ...done, stale: await scanStale(library) };
}

function isOpen({ database }: Library, { golem, signer }: Named): boolean {
  const sql = "SELECT 1 FROM equip_history WHERE golem = ? AND signer = ? AND outcome = 'pending'";
  return database.get(sql, golem, signer) !== undefined;
}

/** What it said last need not come again; a dead one is asked for all of it. */
function questionTo(library: Library, one: Asked): Question {
  const known = one.status === 'dead' ? undefined : lastOf(library, one);
  return { what: 'skills', ...(known === undefined ? {} : { known }) };
}

/** Hash of what it answered last. */
function lastOf({ database }: Library, { golem, signer }: Named): string | undefined {
  return database.get<{ hash: string }>('SELECT hash FROM answers WHERE golem = ? AND signer = ?', golem, signer)?.hash;
}

const NOTHING = { ok: true, value: { entered: [], held: [] } } as const;

/** Only what it says of itself, and only when that is not what it said last. */
async function take(library: Library, asked: Asked, { value, hash: said }: GolemAnswer) {
  const { golem, signer } = asked;
  const isDead = asked.status === 'dead';
  const { database } = library;
  if (value === null && isDead) await database.transaction(() => settleDead(database, asked, true));
  if (value === null) return NOTHING;
  const text = String(value);
  const { source, by, hash } = glance(text, said);
  if (source !== golem) return refuse('not-its-own', `${golem} answered for ${source.slice(0, 80)}.`);
  if (by !== signer && by !== null) return refuse('not-its-own', `${golem} answered with the key of another ${golem}.`);
  if (lastOf(library, asked) === hash && !isDead) return NOTHING;
  const taken = await receive(library, text, { isAnswer: true, isDead });
  if (taken.ok) await library.run('INSERT OR REPLACE INTO answers VALUES(?, ?, ?)', golem, signer, hash);
  return taken;
}

/** Whose a bundle says that it is, and a hash of what it holds unless it was said; nothing of it is believed for that. */
function glance(text: string, said: string | undefined) {
  const read = parseJson(text);
  const bundle = read.ok && isJsonObject(read.value) ? read.value : {};
  const { source_golem: source, signer: by = null, skills = null } = bundle;
  return { source: String(source), by, hash: said ?? sha256(canonicalJson(skills)) };
}

const DAY_MS = 86_400_000;
const UNTESTED_DAYS = 90;
const CHANGED = 0.5;

/** Both have to be so: its domain is another by half since somebody proved it, and nobody did for ninety days. Names of those newly labelled. */
export async function scanStale(library: Library): Promise<readonly string[]> {
  const before = library.clock.now() - UNTESTED_DAYS * DAY_MS;
  const old = library.entries("status <> 'held' AND is_stale = 0 AND validated_at <= ?", before);
  const stale: string[] = [];
  for (const { name, domain, validated_at: since } of old) {
    if ((await library.golems.changed(domain, since)) < CHANGED) continue;
    await library.run('UPDATE entries SET is_stale = 1 WHERE name = ?', name);
    await rate(library, name);
    stale.push(name);
  }
  return stale;
}

interface TextRow {
  readonly entry: string;
  readonly version: number;
  readonly hash: string;
  readonly looked: number;
  readonly is_worse: number;
}

/** Entries whose text did worse than the one before, told once each: the library goes back, and owes an order to each golem that holds it. */
export async function worseVersions(library: Library): Promise<readonly string[]> {
  const sql =
    'SELECT * FROM texts WHERE entry IN (SELECT entry FROM texts GROUP BY entry HAVING count(*) > 1) ORDER BY entry, version';
  const all = Map.groupBy(library.database.all<TextRow>(sql), ({ entry }) => entry);
  const worse: string[] = [];
  for (const [entry, texts] of all) {
    const standing = texts.filter(({ is_worse }) => is_worse === 0);
    const [older, newer] = standing.slice(-2);
    if (older === undefined || newer === undefined || older.hash === newer.hash) continue;
    const [before, after] = [usesOf(library, older), usesOf(library, newer)];
    const looks = LOOKS.filter((look) => look <= after.successes + after.failures).length;
    if (looks <= newer.looked) continue;
    const { rollBack } = judgeVersion(before, after, true);
    if (rollBack) await goBack(library, newer);
    if (rollBack) worse.push(entry);
    // Last: who is killed before looks again.
    await library.run('UPDATE texts SET looked = ? WHERE entry = ? AND version = ?', looks, entry, newer.version);
  }
  return worse;
}

/** Over all golems that held that text. */
function usesOf({ database }: Library, { entry, hash }: TextRow): UseCounts {
  const sql =
    'SELECT total(successes) AS successes, total(failures) AS failures FROM text_uses WHERE entry = ? AND hash = ?';
  return database.get<UseCounts>(sql, entry, hash) ?? { successes: 0, failures: 0 };
}

async function goBack(library: Library, { entry, version, hash }: TextRow): Promise<void> {
  const { database } = library;
  const { door, skills } = await library.doors();
  await door.rollback({ skill: entry, version }, { actor: 'rollback' });
  await skills.refresh();
  const held = library.proofs(entry).filter((proof) => proof.hash === hash && !isDead(library, proof));
  await database.transaction(() => {
    database.run('UPDATE texts SET is_worse = 1 WHERE entry = ? AND hash = ?', entry, hash);
    for (const { signer, skill, version: own } of held)
      if (own !== null) database.run('INSERT OR IGNORE INTO owed VALUES(?, ?, ?)', signer, skill, own);
  });
  await rate(library, entry);
}

function isDead({ database }: Library, { golem, signer }: Named): boolean {
  const sql = 'SELECT 1 FROM golems WHERE golem = ? AND signer = ? AND is_dead = 1';
  return database.get(sql, golem, signer) !== undefined;
}

/** An order to a golem that holds a worse version: to go back from it. */
export type Order = Pick<ProofRow, 'signer' | 'skill'> & { readonly version: number };

/** Those that nobody has sent yet. */
export function owedOrders({ database }: Library): readonly Order[] {
  return database.all<Order>('SELECT signer, skill, version FROM owed').map((row) => ({ ...row }));
}

export function orderSent(library: Library, { signer, skill, version }: Order): Promise<void> {
  return library.run('DELETE FROM owed WHERE signer = ? AND skill = ? AND version = ?', signer, skill, version);
}
