// Owns which of the home's skills a typed path means. Knows no door. Invariant: only a SKILL.md that truly lies in the local skills folder
// is a target; every other file is somebody else's.
import { basename, dirname, join } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Skill } from '#mind/skills/skill.ts';
import type { CuratorGround, CuratorMind } from '../../curator-ground.ts';
import { realOf } from '../real-path.ts';

/** `path`: absolute. */
export async function localTarget(
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
