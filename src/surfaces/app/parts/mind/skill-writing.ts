// Owns composing the door through which skills are written, with its guard. Loaded only for a write, and to mend what one left behind.
// Knows no reader but the one that locates. Invariant: one door for the home, whoever writes.
import { guardDecision } from '#mind/evidence/guard/finding.ts';
import { scanSkillFiles } from '#mind/evidence/guard/scan-skill.ts';
import { createSkillDoor, type GuardedSkillDoor, type SkillDoorOptions } from '#mind/skills/guarded-apply.ts';
import type { SkillGround } from './skill-ground.ts';

export function composeSkillDoor(
  { home, clock, database, ledger }: SkillGround,
  locate: SkillDoorOptions['locate'],
): GuardedSkillDoor {
  return createSkillDoor({
    places: { root: home.skills, backups: home.skillBackups },
    database,
    ledger,
    locate,
    guard: { scan: (files) => scanSkillFiles(files), decide: guardDecision },
    clock,
  });
}
