// Owns bringing the skills cache up to what the folders hold now. Invariant: one transaction, so that a reader sees the old state or the new one.
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText } from '#base/errors.ts';
import type { SkillHeader } from '../skill.ts';
import { type Found, type FoundBranch, type FoundSkill, readText, walkSkills } from './folder-files.ts';
import { changedSince } from './judge-skills.ts';
import {
  chooseWinners,
  noteProblem,
  type SkillJudge,
  type SkillProblem,
  type SkillRow,
  workSlices,
} from './skills-cache.ts';

export interface RefreshRequest {
  readonly cache: Database;
  /** The local folder first. */
  readonly roots: readonly string[];
  readonly clock: Clock;
  /** Asked about external skills; without one they are shown as they are. */
  readonly judge?: SkillJudge;
}

export interface SkillRefresh {
  /** Skills that are new or whose SKILL.md changed. */
  readonly changed: number;
  readonly removed: number;
  readonly problems: readonly SkillProblem[];
}

/** Longer than the tick of any file system's clock that is in use, and short enough to matter rarely. */
const TICK_MS = 100;

type Located = FoundSkill & { readonly root: number };
type Parsed = Located & { readonly header: SkillHeader };

interface Survey {
  /** By folder: an external folder may lie inside another root. */
  readonly skills: Map<string, Located>;
  readonly branches: FoundBranch[];
  readonly categories: Map<string, string>;
  readonly problems: SkillProblem[];
}

type KnownRow = Pick<SkillRow, 'folder' | 'file' | 'stamp' | 'root' | 'category'>;

export async function refreshSkills(request: RefreshRequest, signal?: AbortSignal): Promise<SkillRefresh> {
  const { cache, clock } = request;
  const pause = workSlices(clock, signal);
  const survey = await surveyRoots(request, pause);
  const rows = cache.all<KnownRow>('SELECT folder, file, stamp, root, category FROM skills');
  const known = new Map(rows.map((row) => [row.folder, row]));
  const stale = [...survey.skills.values()].filter((found) => !isSame(known.get(found.folder), found));
  const parsed = await parseAll(stale, survey.problems, pause);
  const readable = new Set(parsed.map(({ folder }) => folder));
  const unreadable = stale.filter(({ folder }) => !readable.has(folder));
  const gone = [
    ...rows.filter(({ folder }) => !survey.skills.has(folder)),
    ...unreadable.flatMap(({ folder }) => known.get(folder) ?? []),
  ];
  const { judge } = request;
  const changed = judge ? await changedSince({ cache, clock, judge }, pause) : [];
  const problems = await cache.lightTransaction(() => store(request, survey, parsed, { gone, changed }), signal);
  return { changed: parsed.length, removed: gone.length, problems };
}

function isSame(row: KnownRow | undefined, found: Located): boolean {
  return (
    row?.stamp === found.stamp && row.file === found.file && row.root === found.root && row.category === found.category
  );
}

async function surveyRoots({ roots, clock }: RefreshRequest, pause: () => Promise<void>): Promise<Survey> {
  const survey: Survey = { skills: new Map(), branches: [], categories: new Map(), problems: [] };
  for (const [root, path] of roots.entries()) {
    if (root > 0 && !existsSync(path)) {
      const detail = `${path}: there is no such folder, and skills.external_dirs names it.`;
      survey.problems.push({ path, reason: 'no-such-folder', detail });
    }
    for (const found of walkSkills(path)) {
      note(survey, found.type === 'branch' ? withDoubt(found, clock.now()) : found, root);
      await pause();
    }
  }
  return survey;
}

/** A folder that changed just now may change again within one tick of the file system's clock: its stamp must not count as known. */
function withDoubt(branch: FoundBranch, now: number): FoundBranch {
  return Math.abs(now - branch.changedAt) < TICK_MS ? { ...branch, stamp: `${branch.stamp}:just-now` } : branch;
}

function note(survey: Survey, found: Found, root: number): void {
  switch (found.type) {
    case 'skill':
      if (!survey.skills.has(found.folder)) survey.skills.set(found.folder, { ...found, root });
      break;
    case 'branch':
      survey.branches.push(found);
      break;
    case 'category':
      if (!survey.categories.has(found.name)) survey.categories.set(found.name, found.file);
      break;
    case 'problem':
      survey.problems.push(found);
      break;
  }
}

async function parseAll(
  stale: readonly Located[],
  problems: SkillProblem[],
  pause: () => Promise<void>,
): Promise<readonly Parsed[]> {
  if (stale.length === 0) return [];
  const { parseSkill } = await import('../format/parse-skill.ts');
  const { readHeader } = await import('../format/read-header.ts');
  const parsed: Parsed[] = [];
  for (const found of stale) {
    await pause();
    const text = readSkillText(found.file);
    if (typeof text !== 'string') {
      problems.push(text);
      continue;
    }
    const read = parseSkill(text);
    if (read.ok) {
      const place = { folder: basename(found.folder), category: found.category, body: read.body };
      parsed.push({ ...found, header: readHeader(read.frontmatter, place) });
    } else problems.push({ path: found.file, reason: read.reason, detail: `${found.file}: ${read.detail}` });
  }
  return parsed;
}

const REASONS = { 'no-such-file': 'unreadable', 'not-text': 'not-utf-8', 'too-large': 'too-large' } as const;

function readSkillText(path: string): string | SkillProblem {
  try {
    const read = readText(path, path);
    if (read.ok) return read.value;
    return { path, reason: REASONS[read.reason], detail: read.detail };
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return { path, reason: 'unreadable', detail: `${path} cannot be read: ${errorText(error)}` };
  }
}

/** `changed`: folders whose files are not those that were judged. */
function store(
  { cache, judge }: RefreshRequest,
  survey: Survey,
  parsed: readonly Parsed[],
  { gone, changed }: { readonly gone: readonly KnownRow[]; readonly changed: readonly string[] },
): readonly SkillProblem[] {
  // They wait for their judgement again.
  for (const folder of changed) cache.run('UPDATE skills SET word = NULL WHERE folder = ?', folder);
  for (const { folder } of gone) removeSkill(cache, folder);
  for (const skill of parsed) storeSkill(cache, skill);
  cache.exec('DELETE FROM branches; DELETE FROM categories; DELETE FROM problems');
  for (const { path, stamp } of survey.branches) cache.run('INSERT OR REPLACE INTO branches VALUES(?, ?)', path, stamp);
  for (const [name, file] of survey.categories)
    cache.run('INSERT INTO categories VALUES(?, ?)', name, describeCategory(file));
  const problems = [...survey.problems, ...chooseWinners(cache, judge !== undefined)];
  for (const problem of problems) noteProblem(cache, problem);
  if (parsed.length + gone.length + changed.length > 0) cache.exec('DELETE FROM indexes');
  return problems;
}

/** By folder: another process may have given it another id meanwhile. Ids are never given twice, so no words or vectors go astray. */
function removeSkill(cache: Database, folder: string): void {
  const row = cache.get<{ id: number }>('SELECT id FROM skills WHERE folder = ?', folder);
  if (row === undefined) return;
  cache.run('DELETE FROM words WHERE rowid = ?', row.id);
  cache.run('DELETE FROM vectors WHERE skill = ?', row.id);
  cache.run('DELETE FROM skills WHERE id = ?', row.id);
}

function storeSkill(cache: Database, { folder, file, root, category, stamp, header }: Parsed): void {
  removeSkill(cache, folder);
  cache.run(
    'INSERT INTO skills(folder, file, root, category, stamp, name, header) VALUES(?, ?, ?, ?, ?, ?, ?)',
    ...[folder, file, root, category, stamp, header.name, JSON.stringify(header)],
  );
}

/** First line of prose of DESCRIPTION.md, or the description of its front matter. */
function describeCategory(file: string): string {
  const text = readSkillText(file);
  if (typeof text !== 'string') return '';
  const described = /^description:[ \t]*(.+)$/m.exec(text.slice(0, 4_000))?.[1];
  const prose = text.split('\n').find((line) => /^[^\s#<`|>-]/.test(line));
  return (described ?? prose ?? '').trim().replace(/^(["'])(.*)\1$/, '$2');
}
