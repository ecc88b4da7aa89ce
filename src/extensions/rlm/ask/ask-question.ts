// Owns an ask from a question to its outcome in the store: for the command, and for the tool `recursive_read`, within the limits of config.yaml; also
// when reflex answers: it reads where the words of the question stand, so material of any size fits. Invariant: the source and the store are closed
// whatever happens; piped input is removed unless it is to be kept or the run can go on; for the tool files with secrets below a folder are left out
// and named, and what was allowed once is not written down.

import { rm } from 'node:fs/promises';
import type { JsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { engineOf, startRun } from '../engine.ts';
import type { AskOutcome } from '../outcome.ts';
import type { AnswerMaterial } from '../recursive-read-tool.ts';
import { readRlmConfig } from '../rlm-config.ts';
import { contextFolder, memoryTraceStore, openTraceStore } from '../trace/trace-store.ts';
import { askText } from './ask-lines.ts';
import { type AskContext, type AskOptions, type AskRefusal, prepareAsk } from './prepare-ask.ts';

export interface QuestionAsked {
  readonly ground: Ground;
  /** Default: opened from the ground. */
  readonly mind?: Mind;
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
  const { ground, context, options = {}, keep = true, keepContext = false, progress } = asked;
  const mind = asked.mind ?? (await ground.open());
  const prepared = await prepareAsk({ ground, mind }, asked, options, signal);
  if (!prepared.ok) return prepared;
  const { run_id, request, source, root, spooled } = prepared.value;
  const { home } = ground.places;
  let ended = false;
  try {
    const store = keep ? openTraceStore(home, ground) : memoryTraceStore(ground.clock);
    try {
      const plain = request as unknown as JsonObject;
      const run = { run_id, kind: 'ask', root, sources: source.stamps, request: plain } as const;
      const texts = 'text' in context ? [context.text] : [];
      const outcome = await startRun(engineOf(ground, mind, store), run, { texts, source, progress }, signal);
      ended = true;
      const notices = store.notices.map(({ message }) => message);
      return ok({ outcome, kept: keep, context: keep && keepContext ? spooled : null, notices });
    } finally {
      store.close();
    }
  } finally {
    source.close();
    const goesOn = keep && !ended;
    if (spooled !== null && !goesOn && !(keep && keepContext))
      await rm(contextFolder({ home, run_id }), { recursive: true, force: true });
  }
}

export function answerByAsking(ground: Ground): AnswerMaterial {
  return async ({ question, material, root, isSecret, keep, depth }, signal) => {
    const mind = await ground.open();
    const { max_calls, timeout_seconds } = readRlmConfig(mind).recursive_read;
    const context = 'path' in material ? { path: material.path, root, leaveOut: isSecret } : material;
    const options = { depth, budget: { max_calls, max_ms: timeout_seconds * 1_000 } };
    const answered = await askQuestion({ ground, mind, context, question, options, keep }, signal);
    if (!answered.ok) return refuse('material-refused', answered.detail);
    const { outcome, kept } = answered.value;
    const { run_id, verdict } = outcome;
    // The last line: where a person sees everything.
    const seen = `\n\nRecorded as ${run_id}; the owner sees every step with: talaria rlm show ${run_id}`;
    const failed = verdict !== 'answered' && verdict !== 'unsupported';
    return ok({ text: `${askText(outcome)}${kept ? seen : ''}`, failed });
  };
}
