// Measures search in a million messages: time of 1,000 questions after a warm-up, and how much of the best possible ten the bounded search
// finds. Exhaustive: the same score over every row that holds any stem of the question, or stands within three turns of one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openDatabase } from '#base/database.ts';
import { openSessions } from '#mind/sessions/open-sessions.ts';
import { MessageRanker, REACH } from '#mind/sessions/search/message-search.ts';
import { RowScorer } from '#mind/sessions/search/score-rows.ts';
import { type LaneRow, SearchLane } from '#mind/sessions/search/search-lane.ts';
import { sessionSchema } from '#mind/sessions/session-schema.ts';
import { type BenchRow, median, quantile } from './bench-row.ts';
import { readConversations } from './locomo-data.ts';
import { generateMessages, generateQuestions } from './million-messages.ts';

export interface RecallOptions {
  readonly messages?: number;
  readonly questions?: number;
  /** Questions that are also answered exhaustively. */
  readonly exhaustive?: number;
  /** A database that an earlier run made; it is kept. */
  readonly path?: string;
}

const TOP = 10;

/** Rows for the 99th percentile in ms and for the overlap. */
export async function benchRecall1m(options: RecallOptions = {}): Promise<readonly BenchRow[]> {
  const conversations = readConversations();
  if (conversations === undefined) return [];
  const { messages = 1_000_000, questions = 1000, exhaustive = 60 } = options;
  const folder = mkdtempSync(join(tmpdir(), 'talaria-recall-'));
  const path = options.path ?? join(folder, 'state.db');
  try {
    if (options.path === undefined) await fill(path, generateMessages(conversations, messages));
    const asked = generateQuestions(conversations, questions);
    const times = await timeQuestions(path, asked);
    const overlap = measureOverlap(path, every(asked, exhaustive));
    return rows(times, overlap, messages);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rows(times: Times, overlap: readonly number[], messages: number): readonly BenchRow[] {
  const at = (share: number) => round(quantile(times.warm, share));
  const mean = overlap.reduce((sum, value) => sum + value, 0) / Math.max(1, overlap.length);
  const lowest = overlap.length === 0 ? 0 : Math.min(...overlap);
  return [
    {
      metric: 'recall at 1 M: p99',
      value: at(0.99),
      target: '≤ 30',
      unit: 'ms',
      ok: at(0.99) <= 30,
      note: `${messages} messages, ${times.warm.length} questions, median of three warm runs each; median ${at(0.5)}, p90 ${at(0.9)}, slowest ${at(1)}; first time p99 ${round(quantile(times.first, 0.99))}`,
    },
    {
      metric: 'recall at 1 M: overlap',
      value: Math.round(mean * 10_000) / 10_000,
      target: '≥ 0.98',
      unit: '',
      ok: mean >= 0.98,
      note: `${overlap.length} questions answered exhaustively; lowest ${lowest.toFixed(3)}`,
    },
  ];
}

export async function fill(path: string, messages: Iterable<Parameters<ReturnType<typeof openSessions>['append']>[0]>) {
  const sessions = openSessions(path);
  let batch: Promise<unknown>[] = [];
  for (const message of messages) {
    batch.push(sessions.append(message));
    if (batch.length < 512) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
  await sessions.close();
}

interface Times {
  /** ms of each question when it is asked for the first time in this process. */
  readonly first: readonly number[];
  /** Median of three more times: pages and word lists are in memory, and other work on the machine hits one of the three. */
  readonly warm: readonly number[];
}

async function timeQuestions(path: string, questions: readonly string[]): Promise<Times> {
  const sessions = openSessions(path);
  const timeAll = async () => {
    const times: number[] = [];
    for (const question of questions) {
      const start = performance.now();
      await sessions.search(question, { limit: TOP });
      times.push(performance.now() - start);
    }
    return times;
  };
  try {
    const first = await timeAll();
    const again = [await timeAll(), await timeAll(), await timeAll()];
    return { first, warm: questions.map((_, at) => median(again.map((times) => times[at] ?? 0))) };
  } finally {
    await sessions.close();
  }
}

/** Exhaustive score of our ten over that of the true ten, for each question. */
function measureOverlap(path: string, questions: readonly string[]): readonly number[] {
  const { database } = openDatabase(path, { rooms: [sessionSchema], readOnly: true });
  try {
    const lane = new SearchLane(database, 'spoken');
    const ranker = new MessageRanker(lane);
    const corpus = loadSessions(lane, database.all<{ key: number }>('SELECT key FROM sessions ORDER BY key'));
    const context = { speakers: ['user', 'assistant', ...lane.speakers()], now: Date.now() };
    return questions.map((question) => {
      const { plan, rows } = ranker.rank(question, context);
      const truth = exhaustiveScores(corpus, new RowScorer(plan), context.now);
      const best = [...truth.values()].sort((a, b) => b - a).slice(0, TOP);
      const ours = rows.slice(0, TOP).map(({ row }) => truth.get(row.id) ?? 0);
      const ideal = sum(best);
      return ideal === 0 ? 1 : sum(ours) / ideal;
    });
  } finally {
    database.close();
  }
}

function loadSessions(lane: SearchLane, keys: readonly { readonly key: number }[]): readonly (readonly LaneRow[])[] {
  return keys.map(({ key }) => lane.window(key, 0, Number.MAX_SAFE_INTEGER));
}

function exhaustiveScores(
  corpus: readonly (readonly LaneRow[])[],
  scorer: RowScorer,
  now: number,
): ReadonlyMap<number, number> {
  const scores = new Map<number, number>();
  for (const session of corpus) {
    const owns = session.map((row) => scorer.own(row.terms));
    if (!owns.some((own) => own > 0)) continue;
    for (const [at, row] of session.entries()) {
      if (!owns.slice(Math.max(0, at - REACH), at + REACH + 1).some((own) => own > 0)) continue;
      scores.set(row.id, scorer.inContext(session, owns, at) + scorer.time(row, now));
    }
  }
  return scores;
}

function every<T>(items: readonly T[], count: number): readonly T[] {
  const step = Math.max(1, Math.floor(items.length / count));
  return items.filter((_, at) => at % step === 0).slice(0, count);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await benchRecall1m());
