// Owns what stands between a request and its commit: may this actor, is it the text that was meant, is the result a skill, what does
// the guard say. Knows no disk but what it reads. Invariant: nothing is written before every question has its answer; a refusal names
// what would mend it (curator notes 11.1, core notes 2.6).
import { basename, join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Proposal } from '#mind/evidence/proposal.ts';
import { folderBelow, recordOfFolder } from '../record/record-of-folder.ts';
import { findRecord } from '../record/record-rows.ts';
import type { SkillRefusal, SkillWrite } from '../skill-door.ts';
import { askGuard } from './ask-guard.ts';
import { changeSkill } from './change-skill.ts';
import type { Committed } from './commit.ts';
import { commitChange } from './commit-change.ts';
import type { DoorParts, LocatedSkill } from './door-parts.ts';
import { judgeSkill } from './judge-skill.ts';
import { locateSkill } from './locate-skill.ts';
import { checkCategory, checkNoLink, checkNoLinks, checkSkillName } from './skill-paths.ts';
import { hashOfSkillFile, readSkillTree, type SkillTree } from './skill-tree.ts';

/** Actors that write while nobody looks on. */
const UNATTENDED: readonly string[] = ['review', 'flush', 'curator', 'dream'];

/** What stands on disk under the name, and where the change goes. */
interface Target {
  readonly folder: string;
  readonly before: SkillTree | undefined;
}

/** Under the skill's lock. `proposal` as it stood before. */
export async function writeSkillChange(
  parts: DoorParts,
  { request, proposal }: { readonly request: SkillWrite; readonly proposal: Proposal },
  signal?: AbortSignal,
): Promise<Committed> {
  const found = await locateSkill(parts, request.name);
  const forbidden = await checkActor(parts, request, found);
  if (forbidden) return forbidden;
  const target = findTarget(parts, request, found);
  if (!target.ok) return target;
  const { folder, before } = target.value;
  const stale = checkHash(request, before);
  if (stale) return stale;
  const changed = changeSkill(before, request.change);
  if (!changed.ok) return changed;
  const inside = checkNoLinks(parts.places.root, folder, changed.paths);
  if (!inside.ok) return inside;
  const warnings = await examine(parts, { request, proposal, target: target.value, changed });
  if (!warnings.ok) return warnings;
  if (signal) throwIfAborted(signal);
  const { actor } = proposal;
  return commitChange(parts, {
    name: request.name,
    folder,
    before,
    after: changed.after,
    proposalId: proposal.id,
    made: { actor, action: request.change.action, source: actor, ...(request.trail ? { trail: request.trail } : {}) },
    verifiers: [...parts.verifiers, ...(request.verifiers ?? [])],
    warnings: warnings.value,
  });
}

/** An unattended writer touches only what an agent made and the owner did not pin, and says what a deleted skill went into. */
async function checkActor(
  parts: DoorParts,
  { name, change, actor }: SkillWrite,
  found: LocatedSkill | undefined,
): Promise<SkillRefusal | undefined> {
  if (!UNATTENDED.includes(actor) || change.action === 'create') return undefined;
  const { database, places } = parts;
  const record = found
    ? recordOfFolder(database, { name, folder: folderBelow(places.root, found.folder) })
    : findRecord(database, name);
  if (record?.created_by !== 'agent')
    return refuse(
      'not-agent-made',
      `${name} was not made by the agent; only its owner, or the agent with the owner's word, changes it.`,
    );
  if (record.pinned === 1) return refuse('read-only', `${name} is pinned.`);
  if (change.action !== 'delete') return undefined;
  const into = change.absorbedInto;
  if (into !== undefined && into !== name && (await locateSkill(parts, into)) !== undefined) return undefined;
  return refuse(
    'target-not-found',
    `Deleting ${name} needs absorbed_into, the name of a skill that holds what it said.`,
  );
}

function findTarget(
  parts: DoorParts,
  { name, change }: SkillWrite,
  found: LocatedSkill | undefined,
): { readonly ok: true; readonly value: Target } | SkillRefusal {
  if (change.action === 'create')
    return newTarget(parts, name, { category: change.category ?? '', isTaken: found !== undefined });
  if (found === undefined)
    return refuse('target-not-found', `There is no skill ${JSON.stringify(name.slice(0, 80))}; see skills_list.`);
  if (!found.writable)
    return refuse(
      'read-only',
      `${name} lies in ${found.folder}, which is read-only here. Copy it under another name to change it.`,
    );
  const inside = checkNoLink(parts.places.root, found.folder, '');
  if (!inside.ok) return inside;
  const before = readSkillTree(found.folder);
  if (!before.ok) return before;
  if (before.value === undefined) return refuse('target-not-found', `The folder of ${name} is gone.`);
  return ok({ folder: found.folder, before: before.value });
}

/** Where a new skill goes: a folder that is not there yet, under a name that no other skill has. */
export function newTarget(
  { places }: DoorParts,
  name: string,
  { category, isTaken }: { readonly category: string; readonly isTaken: boolean },
): Result<Target, 'invalid-name' | 'name-taken' | 'outside-folder' | 'too-large'> {
  const checked = checkSkillName(name);
  if (!checked.ok) return checked;
  const below = checkCategory(category);
  if (!below.ok) return below;
  const folder = join(places.root, below.value, name);
  const inside = checkNoLink(places.root, folder, '');
  if (!inside.ok) return inside;
  const there = readSkillTree(folder);
  if (!there.ok) return there;
  if (isTaken || there.value !== undefined)
    return refuse('name-taken', `There is a skill ${name} already; patch it, or choose another name.`);
  return ok({ folder, before: undefined });
}

function checkHash(
  { expectedHash, actor, change, name }: SkillWrite,
  before: SkillTree | undefined,
): SkillRefusal | undefined {
  if (change.action === 'create') return undefined;
  if (expectedHash === undefined) {
    if (!UNATTENDED.includes(actor)) return undefined;
    return refuse(
      'hash-mismatch',
      `An unattended change of ${name} must name the hash of the SKILL.md that it was made for.`,
    );
  }
  const current = hashOfSkillFile(before);
  if (current === expectedHash) return undefined;
  return refuse(
    'hash-mismatch',
    `${name} was ${current === null ? 'deleted' : 'edited'} since this change was made for it; read it again.`,
  );
}

interface Examined {
  readonly request: SkillWrite;
  readonly proposal: Proposal;
  readonly target: Target;
  readonly changed: { readonly after: SkillTree | undefined; readonly paths: readonly string[] };
}

/** Gives the warnings to pass on. */
async function examine(
  { guard }: DoorParts,
  { request, proposal, target, changed }: Examined,
): Promise<{ readonly ok: true; readonly value: readonly string[] } | SkillRefusal> {
  const { after, paths } = changed;
  const { action } = request.change;
  if (after === undefined || action === 'remove_file') return ok([]);
  const folder = basename(target.folder);
  const judged = await judgeSkill({ name: request.name, folder, action, paths, before: target.before, after });
  if (!judged.ok) return judged;
  const isAccepted = proposal.status === 'pending' && proposal.reason === 'guard-asks';
  const source = request.actor === 'owner' ? 'owner' : 'agent';
  const passed = await askGuard(guard, { tree: after, source, isAccepted });
  return passed.ok ? ok([...judged.warnings, ...passed.warnings]) : passed;
}
