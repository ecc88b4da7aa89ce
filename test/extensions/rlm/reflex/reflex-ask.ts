// Asking a text with the rules as the inner model: the real sandbox, the real gate.
import { systemClock } from '#base/clock.ts';
import { ASK_REQUEST_VERSION, DEFAULT_ASK_LIMITS, replLimits } from '#extensions/rlm/ask/ask-request.ts';
import { executeAsk } from '#extensions/rlm/ask/execute-ask.ts';
import { createCalls } from '#extensions/rlm/call/calls.ts';
import type { AskOutcome } from '#extensions/rlm/outcome.ts';
import { textSource } from '#extensions/rlm/repl/file-bytes.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { reflexInner } from './reflex-inner.ts';

export async function askByRule(text: string, question: string): Promise<AskOutcome> {
  const source = textSource(text, 'text.md');
  const { max_steps, depth, concurrency, window_tokens, max_calls } = DEFAULT_ASK_LIMITS;
  const run_id = `run_${question.length}`;
  const trace = memoryTraceStore().begin({ run_id, kind: 'ask', request: {}, root: '', sources: source.stamps });
  const budget = { max_calls };
  const inner = new Map([['default', reflexInner]]);
  return executeAsk({
    request: {
      schema_version: ASK_REQUEST_VERSION,
      question,
      max_steps,
      depth,
      concurrency,
      window_tokens,
      families: [],
      models: [],
      judge: false,
      strict: false,
      budget,
      repl: replLimits(window_tokens, max_calls),
      skipped: [],
    },
    source,
    trace,
    calls: createCalls({ inner, trace, budget, clock: systemClock, run: run_id }),
    signal: new AbortController().signal,
  });
}
