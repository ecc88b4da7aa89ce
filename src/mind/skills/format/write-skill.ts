// Owns the one form in which we write SKILL.md: fields in a fixed order, text quoted where YAML or a careless reader could misread it.
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { normalizeText, oneLine } from '#base/text.ts';
import { skillLimits } from './skill-text.ts';

export interface SkillFields {
  readonly name: string;
  /** At most 60 characters when our tool writes it (`ownDescription`), else 1,024. */
  readonly description: string;
  /** Markdown below the front matter. */
  readonly body: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools?: string;
  /** Kept under `metadata`, e.g. version and author. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Kept under `metadata.hermes`, e.g. tags, platforms, requires_toolsets. Empty lists are left out. */
  readonly hermes?: Readonly<Record<string, readonly string[]>>;
}

export type WriteSkillReason = 'invalid-name' | 'description-too-long' | 'invalid-skill' | 'too-large';

/** The whole text of SKILL.md. `longest`: of the description, in characters. */
export function writeSkill(
  fields: SkillFields,
  longest: number = skillLimits.description,
): Result<string, WriteSkillReason> {
  const description = oneLine(fields.description);
  const refused = refuseFields(fields, description, longest);
  if (refused) return refused;
  const lines = [
    `name: ${fields.name}`,
    `description: ${scalar(description)}`,
    ...optional('license', fields.license),
    ...optional('compatibility', fields.compatibility),
    ...optional('allowed-tools', fields.allowedTools),
    ...metadataLines(fields),
  ];
  const text = `---\n${lines.join('\n')}\n---\n\n${normalizeText(fields.body)}\n`;
  if (text.length > skillLimits.text)
    return refuse('too-large', `SKILL.md would have ${text.length} characters; the limit is ${skillLimits.text}.`);
  return ok(text);
}

function refuseFields(
  { name, body, compatibility = '' }: SkillFields,
  description: string,
  longest: number,
): Refusal<WriteSkillReason> | undefined {
  // Our names and those of agentskills.io at once: no dots, no underscores, no edge or double hyphens.
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || name.length > skillLimits.name)
    return refuse(
      'invalid-name',
      `"${name}" is no skill name: 1 to ${skillLimits.name} lower-case letters, digits and single hyphens, e.g. "csv-import".`,
    );
  if (description === '') return refuse('invalid-skill', 'The description is empty.');
  const size = [...description].length;
  if (size > longest)
    return refuse('description-too-long', `The description has ${size} characters; at most ${longest} are shown.`);
  if ([...compatibility].length > skillLimits.compatibility)
    return refuse('invalid-skill', `compatibility is over ${skillLimits.compatibility} characters.`);
  return body.trim() === '' ? refuse('invalid-skill', 'The skill has no text below its front matter.') : undefined;
}

function optional(key: string, value = ''): readonly string[] {
  const text = oneLine(value);
  return text === '' ? [] : [`${key}: ${scalar(text)}`];
}

function metadataLines({ metadata = {}, hermes = {} }: SkillFields): readonly string[] {
  const plain = Object.entries(metadata).map(([key, value]) => `  ${scalar(key)}: ${quoted(value)}`);
  const lists = Object.entries(hermes).filter(([, list]) => list.length > 0);
  const ours = lists.map(([key, list]) => `    ${scalar(key)}: [${list.map(quoted).join(', ')}]`);
  const lines = [...plain, ...(ours.length > 0 ? ['  hermes:', ...ours] : [])];
  return lines.length === 0 ? [] : ['metadata:', ...lines];
}

/** Bare where no reader can take it for anything but text, else in double quotes. */
function scalar(text: string): string {
  const isSafe =
    /^[\p{L}][\p{L}\p{N} ,.;()/'-]*$/u.test(text) && !/\s$|^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isSafe ? text : quoted(text);
}

/** JSON text is YAML text; the separators that YAML counts as line ends are escaped too. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007F-\u009F\u2028\u2029\uFEFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
