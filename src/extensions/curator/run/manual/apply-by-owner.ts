// Owns the guarded apply that the owner types (seed 002, guarded apply; curator notes 11). Knows no surface. Invariants: the order of the
// gates is approval, target, hash; the write is the door's, with the owner as its actor and the same verifiers as an unattended one.
import { basename, dirname, join } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Verifier } from '#mind/skills/door/verify/verifier.ts';
import type { Skill } from '#mind/skills/skill.ts';
import type { CuratorGround, CuratorMind } from '../../curator-ground.ts';
import { realOf } from '../real-path.ts';
import type { ApplyResult } from '../run-outcome.ts';
import { writeSkill } from '../write/write-skill.ts';

export interface ApplyOrder {
  /** Absolute path of SKILL.md. */
  readonly target: string;
  readonly content: string;
  /** SHA-256 hex that the target has now. */
  readonly expectedHash: string;
  /** Absolute. */
  readonly backupDir: string;
  readonly approved: boolean;
  readonly verifiers: readonly Verifier[];
}

export async function applyByOwner(
  { ground, mind }: { readonly ground: CuratorGround; readonly mind: CuratorMind },
  order: ApplyOrder,
  signal: AbortSignal,
): Promise<ApplyResult> {
  const { target, content, expectedHash, backupDir, approved, verifiers } = order;
  if (!approved)
    return { applied: false, reason: 'approval-required', detail: 'Add --approve to write it.', target_path: target };
  if (mind.state.readOnly)
    return { applied: false, reason: 'home-newer', detail: 'A newer Talaria wrote this home; update this one first.' };
  const skill = await localTarget({ ground, mind }, target, signal);
  if (!skill.ok) return { applied: false, reason: skill.reason, detail: skill.detail, target_path: target };
  const { name, folder } = skill.value;
  const result = await writeSkill(
    {
      ...{ ground, door: mind.door, backupDir, skills: mind.skills.list().map((one) => one.name) },
      drillStatePath: join(backupDir, 'restore-drill-state.json'),
    },
    {
      target: join(folder, 'SKILL.md'),
      request: {
        ...{ name, change: { action: 'edit', content }, actor: 'owner', approved, verifiers },
        expectedHash: expectedHash.trim().toLowerCase(),
        trail: { source: 'owner' },
      },
    },
    signal,
  );
  if (result.applied) await mind.skills.refresh(signal);
  return result;
}

/** `path`: absolute. */
async function localTarget(
  { ground, mind }: { readonly ground: CuratorGround; readonly mind: CuratorMind },
  path: string,
  signal: AbortSignal,
): Promise<Result<Skill, 'target-not-found'>> {
  await mind.skills.ready(signal);
  const real = realOf(path);
  const folder = basename(dirname(path));
  const near = mind.skills.list().filter((skill) => skill.writable && basename(skill.folder) === folder);
  const skill = near.find((one) => real !== undefined && realOf(join(one.folder, 'SKILL.md')) === real);
  if (skill !== undefined) return ok(skill);
  const { skills } = ground.places;
  return refuse(
    'target-not-found',
    `${path} is no SKILL.md of a skill in ${skills}. Only those are written; \`talaria import\` or \`talaria skills install\` brings a skill there.`,
  );
}
