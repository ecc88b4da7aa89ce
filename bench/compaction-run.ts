// Owns replaying one LoCoMo conversation as one session in a small window: the real store, the real compressor, a scripted summariser.
// Knows no target. Invariant: the same conversation, stored beside it without any compression, is what it is compared with.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { Compressor } from '#core/agent/compress/compressor.ts';
import { LiveContext } from '#core/agent/history.ts';
import type { FrozenPrompt, StoredMessage } from '#core/agent/session-store.ts';
import type { Message } from '#core/model/message.ts';
import { type ModelClient, NO_USAGE } from '#core/model/model-client.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Conversation, Turn } from './locomo-data.ts';

const WINDOW = 16_384;
/** As large as the target of the fixed prompt. */
const PROMPT: FrozenPrompt = { system: 'word '.repeat(1_200), tools: [] };
const RECORD = '## Done\n- The two talked on.\n## Active state\n- They are still talking.';
const TOP = 10;

export interface Cost {
  readonly compressions: number;
  /** CPU ms of the main thread for all compressions, their transactions counted in. */
  readonly cpuMs: number;
  /** Tokens of the contexts that they worked on. */
  readonly workedOn: number;
}

export interface Replay extends Cost {
  /** Evidence messages that left the context, and those of them that their rarest words find. */
  readonly left: number;
  readonly refound: number;
  /** One sentence for each that was not found. */
  readonly missing: readonly string[];
  /** Share of a question's evidence, mean: in the context or among the first ten; and among the first ten without compression. */
  readonly compressedRecall: number;
  readonly plainRecall: number;
  /** Tokens of the last request. */
  readonly tokens: number;
  readonly plainTokens: number;
}

/** What compressing the conversation costs, without looking at what became of it. */
export function measureCost(conversation: Conversation): Promise<Cost> {
  return withStore((store) => tell(store, conversation, true));
}

export function replay(conversation: Conversation): Promise<Replay> {
  return withStore((store) => withStore((plain) => compare(conversation, store, plain)));
}

async function withStore<T>(use: (store: SqliteSessionStore) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-compaction-'));
  const store = createSqliteSessionStore({ path: join(folder, 'state.db') });
  try {
    return await use(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(
  conversation: Conversation,
  store: SqliteSessionStore,
  plain: SqliteSessionStore,
): Promise<Replay> {
  const told = await tell(store, conversation, true);
  const whole = await tell(plain, conversation, false);
  const inContext = new Set(told.context.stored.map((stored) => stored.id));
  const turns = new Map(conversation.turns.map((turn) => [turn.id, turn]));
  const { compressions, cpuMs, workedOn, context, ids } = told;
  const stands = (id: string) => inContext.has(ids.get(id) ?? 0);
  return {
    ...(await refind(store, conversation, { ids, inContext, turns })),
    compressedRecall: await recall(store, conversation, { ids, stands }),
    plainRecall: await recall(plain, conversation, { ids: whole.ids, stands: () => false }),
    tokens: context.tokens,
    plainTokens: whole.context.tokens,
    compressions,
    cpuMs,
    workedOn,
  };
}

interface Told extends Cost {
  readonly context: LiveContext;
  /** Message id of each dialog turn. */
  readonly ids: ReadonlyMap<string, number>;
}

async function tell(store: SqliteSessionStore, { turns }: Conversation, compress: boolean): Promise<Told> {
  const session = await store.create({ source: 'bench', cwd: '/' });
  const context = new LiveContext(PROMPT, []);
  const compressor = compressorOf(store, session.id, context);
  const { signal } = new AbortController();
  const stored = await Promise.all(turns.map((turn) => append(store, session.id, { turn, first: turns[0] })));
  store.database.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // else the first compression pays for writing the appends back
  const ids = new Map(stored.map(({ id }, at) => [turns[at]?.id ?? '', id]));
  let compressions = 0;
  let cpuMs = 0;
  let workedOn = 0;
  for (const one of stored) {
    context.push(one);
    if (!compress) continue;
    const before = context.tokens;
    const from = process.threadCpuUsage();
    const events = await Array.fromAsync(compressor.makeRoom('turn', 0, signal));
    if (!events.some((event) => event.type === 'prefix-break')) continue;
    const { user, system } = process.threadCpuUsage(from);
    compressions += 1;
    cpuMs += (user + system) / 1000;
    workedOn += before;
  }
  return { context, ids, compressions, cpuMs, workedOn };
}

/** All at once, since the store commits them in groups: what stands in the context is pushed one by one. */
function append(
  store: SqliteSessionStore,
  sessionId: string,
  { turn, first }: { readonly turn: Turn; readonly first: Turn | undefined },
): Promise<StoredMessage> {
  return store.append(sessionId, messageOf(turn, first), { at: turn.timestamp, speaker: turn.speaker });
}

function compressorOf(store: SqliteSessionStore, sessionId: string, context: LiveContext): Compressor {
  return new Compressor({
    store,
    context,
    session: { sessionId, source: 'bench', cwd: '/' },
    settings: {},
    model: () => RECORDER,
    buildPrompt: () => PROMPT,
    machine: { clock: systemClock, hooks: [], place: { redact: (text) => text } },
  });
}

/** Summarises whatever it is given in the same words. */
const RECORDER: ModelClient = {
  id: 'bench/recorder',
  tier: 'T1',
  traits: { contextWindow: WINDOW, toolCalling: 'structured', cacheMarks: false, local: true },
  async *stream() {
    yield { type: 'text-delta', text: RECORD };
    yield { type: 'finish', reason: 'stop', usage: NO_USAGE, model: 'bench/recorder', tier: 'T1', cost: 0 };
  },
};

function messageOf(turn: Turn, first: Turn | undefined): Message {
  const { content: text, speaker } = turn;
  if (speaker === first?.speaker) return { role: 'user', parts: [{ type: 'text', text, origin: 'owner' }] };
  return { role: 'assistant', model: 'bench/peer', parts: [{ type: 'text', text, origin: 'model' }] };
}

interface Place {
  readonly ids: ReadonlyMap<string, number>;
  readonly inContext: ReadonlySet<number>;
  readonly turns: ReadonlyMap<string, Turn>;
}

async function refind(
  store: SqliteSessionStore,
  conversation: Conversation,
  { ids, inContext, turns }: Place,
): Promise<Pick<Replay, 'left' | 'refound' | 'missing'>> {
  const rarest = rarestWords(conversation.turns);
  const evidence = new Set(askable(conversation).flatMap((question) => question.evidence));
  const missing: string[] = [];
  let left = 0;
  for (const id of evidence) {
    const messageId = ids.get(id) ?? 0;
    const turn = turns.get(id);
    if (inContext.has(messageId) || turn === undefined) continue;
    left += 1;
    const query = rarest(turn).join(' ');
    const hits = await store.search(query, { limit: TOP });
    if (!hits.some((hit) => hit.messageId === messageId)) missing.push(`${conversation.id} ${id}: "${query}"`);
  }
  return { left, refound: left - missing.length, missing };
}

/** The three words of a turn that stand in the fewest turns; among equals the longer ones. */
function rarestWords(turns: readonly Turn[]): (turn: Turn) => readonly string[] {
  const rows = new Map<string, number>();
  for (const turn of turns) for (const word of new Set(wordsOf(turn))) rows.set(word, (rows.get(word) ?? 0) + 1);
  return (turn) =>
    [...new Set(wordsOf(turn))]
      .sort((a, b) => (rows.get(a) ?? 0) - (rows.get(b) ?? 0) || b.length - a.length || (a < b ? -1 : 1))
      .slice(0, 3);
}

function wordsOf({ content }: Turn): readonly string[] {
  return content.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? [];
}

async function recall(
  store: SqliteSessionStore,
  conversation: Conversation,
  { ids, stands }: { readonly ids: ReadonlyMap<string, number>; readonly stands: (id: string) => boolean },
): Promise<number> {
  const questions = askable(conversation);
  let sum = 0;
  for (const { text, evidence } of questions) {
    const hits = new Set((await store.search(text, { limit: TOP })).map((hit) => hit.messageId));
    sum += evidence.filter((id) => stands(id) || hits.has(ids.get(id) ?? 0)).length / evidence.length;
  }
  return sum / Math.max(1, questions.length);
}

function askable({ questions }: Conversation): Conversation['questions'] {
  return questions.filter((question) => question.category !== 5 && question.evidence.length > 0);
}
