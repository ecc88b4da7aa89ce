// Owns reading a SKILL.md as leniently as its writers are: what YAML cannot read is mended where the intent is plain. The one file of this
// room that loads the YAML package: import it lazily. Knows no disk. Invariants: throws for no text, executes nothing, refuses with a reason
// that names the mend; no tag, anchor or key makes anything but data; a number that would not read back as it was written (1.10, 007) stays text.

import { type Document, isAlias, isScalar, parseDocument, visit } from 'yaml';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { type HeaderRefusal, skillLimits, splitHeader } from './skill-text.ts';

export type SkillParseReason = HeaderRefusal | 'empty-front-matter' | 'not-a-mapping' | 'too-large';

export interface ParsedSkill {
  readonly ok: true;
  /** The fields as written; a number that would not read back the same (1.10) is text. */
  readonly frontmatter: JsonObject;
  /** Everything below the closing fence, line ends as LF. */
  readonly body: string;
}

/** `detail`: one sentence, what is wrong and what would mend it. */
export type SkillParseRefusal = Refusal<SkillParseReason>;

/**
 * Reads one SKILL.md. A missing name or description is for `validateSkill` to say, not for this.
 * Throws a TypeError for what is no text.
 */
export function parseSkill(text: string): ParsedSkill | SkillParseRefusal {
  if (typeof text !== 'string')
    throw new TypeError('parseSkill(text): text must be a string, the whole text of a SKILL.md');
  if (text.length > skillLimits.text) {
    const size = text.length.toLocaleString('en-US');
    return refuse(
      'too-large',
      `SKILL.md has ${size} characters; at most 100,000 are read. Move detail to references/.`,
    );
  }
  const split = splitHeader(text);
  if (!split.ok) return split;
  const { header, body } = split.value;
  const frontmatter = readFields(header);
  if (Object.keys(frontmatter).length > 0) return { ok: true, frontmatter, body };
  return header.replace(/^\s*#.*$/gm, '').trim() === ''
    ? refuse('empty-front-matter', 'The front matter is empty: it needs name and description.')
    : refuse('not-a-mapping', 'The front matter has no field of the form `name: value`.');
}

/** YAML's reading where it has one; an object that came from braces in prose is not one. */
function readFields(header: string): JsonObject {
  const read = readYaml(header);
  if (read.ok && isJsonObject(read.value) && Object.keys(read.value).length > 0) return read.value;
  return mendHeader(header);
}

interface Entry {
  readonly key: string;
  /** Text after the colon on the key's line. */
  readonly first: string;
  /** Lines below it, as written. */
  readonly rest: readonly string[];
}

const FIELD = /^("[^"\n]{1,100}"|'[^'\n]{1,100}'|[A-Za-z_][\w.-]{0,99})[ \t]*:(?:[ \t]+(.*)|)$/;
/** `key:value` without a blank, never a URL. */
const TIGHT_FIELD = /^([A-Za-z_][\w.-]{0,99}):(?!\/\/)(\S.*)$/;
const DEEPEST = 4;

/** Fields of a header in any state; empty when not one field can be seen. */
function mendHeader(header: string): JsonObject {
  return mendMapping(cleanLines(header), 0);
}

/** Tabs as indentation, no-break blanks and invisible marks are what editors and copies leave behind. */
function cleanLines(header: string): readonly string[] {
  return header.split('\n').map((line) =>
    line
      .replace(/[\u200B-\u200D\u2060\uFEFF]/g, '')
      .replace(/[\u00A0\u202F\u3000]/g, ' ')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
      .replace(/[\u0000-\u0008\u000B-\u001F\u007F]/g, '')
      .replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '  '))
      .trimEnd(),
  );
}

function mendMapping(lines: readonly string[], depth: number): JsonObject {
  const fields = splitEntries(lines).map((entry) => [entry.key, readEntry(entry, depth)] as const);
  return Object.fromEntries(fields.filter(([key]) => key !== '__proto__'));
}

function splitEntries(lines: readonly string[]): readonly Entry[] {
  const entries: { key: string; first: string; rest: string[] }[] = [];
  for (const line of lines) {
    const found = FIELD.exec(line) ?? TIGHT_FIELD.exec(line);
    if (found) entries.push({ key: unquote(found[1] ?? ''), first: (found[2] ?? '').trim(), rest: [] });
    else if (!line.startsWith('#')) entries.at(-1)?.rest.push(line);
  }
  return entries;
}

function readEntry(entry: Entry, depth: number): JsonValue {
  const source = [`x: ${entry.first}`, ...entry.rest].join('\n');
  const read = readYaml(source);
  if (read.ok && isJsonObject(read.value) && Object.keys(read.value).length === 1) return read.value.x ?? null;
  const lines = entry.rest.filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  if (entry.first === '' && lines.length > 0 && depth < DEEPEST) return mendBlock(lines, depth);
  return asText(entry.first, entry.rest);
}

/** What stands indented below a key: a list, a mapping, or prose. */
function mendBlock(lines: readonly string[], depth: number): JsonValue {
  const indent = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  const block = lines.map((line) => line.slice(indent));
  if (/^- ?/.test(block[0] ?? '')) return mendList(block);
  const mapping = FIELD.test(block[0] ?? '') ? mendMapping(block, depth + 1) : {};
  return Object.keys(mapping).length > 0 ? mapping : asText('', block);
}

function mendList(block: readonly string[]): JsonValue {
  const items: string[][] = [];
  for (const line of block) {
    if (/^-(?: |$)/.test(line)) items.push([line.slice(1).trim()]);
    else items.at(-1)?.push(line);
  }
  return items.map(([first = '', ...rest]) => {
    const read = readYaml([`- ${first}`, ...rest].join('\n'));
    return read.ok && Array.isArray(read.value) ? (read.value[0] ?? null) : asText(first, rest);
  });
}

/** One field as prose: block marks and a pair of quotes around all of it go, wrapped lines are joined. */
function asText(first: string, rest: readonly string[]): string {
  const opening = /^[|>][+-]?\d?$/.test(first) ? '' : first;
  const joined = [opening, ...rest.map((line) => line.trim())].filter((line) => line !== '').join(' ');
  return unquote(joined);
}

function unquote(text: string): string {
  const quote = text[0];
  const isQuoted = text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote);
  if (isQuoted) return text.slice(1, -1).replaceAll(`\\${quote}`, quote);
  const isTorn = (quote === '"' || quote === "'") && text.split(quote).length === 2;
  return isTorn ? text.slice(1) : text;
}

/** Deeper data is cut: no skill needs it, and every reader below may recurse. */
const READ_YAML_DEEPEST = 24;
/** Aliases that are followed in one text. */
const MOST_ALIASES = 50;
/** Brackets that may be open at once: the parser recurses on them. */
const MOST_OPEN = 200;

/** `strict` refuses what the parser could read although YAML forbids it, double keys among it. */
export function readYaml(
  text: string,
  { strict = false }: { readonly strict?: boolean } = {},
): Result<JsonValue, 'invalid-yaml'> {
  if (opensTooMuch(text)) return refuse('invalid-yaml', 'It nests too deep.');
  try {
    const document = parseDocument(text, { strict, uniqueKeys: strict, prettyErrors: false, logLevel: 'silent' });
    const [error] = document.errors;
    if (error) return refuse('invalid-yaml', firstLine(error.message));
    keepWritten(document);
    return ok(plain(document.toJS({ maxAliasCount: MOST_ALIASES }), 0));
  } catch (error) {
    return refuse('invalid-yaml', firstLine(error instanceof Error ? error.message : String(error)));
  }
}

function opensTooMuch(text: string): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) open += 1;
    else if ((code === 0x5d || code === 0x7d) && open > 0) open -= 1;
    if (open > MOST_OPEN) return true;
  }
  return false;
}

function keepWritten(document: Document): void {
  visit(document, {
    Scalar(_key, node) {
      if (isAlias(node) || !isScalar(node)) return;
      const { value, source } = node;
      const isNumber = typeof value === 'number' || typeof value === 'bigint';
      if (isNumber && source !== undefined && String(value) !== source) node.value = source;
    },
  });
}

function plain(value: unknown, depth: number): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (depth >= READ_YAML_DEEPEST || value === undefined) return null;
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (typeof value !== 'object') return String(value);
  return plainObject(value, depth);
}

function plainObject(value: object, depth: number): JsonObject {
  const entries = Object.entries(value)
    .filter(([key]) => key !== '__proto__')
    .map(([key, item]) => [key, plain(item, depth + 1)] as const);
  return Object.fromEntries(entries);
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').trim();
}

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
