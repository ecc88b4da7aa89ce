// Owns reading a manifest for a drill: ours, the original's, and one that somebody edited. Knows no check.
// Invariant: nothing in it is trusted; what has not the form that it should have is absent, and a file that is no manifest is a reason.
import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';

/** A manifest lists at most a thousand files. */
const MAX_BYTES = 16 * 1_048_576;

/** The reason is the original's: `manifest-not-found`, or `manifest-not-readable:` with the name that its language has for the fault. */
export function readDrillManifest(path: string): Result<JsonObject> {
  let bytes: Buffer;
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return unreadable('IsADirectoryError');
    if (!stats.isFile()) return unreadable('OSError');
    if (stats.size > MAX_BYTES) return unreadable('TooLarge');
    bytes = readFileSync(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return refuse('manifest-not-found', `There is no ${path}.`);
    return unreadable(code === 'EACCES' || code === 'EPERM' ? 'PermissionError' : 'OSError');
  }
  return parsed(bytes);
}

function parsed(bytes: Buffer): Result<JsonObject> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return unreadable('UnicodeDecodeError');
    throw error;
  }
  const read = parseJson(text);
  if (!read.ok) return unreadable('JSONDecodeError');
  return isJsonObject(read.value) ? ok(read.value) : unreadable('ValueError');
}

function unreadable(why: string): Result<JsonObject> {
  return refuse(`manifest-not-readable:${why}`, 'The manifest cannot be read.');
}

/** Undefined: it is absent, or no text. */
export function textAt(value: JsonObject, key: string): string | undefined {
  const found = value[key];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** Undefined: nothing was recorded. */
export function objectAt(value: JsonObject, key: string): JsonObject | undefined {
  const found: JsonValue | undefined = value[key];
  return isJsonObject(found) && Object.keys(found).length > 0 ? found : undefined;
}
