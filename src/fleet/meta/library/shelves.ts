// Owns which entry a skill belongs to and what stands in its place (hierarchy notes A8): proofs are laid beside each other by trigger and steps, an
// entry takes the text of the surest of those who proved it, and what contradicts a standing one waits. Invariants: one procedure is one entry,
// under one name; text goes through the home's door alone; nothing is deleted, what falls rests.
import { sha256 } from '#base/ids.ts';
import { canonicalJson, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { parseSkill, renameSkill } from '#mind/skills/format/parse-skill.ts';
import { relevance, skillName, stepsInCommon, stepsOf, triggersOf } from '#mind/skills/format/skill-parts.ts';
import { type BundledSkill, doubtOf } from '#mind/skills/format/testament.ts';
import type { SkillChange } from '#mind/skills/skill.ts';
import { type EntryRow, type Library, listOf, type Named, type ProofRow } from './library-home.ts';
import { ancestorsOf, STALE_FACTOR, type Worth, worthOf } from './worth.ts';

/** Whose skills they are. */
export interface Origin
  extends Pick<ProofRow, 'golem' | 'signer' | 'source' | 'standing' | 'domain' | 'archetype' | 'at'> {
  /** Of the golem. */
  readonly lineage: readonly string[];
  readonly bloodstain: boolean;
}

export interface Attempt {
  readonly name: string;
  readonly source: string;
  readonly hash: string;
  readonly stage: 'QUARANTINE' | 'CONSENSUS' | 'SANDBOX' | 'ADOPT';
  readonly outcome: 'accepted' | 'held' | 'rejected';
  readonly reason: string;
}

const SAME_TRIGGER = 0.6;
const SAME_STEPS = 0.8;
const REJECTED_FOR_GOOD = 3;

/** What is read of a skill's text. */
interface Parts {
  readonly description: string;
  readonly trigger: string;
  readonly steps: readonly string[];
  readonly hash: string;
}

function partsOf(text: string): Result<Parts> {
  const parsed = parseSkill(text);
  if (!parsed.ok) return parsed;
  const description = String(parsed.frontmatter.description ?? '');
  const trigger = triggersOf(parsed.body) || description;
  return ok({ description, trigger, steps: stepsOf(parsed.body), hash: sha256(parsed.body) });
}

/** Inside a transaction. The entry that it counts for; undefined: nothing is new, or it was rejected. */
export function shelve(library: Library, origin: Origin, skill: BundledSkill): string | undefined {
  const { database } = library;
  const content = canonicalJson(skill as unknown as JsonValue);
  const sql = 'SELECT * FROM proofs WHERE signer = ? AND golem = ? AND skill = ?';
  const before = database.get<ProofRow>(sql, origin.signer, origin.golem, skill.name);
  if (before?.content === content) return undefined;
  const about = { name: skill.name, source: origin.golem, hash: sha256(content) };
  if (timesRejected(library, about.hash) >= REJECTED_FOR_GOOD) return undefined;
  const parts = partsOf(skill.skill_md);
  if (!parts.ok)
    return void note(library, { ...about, stage: 'QUARANTINE', outcome: 'rejected', reason: parts.detail });
  const doubt = origin.standing === 'outside' ? doubtOf(skill) : undefined;
  if (doubt === 'rejected')
    return void note(library, { ...about, stage: 'QUARANTINE', outcome: doubt, reason: 'the guard refuses it' });
  if (parts.value.trigger === '')
    return void note(library, {
      ...about,
      stage: 'SANDBOX',
      outcome: 'rejected',
      reason: 'it says not when it is for',
    });
  const said = proofOf(library, origin, skill);
  // When it said last that another use was verified.
  const at = before !== undefined && before.validated >= said.validated ? before.at : said.at;
  const proof = { ...said, at, content, hash: parts.value.hash };
  const isSameText = before?.hash === proof.hash && before.entry !== null;
  const found = isSameText ? String(before.entry) : entryFor(library, proof, parts.value, skill);
  const entry = library.entry(found)?.merged_into ?? found;
  putProof(library, { ...proof, entry });
  countText(library, entry, proof, before);
  settleUse(library, proof, skill.record.derived_from);
  if (doubt === 'held') database.run("UPDATE entries SET doubt = 'the guard finds it doubtful' WHERE name = ?", entry);
  return entry;
}

export function timesRejected({ database }: Library, hash: string): number {
  const sql = "SELECT count(*) AS count FROM ingestions WHERE hash = ? AND outcome = 'rejected'";
  return database.get<{ count: number }>(sql, hash)?.count ?? 0;
}

/** What comes to the same is noted once; a rejection each time. */
export function note({ database, clock }: Library, attempt: Attempt): void {
  const { name, source, hash, stage, outcome, reason } = attempt;
  const same = 'SELECT 1 FROM ingestions WHERE hash = ? AND outcome = ? AND reason = ?';
  if (outcome !== 'rejected' && database.get(same, hash, outcome, reason) !== undefined) return;
  const sql = 'INSERT INTO ingestions(at, name, source, hash, stage, outcome, reason) VALUES(?, ?, ?, ?, ?, ?, ?)';
  database.run(sql, clock.now(), name, source, hash, stage, outcome, reason);
}

type NewProof = Omit<ProofRow, 'id' | 'entry' | 'content' | 'hash'>;

function proofOf(library: Library, origin: Origin, { name: skill, record }: BundledSkill): NewProof {
  const { golem, signer, source, standing, domain, archetype, at, lineage, bloodstain } = origin;
  const path = [...record.lineage.filter((id) => id !== golem), golem];
  const derived = record.derived_from === undefined ? [] : [record.derived_from];
  const ancestors = ancestorsOf([...path, ...lineage, ...derived], (id) => knownAncestors(library, id));
  return {
    ...{ golem, signer, skill, source, standing, domain, archetype, at, depth: path.length - 1 },
    ...{ path: JSON.stringify(path), ancestors: JSON.stringify(ancestors), raw: record.confidence },
    ...{ validated: record.validated_count, uses: record.use_count, successes: record.success_count },
    ...{ failures: record.failure_count, bloodstain: Number(bloodstain), version: record.version ?? null },
  };
}

/** Of `library/NAME`, or of a golem's skill `ada-gen1/NAME`. */
function knownAncestors({ database }: Library, id: string): readonly string[] {
  const [golem = '', skill] = id.split('/');
  if (skill === undefined) return [];
  const rows =
    golem === 'library'
      ? database.all<ProofRow>('SELECT ancestors FROM proofs WHERE entry = ?', skill)
      : database.all<ProofRow>('SELECT ancestors FROM proofs WHERE golem = ? AND skill = ?', golem, skill);
  return [...(golem === 'library' ? [] : [golem]), ...rows.flatMap(({ ancestors }) => listOf(ancestors))];
}

const PROOF = [
  ...['golem', 'signer', 'skill', 'hash', 'entry', 'source', 'standing', 'domain', 'archetype', 'depth', 'path'],
  ...['ancestors', 'raw', 'validated', 'uses', 'successes', 'failures', 'bloodstain', 'version', 'content', 'at'],
] as const satisfies readonly (keyof ProofRow)[];
const PUT_PROOF = `INSERT INTO proofs(${PROOF.join(', ')}) VALUES(${PROOF.map(() => '?').join(', ')})
  ON CONFLICT(signer, golem, skill) DO UPDATE SET ${PROOF.map((name) => `${name} = excluded.${name}`).join(', ')}`;

function putProof({ database }: Library, proof: Omit<ProofRow, 'id'>): void {
  database.run(PUT_PROOF, ...PROOF.map((name) => proof[name]));
}

/** Uses that came since the last look count for the text that is held now. */
function countText(
  { database }: Library,
  entry: string,
  proof: Pick<ProofRow, 'golem' | 'hash' | 'successes' | 'failures'>,
  before: ProofRow | undefined,
): void {
  const more = (key: 'successes' | 'failures') => Math.max(0, proof[key] - (before?.[key] ?? 0));
  const sql = `INSERT INTO text_uses VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET successes = successes + excluded.successes, failures = failures + excluded.failures`;
  database.run(sql, entry, proof.hash, proof.golem, more('successes'), more('failures'));
}

/** Uses at which what it was given for is judged. */
const JUDGED_FROM = 5;

/** What was given to this golem, and what it made of that. */
function settleUse({ database, clock }: Library, proof: NewProof, derived = ''): void {
  const { golem, signer, raw, uses, successes, failures } = proof;
  if (!derived.startsWith('library/')) return;
  const name = derived.slice('library/'.length);
  // Born with a kit as a file: nobody sent it.
  const given = `INSERT OR IGNORE INTO equip_history(entry, golem, signer, at, confidence) SELECT name, ?, ?, ?, ? FROM entries WHERE name = ?`;
  database.run(given, golem, signer, clock.now(), raw, name);
  const outcome = successes >= failures ? 'validated' : 'contradicted';
  const sql = `UPDATE equip_history SET successes = ?, failures = ?, outcome = CASE WHEN ? >= ? THEN ? ELSE outcome END
    WHERE entry = ? AND golem = ? AND signer = ?`;
  database.run(sql, successes, failures, uses, JUDGED_FROM, outcome, name, golem, signer);
}

/** It ended: what it was given is judged by what there is. `isAll`: everything that it held is known, and what it never used too. */
export function settleDead(database: Library['database'], { golem, signer }: Named, isAll: boolean): void {
  const outcome = `CASE WHEN successes + failures = 0 THEN ? WHEN successes >= failures THEN 'validated' ELSE 'contradicted' END`;
  const sql = `UPDATE equip_history SET outcome = ${outcome} WHERE golem = ? AND signer = ? AND outcome = 'pending'`;
  database.run(sql, isAll ? 'unused' : 'pending', golem, signer);
}

/** The one that says the same, else a new one; with whom a new one contradicts is written down. */
function entryFor(library: Library, proof: NewProof, parts: Parts, skill: BundledSkill): string {
  const near = library.near(parts.trigger).filter(({ trigger }) => isSameTrigger(trigger, parts.trigger));
  const isSame = ({ steps }: EntryRow) => stepsInCommon(listOf(steps), parts.steps) >= SAME_STEPS;
  const saysSo = near.find(
    (entry) => entry.trigger === parts.trigger && parts.steps.length + listOf(entry.steps).length === 0,
  );
  const same = near.find(isSame) ?? saysSo;
  if (same !== undefined) return same.name;
  const name = newEntry(library, proof, parts, skill);
  if (parts.steps.length === 0) return name;
  const sql = 'INSERT OR IGNORE INTO conflicts VALUES(?, ?, ?, NULL)';
  for (const other of near)
    if (listOf(other.steps).length > 0) library.database.run(sql, other.name, name, library.clock.now());
  return name;
}

function isSameTrigger(one: string, other: string): boolean {
  return relevance(one, other) >= SAME_TRIGGER && relevance(other, one) >= SAME_TRIGGER;
}

function newEntry(library: Library, proof: NewProof, parts: Parts, { name: called, record }: BundledSkill): string {
  const { database } = library;
  const isTaken = (name: string) => database.get('SELECT 1 FROM entries WHERE name = ?', name) !== undefined;
  const name = isTaken(called) ? skillName({ tag: called, triggers: [] }, isTaken) : called;
  const { source, domain, archetype, at, path, raw } = proof;
  const tags = [...new Set([...record.tags, domain].filter(Boolean))];
  const sql = `INSERT INTO entries VALUES(?, 'held', '', ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0, NULL, ?, ?)`;
  const texts = [parts.description, parts.trigger, JSON.stringify(parts.steps)];
  const whence = [source, path, JSON.stringify(tags), domain, archetype];
  database.run(sql, name, raw, ...whence, ...texts, library.clock.now(), at);
  library.learn(name, parts.trigger);
  return name;
}

/** What it is worth by all who proved it; its text, record and standing follow. */
export async function rate(library: Library, name: string): Promise<EntryRow['status']> {
  const entry = library.entry(name);
  const proofs = library.proofs(name);
  const worse = library.worseTexts(name);
  const able = proofs.filter(({ hash }) => !worse.includes(hash));
  const worth = worthOf(
    (able.length > 0 ? able : proofs).map((row) => ({ ...row, ancestors: listOf(row.ancestors) })),
    entry?.is_promoted === 1,
  );
  const best = proofs.find(({ id }) => id === worth?.best);
  if (entry === undefined || worth === undefined || best === undefined) return 'held';
  const why = entry.doubt ?? (worth.status === 'held' ? worth.why : opponentOf(library, name));
  const done = await (why !== undefined
    ? rest(library, name)
    : worse.includes(best.hash)
      ? activate(library, name)
      : stand(library, entry, best));
  const refused = done.ok ? why : `${done.reason}: ${done.detail}`;
  const status = refused === undefined ? worth.status : 'held';
  await keepWorth(library, entry, { ...worth, status, why: refused ?? worth.why }, { proofs, best });
  return status;
}

/** A standing entry for the same trigger that says otherwise, or one that the owner kept. */
function opponentOf({ database }: Library, name: string): string | undefined {
  const pairs = 'conflicts JOIN entries ON entries.name = iif(one = ?1, other, one)';
  const counts = "(kept IS NULL AND status <> 'held' OR kept <> ?1)";
  const sql = `SELECT kept, name FROM ${pairs} WHERE ?1 IN (one, other) AND ${counts} ORDER BY kept IS NULL`;
  const row = database.get<{ kept: string | null; name: string }>(sql, name);
  if (row === undefined) return undefined;
  const isOpen = row.kept === null;
  return isOpen ? `contradicts ${row.name}: talaria library conflicts` : `you kept ${row.name} instead`;
}

/** The text of the surest stands, through the door. */
async function stand(library: Library, entry: EntryRow, best: ProofRow): Promise<Result<void>> {
  const { skills, door } = await library.doors();
  const read = parseJson(best.content);
  const skill = (read.ok ? read.value : {}) as unknown as BundledSkill;
  const text = skill.name === entry.name ? ok(skill.skill_md) : renameSkill(skill.skill_md, entry.name);
  if (!text.ok) return text;
  const now = skills.get(entry.name);
  const last = door.versions(entry.name).at(-1)?.newHash;
  // What the owner wrote there by hand stays.
  const isByHand = now !== undefined && last !== undefined && sha256(now.text) !== last;
  if (isByHand || now?.text === text.value) return activate(library, entry.name);
  for (const change of changesTo(text.value, skill, now === undefined)) {
    const done = await writeText(library, entry.name, change, { best, hash: sha256(now?.text ?? text.value) });
    if (!done.ok) return done;
  }
  return activate(library, entry.name);
}

/** What is beside the text comes with an edit. */
function changesTo(content: string, { files }: BundledSkill, isNew: boolean): readonly SkillChange[] {
  const beside = files.map(({ path, base64 }) => ({ path, content: Buffer.from(base64, 'base64').toString() }));
  const created: readonly SkillChange[] = isNew ? [{ action: 'create', content }] : [];
  if (isNew && beside.length === 0) return created;
  return [...created, { action: 'edit', content, ...(beside.length > 0 ? { files: beside } : {}) }];
}

async function writeText(
  library: Library,
  name: string,
  change: SkillChange,
  { best, hash }: { readonly best: ProofRow; readonly hash: string },
): Promise<Result<void>> {
  const { door } = await library.doors();
  const done = await door.write({
    ...{ name, change, actor: best.standing === 'owner' ? 'owner' : 'import', approved: true },
    ...(change.action === 'create' ? {} : { expectedHash: hash }),
    citations: [{ handle: `golem:${best.golem}`, quote: best.skill }],
  });
  if (!done.ok) return refuse(done.reason, done.detail);
  const sql = 'INSERT OR REPLACE INTO texts(entry, version, hash) VALUES(?, ?, ?)';
  await library.run(sql, name, done.value.version, best.hash);
  return ok(undefined);
}

async function activate(library: Library, name: string): Promise<Result<void>> {
  const { skillRecords } = await library.doors();
  if (skillRecords().get(name)?.status === 'retired') await skillRecords().setStatus(name, 'active');
  return ok(undefined);
}

/** Found by no search and given to nobody; nothing of it is lost. */
async function rest(library: Library, name: string): Promise<Result<void>> {
  const { skillRecords } = await library.doors();
  const record = skillRecords().get(name);
  if (record !== undefined && record.status !== 'retired') await skillRecords().setStatus(name, 'retired');
  return ok(undefined);
}

async function keepWorth(
  library: Library,
  entry: EntryRow,
  worth: Worth,
  { proofs, best }: { readonly proofs: readonly ProofRow[]; readonly best: ProofRow },
): Promise<void> {
  const { status, raw, isCross, why } = worth;
  const lineage = [
    ...new Set(proofs.filter(({ standing }) => standing === 'clade').flatMap(({ path }) => listOf(path))),
  ];
  const validatedAt = Math.max(...proofs.filter(({ validated }) => validated > 0).map(({ at }) => at), entry.added_at);
  const isStale = entry.is_stale === 1 && validatedAt <= entry.validated_at;
  const confidence = worth.confidence * (isStale ? STALE_FACTOR : 1);
  const sql = `UPDATE entries SET status = ?, why = ?, raw = ?, confidence = ?, is_cross = ?, is_stale = ?, lineage = ?,
    source = ?, validated_at = ? WHERE name = ?`;
  const flags = [Number(isCross), Number(isStale)];
  await library.run(
    sql,
    status,
    why,
    raw,
    confidence,
    ...flags,
    JSON.stringify(lineage),
    best.source,
    validatedAt,
    entry.name,
  );
  if (status === 'held') return;
  const { skillRecords } = await library.doors();
  const record = skillRecords().get(entry.name);
  const sum = (key: 'validated' | 'uses' | 'successes' | 'failures') => proofs.reduce((all, row) => all + row[key], 0);
  if (record === undefined) return;
  await skillRecords().put({
    ...{ ...record, confidence, priorConfidence: confidence, lineage, categories: listOf(entry.tags) },
    ...{ validatedCount: sum('validated'), useCount: sum('uses'), successCount: sum('successes') },
    ...{ failureCount: sum('failures'), bloodstain: proofs.some(({ bloodstain }) => bloodstain === 1) },
    ...{ derivedFrom: `${best.golem}/${best.skill}`, updatedAt: library.clock.now() },
  });
}

/** The owner says that one golem's word is enough. */
export async function promote(library: Library, name: string): Promise<EntryRow['status']> {
  await library.run('UPDATE entries SET is_promoted = 1, doubt = NULL WHERE name = ?', name);
  const status = await rate(library, name);
  await (await library.doors()).skills.refresh();
  return status;
}

/** The owner says that two say the same: all that speaks for the other speaks for the one from now on. */
export async function merge(library: Library, one: string, other: string): Promise<Result<void, 'no-such-entry'>> {
  const missing = [one, other].find((name) => (library.entry(name)?.merged_into ?? one === other) !== null);
  if (missing !== undefined) return refuse('no-such-entry', `There is no ${missing} of its own in the library.`);
  const { database } = library;
  await database.transaction(() => {
    database.run('UPDATE proofs SET entry = ? WHERE entry = ?', one, other);
    database.run('DELETE FROM conflicts WHERE (one = ?1 AND other = ?2) OR (one = ?2 AND other = ?1)', one, other);
    const sql = "UPDATE entries SET status = 'held', why = ?, merged_into = ? WHERE name = ? OR merged_into = ?";
    database.run(sql, `merged into ${one}`, one, other, other);
  });
  await rest(library, other);
  await rate(library, one);
  await (await library.doors()).skills.refresh();
  return ok(undefined);
}

/** The owner's word on entries that contradict each other. Names of those that rest now. */
export async function keepEntry(library: Library, name: string): Promise<Result<readonly string[], 'no-conflict'>> {
  const { database } = library;
  const sql = 'SELECT one, other FROM conflicts WHERE one = ?1 OR other = ?1';
  const rows = database.all<{ one: string; other: string }>(sql, name);
  if (rows.length === 0) return refuse('no-conflict', `${name} contradicts nothing: talaria library conflicts`);
  await library.run('UPDATE conflicts SET kept = ?1 WHERE one = ?1 OR other = ?1', name);
  const others = rows.map(({ one, other }) => (one === name ? other : one));
  for (const other of [...others, name]) await rate(library, other);
  await (await library.doors()).skills.refresh();
  return ok(others);
}
