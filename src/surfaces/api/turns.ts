// Owns the turns of programs: which session a request goes on in, who waits for whom, and the one turn that it is: open, turn, leave. Knows no wire.
// Invariants: what a client shows of a conversation is the key of its session, kept before the answer ends; a request that shows an older point
// goes on in a fork; what the model is sent only grows; two turns of one session never overlap. `api.sqlite` holds hashes and ids, no words.
import { join } from 'node:path';
import { AbortedError, deadline, raceAbort } from '#base/abort.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { type Approver, absentAsker } from '#core/agent/approver.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { isText, type Message, type UserPart } from '#core/model/message.ts';
import { MOST_IMAGE_BYTES, MOST_IMAGES } from '#core/model/pictures.ts';
import { fetchPage } from '#core/tools/web-fetch-tool.ts';
import type { App } from '#surfaces/app/app.ts';

/** What an endpoint answers instead, with the status that the official API has for it. */
export class ApiError extends TalariaError {
  readonly status: number;
  readonly param: string | undefined;

  constructor(status: number, code: string, message: string, param?: string) {
    super(message, { code });
    this.status = status;
    this.param = param;
  }
}

export interface Said {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Data URLs, or addresses. */
  readonly images: readonly string[];
}

export interface TurnWish {
  readonly source: 'api' | 'mcp';
  readonly last: Said;
  /** What the client shows of the conversation before it. */
  readonly past?: readonly Said[];
  /** What the program itself wants said to the model. */
  readonly context?: string;
  /** Named by the client; `last`: the message that it goes on behind. */
  readonly place?: { readonly session: string; readonly last?: number } | undefined;
  /** `talaria`, or `talaria/PROVIDER/MODEL`. */
  readonly model?: string;
  readonly maxOutputTokens?: number | null | undefined;
  readonly user?: string | null | undefined;
  readonly approver?: Approver;
}

type Place = NonNullable<TurnWish['place']>;

export type Turn = Awaited<ReturnType<TurnDesk['begin']>>;

const HISTORIES = 'CREATE TABLE histories(hash TEXT PRIMARY KEY, session TEXT, last INTEGER) WITHOUT ROWID;';
const RESPONSES = 'CREATE TABLE responses(id TEXT PRIMARY KEY, session TEXT, first INTEGER, last INTEGER, body TEXT);';
const SCHEMA: RoomSchema = { room: 'api', steps: [HISTORIES + RESPONSES] };

/** Under each name so many at once, the others in the order in which they came. */
class Queues {
  readonly #lines = new Map<string, (() => void)[]>();

  async enter(name: string, most: number, signal: AbortSignal): Promise<() => void> {
    const line = this.#lines.get(name) ?? [];
    this.#lines.set(name, line);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (line.push(resolve) <= most) resolve();
    const leave = () => {
      line.splice(line.indexOf(resolve), 1);
      line[most - 1]?.();
      if (line.length === 0) this.#lines.delete(name);
    };
    await raceAbort(promise, signal).catch((error: unknown) => {
      leave();
      throw error;
    });
    return leave;
  }
}

/** A turn as its client is to see it: what a retry took back is not sent twice. */
class Seen {
  readonly stored: Extract<TurnEvent, { type: 'message' }>[] = [];
  text = '';
  #end: TurnEnd | undefined;
  /** What this step goes on behind, and what it says. */
  #before = '';
  #fresh = '';

  async *events(all: AsyncIterable<TurnEvent>): AsyncGenerator<TurnEvent, void> {
    for await (const event of all) {
      if (event.type === 'message') this.stored.push(event);
      if (event.type === 'turn-end') this.#end = event;
      const text = this.#take(event);
      if (event.type !== 'text-delta') yield event;
      else if (text !== '') yield { ...event, text };
    }
  }

  /** Throws ApiError where it brought nothing to answer with. */
  get end(): TurnEnd {
    if (this.#end && this.#end.outcome !== 'failed' && this.#end.outcome !== 'aborted') return this.#end;
    const { code = 'failed', message = 'the turn did not end', fix = '' } = this.#end?.error ?? {};
    throw new ApiError(502, code, `${message} ${fix}`.trim());
  }

  /** What is new of it. */
  #take(event: TurnEvent): string {
    if (event.type === 'step-start') this.#before = this.text;
    if (/^(?:step-start|model-retry|model-fallback)$/.test(event.type)) this.#fresh = '';
    if (event.type !== 'text-delta') return '';
    this.#fresh += event.text;
    const whole = () => (this.#before === '' ? this.#fresh : `${this.#before}\n\n${this.#fresh}`);
    if (this.text.startsWith(whole())) return '';
    if (!whole().startsWith(this.text)) this.#before = this.text;
    const more = whole().slice(this.text.length);
    this.text += more;
    return more;
  }
}

/** How long a request waits for a place, and for its pictures, ms. */
const PATIENCE_MS = 60_000;

export class TurnDesk {
  readonly app: App;
  /** For whoever starts it: a damaged file that was put aside. */
  readonly notices: readonly string[];
  readonly #database: Database;
  readonly #queues = new Queues();
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #isEnding = false;

  constructor(app: App) {
    this.app = app;
    const opened = openDatabase(join(app.home.root, 'api.sqlite'), { rooms: [SCHEMA], clock: app.clock });
    this.#database = opened.database;
    this.notices = opened.notices.map(({ message }) => message);
  }

  /** Throws ApiError. Whoever gets a turn leaves it. */
  async begin(wish: TurnWish, left: AbortSignal) {
    if (this.#isEnding) throw new ApiError(503, 'server_ending', 'the server is ending');
    const signal = AbortSignal.any([left, this.#stop.signal]);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.add(promise);
    const held = new AsyncDisposableStack();
    held.defer(resolve);
    held.defer(() => void this.#running.delete(promise));
    try {
      const place = wish.place ?? this.#known(wish);
      if (place) held.defer(await this.#queues.enter(place.session, 1, signal));
      held.defer(await this.#freePlace(signal));
      const images = await this.#pictures(wish.last, signal);
      const conversation = await this.#open(wish, place, signal);
      held.defer(() => conversation.leave());
      const extra = [...contextOf(wish.context, conversation.history), ...images];
      const sessionId = conversation.session.id;
      const origin = wish.source === 'mcp' ? 'model' : 'owner';
      const sent = conversation.send(wish.last.text, { signal, extra, origin });
      const seen = new Seen();
      const lastId = () => seen.stored.at(-1)?.messageId ?? 0;
      return {
        sessionId,
        createdAt: Math.floor(this.app.clock.now() / 1000),
        events: seen.events(sent),
        /** Those that are durable, oldest first. */
        messages: () => seen.stored.map(({ message }) => message),
        /** What the client shows goes on here. Throws ApiError where the turn brought nothing to answer with. */
        ended: () => {
          const { end } = seen;
          for (const text of new Set([seen.text, end.text])) {
            const key = historyKey(
              [...(wish.past ?? []), wish.last, { role: 'assistant', text, images: [] }],
              wish.user,
            );
            this.#database.run('INSERT OR REPLACE INTO histories VALUES(?, ?, ?)', key, sessionId, lastId());
          }
          return end;
        },
        /** Gives it back by this id; `body`: without its words. */
        keepResponse: (id: string, body: JsonObject) => {
          const sql = 'INSERT INTO responses VALUES(?, ?, ?, ?, ?)';
          this.#database.run(sql, id, sessionId, seen.stored[0]?.messageId ?? 0, lastId(), JSON.stringify(body));
        },
        /** Gives session and place back. Idempotent. */
        leave: () => held.disposeAsync(),
      };
    } catch (error) {
      await held.disposeAsync();
      throw error;
    }
  }

  /** Throws ApiError 404; also where its session is gone. */
  async response(id: string, param?: string) {
    const sql = 'SELECT * FROM responses WHERE id = ?';
    const row = this.#database.get<Required<Place> & { first: number; body: string }>(sql, id);
    const { sessions } = this.app.doors;
    if (!row || !(await sessions.get(row.session))) throw noResponse(id, param);
    const body = parseJsonObject(row.body);
    const own = (await sessions.messages(row.session)).filter(({ id: at }) => at >= row.first && at <= row.last);
    return { ...row, body: body.ok ? body.value : {}, messages: own.map(({ message }) => message) };
  }

  /** The session stays. Throws ApiError 404. */
  forgetResponse(id: string): void {
    if (this.#database.run('DELETE FROM responses WHERE id = ?', id).changes === 0) throw noResponse(id);
  }

  /** Waits so long for what runs, then stops it. */
  async close(patienceMs: number): Promise<void> {
    this.#isEnding = true;
    const cancel = this.app.clock.after(patienceMs, () => this.#stop.abort(new AbortedError('the server ends')));
    await Promise.all(this.#running);
    cancel();
    this.#database.close();
  }

  #freePlace(signal: AbortSignal): Promise<() => void> {
    const full = () => new ApiError(429, 'rate_limit_exceeded', 'as many turns run as may; try again later');
    const limit = deadline(this.app.clock, signal, PATIENCE_MS, full);
    return this.#queues.enter('', this.app.loaded.config.serve.max_turns, limit.signal).finally(limit.clear);
  }

  #known({ past = [], user }: TurnWish): Place | undefined {
    const sql = 'SELECT session, last FROM histories WHERE hash = ?';
    return past.length === 0 ? undefined : this.#database.get<Place>(sql, historyKey(past, user));
  }

  async #open(wish: TurnWish, place: Place | undefined, signal: AbortSignal): Promise<Conversation> {
    const { source, past = [], user, maxOutputTokens, approver = absentApprover } = wish;
    const model = this.modelOf(wish.model);
    const start = { source, cwd: this.app.environment.cwd, ...(user ? { userId: user } : {}) };
    const found = place && (await this.#standing(place));
    if (wish.place && found === undefined)
      throw new ApiError(404, 'session_not_found', `no session ${wish.place.session}, or no such point of it`);
    const resume = found ?? (past.length > 0 ? await this.#retold(start, past, signal) : undefined);
    const opened = await this.app.openConversation({
      ...start,
      ...model,
      approver,
      asker: absentAsker,
      ...(this.app.loaded.config.serve.approvals === 'off' ? { permission: () => 'auto' } : {}),
      ...(resume ? { resume } : {}),
      ...(maxOutputTokens ? { maxOutputTokens } : {}),
    });
    if (opened.ok) return opened.value;
    const status = opened.reason === 'owned-elsewhere' ? 409 : 404;
    throw new ApiError(status, opened.reason.replaceAll('-', '_'), opened.detail);
  }

  /** Throws ApiError 404. */
  modelOf(name = 'talaria'): { readonly model?: string } {
    if (name === 'talaria') return {};
    const model = name.replace(/^talaria\//, '');
    if (model !== name && this.app.models().some(({ id }) => id === model)) return { model };
    throw new ApiError(404, 'model_not_found', `there is no model ${name}; GET /v1/models lists them`, 'model');
  }

  /** The session where it ends there; else a fork at that point. Undefined: neither is there any more. */
  async #standing({ session, last }: Place): Promise<string | undefined> {
    const { sessions } = this.app.doors;
    if (last === undefined) return session;
    const ids = (await sessions.messages(session)).map(({ id }) => id);
    const at = ids.indexOf(last);
    if (at < 0 || at === ids.length - 1) return at < 0 ? undefined : session;
    const fork = await sessions.fork(session);
    const next = (await sessions.messages(fork.id))[at + 1];
    if (next) await sessions.rewind(fork.id, next.id);
    return fork.id;
  }

  /** A new session that has what the client says was said. */
  async #retold(start: SessionStart, past: readonly Said[], signal: AbortSignal): Promise<string> {
    const { sessions } = this.app.doors;
    // Before anything is kept of it: a bad picture leaves no half of a session.
    const shown = await Promise.all(past.map((said) => this.#pictures(said, signal)));
    const { id } = await sessions.create(start);
    for (const [at, said] of past.entries()) {
      const text = { type: 'text' as const, text: this.app.redact(said.text) };
      const parts = [...(shown[at] ?? []), { ...text, origin: 'owner' as const }];
      const answer = { role: 'assistant' as const, parts: [{ ...text, origin: 'model' as const }], model: 'unknown' };
      await sessions.append(id, said.role === 'user' ? { role: 'user', parts } : answer);
    }
    return id;
  }

  async #pictures({ images }: Said, signal: AbortSignal): Promise<readonly UserPart[]> {
    const bad = (detail: string) => new ApiError(400, 'invalid_image', detail);
    if (images.length > MOST_IMAGES) throw bad(`one message takes ${MOST_IMAGES} pictures`);
    const { private_hosts: privateHosts } = this.app.loaded.config.web;
    const bounds = { maxBytes: MOST_IMAGE_BYTES + 1, maxRedirects: 5, privateHosts };
    const limit = deadline(this.app.clock, signal, PATIENCE_MS, () => bad('a picture did not come in time'));
    const picture = async (address: string) => {
      const [head] = /^data:[^,]{0,200};base64,/i.exec(address) ?? [];
      const page = head === undefined ? await fetchPage(address, bounds, limit.signal) : undefined;
      if (page?.ok === false) throw bad(page.detail);
      const bytes = page?.value.bytes ?? Buffer.from(address.slice(head?.length), 'base64');
      const kept = this.app.keepImage(bytes, { origin: 'foreign' });
      if (!kept.ok) throw bad(kept.detail);
      return kept.value;
    };
    return Promise.all(images.map(picture)).finally(limit.clear);
  }
}

function noResponse(id: string, param?: string): ApiError {
  return new ApiError(404, 'response_not_found', `there is no response ${id}, or it is no longer kept`, param);
}

type SessionStart = Parameters<App['doors']['sessions']['create']>[0];

export type TurnEnd = Extract<TurnEvent, { type: 'turn-end' }>;

/** The texts of a turn are one, and their spaces do not count: each client joins them in its own way. Who asks keeps to his own. */
function historyKey(all: readonly Said[], user: string | null = ''): string {
  const lines = all.map(({ role, text, images }) =>
    role === 'user' ? `\n${JSON.stringify([text.trim(), ...images])}\n` : text.replaceAll(/\s+/g, ''),
  );
  return sha256(JSON.stringify([user, lines.join('')]));
}

const CONTEXT = 'Instructions of the program that asks:\n';

/** Said once, until they change. */
function contextOf(context: string | undefined, history: readonly Message[]): readonly UserPart[] {
  if (!context?.trim()) return [];
  const text = `${CONTEXT}${context.trim()}`;
  const own = history.flatMap(({ parts }) => [...parts]).filter(isText);
  const told = own.findLast((part) => part.label === 'context' && part.text.startsWith(CONTEXT));
  return told?.text === text ? [] : [{ type: 'text', text, origin: 'owner', label: 'context' }];
}

/** Nobody sits at a program's turn. */
const absentApprover: Approver = {
  isUnattended: true,
  approve: async () => ({
    decision: 'deny',
    reason: 'it needs an approval and nobody can answer here; run it at a terminal, or set serve.approvals to off',
  }),
};
