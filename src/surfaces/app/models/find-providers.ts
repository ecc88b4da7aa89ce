// Owns the search for usable providers: config.yaml first, then keys in the environment (table as data), then local files. No network here.
// Invariant: a reference to a variable that is not set is a problem that names the variable, never a silent gap.
import { ok, type Result, refuse } from '#base/result.ts';
import type { Proxies } from '#core/model/providers/http-request.ts';
import { isLocalAddress } from '#core/model/providers/provider-options.ts';
import type { Config, ProviderConfig } from '../home/config-schema.ts';
import type { FoundProvider } from './found-provider.ts';
import { PROVIDERS, type ProviderRow, providerRow } from './provider-table.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

export interface ProviderProblem {
  readonly provider: string;
  readonly message: string;
  readonly fix: string;
}

export interface ProviderSearch {
  /** In order of preference. */
  readonly providers: readonly FoundProvider[];
  readonly problems: readonly ProviderProblem[];
}

/** `variables` holds the process's environment over the home's .env; `local` stands where config.yaml first names a file, else last. */
export function findProviders(config: Config, variables: Variables, local?: FoundProvider): ProviderSearch {
  const providers: FoundProvider[] = [];
  const problems: ProviderProblem[] = [];
  const addLocal = () => {
    if (local && !providers.includes(local)) providers.push(local);
  };
  for (const [name, settings] of configured(config)) {
    if (settings.kind === 'llama') {
      addLocal();
      continue;
    }
    const found = fromConfig(name, settings, variables);
    if (found.ok) providers.push(found.value);
    else problems.push({ provider: name, message: found.detail, fix: keyFix(name, settings) });
  }
  for (const row of PROVIDERS) {
    if (providers.some((known) => known.name === row.name)) continue;
    const found = fromEnvironment(row, variables);
    if (found) providers.push(found);
  }
  addLocal();
  const ways = proxiesOf(variables);
  return { providers: providers.map((provider) => ({ ...provider, ...ways })), problems };
}

/** In capitals or not, with a scheme or not, as other programs read them. */
export function proxiesOf(variables: Variables): { readonly proxies?: Proxies } {
  const proxies: Partial<Record<keyof Proxies, string>> = {};
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const) {
    const value = (variables[name.toLowerCase()] || variables[name])?.trim();
    if (value) proxies[name] = name === 'NO_PROXY' || /^\w+:\/\//.test(value) ? value : `http://${value}`;
  }
  return proxies.HTTP_PROXY || proxies.HTTPS_PROXY ? { proxies } : {};
}

/** What a person is told whose proxy goes unheard: `node:http` knows proxies since Node 24.5. */
export function proxyProblem(variables: Variables, node = process.versions.node): string | undefined {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (!proxiesOf(variables).proxies || major > 24 || (major === 24 && minor >= 5)) return undefined;
  return `The proxy of HTTP_PROXY and HTTPS_PROXY is not used: that takes Node 24.5 or later, and this is ${node}.`;
}

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

/** What to do about a provider without a key. */
export function missingKeyFix(name: string): string {
  const row = providerRow(name);
  const variable = row?.keyVariables[0] ?? `${name.toUpperCase().replace(/\W/g, '_')}_API_KEY`;
  const where = row ? ` A key comes from ${row.keysAt}.` : '';
  return `Set ${variable} in the environment, or run \`talaria setup --provider ${name} --key …\`.${where}`;
}

/** Endpoints that config.yaml names; the one of `model:` comes first. */
function configured(config: Config): readonly (readonly [string, ProviderConfig])[] {
  const entries = Object.entries(config.providers);
  if (typeof config.model !== 'object') return entries;
  const { provider, base_url, api_key, context_length } = config.model;
  if (!provider && !base_url && !api_key) return entries;
  const name = provider ?? 'custom';
  const merged: ProviderConfig = {
    ...config.providers[name],
    ...(base_url ? { base_url } : {}),
    ...(api_key ? { api_key } : {}),
    ...(context_length ? { context_length } : {}),
  };
  return [[name, merged], ...entries.filter(([other]) => other !== name)];
}

function fromConfig(
  name: string,
  settings: ProviderConfig,
  variables: Variables,
): Result<FoundProvider, 'missing-key' | 'no-address'> {
  const row = providerRow(name);
  const kind = settings.kind ?? row?.kind ?? 'openai';
  const address = settings.base_url ?? (row && addressOf(row, variables));
  if (!address) return refuse('no-address', `providers.${name} has no base_url`);
  const baseUrl = fillVariables(address, variables);
  if (!baseUrl.ok) return baseUrl;
  const key = configuredKey(settings, row, variables);
  if (!key.ok) return key;
  return ok({
    name,
    kind: kind === 'anthropic' ? kind : 'openai',
    baseUrl: trimUrl(baseUrl.value),
    ...(key.value ? { apiKey: key.value } : {}),
    ...keyVariable(settings, row),
    ...defaultModel(settings, row),
    aggregator: row?.aggregator ?? false,
    local: isLocalAddress(baseUrl.value),
    reason: `config.yaml sets ${name} up`,
    settings,
  });
}

/** An endpoint of one's own may need no key; that of a known provider does. */
function configuredKey(
  settings: ProviderConfig,
  row: ProviderRow | undefined,
  variables: Variables,
): Result<string | undefined, 'missing-key'> {
  if (settings.api_key) return fillVariables(settings.api_key, variables);
  if (!row) return ok(undefined);
  const key = keyOf(row, variables)?.value;
  if (key || settings.base_url) return ok(key);
  return refuse('missing-key', `${row.keyVariables[0]} is not set`);
}

function fromEnvironment(row: ProviderRow, variables: Variables): FoundProvider | undefined {
  const key = keyOf(row, variables);
  const address = row.baseUrlVariable ? variables[row.baseUrlVariable] : undefined;
  if (!key && !address) return undefined;
  const set = [key?.name, address && row.baseUrlVariable].filter(Boolean);
  const baseUrl = trimUrl(address || row.baseUrl);
  return {
    name: row.name,
    kind: row.kind,
    baseUrl,
    ...(key ? { apiKey: key.value } : {}),
    keyVariable: key?.name ?? row.keyVariables[0] ?? '',
    // The default model of the maker means nothing at another address.
    ...(row.defaultModel && !address ? { defaultModel: row.defaultModel } : {}),
    aggregator: row.aggregator ?? Boolean(address),
    local: isLocalAddress(baseUrl),
    reason: `${set.join(' and ')} ${set.length > 1 ? 'are' : 'is'} set`,
    settings: {},
  };
}

function keyOf(row: ProviderRow, variables: Variables): { readonly name: string; readonly value: string } | undefined {
  for (const name of row.keyVariables) {
    const value = variables[name]?.trim();
    if (value) return { name, value };
  }
  return undefined;
}

function addressOf(row: ProviderRow, variables: Variables): string {
  return (row.baseUrlVariable && variables[row.baseUrlVariable]) || row.baseUrl;
}

function keyVariable(settings: ProviderConfig, row: ProviderRow | undefined): { keyVariable?: string } {
  const name = /\$\{(\w+)\}/.exec(settings.api_key ?? '')?.[1] ?? row?.keyVariables[0];
  return name ? { keyVariable: name } : {};
}

function defaultModel(settings: ProviderConfig, row: ProviderRow | undefined): { defaultModel?: string } {
  const model = settings.default_model ?? (settings.base_url ? undefined : row?.defaultModel);
  return model ? { defaultModel: model } : {};
}

function keyFix(name: string, settings: ProviderConfig): string {
  const variable = /\$\{(\w+)\}/.exec(`${settings.api_key ?? ''}${settings.base_url ?? ''}`)?.[1];
  return variable
    ? `Set ${variable} in the environment or in .env (\`talaria setup --provider ${name} --key …\`).`
    : missingKeyFix(name);
}

function trimUrl(url: string): string {
  return url.trim().replace(/\/+$/, '');
}
