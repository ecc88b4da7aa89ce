// Owns the flush before a compression (seed 001 ch 13): one model call with the memory tool in its proposing form. Knows no compression.
// Invariants: it leaves no trace in the messages and none on the screen; when it fails the compression goes on, and a notice says so.
import { errorText } from '#base/errors.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import { citableMessages } from '../review/citable-messages.ts';
import { type ReviewParts, type ReviewRun, runProposing } from '../review/run-review.ts';
import { FLUSH_PROMPT } from './flush-prompt.ts';

export interface FlushParts {
  readonly review: ReviewParts;
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
        await parts.done(run);
      } catch (error) {
        if (signal.aborted) throw error;
        parts.notice(`memory was not saved before the compression: ${errorText(error)}`);
      }
    },
  };
}

async function flush({ review }: FlushParts, sessionId: string, signal: AbortSignal): Promise<ReviewRun> {
  const citable = citableMessages(await review.messagesOf(sessionId), review.window());
  const text = `${FLUSH_PROMPT}\n\n${citable}`.trimEnd();
  return runProposing(
    review,
    { sessionId, kind: 'memory', text, purpose: 'flush', actor: 'flush', maxSteps: FLUSH_STEPS },
    signal,
  );
}
