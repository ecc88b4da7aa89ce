// Owns the words of skills in the cache: filling what is missing, a little at a time, and asking for the nearest skills by BM25 over
// name, description, occasion, tags and body. Knows no record and no prompt.
// Invariant: a question that holds a sentence of a skill finds it by its pairs of words, however common the words are.
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import { parseJsonObject } from '#base/json.ts';
import { contentStems } from '#base/text/content-stems.ts';
import { withoutBlock } from '../format/managed-block.ts';
import { splitHeader } from '../format/split-header.ts';
import { readText } from '../library/folder-files.ts';
import { workSlices } from '../library/work-slices.ts';
import type { SkillHeader } from '../skill.ts';

export interface WordHit {
  readonly id: number;
  readonly name: string;
  readonly header: SkillHeader;
  /** BM25, higher is nearer. */
  readonly score: number;
}

interface Unworded {
  readonly id: number;
  readonly file: string;
  readonly header: string;
}

/** Skills whose words are stored in one transaction. */
const BATCH = 50;
/** Terms of a question; more cost time and say little. */
const MOST_TERMS = 24;
/** Characters at each end of a long question that are read. */
const QUESTION_EDGE = 600;
const OCCASION = /^#{1,6}[ \t]+[^\n]*\b(?:when to use|use when|when|triggers?|trigger conditions)\b[^\n]*$/im;
const OCCASION_SIZE = 1_500;

/** Words of name, description, occasion, tags, body: what a name says weighs more than what a body mentions. */
const WEIGHTS = '4.0, 3.0, 2.0, 2.0, 1.0';

/** Reads the words of skills that have none yet; gives how many are still missing. At most `most` skills are read. */
export async function fillWords(
  cache: Database,
  { clock = systemClock, most = Number.POSITIVE_INFINITY }: { readonly clock?: Clock; readonly most?: number } = {},
  signal?: AbortSignal,
): Promise<number> {
  const pause = workSlices(clock, signal);
  for (let left = most; left > 0; left -= BATCH) {
    const rows = cache.all<Unworded>(
      'SELECT id, file, header FROM skills WHERE worded = 0 LIMIT ?',
      Math.min(left, BATCH),
    );
    if (rows.length === 0) return 0;
    const words: (readonly [id: number, columns: readonly string[]])[] = [];
    for (const row of rows) {
      words.push([row.id, columnsOf(row)]);
      await pause();
    }
    await cache.lightTransaction(() => {
      for (const [id, columns] of words) storeWords(cache, id, columns);
    }, signal);
  }
  return cache.get<{ n: number }>('SELECT count(*) n FROM skills WHERE worded = 0')?.n ?? 0;
}

function storeWords(cache: Database, id: number, columns: readonly string[]): void {
  // Another process may have stored it, or a refresh removed the skill, since it was read.
  if (cache.run('UPDATE skills SET worded = 1 WHERE id = ? AND worded = 0', id).changes === 0) return;
  cache.run(
    'INSERT INTO words(rowid, name, description, occasion, tags, body) VALUES(?, ?, ?, ?, ?, ?)',
    id,
    ...columns,
  );
}

function columnsOf({ file, header: json }: Unworded): readonly string[] {
  const header = asHeader(json);
  const body = bodyOf(file);
  const heading = OCCASION.exec(body);
  const occasion = heading
    ? body.slice(heading.index, heading.index + OCCASION_SIZE).replace(/\n#[^\n]*\n[\s\S]*$/, '')
    : '';
  const texts = [header.name, header.description, `${header.whenToUse}\n${occasion}`, header.tags.join(' '), body];
  return texts.map((text) => contentStems(text).join(' '));
}

function bodyOf(file: string): string {
  try {
    const read = readText(file, file);
    const split = read.ok ? splitHeader(read.value) : read;
    return split.ok ? withoutBlock(split.value.body) : '';
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return ''; // it went away: the next refresh removes its row
  }
}

function asHeader(json: string): SkillHeader {
  const header = parseJsonObject(json);
  // Only this room writes the column, from a SkillHeader.
  return (header.ok ? header.value : {}) as unknown as SkillHeader;
}

export function headerById(cache: Database, id: number): SkillHeader | undefined {
  const row = cache.get<{ header: string }>('SELECT header FROM skills WHERE id = ? AND wins = 1', id);
  return row && asHeader(row.header);
}

/** Stems that a question asks for, in order. */
export function questionStems(question: string): readonly string[] {
  const isLong = question.length > 2 * QUESTION_EDGE;
  return contentStems(isLong ? `${question.slice(0, QUESTION_EDGE)}\n${question.slice(-QUESTION_EDGE)}` : question);
}

/** The nearest skills that win their name, best first. */
export function searchWords(cache: Database, stems: readonly string[], limit: number): readonly WordHit[] {
  const query = matchQuery(stems);
  if (query === '') return [];
  const rows = cache.all<{ id: number; name: string; header: string; score: number }>(
    `WITH near AS (SELECT rowid AS id, bm25(words, ${WEIGHTS}) AS score FROM words WHERE words MATCH ? ORDER BY score LIMIT ?)
     SELECT near.id, name, header, -score AS score FROM near JOIN skills USING(id) WHERE wins = 1 ORDER BY near.score`,
    query,
    limit,
  );
  return rows.map(({ id, name, header, score }) => ({ id, name, score, header: asHeader(header) }));
}

/** Every word, and every two neighbours as a phrase: in BM25 a rare pair outweighs many common words. */
function matchQuery(stems: readonly string[]): string {
  const words = [...new Set(stems)].slice(0, MOST_TERMS);
  const pairs = [...new Set(stems.slice(1).map((stem, at) => `${stems[at]} ${stem}`))].slice(0, MOST_TERMS);
  return [...words, ...pairs].map((term) => `"${term}"`).join(' OR ');
}
