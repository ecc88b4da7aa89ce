// Owns the built-in verifier of a SKILL.md (seed 002, skill_validate; curator notes 14). Pure: the bytes come in as read. Knows neither
// marker order nor size: that is the structural stage.
import { basename } from 'node:path';
import { isJsonObject } from '#base/json.ts';
import { countOf, END_MARKER, START_MARKER } from '#mind/skills/format/managed-block.ts';
import { readYaml } from '#mind/skills/format/read-yaml.ts';
import { headerFault } from './header-fault.ts';
import { headerOf } from './structural-check.ts';

export interface SkillFileInput {
  readonly path: string;
  /** null: there is no file at the path. */
  readonly bytes: Uint8Array | null;
  /** Why there are no bytes although something is there. */
  readonly fault?: string;
}

export interface SkillFileVerdict {
  readonly path: string;
  readonly ok: boolean;
  readonly name: string | null;
  readonly description_present: boolean;
  readonly auto_block_count: number;
  readonly errors: readonly string[];
}

export interface SkillFilesVerdict {
  /** False too when nothing was checked. */
  readonly ok: boolean;
  readonly checked: number;
  readonly target_from_env: boolean;
  readonly results: readonly SkillFileVerdict[];
}

export function validateSkillFiles(files: readonly SkillFileInput[], targetFromEnv = false): SkillFilesVerdict {
  const results = files.map(validateSkillFile);
  const ok = results.length > 0 && results.every((result) => result.ok);
  return { ok, checked: results.length, target_from_env: targetFromEnv, results };
}

export function validateSkillFile({ path, bytes, fault = 'file-not-found' }: SkillFileInput): SkillFileVerdict {
  const named = basename(path) === 'SKILL.md' ? [] : ['file-name-not-skill-md'];
  if (bytes === null) return verdict(path, null, [fault]);
  const text = decode(bytes);
  if (text === undefined) return verdict(path, null, [...named, 'not-utf-8']);
  const read = readFields(text);
  const errors = [...named, ...(text.includes('\0') ? ['contains-nul'] : []), ...read.errors, ...markerErrors(text)];
  return { ...verdict(path, read, errors), auto_block_count: countOf(text, START_MARKER) };
}

interface Fields {
  readonly name: string | null;
  readonly described: boolean;
  readonly errors: readonly string[];
}

function verdict(path: string, fields: Fields | null, errors: readonly string[]): SkillFileVerdict {
  return {
    path,
    ok: errors.length === 0,
    name: fields?.name ?? null,
    description_present: fields?.described ?? false,
    auto_block_count: 0,
    errors,
  };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function readFields(text: string): Fields {
  if (!text.startsWith('---')) return { name: null, described: false, errors: ['missing-frontmatter'] };
  const header = headerOf(text);
  if (header === undefined) return { name: null, described: false, errors: ['unclosed-frontmatter'] };
  const fault = headerFault(header);
  if (fault !== null) return { name: null, described: false, errors: [fault] };
  const read = readYaml(header);
  const fields = read.ok && isJsonObject(read.value) ? read.value : undefined;
  if (fields === undefined) return { name: null, described: false, errors: ['frontmatter-not-mapping'] };
  const [name, description] = [fields.name, fields.description].map((value) =>
    typeof value === 'string' && value.trim() !== '' ? value : null,
  );
  const errors = [...(name === null ? ['missing-name'] : []), ...(description === null ? ['missing-description'] : [])];
  return { name: name ?? null, described: description !== null, errors };
}

function markerErrors(text: string): readonly string[] {
  const starts = countOf(text, START_MARKER);
  const ends = countOf(text, END_MARKER);
  return [
    ...(starts === ends ? [] : [`unbalanced-managed-block-markers:${starts}!=${ends}`]),
    ...(starts > 1 ? [`duplicate-managed-block:${starts}`] : []),
  ];
}

/** The text form: one line a file. */
export function skillFilesText({ ok, checked, results }: SkillFilesVerdict): string {
  if (checked === 0) return 'Nothing to check: no SKILL.md was found.';
  const lines = results.map((one) => `${one.ok ? '✓' : '✗'} ${one.path}${one.ok ? '' : `: ${one.errors.join(', ')}`}`);
  const bad = results.filter((one) => !one.ok).length;
  return [...lines, ok ? `${checked} checked, all in order` : `${checked} checked, ${bad} with faults`].join('\n');
}
