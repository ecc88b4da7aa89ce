// Owns bringing skills through the one door, and their use record beside them. Knows no guard: the door decides.
// Invariants: a skill of ours is never replaced; what the door refuses is named with what it found; the record is taken over once, also
// when an earlier import was stopped between the skill and its record.
import { join } from 'node:path';
import { parseTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { changesBetween, readSkillTree } from '#mind/skills/door/skill-tree.ts';
import type { SkillRecords } from '#mind/skills/record/skill-records.ts';
import type { SkillReader, SkillRecord, SkillStatus } from '#mind/skills/skill.ts';
import type { SkillDoor, SkillRefusal } from '#mind/skills/skill-door.ts';
import { type FoundSkill, findSkills, readUsage } from './hermes/find-skills.ts';
import type { ImportPlace } from './import-place.ts';

export interface SkillDoors extends JudgingDoor {
  /** The same judgement over a folder that is thrown away: what a dry run asks. */
  readonly rehearse: () => Promise<Rehearsal>;
  readonly reader: SkillReader;
  readonly records: Pick<SkillRecords, 'get' | 'put' | 'mirror'>;
}

/** A door, and the ledger that it writes to. */
export interface JudgingDoor {
  readonly ledger: Pick<ProposalLedger, 'get' | 'decide'>;
  readonly door: SkillDoor;
}

export interface Rehearsal extends JudgingDoor {
  end(): void;
}

/** `accepted`: names of skills that the owner has read and wants although the guard asks. */
export async function importSkills(place: ImportPlace, doors: SkillDoors, accepted: readonly string[]): Promise<void> {
  const root = join(place.from, 'skills');
  const found = lookAt(place, root);
  if (found === undefined) return;
  const { skills, archived, described } = found;
  if (described.length > 0) place.report.left('other files', `DESCRIPTION.md of ${described.join(', ')}`, CATEGORIES);
  if (archived > 0) place.report.left('skills', `${archived} archived`, 'they were put away there');
  if (skills.length === 0) return;
  const bringing = skills.map((skill) => {
    return { skill, usage: found.usage.get(skill.name), force: accepted.includes(skill.name) };
  });
  if (place.dryRun) await rehearse(place, doors, bringing);
  else {
    await bringSkills(place, doors, bringing);
    await doors.records.mirror();
  }
}

async function rehearse(place: ImportPlace, doors: SkillDoors, bringing: readonly Bringing[]): Promise<void> {
  const rehearsal = await doors.rehearse();
  try {
    await bringSkills(place, { ...doors, ...rehearsal }, bringing);
  } finally {
    rehearsal.end();
  }
}

async function bringSkills(place: ImportPlace, doors: SkillDoors, bringing: readonly Bringing[]): Promise<void> {
  for (const one of bringing) {
    place.signal.throwIfAborted();
    await bringSkill(place, doors, one);
  }
}

const CATEGORIES = 'what a category says of itself is no skill; copy it by hand if you want it';

function lookAt({ report }: ImportPlace, root: string) {
  try {
    return { ...findSkills(root), usage: readUsage(root) };
  } catch (error) {
    report.broken('skills', 'skills', errorText(error));
    return undefined;
  }
}

interface Bringing {
  readonly skill: FoundSkill;
  readonly usage: JsonObject | undefined;
  readonly force: boolean;
}

async function bringSkill(place: ImportPlace, doors: SkillDoors, bringing: Bringing): Promise<void> {
  const present = doors.reader.get(bringing.skill.name);
  if (present === undefined) await installSkill(place, doors, bringing);
  else await meetSkill(place, doors, { ...bringing, folder: present.folder });
}

/** One of this name is here. */
async function meetSkill(
  { report, dryRun }: ImportPlace,
  doors: SkillDoors,
  { skill, usage, folder }: Bringing & { readonly folder: string },
): Promise<void> {
  if (isSame(skill.folder, folder)) {
    report.same('skills', skill.name);
    if (!dryRun) await takeUsage(doors, skill.name, usage);
  } else report.left('skills', skill.name, 'another skill has its name here, and stays');
}

async function installSkill(place: ImportPlace, doors: SkillDoors, { skill, usage, force }: Bringing): Promise<void> {
  const { report, dryRun, signal } = place;
  const request = {
    from: skill.folder,
    name: skill.name,
    ...(skill.category ? { category: skill.category } : {}),
    source: 'import',
    approved: true,
    force,
  } as const;
  const installed = await doors.door.install(request, signal);
  if (!installed.ok) {
    const tell = installed.reason === 'invalid-skill' ? report.broken : report.left;
    tell('skills', skill.name, await refusalOf(doors, skill.name, installed));
    return;
  }
  report.took('skills', installed.value.name);
  for (const warning of installed.value.warnings) report.note(`skill ${installed.value.name}: ${warning}`);
  if (!dryRun) await takeUsage(doors, installed.value.name, usage);
}

/** The door leaves what the guard asks about to the owner; here the answer is a run with `--accept`, so nothing has to wait. */
async function refusalOf({ ledger }: JudgingDoor, name: string, refusal: SkillRefusal): Promise<string> {
  const { reason, detail, proposalId } = refusal;
  if (reason !== 'guard-asks') return ellipsize(`${reason}: ${detail}`, LONGEST);
  const waits = proposalId !== undefined && ledger.get(proposalId)?.status === 'pending';
  if (waits) await ledger.decide(proposalId, { status: 'refused', reason, detail });
  return `${ellipsize(`${reason}: ${detail}`, LONGEST)} Read it, then run this again with --accept ${name}.`;
}

const LONGEST = 300;

function isSame(theirs: string, ours: string): boolean {
  const [there, here] = [readSkillTree(theirs), readSkillTree(ours)];
  return there.ok && here.ok && changesBetween(there.value, here.value).length === 0;
}

/** Counts come once: a record that has uses of its own, or another maker, is left as it is. */
async function takeUsage({ records }: SkillDoors, name: string, usage: JsonObject | undefined): Promise<void> {
  const record = records.get(name);
  if (usage === undefined || record === undefined || record.createdBy !== 'import') return;
  if (record.useCount + record.viewCount > 0 || record.pinned) return;
  const next = withUsage(record, usage);
  if (JSON.stringify(next) !== JSON.stringify(record)) await records.put(next);
}

const STATES: Readonly<Record<string, SkillStatus>> = { active: 'active', stale: 'flagged', archived: 'retired' };

function withUsage(record: SkillRecord, usage: JsonObject): SkillRecord {
  const lastUsedAt = timeOf(usage.last_used_at);
  return {
    ...record,
    createdBy: usage.created_by === 'agent' ? 'agent' : 'import',
    status: STATES[String(usage.state)] ?? record.status,
    pinned: usage.pinned === true,
    useCount: countOf(usage.use_count),
    viewCount: countOf(usage.view_count),
    createdAt: timeOf(usage.created_at) ?? record.createdAt,
    ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
  };
}

function countOf(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
}

/** ISO text, or epoch seconds. */
function timeOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return Math.round(value * 1000);
  return typeof value === 'string' ? parseTime(value) : undefined;
}
