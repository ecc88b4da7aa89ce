// Owns phrases of time: where one stands in a line, and which days it means.
// Knows no clock: `now` is given. Invariant: a window is whole local days; a phrase without days (`recently`) has none.
import { localDate, localMidnight } from '#base/clock.ts';
import type { Language } from '../language.ts';
import { type Line, phraseLengths } from './read-line.ts';

export interface TimeWindow {
  /** Epoch ms, inclusive. */
  readonly from: number;
  /** Epoch ms, exclusive. */
  readonly to: number;
}

/** Ends (token indexes) of the phrases of time that begin at `at`. */
export function readTime(line: Line, at: number): readonly number[] {
  const words = line.tokens.slice(at, at + 6).map((token) => token.word);
  const ends: number[] = [];
  for (const length of phraseLengths(line.tokens, at, line.language.time.vague)) ends.push(at + length);
  for (let length = Math.min(6, words.length); length > 0; length -= 1) {
    if (daysBack(words.slice(0, length), 0, line.language) !== undefined) ends.push(at + length);
  }
  return ends;
}

/** The days that a phrase means, or undefined when it names none. */
export function timeWindow(phrase: string, now: number, language: Language): TimeWindow | undefined {
  const days = daysBack(phrase.toLowerCase().split(/\s+/), now, language);
  if (days === undefined) return undefined;
  const today = localDate(now);
  const day = (back: number) => localMidnight(today.year, today.month, today.day - back);
  return { from: day(days[0]), to: day(days[1] - 1) };
}

type Days = readonly [first: number, last: number];

function daysBack(words: readonly string[], now: number, language: Language): Days | undefined {
  const { time } = language;
  const lead = time.lead.split(' ').includes(words[0] ?? '') ? 1 : 0;
  const core = words[lead] === 'the' ? words.slice(lead + 1) : words.slice(lead);
  if (core.length === 0) return undefined;
  const known = time.days[words.join(' ')] ?? time.days[core.join(' ')];
  if (known !== undefined) return knownDays(known);
  const since = words[0] === 'since';
  const found =
    agoDays(core, language) ?? relativeDays(core, now, language) ?? namedDays({ core, lead: lead > 0 }, now, language);
  return found !== undefined && since ? [found[0], 0] : found;
}

function knownDays(span: string): Days {
  const [first = 0, last = 0] = span.split(' ').map(Number);
  return [first, last];
}

/** `3 days ago`, `two weeks back`, `the last 3 days`. */
function agoDays(core: readonly string[], language: Language): Days | undefined {
  const { time, slots } = language;
  const over = time.last.split(' ').includes(core[0] ?? '');
  const [count, unit, ago] = over ? core.slice(1) : core;
  const size = Number(time.units[unit ?? '']);
  const number = Number(slots.numbers[count ?? ''] ?? count);
  if (Number.isNaN(size) || !Number.isFinite(number) || core.length !== 3) return undefined;
  if (over) return [Math.max(1, number * size), 0];
  if (!time.ago.split(' ').includes(ago ?? '')) return undefined;
  const slack = size < 7 ? 0 : Math.ceil(size / 2);
  return [Math.ceil(number * size) + slack, Math.max(0, number * size - slack)];
}

/** `last week`, `this month`, `last friday`. */
function relativeDays(core: readonly string[], now: number, language: Language): Days | undefined {
  const { time } = language;
  const [which, what] = core;
  if (core.length !== 2 || which === undefined || what === undefined) return undefined;
  const last = time.last.split(' ').includes(which);
  if (!last && !time.current.split(' ').includes(which)) return undefined;
  const today = localDate(now);
  const weekday = time.weekdays.indexOf(what);
  if (weekday >= 0) return sameDay((today.weekday - weekday + 7) % 7 || (last ? 7 : 0));
  const month = time.months.indexOf(what);
  if (month >= 0) return monthDays(month + 1, now);
  return calendarDays(Number(time.units[what]), last, now);
}

/** Calendar weeks begin on Monday; last week is the seven days before this one. */
function calendarDays(size: number, last: boolean, now: number): Days | undefined {
  const today = localDate(now);
  const intoWeek = (today.weekday + 6) % 7;
  const year: Days = last
    ? daysBetween([today.year - 1, 1, 1], [today.year - 1, 12, 31], now)
    : daysBetween([today.year, 1, 1], undefined, now);
  const spans = new Map<number, Days>([
    [1, sameDay(last ? 1 : 0)],
    [7, last ? [intoWeek + 7, intoWeek + 1] : [intoWeek, 0]],
    [30, last ? monthDays(today.month - 1 || 12, now) : [today.day - 1, 0]],
    [365, year],
  ]);
  return spans.get(size);
}

/** `monday`, `march`, `may 3`, `3rd of may`, `2026-05-03`. A bare month or weekday needs `on` or `in` before it. */
function namedDays(
  phrase: { readonly core: readonly string[]; readonly lead: boolean },
  now: number,
  language: Language,
): Days | undefined {
  const { core, lead } = phrase;
  const iso = /^(\d{4})-(\d\d)-(\d\d)$/.exec(core[0] ?? '');
  if (iso !== null && core.length === 1)
    return daysBetween([Number(iso[1]), Number(iso[2]), Number(iso[3])], 'same', now);
  const { weekdays, months } = language.time;
  if (core.length === 1) {
    const weekday = weekdays.indexOf(core[0] ?? '');
    if (weekday >= 0) return sameDay((localDate(now).weekday - weekday + 7) % 7 || 7);
    const month = months.indexOf(core[0] ?? '');
    return month >= 0 && lead ? monthDays(month + 1, now) : undefined;
  }
  return dayOfMonth(core, now, language);
}

function dayOfMonth(core: readonly string[], now: number, language: Language): Days | undefined {
  const words = core.filter((word) => word !== 'of' && word !== 'the');
  if (words.length < 2 || words.length > 3) return undefined;
  const month = words
    .slice(0, 2)
    .map((word) =>
      language.time.months.findIndex((name) => name === word || (word.length === 3 && name.startsWith(word))),
    )
    .find((index) => index >= 0);
  const day = words
    .slice(0, 2)
    .map((word) => /^(\d{1,2})(st|nd|rd|th)?$/.exec(word)?.[1])
    .find((found) => found !== undefined);
  const year = words[2] === undefined ? undefined : /^\d{4}$/.exec(words[2])?.[0];
  if (month === undefined || day === undefined || (words[2] !== undefined && year === undefined)) return undefined;
  const today = localDate(now);
  const passed = month + 1 < today.month || (month + 1 === today.month && Number(day) <= today.day);
  return daysBetween([Number(year ?? (passed ? today.year : today.year - 1)), month + 1, Number(day)], 'same', now);
}

function monthDays(month: number, now: number): Days {
  const today = localDate(now);
  const year = month <= today.month ? today.year : today.year - 1;
  const last = localDate(localMidnight(year, month + 1, 0)).day;
  return daysBetween([year, month, 1], [year, month, last], now);
}

type Day = readonly [year: number, month: number, day: number];

function daysBetween(first: Day, last: Day | 'same' | undefined, now: number): Days {
  const today = localDate(now);
  const midnight = localMidnight(today.year, today.month, today.day);
  const back = (day: Day) => Math.round((midnight - localMidnight(...day)) / 86_400_000);
  const start = back(first);
  if (last === undefined) return [start, 0];
  return [start, last === 'same' ? start : Math.max(0, back(last))];
}

function sameDay(back: number): Days {
  return [back, back];
}
