// Owns the index of skills in the system prompt: what it says, which skills are in it, and its rendered text in the cache (seed 001 ch 5 and 10;
// design 3 keeps the label).
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import { canonicalJson, type JsonValue, parseJson, parseJsonObject } from '#base/json.ts';
import { ellipsize, estimateTokens } from '#base/text.ts';
import type { Shown } from '#core/agent/room.ts';
import type { SkillHeader, SkillRecord } from '../skill.ts';
import type { SkillLibrary } from './skill-library.ts';

export const PROCEDURAL_MEMORY = '[PROCEDURAL MEMORY]';

interface SkillIndexText {
  /** Empty when no skill fits. */
  readonly text: string;
  /** Names in the text. */
  readonly names: readonly string[];
  /** Skills that fit these surroundings, shown or not. */
  readonly total: number;
}

interface SkillIndexRequest {
  readonly conditions: Shown;
  /** Estimated tokens of the whole text; default 1,950, a little under what is allowed. */
  readonly budget?: number;
}

export interface SkillIndex {
  /** The text for a new session: from the cache when skills are as they were, else made now. */
  render(request: SkillIndexRequest): SkillIndexText;
  /** Makes every cached text anew with the present records: background work, so that use shows from the next session on. */
  renew(): void;
}

const BUDGET = 1_950;
/** Characters of a description: the longest form in which all skills fit is taken; the last one is what is left for many. */
const DESCRIPTION_SIZES = [240, 120, 60];
const NAME_SIZE = 64;
const KEPT_TEXTS = 12;

const INTRODUCTION =
  'Skills are ways of doing things that have worked before. When one fits the task, read it with skill_view first, then follow it.';

export function createSkillIndex(library: SkillLibrary): SkillIndex {
  const { cache } = library;
  const make = (key: string, request: SkillIndexRequest): SkillIndexText => {
    const made = renderSkillIndex(library, request);
    keep(cache, key, made);
    return made;
  };
  return {
    render: (request) => {
      const key = requestKey(request);
      const sql = 'SELECT text, names, total FROM indexes WHERE request = ?';
      const row = cache.get<{ text: string; names: string; total: number }>(sql, key);
      return row ? { text: row.text, total: row.total, names: readNames(row.names) } : make(key, request);
    },
    renew: () => {
      const rows = cache.all<{ request: string }>('SELECT request FROM indexes ORDER BY id');
      for (const { request } of rows) make(request, readRequest(request));
    },
  };
}

/** A text that could not be kept costs the next session a few milliseconds; it must not cost this one its start. */
function keep(cache: Database, key: string, { text, names, total }: SkillIndexText): void {
  try {
    const values = [key, text, JSON.stringify(names), total];
    cache.run('INSERT OR REPLACE INTO indexes(request, text, names, total) VALUES(?, ?, ?, ?)', ...values);
    cache.run('DELETE FROM indexes WHERE id <= (SELECT max(id) FROM indexes) - ?', KEPT_TEXTS);
  } catch (error) {
    if (!UNKEPT.has(errorCode(error) ?? '')) throw error;
  }
}

/** Another process writes, or the disk takes nothing. */
const UNKEPT: ReadonlySet<string> = new Set(['database-locked', 'database-read-only', 'database-io', 'disk-full']);

function renderSkillIndex(library: SkillLibrary, request: SkillIndexRequest): SkillIndexText {
  const headers = library.offered(request.conditions);
  if (headers.length === 0) return { text: '', names: [], total: 0 };
  const ordered = byUse(headers, library.record);
  const page = { ordered, categories: library.categories(), budget: request.budget ?? BUDGET };
  const long = DESCRIPTION_SIZES.slice(0, -1).find((size) => takeFitting(page, size).length === ordered.length);
  const size = long ?? DESCRIPTION_SIZES.at(-1) ?? 0;
  const taken = takeFitting(page, size);
  if (taken.length === 0) return { text: '', names: [], total: headers.length };
  const names = taken.map(({ name }) => name);
  return { text: compose(page, taken, size), names, total: headers.length };
}

interface Page {
  readonly ordered: readonly SkillHeader[];
  readonly categories: ReadonlyMap<string, string>;
  readonly budget: number;
}

/** Pinned ones, then by powers of two of their uses (so that one more use moves nothing), then by name. */
function byUse(
  headers: readonly SkillHeader[],
  recordOf: (name: string) => SkillRecord | undefined,
): readonly SkillHeader[] {
  const weighed = headers.map((header) => {
    const record = recordOf(header.name);
    return { header, weight: record ? (record.pinned ? 1_000 : 0) + Math.floor(Math.log2(record.useCount + 1)) : 0 };
  });
  return weighed
    .sort((a, b) => b.weight - a.weight || (a.header.name < b.header.name ? -1 : 1))
    .map(({ header }) => header);
}

function takeFitting({ ordered, categories, budget }: Page, size: number): readonly SkillHeader[] {
  const seen = new Set<string>();
  let left = budget - lineTokens(frame(ordered.length, '')) - 2;
  const taken: SkillHeader[] = [];
  for (const header of ordered) {
    const isNew = header.category !== '' && !seen.has(header.category);
    left -= lineTokens(skillLine(header, size)) + (isNew ? lineTokens(categoryLine(header.category, categories)) : 0);
    if (left < 0) break;
    seen.add(header.category);
    taken.push(header);
  }
  return taken;
}

function compose({ ordered, categories }: Page, taken: readonly SkillHeader[], size: number): string {
  const groups = Map.groupBy(taken, ({ category }) => category);
  const lines = [...groups.keys()].sort().flatMap((category) => {
    const skills = (groups.get(category) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const head = category === '' ? [] : [categoryLine(category, categories)];
    return [...head, ...skills.map((header) => skillLine(header, size))];
  });
  return frame(ordered.length - taken.length, lines.join(''));
}

function frame(left: number, lines: string): string {
  const more =
    left > 0 ? `\n${left} more are not listed: the ones that fit come with a request; skills_list names all.` : '';
  return `${PROCEDURAL_MEMORY}\n${INTRODUCTION}\n<available_skills>\n${lines}</available_skills>${more}`;
}

function categoryLine(category: string, described: ReadonlyMap<string, string>): string {
  const description = described.get(category) ?? '';
  return `${category}:${description === '' ? '' : ` ${harmless(ellipsize(description, 60))}`}\n`;
}

function skillLine({ name, description }: SkillHeader, size: number): string {
  return `- ${harmless(ellipsize(name, NAME_SIZE))}: ${harmless(ellipsize(description, size))}\n`;
}

/** No description ends the block that it stands in. */
function harmless(text: string): string {
  return text.replace(/[<>]/g, (mark) => (mark === '<' ? '‹' : '›'));
}

function requestKey({ conditions, budget = BUDGET }: SkillIndexRequest): string {
  const { platform, tools, toolsets } = conditions;
  return canonicalJson({ platform, tools: [...tools].sort(), toolsets: [...toolsets].sort(), budget });
}

function readRequest(key: string): SkillIndexRequest {
  const read = parseJsonObject(key);
  const { platform, tools, toolsets, budget } = read.ok ? read.value : {};
  return {
    conditions: { platform: String(platform), tools: new Set(asTexts(tools)), toolsets: new Set(asTexts(toolsets)) },
    budget: typeof budget === 'number' ? budget : BUDGET,
  };
}

function readNames(json: string): readonly string[] {
  const read = parseJson(json);
  return read.ok ? asTexts(read.value) : [];
}

function asTexts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

const PIECE = /[A-Za-z]+|[0-9]+|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]|[\p{L}\p{M}\p{N}]|[^\s]/gu;
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;
const LETTER = /[\p{L}\p{M}]/u;

/** Unrounded. */
function lineTokens(line: string): number {
  let tokens = 1;
  for (const [piece] of line.matchAll(PIECE)) tokens += pieceTokens(piece);
  return Math.max(tokens, estimateTokens(line), line.length / 4);
}

function pieceTokens(piece: string): number {
  if (/^[A-Za-z]/.test(piece)) return Math.ceil(piece.length / 8);
  if (/^[0-9]/.test(piece)) return Math.ceil(piece.length / 3);
  if (DENSE.test(piece)) return 1;
  return LETTER.test(piece) ? 0.5 : 1.2;
}
