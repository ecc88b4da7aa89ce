// Owns what a start need not work out again: config.yaml as checked, settings of extensions, what a request says about tools. Kept by
// the hash of all that decides them in `cache/start.json`, for the one build of the program that made it. Knows none of it.
// Invariant: nothing depends on it: a file that is missing, broken, of another build or cannot be written is an empty one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';

export interface StartCache {
  get(key: string): JsonValue | undefined;
  set(key: string, value: object): void;
  /** Writes what was asked for in this start, when something of it is new. */
  keep(): void;
}

/** Written in by the bundler: changes with every source file. A checkout that runs its source keeps nothing. */
declare const TALARIA_BUILD: string | undefined;

export function openStartCache(cacheFolder: string, build = buildOf()): StartCache | undefined {
  if (build === undefined) return undefined;
  const path = join(cacheFolder, 'start.json');
  const known = readEntries(path, build);
  const asked: Record<string, JsonValue> = {};
  let isNew = false;
  return {
    get(key) {
      const name = sha256(key);
      const value = known[name];
      if (value !== undefined) asked[name] = value;
      return value;
    },
    set(key, value) {
      asked[sha256(key)] = value as JsonObject;
      isNew = true;
    },
    keep() {
      if (isNew) atomicWrite(path, JSON.stringify({ build, entries: asked }));
      isNew = false;
    },
  };
}

function buildOf(): string | undefined {
  return typeof TALARIA_BUILD === 'string' ? TALARIA_BUILD : undefined;
}

function readEntries(path: string, build: string): JsonObject {
  try {
    const parsed = parseJsonObject(readFileSync(path, 'utf8'));
    return parsed.ok && parsed.value.build === build && isJsonObject(parsed.value.entries) ? parsed.value.entries : {};
  } catch {
    // None yet, or one that cannot be read.
    return {};
  }
}
