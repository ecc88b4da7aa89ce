// Owns gathering what a measurement rests on: versions of the door, uses and costs of state.db. Knows no verdict. Reads only.
import { costOfTurns } from '#mind/sessions/cost/turn-costs.ts';
import { allVersions, countedVersions } from '#mind/skills/door/history/version-rows.ts';
import { usedTurns, usesByVersion } from '#mind/skills/use/read-uses.ts';
import type { CuratorMind } from '../curator-ground.ts';
import { measureSkill, type SkillMeasurement } from './measure-skill.ts';

/** A version that changed the managed block alone is none here. undefined: neither a write nor a use of such a skill is known. */
export function readMeasurement({ door, state }: Pick<CuratorMind, 'door' | 'state'>, skill: string) {
  const counted = countedVersions(allVersions(state, skill));
  const versions = door.versions(skill).flatMap((one) => {
    if (counted.get(one.version) !== one.version) return [];
    return [one.parent === undefined ? one : { ...one, parent: counted.get(one.parent) ?? one.parent }];
  });
  const uses = usesByVersion(state, skill);
  if (versions.length === 0 && uses.length === 0) return undefined;
  const costs = new Map(uses.map(({ version }) => [version, costOfTurns(state, usedTurns(state, skill, version))]));
  return measureSkill({ skill, versions, uses, costs }) satisfies SkillMeasurement;
}
