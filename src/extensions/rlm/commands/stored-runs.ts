// Owns the list of stored runs, removing old ones, and showing one as text, as a page, as a file of its own; how a typed id leads to a run, and what is
// said when it leads nowhere. Knows no layout. Invariant: a file that is there is only replaced when that was asked for, and then whole.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { plural } from '#base/text.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { type Failure, refused } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { CALL_COLUMNS, callRow, callText, eventLines, RUN_COLUMNS, runListRow, runText } from '../page/run-text.ts';
import { type RunRecord, type RunRow, readRunRecord } from '../trace/run-record.ts';
import { contextFolder, openTraceStore, type TraceStore } from '../trace/trace-store.ts';
import type { Pruned, Shown } from './stored-flags.ts';

type Output = AsyncGenerator<CommandOutput>;

/** The store is closed afterwards. Throws TalariaError as `openTraceStore`. */
export function readStore<T>({ clock, places }: Ground, read: (store: TraceStore) => T): T {
  const store = openTraceStore(places.home, { clock, readOnly: true });
  try {
    return read(store);
  } finally {
    store.close();
  }
}

export function findRow(store: TraceStore, typed: string): RunRow | Failure {
  const found = store.find(typed);
  if (found.ok) return found.value;
  const isMore = found.reason === 'run-ambiguous';
  return refused(
    found.reason,
    found.detail,
    isMore ? 'Type more of the id.' : '`talaria rlm runs` lists the ids of all runs.',
  );
}

export function findRecord(store: TraceStore, typed: string): RunRecord | Failure {
  const row = findRow(store, typed);
  return 'exitCode' in row ? row : readRunRecord(store, row);
}

export async function* listRuns(
  ground: Ground,
  { limit, kind = null }: { readonly limit: number; readonly kind?: RunRow['kind'] | null | undefined },
): Output {
  const rows = readStore(ground, (store) => store.list({ limit, kind }));
  if (rows.length === 0) yield { type: 'line', text: 'There are no runs yet: talaria rlm run TARGET makes one.' };
  else yield { type: 'table', columns: RUN_COLUMNS, rows: rows.map(runListRow) };
  yield { type: 'data', value: rows as unknown as JsonValue };
}

const DAY = 86_400_000;

export async function* pruneRuns(
  { clock, places: { home } }: Ground,
  { olderThan, keep, killed, dryRun }: Pruned,
): Output {
  const store = openTraceStore(home, { clock, readOnly: dryRun });
  try {
    for (const { message } of store.notices) yield { type: 'line', text: message };
    const gone = store.prune(clock.now() - olderThan * DAY, { keep, killed, dryRun });
    // What was piped into an ask lies beside the store.
    if (!dryRun) for (const run_id of gone) await rm(contextFolder({ home, run_id }), { recursive: true, force: true });
    const verb = dryRun ? 'would be removed' : 'removed';
    const which = gone.length === 0 ? '.' : `: ${gone.join(', ')}`;
    yield { type: 'line', text: `${plural(gone.length, 'run')} ${verb}${which}` };
    yield { type: 'data', value: { removed: [...gone], dry_run: dryRun } };
  } finally {
    store.close();
  }
}

export async function* showRun(ground: Ground, asked: Shown, cwd: string): Output {
  const store = openTraceStore(ground.places.home, { clock: ground.clock, readOnly: true });
  try {
    const record = findRecord(store, asked.run);
    if ('exitCode' in record) yield record;
    else if (asked.call !== undefined) yield* showCall(record, asked.call);
    else if (asked.html !== undefined || asked.export !== undefined) yield* writeFiles(ground, record, asked, cwd);
    else {
      const { row, events, calls } = record;
      yield { type: 'line', text: runText(record) };
      if (asked.calls) yield { type: 'table', columns: CALL_COLUMNS, rows: calls.map(callRow) };
      if (asked.events) yield { type: 'line', text: eventLines(events).join('\n') };
      yield { type: 'data', value: { row, events, calls } as unknown as JsonValue };
    }
  } finally {
    store.close();
  }
}

async function* showCall({ row, calls }: RunRecord, typed: string): Output {
  const whole = calls.filter(({ call_id }) => call_id === typed);
  const found = whole.length > 0 ? whole : calls.filter(({ call_id }) => call_id.endsWith(typed));
  const [call, second] = found;
  if (call !== undefined && second === undefined) {
    yield { type: 'line', text: callText(call) };
    yield { type: 'data', value: call as unknown as JsonValue };
    return;
  }
  const ids = (call === undefined ? calls : found).slice(0, 8).map(({ call_id }) => call_id);
  const code = call === undefined ? 'call-not-found' : 'call-ambiguous';
  yield refused(code, `${found.length} calls of ${row.run_id} are ${typed}.`, `Type one of: ${ids.join(', ')}`);
}

async function* writeFiles({ places }: Ground, record: RunRecord, asked: Shown, cwd: string): Output {
  const [{ renderRunPage }, { exportRun, packContext }, { atomicWrite }] = await Promise.all([
    import('../page/render-run-page.ts'),
    import('../trace/export-run.ts'),
    import('#base/atomic-write.ts'),
  ]);
  const packed = asked.export !== undefined && record.row.kind === 'ask' ? packContext(record.row) : null;
  if (packed?.ok === false)
    yield { type: 'line', text: `The context is not in it, so it replays only where that lies: ${packed.detail}.` };
  const wanted = [
    [asked.html, () => renderRunPage(record)],
    [asked.export, () => exportRun(record, packed?.ok ? packed.value : undefined)],
  ] as const;
  const written: string[] = [];
  for (const [typed, make] of wanted) {
    if (typed === undefined) continue;
    const path = typedPath(typed, { cwd, userHome: places.userHome });
    if (existsSync(path) && !asked.force)
      return yield refused(
        'file-exists',
        `${path} is there already.`,
        'Name another file, or replace it with --force.',
      );
    atomicWrite(path, make());
    written.push(path);
    yield { type: 'line', text: path };
  }
  yield { type: 'data', value: { written } };
}
