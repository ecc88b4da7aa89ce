// Owns asking the verifiers of one write that is in place, and whether one of them wrote into the skill. Knows no backup.
// Invariant: a state counts only when it is, after all were asked, byte for byte the one that was put in place.
import { join } from 'node:path';
import { SKILL_FILE } from '../../format/skill-limits.ts';
import { MANIFEST_FILE } from '../backup/skill-manifest.ts';
import type { Commit } from '../commit.ts';
import {
  changesBetween,
  hashOfSkillFile,
  hashSkillTree,
  readSkillTree,
  type SkillTree,
  textOf,
} from '../skill-tree.ts';
import { runVerifiers, type Verified } from './run-verifiers.ts';
import type { VerifierRequest } from './verifier.ts';

export type Asked = Verified;

/** Name of the stage that says so. */
const UNCHANGED = 'folder-unchanged';
const SHOWN = 5;

/** `backup` is the absolute folder of the backup. */
export async function askVerifiers(commit: Commit, backup: string): Promise<Asked> {
  const asked = await runVerifiers(commit.verifiers, requestOf(commit, backup));
  const drift = driftOf(commit);
  if (drift === undefined) return asked;
  const failure = `${UNCHANGED}: ${drift}`;
  // What a verifier said of it first is the better reason.
  const stage = { name: UNCHANGED, passed: false, exit_code: 1, output: drift };
  const stages = [...(asked.verify.stages ?? []), stage];
  if (!asked.passed) return { ...asked, failure: `${asked.failure}; ${failure}`, verify: { ...asked.verify, stages } };
  const verify = { ...asked.verify, passed: false, exit_code: 1, output: drift, stages, failed_stage: UNCHANGED };
  return { passed: false, failure, verify };
}

/** Says in the refusal and in the stage where the change that somebody made meanwhile lies now. */
export function namingArchive({ passed, failure, verify }: Asked, archive: string): Asked {
  const where = `; ${keptText(archive)}`;
  const stages = (verify.stages ?? []).map((stage) =>
    stage.name === UNCHANGED ? { ...stage, output: stage.output + where } : stage,
  );
  const output = verify.failed_stage === UNCHANGED ? verify.output + where : verify.output;
  return { passed, failure: failure + where, verify: { ...verify, stages, output } };
}

export function keptText(archive: string): string {
  return `what stood there then is kept in ${archive}`;
}

function requestOf({ folder, before, after }: Commit, backup: string): VerifierRequest {
  const text = (tree: SkillTree | undefined) => textOf(tree?.get(SKILL_FILE)) ?? null;
  const originalHash = hashOfSkillFile(before);
  return {
    path: folder,
    before: text(before),
    after: text(after),
    backupPath: originalHash === null ? null : join(backup, SKILL_FILE),
    manifestPath: join(backup, MANIFEST_FILE),
    originalHash,
    newHash: hashOfSkillFile(after),
  };
}

function driftOf({ folder, after }: Commit): string | undefined {
  const now = readSkillTree(folder);
  if (!now.ok) return now.detail;
  if (hashSkillTree(now.value) === hashSkillTree(after)) return undefined;
  const paths = changesBetween(after, now.value).map(({ path }) => path);
  const more = paths.length > SHOWN ? ' …' : '';
  return `the skill was changed while it was checked: ${paths.slice(0, SHOWN).join(', ')}${more}`;
}
