// Owns mending at start-up what a killed process left of a write: each proposal that is still `writing` becomes applied with its version,
// or dropped without a trace, or edited by hand. Knows no gate. Invariants: a write that another process has in hand is left to it; doing
// it twice changes nothing (design 2: after = applied, before = dropped, neither = edited by hand, kept).
import { join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { withFileLock } from '#base/platform.ts';
import type { Decision, Proposal } from '#mind/evidence/proposal.ts';
import { listBackups, readBackup, readManifest, removeBackup, type SkillManifest, writeManifest } from './backup.ts';
import { insertRecordedVersion, markUndone, undoneBy } from './commit-change.ts';
import type { DoorParts } from './door-parts.ts';
import { clearStaging, placeSkill, returnDisplaced, skillLock, stagedWrites } from './place-skill.ts';
import { hashOfFile, hashSkillTree, readSkillTree, type SkillTree, treeOf, withFileOf } from './skill-tree.ts';
import { versionOfProposal } from './versions.ts';

const LOCK_WAIT_MS = 300;
/** After this long nobody is about to write a proposal that was only opened. */
const FORGOTTEN_MS = 600_000;
/** Newest versions whose provenance is looked at. */
const LOOKED_AT = 50;

/** Gives the proposals that were decided here. Throws TalariaError for broken I/O. */
export async function reconcileSkills(parts: DoorParts): Promise<readonly Proposal[]> {
  const decided: Proposal[] = [];
  for (const { id, target } of parts.ledger.list({ kind: 'skill', status: 'writing' })) {
    if (await mendLocked(parts, id, target)) {
      const proposal = parts.ledger.get(id);
      if (proposal) decided.push(proposal);
    }
  }
  decided.push(...(await dropForgotten(parts)));
  clearLeftovers(parts);
  await tieProvenance(parts);
  return decided;
}

/** Opened by a process that died before it began to write, or before it could say why it would not. */
async function dropForgotten({ ledger, clock }: DoorParts): Promise<readonly Proposal[]> {
  const before = clock.now() - FORGOTTEN_MS;
  const forgotten = ledger.list({ kind: 'skill', status: 'proposed' }).filter(({ createdAt }) => createdAt < before);
  for (const { id } of forgotten) await ledger.decide(id, { status: 'dropped', reason: 'interrupted' });
  return forgotten.flatMap(({ id }) => ledger.get(id) ?? []);
}

async function mendLocked(parts: DoorParts, id: string, target: string): Promise<boolean> {
  const { clock, places, ledger } = parts;
  const mend = async (): Promise<boolean> => {
    const proposal = ledger.get(id);
    if (proposal?.status !== 'writing' || proposal.path === undefined) return false;
    await mendProposal(parts, proposal, proposal.path);
    return true;
  };
  try {
    return await withFileLock(skillLock(places.root, target), mend, { clock, waitMs: LOCK_WAIT_MS });
  } catch (error) {
    if (errorCode(error) === 'locked') return false;
    throw error;
  }
}

interface FoundBackup {
  readonly stamp: string;
  readonly manifest: SkillManifest;
}

async function mendProposal(parts: DoorParts, proposal: Proposal, folder: string): Promise<void> {
  const { ledger, places } = parts;
  returnDisplaced({ root: places.root, folder, id: proposal.id });
  const tree = readSkillTree(folder);
  const now = tree.ok ? tree.value : undefined;
  const found = tree.ok ? hashSkillTree(now) : 'too-large';
  const backup = findBackup(places.backups, proposal.id);
  await ledger.decide(proposal.id, await decisionOn(parts, { proposal, folder, backup, now, found }));
  clearStaging(places.root, proposal.id);
}

interface FoundState {
  readonly proposal: Proposal;
  readonly folder: string;
  readonly backup: FoundBackup | undefined;
  readonly now: SkillTree | undefined;
  /** Hash of `now`. */
  readonly found: string | null;
}

async function decisionOn(parts: DoorParts, state: FoundState): Promise<Decision> {
  const { proposal, backup, found } = state;
  const byHand: Decision = { status: 'edited', reason: 'edited-by-hand' };
  if (found === proposal.afterHash && backup !== undefined) return mendDone(parts, { ...state, backup });
  if (found === proposal.beforeHash) return mendUndone(parts, backup);
  if (backup === undefined || !isPending(backup)) return byHand;
  return putBack(parts, { ...state, backup }) ? NOT_VERIFIED : byHand;
}

const NOT_VERIFIED: Decision = { status: 'dropped', reason: 'not-verified' };

/** Verifiers were asked and their word is not known. */
function isPending({ manifest }: FoundBackup): boolean {
  return manifest.verify.passed !== true;
}

/** The files are as they were: a backup that says why is kept. */
function mendUndone({ places }: DoorParts, backup: FoundBackup | undefined): Decision {
  if (backup?.manifest.rolled_back) {
    const stage = backup.manifest.rollback_failed_stage;
    if (typeof stage !== 'string') return NOT_VERIFIED;
    return { status: 'refused', reason: 'verify-failed', detail: `A check of the changed skill failed: ${stage}` };
  }
  if (backup) removeBackup(places.backups, backup.stamp);
  return { status: 'dropped', reason: 'interrupted' };
}

/** The files are as they were to be: the version is written up, unless nobody knows what the verifiers said. */
async function mendDone(parts: DoorParts, done: PutBack): Promise<Decision> {
  const { proposal, backup } = done;
  if (isPending(backup)) return putBack(parts, done) ? NOT_VERIFIED : { status: 'edited', reason: 'backup-not-found' };
  const { database } = parts;
  const version = await database.transaction(
    () =>
      versionOfProposal(database, proposal.id)?.version ?? insertRecordedVersion(parts, backup.manifest, backup.stamp),
  );
  markUndone(parts, undoneBy(parts, backup.manifest), version);
  return { status: 'applied' };
}

interface PutBack extends FoundState {
  readonly backup: FoundBackup;
}

/**
 * The process died while the verifiers had their say: nobody knows what they said, so the old state counts. What else was changed in the
 * folder meanwhile is kept; false: a file of the change itself was, or its copy is gone.
 */
function putBack({ places }: DoorParts, { proposal, folder, backup, now, found }: PutBack): boolean {
  const copy = join(places.backups, backup.stamp);
  const recorded = readBackup(copy, backup.manifest);
  if (!recorded.ok) return false;
  const touched = recorded.value.filter(
    ({ before, afterHash }) => (before ? sha256(before.bytes) : null) !== afterHash,
  );
  if (touched.some(({ path, afterHash }) => hashOfFile(now, path) !== afterHash)) return false;
  const old = touched.reduce((tree, file) => withFileOf(tree, file.path, file.before), now ?? treeOf([]));
  if (found === proposal.afterHash && proposal.beforeHash !== null && hashSkillTree(old) !== proposal.beforeHash)
    return false;
  const after = proposal.beforeHash === null ? undefined : old;
  clearStaging(places.root, proposal.id);
  placeSkill({ root: places.root, folder, before: now, after, id: proposal.id, stamp: backup.stamp });
  const verify = { ...backup.manifest.verify, passed: false, output: 'the process ended while the skill was verified' };
  writeManifest(copy, { ...backup.manifest, verify, rolled_back: true, rollback_reason: 'verify-failed' });
  return true;
}

function findBackup(backups: string, proposalId: string): FoundBackup | undefined {
  for (const stamp of listBackups(backups)) {
    const manifest = readManifest(join(backups, stamp));
    if (manifest.ok && manifest.value.proposal_id === proposalId) return { stamp, manifest: manifest.value };
  }
  return undefined;
}

/** What belongs to no write that is under way: staging folders of decided ones, backups that never got their manifest. */
function clearLeftovers({ places, ledger }: DoorParts): void {
  for (const id of stagedWrites(places.root)) {
    if (ledger.get(id)?.status !== 'writing') clearStaging(places.root, id);
  }
  if (ledger.list({ kind: 'skill', status: 'writing', limit: 1 }).length > 0) return;
  for (const stamp of listBackups(places.backups).slice(0, LOOKED_AT)) {
    if (!readManifest(join(places.backups, stamp)).ok) removeBackup(places.backups, stamp);
  }
}

/** A version whose write ended just before its evidence was tied to it. */
async function tieProvenance({ database, ledger }: DoorParts): Promise<void> {
  const rows = database.all<{ skill: string; version: number; proposal_id: string }>(
    'SELECT skill, version, proposal_id FROM skill_versions ORDER BY id DESC LIMIT ?',
    LOOKED_AT,
  );
  for (const { skill, version, proposal_id: id } of rows) {
    const thing = { kind: 'skill', target: skill, key: String(version) } as const;
    const isTied = ledger.why(thing).some(({ proposal }) => proposal.id === id);
    if (!isTied && ledger.get(id) !== undefined) await ledger.attach(thing, id);
  }
}
