// Owns reading what lists protected skills: the bundled manifest and the hub's lock, as text or as data (curator notes 9). Pure.
// Invariant: what cannot be read is said to be unreadable, never taken for an empty list; who may write decides what follows.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';

/** `unreadable`: there is a manifest and nobody knows what it lists. */
export type ListedNames = ReadonlySet<string> | 'unreadable';

/** One name a line, before the first colon; or the names. Absent: none. null: unreadable. */
export function bundledNames(given: JsonValue | undefined): ListedNames {
  if (given === undefined) return new Set();
  if (typeof given === 'string') {
    if (given.includes('\0') || given.includes('\uFFFD')) return 'unreadable';
    return beforeColon(given.split(LINE_ENDS));
  }
  if (Array.isArray(given)) {
    const lines = listOf(given);
    return lines === 'unreadable' ? lines : beforeColon([...lines]);
  }
  return isJsonObject(given) ? namesOf(Object.keys(given)) : 'unreadable';
}

/** Of every kind: a name must not hide behind a rare one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they end lines for the original
const LINE_ENDS = /\r\n|[\n-\r\u001c-\u001e\u0085\u2028\u2029]/;

function beforeColon(lines: readonly string[]): ReadonlySet<string> {
  return namesOf(lines.map((line) => line.split(':', 1)[0] ?? ''));
}

/** The keys of `installed`; or the names. Absent: none. null: unreadable. */
export function hubNames(given: JsonValue | undefined): ListedNames {
  if (given === undefined) return new Set();
  if (Array.isArray(given)) return listOf(given);
  if (isJsonObject(given)) return installedNames(given);
  if (typeof given !== 'string') return 'unreadable';
  const read = parseJson(given);
  return read.ok && isJsonObject(read.value) ? installedNames(read.value) : 'unreadable';
}

function installedNames(lock: JsonObject): ListedNames {
  const { installed } = lock;
  if (installed === undefined) return 'version' in lock ? new Set() : namesOf(Object.keys(lock));
  return isJsonObject(installed) ? namesOf(Object.keys(installed)) : 'unreadable';
}

function listOf(given: readonly JsonValue[]): ListedNames {
  const names = given.filter((name) => typeof name === 'string');
  return names.length === given.length ? namesOf(names) : 'unreadable';
}

function namesOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.trim()).filter((name) => name !== ''));
}
