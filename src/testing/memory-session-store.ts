// Owns a SessionStore without a disk, for tests of what stands above it. Invariant: it passes the contract suite of SessionStore, so it
// refuses and orders as the real one does; everything given and kept is copied, so nobody can change the past.
import { type Clock, systemClock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { newSessionId, sha256 } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type {
  Compaction,
  CostFilter,
  CostRow,
  FrozenPrompt,
  SessionFilter,
  SessionLease,
  SessionRecord,
  SessionStart,
  SessionStore,
  Span,
  StoredMessage,
} from '#core/agent/session-store.ts';
import { type Message, toolCalls } from '#core/model/message.ts';
import { NO_USAGE, type Usage } from '#core/model/model-client.ts';

interface Kept {
  record: SessionRecord;
  /** In the order of the context, those that left it among them. */
  readonly messages: Row[];
  readonly spans: Map<string, Span>;
  prompt?: FrozenPrompt;
  leased: boolean;
}

interface Row {
  readonly stored: StoredMessage;
  state: 'live' | 'compacted' | 'gone';
  /** Put in by `compact`. */
  readonly inserted: boolean;
}

export function createMemorySessionStore(clock: Clock = systemClock): SessionStore {
  return new MemorySessionStore(clock);
}

class MemorySessionStore implements SessionStore {
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Kept>();
  #lastId = 0;
  #activity = 0;
  readonly #lastActivity = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async create(start: SessionStart): Promise<SessionRecord> {
    const id = start.id ?? newSessionId(this.#clock);
    const now = this.#clock.now();
    const record = { ...start, id, startedAt: now, lastActiveAt: now, messageCount: 0, toolCallCount: 0 };
    this.#sessions.set(id, { record, messages: [], spans: new Map(), leased: false });
    this.#touch(id);
    return structuredClone(record);
  }

  async get(sessionId: string): Promise<SessionRecord | undefined> {
    return structuredClone(this.#sessions.get(sessionId)?.record);
  }

  async list(filter: SessionFilter = {}): Promise<readonly SessionRecord[]> {
    const order = (record: SessionRecord) => this.#lastActivity.get(record.id) ?? 0;
    return [...this.#sessions.values()]
      .map((kept) => structuredClone(kept.record))
      .filter((record) => filter.source === undefined || record.source === filter.source)
      .filter((record) => filter.cwd === undefined || record.cwd === filter.cwd)
      .filter((record) => filter.spoken !== true || record.messageCount > 0)
      .sort((a, b) => b.lastActiveAt - a.lastActiveAt || order(b) - order(a))
      .slice(0, filter.limit ?? 20);
  }

  async append(sessionId: string, message: Message): Promise<StoredMessage> {
    const kept = this.#need(sessionId);
    this.#lastId += 1;
    const stored = { id: this.#lastId, sessionId, at: this.#clock.now(), message: structuredClone(message) };
    kept.messages.push({ stored, state: 'live', inserted: false });
    const { endedAt: _, ...open } = kept.record;
    kept.record = {
      ...open,
      lastActiveAt: Math.max(open.lastActiveAt, stored.at),
      messageCount: open.messageCount + 1,
      toolCallCount: open.toolCallCount + toolCalls(message).length,
      ...(message.role === 'assistant' ? { model: message.model } : {}),
    };
    this.#touch(sessionId);
    return structuredClone(stored);
  }

  async messages(sessionId: string): Promise<readonly StoredMessage[]> {
    return structuredClone(liveRows(this.#need(sessionId)).map((row) => row.stored));
  }

  async compact(sessionId: string, { ids, replacement, prompt }: Compaction): Promise<readonly StoredMessage[]> {
    const kept = this.#need(sessionId);
    const leaving = liveRows(kept).filter((row) => ids.includes(row.stored.id));
    const last = leaving.at(-1);
    if (last === undefined || leaving.length !== new Set(ids).size) throw noSuchMessage(sessionId);
    for (const row of leaving) row.state = row.inserted ? 'gone' : 'compacted';
    const rows = replacement.map((message): Row => {
      this.#lastId += 1;
      const stored = { id: this.#lastId, sessionId, at: this.#clock.now(), message: structuredClone(message) };
      return { stored, state: 'live', inserted: true };
    });
    kept.messages.splice(kept.messages.indexOf(last) + 1, 0, ...rows);
    if (prompt !== undefined) kept.prompt = structuredClone(prompt);
    return structuredClone(rows.map((row) => row.stored));
  }

  async rewind(sessionId: string, messageId: number): Promise<number> {
    const kept = this.#need(sessionId);
    const isKnown = (row: Row) => row.state !== 'gone' && !row.inserted && row.stored.id === messageId;
    const from = kept.messages.findIndex(isKnown);
    if (from < 0) throw noSuchMessage(sessionId);
    const taken = kept.messages.slice(from).filter((row) => row.state !== 'gone');
    for (const row of taken) row.state = 'gone';
    const summarised = taken.some((row) => row.inserted);
    for (const row of kept.messages) if (summarised && row.state === 'compacted') row.state = 'live';
    const told = taken.filter((row) => !row.inserted).map((row) => row.stored.message);
    const { messageCount, toolCallCount } = kept.record;
    const calls = told.reduce((sum, message) => sum + toolCalls(message).length, 0);
    kept.record = { ...kept.record, messageCount: messageCount - told.length, toolCallCount: toolCallCount - calls };
    return told.length;
  }

  async savePrompt(sessionId: string, prompt: FrozenPrompt): Promise<string> {
    this.#need(sessionId).prompt = structuredClone(prompt);
    return sha256(`${prompt.system}\0${JSON.stringify(prompt.tools)}`);
  }

  async loadPrompt(sessionId: string): Promise<FrozenPrompt | undefined> {
    return structuredClone(this.#need(sessionId).prompt);
  }

  async setTitle(sessionId: string, title: string): Promise<void> {
    const kept = this.#need(sessionId);
    kept.record = { ...kept.record, title };
  }

  async end(sessionId: string): Promise<void> {
    const kept = this.#need(sessionId);
    kept.record = { ...kept.record, endedAt: this.#clock.now() };
  }

  async claim(sessionId: string): Promise<Result<SessionLease, 'owned-elsewhere' | 'no-such-session'>> {
    const kept = this.#sessions.get(sessionId);
    if (kept === undefined) return refuse('no-such-session', `There is no session ${sessionId}.`);
    if (kept.leased) return refuse('owned-elsewhere', 'This process has this session open: read it or fork it.');
    kept.leased = true;
    let held = true;
    const release = async () => {
      if (held) kept.leased = false;
      held = false;
    };
    return ok({ sessionId, release });
  }

  async fork(sessionId: string): Promise<SessionRecord> {
    const parent = this.#need(sessionId);
    const { source, cwd, userId, chatId, title } = parent.record;
    const child = await this.create({
      source,
      cwd,
      parentId: sessionId,
      ...(userId === undefined ? {} : { userId }),
      ...(chatId === undefined ? {} : { chatId }),
      ...(title === undefined ? {} : { title }),
    });
    const kept = this.#need(child.id);
    for (const { stored } of liveRows(parent)) {
      this.#lastId += 1;
      const copy = { ...structuredClone(stored), id: this.#lastId, sessionId: child.id };
      kept.messages.push({ stored: copy, state: 'live', inserted: false });
    }
    if (parent.prompt !== undefined) kept.prompt = parent.prompt;
    const model = parent.record.model;
    kept.record = { ...child, messageCount: kept.messages.length, ...(model === undefined ? {} : { model }) };
    return structuredClone(kept.record);
  }

  async recordSpans(spans: readonly Span[]): Promise<void> {
    for (const span of spans) this.#need(span.sessionId);
    for (const span of spans) this.#need(span.sessionId).spans.set(span.id, structuredClone(span));
  }

  async spans(sessionId: string): Promise<readonly Span[]> {
    return structuredClone([...this.#need(sessionId).spans.values()].sort((a, b) => a.startedAt - b.startedAt));
  }

  async costs(filter: CostFilter = {}): Promise<readonly CostRow[]> {
    const kept = filter.sessionId === undefined ? [...this.#sessions.values()] : [this.#need(filter.sessionId)];
    const steps = kept.flatMap((one) => [...one.spans.values()]).filter((span) => isPaidStep(span, filter));
    const groups = Map.groupBy(steps, (span) => `${span.purpose ?? 'answer'}\0${span.name}`);
    return [...groups.values()].map(sumSteps).sort((a, b) => b.cost - a.cost || b.calls - a.calls);
  }

  async close(): Promise<void> {
    for (const kept of this.#sessions.values()) kept.leased = false;
  }

  #need(sessionId: string): Kept {
    const kept = this.#sessions.get(sessionId);
    if (kept === undefined) throw new TalariaError(`there is no session ${sessionId}`, { code: 'no-such-session' });
    return kept;
  }

  #touch(sessionId: string): void {
    this.#activity += 1;
    this.#lastActivity.set(sessionId, this.#activity);
  }
}

function liveRows(kept: Kept): readonly Row[] {
  return kept.messages.filter((row) => row.state === 'live');
}

function noSuchMessage(sessionId: string): TalariaError {
  return new TalariaError(`there is no such message in ${sessionId}`, { code: 'no-such-message' });
}

function isPaidStep(span: Span, { since = 0, until = Number.POSITIVE_INFINITY }: CostFilter): boolean {
  return span.kind === 'step' && span.usage !== undefined && span.startedAt >= since && span.startedAt < until;
}

function sumSteps(steps: readonly Span[]): CostRow {
  const usage = steps.reduce((sum, span) => addUsage(sum, span.usage ?? NO_USAGE), NO_USAGE);
  const priced = steps.filter((span) => typeof span.cost === 'number');
  return {
    purpose: steps[0]?.purpose ?? 'answer',
    model: steps[0]?.name ?? '',
    calls: steps.length,
    usage,
    cost: priced.reduce((sum, span) => sum + (span.cost ?? 0), 0),
    unpriced: steps.length - priced.length,
  };
}

function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  };
}
