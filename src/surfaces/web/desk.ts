// Owns what stands behind the pages while they are served: turns that a page began, questions that wait for a person, commands, and what is told live.
// Knows no markup and no HTTP. Invariants: a question that nobody answers in ten minutes is a no; a turn that was begun here ends with the desk,
// and gives its session back; what is told is numbered, so that whoever was cut off hears the rest.
import { once } from 'node:events';
import { AbortedError, raceAbort } from '#base/abort.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import { randomHex } from '#base/ids.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type ApprovalRequest, absentAsker } from '#core/agent/approver.ts';
import { type AnyCommand, type CommandOutput, type Failure, refused } from '#core/agent/command-spec.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { SessionRecord } from '#core/agent/session-store.ts';
import type { SessionEvent } from '#core/agent/turn-event.ts';
import type { App } from '#surfaces/app/app.ts';

/** What a command said. */
export interface Shown {
  readonly lines: readonly string[];
  readonly tables: readonly Extract<CommandOutput, { type: 'table' }>[];
  readonly value?: JsonValue | undefined;
  readonly failure?: Failure | undefined;
}

/** A call that waits for a yes. */
export interface Waiting extends ApprovalRequest {
  readonly id: string;
  readonly session: string;
}

export interface Live {
  readonly id: string;
  readonly type: 'changed' | 'text' | 'fresh';
  readonly session?: string;
  readonly data: JsonObject;
}

const [PATIENCE_MS, LOOK_MS, MOST_KEPT] = [600_000, 2_000, 2_000];
const ALL = 'SELECT (SELECT max(id) FROM messages) AS message, (SELECT count(*) FROM leases) AS open';
const ONE = 'SELECT last_seq, message_count, title FROM sessions WHERE id = ?';

export class PageDesk {
  readonly app: App;
  /** Sessions whose turn runs in this process, whoever began it. */
  readonly running = new Set<string>();
  /** Why the last turn of a session failed here. */
  readonly faults = new Map<string, string>();
  readonly #lent: readonly AnyCommand[];
  readonly #ends = new AbortController();
  readonly #talks = new Map<string, { readonly talk: Conversation; readonly stop: AbortController }>();
  readonly #waiting = new Map<string, { readonly asked: Waiting; readonly answer: (text: string) => void }>();
  readonly #boot = randomHex(4);
  readonly #told: Live[] = [];
  readonly #listeners = new Set<(live: Live) => void>();
  #commands: Promise<readonly AnyCommand[]> | undefined;
  #count = 0;

  constructor(app: App, lent: readonly AnyCommand[]) {
    this.app = app;
    this.#lent = lent;
  }

  /** Until the signal aborts; what was begun here then ends in the background of the app. */
  async run(signal: AbortSignal): Promise<void> {
    const leave = this.app.events.subscribe((told) => this.#hear(told));
    if (!signal.aborted) await once(signal, 'abort');
    leave();
    this.#ends.abort(new AbortedError('the server ends'));
  }

  async command(name: string, input: object = {}): Promise<Shown> {
    this.#commands ??= this.app.commands();
    const found = [...(await this.#commands), ...this.#lent].find((one) => one.name === name);
    const parsed = found?.input.safeParse(input);
    if (!found || !parsed?.success) {
      const why = parsed?.error?.issues[0]?.message ?? `This Talaria has no ${name}.`;
      return { lines: [], tables: [], failure: refused('not-here', why) };
    }
    const { cwd } = this.app.environment;
    const outputs = await Array.fromAsync(found.run(parsed.data, { cwd, signal: this.#ends.signal }));
    const lines = outputs.flatMap((one) => (one.type === 'line' ? [one.text] : []));
    const tables = outputs.filter((one) => one.type === 'table');
    const failure = outputs.find((one) => one.type === 'failure');
    return { lines, tables, failure, value: outputs.find((one) => one.type === 'data')?.value };
  }

  waiting(session?: string): readonly Waiting[] {
    const all = [...this.#waiting.values()].map(({ asked }) => asked);
    return all.filter((one) => session === undefined || one.session === session);
  }

  answer(id: string, text: string): boolean {
    this.#waiting.get(id)?.answer(text);
    return this.#waiting.has(id);
  }

  /** A turn of it, or a line for the one that runs; absent: in a new session. Gives the session's id. */
  async send(id: string | undefined, text: string): Promise<Result<string>> {
    const running = id === undefined ? undefined : this.#talks.get(id);
    if (running) {
      running.talk.steer(text);
      return ok(running.talk.session.id);
    }
    const session = id === undefined ? undefined : await this.app.doors.sessions.get(id);
    if (session && !(await this.isOwners(session)))
      return refuse('not-yours', 'Somebody else talks in this session, and would be told what you say: fork it.');
    let own = id ?? '';
    const opened = await this.app.openConversation({
      ...{ source: 'web', cwd: session?.cwd ?? this.app.environment.cwd },
      ...(id === undefined ? {} : { resume: id }),
      ...{ approver: { approve: (asked, signal) => this.#approve(own, asked, signal) }, asker: absentAsker },
    });
    if (!opened.ok) return opened;
    own = opened.value.session.id;
    this.app.background('page: turn', this.#play(opened.value, text));
    return ok(own);
  }

  /** A chat's other side is a guest, unless that person is known as an owner; nobody talks in a fork. */
  async isOwners({ chatId, userId, parentId }: SessionRecord): Promise<boolean> {
    if (chatId === undefined || parentId !== undefined) return true;
    const people = ((await this.command('gateway users')).value ?? []) as readonly JsonObject[];
    return people.some(({ id, seat }) => id === userId && seat === 'owner');
  }

  stop(session: string): boolean {
    this.#talks.get(session)?.stop.abort(new AbortedError());
    return this.#talks.has(session);
  }

  isOurs(session: string): boolean {
    return this.#talks.has(session);
  }

  async #play(talk: Conversation, text: string): Promise<void> {
    const { id } = talk.session;
    const stop = new AbortController();
    this.#talks.set(id, { talk, stop });
    const signal = AbortSignal.any([stop.signal, this.#ends.signal]);
    try {
      // A line that came when the last step was over begins a turn of its own.
      for (let next = text; next !== '' && !signal.aborted; next = talk.takeBack().join('\n'))
        await Array.fromAsync(talk.send(next, { signal }), () => undefined);
    } finally {
      this.#talks.delete(id);
      await talk.leave();
      this.#tell('changed', id);
    }
  }

  async #approve(session: string, request: ApprovalRequest, signal: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<string>();
    const id = randomHex(8);
    const cancel = this.app.clock.after(PATIENCE_MS, () => resolve('nobody answered on the page'));
    this.#waiting.set(id, { asked: { ...request, id, session }, answer: resolve });
    this.#tell('changed', session);
    const said = await raceAbort(promise, signal).finally(() => {
      cancel();
      this.#waiting.delete(id);
      this.#tell('changed', session);
    });
    if (said === 'once' || said === 'session') return { decision: said } as const;
    return { decision: 'deny', reason: said } as const;
  }

  #hear({ sessionId: session, event }: SessionEvent): void {
    if (session === undefined) return;
    if (event.type === 'turn-start') this.running.add(session);
    if (event.type === 'turn-end') this.running.delete(session);
    if (event.type === 'turn-end') this.faults.set(session, [event.error?.message, event.error?.fix].join(' ').trim());
    if (event.type === 'text-delta') this.#tell('text', session, { text: event.text });
    if (event.type === 'model-retry' || event.type === 'turn-end') this.#tell('fresh', session);
    if (/^(?:turn-start|turn-end|message|tool-start)$/.test(event.type))
      this.#tell('changed', session, { kept: event.type === 'message' });
  }

  #tell(type: Live['type'], session: string, data: JsonObject = {}): void {
    this.#count += 1;
    const live = { type, session, data, id: `${this.#boot}-${this.#count}` };
    this.#told.push(live);
    if (this.#told.length > MOST_KEPT) this.#told.shift();
    for (const listener of this.#listeners) listener(live);
  }

  /** What is told of one session, or that anything changed at all; `last`: what was heard before. Ends with the signal, or with the desk. */
  async *live(session: string | undefined, last: string, given: AbortSignal): AsyncGenerator<Live, void> {
    const signal = AbortSignal.any([given, this.#ends.signal]);
    const queue = createAsyncQueue<Live>();
    const hear = (live: Live) => {
      if (session === undefined ? live.type === 'changed' : live.session === session) queue.push(live);
    };
    const changed = (): Live => ({ id: `${this.#boot}-${this.#count}`, type: 'changed', data: {} });
    const at = this.#told.findIndex(({ id }) => id === last);
    // Where it is not known any more what came since, all may have changed.
    if (last !== '' && at < 0) queue.push(changed());
    if (at >= 0) this.#told.slice(at + 1).forEach(hear);
    this.#listeners.add(hear);
    // Also when the signal aborts.
    this.#look(session, () => queue.push(changed()), signal).catch(queue.close);
    try {
      yield* queue;
    } finally {
      this.#listeners.delete(hear);
    }
  }

  /** Other programs write into the same file: their commits change its version for us, ours do not. */
  async #look(session: string | undefined, tell: () => void, signal: AbortSignal): Promise<never> {
    const { state } = this.app.doors;
    const version = () => JSON.stringify(state.get('PRAGMA data_version'));
    const stamp = () => JSON.stringify(session === undefined ? state.get(ALL) : state.get(ONE, session));
    let [seen, known] = [version(), stamp()];
    for (;;) {
      await this.app.clock.sleep(LOOK_MS, signal);
      const now = version();
      if (now !== seen && stamp() !== known) tell();
      if (now !== seen) [seen, known] = [now, stamp()];
    }
  }
}
