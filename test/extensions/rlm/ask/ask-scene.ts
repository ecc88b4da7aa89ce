// Owns asks for tests: a text, a script of replies, the real sandbox, a store in memory. Knows no test.
import assert from 'node:assert/strict';
import { systemClock } from '#base/clock.ts';
import {
  ASK_REQUEST_VERSION,
  type AskRequest,
  DEFAULT_ASK_LIMITS,
  replLimits,
} from '#extensions/rlm/ask/ask-request.ts';
import { executeAsk } from '#extensions/rlm/ask/execute-ask.ts';
import { JUDGE_FAMILY, judgeCall } from '#extensions/rlm/ask/judge-call.ts';
import { createCalls } from '#extensions/rlm/call/calls.ts';
import type { InnerCall, InnerRequest } from '#extensions/rlm/call/inner-call.ts';
import type { AskOutcome } from '#extensions/rlm/outcome.ts';
import { textSource } from '#extensions/rlm/repl/file-bytes.ts';
import type { RunTrace } from '#extensions/rlm/trace/live-trace.ts';
import { replayRun } from '#extensions/rlm/trace/replay.ts';
import { type RunRecord, readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import { memoryTraceStore, type TraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { type Judge, noJudge } from '#mind/evidence/judge.ts';
import type { JsonObject } from '#public/talaria.ts';
import { createScriptedCall, type ScriptedInner } from '../call/scripted-call.ts';

export const NOTES = [
  '# Gateway',
  'The gateway listens on port 8080.',
  'Its host is named Berlin.',
  ...Array.from({ length: 200 }, (_, at) => `line ${at}: ${at % 10 === 0 ? 'ERROR disk full' : 'ok'}`),
  'The owner of the gateway is Alice Meyer.',
  '',
].join('\n');

export function js(code: string): string {
  return `I look first.\n\`\`\`js\n${code}\n\`\`\`\n`;
}

/** By call id; what is not there fails loudly. */
export type AskScript = Readonly<Record<string, ScriptedInner>>;

export interface Scene {
  readonly script: AskScript | ((request: InnerRequest) => ScriptedInner);
  readonly text?: string;
  readonly question?: string;
  readonly request?: Partial<AskRequest>;
  readonly store?: TraceStore;
  readonly run_id?: string;
  /** Goes on with the run instead of beginning it. */
  readonly trace?: RunTrace;
  readonly inner?: InnerCall;
  readonly signal?: AbortSignal;
  readonly late?: AbortSignal;
  /** Reads what is not quoted. */
  readonly judge?: Judge;
}

export interface Played {
  readonly outcome: AskOutcome;
  readonly store: TraceStore;
  readonly requests: readonly InnerRequest[];
}

export function askRequest(scene: Pick<Scene, 'question' | 'request' | 'judge'>): AskRequest {
  const { max_steps, depth, concurrency, window_tokens, max_calls } = DEFAULT_ASK_LIMITS;
  return {
    schema_version: ASK_REQUEST_VERSION,
    question: scene.question ?? 'On which port does the gateway listen?',
    max_steps,
    depth,
    concurrency,
    window_tokens,
    families: [],
    models: [],
    judge: scene.judge !== undefined,
    strict: false,
    budget: { max_calls },
    repl: replLimits(window_tokens, 100),
    skipped: [],
    ...scene.request,
  };
}

export async function playAsk(scene: Scene): Promise<Played> {
  const {
    script,
    text = NOTES,
    store = memoryTraceStore(),
    run_id = 'ask_1',
    signal = new AbortController().signal,
  } = scene;
  const request = askRequest(scene);
  const source = textSource(text, 'notes.md');
  const scripted = createScriptedCall(typeof script === 'function' ? script : (asked) => stepOf(script, asked));
  const begin = () =>
    store.begin({ run_id, kind: 'ask', request: request as unknown as JsonObject, root: '', sources: source.stamps });
  const trace = scene.trace ?? begin();
  const inner = new Map([['default', scene.inner ?? scripted]]);
  inner.set(JUDGE_FAMILY, judgeCall(scene.judge ?? noJudge, run_id));
  const calls = createCalls({ inner, trace, budget: request.budget, clock: systemClock, run: run_id });
  const late = scene.late === undefined ? {} : { late: scene.late };
  const outcome = await executeAsk({ request, source, trace, calls, signal, ...late });
  return { outcome, store, requests: scripted.requests };
}

function stepOf(script: AskScript, { call_id }: InnerRequest): ScriptedInner {
  const step = script[call_id];
  if (step === undefined) throw new Error(`the script has no ${call_id}`);
  return step;
}

/** Its record holds together. */
export function recordOf({ store }: Pick<Played, 'store'>): RunRecord {
  const found = store.find('ask_1');
  assert.ok(found.ok);
  const record = readRunRecord(store, found.value);
  assert.deepEqual(verifyRun(record), []);
  return record;
}

/** And is replayed without a model. */
export async function holds(played: Pick<Played, 'store'>, scene: Partial<Scene> = {}): Promise<void> {
  const ask = async ({ trace }: { readonly trace: NonNullable<Scene['trace']> }) => {
    await playAsk({ ...scene, script: {}, trace });
  };
  const replayed = await replayRun(recordOf(played), { ask }, new AbortController().signal);
  assert.equal('result' in replayed ? replayed.result : replayed.reason, 'same', JSON.stringify(replayed));
}
