// Owns what the library knows of a guard: a word about the folder of one skill. Knows no rule and no policy; both are injected.
// Invariant: plain data; a skill without a word is shown to nobody.

/** `allow`: offered. `ask`: offered, with the finding beside it. `refuse`: not offered. */
export type JudgeWord = 'allow' | 'ask' | 'refuse';

export interface SkillJudgement {
  readonly word: JudgeWord;
  /** One line for a person: what was found, and where; empty for nothing. */
  readonly finding: string;
}

export interface SkillJudge {
  /** Another version may say something else of the same files. */
  readonly version: string;
  /** Reads the skill's folder, and nothing outside of it. Throws what the file system throws. */
  judge(folder: string): Promise<SkillJudgement>;
}
