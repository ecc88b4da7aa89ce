// Owns reading a SKILL.md as leniently as its writers are: what YAML cannot read is mended where the intent is plain. Loads the YAML
// package: import it lazily. Knows no disk. Invariant: throws for no text, executes nothing, and refuses with a reason that names
// the mend.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { mendHeader } from './mend-header.ts';
import { readYaml } from './read-yaml.ts';
import { skillLimits } from './skill-limits.ts';
import { type HeaderRefusal, splitHeader } from './split-header.ts';

export type SkillParseReason = HeaderRefusal | 'empty-front-matter' | 'not-a-mapping' | 'too-large';

export interface ParsedSkill {
  readonly ok: true;
  /** The fields as written; a number that would not read back the same (1.10) is text. */
  readonly frontmatter: JsonObject;
  /** Everything below the closing fence, line ends as LF. */
  readonly body: string;
}

export interface SkillParseRefusal {
  readonly ok: false;
  readonly reason: SkillParseReason;
  /** One sentence: what is wrong and what would mend it. */
  readonly detail: string;
}

/**
 * Reads one SKILL.md. A missing name or description is for `validateSkill` to say, not for this.
 * Throws a TypeError for what is no text.
 */
export function parseSkill(text: string): ParsedSkill | SkillParseRefusal {
  if (typeof text !== 'string')
    throw new TypeError('parseSkill(text): text must be a string, the whole text of a SKILL.md');
  if (text.length > skillLimits.text) {
    const size = text.length.toLocaleString('en-US');
    return refusal(
      'too-large',
      `SKILL.md has ${size} characters; at most 100,000 are read. Move detail to references/.`,
    );
  }
  const split = splitHeader(text);
  if (!split.ok) return refusal(split.reason, split.detail);
  const { header, body } = split.value;
  const frontmatter = readFields(header);
  if (Object.keys(frontmatter).length > 0) return { ok: true, frontmatter, body };
  return header.replace(/^\s*#.*$/gm, '').trim() === ''
    ? refusal('empty-front-matter', 'The front matter is empty: it needs name and description.')
    : refusal('not-a-mapping', 'The front matter has no field of the form `name: value`.');
}

/** YAML's reading where it has one; an object that came from braces in prose is not one. */
function readFields(header: string): JsonObject {
  const read = readYaml(header);
  if (read.ok && isJsonObject(read.value) && Object.keys(read.value).length > 0) return read.value;
  return mendHeader(header);
}

function refusal(reason: SkillParseReason, detail: string): SkillParseRefusal {
  return { ok: false, reason, detail };
}
