// Owns reading config.yaml into a typed value (design 6). The YAML reader is loaded only when there is a file.
// Knows no use of any key. Invariant: reading never writes; a broken file is an error that names line, column and key.
import { existsSync, readFileSync } from 'node:fs';
import { errorText, TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { issueText } from '#base/schema-issue.ts';
import { findSecrets } from '#base/secrets.ts';
import type { ParsedConfig } from './config-document.ts';
import { CONFIG_VERSION, type Config, configSchema } from './config-schema.ts';
import type { StartCache } from './start-cache.ts';

export interface LoadedConfig {
  readonly path: string;
  readonly config: Config;
  /** The file as data, unknown keys included; sections of extensions are read from here. */
  readonly raw: JsonObject;
  /** Set when the file may not be rewritten, with the reason. */
  readonly readOnly?: string;
  /** `path:line:column` of a key, for messages. */
  readonly locate: (keys: readonly string[]) => string;
  /** Where what was worked out of it is kept. */
  readonly cache?: StartCache;
  /** What a person should be told once. */
  readonly notices: readonly string[];
}

/** A parser compiled for one use costs more than it saves. */
const ONCE = { jitless: true };

/**
 * Throws TalariaError `config-invalid` (line, column, key in the message) or `config-unreadable`; the file stays as it is.
 * What the cache knows is neither read as YAML nor checked again. Of a file with a key in it nothing is kept: the key stands in one place.
 */
export async function loadConfig(path: string, cache?: StartCache): Promise<LoadedConfig> {
  const text = existsSync(path) ? readConfigText(path) : undefined;
  const key = `config.yaml ${text ?? '(none)'}`;
  const kept = cache?.get(key) as KeptConfig | undefined;
  const loaded = kept ? keptConfig(path, kept) : text === undefined ? noConfig(path) : await checkConfig(path, text);
  if (!cache || (!kept && findSecrets(text ?? '').length > 0)) return loaded;
  if (!kept && loaded.readOnly === undefined) cache.set(key, keepable(loaded));
  return { ...loaded, cache };
}

interface KeptConfig extends Pick<LoadedConfig, 'config' | 'raw'> {
  /** `path:line:column` without the path, by the keys as JSON. */
  readonly places: Readonly<Record<string, string>>;
}

function keptConfig(path: string, { config, raw, places }: KeptConfig): LoadedConfig {
  const locate = (keys: readonly string[]): string => {
    const depth = keys.findLastIndex((_, at) => JSON.stringify(keys.slice(0, at + 1)) in places);
    return `${path}${places[JSON.stringify(keys.slice(0, depth + 1))] ?? ''}`;
  };
  return { path, config, raw, locate, notices: [] };
}

function keepable({ path, config, raw, locate }: LoadedConfig): KeptConfig {
  const places: Record<string, string> = {};
  const visit = (keys: readonly string[], value: JsonValue | undefined): void => {
    places[JSON.stringify(keys)] = locate(keys).slice(path.length);
    if (isJsonObject(value)) for (const [key, part] of Object.entries(value)) visit([...keys, key], part);
    if (Array.isArray(value)) for (const [at, part] of value.entries()) visit([...keys, String(at)], part);
  };
  visit([], raw);
  return { config, raw, places };
}

function noConfig(path: string): LoadedConfig {
  return { path, config: configSchema.parse({}, ONCE), raw: {}, locate: () => path, notices: [] };
}

async function checkConfig(path: string, text: string): Promise<LoadedConfig> {
  const { data, locate } = await parseConfig(path, text);
  const version = typeof data.version === 'number' ? data.version : CONFIG_VERSION;
  const parsed = configSchema.safeParse(data, ONCE);
  if (version > CONFIG_VERSION) return newerConfig(path, { data, locate }, version);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const keys = (issue?.path ?? []).map(String);
    throw new TalariaError(
      `${locate(keys)}: ${keys.join('.') || 'the file'}: ${issue ? issueText(issue) : 'not valid'}`,
      {
        code: 'config-invalid',
        fix: 'Correct this key; the file was not changed.',
      },
    );
  }
  return { path, config: parsed.data, raw: data, locate, notices: [] };
}

async function parseConfig(path: string, text: string): Promise<ParsedConfig> {
  const { parseConfigText } = await import('./config-document.ts');
  return parseConfigText(path, text);
}

export function readConfigText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new TalariaError(`cannot read ${path}: ${errorText(error)}`, {
      code: 'config-unreadable',
      cause: error,
      fix: 'Check who owns the file and its permissions.',
    });
  }
}

/** Keys that this version cannot read count as absent: a newer file is better half understood than refused. */
function newerConfig(
  path: string,
  { data, locate }: Pick<ParsedConfig, 'data' | 'locate'>,
  version: number,
): LoadedConfig {
  const kept: Record<string, unknown> = { ...data };
  for (const issue of configSchema.safeParse(data).error?.issues ?? []) delete kept[String(issue.path[0])];
  const readOnly = `${path} has version ${version}, written by a newer Talaria; this one reads version ${CONFIG_VERSION} and does not change the file`;
  return { path, config: configSchema.parse(kept), raw: data, locate, readOnly, notices: [`${readOnly}.`] };
}
