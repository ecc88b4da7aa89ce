// Owns validity as agentskills.io defines it: what any other tool may demand of a skill folder.
import { readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { errorText } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { parseSkill, readYaml } from './parse-skill.ts';
import { SKILL_FILE, skillLimits, splitHeader } from './skill-text.ts';

export interface SkillFinding {
  /** Stable name of the rule, e.g. `name-characters`. */
  readonly rule: string;
  /** The field it is about; absent when it is the file or the folder. */
  readonly field?: string;
  /** What is wrong. */
  readonly message: string;
  /** What mends it. */
  readonly fix: string;
}

export interface SkillValidity {
  readonly valid: boolean;
  readonly findings: readonly SkillFinding[];
}

const KNOWN = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'];

/** Judges the skill in `folder`. */
export function validateSkill(folder: string): SkillValidity {
  const read = readSkillFile(resolve(folder));
  const findings = typeof read === 'string' ? validateSkillText(read, basename(resolve(folder))) : [read];
  return { valid: findings.length === 0, findings };
}

/** As `validateSkill` for text that has no folder yet; `folder` is the name it will have. */
export function validateSkillText(text: string, folder: string): readonly SkillFinding[] {
  const parsed = parseSkill(text);
  if (!parsed.ok) return [{ rule: parsed.reason, message: 'SKILL.md cannot be read.', fix: parsed.detail }];
  const { frontmatter } = parsed;
  return [
    ...checkYaml(text),
    ...checkKeys(frontmatter),
    ...checkName(frontmatter.name, folder),
    ...checkDescription(frontmatter.description),
    ...checkOptional(frontmatter),
  ];
}

function readSkillFile(folder: string): string | SkillFinding {
  try {
    if (!statSync(folder).isDirectory())
      return { rule: 'no-folder', message: `${folder} is no folder.`, fix: 'Give the folder that holds SKILL.md.' };
    const path = join(folder, SKILL_FILE);
    // The lower-case spelling is accepted where the right one is absent.
    const file = statSync(path, { throwIfNoEntry: false }) ? path : join(folder, SKILL_FILE.toLowerCase());
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof TypeError)
      return { rule: 'not-utf-8', message: 'SKILL.md is not UTF-8 text.', fix: 'Save it as UTF-8.' };
    const message = `There is no readable ${SKILL_FILE}: ${errorText(error)}`;
    return { rule: 'no-skill-file', message, fix: `Put a file ${SKILL_FILE} into the folder.` };
  }
}

/** What our own reader mends, other readers may refuse. */
function checkYaml(text: string): readonly SkillFinding[] {
  const fix = 'Begin the file with ---, write the fields as YAML (quote text with colons), close them with ---.';
  const split = splitHeader(text);
  if (!split.ok || split.value.unclosed || !/^\uFEFF?---/.test(text))
    return [
      { rule: 'fences', message: 'The front matter is not between two lines of --- at the top of the file.', fix },
    ];
  const read = readYaml(split.value.header, { strict: true });
  if (read.ok && isJsonObject(read.value)) return [];
  const why = read.ok ? 'it is no mapping' : read.detail;
  return [{ rule: 'invalid-yaml', message: `The front matter is not valid YAML: ${why}`, fix }];
}

function checkKeys(frontmatter: JsonObject): readonly SkillFinding[] {
  const fix = `Move it below metadata, or remove it. Fields: ${KNOWN.join(', ')}.`;
  return Object.keys(frontmatter)
    .filter((key) => !KNOWN.includes(key))
    .map((key) => ({ rule: 'unknown-field', field: key, message: `${key} is no field of agentskills.io.`, fix }));
}

function checkName(value: JsonValue | undefined, folder: string): readonly SkillFinding[] {
  const field = 'name';
  if (value === undefined) return [missing(field)];
  const written = scalarText(value);
  if (written === undefined || written.trim() === '')
    return [{ rule: 'name-empty', field, message: 'name must be text.', fix: 'Write name: my-skill.' }];
  const name = written.trim().normalize('NFKC');
  return NAME_RULES.filter(([, breaks]) => breaks(name, folder.normalize('NFKC'))).map(([rule, , wrong, fix]) => ({
    rule,
    field,
    message: `${JSON.stringify(name)} ${wrong}`,
    fix,
  }));
}

type NameRule = readonly [rule: string, breaks: (name: string, folder: string) => boolean, wrong: string, fix: string];

const NAME_RULES: readonly NameRule[] = [
  [
    'name-too-long',
    (name) => [...name].length > skillLimits.name,
    `is over ${skillLimits.name} characters.`,
    'Shorten it.',
  ],
  ['name-case', (name) => name !== name.toLowerCase(), 'has upper-case letters.', 'Write it in lower case.'],
  [
    'name-hyphens',
    (name) => /^-|-$|--/.test(name),
    'begins or ends with a hyphen or has two in a row.',
    'Put single hyphens between words only.',
  ],
  [
    'name-characters',
    (name) => !/^[\p{L}\p{N}-]*$/u.test(name),
    'has characters other than letters, digits and hyphens.',
    'Replace them by hyphens.',
  ],
  [
    'name-folder',
    (name, folder) => name !== folder,
    'is not the name of its folder.',
    'Rename the folder or the skill.',
  ],
];

function checkDescription(value: JsonValue | undefined): readonly SkillFinding[] {
  const field = 'description';
  if (value === undefined) return [missing(field)];
  const text = scalarText(value);
  const message = 'description must be text that is not empty.';
  if (text === undefined || text.trim() === '')
    return [{ rule: 'description-empty', field, message, fix: 'Say what the skill does and when to use it.' }];
  return tooLong(field, text, skillLimits.description);
}

function checkOptional(frontmatter: JsonObject): readonly SkillFinding[] {
  const { compatibility = '', metadata = null, 'allowed-tools': allowed = '', license = '' } = frontmatter;
  const text = scalarText(compatibility);
  const isText = (value: JsonValue) => scalarText(value) !== undefined;
  return [
    ...(isText(license) ? [] : [wrongKind('license', 'text')]),
    ...(text === undefined
      ? [wrongKind('compatibility', 'text')]
      : tooLong('compatibility', text, skillLimits.compatibility)),
    ...(metadata === null || isJsonObject(metadata) ? [] : [wrongKind('metadata', 'a map of names to text')]),
    ...((Array.isArray(allowed) ? allowed.every(isText) : isText(allowed))
      ? []
      : [wrongKind('allowed-tools', 'text or a list of text')]),
  ];
}

/** Text of any scalar: `name: 123` is a name to every reader that keeps YAML's text. An empty field is empty text. */
function scalarText(value: JsonValue): string | undefined {
  if (value === null) return '';
  return typeof value === 'object' ? undefined : String(value);
}

function missing(field: string): SkillFinding {
  const fix = `Add ${field}: to the front matter.`;
  return { rule: `${field}-missing`, field, message: `${field} is missing.`, fix };
}

function wrongKind(field: string, kind: string): SkillFinding {
  return { rule: `${field}-kind`, field, message: `${field} must be ${kind}.`, fix: `Write ${field} as ${kind}.` };
}

function tooLong(field: string, text: string, limit: number): readonly SkillFinding[] {
  const size = [...text].length;
  if (size <= limit) return [];
  const message = `${field} has ${size} characters; the limit is ${limit}.`;
  return [{ rule: `${field}-too-long`, field, message, fix: 'Shorten it; detail belongs into the body.' }];
}
