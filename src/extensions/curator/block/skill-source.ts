// Owns the little that the curator reads of a skill's front matter, and where the skill comes from, so whether an unattended writer may touch it
// (seed 002, provenance gate; curator notes 8.3, 9).
import { isAbsolute, join, normalize, relative, sep } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { splitHeader } from '#mind/skills/format/skill-text.ts';
import { UPSTREAM_PIN, upstreamHeader } from './upstream.ts';

export interface ParsedSkillHeader {
  /** null when the front matter gives none; the folder's name stands in. */
  readonly name: string | null;
  readonly description: string | null;
  readonly pinned: boolean;
  readonly frontmatter: JsonObject;
}

/**
 * Name, description, pin and fields of a SKILL.md's front matter (seed 002, "skip pinned skills"; notes 8.3). In: the file's text. Out:
 * null when it has no front matter; `name` and `description` are null when they are missing or blank. Ours reads every header that the
 * agent reads and honours a pin in any spelling; the original wants the header at the first byte with a line end behind it, and a bare
 * `pin` or `pinned` of true, yes or 1. Throws nothing.
 */
export function parseSkillHeader(text: string, options: CompatOptions = {}): ParsedSkillHeader | null {
  const read = options.compat === 'upstream' ? upstreamHeader(text) : ourHeader(text);
  if (read === undefined) return null;
  return { ...read, name: textOf(read.name), description: textOf(read.frontmatter.description) };
}

function ourHeader(text: string) {
  const split = splitHeader(text);
  if (!split.ok) return undefined;
  const parsed = parseSkill(`---\n${split.value.header}\n---\n`);
  const frontmatter: JsonObject = parsed.ok ? parsed.frontmatter : {};
  const pinned = isPinned(frontmatter) || UPSTREAM_PIN.test(split.value.header);
  return { name: frontmatter.name, pinned, frontmatter };
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

export type CuratorSource =
  | 'external-dir'
  | 'bundled'
  | 'hub-installed'
  | 'local-agent-created'
  | 'unknown'
  | 'missing';

export interface SourceQuestion {
  /** Absolute path of SKILL.md, links resolved. */
  readonly path: string;
  /** The name in the front matter, else the folder's. */
  readonly name: string;
  /** The home whose `skills` folder is the local one. */
  readonly home: string;
  /** `.bundled_manifest`: its text or its names; absent when there is none, null when it cannot be read. */
  readonly bundled?: JsonValue;
  /** `.hub/lock.json`: its text, its data or its names; absent when there is none, null when it cannot be read. */
  readonly hub?: JsonValue;
  /** External folders of the configuration, text or list; null when the configuration cannot be read. */
  readonly externalDirs?: JsonValue;
  /** Who the skill's record names as its maker; only `agent` is writable. Not heard in `compat`. */
  readonly createdBy?: string | null;
}

export function isWritableSource(source: string): boolean {
  return source === 'local-agent-created';
}

/**
 * Where a skill comes from, in one word; only `local-agent-created` may be written unattended (seed 002, provenance gate; notes 9). In:
 * its resolved path, its name, the home, and what the manifests and the configuration list, absent or null when unreadable. Out:
 * `external-dir`, `bundled`, `hub-installed`, `local-agent-created` or `unknown`, by the first test that fits. Ours wants the record of
 * the agent (`createdBy`) and readable manifests; the original goes by the path alone. Reads no disk, throws nothing.
 */
export function classifySource(question: SourceQuestion, options: CompatOptions = {}): CuratorSource {
  const { path, name, home, createdBy } = question;
  const upstream = options.compat === 'upstream';
  const local = join(home, 'skills');
  const outside = externalFolders(question.externalDirs, home, local);
  if (outside !== 'unreadable' && outside.some((folder) => isInside(path, folder))) return 'external-dir';
  // Ours also asks for the folder's name: a bundled skill stays bundled when its front matter says something else.
  const names = upstream ? [name] : [name, normalize(path).split(sep).at(-2) ?? ''];
  const isListed = (list: ListedNames) => list !== 'unreadable' && names.some((one) => list.has(one));
  const [bundled, hub] = [bundledNames(question.bundled), hubNames(question.hub)];
  if (isListed(bundled)) return 'bundled';
  if (isListed(hub)) return 'hub-installed';
  if (!isInside(path, local)) return 'unknown';
  const isKnown = bundled !== 'unreadable' && hub !== 'unreadable' && outside !== 'unreadable';
  return upstream || (isKnown && createdBy === 'agent') ? 'local-agent-created' : 'unknown';
}

function externalFolders(given: JsonValue | undefined, home: string, local: string): readonly string[] | 'unreadable' {
  const list = given === undefined ? [] : typeof given === 'string' ? [given] : given;
  if (!Array.isArray(list)) return 'unreadable';
  return list
    .flatMap((entry: JsonValue) => (typeof entry === 'string' && entry.trim() !== '' ? [entry.trim()] : []))
    .map((folder) => clean(isAbsolute(folder) ? folder : join(home, folder)))
    .filter((folder) => folder !== clean(local));
}

function isInside(path: string, folder: string): boolean {
  const way = relative(clean(folder), clean(path));
  return isAbsolute(path) && way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function clean(path: string): string {
  const normal = normalize(path);
  return normal.length > 1 && normal.endsWith(sep) ? normal.slice(0, -1) : normal;
}

/** `unreadable`: there is a manifest and nobody knows what it lists. */
export type ListedNames = ReadonlySet<string> | 'unreadable';

/** Of every kind: a name must not hide behind a rare one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they end lines for the original
const LINE_ENDS = /\r\n|[\n-\r\u001c-\u001e\u0085\u2028\u2029]/;

/** One name a line, before the first colon; or the names. Absent: none. null: unreadable. */
export function bundledNames(given: JsonValue | undefined): ListedNames {
  if (given === undefined) return new Set();
  if (isJsonObject(given)) return namesOf(Object.keys(given));
  const isText = typeof given === 'string' && !given.includes('\0') && !given.includes('\uFFFD');
  const lines = isText ? given.split(LINE_ENDS) : given;
  if (!isTexts(lines)) return 'unreadable';
  return namesOf(lines.map((line) => line.split(':', 1)[0] ?? ''));
}

/** The keys of `installed`; or the names. Absent: none. null: unreadable. */
export function hubNames(given: JsonValue | undefined): ListedNames {
  if (given === undefined) return new Set();
  const read = typeof given === 'string' ? parseJson(given) : undefined;
  const lock = read === undefined ? given : read.ok && isJsonObject(read.value) ? read.value : null;
  if (isTexts(lock)) return namesOf(lock);
  if (!isJsonObject(lock)) return 'unreadable';
  const { installed = 'version' in lock ? {} : lock } = lock;
  return isJsonObject(installed) ? namesOf(Object.keys(installed)) : 'unreadable';
}

function isTexts(given: JsonValue | readonly string[]): given is readonly string[] {
  return Array.isArray(given) && given.every((name) => typeof name === 'string');
}

function namesOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.trim()).filter((name) => name !== ''));
}
