// Owns which skills fit a request, by the words of skills in the cache, the use record as a mild prior and an Embedder's opinion where one is
// configured, fused by reciprocal rank; and what a turn is told of them in the USER message, so that the prefix stays as it is.
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import { contentStems } from '#base/text/words.ts';
import { ellipsize } from '#base/text.ts';
import type { Shown } from '#core/agent/room.ts';
import type { Embedder } from '#core/model/embedders.ts';
import type { TextPart } from '#core/model/message.ts';
import { isOffered, isStanding } from '../format/read-header.ts';
import { splitHeader, withoutBlock } from '../format/skill-text.ts';
import type { SkillHeader, SkillRecord } from '../skill.ts';
import { readText } from './folder-files.ts';
import { PROCEDURAL_MEMORY } from './skill-index.ts';
import type { SkillLibrary } from './skill-library.ts';
import { headerOf, workSlices } from './skills-cache.ts';

export interface RankedSkill {
  readonly header: SkillHeader;
  /** Only its order means anything. */
  readonly score: number;
  /** BM25 without record and vectors; 0 when words did not find it. */
  readonly wordScore: number;
}

interface RankOptions {
  readonly limit: number;
  readonly conditions?: Shown;
  /** Names that need not be found. */
  readonly without?: ReadonlySet<string>;
  /** What the score of a skill is multiplied by, in place of the mild prior of its uses. */
  readonly weigh?: (header: SkillHeader, record: SkillRecord | undefined) => number;
}

export interface SkillRanker {
  rank(question: string, options: RankOptions, signal: AbortSignal): Promise<readonly RankedSkill[]>;
  /** Reads words and makes vectors of all skills that have none: background work after a refresh. */
  prepare(signal: AbortSignal): Promise<void>;
}

/** Candidates that each lane gives. */
const CANDIDATES = 60;
/** Skills whose words a turn may wait for: about a tenth of a second. */
const WAITED_FOR = 200;
/** Damping of reciprocal rank. */
const RRF = 60;
const DAY_MS = 86_400_000;

export function createSkillRanker({
  library,
  embedder,
  clock = systemClock,
  warn = () => undefined,
}: {
  readonly library: SkillLibrary;
  readonly embedder?: Embedder;
  readonly clock?: Clock;
  /** Told why the embedder was left out. */
  readonly warn?: (message: string) => void;
}): SkillRanker {
  const { cache } = library;
  const lane = embedder && createVectorLane(cache, embedder);
  const nearest = async (question: string, signal: AbortSignal): Promise<readonly number[]> => {
    try {
      return (await lane?.nearest(question, CANDIDATES, signal)) ?? [];
    } catch (error) {
      signal.throwIfAborted();
      warn(`Skills are ranked by words alone: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  };
  return {
    rank: async (question, wanted, signal) => {
      const stems = questionStems(question);
      if (stems.length === 0) return [];
      await fillWords(cache, clock, signal, WAITED_FOR);
      const words = searchWords(cache, stems, CANDIDATES);
      const scored = fuse(cache, words, await nearest(question, signal));
      const now = clock.now();
      const { weigh = (_, record) => prior(record, now) } = wanted;
      return scored
        .map((skill) => ({ skill, record: library.record(skill.header.name) }))
        .filter(({ skill, record }) => isWanted(skill.header, record, wanted))
        .map(({ skill, record }) => ({ ...skill, score: skill.score * weigh(skill.header, record) }))
        .sort((a, b) => b.score - a.score || (a.header.name < b.header.name ? -1 : 1))
        .slice(0, wanted.limit);
    },
    prepare: async (signal) => {
      await fillWords(cache, clock, signal);
      await lane?.fill(signal);
    },
  };
}

function isWanted(header: SkillHeader, record: SkillRecord | undefined, wanted: RankOptions): boolean {
  if (wanted.without?.has(header.name) || !isStanding(record)) return false;
  return wanted.conditions === undefined || isOffered(header, wanted.conditions);
}

/** Words alone keep BM25's own distances; with vectors only ranks can be compared. */
function fuse(cache: Database, words: readonly WordHit[], vectors: readonly number[]): readonly RankedSkill[] {
  if (vectors.length === 0) return words.map(({ header, score }) => ({ header, score, wordScore: score }));
  const found = new Map(
    words.map((hit, at) => [hit.id, { header: hit.header, score: 1 / (RRF + at), wordScore: hit.score }]),
  );
  for (const [at, id] of vectors.entries()) {
    const { header = headerById(cache, id), score = 0, wordScore = 0 } = found.get(id) ?? {};
    if (header) found.set(id, { header, score: score + 1 / (RRF + at), wordScore });
  }
  return [...found.values()];
}

/** 0.9 to 1.1: success counts when there is enough of it, a use in the last weeks a little. */
function prior(record: SkillRecord | undefined, now: number): number {
  if (record === undefined) return 1;
  const { successCount, failureCount, lastUsedAt } = record;
  const tried = successCount + failureCount;
  const rate = (successCount + 1) / (tried + 2);
  const weeks = lastUsedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, now - lastUsedAt) / (7 * DAY_MS);
  return 1 + (rate - 0.5) * 0.15 + 0.025 / (1 + weeks);
}

const BATCH = 32;
/** Cosine under which two texts have nothing to do with each other. */
const LEAST_SIMILAR = 0.3;

/** Vectors of skills, kept in the cache and compared by angle. */
function createVectorLane(cache: Database, embedder: Embedder) {
  let loaded: ReturnType<typeof loadVectors> | undefined;
  let seen = -1;
  const load = () => {
    const count = cache.get<{ n: number }>('SELECT count(*) n FROM vectors WHERE embedder = ?', embedder.id)?.n ?? 0;
    if (loaded === undefined || seen !== count) loaded = loadVectors(cache, embedder);
    seen = count;
    return loaded;
  };
  return {
    /** Embeds the skills that have no vector yet. */
    fill: async (signal: AbortSignal) => {
      if ((await fillVectors(cache, embedder, signal)) > 0) loaded = undefined;
    },
    /** Ids of the nearest skills, best first; none that is about something else. */
    nearest: async (question: string, limit: number, signal: AbortSignal): Promise<readonly number[]> => {
      const known = load();
      const [asked] = known.length === 0 ? [] : await embedder.embed([question], signal);
      if (asked === undefined) return [];
      return known
        .map(({ id, vector }) => ({ id, score: dot(vector, asked) }))
        .filter(({ score }) => score >= LEAST_SIMILAR)
        .sort((a, b) => b.score - a.score || a.id - b.id)
        .slice(0, limit)
        .map(({ id }) => id);
    },
  };
}

async function fillVectors(cache: Database, embedder: Embedder, signal: AbortSignal): Promise<number> {
  let made = 0;
  for (;;) {
    const rows = cache.all<{ id: number; text: string }>(
      `SELECT id, name || '. ' || json_extract(header, '$.description') || ' ' || json_extract(header, '$.whenToUse') AS text
       FROM skills WHERE wins = 1 AND NOT EXISTS (SELECT 1 FROM vectors WHERE skill = skills.id AND embedder = ?) LIMIT ?`,
      embedder.id,
      BATCH,
    );
    if (rows.length === 0) return made;
    const vectors = await embedder.embed(
      rows.map(({ text }) => text),
      signal,
    );
    await cache.lightTransaction(() => {
      for (const [at, { id }] of rows.entries()) {
        const vector = vectors[at] ?? new Float32Array(embedder.dimensions);
        const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
        cache.run('INSERT OR REPLACE INTO vectors SELECT id, ?, ? FROM skills WHERE id = ?', embedder.id, bytes, id);
      }
    }, signal);
    made += rows.length;
  }
}

function loadVectors(cache: Database, { id: embedder, dimensions }: Embedder) {
  const rows = cache.all<{ skill: number; vector: Uint8Array }>(
    'SELECT skill, vector FROM vectors WHERE embedder = ? ORDER BY skill',
    embedder,
  );
  const fitting = rows.filter(({ vector }) => vector.byteLength === dimensions * 4);
  // A copy: the bytes of a row need not lie on a boundary of four.
  return fitting.map(({ skill, vector }) => ({ id: skill, vector: new Float32Array(Uint8Array.from(vector).buffer) }));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

interface WordHit {
  readonly id: number;
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
const WORD_BATCH = 50;
/** Terms of a question; more cost time and say little. */
const MOST_TERMS = 24;
/** Rows that its words are looked up in, and its pairs: in a large library the commonest cost most of the time and tell least. */
const MOST_ROWS = { words: 20_000, pairs: 100_000 };
/** Characters at each end of a long question that are read. */
const QUESTION_EDGE = 600;
const OCCASION = /^#{1,6}[ \t]+[^\n]*\b(?:when to use|use when|when|triggers?|trigger conditions)\b[^\n]*$/im;
const OCCASION_SIZE = 1_500;

/** Words of name, description, occasion, tags, body: what a name says weighs more than what a body mentions. */
const WEIGHTS = '4.0, 3.0, 2.0, 2.0, 1.0';

/** Reads the words of skills that have none yet, of at most `most`. */
async function fillWords(
  cache: Database,
  clock: Clock,
  signal: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const pause = workSlices(clock, signal);
  for (let left = most; left > 0; left -= WORD_BATCH) {
    const rows = cache.all<Unworded>(
      'SELECT id, file, header FROM skills WHERE worded = 0 LIMIT ?',
      Math.min(left, WORD_BATCH),
    );
    if (rows.length === 0) return;
    const words: (readonly [id: number, columns: readonly string[]])[] = [];
    for (const row of rows) {
      words.push([row.id, columnsOf(row)]);
      await pause();
    }
    await cache.lightTransaction(() => {
      for (const [id, columns] of words) storeWords(cache, id, columns);
    }, signal);
  }
}

function storeWords(cache: Database, id: number, columns: readonly string[]): void {
  // Another process may have stored it, or a refresh removed the skill, since it was read.
  if (cache.run('UPDATE skills SET worded = 1 WHERE id = ? AND worded = 0', id).changes === 0) return;
  const sql = 'INSERT INTO words(rowid, name, description, occasion, tags, body) VALUES(?, ?, ?, ?, ?, ?)';
  cache.run(sql, id, ...columns);
}

function columnsOf({ file, header: json }: Unworded): readonly string[] {
  const header = headerOf({ header: json, folder: file });
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

function headerById(cache: Database, id: number): SkillHeader | undefined {
  const row = cache.get<{ header: string; folder: string }>(
    'SELECT header, folder FROM skills WHERE id = ? AND wins = 1',
    id,
  );
  return row && headerOf(row);
}

/** Stems that a question asks for, in order. */
function questionStems(question: string): readonly string[] {
  const isLong = question.length > 2 * QUESTION_EDGE;
  return contentStems(isLong ? `${question.slice(0, QUESTION_EDGE)}\n${question.slice(-QUESTION_EDGE)}` : question);
}

/** The nearest skills that win their name, best first. */
function searchWords(cache: Database, stems: readonly string[], limit: number): readonly WordHit[] {
  const query = matchQuery(cache, stems);
  if (query === '') return [];
  const rows = cache.all<{ id: number; folder: string; header: string; score: number }>(
    `WITH near AS (SELECT rowid AS id, bm25(words, ${WEIGHTS}) AS score FROM words WHERE words MATCH ? ORDER BY score LIMIT ?)
     SELECT near.id, folder, header, -score AS score FROM near JOIN skills USING(id) WHERE wins = 1 ORDER BY near.score`,
    query,
    limit,
  );
  return rows.map((row) => ({ id: row.id, score: row.score, header: headerOf(row) }));
}

/** Words, and every two neighbours as a phrase: in BM25 a rare pair outweighs many common words. */
function matchQuery(cache: Database, stems: readonly string[]): string {
  const words = [...new Set(stems)].slice(0, MOST_TERMS);
  const pairs = [...new Set(stems.slice(1).map((stem, at) => `${stems[at]} ${stem}`))].slice(0, MOST_TERMS);
  const sql = 'SELECT count(*) AS rows FROM words WHERE words MATCH ?';
  const rows = new Map(words.map((word) => [word, cache.get<{ rows: number }>(sql, `"${word}"`)?.rows ?? 0]));
  const terms = [...affordable(words, rows, MOST_ROWS.words), ...affordable(pairs, rows, MOST_ROWS.pairs)];
  return terms.map((term) => `"${term}"`).join(' OR ');
}

/** The rarest whose rows are `most` together, and one at least; without those that no skill can hold. */
function affordable(terms: readonly string[], rows: ReadonlyMap<string, number>, most: number): readonly string[] {
  const counted = terms.map((term) => ({ term, each: term.split(' ').map((word) => rows.get(word) ?? 0) }));
  const known = counted.flatMap(({ term, each }) =>
    each.includes(0) ? [] : [{ term, rows: each.reduce((sum, one) => sum + one) }],
  );
  let left = most;
  const isWithin = (at: number, cost: number) => {
    left -= cost;
    return at === 0 || left >= 0;
  };
  const rarest = known.toSorted((a, b) => a.rows - b.rows).filter((one, at) => isWithin(at, one.rows));
  return rarest.map(({ term }) => term);
}

const LIMIT = 5;
const DESCRIPTION_SIZE = 160;
/**
 * BM25 a stem of the question. Small talk stays under 2 in nineteen of twenty cases, a sentence of a skill's body is over 3 in nine of
 * ten; two words that the header shares, or one of its name, are enough when the rest does not speak against it.
 */
const BODY_SPEAKS = 2.2;
const HEADER_SPEAKS = 1;
/** Among so few, BM25 says little. */
const FEW = 50;

/** A part for the user message, or undefined when there is nothing worth reading. */
export async function offerSkills(
  question: string,
  options: {
    readonly ranker: SkillRanker;
    readonly conditions: Shown;
    /** Names in the prompt's index: they need no offer. */
    readonly shown: ReadonlySet<string>;
    /** Skills that fit these surroundings (`SkillIndexText.total`). */
    readonly total: number;
    /** Default 5. */
    readonly limit?: number;
  },
  signal: AbortSignal,
): Promise<TextPart | undefined> {
  const { ranker, shown, conditions, total, limit = LIMIT } = options;
  if (total <= shown.size) return undefined;
  const ranked = await ranker.rank(question, { limit, conditions, without: shown }, signal);
  const stems = new Set(questionStems(question));
  const fitting = ranked.filter((skill) => isWorthReading(skill, stems, total));
  return fitting.length === 0 ? undefined : offerPart(fitting.map(({ header }) => header));
}

/** Found by meaning alone, by much of its body, by its name or a tag, or by two words of its header. */
function isWorthReading({ header, wordScore }: RankedSkill, stems: ReadonlySet<string>, total: number): boolean {
  if (wordScore === 0) return true;
  const perStem = wordScore / stems.size;
  if (stems.size > 1 && perStem >= BODY_SPEAKS) return true;
  const { name, description, whenToUse, tags } = header;
  const common = (text: string) => new Set(contentStems(text).filter((stem) => stems.has(stem))).size;
  const named = common(`${name} ${tags.join(' ')}`);
  return (perStem >= HEADER_SPEAKS || total < FEW) && (named > 0 || common(`${description} ${whenToUse}`) > 1);
}

function offerPart(headers: readonly SkillHeader[]): TextPart {
  const lines = headers.map(({ name, description }) => `- ${name}: ${ellipsize(description, DESCRIPTION_SIZE)}`);
  const text = `${PROCEDURAL_MEMORY} Skills that may fit this request; read one with skill_view before use:\n${lines.join('\n')}`;
  return { type: 'text', text, origin: 'foreign', label: 'context' };
}
