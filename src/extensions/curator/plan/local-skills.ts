// Owns which of the found skills a name means (curator notes 8.3). Pure. Invariant: archives, backups and the hub's own folder hold no
// skills; of two with one name the later path wins, whatever the order of the input.
import { comparePoints } from '#base/text/code-points.ts';
import type { PlanningSkill } from './planned-skill.ts';

const NOT_SKILLS = new Set(['.archive', '.curator_backups', '.hub']);

export function localSkills(found: readonly PlanningSkill[]): ReadonlyMap<string, PlanningSkill> {
  const split = found.map((skill) => ({ skill, parts: skill.path.split(/[\\/]/) }));
  const live = split.filter(({ parts }) => !parts.some((part) => NOT_SKILLS.has(part)));
  live.sort((a, b) => compareParts(a.parts, b.parts) || comparePoints(a.skill.text, b.skill.text));
  return new Map(live.map(({ skill }) => [skill.name, skill]));
}

/** Folder by folder, as paths compare in the original's language. */
function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = comparePoints(a[at] ?? '', b[at] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
