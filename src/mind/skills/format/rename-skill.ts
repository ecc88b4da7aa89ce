// Owns giving a SKILL.md another name: the value of its `name` line, and nothing else. Knows no disk.
// Invariant: read again, the renamed text differs in its name alone; where that cannot be had by changing one line, it is refused.
import { canonicalJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { parseSkill } from './parse-skill.ts';

const NAME_LINE = /^(name[ \t]*:)[^\r\n]*/m;

export function renameSkill(text: string, name: string): Result<string, 'invalid-skill'> {
  const refused = () =>
    refuse(
      'invalid-skill' as const,
      `Its header cannot be given the name ${name} by changing one line: mend "name:" first.`,
    );
  const before = parseSkill(text);
  if (!before.ok) return refused();
  const renamed = text.replace(NAME_LINE, (_, key: string) => `${key} ${name}`);
  const after = parseSkill(renamed);
  if (!after.ok || after.body !== before.body) return refused();
  const same = canonicalJson({ ...before.frontmatter, name }) === canonicalJson(after.frontmatter);
  return same ? ok(renamed) : refused();
}
