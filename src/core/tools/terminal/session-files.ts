// Owns whether a file was there before a session: what the session itself made may be deleted without a question.
// Knows no command. Invariant: a doubt (no time of birth, too many files to look at) counts as "it was there".
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';

export interface SessionFiles {
  /** Was `path`, or anything in it, there before? A session begins with its first call here. */
  of(sessionId: string): (path: string) => boolean;
}

const MOST_ENTRIES = 2_000;

export function createSessionFiles(): SessionFiles {
  const starts = new Map<string, number>();
  return {
    of(sessionId) {
      // Times of files are real, whatever clock a session has.
      const start = starts.get(sessionId) ?? systemClock.now();
      starts.set(sessionId, start);
      return (path) => isBornBefore(path, start, { left: MOST_ENTRIES });
    },
  };
}

function isBornBefore(path: string, start: number, budget: { left: number }): boolean {
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined) return false;
    budget.left -= 1;
    if (budget.left < 0 || facts.birthtimeMs === 0 || facts.birthtimeMs < start) return true;
    return facts.isDirectory() && readdirSync(path).some((name) => isBornBefore(join(path, name), start, budget));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return true; // where we may not look
  }
}
