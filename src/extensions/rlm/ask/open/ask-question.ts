// Owns an ask from a typed question to its outcome in the store: for the command and for the tool. Shows nothing.
// Invariant: the source and the store are closed whatever happens; piped input is removed unless it is to be kept or the run can go on.
import { rm } from 'node:fs/promises';
import { AbortedError, deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { ok, type Result } from '#base/result.ts';
import type { Calls } from '../../call/calls.ts';
import { createCalls } from '../../call/create-calls.ts';
import { openFamilies } from '../../call/families.ts';
import { modeWords } from '../../page/parts/page-words.ts';
import { createReplSession } from '../../repl/create-repl-session.ts';
import { readRlmConfig } from '../../rlm-config.ts';
import type { RlmGround, RlmMind } from '../../rlm-ground.ts';
import { memoryTraceStore } from '../../trace/memory-trace-store.ts';
import { openTraceStore } from '../../trace/open-trace-store.ts';
import type { TraceStore } from '../../trace/trace-store.ts';
import type { AskOutcome } from '../ask-outcome.ts';
import { executeAsk } from '../execute-ask.ts';
import { JUDGE_FAMILY, judgeCall } from '../loop/read-by-model.ts';
import type { AskContext } from './open-context.ts';
import { contextFolder } from './open-context.ts';
import { type AskOptions, type AskRefusal, type PreparedAsk, prepareAsk } from './prepare-ask.ts';

export interface QuestionAsked {
  readonly ground: RlmGround;
  /** Default: opened from the ground. */
  readonly mind?: RlmMind;
  readonly context: AskContext;
  readonly question: string;
  readonly options?: AskOptions;
  /** False: nothing of the run is written, and no replay is possible. Default true. */
  readonly keep?: boolean;
  /** Of piped input: it stays below the home, so that the run can be replayed. Default false. */
  readonly keepContext?: boolean;
  /** Told before and after each call how far the run is. */
  readonly progress?: ((line: string) => void) | undefined;
}

export interface QuestionAnswered {
  readonly outcome: AskOutcome;
  /** It is in `rlm/runs.sqlite`. */
  readonly kept: boolean;
  /** Where piped input is kept; null: it is not. */
  readonly context: string | null;
  /** What the person must be told. */
  readonly notices: readonly string[];
}

/** Throws what executeAsk throws, `config-invalid`, what opening the store throws, and the signal's reason before the run begins. */
export async function askQuestion(
  asked: QuestionAsked,
  signal: AbortSignal,
): Promise<Result<QuestionAnswered, AskRefusal>> {
  const { ground, context, question, options = {}, keep = true, keepContext = false, progress } = asked;
  const mind = asked.mind ?? (await ground.open());
  const prepared = await prepareAsk({ ground, mind, context, question, options }, signal);
  if (!prepared.ok) return prepared;
  const { run_id, context: opened } = prepared.value;
  let ended = false;
  try {
    const { store, notices } = openStore(ground, keep);
    try {
      const text = 'text' in context ? context.text : null;
      const outcome = await execute({ ground, mind, store, text, prepared: prepared.value, progress }, signal);
      ended = true;
      const kept = keep && keepContext ? opened.spooled : null;
      return ok({ outcome, kept: keep, context: kept, notices });
    } finally {
      store.close();
    }
  } finally {
    opened.source.close();
    const goesOn = keep && !ended;
    if (opened.spooled !== null && !goesOn && !(keep && keepContext))
      await rm(contextFolder({ home: ground.places.home, run_id }), { recursive: true, force: true });
  }
}

function openStore(
  { places, clock }: RlmGround,
  keep: boolean,
): { readonly store: TraceStore; readonly notices: readonly string[] } {
  if (!keep) return { store: memoryTraceStore(clock), notices: [] };
  const store = openTraceStore(places.home, { clock });
  return { store, notices: store.notices.map(({ message }) => message) };
}

interface Execution {
  readonly ground: RlmGround;
  readonly mind: RlmMind;
  readonly store: TraceStore;
  /** The context, when it is no file. */
  readonly text: string | null;
  readonly prepared: PreparedAsk;
  readonly progress: QuestionAsked['progress'];
}

async function execute(
  { ground, mind, store, text, prepared, progress }: Execution,
  signal: AbortSignal,
): Promise<AskOutcome> {
  const { run_id, request, context } = prepared;
  const { source, root } = context;
  const inner = new Map([...openFamilies(ground, mind), [JUDGE_FAMILY, judgeCall(mind.judge, run_id)]]);
  const call_timeout_ms = readRlmConfig(mind).call_timeout_seconds * 1_000;
  const row = { run_id, kind: 'ask', root, sources: source.stamps, request: request as unknown as JsonObject } as const;
  const trace = store.begin(row, text === null ? [] : [text]);
  const parts = { inner, trace, budget: request.budget, clock: ground.clock, run: run_id, call_timeout_ms };
  const calls = progress === undefined ? createCalls(parts) : told(createCalls(parts), ground.clock, progress);
  const { max_ms } = request.budget;
  const late = max_ms === undefined ? undefined : deadline(ground.clock, signal, max_ms, () => new AbortedError());
  try {
    const own = { request, source, openRepl: createReplSession, trace, calls, signal };
    return await executeAsk(late === undefined ? own : { ...own, late: late.signal });
  } finally {
    late?.clear();
  }
}

/** Of each call, what it is for, which it is, and how long the run takes so far. */
function told(calls: Calls, clock: Clock, progress: (line: string) => void): Calls {
  const from = clock.monotonic();
  let made = 0;
  let open = 0;
  return {
    ask: async (ask, signal) => {
      made += 1;
      open += 1;
      const seconds = () => Math.round((clock.monotonic() - from) / 1_000);
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
