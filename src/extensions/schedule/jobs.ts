// Owns the rows of schedule.sqlite: jobs, and of every due time what came of it. Knows no model, no words of a schedule and no surface.
// Invariants: a due time is in exactly one row, written in the transaction that moves its job on, before anything runs; a row stands for
// `count` due times from `due_at` on; what a process that ended left behind is `interrupted`, and never run again.
import type { Clock } from '#base/clock.ts';
import type { Database, SqlValue } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import type { HolderState } from '#base/process/holder.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import type { Delivery, Forgets, Forgot } from '#core/agent/room.ts';
import { eraseFreed } from '#mind/sessions/sweep-text.ts';
import { type Schedule, times } from './when.ts';

/** What somebody says of a job. A type, as the two below, so that it counts as JSON. */
export type Wish = {
  readonly name: string;
  readonly prompt: string;
  readonly schedule: Schedule;
  readonly deliver: string;
  readonly workdir: string;
  readonly skills: readonly string[];
  /** Null: as everywhere. */
  readonly toolsets: readonly string[] | null;
  readonly model: string | null;
  /** So many runs, and no more. */
  readonly repeat: number | null;
  readonly created_by: 'owner' | 'agent' | 'import';
};

/** `pending`: it waits for the owner's yes. Times are epoch ms. */
export type Job = Wish & {
  readonly id: string;
  readonly state: 'active' | 'paused' | 'pending' | 'done';
  readonly next_run_at: number | null;
  readonly ran: number;
  readonly created_at: number;
};

export type Run = {
  readonly id: number;
  readonly job: string;
  readonly name: string;
  /** Null: it was asked for by hand. */
  readonly due_at: number | null;
  readonly count: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  /** Null: it runs. */
  readonly outcome: 'done' | 'failed' | 'missed' | 'skipped' | 'refused' | 'interrupted' | null;
  readonly error: string | null;
  readonly session_id: string | null;
  readonly cost: number | null;
  readonly delivery: 'none' | 'queued' | 'sent' | 'failed';
  readonly result: string | null;
};

export const scheduleSchema: RoomSchema = {
  room: 'schedule',
  steps: [
    `CREATE TABLE jobs(id TEXT PRIMARY KEY, state TEXT NOT NULL, next_run_at INTEGER, ran INTEGER NOT NULL,
       created_at INTEGER NOT NULL, told_at INTEGER, wish TEXT NOT NULL);
     CREATE INDEX jobs_due ON jobs(next_run_at) WHERE state = 'active';
     CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL, name TEXT NOT NULL, due_at INTEGER,
       count INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, outcome TEXT, error TEXT, session_id TEXT, cost REAL,
       delivery TEXT NOT NULL DEFAULT 'none', result TEXT, holder TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0);
     CREATE INDEX runs_open ON runs(job) WHERE outcome IS NULL;
     CREATE INDEX runs_untold ON runs(job) WHERE told = 0;
     CREATE INDEX runs_started ON runs(started_at);
     CREATE INDEX runs_job ON runs(job, id);
     CREATE TABLE tickers(kind TEXT PRIMARY KEY, holder TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID`,
  ],
};

const RUN = 'id, job, name, due_at, count, started_at, ended_at, outcome, error, session_id, cost, delivery, result';
/** Of a job that is gone: as of one that delivers to `local`. */
const FRESH_RUNS = `SELECT runs.*, json_extract(wish, '$.deliver') AS target FROM runs LEFT JOIN jobs ON jobs.id = job
  WHERE told = 0 AND outcome IS NOT NULL AND coalesce(target, 'local') GLOB ? ORDER BY runs.id`;
/** A due time that is older was missed. */
const LATE_MS = 120_000;
const [SIDE_BY_SIDE, MOST_CAUGHT_UP, HOUR_MS, DAY_MS] = [2, 10, 3_600_000, 86_400_000];
/** Rows of a job that are kept, the newest. */
const MOST_RUNS = 1_000;

/** `holder`: this process; `stateOf`: of any. */
export interface JobsPlace {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: { readonly max_runs_per_hour: number; readonly catch_up: 'latest' | 'none' | 'all' };
  readonly holder: string;
  readonly stateOf: (holder: string) => HolderState;
}

export class Jobs {
  readonly #place: JobsPlace;
  readonly #db: Database;

  constructor(place: JobsPlace) {
    this.#place = place;
    this.#db = place.database;
    // What is let go is what `forget` no longer finds.
    this.#db.exec('PRAGMA secure_delete = ON');
  }

  list(where = '', ...values: SqlValue[]): readonly Job[] {
    const columns = 'id, state, next_run_at, ran, created_at, wish';
    const rows = this.#db.all<Job & { wish: string }>(`SELECT ${columns} FROM jobs ${where}`, ...values);
    return rows.map(({ wish, ...row }) => {
      const parsed = parseJson(wish);
      return { ...(parsed.ok ? (parsed.value as unknown as Wish) : ({} as Wish)), ...row };
    });
  }

  /** By id, or by name. */
  find(text: string): Result<Job, 'no-such-job' | 'ambiguous'> {
    const meant = text.trim().toLowerCase();
    const all = this.list('ORDER BY created_at');
    const named = all.filter(({ name }) => name.toLowerCase() === meant);
    const job = all.find(({ id }) => id === meant) ?? named[0];
    if (job === undefined) return refuse('no-such-job', `There is no job ${JSON.stringify(text)}.`);
    if (job.id === meant || named.length === 1) return ok(job);
    return refuse('ambiguous', `${named.length} jobs are called ${text}: ${named.map(({ id }) => id).join(', ')}.`);
  }

  async create(wish: Wish, state: Job['state'], now: number): Promise<Job> {
    const job = { id: randomHex(4), state, next_run_at: nextOf(wish, now), ran: 0, created_at: now };
    const sql = 'INSERT INTO jobs(id, state, next_run_at, ran, created_at, wish) VALUES(?, ?, ?, ?, ?, ?)';
    await this.#write(() => this.#db.run(sql, ...Object.values(job), JSON.stringify(wish)));
    return { ...wish, ...job };
  }

  /** Due times until now get their row first. A schedule begins anew when it is changed, and after a pause. */
  change(job: Job, to: { readonly state?: Job['state']; readonly wish?: Wish }, now: number): Promise<Job> {
    return this.#write(() => {
      this.#settle(job.id, now, 'missed');
      const [before = job] = this.list('WHERE id = ?', job.id);
      const { state: asked = before.state, wish = before } = to;
      const isNew = JSON.stringify(wish.schedule) !== JSON.stringify(before.schedule);
      const isBegun = isNew || (asked === 'active' && before.state !== 'active');
      const next = isBegun ? nextOf(wish, now) : before.next_run_at;
      const state = next === null ? 'done' : asked;
      const sql = 'UPDATE jobs SET state = ?, next_run_at = ?, wish = coalesce(?, wish) WHERE id = ?';
      this.#db.run(sql, state, next, to.wish ? JSON.stringify(to.wish) : null, job.id);
      return { ...before, ...to.wish, state, next_run_at: next };
    });
  }

  /** What its runs came to stays. */
  async remove({ id }: Job, now: number): Promise<void> {
    await this.#write(() => {
      this.#settle(id, now, 'missed');
      this.#db.run('DELETE FROM jobs WHERE id = ?', id);
    });
  }

  /** Takes the next due times that are to run now, where there is room; those that are not to run have their row then too. */
  async claim(now: number): Promise<{ readonly job: Job; readonly runs: readonly number[] } | undefined> {
    await this.#bury(now);
    while (this.#nextDue(now)) {
      const claimed = await this.#write(() => {
        const job = this.#nextDue(now);
        return job && { job, runs: this.#settle(job.id, now) };
      });
      if (claimed && claimed.runs.length > 0) return claimed;
    }
    return undefined;
  }

  /** Where as many run as may, one that still runs itself: it is skipped. */
  #nextDue(now: number): Job | undefined {
    const running = 'SELECT count(DISTINCT job) AS count FROM runs WHERE outcome IS NULL';
    const isFull = this.#count(running) >= SIDE_BY_SIDE;
    const only = isFull ? 'AND id IN (SELECT job FROM runs WHERE outcome IS NULL)' : '';
    return this.list(`WHERE state = 'active' AND next_run_at <= ? ${only} ORDER BY next_run_at, id LIMIT 1`, now)[0];
  }

  /** Within a transaction: writes the rows of a job's due times until now and moves it on; gives those that are to run. `as`: what becomes of all. */
  #settle(id: string, now: number, as?: 'missed'): readonly number[] {
    const [job] = this.list("WHERE id = ? AND state = 'active' AND next_run_at <= ?", id, now);
    if (!job) return [];
    const { newest, count, next } = dueUntil(job, now);
    const [outcome, error] = as ? [as] : this.#refusal(id, now);
    const due = outcome ? [] : this.#toRun(job, newest, now);
    const rest = { due_at: job.next_run_at, count: count - due.length, ended_at: now, outcome: outcome ?? 'missed' };
    if (rest.count > 0) this.#insert(job, { ...rest, error: error ?? null });
    const goesOn = next !== null && job.ran + due.length < (job.repeat ?? Number.POSITIVE_INFINITY);
    const sql = 'UPDATE jobs SET next_run_at = ?, ran = ran + ?, state = ? WHERE id = ?';
    this.#db.run(sql, goesOn ? next : null, due.length, goesOn ? 'active' : 'done', id);
    return due.map((due_at) => this.#insert(job, { due_at, started_at: now }));
  }

  /** Why nothing of a job runs now, and what its due times come to. */
  #refusal(job: string, now: number): readonly ['skipped' | 'refused', string] | readonly [] {
    const open = 'SELECT count(*) AS count FROM runs WHERE job = ? AND outcome IS NULL';
    if (this.#count(open, job) > 0) return ['skipped', 'it still ran'];
    const most = this.#place.limits.max_runs_per_hour;
    const begun = this.#count('SELECT count(*) AS count FROM runs WHERE started_at > ?', now - HOUR_MS);
    return begun < most ? [] : ['refused', `${most} runs began within the hour (schedule.max_runs_per_hour)`];
  }

  /** Of the newest due times. */
  #toRun({ repeat, ran }: Job, due: readonly number[], now: number): readonly number[] {
    const { catch_up: mode } = this.#place.limits;
    const most = Math.min(mode === 'all' ? MOST_CAUGHT_UP : 1, (repeat ?? Number.POSITIVE_INFINITY) - ran);
    return due.slice(due.length - Math.max(0, most)).filter((at) => mode !== 'none' || now - at <= LATE_MS);
  }

  #insert({ id, name }: Job, row: Partial<Run>): number {
    const old = 'SELECT id FROM runs WHERE job = ? ORDER BY id DESC LIMIT 1 OFFSET ?';
    this.#db.run(`DELETE FROM runs WHERE job = ? AND id <= (${old}) AND outcome IS NOT NULL`, id, id, MOST_RUNS - 1);
    const { due_at = null, count = 1, started_at = null, ended_at = null, outcome = null, error = null } = row;
    const names = 'job, name, holder, due_at, count, started_at, ended_at, outcome, error';
    const values = [id, name, this.#place.holder, due_at, count, started_at, ended_at, outcome, error];
    return this.#db.run(`INSERT INTO runs(${names}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)`, ...values).id;
  }

  /** What processes that are gone left open. Of one that cannot be seen from here a day decides. */
  async #bury(now: number): Promise<void> {
    const open = 'SELECT holder, max(started_at) AS at FROM runs WHERE outcome IS NULL GROUP BY holder';
    const rows = this.#db.all<{ readonly holder: string; readonly at: number }>(open);
    const sql = `UPDATE runs SET outcome = 'interrupted', error = 'its process ended', ended_at = ?
      WHERE outcome IS NULL AND holder = ?`;
    for (const { holder, at } of rows) {
      const state = this.#place.stateOf(holder);
      if (state === 'gone' || (state === 'unknown' && now - at > DAY_MS))
        await this.#write(() => this.#db.run(sql, now, holder));
    }
  }

  /** By hand, whatever its schedule says. */
  async start(job: Job, now: number): Promise<Result<number, 'skipped' | 'refused'>> {
    await this.#bury(now);
    return this.#write(() => {
      const [reason, why] = this.#refusal(job.id, now);
      return reason ? refuse(reason, `${job.name} was not run: ${why}.`) : ok(this.#insert(job, { started_at: now }));
    });
  }

  async finish(run: number, end: Partial<Run>, now: number): Promise<void> {
    const { outcome = 'failed', error = null, session_id = null, cost = null, delivery = 'none', result = null } = end;
    const sql = `UPDATE runs SET outcome = ?, error = ?, session_id = ?, cost = ?, delivery = ?, result = ?, ended_at = ?
      WHERE id = ? AND outcome IS NULL`;
    await this.#write(() => this.#db.run(sql, outcome, error, session_id, cost, delivery, result, now, run));
  }

  /** The newest first. */
  runs(of: { readonly job?: string; readonly id?: number; readonly limit?: number } = {}): readonly Run[] {
    const sql = `SELECT ${RUN} FROM runs WHERE job = coalesce(?, job) AND id = coalesce(?, id) ORDER BY id DESC LIMIT ?`;
    return this.#db.all<Run>(sql, of.job ?? null, of.id ?? null, of.limit ?? 50);
  }

  /** Somebody ticks. */
  async beat(kind: string, now: number): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO tickers VALUES(?, ?, ?)';
    if (!this.#db.readOnly) await this.#db.lightTransaction(() => this.#db.run(sql, kind, this.#place.holder, now));
  }

  tickers(): readonly { readonly kind: string; readonly holder: string; readonly at: number }[] {
    return this.#db.all('SELECT * FROM tickers ORDER BY at DESC');
  }

  /**
   * What has not been told of jobs that deliver to `to` (`local`, or a target in which `*` stands for anything): each result once, a failing job once a
   * day, and once that it works again. `keep`: makes it durable elsewhere before it counts as told; a `ref` may come to it twice.
   */
  async news(
    now: number,
    to = 'local',
    keep?: (all: readonly Delivery[]) => Promise<void>,
  ): Promise<readonly Delivery[]> {
    const rows = this.#db.all<Run & { target: string | null }>(FRESH_RUNS, to);
    if (this.#db.readOnly || rows.length === 0) return [];
    const groups = [...Map.groupBy(rows, ({ job }) => job).values()].map((runs) =>
      this.#told(runs, now, to !== 'local'),
    );
    const all = groups.flatMap(({ news }) => news);
    await keep?.(all);
    await this.#write(() => {
      for (const { job, told_at } of groups)
        if (told_at !== undefined) this.#db.run('UPDATE jobs SET told_at = ? WHERE id = ?', told_at, job);
      const sql = "UPDATE runs SET told = 1, delivery = iif(delivery = 'queued', 'sent', delivery) WHERE id = ?";
      for (const { id } of rows) this.#db.run(sql, id);
    });
    return all;
  }

  #told(runs: readonly (Run & { target: string | null })[], now: number, isWhole: boolean) {
    const { job = '', target } = runs[0] ?? {};
    const said = (text: string | null) => (isWhole ? (text ?? '') : ellipsize(oneLine(text ?? ''), 200));
    const about = (id: number, text: string): Delivery => ({ ref: `cron:${id}`, to: target ?? 'local', text });
    const results = runs.filter(({ delivery }) => delivery === 'queued').slice(-3);
    const news = results.map(({ id, name, result }) =>
      about(id, isWhole ? said(result) : `cron ${name}: ${said(result)}`),
    );
    const ended = runs.filter(({ outcome }) => outcome !== 'missed' && outcome !== 'skipped');
    const last = ended.at(-1);
    const bad = ended.filter(({ outcome }) => outcome !== 'done').length;
    const told = this.#db.get<{ at: number | null }>('SELECT told_at AS at FROM jobs WHERE id = ?', job)?.at ?? null;
    const fails = last?.outcome !== 'done';
    if (!last || (fails ? told !== null && now - told < DAY_MS : told === null && bad === 0)) return { job, news };
    const what = fails ? `${last.outcome}: ${said(last.error)}` : 'works again';
    const more = `cron ${last.name} ${what}${bad > 1 ? `; ${bad} runs failed` : ''} (talaria cron runs ${job})`;
    return { job, news: [...news, about(-last.id, more)], told_at: fails ? now : null };
  }

  /** Jobs are the owner's own: they go with what goes everywhere. */
  async forget({ sessions, holds, before = 0, everywhere }: Forgets): Promise<readonly Forgot[]> {
    const whole = new Set(sessions.filter((one) => one.whole).map(({ id }) => id));
    const isMeant = ({ session_id, ended_at, result, error }: Run) =>
      whole.has(session_id ?? '') || (ended_at ?? before) < before || holds?.(`${result}\n${error}`) === true;
    const runs = this.runs({ limit: -1 }).filter((run) => run.outcome !== null && isMeant(run));
    const jobs = everywhere && holds ? this.list().filter(({ prompt, name }) => holds(`${name}\n${prompt}`)) : [];
    if (runs.length + jobs.length === 0) return [];
    await this.#write(() => {
      for (const { id } of runs) this.#db.run('DELETE FROM runs WHERE id = ?', id);
      for (const { id } of jobs) this.#db.run('DELETE FROM jobs WHERE id = ?', id);
    });
    const busy = (await eraseFreed(this.#db, this.#place.clock)) === 'busy' ? [this.#db.path] : [];
    return [
      { name: 'scheduled runs', count: runs.length, busy },
      { name: 'scheduled jobs', count: jobs.length },
    ];
  }

  #count(sql: string, ...values: SqlValue[]): number {
    return this.#db.get<{ readonly count: number }>(sql, ...values)?.count ?? 0;
  }

  #write<T>(work: () => T): Promise<T> {
    if (!this.#db.readOnly) return this.#db.transaction(work);
    const message = `${this.#db.path} is of a newer Talaria, or can only be read`;
    throw new TalariaError(message, { code: 'home-newer', fix: 'Update Talaria, or look at the permissions.' });
  }
}

function dueUntil({ schedule, next_run_at: first }: Job, now: number) {
  const later = times(schedule, first ?? now);
  const newest: number[] = [];
  let [count, next] = [0, first];
  for (; next !== null && next <= now; next = later.next().value ?? null) {
    count += 1;
    if (newest.push(next) > MOST_CAUGHT_UP) newest.shift();
  }
  return { newest, count, next };
}

function nextOf({ schedule }: Wish, now: number): number | null {
  return times(schedule, now).next().value ?? null;
}
