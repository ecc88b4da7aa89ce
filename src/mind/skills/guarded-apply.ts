// Owns the door through which skill text is written (design 2): the proposal of each request, its lock, its end. The questions are in
// door/write-skill-change, the write itself in door/commit-change and door/place-skill. Knows no caller and no rule of the guard.
// Invariants: wholly old or wholly new after any fault; a refused or failed write leaves a decided proposal and no other trace; `guard-asks`
// leaves a pending one, which the owner accepts by the same write with its id.
// An installation reads its folder without following links out of it; it comes in whole or not at all; what was asked of the owner is lifted
// by `force`, what the guard refuses never is (core notes 2.8).

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { type Ok, ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { type Finding, guardDecision } from '#mind/evidence/guard/finding.ts';
import { scanSkillFiles } from '#mind/evidence/guard/scan-skill.ts';
import type { Decision, Proposal } from '#mind/evidence/proposal.ts';
import { commitChange } from './door/commit-change.ts';
import { type DoorParts, withSkillLock, withWarning } from './door/door-parts.ts';
import { type DiffReason, rollBack, skillDiff } from './door/history.ts';
import { reconcileSkills } from './door/reconcile-skills.ts';
import {
  entriesBelow,
  isHidden,
  type SkillFile,
  type SkillTree,
  textOf,
  tooLarge,
  treeOf,
  withFile,
} from './door/skill-tree.ts';
import { allVersions, asSkillVersion } from './door/versions.ts';
import { askGuard, locateSkill, newTarget, writeSkillChange } from './door/write-skill-change.ts';
import { parseSkill, renameSkill } from './format/parse-skill.ts';
import { SKILL_FILE, skillLimits } from './format/skill-text.ts';
import type { SkillDoor, SkillOutcome, SkillRefusal, SkillWrite, SkillWritten } from './skill.ts';
import { skillDraft } from './skill-cards.ts';
import { createSkillRecords } from './skill-records.ts';

/** The guard is the home's own when none is given. */
export type SkillDoorOptions = Omit<DoorParts, 'verifiers' | 'clock' | 'guard'> &
  Partial<Pick<DoorParts, 'verifiers' | 'clock' | 'guard'>>;

const GUARD: DoorParts['guard'] = { scan: (files) => scanSkillFiles(files), decide: guardDecision };

/** The door, and what of it is more than a tool or a review may do. */
export interface GuardedSkillDoor extends SkillDoor {
  /** Call once at start-up, before anything is read: mends what a killed process left. Gives what was decided. */
  reconcile(): Promise<readonly Proposal[]>;
  /** Unified text; version 0 is what stood there before the first known write. */
  diff(skill: string, range: { readonly from: number; readonly to: number }): Promise<Result<string, DiffReason>>;
}

export function createSkillDoor(options: SkillDoorOptions): GuardedSkillDoor {
  const parts: DoorParts = { verifiers: [], clock: systemClock, guard: GUARD, ...options };
  return {
    write: async (request, signal) => mirrored(parts, await write(parts, request, signal)),
    install: async (request, signal) => mirrored(parts, await install(parts, request, signal)),
    rollback: async (target, given) => mirrored(parts, await rollBack(parts, target, given)),
    versions: (skill) => allVersions(parts.database, skill).map((row) => asSkillVersion(row, parts.places.backups)),
    reconcile: () => reconcileSkills(parts),
    diff: (skill, range) => skillDiff(parts, skill, range),
  };
}

async function write(parts: DoorParts, request: SkillWrite, signal?: AbortSignal): Promise<SkillOutcome> {
  const proposal = await proposalOf(parts, request);
  if (!request.approved) {
    const refusal = refuse('approval-required', `Changing ${request.name} needs an approval.`);
    return proposal.status === 'pending' ? { ...refusal, proposalId: proposal.id } : conclude(parts, proposal, refusal);
  }
  const work = () => writeSkillChange(parts, request, proposal, signal);
  return settled(parts, proposal, () => withSkillLock(parts, request.name, work, signal));
}

async function install(
  parts: DoorParts,
  request: Parameters<SkillDoor['install']>[0],
  signal?: AbortSignal,
): Promise<SkillOutcome> {
  const ready = readInstall(request);
  const { from, source, force } = request;
  const name = ready.ok ? ready.value.name : (request.name ?? from);
  const proposal = await parts.ledger.open({
    kind: 'skill',
    actor: actorOf(request),
    target: name,
    action: 'install',
    change: { action: 'install', name, from, source, category: request.category ?? '', force: force ?? false },
    citations: [],
  });
  if (!ready.ok) return conclude(parts, proposal, ready);
  if (!request.approved)
    return conclude(parts, proposal, refuse('approval-required', `Installing ${name} needs an approval.`));
  return settled(parts, proposal, async () => {
    const more = await doubtsOf(parts, request, ready.value, signal);
    return withSkillLock(parts, name, () => installTree(parts, proposal, request, { ...ready.value, more }), signal);
  });
}

/** `.usage.json` is derived: that it could not be written is a warning, and the next write mends it. */
async function mirrored<T extends Ok<SkillWritten> | Refusal>(
  { database, places, clock }: DoorParts,
  done: T,
): Promise<T> {
  if (!done.ok) return done;
  const records = createSkillRecords({ database, root: places.root, clock });
  const made = await records.mirror().catch((error: unknown) => {
    return refuse('unwritten', `.usage.json is not up to date: ${errorText(error)}`);
  });
  return made.ok ? done : withWarning(done, made.detail);
}

/** The proposal that was opened before, or a new one for this write. */
async function proposalOf({ ledger }: DoorParts, request: SkillWrite): Promise<Proposal> {
  if (request.proposalId === undefined) return ledger.open(skillDraft(request));
  const known = ledger.get(request.proposalId);
  if (known) return known;
  throw new TalariaError(`there is no proposal ${request.proposalId}`, { code: 'no-such-proposal' });
}

/** Runs `work` and sees to it that the proposal does not stay open, whatever happens. */
async function settled(parts: DoorParts, proposal: Proposal, work: () => Promise<SkillOutcome>): Promise<SkillOutcome> {
  let done: SkillOutcome;
  try {
    done = await work();
  } catch (error) {
    const { status } = parts.ledger.get(proposal.id) ?? proposal;
    if (status === 'proposed')
      await parts.ledger.decide(proposal.id, { status: 'dropped', reason: 'write-failed', detail: errorText(error) });
    throw error;
  }
  return done.ok ? done : conclude(parts, proposal, done);
}

/** Refused for good, or left to the owner when the guard asks. */
async function conclude(parts: DoorParts, { id }: Proposal, refusal: SkillRefusal): Promise<SkillRefusal> {
  const { reason, detail } = refusal;
  const status: Decision['status'] = reason === 'guard-asks' ? 'pending' : 'refused';
  if (refusal.proposalId === undefined) await parts.ledger.decide(id, { status, reason, detail });
  return { ...refusal, proposalId: id };
}

const MAX_DEPTH = 12;

type InstallRequest = Parameters<SkillDoor['install']>[0];

interface ReadyToInstall {
  readonly name: string;
  readonly tree: SkillTree;
}

/** Reads the folder and finds the name that it will have; under another name than its own its header says that name too. */
function readInstall(
  request: InstallRequest,
): Result<ReadyToInstall, 'target-not-found' | 'outside-folder' | 'too-large' | 'invalid-skill'> {
  const tree = readOutside(request.from);
  if (!tree.ok) return tree;
  const text = textOf(tree.value.get(SKILL_FILE));
  if (text === undefined) return refuse('invalid-skill', `${request.from} has no ${SKILL_FILE} in UTF-8.`);
  const parsed = parseSkill(text);
  if (!parsed.ok) return refuse(parsed.reason === 'too-large' ? 'too-large' : 'invalid-skill', parsed.detail);
  const written = String(parsed.frontmatter.name ?? '').trim();
  const name = request.name ?? (written || basename(request.from));
  // What is imported stays as it was; its folder has the name.
  if (written === '' || written === name || request.source === 'import') return ok({ name, tree: tree.value });
  const renamed = renameSkill(text, name);
  return renamed.ok ? ok({ name, tree: withFile(tree.value, SKILL_FILE, Buffer.from(renamed.value)) }) : renamed;
}

/** What the judge has against a stranger's skill; before the lock, since a model takes its time. */
async function doubtsOf(
  { guard }: DoorParts,
  { source, force, judge }: InstallRequest,
  { name, tree }: ReadyToInstall,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  if (source !== 'community' || force === true || judge === undefined) return [];
  const texts = [...tree].flatMap(([path, file]) => ({ path, text: textOf(file) ?? '' }));
  const report = await guard.scan([...tree.values()]);
  const { secondOpinion } = await import('#mind/evidence/guard/second-opinion.ts');
  return secondOpinion(judge, { name, report, files: texts }, signal);
}

/** Under the skill's lock. */
async function installTree(
  parts: DoorParts,
  { id: proposalId }: Proposal,
  request: InstallRequest,
  { name, tree, more }: ReadyToInstall & { readonly more: readonly Finding[] },
): Promise<SkillOutcome> {
  const { source, category = '', force = false } = request;
  const isTaken = (await locateSkill(parts, name)) !== undefined;
  const target = newTarget(parts, name, category, isTaken);
  if (!target.ok) return target;
  // An import is what this owner's other agent wrote.
  const guarded = source === 'import' ? 'agent' : source;
  const passed = await askGuard(parts.guard, { tree, source: guarded, isAccepted: force, more });
  if (!passed.ok) return passed;
  return commitChange(parts, {
    ...{ name, folder: target.value.folder, before: undefined, after: tree, proposalId },
    made: { actor: actorOf(request), action: 'install', source },
    verifiers: parts.verifiers,
    warnings: passed.warnings,
  });
}

function actorOf({ source }: InstallRequest): 'import' | 'install' {
  return source === 'import' ? 'import' : 'install';
}

function readOutside(from: string): Result<SkillTree, 'target-not-found' | 'outside-folder' | 'too-large'> {
  let home: string;
  try {
    home = realpathSync(from);
    if (!statSync(home).isDirectory()) return refuse('target-not-found', `${from} is no folder.`);
  } catch (error) {
    return refuse('target-not-found', `${from} cannot be read: ${errorText(error)}`);
  }
  try {
    return readFiles(home, from);
  } catch (error) {
    throw new TalariaError(`cannot read ${from}: ${errorText(error)}`, { code: 'read-failed', cause: error });
  }
}

function readFiles(home: string, from: string): Result<SkillTree, 'outside-folder' | 'too-large'> {
  const files: SkillFile[] = [];
  // Hidden names, and links to folders, stay behind.
  for (const { path } of entriesBelow(home, isHidden, MAX_DEPTH)) {
    const file = readOne(home, path);
    if (!file.ok) return file;
    if (file.value) files.push(file.value);
    if (tooLarge(files)) return refuse('too-large', `${from} has too many or too large files for a skill.`);
  }
  return ok(treeOf(files));
}

/** Undefined for what is no file: a pipe, a link to a folder. */
function readOne(home: string, path: string): Result<SkillFile | undefined, 'outside-folder' | 'too-large'> {
  const real = realpathSync(join(home, path));
  if (!real.startsWith(home + sep)) return refuse('outside-folder', `${path} is a link out of the folder.`);
  const stats = statSync(real);
  const { size, mode } = stats;
  if (!stats.isFile()) return ok(undefined);
  const limit = path === SKILL_FILE ? skillLimits.text * 4 : skillLimits.supportBytes;
  if (size > limit)
    return refuse(
      'too-large',
      `${path} has ${size.toLocaleString('en-US')} bytes, over ${limit.toLocaleString('en-US')}.`,
    );
  return ok({ path, bytes: readFileSync(real), executable: (mode & 0o100) !== 0 });
}
