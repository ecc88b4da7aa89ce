// Owns writing words into a systemd unit so that systemd reads the same words (systemd.syntax(7), systemd.service(5) "Command lines").
// Pure. Invariant: whatever the words hold, the line has one end and gives back exactly these words (seed 002, timers; curator notes 21.13).
import { refuseNul, unusableText } from './timer-spec.ts';

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
