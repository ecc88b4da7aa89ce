// Owns validity as agentskills.io defines it: what any other tool may demand of a skill folder. Knows nothing of our own extras.
// Invariant: reads one file, never throws for what the folder holds; no finding means valid, each names the field and the mend.
import { readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { errorText } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { parseSkill } from './parse-skill.ts';
import { readYaml } from './read-yaml.ts';
import { SKILL_FILE, skillLimits } from './skill-limits.ts';
import { splitHeader } from './split-header.ts';

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
    const bytes = readFileSync(skillFile(folder));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError)
      return { rule: 'not-utf-8', message: 'SKILL.md is not UTF-8 text.', fix: 'Save it as UTF-8.' };
    const message = `There is no readable ${SKILL_FILE}: ${errorText(error)}`;
    return { rule: 'no-skill-file', message, fix: `Put a file ${SKILL_FILE} into the folder.` };
  }
}

/** The lower-case spelling is accepted where the right one is absent. */
function skillFile(folder: string): string {
  const path = join(folder, SKILL_FILE);
  return statSync(path, { throwIfNoEntry: false }) ? path : join(folder, SKILL_FILE.toLowerCase());
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
  return Object.keys(frontmatter)
    .filter((key) => !KNOWN.includes(key))
    .map((key) => ({
      rule: 'unknown-field',
      field: key,
      message: `${key} is no field of agentskills.io.`,
      fix: `Move it below metadata, or remove it. Fields: ${KNOWN.join(', ')}.`,
    }));
}

function checkName(value: JsonValue | undefined, folder: string): readonly SkillFinding[] {
  const field = 'name';
  if (value === undefined) return [missing(field)];
  const written = scalarText(value);
  if (written === undefined || written.trim() === '')
    return [{ rule: 'name-empty', field, message: 'name must be text.', fix: 'Write name: my-skill.' }];
  const name = written.trim().normalize('NFKC');
  return NAME_RULES.filter(({ breaks }) => breaks(name, folder.normalize('NFKC'))).map(({ rule, message, fix }) => ({
    rule,
    field,
    message: `${JSON.stringify(name)} ${message}`,
    fix,
  }));
}

interface NameRule {
  readonly rule: string;
  readonly breaks: (name: string, folder: string) => boolean;
  readonly message: string;
  readonly fix: string;
}

const NAME_RULES: readonly NameRule[] = [
  {
    rule: 'name-too-long',
    breaks: (name) => [...name].length > skillLimits.name,
    message: `is over ${skillLimits.name} characters.`,
    fix: 'Shorten it.',
  },
  {
    rule: 'name-case',
    breaks: (name) => name !== name.toLowerCase(),
    message: 'has upper-case letters.',
    fix: 'Write it in lower case.',
  },
  {
    rule: 'name-hyphens',
    breaks: (name) => name.startsWith('-') || name.endsWith('-') || name.includes('--'),
    message: 'begins or ends with a hyphen or has two in a row.',
    fix: 'Put single hyphens between words only.',
  },
  {
    rule: 'name-characters',
    breaks: (name) => !/^[\p{L}\p{N}-]*$/u.test(name),
    message: 'has characters other than letters, digits and hyphens.',
    fix: 'Replace them by hyphens.',
  },
  {
    rule: 'name-folder',
    breaks: (name, folder) => name !== folder,
    message: 'is not the name of its folder.',
    fix: 'Rename the folder or the skill.',
  },
];

function checkDescription(value: JsonValue | undefined): readonly SkillFinding[] {
  const field = 'description';
  if (value === undefined) return [missing(field)];
  const text = scalarText(value);
  if (text === undefined || text.trim() === '')
    return [
      {
        rule: 'description-empty',
        field,
        message: 'description must be text that is not empty.',
        fix: 'Say what the skill does and when to use it.',
      },
    ];
  return tooLong(field, text, skillLimits.description);
}

function checkOptional(frontmatter: JsonObject): readonly SkillFinding[] {
  const { compatibility, metadata, 'allowed-tools': allowed, license } = frontmatter;
  return [
    ...(license === undefined || scalarText(license) !== undefined ? [] : [wrongKind('license', 'text')]),
    ...checkCompatibility(compatibility),
    ...(metadata === undefined || metadata === null || isJsonObject(metadata)
      ? []
      : [wrongKind('metadata', 'a map of names to text')]),
    ...(allowed === undefined || isToolList(allowed) ? [] : [wrongKind('allowed-tools', 'text or a list of text')]),
  ];
}

function checkCompatibility(value: JsonValue | undefined): readonly SkillFinding[] {
  if (value === undefined) return [];
  const text = scalarText(value);
  return text === undefined
    ? [wrongKind('compatibility', 'text')]
    : tooLong('compatibility', text, skillLimits.compatibility);
}

function isToolList(value: JsonValue): boolean {
  return Array.isArray(value) ? value.every((item) => scalarText(item) !== undefined) : scalarText(value) !== undefined;
}

/** Text of any scalar: `name: 123` is a name to every reader that keeps YAML's text. An empty field is empty text. */
function scalarText(value: JsonValue): string | undefined {
  if (value === null) return '';
  return typeof value === 'object' ? undefined : String(value);
}

function missing(field: string): SkillFinding {
  return {
    rule: `${field}-missing`,
    field,
    message: `${field} is missing.`,
    fix: `Add ${field}: to the front matter.`,
  };
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
