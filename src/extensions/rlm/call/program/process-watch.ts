// Owns listening to a program that answers: what it printed, what it complained about, and when it has been silent or talkative too long.
// Knows no program. Invariant: memory is bounded by the longest reply and a tail of the complaints; no timer outlives `clear`.
import type { Clock } from '#base/clock.ts';
import { sliceText } from '#base/text.ts';

export interface WatchLimits {
  readonly clock: Clock;
  /** Characters of a reply. */
  readonly longest: number;
  readonly startup_ms: number;
  readonly idle_ms: number;
}

export type WatchCause = 'startup' | 'idle' | 'too-long';

export interface ProcessWatch {
  /** Aborts when the parent does, or for a cause of its own. */
  readonly signal: AbortSignal;
  /** Why it aborted by itself. */
  readonly cause: () => WatchCause | undefined;
  readonly hear: (chunk: string, stream: 'out' | 'err') => void;
  readonly printed: () => string;
  /** `: <end of its standard error>`, in one line, or nothing. */
  readonly complaint: (redact: (text: string) => string) => string;
  readonly clear: () => void;
}

/** A reply as JSON may take twice its characters, and some for the object around it. */
const ESCAPED = 2;
const AROUND = 4_096;
const COMPLAINT = 400;
/** Cut after redaction, so that no secret loses its beginning first. */
const KEPT = 8_192;

export function watchProcess({ clock, longest, startup_ms, idle_ms }: WatchLimits, parent: AbortSignal): ProcessWatch {
  const own = new AbortController();
  let cause: WatchCause | undefined;
  const stop = (why: WatchCause) => {
    cause ??= why;
    own.abort();
  };
  let cancel = clock.after(startup_ms, () => stop('startup'));
  const pieces: string[] = [];
  let length = 0;
  let complained = '';
  return {
    signal: AbortSignal.any([parent, own.signal]),
    // A parent that aborted first is the cause, whatever happened while the program ended.
    cause: () => (parent.aborted && !own.signal.aborted ? undefined : cause),
    hear(chunk, stream) {
      cancel();
      if (own.signal.aborted || parent.aborted) return;
      cancel = clock.after(idle_ms, () => stop('idle'));
      if (stream === 'err') {
        complained = (complained + chunk).slice(-KEPT);
        return;
      }
      length += chunk.length;
      if (length > longest * ESCAPED + AROUND) stop('too-long');
      else pieces.push(chunk);
    },
    printed: () => pieces.join(''),
    complaint(redact) {
      const line = redact(complained.toWellFormed()).replace(/\s+/g, ' ').trim();
      return line === ''
        ? ''
        : `: ${line.length > COMPLAINT ? `…${sliceText(line.slice(-COMPLAINT).toWellFormed(), COMPLAINT)}` : line}`;
    },
    clear: () => cancel(),
  };
}
