// Owns the log: one JSON object a line, appended to a file that is rotated once when it grows too large.
// Knows no event. Invariant: logging never throws into the caller and never writes a secret (lines pass `redact` first).
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, isoTime } from './clock.ts';
import type { JsonObject } from './json.ts';
import { redactSecrets } from './secrets.ts';

export interface EventLog {
  write(event: string, data?: JsonObject): void;
  /** Lines that could not be written since start (disk full, no permission). */
  readonly lost: number;
}

const ROTATE_AT_BYTES = 5_000_000;

export function createEventLog(path: string, clock: Clock): EventLog {
  let lost = 0;
  return {
    get lost() {
      return lost;
    },
    write(event, data = {}) {
      const line = redactSecrets(JSON.stringify({ at: isoTime(clock.now()), event, ...data }));
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        rotate(path);
        appendFileSync(path, `${line}\n`, { mode: 0o600 });
      } catch {
        lost += 1;
      }
    },
  };
}

function rotate(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > ROTATE_AT_BYTES) renameSync(path, `${path}.1`);
}
