/** Public entry `talaria/skills`: read a SKILL.md, judge a skill folder by agentskills.io, scan what a skill holds. */

export type { Finding, ScanReport, SkillText } from '#mind/evidence/guard/finding.ts';
export { scanSkill } from '#mind/evidence/guard/scan-skill.ts';
export {
  type ParsedSkill,
  parseSkill,
  type SkillParseReason,
  type SkillParseRefusal,
} from '#mind/skills/format/parse-skill.ts';
export { type SkillFinding, type SkillValidity, validateSkill } from '#mind/skills/format/validate-skill.ts';
