// Owns the flush before a compression (seed 001 ch 13): one model call with the memory tool in its proposing form. Knows no compression.
// Invariants: it leaves no trace in the messages and none on the screen; one stretch of messages is flushed once, whatever becomes of
// the compression; when it fails the compression goes on, and a notice says so.
import { errorText } from '#base/errors.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import { citableMessages } from '../review/citable-messages.ts';
import { type ReviewParts, type ReviewRun, runProposing } from '../review/run-review.ts';
import type { FlushMarks } from './flush-marks.ts';
import { FLUSH_PROMPT } from './flush-prompt.ts';

export interface FlushParts {
  readonly review: ReviewParts;
  readonly marks: FlushMarks;
  /** By rule, where no language model answers. */
  readonly byRule: (sessionId: string, signal: AbortSignal) => Promise<ReviewRun>;
  readonly isReflex: () => boolean;
  readonly done: (run: ReviewRun) => Promise<void>;
  readonly notice: (text: string) => void;
}

/** One call and its tools: the flush is no conversation. */
const FLUSH_STEPS = 1;

export function flushHook(parts: FlushParts): Hooks {
  return {
    name: 'flush',
    beforeCompress: async ({ sessionId }, _messages, signal) => {
      try {
        const run = parts.isReflex() ? await parts.byRule(sessionId, signal) : await flush(parts, sessionId, signal);
        if (run) await parts.done(run);
      } catch (error) {
        if (signal.aborted) throw error;
        parts.notice(`memory was not saved before the compression: ${errorText(error)}`);
      }
    },
  };
}

/** Undefined: too little is new. */
async function flush(
  { review, marks }: FlushParts,
  sessionId: string,
  signal: AbortSignal,
): Promise<ReviewRun | undefined> {
  const messages = await review.messagesOf(sessionId);
  if (!marks.isDue(sessionId, messages, review.window())) return undefined;
  const text = `${FLUSH_PROMPT}\n\n${citableMessages(messages, review.window())}`.trimEnd();
  const run = await runProposing(
    review,
    { sessionId, kind: 'memory', text, purpose: 'flush', actor: 'flush', maxSteps: FLUSH_STEPS },
    signal,
  );
  await marks.flushed(sessionId, messages);
  return run;
}
