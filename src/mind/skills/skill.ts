// Owns what a skill is to every reader: its header, its place, its record. Knows no file format and no tool.
// Invariant: plain readonly data; `skills`, the curator, the fleet and every surface read skills through `SkillReader`.
import type { Result } from '#base/result.ts';

/** Where a skill comes from; decides what the guard lets through. */
export type SkillSource = 'builtin' | 'trusted' | 'community' | 'agent' | 'owner' | 'external';

export type SkillStatus = 'draft' | 'active' | 'flagged' | 'retired';

export interface SkillHeader {
  /** `^[a-z0-9][a-z0-9._-]*$`, at most 64 characters when written by us; as found otherwise. */
  readonly name: string;
  readonly description: string;
  /** Path below the skills folder without the skill's own, e.g. `data`; empty when there is none. */
  readonly category: string;
  readonly tags: readonly string[];
  readonly whenToUse: string;
  readonly version: string;
  /** Restrictions; empty: none. */
  readonly platforms: readonly string[];
  readonly requiresTools: readonly string[];
  readonly requiresToolsets: readonly string[];
  readonly fallbackForTools: readonly string[];
  readonly fallbackForToolsets: readonly string[];
  readonly environmentVariables: readonly string[];
}

export interface Skill extends SkillHeader {
  /** Absolute folder. */
  readonly folder: string;
  readonly source: SkillSource;
  /** False for external directories and for what was installed read-only. */
  readonly writable: boolean;
  /** SHA-256 hex of SKILL.md as it stands. */
  readonly hash: string;
  readonly body: string;
  /** Whole SKILL.md. */
  readonly text: string;
}

/** The record beside a skill (hierarchy notes D2): one store for the agent, the curator and the fleet. */
export interface SkillRecord {
  readonly name: string;
  /** Who made it: `agent` is the licence that unattended writers need. */
  readonly createdBy: 'agent' | 'owner' | 'import' | 'install';
  readonly status: SkillStatus;
  readonly pinned: boolean;
  /** 0 to 1. */
  readonly confidence: number;
  readonly validatedCount: number;
  readonly improvedCount: number;
  readonly viewCount: number;
  readonly useCount: number;
  readonly successCount: number;
  readonly failureCount: number;
  /** -0.5 to 0.5: what the fleet says it contributed. */
  readonly attribution: number;
  readonly bloodstain: boolean;
  /** Ids of the golems it passed through, oldest first. */
  readonly lineage: readonly string[];
  readonly version: number;
  readonly parentVersion?: number;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastUsedAt?: number;
}

export interface SkillReader {
  /** Every skill that can be read, local ones first; of two with one name the local one, then the first by path. */
  list(): readonly Skill[];
  get(name: string): Skill | undefined;
  /** Absent for a skill without a record: it is the owner's. */
  record(name: string): SkillRecord | undefined;
  /** A file of the skill's folder as text. Never leaves the folder, also not by a link. */
  file(name: string, path: string): Result<string, 'no-such-skill' | 'no-such-file' | 'outside-folder' | 'not-text'>;
}
