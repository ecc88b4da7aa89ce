// Owns what a schedule means to systemd and to launchd (curator notes 15). Pure; `systemd-analyze` is asked elsewhere.
// Invariant: what passes for systemd holds nothing that could end its line or be expanded in it.
import { ok, type Result, refuse } from '#base/result.ts';

export type LaunchdTrigger =
  | { readonly everySeconds: number }
  | { readonly hour: number; readonly minute: number; readonly weekday?: number };

type Schedule<T> = Result<T, 'schedule-invalid'>;

const NAMED = /^(?:hourly|daily|weekly)$/i;
const CALENDAR = /^[A-Za-z0-9 ,.:~*/_+-]{1,200}$/;
const HOUR = 3600;
const MOST_SECONDS = 366 * 24 * HOUR;

/** The value of OnCalendar. */
export function systemdCalendar(schedule: string): Schedule<string> {
  const text = schedule.replace(/^ +| +$/g, '');
  if (NAMED.test(text)) return ok(text.toLowerCase());
  if (text === '') return refuse('schedule-invalid', 'The schedule is empty.');
  if (/^\d+$/.test(text))
    return refuse('schedule-invalid', 'A number of seconds is for launchd; systemd wants e.g. hourly or *:0/15.');
  if (CALENDAR.test(text)) return ok(text);
  return refuse('schedule-invalid', 'The schedule holds characters that no OnCalendar expression has.');
}

export function isNamedSchedule(calendar: string): boolean {
  return NAMED.test(calendar);
}

/** Weekday 1 is Monday. */
export function launchdTrigger(schedule: string): Schedule<LaunchdTrigger> {
  const text = schedule.trim().toLowerCase();
  if (text === 'hourly') return ok({ everySeconds: HOUR });
  if (text === 'daily') return ok({ hour: 9, minute: 0 });
  if (text === 'weekly') return ok({ hour: 9, minute: 0, weekday: 1 });
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MOST_SECONDS) return ok({ everySeconds: seconds });
  return refuse('schedule-invalid', 'launchd takes hourly, daily, weekly or a number of seconds.');
}
