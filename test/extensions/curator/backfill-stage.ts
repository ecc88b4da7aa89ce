/** A home with its own sessions and an empty ledger, on a clock that the test turns; session files beside it. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { isoTime } from '#base/clock.ts';
import type { Places } from '#core/agent/room.ts';
import {
  type BackfillOptions,
  type BackfillReport,
  backfillSessions,
} from '#extensions/curator/backfill/backfill-sessions.ts';
import type { BackfillSources } from '#extensions/curator/backfill/ensure-evidence.ts';
import { createEvidenceLedger, type EvidenceLedger } from '#mind/evidence/ledger/evidence-ledger.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Message } from '#public/talaria.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';

export const DAY = 86_400_000;

export type Row = Readonly<Record<string, string | number | null>>;

export interface BackfillStage {
  readonly temp: TempHome;
  readonly clock: ManualClock;
  readonly store: SqliteSessionStore;
  readonly ledger: EvidenceLedger;
  readonly sources: BackfillSources;
  /** Folder of session files; exists. */
  readonly folder: string;
  fill(options?: Partial<BackfillOptions>, signal?: AbortSignal): Promise<BackfillReport>;
  rows(table: 'tool_events' | 'turn_events' | 'session_events'): readonly Row[];
  /** Writes `session_<id>.json`; its own time is `ageMs` before now, and so is the file's. */
  file(id: string, session: object | string | Uint8Array, ageMs?: number): string;
}

export function createBackfillStage(t: TestContext): BackfillStage {
  const temp = createTempHome(t);
  const clock = createManualClock();
  const home = join(temp.path, 'home');
  const folder = join(temp.path, 'stored', 'sessions');
  mkdirSync(folder, { recursive: true });
  const places = placesOf(home, temp.path);
  const store = createSqliteSessionStore({ path: places.stateDatabase, clock });
  const ledger = createEvidenceLedger({ path: places.evidenceDatabase, clock });
  t.after(async () => {
    await ledger.close();
    await store.close();
  });
  const sources = { mind: { state: store.database, evidence: () => ledger.database }, places, clock };
  return {
    ...{ temp, clock, store, ledger, sources, folder },
    fill: (options = {}, signal = new AbortController().signal) =>
      backfillSessions(sources, { days: 30, sessionsDir: folder, ...options }, signal),
    rows: (table) => ledger.database.all<Row>(`SELECT * FROM ${table} ORDER BY id`).map((row) => ({ ...row })),
    file: (id, session, ageMs = DAY) => {
      const path = join(folder, `session_${id}.json`);
      const started = { session_id: id, session_start: isoTime(clock.now() - ageMs) };
      const raw = typeof session === 'string' || session instanceof Uint8Array;
      writeFileSync(path, raw ? session : JSON.stringify({ ...started, ...session }));
      utimesSync(path, (clock.now() - ageMs) / 1000, (clock.now() - ageMs) / 1000);
      return path;
    },
  };
}

function placesOf(home: string, userHome: string): Places {
  const at = (name: string) => join(home, name);
  return {
    ...{ home, userHome, config: at('config.yaml'), skills: at('skills'), skillBackups: at('skill-backups') },
    ...{ stateDatabase: at('state.db'), evidenceDatabase: at('evidence.sqlite'), engines: at('engines') },
    ...{ models: at('models'), lease: at('cache/unattended.lock'), memories: at('memories'), pending: at('pending') },
    ...{ checkpoints: at('checkpoints'), cache: at('cache'), spill: at('cache/spill'), blobs: at('blobs') },
  };
}

/** A session of ours, said message by message, a second apart, `ageMs` before now; ended unless `open`. */
export async function tell(
  { store, clock }: BackfillStage,
  id: string,
  messages: readonly Message[],
  ageMs = DAY,
): Promise<void> {
  await store.ensure(id, { source: 'cli', cwd: '/' });
  await store.savePrompt(id, { system: 's', tools: [] });
  store.database.exec('PRAGMA synchronous = OFF'); // what is tested is not that this survives
  let at = clock.now() - ageMs;
  for (const message of messages) {
    at += 1000;
    await store.append(id, message, { at });
  }
  store.database.run(
    'UPDATE sessions SET last_active_at = ?, started_at = ? WHERE id = ?',
    at,
    clock.now() - ageMs,
    id,
  );
}

/** In the chat format. */
export const user = (content: string) => ({ role: 'user', content });
export const said = (content: string) => ({ role: 'assistant', content });
export const result = (id: string | undefined, content: unknown) => ({
  role: 'tool',
  ...(id === undefined ? {} : { tool_call_id: id }),
  content,
});
export const called = (...calls: readonly (readonly [id: string | undefined, name: string, args?: unknown])[]) => ({
  role: 'assistant',
  content: '',
  tool_calls: calls.map(([id, name, args = {}]) => ({
    ...(id === undefined ? {} : { id }),
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  })),
});
