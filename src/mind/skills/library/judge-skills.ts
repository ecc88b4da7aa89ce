// Owns which external skills are shown, and when they are judged: after a refresh, for a bounded time; what is left goes on in slices.

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { entriesBelow } from '../door/skill-tree.ts';
import {
  chooseWinners,
  noteProblem,
  type SkillJudge,
  type SkillJudgement,
  type SkillProblem,
  workSlices,
} from './skills-cache.ts';

/** What a caller waits for, ms. */
const WAIT_MS = 1_500;
/** Between two looks at what there is, ms: the skills judged so far are shown then. */
const STRETCH_MS = 1_000;

export interface JudgingGround {
  readonly cache: Database;
  readonly clock: Clock;
  readonly judge: SkillJudge;
}

/** `settled`: other skills may be shown now. */
export function createJudging(ground: JudgingGround, settled: () => void, failed: (error: unknown) => void) {
  const stop = new AbortController();
  let running: Promise<number> | undefined;
  let resting = false;
  const stretch = (ms: number, signal: AbortSignal): Promise<number> => {
    running ??= judgeStretch(ground, ms, signal, settled).finally(() => {
      running = undefined;
    });
    return running;
  };
  const rest = async () => {
    resting = true;
    try {
      while ((await stretch(STRETCH_MS, stop.signal)) > 0) await ground.clock.sleep(0, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted && !isAborted(error)) failed(error);
    } finally {
      resting = false;
    }
  };
  return {
    /** Resolves when all is judged, or the time is over; the rest goes on behind it. */
    work: async (signal?: AbortSignal): Promise<void> => {
      const left = await stretch(WAIT_MS, signal ? AbortSignal.any([signal, stop.signal]) : stop.signal);
      if (left > 0 && !resting) void rest();
    },
    stop: () => stop.abort(),
  };
}

/** Judges what waits for at most `ms`; gives what is left. */
async function judgeStretch(
  ground: JudgingGround,
  ms: number,
  signal: AbortSignal,
  settled: () => void,
): Promise<number> {
  const { cache, clock } = ground;
  const pause = workSlices(clock, signal);
  const began = clock.monotonic();
  let judged = 0;
  for (const { folder } of waiting(cache)) {
    if (clock.monotonic() - began >= ms) break;
    await pause();
    await judgeFolder(ground, folder, signal);
    judged += 1;
  }
  signal.throwIfAborted();
  const left = waiting(cache).length;
  if (judged === 0) return left;
  await cache.lightTransaction(() => {
    cache.exec("DELETE FROM problems WHERE reason = 'name-taken'; DELETE FROM indexes");
    for (const problem of chooseWinners(cache, true)) noteProblem(cache, problem);
  }, signal);
  settled();
  return left;
}

async function judgeFolder(ground: JudgingGround, folder: string, signal: AbortSignal): Promise<void> {
  const { cache, judge } = ground;
  const content = contentStamp(folder, judge);
  const { hash, word, finding } = await judgementOf(ground, folder);
  signal.throwIfAborted();
  await cache.lightTransaction(() => {
    if (hash !== undefined) cache.run('INSERT OR REPLACE INTO words_of_judge VALUES(?, ?, ?)', hash, word, finding);
    const sql = 'UPDATE skills SET word = ?, finding = ?, content = ? WHERE folder = ?';
    cache.run(sql, word, finding, content, folder);
  }, signal);
}

function waiting(cache: Database): readonly { readonly folder: string }[] {
  return cache.all('SELECT folder FROM skills WHERE root > 0 AND word IS NULL ORDER BY root, folder');
}

async function judgementOf(
  { cache, judge }: JudgingGround,
  folder: string,
): Promise<SkillJudgement & { readonly hash?: string }> {
  try {
    const hash = `${judge.version}:${folderHash(folder)}`;
    const known = cache.get<SkillJudgement>('SELECT word, finding FROM words_of_judge WHERE hash = ?', hash);
    return { ...(known ?? (await judge.judge(folder))), hash };
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return { word: 'refuse', finding: `its files cannot be read: ${errorText(error)}` };
  }
}

/** What stands beside a word of the judge: the files that it was about, and the version of the judge. */
export function contentStamp(folder: string, { version }: SkillJudge): string {
  try {
    return `${version}:${folderStamp(folder)}`;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return `${version}:unreadable: ${errorText(error)}`;
  }
}

/** Folders of judged skills whose files are no longer those that were judged. */
export async function changedSince(
  { cache, judge }: JudgingGround,
  pause: () => Promise<void>,
): Promise<readonly string[]> {
  const changed: string[] = [];
  const sql = 'SELECT folder, content FROM skills WHERE root > 0 AND word IS NOT NULL';
  for (const { folder, content } of cache.all<{ folder: string; content: string }>(sql)) {
    await pause();
    if (contentStamp(folder, judge) !== content) changed.push(folder);
  }
  return changed;
}

export function refusedSkills(cache: Database): readonly SkillProblem[] {
  const rows = cache.all<{ folder: string; name: string; finding: string }>(
    `SELECT folder, name, finding FROM skills WHERE word = 'refuse' AND root > 0 ORDER BY root, folder`,
  );
  return rows.map(({ folder, name, finding }) => {
    return { path: folder, reason: 'refused', detail: `${name} is refused and not offered (${folder}). ${finding}` };
  });
}

/** What a list of skills must say of those that it does not show. */
export function judgedProblems(cache: Database): readonly SkillProblem[] {
  const { length, 0: first } = waiting(cache);
  const detail =
    length === 1
      ? 'one skill of an external folder: it is still to be scanned'
      : `${length} skills of external folders: they are still to be scanned`;
  return [...refusedSkills(cache), ...(first ? [{ path: first.folder, reason: 'not-judged', detail }] : [])];
}

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__', '.venv', '.DS_Store']);
/** What is above these limits is stamped by size and time alone. */
const MOST_ENTRIES = 2_000;
const MOST_BYTES = 64 * 1_048_576;

interface Entry {
  readonly path: string;
  readonly stamp: string;
  /** Of a plain file. */
  readonly size?: number | undefined;
  /** Where a link leads. */
  readonly content?: string;
}

/** Changes when a file comes, goes or is written. Throws what the file system throws. */
function folderStamp(folder: string): string {
  return sha256([...stampedEntries(folder)].map(({ path, stamp }) => `${path}\0${stamp}`).join('\n'));
}

/** The same for the same files, wherever they lie: at least those that a judge reads. Throws what the file system throws. */
function folderHash(folder: string): string {
  const hash = createHash('sha256');
  let room = MOST_BYTES;
  for (const { path, size, content, stamp } of stampedEntries(folder)) {
    room -= size ?? 0;
    hash.update(`${path}\0${size ?? ''}\0`);
    if (size === undefined) hash.update(content ?? stamp);
    else hash.update(room >= 0 ? readFileSync(join(folder, path)) : stamp);
  }
  return hash.digest('hex');
}

function* stampedEntries(folder: string): Generator<Entry> {
  let left = MOST_ENTRIES;
  for (const { path } of entriesBelow(folder, (name) => SKIPPED.has(name))) {
    if (left === 0) return;
    left -= 1;
    const full = join(folder, path);
    const facts = lstatSync(full);
    const { size, mtimeMs, ctimeMs, ino } = facts;
    const stamp = `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
    if (facts.isSymbolicLink()) yield { path, stamp, content: `link ${readlinkSync(full)}` };
    else yield { path, stamp, size: facts.isFile() ? size : undefined };
  }
}
