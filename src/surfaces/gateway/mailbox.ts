// Owns the rows of gateway.sqlite: what came (inbox), what is to go out (outbox), and in which session a lane talks. Knows no channel's words.
// Invariants: what came is a row before anything else happens, once; an answer and the end of its message are one transaction; of one chat
// the oldest piece goes first; a piece whose receipt was lost is sent once more and counted. A kill takes nothing of it, a power cut at most the
// last steps: never a message or an answer.
import type { Clock } from '#base/clock.ts';
import type { Database, SqlValue } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database.ts';
import { parseJson } from '#base/json.ts';
import { holderName, holderState, holderWords } from '#base/process/holder.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Button, Incoming, Outgoing, Sent } from '#core/agent/channel.ts';

/**
 * `received → running → answered → done`; `steering`: said into a turn that runs; `asked`: it was cut off twice, and its person decides;
 * `failed`: it came to nothing, and its person was told.
 */
export type InboxState = 'received' | 'running' | 'steering' | 'asked' | 'answered' | 'done' | 'failed';

export interface OpenBefore {
  readonly key: number;
  readonly state: InboxState;
  readonly since: number;
}

export interface Received {
  readonly key: number;
  readonly channel: string;
  readonly lane: string;
  readonly said: Incoming;
  readonly state: InboxState;
  /** Times that its turn began. */
  readonly attempts: number;
  /** Where its turn runs. */
  readonly session: string | null;
  /** Last message of the session before its turn. */
  readonly mark: number;
}

export interface Piece extends Outgoing {
  readonly key: number;
  readonly channel: string;
  readonly attempts: number;
}

type InboxRow = Omit<Received, 'said'> & { readonly body: string };
type OutboxRow = Omit<Piece, 'buttons'> & { readonly buttons: string | null };

export const mailboxSchema: RoomSchema = {
  room: 'gateway',
  steps: [
    `CREATE TABLE inbox(key INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT NOT NULL, id TEXT NOT NULL, lane TEXT NOT NULL,
       state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, session TEXT, mark INTEGER NOT NULL DEFAULT 0,
       at INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE(channel, id));
     CREATE INDEX inbox_open ON inbox(lane, key) WHERE state NOT IN ('done', 'failed');
     CREATE TABLE outbox(key INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT NOT NULL, chat TEXT NOT NULL, message INTEGER,
       kind TEXT NOT NULL, piece TEXT NOT NULL, buttons TEXT, state TEXT NOT NULL DEFAULT 'queued', attempts INTEGER NOT NULL DEFAULT 0,
       next_at INTEGER NOT NULL DEFAULT 0, since INTEGER NOT NULL, sent_id TEXT, error TEXT, twice INTEGER NOT NULL DEFAULT 0);
     CREATE INDEX outbox_open ON outbox(channel, chat, key) WHERE state IN ('queued', 'sending');
     CREATE INDEX outbox_message ON outbox(message);
     CREATE INDEX outbox_kind ON outbox(channel, kind);
     CREATE TABLE lanes(lane TEXT PRIMARY KEY, session TEXT NOT NULL, active_at INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0,
       channel TEXT NOT NULL, chat TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE holders(channel TEXT PRIMARY KEY, holder TEXT NOT NULL, fault TEXT) WITHOUT ROWID;
     CREATE TABLE people(channel TEXT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL, seat TEXT NOT NULL, since INTEGER NOT NULL,
       PRIMARY KEY(channel, person)) WITHOUT ROWID;
     CREATE TABLE codes(hash TEXT PRIMARY KEY, channel TEXT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL, chat TEXT NOT NULL,
       at INTEGER NOT NULL) WITHOUT ROWID;
     CREATE TABLE wrong_codes(at INTEGER NOT NULL)`,
  ],
};

const INBOX = 'key, channel, lane, body, state, attempts, session, mark';
/** Of a chat whose oldest piece is on its way nothing waits. */
const OLDEST = `state = 'queued' AND key IN
  (SELECT min(key) FROM outbox WHERE channel = ? AND state IN ('queued', 'sending') GROUP BY chat)`;
const DAY_MS = 86_400_000;
const LONGEST_WAIT_MS = 60_000;

export class Mailbox {
  readonly #db: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#db = database;
    this.#clock = clock;
  }

  get database(): Database {
    return this.#db;
  }

  /** One process a channel. Refusal names the other. */
  hold(channel: string): Promise<Result<true, 'held-elsewhere'>> {
    return this.#db.transaction(() => {
      const sql = 'SELECT holder FROM holders WHERE channel = ?';
      const held = this.#db.get<{ readonly holder: string }>(sql, channel);
      const own = holderName();
      if (held && held.holder !== own && holderState(held.holder) !== 'gone')
        return refuse(
          'held-elsewhere',
          `${channel} is served by another program of this home (${holderWords(held.holder)})`,
        );
      this.#db.run('INSERT OR REPLACE INTO holders VALUES(?, ?, NULL)', channel, own);
      return ok(true);
    });
  }

  async letGo(channel: string): Promise<void> {
    await this.#db.transaction(() =>
      this.#db.run('DELETE FROM holders WHERE channel = ? AND holder = ?', channel, holderName()),
    );
  }

  /** Durable when it resolves. Gives the rows that are new. */
  keep(channel: string, all: readonly (readonly [said: Incoming, lane: string])[]): Promise<readonly Received[]> {
    return this.#db.transaction(() =>
      all.flatMap(([said, lane]) => {
        const sql = `INSERT OR IGNORE INTO inbox(channel, id, lane, state, at, body) VALUES(?, ?, ?, 'received', ?, ?)`;
        const { changes, id } = this.#db.run(sql, channel, said.id, lane, said.at, JSON.stringify(said));
        return changes === 0 ? [] : this.received('key = ?', id);
      }),
    );
  }

  received(where: string, ...values: readonly SqlValue[]): readonly Received[] {
    const rows = this.#db.all<InboxRow>(`SELECT ${INBOX} FROM inbox WHERE ${where} ORDER BY key`, ...values);
    return rows.flatMap(({ body, ...row }) => {
      const said = parseJson(body);
      return said.ok ? [{ ...row, said: said.value as unknown as Incoming }] : [];
    });
  }

  /** Its turn begins, or goes on. */
  async begin({ key }: Received, session: string, mark: number): Promise<void> {
    const sql = `UPDATE inbox SET state = 'running', attempts = attempts + 1, session = ?, mark = ? WHERE key = ?`;
    await this.#db.lightTransaction(() => this.#db.run(sql, session, mark, key));
  }

  async become(key: number, state: InboxState, attempts?: number): Promise<void> {
    const sql = 'UPDATE inbox SET state = ?, attempts = coalesce(?, attempts) WHERE key = ?';
    await this.#db.lightTransaction(() => this.#db.run(sql, state, attempts ?? null, key));
  }

  /** An older message of the lane that is begun, or whose person is asked whether it goes on, and since when. */
  openBefore({ lane, key }: Received): OpenBefore | undefined {
    const since = '(SELECT max(since) FROM outbox WHERE message = inbox.key) AS since';
    const older = "lane = ? AND state IN ('asked', 'running') AND key < ? ORDER BY key LIMIT 1";
    return this.#db.get(`SELECT key, state, ${since} FROM inbox WHERE ${older}`, lane, key);
  }

  /** It was said into the turn of another one. */
  async steers(key: number, into: number): Promise<void> {
    await this.#db.lightTransaction(() =>
      this.#db.run("UPDATE inbox SET state = 'steering', mark = ? WHERE key = ?", into, key),
    );
  }

  /** It could not be said into it any more. */
  async unsteer(key: number): Promise<void> {
    const sql = "UPDATE inbox SET state = 'received' WHERE key = ? AND state = 'steering'";
    await this.#db.lightTransaction(() => this.#db.run(sql, key));
  }

  /** A chat goes on under another id. */
  async moved(channel: string, from: string, to: string, key: number): Promise<void> {
    await this.#db.transaction(() => {
      this.#db.run('UPDATE outbox SET chat = ? WHERE channel = ? AND chat = ?', to, channel, from);
      for (const end of ['', ':guests']) {
        const [old, now] = [from, to].map((chat) => `${channel}:group:${chat}${end}`);
        this.#db.run('UPDATE OR REPLACE lanes SET chat = ?, lane = ? WHERE lane = ?', to, now ?? '', old ?? '');
      }
      this.#db.run("UPDATE inbox SET state = 'done' WHERE key = ?", key);
    });
  }

  /** What is said to a chat, and what becomes of the message that it answers. */
  async answer(
    to: Pick<Received, 'channel'> & { readonly chat: string; readonly key?: number },
    pieces: readonly string[],
    end: { readonly state?: InboxState; readonly kind?: 'ask' | 'text'; readonly buttons?: readonly Button[] } = {},
  ): Promise<void> {
    const sql = 'INSERT INTO outbox(channel, chat, message, kind, piece, buttons, since) VALUES(?, ?, ?, ?, ?, ?, ?)';
    const { kind = 'text', buttons, state } = end;
    const last = pieces.length - 1;
    const own = buttons ? JSON.stringify(buttons) : null;
    await this.#db.transaction(() => {
      for (const [i, piece] of pieces.entries()) {
        const values = [to.channel, to.chat, to.key ?? null, kind, piece, i === last ? own : null, this.#clock.now()];
        this.#db.run(sql, ...values);
      }
      if (state && to.key) this.#db.run('UPDATE inbox SET state = ? WHERE key = ?', state, to.key);
      if (state && to.key) this.#settle(to.key);
    });
  }

  /** What a job brought, once a `ref`. */
  async deliver(
    channel: string,
    all: readonly { readonly ref: string; readonly chat: string; readonly pieces: readonly string[] }[],
  ) {
    await this.#db.transaction(() => {
      for (const { ref, chat, pieces } of all) {
        if (this.#db.get('SELECT 1 FROM outbox WHERE channel = ? AND kind = ?', channel, ref)) continue;
        const sql = 'INSERT INTO outbox(channel, chat, kind, piece, since) VALUES(?, ?, ?, ?, ?)';
        for (const piece of pieces) this.#db.run(sql, channel, chat, ref, piece, this.#clock.now());
      }
    });
  }

  /** After a start: what was being sent may have arrived; questions of turns that are over are not asked any more. */
  async recover(channel: string): Promise<void> {
    await this.#db.transaction(() => {
      this.#db.run("DELETE FROM outbox WHERE channel = ? AND kind = 'ask' AND state IN ('queued', 'sending')", channel);
      const sql = "UPDATE outbox SET state = 'queued', twice = twice + 1 WHERE channel = ? AND state = 'sending'";
      this.#db.run(sql, channel);
    });
  }

  /** The oldest piece of each chat that may go now. */
  due(channel: string): readonly Piece[] {
    const answers = '(SELECT id FROM inbox WHERE inbox.key = message) AS answers';
    const sql = `SELECT key, channel, chat, piece, buttons, attempts, ${answers} FROM outbox WHERE ${OLDEST} AND next_at <= ?`;
    return this.#db.all<OutboxRow>(sql, channel, this.#clock.now()).map(({ buttons, ...row }) => {
      const read = parseJson(buttons ?? '');
      return read.ok ? { ...row, buttons: read.value as unknown as readonly Button[] } : row;
    });
  }

  /** Epoch ms of the next piece that waits; undefined: none does. */
  nextAt(channel: string): number | undefined {
    const sql = `SELECT min(next_at) AS at FROM outbox WHERE ${OLDEST}`;
    return this.#db.get<{ readonly at: number | null }>(sql, channel)?.at ?? undefined;
  }

  async sending({ key }: Piece): Promise<void> {
    const sql = "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE key = ?";
    await this.#db.lightTransaction(() => this.#db.run(sql, key));
  }

  async sent(piece: Piece, result: Sent): Promise<void> {
    await this.#db.lightTransaction(() => {
      this.#ended(piece, result);
      const sql = 'SELECT message FROM outbox WHERE key = ?';
      const row = this.#db.get<{ readonly message: number | null }>(sql, piece.key);
      if (row?.message) this.#settle(row.message);
    });
  }

  #ended({ key, channel, chat, attempts }: Piece, result: Sent): void {
    const now = this.#clock.now();
    if (result.state === 'sent') {
      this.#db.run("UPDATE outbox SET state = 'sent', sent_id = ?, error = NULL WHERE key = ?", result.id, key);
      return;
    }
    if (result.state === 'retry') {
      const at = now + (result.afterMs ?? Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** attempts));
      const sql = `UPDATE outbox SET state = iif(? - since > ${DAY_MS}, 'failed', 'queued'), next_at = ?, error = ?,
        twice = twice + ? WHERE key = ?`;
      this.#db.run(sql, now, at, result.reason, result.isLost ? 1 : 0, key);
      return;
    }
    const all = "channel = ? AND chat = ? AND state IN ('queued', 'sending')";
    const [where, values] = result.isGone ? [all, [channel, chat]] : ['key = ?', [key]];
    this.#db.run(`UPDATE outbox SET state = 'failed', error = ? WHERE ${where}`, result.reason, ...values);
  }

  /** Within a transaction: it is done when nothing of its answer is on its way. */
  #settle(message: number): void {
    const open = "SELECT 1 FROM outbox WHERE message = inbox.key AND state IN ('queued', 'sending')";
    const sql = `UPDATE inbox SET state = 'done' WHERE key = ? AND state = 'answered' AND NOT EXISTS (${open})`;
    this.#db.run(sql, message);
  }

  /** The session that a lane talks in; undefined: none yet. */
  sessionOf(lane: string): string | undefined {
    return this.#db.get<{ readonly session: string }>('SELECT session FROM lanes WHERE lane = ?', lane)?.session;
  }

  async talksIn(lane: string, session: string, { channel, chat }: { readonly channel: string; readonly chat: string }) {
    const sql = 'INSERT OR REPLACE INTO lanes(lane, session, active_at, channel, chat) VALUES(?, ?, ?, ?, ?)';
    await this.#db.lightTransaction(() => this.#db.run(sql, lane, session, this.#clock.now(), channel, chat));
  }

  async forgetLane(lane: string): Promise<void> {
    await this.#db.transaction(() => this.#db.run('DELETE FROM lanes WHERE lane = ?', lane));
  }

  /** Sessions that nobody has spoken in for so long, once each. */
  async idle(ms: number): Promise<readonly string[]> {
    const where = 'ended = 0 AND active_at < ?';
    const before = this.#clock.now() - ms;
    if (!this.#db.get(`SELECT 1 FROM lanes WHERE ${where}`, before)) return [];
    return this.#db.transaction(() => {
      const rows = this.#db.all<{ readonly session: string }>(`SELECT session FROM lanes WHERE ${where}`, before);
      this.#db.run(`UPDATE lanes SET ended = 1 WHERE ${where}`, before);
      return rows.map(({ session }) => session);
    });
  }

  /** Where an owner is met: the chat he wrote in last. */
  lastChat(lane: string): { readonly channel: string; readonly chat: string } | undefined {
    return this.#db.get('SELECT channel, chat FROM lanes WHERE lane = ?', lane);
  }

  async faulted(channel: string, fault: string | undefined): Promise<void> {
    const sql = 'UPDATE holders SET fault = ? WHERE channel = ? AND fault IS NOT ?';
    await this.#db.lightTransaction(() => this.#db.run(sql, fault ?? null, channel, fault ?? null));
  }

  /** Rows by channel and state, for `gateway status`. */
  counts(): readonly {
    readonly box: 'inbox' | 'outbox';
    readonly channel: string;
    readonly state: string;
    readonly count: number;
  }[] {
    return this.#db.all(
      `SELECT 'inbox' AS box, channel, state, count(*) AS count FROM inbox GROUP BY channel, state
       UNION ALL SELECT 'outbox', channel, state, count(*) FROM outbox GROUP BY channel, state
       UNION ALL SELECT 'outbox', channel, 'maybe-twice', count(*) FROM outbox WHERE twice > 0 GROUP BY channel`,
    );
  }

  holders(): readonly { readonly channel: string; readonly holder: string; readonly fault: string | null }[] {
    return this.#db.all('SELECT channel, holder, fault FROM holders ORDER BY channel');
  }

  /** The last thing that went wrong on the way out. */
  lastError(channel: string): string | undefined {
    const sql = 'SELECT error FROM outbox WHERE channel = ? AND error IS NOT NULL ORDER BY key DESC LIMIT 1';
    return this.#db.get<{ readonly error: string }>(sql, channel)?.error;
  }
}
