/** A home in which one sentence has left its traces everywhere, and the command that takes it out again. */
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { openDatabase } from '#base/database.ts';
import type { Room } from '#core/agent/room.ts';
import { ledgerSchema } from '#mind/evidence/ledger/evidence-ledger.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Message } from '#public/talaria.ts';
import { forgetCommand } from '#surfaces/app/commands/forget.ts';
import { type Home, homeAt } from '#surfaces/app/home/home.ts';
import { composeApp } from '#surfaces/app/house.ts';
import { stateTables } from '#surfaces/app/rooms.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { createPlainWalls } from '../../../../doubles/plain-walls.ts';
import { type RanCommand, runSpec, type Stage } from '../../app-fixture.ts';

export const DAY = 86_400_000;
export const NOW = Date.parse('2026-06-01T12:00:00Z');

export interface ForgetStage {
  readonly temp: TempHome;
  readonly home: Home;
  readonly clock: ReturnType<typeof createManualClock>;
  /** Opens the store for `work` alone. */
  within<T>(work: (store: SqliteSessionStore) => Promise<T>): Promise<T>;
  run(input: object, options?: { readonly ask?: (question: string) => Promise<string> }): Promise<RanCommand>;
  /** Files of the home, relative, whose bytes hold the text in any case, as it is or in JSON. */
  filesWith(text: string): readonly string[];
}

export function createForgetStage(t: TestContext): ForgetStage {
  const temp = createTempHome(t);
  const home = homeAt(join(temp.path, 'home'));
  mkdirSync(home.root, { mode: 0o700 });
  const clock = createManualClock({ now: NOW });
  const within: ForgetStage['within'] = async (work) => {
    const rooms = await stateTables();
    const store = createSqliteSessionStore({ path: home.stateDatabase, clock, rooms });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  return {
    temp,
    home,
    clock,
    within,
    run: async (input, options = {}) => {
      const environment = { variables: { TALARIA_HOME: home.root }, cwd: temp.path, userHome: temp.path };
      const app = await composeApp({ environment, clock, extra: { walls: createPlainWalls() } });
      try {
        const command = forgetCommand({ environment, home, clock, app: async () => app });
        return await runSpec(command, input, { cwd: temp.path, ...options });
      } finally {
        await app.shutdown();
      }
    },
    filesWith: (text) => filesBelow(home.root).filter((name) => holds(join(home.root, name), text)),
  };
}

export function filesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function holds(path: string, text: string): boolean {
  const bytes = readFileSync(path).toString('latin1').toLowerCase();
  const wanted = [text, JSON.stringify(text).slice(1, -1)].map((variant) =>
    Buffer.from(variant).toString('latin1').toLowerCase(),
  );
  return statSync(path).size > 0 && wanted.some((variant) => bytes.includes(variant));
}

export const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text, origin: 'owner' }] });

export const answered = (text: string): Message => ({
  role: 'assistant',
  model: 'scripted/model',
  parts: [{ type: 'text', text, origin: 'model' }],
});

export const called = (callId: string, command: string): Message => ({
  role: 'assistant',
  model: 'scripted/model',
  parts: [{ type: 'tool-call', callId, name: 'terminal', arguments: { command }, origin: 'model' }],
});

export function resulted(callId: string, text: string, spill?: string): Message {
  const observed = { ms: 1, bytes: text.length, exitCode: 0, ...(spill ? { spill } : {}) };
  return {
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name: 'terminal', text, isError: false, origin: 'foreign', observed }],
  };
}

/** A row of each kind in the ledger of events. */
export function writeEvents(home: Home, sessionId: string, text: string): void {
  const { database } = openDatabase(home.evidenceDatabase, { rooms: [ledgerSchema] });
  const at = '2026-01-10T10:00:00+00:00';
  const key = (kind: string) => `${kind}:${sessionId}:1`;
  database.run(
    `INSERT INTO tool_events(created_at, session_id, task_id, tool_name, is_error, args_json, result_preview, event_key,
       is_error_upstream) VALUES(?, ?, 't', 'terminal', 0, ?, ?, ?, 0)`,
    at,
    sessionId,
    JSON.stringify({ command: text }),
    text,
    key('tool'),
  );
  database.run(
    `INSERT INTO turn_events(created_at, session_id, model, platform, user_preview, assistant_preview, event_key)
     VALUES(?, ?, 'm', 'cli', ?, 'fine', ?)`,
    at,
    sessionId,
    text,
    key('turn'),
  );
  database.run(
    `INSERT INTO session_events(created_at, session_id, completed, interrupted, model, platform, event_key)
     VALUES(?, ?, 1, 0, 'm', 'cli', ?)`,
    at,
    sessionId,
    key('session'),
  );
  database.close();
}

export function eventCount(home: Home): number {
  const database = new DatabaseSync(home.evidenceDatabase, { readOnly: true });
  const tables = ['tool_events', 'turn_events', 'session_events'];
  const counts = tables.map((table) => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n));
  database.close();
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Upper case, quotes and a slash: it looks different in JSON. */
export const SENTINEL = 'the "Quorndelta" vault at /srv/quorn';
export const WORD = 'quorndelta';

export interface Traces {
  readonly secret: string;
  readonly plain: string;
  readonly pendingId: string;
}

/** Two sessions; one of them speaks of the sentence in the middle, and everything that follows from it is there. */
export async function leaveTraces(stage: ForgetStage): Promise<Traces> {
  const { home, temp } = stage;
  return stage.within(async (store) => {
    const secret = (await store.create({ source: 'cli', cwd: '/w', title: `open ${SENTINEL}` })).id;
    const spill = join(home.spill, secret, 'c2.txt');
    const first = await store.append(secret, said('how is the weather in bree'));
    await store.append(secret, answered('fine in bree'));
    const asked = await store.append(secret, said(`open ${SENTINEL}`));
    await store.append(secret, called('c1', `cat ${SENTINEL}`));
    await store.append(secret, resulted('c1', `it says ${SENTINEL}`));
    await store.append(secret, answered('done'));
    await store.append(secret, said('list the logs of moria'));
    await store.append(secret, called('c2', 'ls'));
    await store.append(secret, resulted('c2', 'many lines', spill));
    await store.append(secret, answered('there are many'));
    await store.savePrompt(secret, { system: `You know of ${SENTINEL}.`, tools: [] });
    await store.recordSpans([
      {
        id: 'span1',
        sessionId: secret,
        turn: 2,
        kind: 'tool',
        name: 'terminal',
        startedAt: NOW,
        ms: 1,
        status: 'error',
        detail: `cannot read ${SENTINEL}`,
      },
    ]);
    const plain = (await store.create({ source: 'cli', cwd: '/w' })).id;
    await store.append(plain, said('which port has sandal'));
    await store.append(plain, answered('4711'));
    const ledger = createProposalLedger({ database: store.database, clock: stage.clock });
    const cited = { handle: `message:${asked.id}`, quote: SENTINEL };
    const other = { handle: `message:${first.id}`, quote: 'how is the weather' };
    const draft = { kind: 'memory', actor: 'review', target: 'memory', action: 'add', sessionId: secret } as const;
    const applied = await ledger.open({
      ...draft,
      change: { action: 'add', content: SENTINEL },
      citations: [cited, other],
    });
    await ledger.decide(applied.id, {
      status: 'refused',
      reason: 'evidence_text_mismatch',
      detail: `not said: ${SENTINEL}`,
    });
    const pending = await ledger.open({ ...draft, change: { action: 'add', content: SENTINEL }, citations: [cited] });
    await ledger.decide(pending.id, { status: 'pending', reason: 'origin-not-allowed' });
    store.database.run(
      "INSERT INTO reviews(id, session_id, kind, reasons, hint, status, at) VALUES('r1', ?, 'memory', '[]', ?, 'due', 1)",
      secret,
      SENTINEL,
    );
    writeEvents(home, secret, SENTINEL);
    writeEvents(home, plain, 'which port');
    const at = (name: string, text: string) => temp.write(join('home', name), text);
    at(`cache/spill/${secret}/c2.txt`, `long output\nwith ${SENTINEL}\n`);
    at(`cache/spill/${plain}/c9.txt`, 'harmless');
    at('cache/input-history', `${JSON.stringify(`open ${SENTINEL}`)}\n${JSON.stringify('which port has sandal')}\n`);
    at(
      'logs/agent.log',
      `${JSON.stringify({ at: '2026-05-01T00:00:00.000Z', event: 'notice', text: SENTINEL })}\n{"at":"2026-05-01T00:00:00.000Z","event":"kept"}\n`,
    );
    at(`pending/memory/${pending.id}.json`, JSON.stringify({ content: SENTINEL }));
    at(
      'backups/skills/20260514T101502123000Z/manifest.json',
      JSON.stringify({
        skill_name: 'open-vault',
        evidence: { db_path: '', citations: [{ handle: `message:${asked.id}`, quote: SENTINEL }] },
        support_files: [],
      }),
    );
    return { secret, plain, pendingId: pending.id };
  });
}

/** In an agent that has one more room. */
export async function forgetBeside(stage: Stage, room: Room, input: object): Promise<RanCommand> {
  const app = await stage.open({ model: 'reflex', extra: { rooms: [room] } });
  const { environment, home, clock } = app;
  try {
    return await runSpec(forgetCommand({ environment, home, clock, app: async () => app }), input, { cwd: stage.cwd });
  } finally {
    await app.shutdown();
  }
}
