// Owns `curator/last-run.json` of the home: when Talaria's own schedule ran last, and how it went. Knows no schedule.
// Invariant: old or new, never torn; a file that cannot be understood counts as none.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime, parseTime } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { LastRun } from './schedule-job.ts';

export function lastRunFile(home: string): string {
  return join(home, 'curator', 'last-run.json');
}

/** Throws TalariaError `last-run-unreadable` when there is a file that may not be read. */
export function readLastRun(path: string): LastRun | undefined {
  const parsed = parseJsonObject(textOf(path) ?? '');
  const { at, state } = parsed.ok ? parsed.value : {};
  const time = typeof at === 'string' ? parseTime(at) : undefined;
  return time === undefined ? undefined : { at: time, failed: state !== 'done' };
}

/** `outcome`: what the run did, or why it did not. Throws as `atomicWrite`. */
export function writeLastRun(path: string, { at, failed }: LastRun, outcome: JsonObject): void {
  const record = { at: isoTime(at), state: failed ? 'open' : 'done', ...outcome };
  atomicWrite(path, `${JSON.stringify(record, null, 2)}\n`);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new TalariaError(`cannot read ${path}: ${errorText(error)}`, {
      code: 'last-run-unreadable',
      cause: error,
      fix: 'Remove the file; the next run writes it anew.',
    });
  }
}
