// Owns the sizes and shapes that a skill must keep (core notes 2.6, agentskills.io). Numbers only.

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';

/** Folders of a skill that may hold supporting files. */
export const SUPPORT_FOLDERS = ['references', 'templates', 'scripts', 'assets'] as const;
export type SupportFolder = (typeof SUPPORT_FOLDERS)[number];

export const skillLimits = {
  /** Characters of a name. */
  name: 64,
  /** Characters of a description that anybody wrote. */
  description: 1_024,
  /** Characters of a description that our own tool writes: the index shows no more. */
  ownDescription: 60,
  /** Characters of `compatibility`. */
  compatibility: 500,
  /** Characters of SKILL.md. */
  text: 100_000,
  /** Bytes of one supporting file. */
  supportBytes: 1_048_576,
} as const;

/** Names that our own tool writes (core notes 2.6); agentskills.io is narrower, see `validateSkill`. */
export const SKILL_NAME = /^[a-z0-9][a-z0-9._-]*$/;
