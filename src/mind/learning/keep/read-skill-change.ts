// Owns reading the arguments that a proposal keeps back into a change for the skill door, as the tool itself reads them. Knows no door.
import type { JsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import type { SkillChange } from '#mind/skills/skill-door.ts';
import { readSkillChange as readAsked, skillManageInput } from '#mind/skills/tools/skill-manage-input.ts';

export function readSkillChange(change: JsonObject): Result<SkillChange, 'incomplete'> {
  const parsed = skillManageInput.safeParse(change);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuse(
      'incomplete',
      `${issue?.path.join('.') ?? 'arguments'}: ${issue ? issueText(issue) : 'not readable'}`,
    );
  }
  const asked = readAsked(parsed.data);
  return asked.ok ? ok(asked.value.change) : asked;
}
