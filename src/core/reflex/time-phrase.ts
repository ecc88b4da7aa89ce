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

/** The days that a phrase means, or undefined when it names none. */
export function timeWindow(phrase: string, now: number): TimeWindow | undefined {
  const words = phrase.toLowerCase().trim();
  const { year, month, day } = localDate(now);
  const days = daysBack(words.replace(/^(?:on|in|during|from|since) |^the (?=last|past|day)/g, ''), now);
  const midnight = (back: number) => localMidnight(year, month, day - back);
  return days && { from: midnight(days[0]), to: midnight((words.startsWith('since ') ? 0 : days[1]) - 1) };
}

/** Days back of the first and of the last day. */
type Days = readonly [first: number, last: number];

function daysBack(core: string, now: number): Days | undefined {
  const { weekday } = localDate(now);
  const intoWeek = (weekday + 6) % 7;
  const known: Readonly<Record<string, Days>> = {
    today: [0, 0],
    'this morning': [0, 0],
    yesterday: [1, 1],
    'last night': [1, 0],
    'day before yesterday': [2, 2],
    'this week': [intoWeek, 0],
    'last week': [intoWeek + 7, intoWeek + 1],
  };
  const named = WEEKDAYS.indexOf(core.replace(/^last /, ''));
  if (named >= 0) return sameDay((weekday - named + 7) % 7 || 7);
  const [whole, ...date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(core) ?? [];
  if (whole !== undefined) return sameDay(Math.max(0, backTo(date.map(Number), now)));
  return (Object.hasOwn(known, core) ? known[core] : undefined) ?? countedDays(core);
}

/** `3 days ago`, `two weeks ago`, `last 3 days`. */
function countedDays(core: string): Days | undefined {
  const [, over, count = '', unit] = /^(last |past )?(\d+|a) (day|week)s?(?: ago)?$/.exec(core) ?? [];
  const size = count === 'a' ? 1 : Number(count);
  if (unit === undefined || size < 1 || (over === undefined) !== core.endsWith('ago')) return undefined;
  const days = size * (unit === 'day' ? 1 : 7);
  const slack = unit === 'day' ? 0 : 3;
  return over === undefined ? [days + slack, days - slack] : [days, 0];
}

function sameDay(back: number): Days {
  return [back, back];
}

function backTo([year = 0, month = 0, day = 0]: readonly number[], now: number): number {
  const today = localDate(now);
  return Math.round((localMidnight(today.year, today.month, today.day) - localMidnight(year, month, day)) / 86_400_000);
}
