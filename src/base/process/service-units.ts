// Owns the texts of what the machine runs by itself: the user service and timer of systemd, the LaunchAgent of launchd, and what a schedule means to
// each. Knows no file. Invariant: no word of a command, whatever it holds, becomes another property or a second word.
import { TalariaError } from '../errors.ts';
import { ok, type Result, refuse } from '../result.ts';

export interface ServiceSpec {
  /** Kebab-case; unit `talaria-NAME`, label `ai.talaria.NAME` with dots. */
  readonly name: string;
  /** Of the service, and of its timer. */
  readonly about: readonly [service: string, timer?: string];
  /** Program and its first arguments. */
  readonly program: readonly string[];
  readonly args: readonly string[];
  /** `hourly`, `daily`, `weekly`, or what the scheduler itself understands. Absent: it runs all the time, and again when it fails. */
  readonly schedule?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files for the output, absolute; only launchd needs them. */
  readonly logs: { readonly out: string; readonly err: string };
}

export function serviceNames(name: string) {
  const unit = `talaria-${name}`;
  return { service: `${unit}.service`, timer: `${unit}.timer`, label: `ai.talaria.${name.replaceAll('-', '.')}` };
}

/** No process can be given such text. */
function refuseNul(text: string): string {
  if (text.includes('\0') || !text.isWellFormed()) throw unusableText('holds a NUL or half a character');
  return text;
}

function unusableText(why: string): TalariaError {
  return new TalariaError(`a word of the timer's command ${why}`, {
    code: 'timer-text',
    fix: 'Rename the folder or pattern that holds it; nothing was written.',
  });
}

const NAMED = /^(?:hourly|daily|weekly)$/i;
const CALENDAR = /^[A-Za-z0-9 ,.:~*/_+-]{1,200}$/;

/** The value of OnCalendar. */
export function systemdCalendar(schedule: string): Result<string, 'schedule-invalid'> {
  const text = schedule.replace(/^ +| +$/g, '');
  if (isNamedSchedule(text)) return ok(text.toLowerCase());
  if (text === '') return refuse('schedule-invalid', 'The schedule is empty.');
  if (/^\d+$/.test(text))
    return refuse('schedule-invalid', 'A number of seconds is for launchd; systemd wants e.g. hourly or *:0/15.');
  if (CALENDAR.test(text)) return ok(text);
  return refuse('schedule-invalid', 'The schedule holds characters that no OnCalendar expression has.');
}

export function isNamedSchedule(calendar: string): boolean {
  return NAMED.test(calendar);
}

type Property = string | number | boolean | readonly string[] | { readonly [key: string]: Property };

const MOST_SECONDS = 366 * 24 * 3600;

/** The properties that say when. Weekday 1 is Monday. */
export function launchdTrigger(schedule?: string): Result<Readonly<Record<string, Property>>, 'schedule-invalid'> {
  if (schedule === undefined) return ok({ RunAtLoad: true, KeepAlive: true });
  const text = schedule.trim().toLowerCase();
  if (text === 'hourly') return ok({ StartInterval: 3600 });
  if (text === 'daily') return ok({ StartCalendarInterval: { Hour: 9, Minute: 0 } });
  if (text === 'weekly') return ok({ StartCalendarInterval: { Weekday: 1, Hour: 9, Minute: 0 } });
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MOST_SECONDS) return ok({ StartInterval: seconds });
  return refuse('schedule-invalid', 'launchd takes hourly, daily, weekly or a number of seconds.');
}

export function launchdPlist(spec: ServiceSpec, trigger: Readonly<Record<string, Property>>): string {
  const properties = {
    Label: serviceNames(spec.name).label,
    ProgramArguments: [...spec.program, ...spec.args],
    ...(Object.keys(spec.env).length === 0 ? {} : { EnvironmentVariables: spec.env }),
    ...trigger,
    StandardOutPath: spec.logs.out,
    StandardErrorPath: spec.logs.err,
  };
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${propertyXml(properties)}
</plist>
`;
}

function propertyXml(value: Property): string {
  if (typeof value === 'boolean') return `<${value}/>`;
  if (typeof value === 'number') return `<integer>${value}</integer>`;
  if (typeof value === 'string') return `<string>${escapeXml(value)}</string>`;
  const block = (name: string, inner: readonly string[]) => `<${name}>\n${inner.join('\n')}\n</${name}>`;
  if (isList(value)) return block('array', value.map(propertyXml));
  const entries = Object.entries(value).map(([key, one]) => `<key>${escapeXml(key)}</key>\n${propertyXml(one)}`);
  return block('dict', entries);
}

function isList(value: Property): value is readonly string[] {
  return Array.isArray(value);
}

const NAMES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };

function escapeXml(text: string): string {
  if (NOT_XML.test(refuseNul(text))) throw unusableText('holds a character that XML does not have');
  return text.replace(/[&<>\r]/g, (character) => NAMES[character] ?? character);
}

/** XML 1.0, production 2. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** `calendar`: checked before; absent: a service that runs all the time. */
export function systemdUnits(
  { about, program, args, env }: ServiceSpec,
  calendar?: string,
): { readonly service: string; readonly timer?: string } {
  const assignments = Object.entries(env).map(([key, value]) => `Environment=${quoteAssignment(key, value)}`);
  const start = `ExecStart=${execStart([...program, ...args])}`;
  const head = ['[Unit]', `Description=${about[0]}`];
  if (calendar === undefined) {
    const always = ['[Service]', ...assignments, 'Restart=on-failure', 'RestartSec=5', start];
    return { service: unit(head, always, ['[Install]', 'WantedBy=default.target']) };
  }
  // A gate kept everything back, which is no fault of the unit.
  const once = ['[Service]', 'Type=oneshot', ...assignments, 'SuccessExitStatus=3', start];
  return {
    service: unit(head, once),
    timer: unit(
      ['[Unit]', `Description=${about[1] ?? about[0]}`],
      ['[Timer]', `OnCalendar=${calendar}`, 'Persistent=true'],
      ['[Install]', 'WantedBy=timers.target'],
    ),
  };
}

function unit(...sections: readonly (readonly string[])[]): string {
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Needs no quotes anywhere in a unit. */
const PLAIN = /^[A-Za-z0-9_@+=:,./-]+$/;
/** What systemd takes as the name of a program: no quotes, backslashes or control characters, no prefix of its own. */
const PROGRAM = /^[A-Za-z0-9/][^'"\\\p{Cc}]*$/u;

/** The value of ExecStart. A program that systemd would not take is started by a shell. */
export function execStart([program = '', ...args]: readonly string[]): string {
  const words = args.map((word) => quoteArgument(word));
  const name = quote(program);
  // systemd expands `$` in arguments, but not in the program itself.
  if (PROGRAM.test(program) && !name.includes('\\')) return [name, ...words].join(' ');
  return ['/bin/sh', '-c', 'exec "$0" "$@"', program].map(quoteArgument).concat(words).join(' ');
}

function quoteArgument(word: string): string {
  return quote(word).replaceAll('$', '$$$$');
}

/** One assignment for Environment=. A value that systemd would leave out is thrown too. */
export function quoteAssignment(name: string, value: string): string {
  if (/[^\P{Cc}\t\n]/u.test(value)) throw unusableText('holds a control character');
  return quote(`${name}=${value}`);
}

function quote(word: string): string {
  const doubled = refuseNul(word).replaceAll('%', '%%');
  if (PLAIN.test(doubled)) return doubled;
  return `"${doubled.replace(SPECIAL, escaped)}"`;
}

/** Ends or changes a quoted word, or is no text for systemd: control characters and code points that are no characters. */
const SPECIAL = /["\\]|\p{Cc}|\p{Noncharacter_Code_Point}/gu;
const SHORT: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' };

function escaped(character: string): string {
  const bytes = [...Buffer.from(character, 'utf8')];
  return SHORT[character] ?? bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}
