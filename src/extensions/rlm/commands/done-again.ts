// Owns doing a run again: replay and verification of a stored or exported run, and going on with one that was killed; what is said of it and with which
// exit code. Replay and verification write nothing and ask no model; of an ask its context is opened, as far as it is still what it was. Invariant: what was
// recorded is compared before anything new is written. Serves seed 003, "Expected replay signal".
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import type { CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import { type Failure, failed, refused, wrongUse } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { reopenContext } from '../ask/prepare-ask.ts';
import { engineOf, RUN_ENGINES, resumeRun } from '../engine.ts';
import { readOutcome } from '../outcome.ts';
import { runText } from '../page/run-text.ts';
import { type ExportedRun, isExport, readExport, unpackContext } from '../trace/export-run.ts';
import { differenceText } from '../trace/live-trace.ts';
import { CONTEXT_CHANGED, type Replay, replayRun } from '../trace/replay.ts';
import { namedTexts, type RunRecord, type RunRow, readRunRecord } from '../trace/run-record.ts';
import { openTraceStore, type TraceStore } from '../trace/trace-store.ts';
import { checkAskHandles, type HandleCheck, verifyRun } from '../trace/verify-run.ts';
import type { Resumed } from './stored-flags.ts';
import { findRecord, findRow, readStore } from './stored-runs.ts';

type Output = AsyncGenerator<CommandOutput>;

/** A stored run by id, or a file with an exported one, read whole. Throws TalariaError as the store. */
function findTarget(ground: Ground, typed: string, { cwd }: CommandContext): ExportedRun | Failure {
  const path = typedPath(typed, { cwd, userHome: ground.places.userHome });
  if (existsSync(path)) return fileTarget(path);
  if (/[/\\.]/.test(typed))
    return wrongUse(
      'file-missing',
      `There is no file ${path}.`,
      'Name a file that is there, or a run: `talaria rlm runs`.',
    );
  return readStore(ground, (store) => {
    const record = findRecord(store, typed);
    if ('exitCode' in record) return record;
    const texts = new Map([...namedTexts(record).keys()].map((hash) => [hash, record.textOf(hash)]));
    return { record: { ...record, textOf: (hash: string) => texts.get(hash) }, context: null };
  });
}

const FIX = 'Write one with `talaria rlm show RUN --export FILE`.';

function fileTarget(path: string): ExportedRun | Failure {
  const read = readRunFile(path);
  if (!read.ok) return wrongUse(read.reason, read.detail, 'Name an exported run.');
  if (!isExport(read.value)) {
    const version = isJsonObject(read.value) ? String(read.value.schema_version) : 'none';
    const told = `${path} is no exported run: its schema_version is ${version}. What a benchmark wrote is checked in a checkout: npm run bench -- rlm verify FILE.`;
    return wrongUse('artifact-unknown', told, FIX);
  }
  const exported = readExport(read.value);
  return exported.ok
    ? exported.value
    : failed(exported.reason, `${path} holds no exported run: ${exported.detail}.`, FIX);
}

/** An exported run holds all that was read. */
const LARGEST = 512 * 1024 * 1024;

export function readRunFile(path: string): Result<JsonValue, 'file-missing' | 'file-unreadable' | 'file-no-json'> {
  try {
    const found = statSync(path);
    if (!found.isFile()) return refuse('file-unreadable', `${path} is no file.`);
    if (found.size > LARGEST) return refuse('file-unreadable', `${path} is larger than ${LARGEST / 1024 / 1024} MB.`);
    const parsed = parseJson(readFileSync(path, 'utf8'));
    return parsed.ok ? parsed : refuse('file-no-json', `${path} is no JSON: ${parsed.detail}`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return refuse('file-missing', `There is no file ${path}.`);
    return refuse('file-unreadable', `${path} cannot be read: ${errorText(error)}`);
  }
}

/** Its packed context lies in a folder that is gone afterwards; `look` sees the record as it is when nothing is packed. */
export async function overContext<T>(
  { record, context }: ExportedRun,
  look: (record: RunRecord) => Promise<T>,
): Promise<T> {
  if (context === null) return look(record);
  const folder = mkdtempSync(join(tmpdir(), 'talaria-context-'));
  try {
    return await look({ ...record, row: unpackContext(record.row, context, folder) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function* replayTarget(ground: Ground, typed: string, context: CommandContext): Output {
  const target = findTarget(ground, typed, context);
  if ('exitCode' in target) return yield target;
  const { run_id } = target.record.row;
  const replay = await overContext(target, (record) => replayRun(record, RUN_ENGINES, context.signal));
  if ('reason' in replay) {
    const fix = replay.reason === 'no-engine' ? '' : 'It stays a record: `talaria rlm show` and `rlm verify` read it.';
    yield refused(replay.reason, replay.detail, fix);
    return;
  }
  if (replay.result !== 'different') yield { type: 'line', text: replayLine(run_id, replay) };
  yield { type: 'data', value: { run_id, ...replay } as unknown as JsonValue };
  if (replay.result !== 'different') return;
  const fix = `\`talaria rlm verify ${run_id}\` says whether the record was changed; another version of Talaria may also do it otherwise.`;
  yield failed('replay-differs', `The first difference: ${differenceText(replay.difference)}.`, fix);
}

function replayLine(run_id: string, replay: Exclude<Replay, { readonly result: 'different' }>): string {
  const done = `${plural(replay.events, 'event')}, ${plural(replay.calls, 'recorded call')}, no model`;
  if (replay.result === 'same') return `${run_id}: the same again (${done}); state ${replay.state_hash}`;
  const next = replay.missing_call === null ? '' : `; the call ${replay.missing_call} had no answer yet`;
  return `${run_id} was killed: the same up to there (${done})${next}. Go on with: talaria rlm resume ${run_id}`;
}

export async function* verifyTarget(ground: Ground, typed: string, context: CommandContext): Output {
  const target = findTarget(ground, typed, context);
  if ('exitCode' in target) return yield target;
  const { record } = target;
  const { row, events, calls } = record;
  const handles = await overContext(target, (over) => handleCheck(over, context.signal));
  if (typeof handles === 'string') yield { type: 'line', text: `handles were not looked at again: ${handles}` };
  const cut = row.ended_at === null ? ', not ended' : '';
  const what = `${row.run_id}: ${plural(events.length, 'event')}, ${plural(calls.length, 'call')}${cut}`;
  const problems = verifyRun(record, typeof handles === 'function' ? { handle: handles } : {});
  const rows = problems.map(({ code, where, detail }) => [code, where, detail]);
  if (rows.length === 0) yield { type: 'line', text: `${what}: holds together` };
  else yield { type: 'table', columns: ['problem', 'where', 'what'], rows };
  yield { type: 'data', value: { what, problems } as unknown as JsonValue };
  if (rows.length > 0) yield failed('run-unsound', `${what}: ${plural(rows.length, 'problem')}.`);
}

/** Null: it has none; a text: why they cannot be looked at. */
async function handleCheck({ row }: RunRecord, signal: AbortSignal): Promise<HandleCheck | string | null> {
  const read = readOutcome(row.outcome);
  if (read.kind !== 'ask' || read.outcome.handles.length === 0) return null;
  try {
    const source = await reopenContext(row, signal);
    try {
      return await checkAskHandles(read.outcome, source, signal);
    } finally {
      source.close();
    }
  } catch (error) {
    if (errorCode(error) !== CONTEXT_CHANGED) throw error;
    return errorText(error);
  }
}

export async function* resumeStored(ground: Ground, { run, takeOver }: Resumed, signal: AbortSignal): Output {
  const row = readStore(ground, (store) => findRow(store, run));
  if ('exitCode' in row) return yield row;
  const { run_id } = row;
  const store = openTraceStore(ground.places.home, ground);
  try {
    for (const { message } of store.notices) yield { type: 'line', text: message };
    const mind = await ground.open();
    const reopened = store.reopen(run_id, { takeOver });
    if (!reopened.ok) return yield refused(reopened.reason, reopened.detail, FIXES[reopened.reason]);
    const answered = store.calls(run_id).length;
    yield { type: 'line', text: `${run_id}: ${answered} calls were answered before; going on.` };
    await resumeRun(engineOf(ground, mind, store), row, reopened.value, signal);
    yield* ended(store, run_id);
  } finally {
    store.close();
  }
}

const FIXES = {
  'run-not-found': '`talaria rlm runs` lists the ids of all runs.',
  'run-ended': 'It has an outcome: `talaria rlm show` tells it.',
  'run-alive': 'Wait for it to end. Type --take-over only when that process is gone for sure.',
} as const;

function* ended(store: TraceStore, run_id: string): Generator<CommandOutput> {
  const found = store.find(run_id);
  if (!found.ok) return;
  yield { type: 'line', text: runText(readRunRecord(store, found.value)) };
  yield { type: 'data', value: found.value as unknown as JsonValue };
  const failure = failureOf(found.value);
  if (failure !== null) yield failure;
}

const DONE = ['accepted', 'answered'];
const UNSUPPORTED = ['refused', 'no_evidence', 'unsupported', 'no_answer'];

function failureOf({ run_id, outcome }: RunRow): Failure | null {
  const verdict = String(outcome?.verdict);
  if (DONE.includes(verdict)) return null;
  const message = typeof outcome?.detail === 'string' ? outcome.detail : `The run ended as ${verdict}.`;
  const fix = `See talaria rlm show ${run_id}.`;
  return UNSUPPORTED.includes(verdict) ? refused('run-unsupported', message, fix) : failed('run-failed', message, fix);
}
