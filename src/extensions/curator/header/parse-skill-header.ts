// Owns the little that the curator reads of a skill's front matter: name, description, pin (curator notes 8.3). Ours reads every header
// that the agent itself can read; the original reads lines. Pure. Invariant: never throws; a pin in any spelling is honoured by ours.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { readYaml } from '#mind/skills/format/read-yaml.ts';
import { splitHeader } from '#mind/skills/format/split-header.ts';

export interface ParsedSkillHeader {
  /** null when the front matter gives none; the folder's name stands in. */
  readonly name: string | null;
  readonly description: string | null;
  readonly pinned: boolean;
  readonly frontmatter: JsonObject;
}

const UPSTREAM_HEADER = /^---[ \t]*\n((?:[^\n]*\n)*?)---[ \t]*\n/;
const UPSTREAM_PIN = /^(?:pin|pinned):[ \t]*(?:true|yes|1)[ \t]*$/im;

/**
 * Name, description, pin and fields of a SKILL.md's front matter (seed 002, "skip pinned skills"; notes 8.3). In: the file's text. Out:
 * null when it has no front matter; `name` and `description` are null when they are missing or blank. Ours reads every header that the
 * agent reads and honours a pin in any spelling; the original wants the header at the first byte with a line end behind it, and a bare
 * `pin` or `pinned` of true, yes or 1. Throws nothing.
 */
export function parseSkillHeader(text: string, options: CompatOptions = {}): ParsedSkillHeader | null {
  return options.compat === 'upstream' ? upstreamHeader(text) : ourHeader(text);
}

/** Lines only, from the first byte on, with a line end after the closing dashes. */
function upstreamHeader(text: string): ParsedSkillHeader | null {
  const header = UPSTREAM_HEADER.exec(text.replace(/\r\n?/g, '\n'))?.[1];
  if (header === undefined) return null;
  const read = readYaml(header);
  const frontmatter = read.ok && isJsonObject(read.value) ? read.value : {};
  return {
    name: lineValue(header),
    description: textOf(frontmatter.description),
    pinned: UPSTREAM_PIN.test(header),
    frontmatter,
  };
}

function lineValue(header: string): string | null {
  const written = /^name:[ \t]*(.*)$/m.exec(header)?.[1]?.trim() ?? '';
  const bare = written.replace(/^["']|["']$/g, '');
  return bare === '' ? null : bare;
}

function ourHeader(text: string): ParsedSkillHeader | null {
  const split = splitHeader(text);
  if (!split.ok) return null;
  const parsed = parseSkill(`---\n${split.value.header}\n---\n`);
  const frontmatter = parsed.ok ? parsed.frontmatter : {};
  return {
    name: textOf(frontmatter.name),
    description: textOf(frontmatter.description),
    pinned: isPinned(frontmatter) || UPSTREAM_PIN.test(split.value.header),
    frontmatter,
  };
}

function textOf(value: JsonValue | undefined): string | null {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  return text === '' ? null : text;
}

function isPinned(frontmatter: JsonObject): boolean {
  const metadata = isJsonObject(frontmatter.metadata) ? frontmatter.metadata : {};
  const ours = isJsonObject(metadata.hermes) ? metadata.hermes : {};
  return [frontmatter, metadata, ours].some(({ pin, pinned }) => [pin, pinned].some(saysYes));
}

function saysYes(value: JsonValue | undefined): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(?:true|yes|on|y|1)$/i.test(value.trim()));
}
