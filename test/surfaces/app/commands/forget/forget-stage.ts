/** A home in which one sentence has left its traces everywhere, and the command that takes it out again. */
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { openDatabase } from '#base/database.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import type { Message } from '#core/model/message.ts';
import { ledgerSchema } from '#mind/evidence/ledger/ledger-schema.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { learningSchema } from '#mind/learning/learning-schema.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import type { App } from '#surfaces/app/app.ts';
import { forgetCommand } from '#surfaces/app/commands/forget/forget-command.ts';
import type { KeptDoors } from '#surfaces/app/commands/forget/forget-everywhere.ts';
import { loadConfig } from '#surfaces/app/home/config.ts';
import { type Home, homeAt } from '#surfaces/app/home/home.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';

export const DAY = 86_400_000;
export const NOW = Date.parse('2026-06-01T12:00:00Z');

export interface ForgetStage {
  readonly temp: TempHome;
  readonly home: Home;
  readonly clock: ReturnType<typeof createManualClock>;
  /** Opens the store for `work` alone. */
  within<T>(work: (store: SqliteSessionStore) => Promise<T>): Promise<T>;
  run(input: object, options?: { readonly ask?: (question: string) => Promise<string> }): Promise<ForgetRun>;
  /** Files of the home, relative, whose bytes hold the text in any case, as it is or in JSON. */
  filesWith(text: string): readonly string[];
}

export interface ForgetRun {
  readonly text: string;
  readonly failure: Extract<CommandOutput, { type: 'failure' }> | undefined;
}

export function createForgetStage(t: TestContext): ForgetStage {
  const temp = createTempHome(t);
  const home = homeAt(join(temp.path, 'home'));
  mkdirSync(home.root, { mode: 0o700 });
  const clock = createManualClock({ now: NOW });
  const open = () =>
    createSqliteSessionStore({
      path: home.stateDatabase,
      clock,
      rooms: [evidenceSchema, skillSchema, learningSchema],
    });
  const within: ForgetStage['within'] = async (work) => {
    const store = open();
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
    run: (input, options = {}) => within((store) => runForget({ temp, home, store, clock }, input, options)),
    filesWith: (text) => filesBelow(home.root).filter((name) => holds(join(home.root, name), text)),
  };
}

interface Place {
  readonly temp: TempHome;
  readonly home: Home;
  readonly store: SqliteSessionStore;
  readonly clock: ReturnType<typeof createManualClock>;
}

async function runForget(
  { temp, home, store, clock }: Place,
  input: object,
  options: { readonly ask?: (question: string) => Promise<string> },
): Promise<ForgetRun> {
  const loaded = await loadConfig(home.config);
  const ledger = createProposalLedger({ database: store.database, clock });
  const doors = { memory: createMemoryFiles({ root: home.memories, clock }), ledger, reader: { list: () => [] } };
  const command = forgetCommand(
    {
      environment: { variables: {}, cwd: temp.path, userHome: temp.path },
      home,
      clock,
      app: async () => ({ home, store, loaded }) as unknown as App,
    },
    async () => doors as unknown as KeptDoors,
  );
  const context = { cwd: temp.path, signal: new AbortController().signal, ...options };
  const outputs: CommandOutput[] = [];
  for await (const output of command.run(command.input.parse(input) as never, context)) outputs.push(output);
  return {
    text: outputs.flatMap(linesOf).join('\n'),
    failure: outputs.find((output) => output.type === 'failure'),
  };
}

function linesOf(output: CommandOutput): readonly string[] {
  if (output.type === 'line') return [output.text];
  if (output.type === 'table') return [output.columns, ...output.rows].map((row) => row.join(' | '));
  return output.type === 'failure' ? [`${output.message} ${output.fix}`] : [];
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
