// Owns gathering what a measurement rests on: versions of the door, uses and costs of state.db. Knows no verdict. Reads only.
import { costOfTurns } from '#mind/sessions/cost/turn-costs.ts';
import { usedTurns, usesByVersion } from '#mind/skills/use/read-uses.ts';
import type { CuratorMind } from '../curator-ground.ts';
import { measureSkill, type SkillMeasurement } from './measure-skill.ts';

/** undefined: neither a write nor a use of such a skill is known. */
export function readMeasurement({ door, state }: Pick<CuratorMind, 'door' | 'state'>, skill: string) {
  const versions = door.versions(skill);
  const uses = usesByVersion(state, skill);
  if (versions.length === 0 && uses.length === 0) return undefined;
  const costs = new Map(uses.map(({ version }) => [version, costOfTurns(state, usedTurns(state, skill, version))]));
  return measureSkill({ skill, versions, uses, costs }) satisfies SkillMeasurement;
}
