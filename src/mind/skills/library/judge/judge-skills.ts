// Owns which external skills are shown: only those whose present files were judged. Knows no guard: the judge is injected.
// Invariants: a folder that changed is hidden until it was judged again; what has been judged once is not judged again, wherever it lies;
// the work is bounded by the time that it is given, and begins where it stopped.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText } from '#base/errors.ts';
import type { SkillProblem } from '../cache-tables.ts';
import { folderHash, folderStamp } from './folder-content.ts';
import type { SkillJudge, SkillJudgement } from './skill-judge.ts';

export interface JudgingGround {
  readonly cache: Database;
  readonly clock: Clock;
  readonly judge: SkillJudge;
}

interface ExternalRow {
  readonly folder: string;
  readonly content: string;
}

/** What stands beside a word of the judge: the files that it was about, and the version of the judge. */
export function contentStamp(folder: string, { version }: SkillJudge): string {
  return `${version}:${stampOf(folder)}`;
}

function stampOf(folder: string): string {
  try {
    return folderStamp(folder);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return `unreadable: ${errorText(error)}`;
  }
}

/** Folders of judged skills whose files are no longer those that were judged. */
export async function changedSince(
  { cache, judge }: JudgingGround,
  pause: () => Promise<void>,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { folder, content } of cache.all<ExternalRow>(
    'SELECT folder, content FROM skills WHERE root > 0 AND word IS NOT NULL',
  )) {
    await pause();
    if (contentStamp(folder, judge) !== content) changed.push(folder);
  }
  return changed;
}

/** They wait for their judgement again. Inside a transaction. */
export function forgetWords(cache: Database, folders: readonly string[]): void {
  for (const folder of folders) cache.run('UPDATE skills SET word = NULL WHERE folder = ?', folder);
}

/** Judges what waits for at most `ms`; gives what is left, and whether anything was judged. */
export async function judgeWaiting(
  ground: JudgingGround,
  ms: number,
  { signal, pause }: { readonly signal?: AbortSignal | undefined; readonly pause: () => Promise<void> },
): Promise<{ readonly left: number; readonly judged: number }> {
  const { cache, clock, judge } = ground;
  const began = clock.monotonic();
  let judged = 0;
  for (const { folder } of waiting(cache)) {
    if (clock.monotonic() - began >= ms) break;
    await pause();
    const content = contentStamp(folder, judge);
    const { hash, word, finding } = await judgementOf(ground, folder);
    signal?.throwIfAborted();
    await cache.lightTransaction(() => {
      if (hash !== undefined) cache.run('INSERT OR REPLACE INTO words_of_judge VALUES(?, ?, ?)', hash, word, finding);
      cache.run(
        'UPDATE skills SET word = ?, finding = ?, content = ? WHERE folder = ?',
        word,
        finding,
        content,
        folder,
      );
    }, signal);
    judged += 1;
  }
  signal?.throwIfAborted();
  return { left: waiting(cache).length, judged };
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
    const known = cache.get<{ word: SkillJudgement['word']; finding: string }>(
      'SELECT word, finding FROM words_of_judge WHERE hash = ?',
      hash,
    );
    return { ...(known ?? (await judge.judge(folder))), hash };
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return { word: 'refuse', finding: `its files cannot be read: ${errorText(error)}` };
  }
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
  const left = waiting(cache);
  const [first] = left;
  const waits = first ? [{ path: first.folder, reason: 'not-judged', detail: waitingText(left.length) }] : [];
  return [...refusedSkills(cache), ...waits];
}

function waitingText(count: number): string {
  return count === 1
    ? 'one skill of an external folder: it is still to be scanned'
    : `${count} skills of external folders: they are still to be scanned`;
}
