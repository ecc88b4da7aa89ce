// Owns what a schedule is: the texts that say one, the words it is shown in, its times in its zone. Knows no job, no file and no clock.
// Invariants: what is shown reads back as the same schedule; times rise and none comes twice: one that daylight saving skips comes as much later
// as the clock leapt, of two that look alike the first counts. Only a schedule of every hour goes by the hour, not by the clock on the wall.
// biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
import { Cron } from 'croner';
import { isoTime, parseTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';

/** As it is kept, and as `--json` prints it. */
export type Schedule = { readonly zone: string; readonly display: string } & (
  | { readonly kind: 'once'; readonly run_at: string }
  | { readonly kind: 'interval'; readonly minutes: number }
  | { readonly kind: 'cron'; readonly expr: string }
);

type Said = Result<Schedule, 'unreadable' | 'never-due' | 'past' | 'too-often' | 'zone-unknown'>;

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const UNITS: Readonly<Record<string, number>> = { s: 1 / 60, m: 1, h: 60, d: 1_440, w: 10_080 };
const UNIT = /(?<unit>s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)$/;
const SPAN = new RegExp(`^(?<every>(?:every|each) )?(?:in )?(?<count>\\d{1,6})? ?${UNIT.source}`);
const CLOCK = /[t ](?<time>\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(?<offset>z|[+-]\d\d:?\d\d)?/;
const MOMENT = new RegExp(`^(?:once )?(?:at )?(?<day>\\d{4}-\\d\\d-\\d\\d)(?:${CLOCK.source})?$`);
/** Five, or six with the seconds. */
const FIELDS = /^(?:@\w+|(?:[\d*][\d*,/-]* ){2,3}[\w*?,/-]+ [\w*?,/-]+ [\w*?,/#-]+)$/;
const SPOKEN = /^(?<days>.+?)(?: at)? (?<hour>\d{1,2})(?::(?<minute>[0-5]\d))? ?(?<half>[ap]m)?$/;
const NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
/** Three of five fields: words that they are read from, words that they are shown in. */
const RECURRING: readonly (readonly [fields: string, read: RegExp, shown: string])[] = [
  ['* * *', /^(?:every (?:day|morning|afternoon|evening|night)|daily)$/, 'every day'],
  ['* * 1-5', /^(?:every )?weekdays?$/, 'weekdays'],
  ['* * 0,6', /^(?:every )?weekends?$/, 'weekends'],
  ['1 * *', /^(?:on )?(?:the |every )?first day of (?:the|each|every) month$/, 'first day of the month'],
  ['L * *', /^(?:on )?(?:the |every )?last day of (?:the|each|every) month$/, 'last day of the month'],
];
const HELP = 'Say e.g. 30m, 2027-01-31T09:00, every 2h, "0 9 * * 1-5", every day at 09:30, tomorrow at 5pm.';

/** Throws nothing: what it cannot read is refused. */
export function read(text: string, now: number, zone = localZone()): Said {
  if (!isZone(zone)) return refuse('zone-unknown', `There is no time zone ${zone}; say e.g. Europe/Berlin or UTC.`);
  const words = text.trim().replace(/\s+/g, ' ');
  const low = words.toLowerCase();
  try {
    const said = fields(words, zone) ?? span(low, now, zone) ?? moment(low, now, zone) ?? spoken(low, now, zone);
    if (!said) return refuse('unreadable', `${JSON.stringify(text)} is no schedule that I can read. ${HELP}`);
    const isOver = said.ok && times(said.value, now).next().done;
    return isOver ? refuse('never-due', `${text} is never due.`) : said;
  } catch (error) {
    return refuse('unreadable', `${text}: ${errorText(error).replace(/^Cron\w+: /, '')}`);
  }
}

function fields(text: string, zone: string): Said | undefined {
  if (!FIELDS.test(text)) return undefined;
  if (text.split(' ').length < 6) return ok(cron(text, zone));
  return refuse('too-often', `${text} has seconds; a schedule begins with the minute.`);
}

function span(text: string, now: number, zone: string): Said | undefined {
  const { every, count, unit = '' } = SPAN.exec(text)?.groups ?? {};
  if (every === undefined && count === undefined) return undefined;
  const minutes = Number(count ?? 1) * (UNITS[unit.charAt(0)] ?? 0);
  if (minutes < 1) return refuse('too-often', `${text} is under a minute.`);
  if (!every) return once(now + minutes * MINUTE, now, zone);
  const [size, name] = minutes % 1_440 === 0 ? [1_440, 'day'] : minutes % 60 === 0 ? [60, 'hour'] : [1, 'minute'];
  const display = minutes === size ? `every ${name}` : `every ${minutes / size} ${name}s`;
  return ok({ kind: 'interval', minutes, zone, display });
}

function moment(text: string, now: number, zone: string): Said | undefined {
  const { day = '', time = '00:00', offset } = MOMENT.exec(text)?.groups ?? {};
  // `Date` takes the 30th of February for the 2nd of March.
  if (day === '' || !isoTime(parseTime(day) ?? 0).startsWith(day)) return undefined;
  const at = offset ? parseTime(`${day}T${time}${offset.toUpperCase()}`) : instantOf(`${day}T${time}`, zone);
  return at === undefined ? undefined : once(at, now, zone);
}

/** Of a clock of twelve hours or of 24. */
function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined || hour > 12) return half ? 99 : hour;
  return (hour % 12) + (half === 'pm' ? 12 : 0);
}

function spoken(text: string, now: number, zone: string): Said | undefined {
  const { days = '', hour = '99', minute = '00', half } = SPOKEN.exec(text)?.groups ?? {};
  const hours = hourOf(Number(hour), half);
  if (hours > 23) return undefined;
  if (days === 'today' || days === 'tomorrow') {
    const today = parseTime(wallOf(now, zone).slice(0, 10)) ?? now;
    const day = isoTime(days === 'today' ? today : today + DAY).slice(0, 10);
    return moment(`${day} ${String(hours).padStart(2, '0')}:${minute}`, now, zone);
  }
  const rest = RECURRING.find(([, form]) => form.test(days))?.[0] ?? weekdays(days);
  return rest === undefined ? rest : ok(cron(`${Number(minute)} ${hours} ${rest}`, zone));
}

function weekdays(text: string): string | undefined {
  const words = text.replace(/^(?:every|each|on) /, '').split(/, and |, | and | & /);
  const days = words.map((word) => NAMES.findIndex((name) => isDay(word, name.toLowerCase())));
  return days.includes(-1) ? undefined : `* * ${[...new Set(days)].sort()}`;
}

/** `friday`, `fridays`, `fri` */
function isDay(word: string, name: string): boolean {
  return word.length > 2 && name.startsWith(word.replace(/s$/, ''));
}

function once(at: number, now: number, zone: string): Said {
  const local = localTime(at, zone).slice(4);
  if (at <= now) return refuse('past', `${local} (${zone}) is past.`);
  return ok({ kind: 'once', run_at: isoTime(at), zone, display: `once at ${local}` });
}

/** Where the fields say it best, they are what is shown. */
function cron(expr: string, zone: string): Schedule {
  const [, minute = '', hour = '', rest = ''] = /^(\d+) (\d+) (.+)$/.exec(expr) ?? [];
  const listed = /^\* \* ([0-6](?:,[0-6])*)$/.exec(rest)?.[1]?.split(',');
  const weekly = listed && `every ${AND.format(listed.map((day) => NAMES[Number(day)] ?? day))}`;
  const days = RECURRING.find(([fields]) => fields === rest)?.[2] ?? weekly;
  const display = days ? `${days} at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` : expr;
  return { kind: 'cron', expr, zone, display };
}

const AND = new Intl.ListFormat('en-GB');

/** After `after`, rising; an interval counts from there. */
export function* times(schedule: Schedule, after: number): Generator<number, void> {
  if (schedule.kind === 'cron') return yield* cronTimes(schedule.expr, schedule.zone, after);
  if (schedule.kind === 'once') {
    const at = parseTime(schedule.run_at) ?? after;
    return at > after ? yield at : undefined;
  }
  const step = schedule.minutes * MINUTE;
  for (let at = after + step; ; at += step) yield at;
}

/** By itself croner leaves out what is skipped, and has twice what comes twice, where more than one hour or minute is named. */
function* cronTimes(expr: string, zone: string, after: number): Generator<number, void> {
  const isHourly = /^(?:@hourly$|\S+ \* )/.test(expr);
  const wall = new Cron(expr, { timezone: isHourly ? zone : 'UTC', mode: '5-part' });
  let last = after;
  // What was skipped within the hour before may still come.
  let next = wall.nextRun(isHourly ? isoTime(after) : `${wallOf(after - HOUR, zone)}Z`);
  for (; next; next = wall.nextRun(next)) {
    const at = isHourly ? next.getTime() : instantOf(isoTime(next.getTime()).slice(0, 19), zone);
    if (at > last) yield at;
    last = Math.max(at, last);
  }
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `Tue 2026-01-20 18:00` */
export function localTime(at: number, zone: string): string {
  const day = new Intl.DateTimeFormat('en', { timeZone: zone, weekday: 'short' });
  return `${day.format(at)} ${wallOf(at, zone).slice(0, 16).replace('T', ' ')}`;
}

function isZone(zone: string): boolean {
  try {
    return wallOf(0, zone) !== '';
  } catch {
    // The caller says that there is none.
    return false;
  }
}

/** What the clock on the wall shows, as Swedes write it, who write it as ISO 8601 does. */
function wallOf(at: number, zone: string): string {
  const clock = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return clock.format(at).replace(' ', 'T');
}

function instantOf(wall: string, zone: string): number {
  return new Cron(wall, { timezone: zone }).getOnce()?.getTime() ?? 0;
}
