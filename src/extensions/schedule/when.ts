// Owns what a schedule is: the texts that say one, the words it is shown in, its times in its zone. Knows no job, no file and no clock.
// Invariants: what is shown reads back as the same schedule; times rise and none comes twice: one that daylight saving skips happens when the
// skipped stretch ends, of two that look alike the first counts. Only a schedule of every hour goes by the hour, not by the clock on the wall.
import { isoTime, parseTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { lazy } from '#base/lazy.ts';
import { ok, type Result, refuse } from '#base/result.ts';

/** As it is kept, and as `--json` prints it. */
export type Schedule = { readonly zone: string; readonly display: string } & (
  | { readonly kind: 'once'; readonly run_at: string }
  | { readonly kind: 'interval'; readonly minutes: number }
  | { readonly kind: 'cron'; readonly expr: string }
);

type Said = Result<Schedule, 'unreadable' | 'never-due' | 'past' | 'too-often' | 'zone-unknown'>;

const [MINUTE, DAY] = [60_000, 86_400_000];
const UNITS: Readonly<Record<string, number>> = { d: 1_440, h: 60, m: 1, w: 10_080, s: 1 / 60 };
const UNIT = /(?<unit>s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)$/;
const SPAN = new RegExp(`^(?<every>(?:every|each) )?(?:in )?(?<count>\\d{1,6})? ?${UNIT.source}`);
const CLOCK = /[t ](?<time>\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(?<offset>z|[+-]\d\d:?\d\d)?/;
const MOMENT = new RegExp(`^(?:once )?(?:at )?(?<day>\\d{4}-\\d\\d-\\d\\d)(?:${CLOCK.source})?$`);
const FIELDS =
  /^(?:@\w+|(?<seconds>[\d*][\d*,/-]* )?[\d*][\d*,/-]* [\d*][\d*,/-]* [\d*?lw,/-]+ [\w*?,/-]+ [\w*?,/#-]+)$/;
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

/** Nothing but the words: whether five fields mean something, `calendar` tells. */
export function readWords(text: string, now: number, zone: string): Said {
  if (!isZone(zone)) return refuse('zone-unknown', `There is no time zone ${zone}; say e.g. Europe/Berlin or UTC.`);
  const words = text.trim().replace(/\s+/g, ' ');
  const low = words.toLowerCase();
  const fields = FIELDS.exec(low);
  if (fields?.groups?.seconds) return refuse('too-often', `${text} has seconds; a schedule begins with the minute.`);
  if (fields) return ok(cron(low.startsWith('@') ? low : words.toUpperCase(), zone));
  const said = span(low, now, zone) ?? moment(low, now, zone) ?? spoken(low, now, zone);
  return said ?? refuse('unreadable', `${JSON.stringify(text)} is no schedule that I can read. ${HELP}`);
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
  const at = parseTime(`${day}T${time}${offset?.toUpperCase() ?? 'Z'}`);
  if (at === undefined || !isoTime(parseTime(`${day}T00:00Z`) ?? 0).startsWith(day)) return undefined;
  return once(offset ? at : instantOf(at, zone), now, zone);
}

/** Of a clock of twelve hours or of 24. */
function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  return hour > 12 ? 99 : (hour % 12) + (half === 'pm' ? 12 : 0);
}

function spoken(text: string, now: number, zone: string): Said | undefined {
  const { days = '', hour = '99', minute = '0', half } = SPOKEN.exec(text)?.groups ?? {};
  const hours = hourOf(Number(hour), half);
  if (hours > 23) return undefined;
  if (days === 'today' || days === 'tomorrow') {
    const day = Math.floor(wallOf(now, zone) / DAY) + (days === 'today' ? 0 : 1);
    return once(instantOf(day * DAY + (hours * 60 + Number(minute)) * MINUTE, zone), now, zone);
  }
  const named = days.replace(/^(?:every|each|on) /, '').split(/, and |, | and | & /);
  const list = named.map((one) => NAMES.findIndex((full) => isDay(one, full.toLowerCase())));
  const fields = RECURRING.find(([, form]) => form.test(days))?.[0] ?? `* * ${[...new Set(list)].sort()}`;
  return / -1/.test(fields) ? undefined : ok(cron(`${Number(minute)} ${hours} ${fields}`, zone));
}

function isDay(word: string, name: string): boolean {
  return [name, `${name}s`, name.slice(0, 3)].includes(word);
}

function once(at: number, now: number, zone: string): Said {
  const local = localTime(at, zone).slice(4);
  if (at <= now) return refuse('past', `${local} (${zone}) is past.`);
  return ok({ kind: 'once', run_at: isoTime(at), zone, display: `once at ${local}` });
}

/** Where the fields say it best, they are what is shown. */
function cron(expr: string, zone: string): Schedule {
  const [, minute = '', hour = '', rest = ''] = /^(\d+) (\d+) (.+)$/.exec(expr) ?? [];
  const listed = /^\* \* ([0-6](?:,[0-6])*)$/
    .exec(rest)?.[1]
    ?.split(',')
    .map((day) => NAMES[Number(day)]);
  const weekly = listed && `every ${listed.join(', ').replace(/, (\w+)$/, ' and $1')}`;
  const days = RECURRING.find(([fields]) => fields === rest)?.[2] ?? weekly;
  const display = days ? `${days} at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` : expr;
  return { kind: 'cron', expr, zone, display };
}

/** Loaded with the first schedule that is looked at. */
export const calendar = lazy(async () => {
  // biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
  const { Cron } = await import('croner');

  function* cronTimes(expr: string, after: number, zone: string): Generator<number, void> {
    const isHourly = /^(?:@hourly$|\S+ \* )/.test(expr);
    const fields = new Cron(expr, { timezone: isHourly ? zone : 'UTC', mode: '5-part' });
    let last = after;
    let next = fields.nextRun(isoTime(isHourly ? after : wallOf(after, zone)));
    for (; next; next = fields.nextRun(next)) {
      const at = isHourly ? next.getTime() : instantOf(next.getTime(), zone);
      if (at > last) yield at;
      last = Math.max(at, last);
    }
  }

  /** After `after`, rising. An interval counts from `anchor`, which is due itself. */
  function* times(schedule: Schedule, after: number, anchor = after): Generator<number, void> {
    if (schedule.kind === 'cron') return yield* cronTimes(schedule.expr, after, schedule.zone);
    if (schedule.kind === 'once') {
      const at = parseTime(schedule.run_at) ?? after;
      return at > after ? yield at : undefined;
    }
    const step = schedule.minutes * MINUTE;
    let at = anchor + Math.max(0, Math.floor((after - anchor) / step) + 1) * step;
    if (anchor > after) at = anchor;
    for (; ; at += step) yield at;
  }

  /** Throws nothing: what it cannot read is refused. */
  function read(text: string, now: number, zone = localZone()): Said {
    const said = readWords(text, now, zone);
    try {
      if (!said.ok || !times(said.value, now).next().done) return said;
      return refuse('never-due', `${text} is never due.`);
    } catch (error) {
      return refuse('unreadable', `${text}: ${errorText(error).replace(/^Cron\w+: /, '')}`);
    }
  }

  return { times, read };
});

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `Tue 2026-01-20 18:00` */
export function localTime(at: number, zone: string): string {
  const wall = wallOf(at, zone);
  return `${NAMES[weekdayOf(wall)]?.slice(0, 3)} ${isoTime(wall).slice(0, 16).replace('T', ' ')}`;
}

/** 0 is Sunday; the first day of 1970 was a Thursday. */
function weekdayOf(wall: number): number {
  return (((Math.floor(wall / DAY) + 4) % 7) + 7) % 7;
}

const zones = new Map<string, Intl.DateTimeFormat>();

function isZone(zone: string): boolean {
  try {
    return wallOf(0, zone) !== undefined;
  } catch {
    // The caller says that there is none.
    return false;
  }
}

/** What is to be added to UTC, ms. */
function offsetAt(at: number, zone: string): number {
  const known = zones.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  zones.set(zone, known);
  return -(parseTime(`1970-01-01T00:00${/[+-]\d\d:\d\d$/.exec(known.format(at))?.[0] ?? 'Z'}`) ?? 0);
}

/** What the clock on the wall shows, as if it were UTC. */
function wallOf(at: number, zone: string): number {
  return at + offsetAt(at, zone);
}

/** The first moment at which the wall shows this; where it never does, the one at which it has leapt over it. Rises with `wall`. */
function instantOf(wall: number, zone: string): number {
  const [before, after] = [offsetAt(wall - DAY, zone), offsetAt(wall + DAY, zone)];
  const fits = [before, after].filter((offset) => offsetAt(wall - offset, zone) === offset);
  if (fits.length > 0) return wall - Math.max(...fits);
  let [low, high] = [wall - Math.max(before, after), wall - Math.min(before, after)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle, zone) === after) high = middle;
    else low = middle;
  }
  return high;
}
