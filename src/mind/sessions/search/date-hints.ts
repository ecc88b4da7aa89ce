// Owns reading dates out of a question: months, days, years, weekdays, and spans relative to now. Knows no row.
// Invariant: a hint only raises rows of that time; a question without one is ranked as if time did not exist.
import { localDate, localMidnight } from '#base/clock.ts';

/** How well a time fits, 0 to 1 for a vague hint, more for an exact day. */
export interface DateHint {
  fit(epochMs: number): number;
}

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
].concat('november', 'december');
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const DAY_MS = 86_400_000;
const UNIT_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 };
const NUMBERS = ['zero', 'a', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** A day that is named wholly counts that much more than its month alone. */
const EXACT_DAY = 2.5;
/** A year or a weekday alone says little. */
const VAGUE = 0.5;

/** Hints of a question asked at `now`; at most one for the calendar and one for relative words. */
export function dateHints(question: string, now: number): readonly DateHint[] {
  const text = question.slice(0, 2000);
  return [calendarHint(text), relativeHint(text.toLowerCase(), now)].filter((hint) => hint !== undefined);
}

interface CalendarParts {
  readonly month: number;
  readonly day: number | undefined;
  readonly year: number | undefined;
}

function calendarHint(text: string): DateHint | undefined {
  const iso = /\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/.exec(text);
  if (iso) return monthHint({ month: Number(iso[2]), day: iso[3] ? Number(iso[3]) : undefined, year: Number(iso[1]) });
  const year = number(/\b((?:19|20)\d\d)\b/.exec(text)?.[1]);
  const month = monthIn(text);
  if (month !== undefined) return monthHint({ month, day: dayIn(text), year });
  if (year === undefined) return undefined;
  return { fit: (at) => (localDate(at).year === year ? VAGUE : 0) };
}

function monthHint(wanted: CalendarParts): DateHint {
  return {
    fit: (at) => {
      const date = localDate(at);
      if (date.month !== wanted.month || (wanted.year !== undefined && date.year !== wanted.year)) return 0;
      return wanted.day === date.day ? EXACT_DAY : 1;
    },
  };
}

/** `may` is a month only with a capital letter; the first three letters do for the others when they stand by a number. */
function monthIn(text: string): number | undefined {
  const lower = text.toLowerCase();
  const names = (name: string) => new RegExp(`\\b${name}\\b|\\b${name.slice(0, 3)}\\.? \\d`);
  const named = MONTHS.map((name) => (name === 'may' ? /\bMay\b/.test(text) : names(name).test(lower)));
  const at = named.indexOf(true);
  return at < 0 ? undefined : at + 1;
}

function dayIn(text: string): number | undefined {
  return number(/\b(\d{1,2})(?:st|nd|rd|th)?\b(?!:)/.exec(text)?.[1]);
}

function number(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function relativeHint(text: string, now: number): DateHint | undefined {
  const span = dayWord(text, now) ?? unitAgo(text, now) ?? lastUnit(text, now) ?? weekday(text, now);
  if (span === undefined) return undefined;
  const [from, to] = span;
  return { fit: (at) => (at >= from && at < to ? 1 : 0) };
}

type Span = readonly [from: number, to: number];

function midnight(at: number, shiftDays = 0): number {
  const date = localDate(at);
  return localMidnight(date.year, date.month, date.day + shiftDays);
}

function dayWord(text: string, now: number): Span | undefined {
  if (/\b(today|this morning|tonight|earlier)\b/.test(text)) return [midnight(now), midnight(now, 1)];
  if (/\b(yesterday|last night)\b/.test(text)) return [midnight(now, -1), midnight(now)];
  return /\b(recently|lately)\b/.test(text) ? [midnight(now, -14), midnight(now, 1)] : undefined;
}

/** `3 weeks ago`: the time meant is blurred by half a unit on both sides. */
function unitAgo(text: string, now: number): Span | undefined {
  const match = /\b(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten) (day|week|month|year)s? ago\b/.exec(
    text,
  );
  if (!match) return undefined;
  const [, amount = '', unit = 'day'] = match;
  const count = /^\d/.test(amount) ? Number(amount) : Math.max(1, NUMBERS.indexOf(amount));
  const days = UNIT_DAYS[unit] ?? 1;
  const middle = midnight(now, -count * days);
  const blur = unit === 'day' ? 0 : (days / 2) * DAY_MS;
  return [middle - blur, middle + DAY_MS + blur];
}

function lastUnit(text: string, now: number): Span | undefined {
  const match = /\b(last|past|previous|this) (week|weekend|month|year)\b/.exec(text);
  if (!match) return undefined;
  const back = match[1] === 'this' ? 0 : 1;
  const date = localDate(now);
  if (match[2] === 'year') return [localMidnight(date.year - back, 1, 1), localMidnight(date.year - back + 1, 1, 1)];
  if (match[2] === 'month') {
    return [localMidnight(date.year, date.month - back, 1), localMidnight(date.year, date.month - back + 1, 1)];
  }
  const sinceMonday = (date.weekday + 6) % 7;
  const monday = midnight(now, -sinceMonday - 7 * back);
  return [match[2] === 'weekend' ? midnight(monday, 5) : monday, midnight(monday, 7)];
}

/** The last such day before today, or today. */
function weekday(text: string, now: number): Span | undefined {
  const named = WEEKDAYS.findIndex((name) => new RegExp(`\\b${name}\\b`).test(text));
  if (named < 0) return undefined;
  const back = (localDate(now).weekday - named + 7) % 7;
  return [midnight(now, -back), midnight(now, 1 - back)];
}
