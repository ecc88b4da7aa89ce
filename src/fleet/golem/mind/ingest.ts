// Owns how knowledge comes in (hierarchy notes A5): four stages, in order, each attempt a row that says how far it came and why. Knows no hook.
// Invariants: nothing is executed; a bundle whose signer nobody knows waits for the owner whole; raw confidence is discounted once a hop; what was
// rejected three times is not looked at again, and what waits for a step is, in each session; the skill door's guard and secret check decide last.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '#base/ids.ts';
import { canonicalJson, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { FACTORS, readKit, type SeedKit } from '#fleet/styx/kit.ts';
import { renameSkill } from '#mind/skills/format/parse-skill.ts';
import { relevance, skillName, stepsOf, triggersOf } from '#mind/skills/format/skill-parts.ts';
import { splitHeader } from '#mind/skills/format/skill-text.ts';
import { type BundledSkill, doubtOf, readBundle, verifyBundle } from '#mind/skills/format/testament.ts';
import { categoriesOf } from './curate.ts';
import { isTaken, type MindGround, skillAt, writeSkillOf } from './mind-ground.ts';

type Stage = 'QUARANTINE' | 'CONSENSUS' | 'SANDBOX' | 'ADOPT';

interface Attempt {
  readonly name: string;
  readonly source: string;
  readonly hash: string;
  readonly stage: Stage;
  readonly outcome: 'accepted' | 'rejected' | 'held';
  readonly reason: string;
}

const CERTAIN = 0.7;
const REJECTED_FOR_GOOD = 3;
const INHERITED_WEIGHT = 5;
/** Of an own skill that was changed in a dream. */
const REINGESTED = 0.65;

/** Everything that lies in the inbox and was not decided. */
export async function ingestInbox(ground: MindGround): Promise<void> {
  const { places, doors } = ground;
  const files = readdirSync(places.inbox).filter((name) => name.endsWith('.json'));
  for (const file of files.sort()) {
    const text = readFileSync(join(places.inbox, file), 'utf8');
    const about = { name: file, source: file, hash: sha256(text) };
    if (isDecided(ground, about.hash)) continue;
    const looked = await quarantine(ground, text);
    if (!looked.ok) {
      await note(ground, { ...about, stage: 'QUARANTINE', outcome: looked.reason, reason: looked.detail });
      continue;
    }
    const isWhole = await ingestBundle(ground, looked.value);
    await doors.skills.refresh();
    const decided = { stage: 'ADOPT', outcome: 'accepted', reason: 'whole bundle looked at' } as const;
    if (isWhole) await note(ground, { ...about, ...decided });
  }
}

/** False: some of it waits for steps, and is looked at alone the next time. */
async function ingestBundle(ground: MindGround, parcels: readonly Offered[]): Promise<boolean> {
  const isAgain = parcels.some(({ skill }) => waits(ground, skill));
  for (const one of parcels) if (!isAgain || waits(ground, one.skill) !== false) await ingestSkill(ground, one);
  return !parcels.some(({ skill }) => waits(ground, skill));
}

function isDecided({ rows }: MindGround, hash: string): boolean {
  const sql = "SELECT 1 FROM ingestions WHERE hash = ? AND (stage = 'ADOPT' OR outcome = 'rejected') LIMIT 1";
  return rows.database.get(sql, hash) !== undefined;
}

/** Of what it says; its record is another one each time that it is given. */
function hashOf({ name, skill_md, files }: BundledSkill): string {
  return sha256(canonicalJson({ name, skill_md, files } as unknown as JsonValue));
}

/** Was it held for a step that was not there? Undefined: nobody looked at it yet. */
function waits({ rows }: MindGround, skill: BundledSkill): boolean | undefined {
  const sql = 'SELECT stage, outcome FROM ingestions WHERE hash = ? ORDER BY id DESC LIMIT 1';
  const last = rows.database.get<Pick<Attempt, 'stage' | 'outcome'>>(sql, hashOf(skill));
  return last && last.stage === 'SANDBOX' && last.outcome === 'held';
}

/** Is it whole, and does anybody vouch for it? */
async function quarantine(ground: MindGround, text: string): Promise<Result<readonly Offered[], 'held' | 'rejected'>> {
  const kit = readKit(text, ground.owners());
  if (kit.ok) return ok(kit.value.skills.map((skill) => fromKit(ground, skill)));
  if (kit.reason !== 'no-kit') return refuse('rejected', `${kit.reason}: ${kit.detail}`);
  const read = readBundle(text);
  if (!read.ok) return refuse('rejected', `${read.reason}: ${read.detail}`);
  const verified = await verifyBundle(read.value, ground.standing);
  if (!verified.ok)
    return refuse(verified.reason === 'unsigned' ? 'held' : 'rejected', `${verified.reason}: ${verified.detail}`);
  const { standing, signer } = verified.value;
  if (standing === 'stranger') return refuse('held', `unknown signer ${signer}`);
  const { source_golem: source, kind, archetype, skills } = read.value;
  const distance = standing === 'own' ? 'sibling' : archetype === ground.identity.archetype ? 'strategy' : 'stranger';
  const about = { source, distance, bloodstain: kind === 'skill-testament', isClade: standing === 'own' } as const;
  return ok(
    skills.map((skill) => {
      // Oldest first, each once, ending with the one that it came from.
      const lineage = [...skill.record.lineage.filter((id) => id !== source), source];
      return { ...about, skill, raw: skill.record.confidence, lineage, derivedFrom: `${source}/${skill.name}` };
    }),
  );
}

/** Discounted once, from what it was worth to who proved it. */
function fromKit({ identity }: MindGround, skill: SeedKit['skills'][number]): Offered {
  const { distance, raw_confidence: raw, record } = skill;
  const lineage = record.lineage.filter((id) => id !== identity.id);
  const about = { distance, raw, lineage, derivedFrom: `library/${skill.name}`, bloodstain: record.bloodstain };
  return { ...about, skill, source: lineage.at(-1) ?? 'library', isClade: distance === 'sibling' };
}

/** One skill, and where it comes from. */
interface Offered {
  readonly skill: BundledSkill;
  /** Id of a golem. */
  readonly source: string;
  readonly distance: keyof typeof FACTORS;
  readonly raw: number;
  readonly lineage: readonly string[];
  readonly derivedFrom: string;
  readonly bloodstain: boolean;
  readonly isClade: boolean;
}

/** Whatever comes of it, a row says why. */
async function ingestSkill(ground: MindGround, offered: Offered): Promise<void> {
  const { skill, source } = offered;
  const about = { name: skill.name, source, hash: hashOf(skill) };
  const isHere = timesSeen(ground, about.hash, "outcome = 'accepted' AND stage = 'ADOPT'") > 0;
  if (isHere) return note(ground, { ...about, stage: 'ADOPT', outcome: 'accepted', reason: 'it is here already' });
  return judgeSkill(ground, offered, about);
}

async function judgeSkill(
  ground: MindGround,
  offered: Offered,
  about: Pick<Attempt, 'name' | 'source' | 'hash'>,
): Promise<void> {
  const { skill } = offered;
  const looked = lookAt(ground, skill, about.hash);
  if (!looked.ok) {
    // What its owner names may come later; the steps of a simulated world are what they are.
    const mayCome = looked.reason === 'SANDBOX' && ground.domain.id !== 'sim' && missingStep(ground, skill.skill_md);
    const outcome = mayCome ? 'held' : 'rejected';
    return note(ground, { ...about, stage: looked.reason, outcome, reason: looked.detail });
  }
  const doubt = offered.isClade ? undefined : doubtOf(skill);
  if (doubt !== undefined) {
    const reason = 'the guard finds it doubtful, as of a stranger';
    return note(ground, { ...about, stage: 'QUARANTINE', outcome: doubt, reason });
  }
  const adopted = await adopt(ground, offered);
  const outcome = adopted.ok ? 'accepted' : adopted.reason === 'guard-asks' ? 'held' : 'rejected';
  // What the guard or the secret check refuses never left quarantine.
  const isGuard = !adopted.ok && ['guard-asks', 'guard-refused', 'secret'].includes(adopted.reason);
  const reason = adopted.ok ? 'adopted' : `${adopted.reason}: ${adopted.detail.slice(0, 300)}`;
  await note(ground, { ...about, stage: isGuard ? 'QUARANTINE' : 'ADOPT', outcome, reason });
}

/** How often it came, as it is written. */
function timesSeen({ rows }: MindGround, hash: string, how: string): number {
  const sql = `SELECT count(*) AS count FROM ingestions WHERE hash = ? AND ${how}`;
  return rows.database.get<{ count: number }>(sql, hash)?.count ?? 0;
}

/** The three stages before the door. */
function lookAt(ground: MindGround, skill: BundledSkill, hash: string): Result<true, Stage> {
  const before = timesSeen(ground, hash, "outcome = 'rejected'");
  if (before >= REJECTED_FOR_GOOD) return refuse('QUARANTINE', `it was rejected ${before} times`);
  const split = splitHeader(skill.skill_md);
  if (!split.ok) return refuse('QUARANTINE', split.detail);
  return weighUp(ground, split.value.body);
}

/** What it says against what is held here, then its steps against what may be done here. */
function weighUp(ground: MindGround, body: string): Result<true, Stage> {
  const { grimoire, domain } = ground;
  const [trigger, steps] = [triggersOf(body), stepsOf(body)];
  const opinion = grimoire.opinion(trigger, steps, CERTAIN);
  if (opinion?.says === 'other')
    return refuse('CONSENSUS', `h-${opinion.entry.id} says otherwise: ${opinion.entry.text}`);
  if (domain.verifyClaim?.(body) === 'falsified') return refuse('CONSENSUS', 'it names what this domain does not have');
  return sandbox(ground, steps, trigger);
}

/** A step that this domain does not have. */
function missingStep({ domain }: MindGround, body: string): string | undefined {
  const labels = domain.candidates({ text: '', tag: '', signals: [] }).map(({ label }) => label);
  return stepsOf(body).find((step) => !labels.includes(step));
}

/** Each step must be something that this golem may do; where the domain can tell, it must not have failed each time. */
function sandbox({ domain, rows }: MindGround, steps: readonly string[], trigger: string): Result<true, Stage> {
  const candidates = domain.candidates({ text: '', tag: '', signals: [] });
  for (const step of steps) {
    const action = candidates.find(({ label }) => label === step);
    if (action === undefined) return refuse('SANDBOX', `the domain ${domain.id} has no ${step}`);
    if (domain.guard(action) === 'deny') return refuse('SANDBOX', `${step} is denied here`);
  }
  if (!domain.simulate || steps.length === 0) return ok(true);
  const acted = rows.ticks({ acted: true, limit: 200 });
  const like = acted.filter(({ observation }) => relevance(trigger, observation.text) >= 0.6);
  const told = like.flatMap(({ observation }) => domain.simulate?.(observation, steps) ?? []);
  const known = told.filter(({ verified }) => verified);
  const failed = known.length >= 3 && known.every(({ success }) => !success);
  return failed ? refuse('SANDBOX', `it would have failed each of ${known.length} times`) : ok(true);
}

async function adopt(ground: MindGround, offered: Offered): Promise<Result<void>> {
  const { source, lineage, derivedFrom, bloodstain, isClade, raw } = offered;
  const { name: called, skill_md: content, files, record } = offered.skill;
  const isThere = (name: string) => isTaken(ground, name);
  const name = isThere(called) ? skillName({ tag: called, triggers: [] }, isThere) : called;
  const text = name === called ? ok(content) : renameSkill(content, name);
  if (!text.ok) return text;
  const confidence = raw * (ground.without.has('discount') ? 1 : FACTORS[offered.distance]);
  const known = record.tags.flatMap((tag) => categoriesOf(ground, tag));
  const put = {
    ...({ createdBy: isClade ? 'agent' : 'install' } as const),
    ...{ confidence, priorConfidence: confidence, priorWeight: INHERITED_WEIGHT, lineage, derivedFrom, bloodstain },
    categories: [...new Set(known.length > 0 ? known : ground.domain.categories)],
  };
  const about = { handles: [`golem:${source}`], quote: called, record: put };
  const created = await writeSkillOf(ground, name, { action: 'create', content: text.value }, about);
  if (!created.ok) return created;
  if (files.length > 0) {
    const beside = files.map(({ path, base64 }) => ({ path, content: Buffer.from(base64, 'base64').toString() }));
    const more = await writeSkillOf(ground, name, { action: 'edit', content: text.value, files: beside }, about);
    if (!more.ok) return more;
  }
  ground.emit({ type: 'SkillIngested', name, source, confidence });
  return ok(undefined);
}

/** An own skill that a dream changed goes back into the Grimoire, through the same stages (C30). */
export async function ingestOwn(ground: MindGround, name: string): Promise<void> {
  const known = skillAt(ground, name);
  if (known === undefined) return;
  const { skill, record, steps, trigger } = known;
  const about = { name, source: 'self', hash: skill.hash };
  const looked = weighUp(ground, skill.body);
  if (!looked.ok) return note(ground, { ...about, stage: looked.reason, outcome: 'rejected', reason: looked.detail });
  await note(ground, { ...about, stage: 'ADOPT', outcome: 'accepted', reason: 'changed in a dream' });
  await ground.grimoire.add({
    ...{ kind: 'causal', confidence: REINGESTED, tag: record.categories[0] ?? 'skill', source: 'self', trigger, steps },
    text: `${trigger} is answered by ${steps.join(', ')}`,
    handles: [`skill:${name}@${record.version}`],
  });
  ground.emit({ type: 'SkillIngested', name, source: 'self', confidence: REINGESTED });
}

async function note({ rows, clock }: MindGround, attempt: Attempt): Promise<void> {
  const { name, source, hash, stage, outcome, reason } = attempt;
  // A bundle that waits for the owner is looked at by each session, and waits no more often for that.
  const same = "SELECT 1 FROM ingestions WHERE hash = ? AND outcome = 'held' AND reason = ?";
  if (outcome === 'held' && rows.database.get(same, hash, reason) !== undefined) return;
  const sql = 'INSERT INTO ingestions(at, name, source, hash, stage, outcome, reason) VALUES(?, ?, ?, ?, ?, ?, ?)';
  await rows.run(sql, clock.now(), name, source, hash, stage, outcome, reason);
}
