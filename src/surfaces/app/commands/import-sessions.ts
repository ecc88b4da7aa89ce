// Owns bringing the sessions of a hermes-agent home: from a copy of state.db, and from session files. Knows no column.
// Invariant: one commit a session, so that a stopped import goes on where it stopped; a database that cannot be read is said and hides
// nothing else; parents keep their children also when their id had to change.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import { redactMessage } from '#core/agent/history.ts';
import type { Lanes } from '#mind/sessions/append-message.ts';
import { SearchLane } from '#mind/sessions/search/search-lane.ts';
import type { SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { type BringPlan, carryOut, planBringing } from '#mind/sessions/transfer/bring-session.ts';
import { copyDatabase, makeCopyFolder, removeCopies } from '#mind/sessions/transfer/copy-database.ts';
import type { HermesSession } from '#mind/sessions/transfer/map-message.ts';
import { readSessionFile } from '#mind/sessions/transfer/session-file.ts';
import { type HermesDatabase, openHermesDatabase } from '#mind/sessions/transfer/state-database.ts';
import type { ImportPlace } from './import-report.ts';

const PROGRESS_MS = 2_000;

interface Bringing extends ImportPlace {
  readonly store: SqliteSessionStore;
  readonly lanes: Lanes;
  /** Ids there → ids here, for those that changed. */
  readonly renamed: Map<string, string>;
  readonly seen: Set<string>;
  readonly counts: { messages: number; droppedParts: number; droppedRows: number };
}

/** Yields lines about its progress. */
export async function* importSessions(place: ImportPlace): AsyncGenerator<string> {
  const store = place.doors.sessions;
  const lanes = { spoken: new SearchLane(store.database, 'spoken'), tool: new SearchLane(store.database, 'tool') };
  const counts = { messages: 0, droppedParts: 0, droppedRows: 0 };
  const bringing: Bringing = { ...place, store, lanes, renamed: new Map(), seen: new Set(), counts };
  const path = join(place.from, 'state.db');
  if (existsSync(path)) yield* fromDatabase(bringing, path);
  yield* fromFiles(bringing, join(place.from, 'sessions'));
  noteCounts(bringing);
}

async function* fromDatabase(bringing: Bringing, path: string): AsyncGenerator<string> {
  const folder = makeCopyFolder(bringing.home.cache);
  try {
    const opened = await openCopy(bringing, path, join(folder, 'state.db'));
    if (!opened.ok) {
      bringing.report.tell('sessions', 'state.db', { left: opened.detail, broken: true });
      return;
    }
    try {
      yield* bringAll(bringing, opened.value.sessionIds, (id) => readable(() => opened.value.session(id)));
    } finally {
      opened.value.close();
    }
  } finally {
    removeCopies(folder);
  }
}

async function openCopy(bringing: Bringing, path: string, copy: string): Promise<Result<HermesDatabase>> {
  const copied = await copyDatabase(path, copy, bringing.clock);
  if (!copied.ok) return copied;
  try {
    return openHermesDatabase(copied.value);
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt') throw error;
    return refuse('database-corrupt', `${path} is damaged (${causeOf(error)}); mend or restore it and run this again`);
  }
}

/** The copy's own path would only confuse. */
function causeOf(error: unknown): string {
  return error instanceof TalariaError && error.cause !== undefined ? errorText(error.cause) : errorText(error);
}

async function* fromFiles(bringing: Bringing, folder: string): AsyncGenerator<string> {
  if (!existsSync(folder)) return;
  const files = namesIn(bringing, folder).filter((name) => /^session_.*\.json$/.test(name));
  const fresh = files.filter((name) => !bringing.seen.has(name.slice('session_'.length, -'.json'.length)));
  yield* bringAll(bringing, fresh.sort(), (name) => readSessionFile(join(folder, name)));
}

function namesIn({ report }: Bringing, folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    report.tell('sessions', 'sessions', { left: errorText(error), broken: true });
    return [];
  }
}

async function* bringAll(
  bringing: Bringing,
  names: readonly string[],
  read: (name: string) => Result<HermesSession>,
): AsyncGenerator<string> {
  let told = bringing.clock.monotonic();
  for (const [index, name] of names.entries()) {
    throwIfAborted(bringing.signal);
    await bringOne(bringing, name, () => read(name));
    if (bringing.clock.monotonic() - told < PROGRESS_MS) continue;
    told = bringing.clock.monotonic();
    yield `sessions: ${index + 1} of ${names.length} (${bringing.counts.messages} messages)`;
  }
}

async function bringOne(bringing: Bringing, name: string, read: () => Result<HermesSession>): Promise<void> {
  const found = read();
  if (!found.ok) {
    bringing.report.tell('sessions', name, { left: found.detail, broken: true });
    return;
  }
  const { droppedParts, droppedRows } = found.value;
  const { session, messages } = withoutSecrets(found.value, bringing.redact);
  bringing.seen.add(session.id);
  const parentId = session.parentId && (bringing.renamed.get(session.parentId) ?? session.parentId);
  const plan = planBringing(bringing.store.database, { ...session, ...(parentId ? { parentId } : {}) }, messages);
  if (plan.id !== session.id) bringing.renamed.set(session.id, plan.id);
  if (plan.outcome === 'same') {
    bringing.report.tell('sessions', plan.id, 'here');
    return;
  }
  const done = bringing.dryRun ? ok(true) : await write(bringing, plan);
  if (!done.ok) {
    bringing.report.tell('sessions', plan.id, { left: done.detail });
    return;
  }
  bringing.report.tell('sessions', plan.id, 'taken');
  if (plan.outcome === 'renamed')
    bringing.report.note(`session ${session.id} is ${plan.id} here: another one has its id`);
  bringing.counts.messages += plan.messages.length;
  bringing.counts.droppedParts += droppedParts;
  bringing.counts.droppedRows += droppedRows;
}

function withoutSecrets({ session, messages }: HermesSession, redact: (text: string) => string) {
  const title = session.title === undefined ? {} : { title: redact(session.title) };
  return {
    session: { ...session, ...title },
    messages: messages.map((one) => ({ ...one, message: redactMessage(one.message, redact) })),
  };
}

function readable(read: () => HermesSession): Result<HermesSession, 'database-corrupt'> {
  try {
    return ok(read());
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt') throw error;
    return refuse('database-corrupt', `it cannot be read (${causeOf(error)})`);
  }
}

/** Messages are added to a session only while nobody talks in it. */
async function write(bringing: Bringing, plan: BringPlan): Promise<Result<true>> {
  const { store, lanes } = bringing;
  if (plan.outcome !== 'continued') {
    await carryOut(store.database, lanes, plan);
    return ok(true);
  }
  const lease = await store.claim(plan.id);
  if (!lease.ok) return lease;
  try {
    await carryOut(store.database, lanes, plan);
    return ok(true);
  } finally {
    await lease.value.release();
  }
}

function noteCounts({ counts, report }: Bringing): void {
  const { messages, droppedParts, droppedRows } = counts;
  if (messages > 0) report.note(plural(messages, 'message'));
  if (droppedParts > 0) report.note(`${plural(droppedParts, 'part')} without text left out; the messages say where`);
  if (droppedRows > 0) report.note(`${plural(droppedRows, 'row')} left out: no messages of a conversation`);
}
