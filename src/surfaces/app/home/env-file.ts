// Owns `.env`, the one file of the home that holds secrets. Knows no provider.
// Invariant: mode 0600, replaced whole or not at all, other lines and comments kept, also those that another process just wrote; no message
// ever contains a value.
import { readFileSync } from 'node:fs';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';

/** The dot takes U+2028 and U+2029 too: only CR and LF end a line here. */
const LINE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/s;

/** How long other processes that change it are waited for, ms. */
const LOCK_WAIT_MS = 30_000;

/** Names and values in order of the file; an empty record when there is no file. Throws `env-unreadable`. */
export function readEnvFile(path: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const line of readText(path).split(/\r?\n/)) {
    const match = LINE.exec(line);
    if (match?.[1] !== undefined) found[match[1]] = unquote((match[2] ?? '').trim());
  }
  return found;
}

/** Sets one variable, in its old place when it has one. `value` may hold anything but a line break. */
export function setEnvValue(path: string, name: string, value: string): Promise<void> {
  return setEnvValues(path, { [name]: value });
}

/** Several variables in one write; undefined takes one out. Throws `env-invalid`, and nothing was written. */
export function setEnvValues(path: string, values: Readonly<Record<string, string | undefined>>): Promise<void> {
  return withFileLock(`${path}.lock`, () => changeLines(path, values), { waitMs: LOCK_WAIT_MS });
}

function changeLines(path: string, values: Readonly<Record<string, string | undefined>>): void {
  const text = readText(path);
  const before = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const lines = [...before];
  for (const [name, value] of Object.entries(values)) setLine(lines, { path, name, value });
  if (lines.join('\n') !== before.join('\n')) atomicWrite(path, lines.length === 0 ? '' : `${lines.join('\n')}\n`);
}

interface EnvChange {
  readonly path: string;
  readonly name: string;
  readonly value: string | undefined;
}

function setLine(lines: string[], { path, name, value }: EnvChange): void {
  const at = lines.findLastIndex((old) => LINE.exec(old)?.[1] === name);
  if (value === undefined) {
    if (at >= 0) lines.splice(at, 1);
    return;
  }
  if (!/^[A-Za-z_]\w*$/.test(name) || /[\r\n]/.test(value)) {
    throw new TalariaError(`${name} cannot be stored in ${path}`, {
      code: 'env-invalid',
      fix: 'A name has letters, digits and underscores; a value is one line.',
    });
  }
  const line = `${name}=${quote(value)}`;
  if (at < 0) lines.push(line);
  else lines[at] = line;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw new TalariaError(`cannot read ${path}: ${errorText(error)}`, {
      code: 'env-unreadable',
      cause: error,
      fix: 'Check who owns the file and its permissions.',
    });
  }
}

function unquote(text: string): string {
  const quoted = /^(["'])(.*)\1\s*(?:#.*)?$/s.exec(text);
  if (quoted?.[1] === '"') return (quoted[2] ?? '').replace(/\\(["\\])/g, '$1');
  if (quoted) return quoted[2] ?? '';
  return text.replace(/\s+#.*$/s, '');
}

function quote(value: string): string {
  if (/^[\w./:@%+=~-]*$/.test(value)) return value;
  return `"${value.replace(/(["\\])/g, '\\$1')}"`;
}
