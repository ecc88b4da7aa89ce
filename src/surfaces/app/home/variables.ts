// Owns the variables of a home: `.env`, the one file that holds secrets; what the environment adds; what commands get to see; and taking secrets
// out of text while their list grows, for a key that is added while the program runs counts at once. Knows no provider's use of them.
// Invariants: `.env` has mode 0600 and is replaced whole or not at all, other lines and comments kept, also those that another process just
// wrote; no message ever contains a value; a value that was ever known stays known until the program ends.
import { readFileSync, statSync } from 'node:fs';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { AppOptions } from '../app.ts';
import { commandVariables, looksSecret } from '../environment.ts';
import { PROVIDERS } from '../models/provider-table.ts';
import type { Config } from './config-schema.ts';
import type { Home } from './home.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** Fills `${NAME}` in; refusal `missing-key` names the first variable that is not set. */
export function fillVariables(text: string, variables: Variables): Result<string, 'missing-key'> {
  let missing: string | undefined;
  const filled = text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = variables[name];
    if (!value) missing ??= name;
    return value ?? '';
  });
  return missing === undefined ? ok(filled) : refuse('missing-key', `${missing} is not set`);
}

/** The environment of the process, its keys too, over the home's .env; an empty variable counts as not set. For who signs requests. */
export function mergedVariables(home: Home, { variables, keyring }: AppOptions['environment']): Variables {
  const set = Object.entries(variables).filter(([, value]) => value !== undefined && value !== '');
  return { ...readEnvFile(home.env), ...keyring?.values(), ...Object.fromEntries(set) };
}

export interface RoomSecrets {
  /** `memory.env` as it is written. */
  readonly given?: Readonly<Record<string, string>>;
  /** Entries of it, and variables, whose values are secrets. */
  readonly names: readonly string[];
}

/**
 * Values that may stand nowhere but in .env: everything of .env, also what the environment hides, every key of a known provider, what
 * else of the environment has the look of a secret, and what `memory.env` gives as one, filled in.
 * `names`: of rooms' secrets.
 */
export function secretValues(
  home: Home,
  variables: Variables,
  { given = {}, names: own }: RoomSecrets,
): readonly string[] {
  const kept = readEnvFile(home.env);
  const looks = Object.entries(variables).filter(([name, value = '']) => looksSecret(name, value));
  const names = new Set([...Object.keys(kept), ...keyNames(), ...own, ...looks.map(([name]) => name)]);
  const filled = own.flatMap((name) => given[name] ?? []).map((text) => fillVariables(text, variables));
  const values = new Set([
    ...Object.values(kept),
    ...[...names].flatMap((name) => variables[name] ?? []),
    ...filled.flatMap((value) => (value.ok ? [value.value] : [])),
  ]);
  return [...values].filter((value) => value.length >= 8).sort((a, b) => b.length - a.length);
}

/** What commands get to see (command-variables.ts): of the process's environment alone, and no key of this home; `own`: names of rooms' secrets. */
export function childEnvironment(
  home: Home,
  { variables, keyring }: AppOptions['environment'],
  { memory, sandbox }: Pick<Config, 'memory' | 'sandbox'>,
  own: readonly string[],
): Variables {
  const refers = (text: string) => [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const hidden = new Set([
    ...Object.keys(readEnvFile(home.env)),
    ...keyNames(),
    ...own,
    ...own.flatMap((name) => memory.env[name] ?? []).flatMap(refers),
  ]);
  return commandVariables({ ...keyring?.values(), ...variables }, { named: sandbox.env, hidden });
}

function keyNames(): readonly string[] {
  return PROVIDERS.flatMap((row) => row.keyVariables);
}

/** Throws `env-unreadable` here, and never from the function that it gives. */
export function createLiveRedaction(
  home: Home,
  environment: AppOptions['environment'],
  given: RoomSecrets,
): (text: string) => string {
  let seen = stampOf(home.env);
  let values = secretValues(home, mergedVariables(home, environment), given);
  const learn = () => {
    const stamp = stampOf(home.env);
    if (stamp === seen || stamp === undefined) return;
    const known = new Set([...values, ...secretValues(home, mergedVariables(home, environment), given)]);
    values = [...known].sort((a, b) => b.length - a.length);
    seen = stamp;
  };
  return (text) => {
    try {
      learn();
    } catch (error) {
      // The next text tries again; until then nothing that was known is forgotten.
      if (errorCode(error) !== 'env-unreadable') throw error;
    }
    return values.reduce((out, value) => out.replaceAll(value, '[redacted]'), text);
  };
}

/** Changes with every write: the file is replaced whole. Undefined when it is not there or may not be read. */
function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}

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
