// Owns the text of the user service and the user timer (curator notes 15). Pure; knows no file. The schedule has been checked before.
import { refuseNul, type TimerSpec, unusableText } from './timer-spec.ts';

export interface SystemdUnits {
  readonly service: string;
  readonly timer: string;
}

/** Exit code 3: a gate kept everything back, which is no fault of the unit. */
const GATES_ARE_FINE = 'SuccessExitStatus=3';

/** Throws TalariaError `timer-text` when a word cannot stand in a unit. */
export function systemdUnits(spec: TimerSpec, calendar: string): SystemdUnits {
  const assignments = Object.entries(spec.env).map(([name, value]) => `Environment=${quoteAssignment(name, value)}`);
  return {
    service: unit(
      ['[Unit]', 'Description=Talaria curator: one unattended run'],
      [
        '[Service]',
        'Type=oneshot',
        ...assignments,
        GATES_ARE_FINE,
        `ExecStart=${execStart([...spec.program, ...spec.args])}`,
      ],
    ),
    timer: unit(
      ['[Unit]', 'Description=Talaria curator: when the unattended run is due'],
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

/** One assignment for Environment=. Throws TalariaError `timer-text` for a value that systemd would leave out. */
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
