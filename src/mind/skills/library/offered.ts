// Owns when a skill is offered: platform, tools and toolsets that it needs or stands in for (core notes 2.7). Pure.
import { platformName } from '../format/read-header.ts';
import type { SkillHeader, SkillRecord } from '../skill.ts';

/** The surroundings of one session. */
export interface SkillConditions {
  /** `process.platform` or its common name. */
  readonly platform: string;
  /** Names of the tools that can be called. */
  readonly tools: ReadonlySet<string>;
  readonly toolsets: ReadonlySet<string>;
}

/** False when it cannot work here, or when what it stands in for is there. */
export function isOffered(header: SkillHeader, { platform, tools, toolsets }: SkillConditions): boolean {
  if (header.platforms.length > 0 && !header.platforms.includes(platformName(platform))) return false;
  if (!header.requiresTools.every((name) => tools.has(name))) return false;
  if (!header.requiresToolsets.every((name) => toolsets.has(name))) return false;
  return ![
    ...header.fallbackForTools.map((name) => tools.has(name)),
    ...header.fallbackForToolsets.map((name) => toolsets.has(name)),
  ].some(Boolean);
}

/** Drafts wait for the owner's yes and retired skills have had their time: neither is offered. */
export function isStanding(record: SkillRecord | undefined): boolean {
  return record?.status !== 'draft' && record?.status !== 'retired';
}
