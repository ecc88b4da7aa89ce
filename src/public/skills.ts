/** Public entry `talaria/skills`: read a SKILL.md, judge a skill folder by agentskills.io. */
export {
  type ParsedSkill,
  parseSkill,
  type SkillParseReason,
  type SkillParseRefusal,
} from '#mind/skills/format/parse-skill.ts';
export { type SkillFinding, type SkillValidity, validateSkill } from '#mind/skills/format/validate-skill.ts';
