// Owns what `model`, `providers` and `custom_providers` of hermes-agent mean here. Knows no file and no other setting.
// Invariant: a model comes only with a provider that can be found here, so that a start after the import is no worse than before.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { stringOf } from '#mind/sessions/transfer/hermes/map-message.ts';
import { providerRow } from '../../../models/provider-table.ts';

/** Why a key that stands in config.yaml is not copied. */
export const KEY_REASON = `it holds a key; put it into .env and refer to it as \${NAME}`;

export interface LeftSetting {
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
export function mapProviders(raw: JsonObject): MappedProviders {
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

export function mapModel(model: JsonValue | undefined, providers: ReadonlySet<string>): MappedModel {
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
