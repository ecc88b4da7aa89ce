// Owns what settings of hermes-agent mean here: other names, other values, and what is left behind with the reason (core notes 2.1).
// Knows no file. Invariants: pure; no key is ever among the settings; what this version would refuse is not among them either.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { findSecrets } from '#base/secrets.ts';
import { TOOLSETS } from '#core/tools/tool-registry.ts';
import { stringOf } from '#mind/sessions/transfer/map-message.ts';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { SKILL_FILE } from '#mind/skills/format/skill-text.ts';
import { configSchema } from '../home/config-schema.ts';
import { providerRow } from '../models/provider-table.ts';

export interface MappedSetting {
  readonly keys: readonly string[];
  /** No object but the whole of `model`. */
  readonly value: JsonValue;
}

export interface ConfigMapping {
  readonly settings: readonly MappedSetting[];
  readonly left: readonly LeftSetting[];
}

const OTHER_NAMES: Readonly<Record<string, string>> = {
  'agent.max_turns': 'agent.max_steps',
  'memory.memory_enabled': 'memory.enabled',
};

const OTHER_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'approvals.mode': { manual: 'ask', smart: 'ask' },
};

/** A map there. */
const SAMPLING = /^mcp_servers\.[^.]+\.sampling\./;
const UNKNOWN_VALUE = 'this version does not take its value';
const LEFT: Readonly<Record<string, string>> = {
  'memory.provider': 'no memory provider of another program is taken over; see memory.provider',
};
const OFF = 'it would run risky commands without asking; `talaria config set approvals.mode off` does that';

/** Versions of the file, and what is mapped as a whole. */
const NO_SETTINGS = new Set(['_config_version', 'version', 'model', 'providers', 'custom_providers']);

export function mapConfig(raw: JsonObject): ConfigMapping {
  const providers = mapProviders(raw);
  const model = mapModel(raw.model, providers.names);
  const found: MappedSetting[] = [...(model.value === undefined ? [] : [{ keys: ['model'], value: model.value }])];
  const left: LeftSetting[] = [...model.left, ...providers.left];
  const rest = Object.entries(raw).filter(([key]) => !NO_SETTINGS.has(key));
  const trees: readonly (readonly [string, JsonValue | undefined])[] = [...rest, ['providers', providers.value]];
  for (const [key, value] of trees) {
    for (const leaf of leavesOf([key], value)) {
      const judged = judge(key === 'mcp_servers' ? ofServer(leaf) : leaf);
      if ('reason' in judged) left.push(judged);
      else found.push(judged);
    }
  }
  return { settings: found, left };
}

/** Names of servers are part of the names of tools. */
function ofServer({ keys: [section = '', server = '', ...rest], value }: MappedSetting): MappedSetting {
  return { keys: [section, slugOf(server).replaceAll('_', '-'), ...rest], value };
}

function leavesOf(keys: readonly string[], value: JsonValue | undefined): readonly MappedSetting[] {
  if (value === undefined || value === null || value === '') return [];
  if (Array.isArray(value)) return value.length === 0 ? [] : [{ keys, value }];
  if (!isJsonObject(value)) return [{ keys, value }];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf([...keys, key], inner));
}

function judge(leaf: MappedSetting): MappedSetting | LeftSetting {
  const name = leaf.keys.join('.');
  if (holdsKey(leaf.keys.at(-1) ?? '', leaf.value)) return { name, reason: KEY_REASON, isKey: true };
  const reason = LEFT[name] ?? (SAMPLING.test(name) ? UNKNOWN_VALUE : undefined);
  if (reason !== undefined) return { name, reason };
  if (name === 'toolsets') return toolsets(leaf);
  if (name === 'approvals.mode' && (leaf.value === 'off' || leaf.value === false)) return { name, reason: OFF };
  const keys = OTHER_NAMES[name]?.split('.') ?? leaf.keys;
  const value = OTHER_VALUES[name]?.[String(leaf.value)] ?? leaf.value;
  return isTaken(keys, value) ? { keys, value } : { name, reason: UNKNOWN_VALUE };
}

/** Whole sets there: everything that a surface offers. */
const UMBRELLAS = /^(?:hermes-.+|all|\*)$/;

/** Names that both know; all others would be refused when the model starts. A whole set there is the default one here. */
function toolsets({ keys, value }: MappedSetting): MappedSetting | LeftSetting {
  const asked = Array.isArray(value) ? value.map((name) => String(name).trim()) : [];
  const known = asked.map((name) => (!Object.hasOwn(TOOLSETS, name) && UMBRELLAS.test(name) ? 'default' : name));
  const names = [...new Set(known)].filter((name) => Object.hasOwn(TOOLSETS, name));
  return names.length > 0 ? { keys, value: names } : { name: 'toolsets', reason: 'none of its toolsets is here' };
}

/** Would a file with this setting alone be read? Names that are not ours always are. */
function isTaken(keys: readonly string[], value: JsonValue): boolean {
  const tree = [...keys].reverse().reduce<JsonValue>((inner, key) => ({ [key]: inner }), value);
  return configSchema.safeParse(tree).success;
}

const KEY_NAMES = /(?:^|[_-])(?:api[_-]?key|key|token|secret|password|passwd|credentials?|authorization)$/i;
const REFERENCE = /^\$\{\w+\}$/;

/** Is it, or does it hold, something that belongs into .env? */
export function holdsKey(name: string, value: JsonValue | undefined): boolean {
  if (typeof value === 'string') {
    if (value.trim() === '' || REFERENCE.test(value.trim())) return false;
    return KEY_NAMES.test(name) || findSecrets(`${name}: ${value}`).length > 0;
  }
  if (Array.isArray(value)) return value.some((item: JsonValue) => holdsKey('', item));
  return isJsonObject(value) && Object.entries(value).some(([key, inner]) => holdsKey(key, inner));
}

// Finding the skills of a hermes-agent home and what its side-car says of their use (core notes 2.7). Reads only.
// Invariant: hidden folders (archive, hub, quarantine) are no skills here, and no link is followed.

export interface FoundSkill {
  readonly folder: string;
  /** As its header says, else as its folder is called. */
  readonly name: string;
  /** Folders between the skills folder and its own, joined by `/`. */
  readonly category: string;
}

export interface FoundSkills {
  readonly skills: readonly FoundSkill[];
  /** Skills that were put away there. */
  readonly archived: number;
  /** Folders that describe a category. */
  readonly described: readonly string[];
}

const DEEPEST = 8;

export function findSkills(root: string): FoundSkills {
  const folders = existsSync(root) ? [...skillFolders(root, 0)] : [];
  const archive = join(root, '.archive');
  return {
    skills: folders.sort().map((folder) => describe(root, folder)),
    archived: existsSync(archive) ? [...skillFolders(archive, 0)].length : 0,
    described: existsSync(root) ? describedCategories(root) : [],
  };
}

function* skillFolders(folder: string, depth: number): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true });
  if (depth > 0 && entries.some((entry) => entry.name === SKILL_FILE)) {
    yield folder;
    return;
  }
  if (depth >= DEEPEST) return;
  for (const entry of entries) {
    if (entry.isDirectory() && !entry.name.startsWith('.')) yield* skillFolders(join(folder, entry.name), depth + 1);
  }
}

function describedCategories(root: string): readonly string[] {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).filter((name) => existsSync(join(root, name, 'DESCRIPTION.md')));
}

function describe(root: string, folder: string): FoundSkill {
  const category = relative(root, dirname(folder)).split(sep).join('/');
  return { folder, name: headerName(join(folder, SKILL_FILE)) ?? basename(folder), category };
}

/** Undefined when the file cannot be read as a skill: the door will say why. */
function headerName(path: string): string | undefined {
  try {
    const parsed = parseSkill(readFileSync(path, 'utf8'));
    return parsed.ok ? stringOf(parsed.frontmatter.name)?.trim() || undefined : undefined;
  } catch {
    // The door reads it again, and names what is wrong.
    return undefined;
  }
}

/** `.usage.json`: entries by name; an empty map when there is none that can be read. */
export function readUsage(root: string): ReadonlyMap<string, JsonObject> {
  const path = join(root, '.usage.json');
  if (!existsSync(path)) return new Map();
  const parsed = parseJsonObject(readFileSync(path, 'utf8'));
  if (!parsed.ok) return new Map();
  return new Map(Object.entries(parsed.value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])));
}

// What `model`, `providers` and `custom_providers` of hermes-agent mean here. Knows no file and no other setting.
// Invariant: a model comes only with a provider that can be found here, so that a start after the import is no worse than before.

/** Why a key that stands in config.yaml is not copied. */
const KEY_REASON = `it holds a key; put it into .env and refer to it as \${NAME}`;

interface LeftSetting {
  readonly name: string;
  readonly reason: string;
  /** It is, or holds, a key. */
  readonly isKey?: boolean;
}

export interface MappedProviders {
  readonly value: JsonObject;
  readonly names: ReadonlySet<string>;
  readonly left: readonly LeftSetting[];
}

/** `providers` is a map, `custom_providers` a list whose entries have names. */
function mapProviders(raw: JsonObject): MappedProviders {
  const listed = Array.isArray(raw.custom_providers) ? raw.custom_providers.filter(isJsonObject) : [];
  const entries: readonly (readonly [string, JsonValue | undefined])[] = [
    ...(isJsonObject(raw.providers) ? Object.entries(raw.providers) : []),
    ...listed.map((entry) => [stringOf(entry.name) ?? '', entry] as const),
  ];
  const value: Record<string, JsonObject> = {};
  const left: LeftSetting[] = [];
  for (const [name, entry] of entries) {
    const slug = slugOf(name);
    if (slug === '' || !isJsonObject(entry)) continue;
    const address = stringOf(entry.base_url) ?? stringOf(entry.url) ?? stringOf(entry.api);
    if (!address && !providerRow(slug)) {
      left.push({ name: `providers.${slug}`, reason: 'it has no address' });
      continue;
    }
    value[slug] = providerOf(entry, address);
    if (isLiteralKey(entry.api_key)) left.push({ name: `providers.${slug}.api_key`, reason: KEY_REASON, isKey: true });
  }
  return { value, names: new Set(Object.keys(value)), left };
}

function providerOf(entry: JsonObject, address: string | undefined): JsonObject {
  const { name, url, api, api_key: key, key_env: variable, model, default_model: byDefault, ...rest } = entry;
  const reference = stringOf(variable) ? `\${${variable}}` : isLiteralKey(key) ? undefined : stringOf(key);
  const chosen = stringOf(byDefault) ?? stringOf(model);
  return {
    ...rest,
    ...(address ? { base_url: address } : {}),
    ...(chosen ? { default_model: chosen } : {}),
    ...(reference ? { api_key: reference } : {}),
  };
}

export interface MappedModel {
  readonly value?: JsonValue;
  readonly left: readonly LeftSetting[];
}

function mapModel(model: JsonValue | undefined, providers: ReadonlySet<string>): MappedModel {
  if (typeof model === 'string' && model.trim() !== '') return { value: model.trim(), left: [] };
  if (!isJsonObject(model)) return { left: [] };
  const where = providerName(stringOf(model.provider), stringOf(model.base_url), providers);
  if (where === undefined) {
    const reason = `its provider ${String(model.provider)} is not known here; see \`talaria setup\``;
    return { left: [{ name: 'model', reason }] };
  }
  const value = modelOf(model, where);
  const left = isLiteralKey(model.api_key) ? [{ name: 'model.api_key', reason: KEY_REASON, isKey: true }] : [];
  return Object.keys(value).length === 0 ? { left } : { value, left };
}

function modelOf(model: JsonObject, provider: string): JsonObject {
  const chosen = stringOf(model.default) || stringOf(model.model);
  const key = stringOf(model.api_key);
  const size = Number(model.context_length);
  return {
    ...(chosen ? { default: chosen } : {}),
    ...(provider ? { provider } : {}),
    ...(stringOf(model.base_url) ? { base_url: String(model.base_url) } : {}),
    ...(key && !isLiteralKey(key) ? { api_key: key } : {}),
    ...(Number.isInteger(size) && size >= 1024 ? { context_length: size } : {}),
  };
}

/** Empty: whichever is set up. Undefined: it cannot be found here. */
function providerName(
  named: string | undefined,
  address: string | undefined,
  providers: ReadonlySet<string>,
): string | undefined {
  if (!named || named === 'auto') return '';
  const slug = slugOf(named.replace(/^custom:/, ''));
  if (providers.has(slug) || providerRow(slug)) return slug;
  if (!address) return undefined;
  return slug === 'custom' ? '' : slug;
}

function slugOf(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-');
}

function isLiteralKey(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value.trim() !== '' && !/^\$\{\w+\}$/.test(value.trim());
}
