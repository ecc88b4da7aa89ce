// Owns bringing MEMORY.md, USER.md and the skills of a hermes-agent home, each through its one door. Knows no lock, no limit and no guard: the doors
// decide. Invariants: entries are added and skills installed, never replaced; what a door refuses is named with its reason; what did not fit, and
// what the owner did not agree to, waits for him; a use record is taken over once, also when an earlier import was stopped before it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseTime } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { errorText } from '#base/errors.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { ellipsize } from '#base/text.ts';
import { createPendingFiles } from '#mind/evidence/gate/pending-files.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import type { MemoryTarget } from '#mind/memory/memory-files.ts';
import { normalizeEntry, parseEntries } from '#mind/memory/memory-files.ts';
import { makeCopyFolder, removeCopies } from '#mind/sessions/transfer/copy-database.ts';
import { changesBetween, readSkillTree } from '#mind/skills/door/skill-tree.ts';
import { createSkillDoor } from '#mind/skills/guarded-apply.ts';
import type { SkillDoor, SkillRecord, SkillRefusal, SkillStatus } from '#mind/skills/skill.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import { homeAt } from '../home/home.ts';
import { type FoundSkill, findSkills, readUsage } from './import-hermes.ts';
import type { ImportPlace, Outcome } from './import-report.ts';

const FILES: readonly (readonly [MemoryTarget, string])[] = [
  ['memory', 'MEMORY.md'],
  ['user', 'USER.md'],
];

const MOST_BYTES = 4_000_000;

interface Entry {
  readonly target: MemoryTarget;
  readonly name: string;
  readonly entry: string;
}

export async function importMemories(place: ImportPlace): Promise<void> {
  for (const [target, name] of FILES) {
    const path = join(place.from, 'memories', name);
    const entries = existsSync(path) ? readEntries(place, path) : [];
    const fresh = entries.filter((entry) => entryStanding(place, { target, name, entry }) === undefined);
    const shown = fresh.map((entry) => `+ ${entry}`);
    const isAgreed = place.dryRun || fresh.length === 0 || (await place.agrees(name, shown));
    for (const entry of entries) {
      const outcome = await bringEntry(place, { target, name, entry }, isAgreed);
      place.report.tell('memories', `"${ellipsize(entry.replaceAll('\n', ' '), 50)}"`, outcome);
    }
  }
}

function readEntries({ report }: ImportPlace, path: string): readonly string[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readRegular(path, MOST_BYTES));
    return [...new Set(parseEntries(text).entries.map(normalizeEntry))];
  } catch (error) {
    report.tell('memories', path, { left: errorText(error), broken: true });
    return [];
  }
}

/** Undefined: nothing is known of it here. */
function entryStanding({ doors }: ImportPlace, { target, entry }: Entry): Outcome | undefined {
  const state = doors.memory.read(target);
  if (state.ok && state.value.entries.includes(entry)) return 'here';
  const isOpen = doors.proposals
    .list({ kind: 'memory', actor: 'import' })
    .filter(({ status }) => status === 'pending' || status === 'rejected')
    .some((proposal) => proposal.target === target && proposal.change.content === entry);
  return isOpen ? { left: 'it waits, or was turned down: `talaria pending list`' } : undefined;
}

async function bringEntry(place: ImportPlace, { target, name, entry }: Entry, isAgreed: boolean): Promise<Outcome> {
  const known = entryStanding(place, { target, name, entry });
  if (known !== undefined) return known;
  if (place.dryRun) return 'taken';
  if (!isAgreed) {
    await keepWaiting(place, { target, entry }, ['needs-owner', 'Nobody agreed to it at import.']);
    return { left: 'you did not agree to it; it waits: `talaria pending list`' };
  }
  const how = { actor: 'import', signal: place.signal } as const;
  const added = await place.doors.memory.apply(target, [{ action: 'add', content: entry }], how);
  if (added.ok) return 'taken';
  if (added.reason !== 'over_limit') return { left: `${added.reason}: ${ellipsize(added.detail, 120)}` };
  await keepWaiting(place, { target, entry }, ['over_limit', 'The file was full at import.']);
  return { left: `${name} is full; it waits: \`talaria pending list\`` };
}

async function keepWaiting(
  { doors: { proposals }, home }: ImportPlace,
  { target, entry }: Pick<Entry, 'target' | 'entry'>,
  [reason, detail]: readonly [reason: string, detail: string],
): Promise<void> {
  const change = { action: 'add', target, content: entry };
  const draft = { kind: 'memory', actor: 'import', target, action: 'add', change, citations: [] } as const;
  const { id } = await proposals.open(draft);
  await proposals.decide(id, { status: 'pending', reason, detail });
  const waiting = proposals.get(id);
  if (waiting) createPendingFiles(home.pending).put(waiting);
}

// Skills, and what the side-car of hermes-agent says of their use.

/** A door, and the ledger that it writes to. */
interface JudgingDoor {
  readonly proposals: Pick<ProposalLedger, 'get' | 'decide'>;
  readonly door: SkillDoor;
}

const CATEGORIES = 'what a category says of itself is no skill; copy it by hand if you want it';

/** `accepted`: names of skills that the owner has read and wants although the guard asks. */
export async function importSkills(place: ImportPlace, accepted: readonly string[]): Promise<void> {
  const { report, dryRun, doors, signal } = place;
  const found = lookAt(place, join(place.from, 'skills'));
  if (found === undefined) return;
  const { skills, archived, described, usage } = found;
  if (described.length > 0)
    report.tell('other files', `DESCRIPTION.md of ${described.join(', ')}`, { left: CATEGORIES });
  if (archived > 0) report.tell('skills', `${archived} archived`, { left: 'they were put away there' });
  if (skills.length === 0) return;
  const rehearsal = dryRun ? openRehearsal(place) : undefined;
  try {
    for (const skill of skills) {
      signal.throwIfAborted();
      const bringing = { skill, usage: usage.get(skill.name), force: accepted.includes(skill.name) };
      await bringSkill(place, rehearsal ?? doors, bringing);
    }
  } finally {
    rehearsal?.end();
  }
  if (!dryRun) await doors.skillRecords().mirror();
}

function lookAt({ report }: ImportPlace, root: string) {
  try {
    return { ...findSkills(root), usage: readUsage(root) };
  } catch (error) {
    report.tell('skills', 'skills', { left: errorText(error), broken: true });
    return undefined;
  }
}

/** The door of a dry run: the real one, with its guard, over a folder and a database that are thrown away. */
function openRehearsal({ home, clock, doors }: ImportPlace): JudgingDoor & { end(): void } {
  const folder = makeCopyFolder(home.cache);
  const { skills: root, skillBackups: backups } = homeAt(folder);
  const rooms = [evidenceSchema, skillSchema];
  const { database } = openDatabase(join(folder, 'rehearsal.db'), { rooms, clock });
  const ledger = createProposalLedger({ database, clock });
  // A name that is taken here is judged as taken.
  const locate = async (name: string) => doors.skills.get(name);
  return {
    proposals: ledger,
    door: createSkillDoor({ places: { root, backups }, locate, database, ledger, clock }),
    end: () => {
      database.close();
      removeCopies(folder);
    },
  };
}

interface Bringing {
  readonly skill: FoundSkill;
  readonly usage: JsonObject | undefined;
  readonly force: boolean;
}

async function bringSkill(place: ImportPlace, judging: JudgingDoor, bringing: Bringing): Promise<void> {
  const { report, doors } = place;
  const { skill } = bringing;
  const present = doors.skills.get(skill.name);
  if (present === undefined) await installSkill(place, judging, bringing);
  else if (!isSame(skill.folder, present.folder))
    report.tell('skills', skill.name, { left: 'another skill has its name here, and stays' });
  else {
    report.tell('skills', skill.name, 'here');
    await takeUsage(place, skill.name, bringing.usage);
  }
}

async function installSkill(place: ImportPlace, judging: JudgingDoor, bringing: Bringing): Promise<void> {
  const { report, signal } = place;
  const { skill, usage, force } = bringing;
  const { folder: from, name, category } = skill;
  const request = { from, name, ...(category ? { category } : {}), source: 'import', approved: true, force } as const;
  const installed = await judging.door.install(request, signal);
  if (!installed.ok) {
    const left = await refusalOf(judging, name, installed);
    report.tell('skills', name, installed.reason === 'invalid-skill' ? { left, broken: true } : { left });
    return;
  }
  report.tell('skills', installed.value.name, 'taken');
  for (const warning of installed.value.warnings) report.note(`skill ${installed.value.name}: ${warning}`);
  await takeUsage(place, installed.value.name, usage);
}

const LONGEST = 300;

/** The door leaves what the guard asks about to the owner; here the answer is a run with `--accept`, so nothing has to wait. */
async function refusalOf({ proposals }: JudgingDoor, name: string, refusal: SkillRefusal): Promise<string> {
  const { reason, detail, proposalId } = refusal;
  const said = ellipsize(`${reason}: ${detail}`, LONGEST);
  if (reason !== 'guard-asks') return said;
  const waits = proposalId !== undefined && proposals.get(proposalId)?.status === 'pending';
  if (waits) await proposals.decide(proposalId, { status: 'refused', reason, detail });
  return `${said} Read it, then run this again with --accept ${name}.`;
}

function isSame(theirs: string, ours: string): boolean {
  const [there, here] = [readSkillTree(theirs), readSkillTree(ours)];
  return there.ok && here.ok && changesBetween(there.value, here.value).length === 0;
}

/** Counts come once: a record that has uses of its own, or another maker, is left as it is. */
async function takeUsage({ doors, dryRun }: ImportPlace, name: string, usage: JsonObject | undefined): Promise<void> {
  const records = doors.skillRecords();
  const record = records.get(name);
  if (dryRun || usage === undefined || record === undefined || record.createdBy !== 'import') return;
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
