// Owns what a person may ask `forget` for: exactly one of a session, a time, a text. Knows no store. Pure but for the clock.
import { type Clock, localMidnight, parseTime } from '#base/clock.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { ForgetQuery } from '#mind/sessions/forget/select-messages.ts';

export interface ForgetInput {
  readonly session?: string | undefined;
  readonly before?: string | undefined;
  readonly match?: string | undefined;
  readonly everywhere: boolean;
}

export type QueryRefusal = 'one-of-three' | 'no-time' | 'text-too-short' | 'everywhere-alone';

/** Shorter texts stand in almost every message. */
const SHORTEST = 3;
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

export function readForgetQuery(input: ForgetInput, clock: Clock): Result<ForgetQuery, QueryRefusal> {
  const given = [input.session, input.before, input.match].filter((value) => value !== undefined);
  if (given.length !== 1) return refuse('one-of-three', 'Give one of --session, --before and --match.');
  if (input.everywhere && input.match === undefined) {
    return refuse('everywhere-alone', '--everywhere goes with --match only.');
  }
  if (input.session !== undefined) return ok({ kind: 'session', sessionId: input.session });
  if (input.before !== undefined) return beforeQuery(input.before.trim(), clock);
  const text = (input.match ?? '').trim();
  if (text.length < SHORTEST) return refuse('text-too-short', `--match needs ${SHORTEST} characters or more.`);
  return ok({ kind: 'match', text });
}

/** `30d`, `12h`, `4w` ago; a day, which begins at local midnight; or a whole ISO time. */
function beforeQuery(text: string, clock: Clock): Result<ForgetQuery, 'no-time'> {
  const ago = /^(\d{1,5})([hdw])$/.exec(text);
  if (ago) return ok({ kind: 'before', at: clock.now() - Number(ago[1]) * (UNITS[ago[2] ?? ''] ?? 0) });
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  const isDate = /^\d{4}-\d\d-\d\d(?:$|[T ])/.test(text);
  const at = isDate ? parseTime(text) : undefined;
  if (at === undefined) {
    return refuse('no-time', `"${text}" is no time: 2026-01-31, 2026-01-31T12:00, or 30d, 12h, 4w for that long ago.`);
  }
  return ok({ kind: 'before', at: day ? localMidnight(Number(day[1]), Number(day[2]), Number(day[3])) : at });
}
