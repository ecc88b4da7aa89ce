// Owns reading front matter that is no YAML but whose intent is plain: colons and hashes in unquoted text, text after a closing quote,
// brackets that are prose, tabs, lines that lost their indentation. Field by field: one broken field spoils no other.
// Invariant: never throws; linear but for what the YAML reader does; a field is YAML's reading of it, else its text.
import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { readYaml } from './read-yaml.ts';

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
export function mendHeader(header: string): JsonObject {
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
