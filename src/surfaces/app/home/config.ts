// Owns config.yaml: reading it into a typed value, changing it, and what a start keeps of both (design 6). The YAML library is loaded only when
// there is a file. Knows no use of any key. Invariants: reading never writes; a broken file is an error that names line, column and key; the file
// is replaced whole, comments and unknown keys kept, and only by text that reads back valid; of processes that change it at once each finds what
// the one before wrote; a newer file is never rewritten.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { madeOf } from '#base/late-schema.ts';
import { withFileLock } from '#base/platform.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { issueText, type SchemaIssue } from '#base/schema-issue.ts';
import { findSecrets } from '#base/secrets.ts';
import type { ConfigEdit, Positions } from './config-document.ts';
import { CONFIG_VERSION, type Config, configSchema } from './config-schema.ts';

/** The YAML library with it. */
const loadDocuments = () => import('./config-document.ts');

export interface LoadedConfig {
  readonly path: string;
  readonly config: Config;
  /** The file as data, unknown keys included; sections of rooms are read from here. */
  readonly raw: JsonObject;
  /** Set when the file may not be rewritten, with the reason. */
  readonly readOnly?: string;
  /** `path:line:column` of a key, or of its nearest parent that the file has. */
  readonly locate: (keys: readonly string[]) => string;
  /** Where what was worked out of it is kept. */
  readonly cache?: StartCache;
}

/** What a start keeps of a file that was checked. */
interface Checked extends Pick<LoadedConfig, 'config' | 'raw'> {
  readonly positions: Positions;
}

/** A parser compiled for one use costs more than it saves. */
const ONCE = { jitless: true };

/**
 * Throws TalariaError `config-invalid` (line, column, key in the message) or `config-unreadable`; the file stays as it is.
 * What the cache knows is neither read as YAML nor checked again. Of a file with a key in it nothing is kept: the key stands in one place.
 */
export async function loadConfig(path: string, cache?: StartCache): Promise<LoadedConfig> {
  const text = existsSync(path) ? readConfigText(path) : undefined;
  const name = `config.yaml ${text ?? '(none)'}`;
  const kept = cache?.get(name) as Checked | undefined;
  const { positions, ...checked }: CheckedFile = kept ?? (await checkText(path, text));
  const loaded = { path, locate: locateIn(path, positions), ...checked };
  if (!cache || (!kept && findSecrets(text ?? '').length > 0)) return loaded;
  if (!kept && loaded.readOnly === undefined) cache.set(name, { ...checked, positions });
  return { ...loaded, cache };
}

function locateIn(path: string, positions: Positions): LoadedConfig['locate'] {
  return (keys) => {
    const depth = keys.findLastIndex((_, at) => JSON.stringify(keys.slice(0, at + 1)) in positions);
    return path + (positions[JSON.stringify(keys.slice(0, depth + 1))] ?? '');
  };
}

type CheckedFile = Checked & Pick<LoadedConfig, 'readOnly'>;

async function checkText(path: string, text: string | undefined): Promise<CheckedFile> {
  if (text === undefined) return { config: configSchema.parse({}, ONCE), raw: {}, positions: {} };
  const { data: raw, positions } = await (await loadDocuments()).parseConfigText(path, text);
  const parsed = configSchema.safeParse(raw, ONCE);
  const version = typeof raw.version === 'number' ? raw.version : CONFIG_VERSION;
  if (version > CONFIG_VERSION) {
    const known: Record<string, unknown> = { ...raw };
    for (const issue of parsed.error?.issues ?? []) delete known[String(issue.path[0])];
    const readOnly = `${path} has version ${version}, written by a newer Talaria; this one reads version ${CONFIG_VERSION} and does not change the file`;
    return { config: configSchema.parse(known), raw, positions, readOnly };
  }
  if (!parsed.success) throw notValid(locateIn(path, positions), [], parsed.error.issues[0]);
  return { config: parsed.data, raw, positions };
}

function notValid(locate: LoadedConfig['locate'], above: readonly string[], issue?: SchemaIssue): TalariaError {
  const keys = [...above, ...(issue?.path ?? []).map(String)];
  const what = issue ? issueText(issue) : 'not valid';
  return new TalariaError(`${locate(keys)}: ${keys.join('.') || 'the file'}: ${what}`, {
    code: 'config-invalid',
    fix: 'Correct this key; the file was not changed.',
  });
}

function readConfigText(path: string): string {
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

/** Throws TalariaError `config-invalid` naming line and key. */
export function readConfigSection<T>(
  { cache, raw, locate }: LoadedConfig,
  section: string,
  schema: { safeParse(value: unknown, how?: { readonly jitless: boolean }): SafeParsed<T> },
): T {
  const shape = madeOf(schema);
  const key = cache && shape && `${section} ${JSON.stringify(raw[section] ?? {})} ${shape}`;
  const kept = key ? cache?.get(key) : undefined;
  // Kept under all that decides it, and by nobody else.
  if (kept !== undefined) return kept as T;
  const parsed = schema.safeParse(raw[section] ?? {}, ONCE);
  if (!parsed.success) throw notValid(locate, [section], parsed.error.issues[0]);
  if (key && isJsonObject(parsed.data)) cache?.set(key, parsed.data);
  return parsed.data;
}

type SafeParsed<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: { readonly issues: readonly SchemaIssue[] } };

export type ConfigEditRefusal = 'config-newer' | 'config-value' | 'config-version' | 'secret';

interface HowToEdit {
  /** Checks the whole; default: the settings of Talaria itself. */
  readonly schema?: z.ZodType;
  /** Only the checks. */
  readonly dryRun?: boolean;
}

/** How long other processes that change it are waited for, ms. */
const LOCK_WAIT_MS = 30_000;

/** All edits as one write. Refusals change nothing; throws when the present file is broken or cannot be written. */
export async function editConfig(
  path: string,
  edits: readonly ConfigEdit[],
  { schema = configSchema, dryRun = false }: HowToEdit = {},
): Promise<Result<true, ConfigEditRefusal>> {
  const change = () => changeFile(path, edits, { schema, dryRun });
  if (dryRun || !existsSync(dirname(path))) return change();
  return withFileLock(`${path}.lock`, change, { waitMs: LOCK_WAIT_MS });
}

async function changeFile(
  path: string,
  edits: readonly ConfigEdit[],
  { schema, dryRun }: Required<HowToEdit>,
): Promise<Result<true, ConfigEditRefusal>> {
  const { readOnly } = await loadConfig(path);
  if (readOnly) return refuse('config-newer', readOnly);
  const refused = edits.map(refuseEdit).find(Boolean);
  if (refused) return refused;
  const { editedDocument } = await loadDocuments();
  const text = existsSync(path) ? readConfigText(path) : '';
  const document = editedDocument(text, edits, { version: CONFIG_VERSION });
  const issue = schema.safeParse(document.toJS() ?? {}).error?.issues[0];
  if (issue) return refuse('config-value', `${issue.path.join('.')}: ${issueText(issue)}`);
  if (!dryRun) atomicWrite(path, document.toString({ lineWidth: 0 }));
  return ok(true);
}

const IS_VERSION = `version is ${CONFIG_VERSION}: it says how the file is to be read, and is no setting.`;
const IS_KEY = `This looks like a key. Keys belong in .env: use \`talaria setup --key\`, and refer to it as \${NAME}.`;

function refuseEdit({ path: [first], value }: ConfigEdit): Refusal<ConfigEditRefusal> | undefined {
  if (first === 'version' && value !== undefined && value !== CONFIG_VERSION)
    return refuse('config-version', IS_VERSION);
  return typeof value === 'string' && findSecrets(value).length > 0 ? refuse('secret', IS_KEY) : undefined;
}

// What a start need not work out again: config.yaml as checked, settings of rooms, what a request says about tools. Kept by the hash of all
// that decides them in `cache/start.json`, for the one build of the program that made it. Invariant: nothing depends on it: a file that is
// missing, broken, of another build or cannot be written is an empty one.

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
