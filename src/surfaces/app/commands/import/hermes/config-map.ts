// Owns what settings of hermes-agent mean here: other names, other values, and what is left behind with the reason (core notes 2.1).
// Knows no file. Invariants: pure; no key is ever among the settings; what this version would refuse is not among them either.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { findSecrets } from '#base/secrets.ts';
import { TOOLSETS } from '#core/tools/registry/toolsets.ts';
import { configSchema } from '../../../home/config-schema.ts';
import { KEY_REASON, type LeftSetting, mapModel, mapProviders } from './model-map.ts';

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
      const judged = judge(leaf);
      if ('reason' in judged) left.push(judged);
      else found.push(judged);
    }
  }
  return { settings: found, left };
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
  const reason = LEFT[name];
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
