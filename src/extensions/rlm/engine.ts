// Owns the recursion engine: a run is a row (kind, request, root, sources), a trace and calls, done by the program of its kind: `ask`, which a model writes,
// and `run`, which we wrote. Live, gone on with and replayed it is the same program over the same row. Programs load when they are wanted.
// Invariant: everything of an outcome follows from row, texts, sources and replies; nothing is asked before it is checked.

import { AbortedError, deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { ok, type Result } from '#base/result.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import type { Judge } from '#mind/evidence/judge.ts';
import { JUDGE_FAMILY, judgeCall } from './ask/judge-call.ts';
import type { CallBudget, Calls } from './call/call-record.ts';
import { createCalls } from './call/calls.ts';
import { checkFamilies, type FamilyRefusal, openFamilies } from './call/families.ts';
import type { InnerCall } from './call/inner-call.ts';
import type { AskOutcome, RunOutcome } from './outcome.ts';
import { modeWords } from './page/page-words.ts';
import type { ContextSource } from './repl/parted-source.ts';
import { readRlmConfig } from './rlm-config.ts';
import type { RunTrace } from './trace/live-trace.ts';
import type { EngineWork, RunEngines } from './trace/replay.ts';
import type { NewRun, RunRow } from './trace/run-record.ts';
import { openTraceStore, type TraceStore } from './trace/trace-store.ts';

export async function runEngine({ row, trace, calls }: EngineWork, signal: AbortSignal): Promise<RunOutcome> {
  const [{ executeRun }, { readRunRequest }] = await Promise.all([
    import('./run/execute-run.ts'),
    import('./run/run-request.ts'),
  ]);
  return executeRun({ request: readRunRequest(row.request), trace, calls, signal });
}

interface AskWork extends EngineWork {
  /** Default: opened by its stamps. Stays open: who opened it closes it. */
  readonly source?: ContextSource | undefined;
  /** Aborts when the time of the run is over: code that runs then is ended. */
  readonly late?: AbortSignal | undefined;
}

/** Throws TalariaError `context-changed` when a source is not what it was. */
async function askEngine({ row, trace, calls, source, late }: AskWork, signal: AbortSignal): Promise<AskOutcome> {
  const [{ executeAsk }, { readAskRequest }, { reopenContext }, { textSource }] = await Promise.all([
    import('./ask/execute-ask.ts'),
    import('./ask/ask-request.ts'),
    import('./ask/prepare-ask.ts'),
    import('./repl/file-bytes.ts'),
  ]);
  const request = readAskRequest(row.run_id, row.request);
  const text = request.text_hash === undefined ? undefined : trace.textOf(request.text_hash);
  const opened = source ?? (text === undefined ? await reopenContext(row, signal) : textSource(text));
  try {
    return await executeAsk({ request, source: opened, trace, calls, signal, late });
  } finally {
    if (source === undefined) opened.close();
  }
}

export const RUN_ENGINES = { run: runEngine, ask: askEngine };

/** What live runs need of the house. */
export interface Engine {
  readonly store: TraceStore;
  /** By family. */
  readonly inner: ReadonlyMap<string, InnerCall>;
  readonly clock: Clock;
  /** Of one call. */
  readonly call_timeout_ms?: number | undefined;
  /** Reads what is not quoted. */
  readonly judge?: Judge;
}

export function engineOf(ground: Ground, mind: Mind, store: TraceStore): Engine {
  const call_timeout_ms = readRlmConfig(mind).call_timeout_seconds * 1_000;
  return { store, inner: openFamilies(ground, mind), clock: ground.clock, call_timeout_ms, judge: mind.judge };
}

export interface OpenedEngine extends Engine {
  /** What the person is told of who answers, one sentence; null: a model. */
  readonly notice: string | null;
  readonly close: () => void;
}

/** `families`: as they were typed. `offline`: nothing will be run, and no file of runs is made. Throws as `openTraceStore`. */
export async function openEngine(
  ground: Ground,
  { families, offline = false, call_timeout_ms }: EngineAsk,
): Promise<Result<OpenedEngine, FamilyRefusal>> {
  const mind = await ground.open();
  const checked = checkFamilies(families, ground, mind);
  if (!checked.ok) return checked;
  const store = openTraceStore(ground.places.home, { clock: ground.clock, readOnly: offline });
  const engine = engineOf(ground, mind, store);
  const asksDefault = families.length === 0 || families.includes('default');
  const isRule = asksDefault && mind.answering() === 'T0';
  return ok({
    ...engine,
    call_timeout_ms: call_timeout_ms ?? engine.call_timeout_ms,
    notice: isRule ? 'There is no language model: reflex answers by rule, quoting only.' : null,
    close: () => store.close(),
  });
}

interface EngineAsk {
  readonly families: readonly string[];
  readonly call_timeout_ms?: number;
  readonly offline?: boolean;
}

interface Start {
  /** Those that the request names by hash. */
  readonly texts: readonly string[];
  /** Of an ask, open already. */
  readonly source?: ContextSource;
  /** Told before and after each call how far the run is. */
  readonly progress?: ((line: string) => void) | undefined;
}

/** Begins a run and does it to its end. Throws what its program throws. */
export async function startRun<Kind extends 'run' | 'ask'>(
  engine: Engine,
  run: NewRun & { readonly kind: Kind },
  { texts, source, progress }: Start,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<(typeof RUN_ENGINES)[Kind]>>> {
  const trace = engine.store.begin(run, texts);
  const row = engine.store.find(run.run_id);
  if (!row.ok) throw new TalariaError(row.detail, { code: row.reason });
  const calls = told(callsOf(engine, row.value, trace), engine.clock, progress);
  const { max_ms } = (run.request.budget ?? {}) as CallBudget;
  const isLate = source !== undefined && max_ms !== undefined;
  const late = isLate ? deadline(engine.clock, signal, max_ms, () => new AbortedError()) : undefined;
  const program: (work: AskWork, signal: AbortSignal) => Promise<unknown> = RUN_ENGINES[run.kind];
  try {
    const outcome = await program({ row: row.value, trace, calls, source, late: late?.signal }, signal);
    return outcome as Awaited<ReturnType<(typeof RUN_ENGINES)[Kind]>>;
  } finally {
    late?.clear();
  }
}

/** Goes on with a run that was begun before. Throws also `trace-diverged`, when this version does it otherwise, and `context-changed`. */
export async function resumeRun(engine: Engine, row: RunRow, trace: RunTrace, signal: AbortSignal): Promise<void> {
  const program = (RUN_ENGINES as RunEngines)[row.kind];
  if (program === undefined)
    throw new TalariaError(`Nothing here does runs of the kind ${row.kind}.`, { code: 'no-engine' });
  await program({ row, trace, calls: callsOf(engine, row, trace) }, signal);
}

function callsOf({ inner, judge, clock, call_timeout_ms }: Engine, { run_id, request }: RunRow, trace: RunTrace) {
  const judging = judge === undefined ? [] : [[JUDGE_FAMILY, judgeCall(judge, run_id)] as const];
  const budget = (request.budget ?? {}) as CallBudget;
  return createCalls({ inner: new Map([...inner, ...judging]), trace, budget, clock, run: run_id, call_timeout_ms });
}

/** Of each call, what it is for, which it is, and how long the run takes so far. */
function told(calls: Calls, clock: Clock, progress: Start['progress']): Calls {
  if (progress === undefined) return calls;
  const from = clock.monotonic();
  const seconds = () => Math.round((clock.monotonic() - from) / 1_000);
  let made = 0;
  let open = 0;
  return {
    ask: async (ask, signal) => {
      made += 1;
      open += 1;
      progress(`call ${made}: ${modeWords(ask.mode)}; ${seconds()} s`);
      try {
        return await calls.ask(ask, signal);
      } finally {
        open -= 1;
        progress(`${made} calls, ${open} under way; ${seconds()} s`);
      }
    },
  };
}
