// Owns reading a file that holds a run or an artifact: the file itself, and the truncation fixture that lies beside it. Judges nothing.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { type Result, refuse } from '#base/result.ts';

/** An exported run holds all that was read. */
const LARGEST = 512 * 1024 * 1024;

export type FileRefusal = 'file-missing' | 'file-unreadable' | 'file-no-json';

export function readRunFile(path: string): Result<JsonValue, FileRefusal> {
  try {
    const found = statSync(path);
    if (!found.isFile()) return refuse('file-unreadable', `${path} is no file.`);
    if (found.size > LARGEST) return refuse('file-unreadable', `${path} is larger than ${LARGEST / 1024 / 1024} MB.`);
    const parsed = parseJson(readFileSync(path, 'utf8'));
    return parsed.ok ? parsed : refuse('file-no-json', `${path} is no JSON: ${parsed.detail}`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return refuse('file-missing', `There is no file ${path}.`);
    return refuse('file-unreadable', `${path} cannot be read: ${errorText(error)}`);
  }
}

const FIXTURE_SCHEMA = 'rlm.long_context_truncation_fixture.v1';
const MOST_FILES = 200;
const LARGEST_FIXTURE = 4 * 1024 * 1024;

/** The truncation fixture in the same folder: that of this id, else the only one. */
export function fixtureBeside(path: string, fixture_id: JsonValue | undefined): JsonValue | undefined {
  const folder = dirname(path);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const fixtures = names.slice(0, MOST_FILES).flatMap((name) => {
    const file = join(folder, name);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY;
    const read = size > LARGEST_FIXTURE ? undefined : readRunFile(file);
    const value = read?.ok ? read.value : undefined;
    return isJsonObject(value) && value.schema_version === FIXTURE_SCHEMA ? [value] : [];
  });
  return fixtures.find((one) => one.fixture_id === fixture_id) ?? (fixtures.length === 1 ? fixtures[0] : undefined);
}
