// Owns the few phrases of time that recall understands, and which days each means.
// Knows no clock: `now` is given. Invariant: a window is whole local days; weeks begin on Monday; another phrase has none.
import { localDate, localMidnight } from '#base/clock.ts';

export interface TimeWindow {
  /** Epoch ms, inclusive. */
  readonly from: number;
  /** Epoch ms, exclusive. */
  readonly to: number;
}

const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const NUMBERS = 'zero one two three four five six seven eight nine ten'.split(' ');

/** The days that a phrase means, or undefined when it names none. */
export function timeWindow(phrase: string, now: number): TimeWindow | undefined {
  const words = phrase.toLowerCase().trim();
  const core = words.replace(/^(?:on|in|during|from|since) |^the (?=last|past|day)/g, '');
  const days = daysBack(core, now, core !== words);
  if (days === undefined) return undefined;
  const today = localDate(now);
  const day = (back: number) => localMidnight(today.year, today.month, today.day - back);
  return { from: day(days[0]), to: day((words.startsWith('since ') ? 0 : days[1]) - 1) };
}

/** Days back of the first and of the last day. */
type Days = readonly [first: number, last: number];

function daysBack(core: string, now: number, isLed: boolean): Days | undefined {
  if (/^(?:earlier )?today$|^this (?:morning|afternoon|evening)$|^tonight$/.test(core)) return [0, 0];
  if (/^yesterday(?: (?:morning|afternoon|evening))?$|^last night$/.test(core))
    return core === 'last night' ? [1, 0] : [1, 1];
  if (core === 'day before yesterday') return [2, 2];
  return countedDays(core) ?? calendarDays(core, now) ?? namedDay(core, now, isLed);
}

/** `3 days ago`, `two weeks ago`, `last 3 days`. */
function countedDays(core: string): Days | undefined {
  const [, over, count = '', unit] = /^(last |past )?(\d+|[a-z]+) (day|week|month)s?(?: ago)?$/.exec(core) ?? [];
  const size = count === 'a' ? 1 : /^\d+$/.test(count) ? Number(count) : NUMBERS.indexOf(count);
  if (unit === undefined || size < 1 || (over === undefined) !== core.endsWith('ago')) return undefined;
  const days = size * { day: 1, week: 7, month: 30 }[unit as 'day' | 'week' | 'month'];
  const slack = unit === 'day' ? 0 : unit === 'week' ? 4 : 15;
  return over === undefined ? [days + slack, Math.max(0, days - slack)] : [days, 0];
}

/** `last week`, `this month`, `last year`. */
function calendarDays(core: string, now: number): Days | undefined {
  const [, which, unit] = /^(last|this) (week|month|year)$/.exec(core) ?? [];
  if (unit === undefined) return undefined;
  const { year, month, day, weekday } = localDate(now);
  const isLast = which === 'last';
  const intoWeek = (weekday + 6) % 7;
  if (unit === 'week') return isLast ? [intoWeek + 7, intoWeek + 1] : [intoWeek, 0];
  const first = unit === 'year' ? [year - (isLast ? 1 : 0), 1] : [year, month - (isLast ? 1 : 0)];
  const begin = backTo([first[0] ?? year, first[1] ?? month, 1], now);
  return [begin, isLast ? (unit === 'month' ? day : backTo([year, 1, 1], now) + 1) : 0];
}

/** `monday`, `last friday`, `may 3`, `3rd of may`, `in march`, `2026-05-03`. */
function namedDay(core: string, now: number, isLed: boolean): Days | undefined {
  const today = localDate(now);
  const weekday = WEEKDAYS.indexOf(core.replace(/^last /, ''));
  if (weekday >= 0) return sameDay((today.weekday - weekday + 7) % 7 || 7);
  const iso = /^(\d{4})-(\d\d)-(\d\d)$/.exec(core);
  if (iso) return sameDay(Math.max(0, backTo([Number(iso[1]), Number(iso[2]), Number(iso[3])], now)));
  const words = core.split(' ').filter((word) => word !== 'of' && word !== 'the');
  const month =
    MONTHS.findIndex((name) => words.some((word) => word === name || (word.length === 3 && name.startsWith(word)))) + 1;
  if (month === 0 || words.length > 2 || (words.length === 1 && !isLed)) return undefined;
  const day = Number(/\b(\d{1,2})(?:st|nd|rd|th)?\b/.exec(core)?.[1] ?? 0);
  if (words.length === 2 && day === 0) return undefined;
  const year = month > today.month || (month === today.month && day > today.day) ? today.year - 1 : today.year;
  if (day > 0) return sameDay(backTo([year, month, day], now));
  return [backTo([year, month, 1], now), Math.max(0, backTo([year, month + 1, 0], now))];
}

function sameDay(back: number): Days {
  return [back, back];
}

function backTo([year, month, day]: readonly [number, number, number], now: number): number {
  const today = localDate(now);
  return Math.round((localMidnight(today.year, today.month, today.day) - localMidnight(year, month, day)) / 86_400_000);
}
