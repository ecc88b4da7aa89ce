// Owns the search for usable providers: config.yaml first, then keys in the environment, then files of the local engine; and what they listed when
// they were asked. Knows no client but that of local files. Invariants: the search itself asks no network; a reference to a variable that is not
// set is a problem that names the variable; a broken or missing cache is an empty one, and asking refuses with the reason instead of throwing.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type ModelClient, ModelError, type ModelErrorCode, type Tier } from '#core/model/model-client.ts';
import type { ModelOverrides } from '#core/model/model-table.ts';
import { UNPAID } from '#core/model/providers/golem-providers.ts';
import { type ListedModel, listModels } from '#core/model/providers/list-models.ts';
import { createLlamaClient, type LlamaClient } from '#core/model/providers/llama-client.ts';
import type { Proxies } from '#core/model/providers/provider-options.ts';
import { isLocalAddress } from '#core/model/providers/provider-options.ts';
import type { Config, ProviderConfig } from '../home/config-schema.ts';
import type { Home } from '../home/home.ts';
import { fillVariables, type Variables } from '../home/variables.ts';
import { withFix } from '../wording.ts';
import {
  type FoundProvider,
  LOCAL_ENDPOINTS,
  type LocalFile,
  PROVIDERS,
  type ProviderRow,
  providerRow,
} from './provider-table.ts';

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

/** What to do about a provider without a key. */
export function missingKeyFix(name: string): string {
  const row = providerRow(name);
  if (row?.paidBy) return `It ${UNPAID}. Take another.`;
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
): Result<FoundProvider, 'missing-key' | 'no-address' | 'not-configured'> {
  const row = providerRow(name);
  if (row?.paidBy && !settings.base_url) return refuse('not-configured', `${name} ${UNPAID}`);
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
    settings: row?.paidBy ? { ...settings, payment: row.paidBy } : settings,
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
  if (providerRow(name)?.paidBy) return 'Take another.';
  const variable = /\$\{(\w+)\}/.exec(`${settings.api_key ?? ''}${settings.base_url ?? ''}`)?.[1];
  return variable
    ? `Set ${variable} in the environment or in .env (\`talaria setup --provider ${name} --key …\`).`
    : missingKeyFix(name);
}

function trimUrl(url: string): string {
  return url.trim().replace(/\/+$/, '');
}

export const ENGINE_VERSION = '3.22.1';

/** Holds `node_modules/node-llama-cpp`. */
export function engineFolder(home: Home): string {
  return join(home.engines, `node-llama-cpp-${ENGINE_VERSION}`);
}

export interface LocalModels {
  /** Relative paths start in the home's `models`. Opens nothing before the first request. */
  client(path: string, tier: Tier, overrides: ModelOverrides): ModelClient;
  close(): Promise<void>;
}

export function createLocalModels(home: Home): LocalModels {
  const open = new Map<string, LlamaClient>();
  return {
    client(path, tier, overrides) {
      const modelPath = placeOf(home, path);
      const known = open.get(modelPath);
      const client = known ?? createLlamaClient({ engineFolder: engineFolder(home), modelPath, tier, overrides });
      open.set(modelPath, client);
      return client;
    },
    async close() {
      const closing = [...open.values()].map((client) => client.close());
      open.clear();
      await Promise.all(closing);
    },
  };
}

/** The files that config.yaml names, then those in the home's `models`; undefined when there is none. */
export function findLocalModels(home: Home, config: Config): FoundProvider | undefined {
  const own = Object.entries(config.providers).filter(([, { kind }]) => kind === 'llama');
  const plain = own.find(([, { path, default_model: name }]) => path === undefined && name === undefined)?.[1] ?? {};
  const named = own.flatMap(([name, settings]) => configuredFile(home, name, settings) ?? []);
  const files = uniqueByModel([...named, ...homeFiles(home, plain)]);
  const [first] = files;
  if (!first) return undefined;
  return {
    name: 'llama',
    kind: 'llama',
    baseUrl: '',
    defaultModel: first.model,
    aggregator: false,
    local: true,
    reason: first.reason,
    settings: first.settings,
    files,
  };
}

function configuredFile(home: Home, name: string, settings: ProviderConfig): LocalFile | undefined {
  const { path = settings.default_model && `${withoutEnding(settings.default_model)}.gguf` } = settings;
  if (path === undefined) return undefined;
  const model = withoutEnding(basename(path));
  const aliases = [name, `${name}/${model}`, `${name}/${settings.default_model ?? model}`];
  const names = [`llama/${model}`, ...aliases];
  return { model, path, settings, names, ...stateOf(home, path, `config.yaml names the model file ${path}`) };
}

function homeFiles(home: Home, settings: ProviderConfig): readonly LocalFile[] {
  if (!existsSync(home.models)) return [];
  const paths = readdirSync(home.models).filter((name) => name.toLowerCase().endsWith('.gguf'));
  return paths.sort().map((path) => {
    const model = withoutEnding(path);
    const state = stateOf(home, path, `${path} lies in the home's models folder`);
    return { model, path, settings, names: [`llama/${model}`], ...state };
  });
}

function stateOf(home: Home, path: string, reason: string): Pick<LocalFile, 'reason' | 'missing'> {
  const lacks = (missing: string) => ({ missing, reason: `${reason}; ${missing}` });
  if (!existsSync(engineFolder(home))) return lacks('the local engine is not installed: `talaria setup --local`');
  return existsSync(placeOf(home, path)) ? { reason } : lacks(`there is no file ${path}`);
}

/** What config.yaml says comes first: a file of the same name in the home is another model that nobody can name. */
function uniqueByModel(files: readonly LocalFile[]): readonly LocalFile[] {
  return files.filter((file, at) => files.findIndex(({ model }) => model === file.model) === at);
}

function placeOf(home: Home, path: string): string {
  return isAbsolute(path) ? path : join(home.models, path);
}

export function withoutEnding(name: string): string {
  return name.replace(/\.gguf$/i, '');
}

export interface ModelLists {
  /** What the cache has, without any network. */
  cached(baseUrl: string): readonly ListedModel[];
  /** Is what the cache has older than a day? */
  isStale(baseUrl: string): boolean;
  /** Asks the endpoint and keeps the answer. */
  fetch(provider: FoundProvider, signal: AbortSignal): Promise<Result<readonly ListedModel[], ListRefusal>>;
  /** Local servers that answered the last probe; undefined when none was ever made. */
  cachedLocal(): readonly FoundProvider[] | undefined;
  /** Asks every known local port at once; a port that does not answer in time is not there. */
  probeLocal(signal: AbortSignal): Promise<readonly FoundProvider[]>;
}

export type ListRefusal = ModelErrorCode | 'model-failed';

const LIST_TIMEOUT_MS = 5_000;
const STALE_MS = 24 * 60 * 60 * 1000;
const PROBE_TIMEOUT_MS = 250;

export function createModelLists(cacheFolder: string, clock: Clock): ModelLists {
  const listFile = join(cacheFolder, 'models.json');
  const localFile = join(cacheFolder, 'local-endpoints.json');
  const lists: ModelLists = {
    cached: (baseUrl) => cachedModels(readCache(listFile)[baseUrl]),
    isStale: (baseUrl) => {
      const row = readCache(listFile)[baseUrl];
      const at = isJsonObject(row) && typeof row.at === 'number' ? row.at : 0;
      return Math.abs(clock.now() - at) > STALE_MS;
    },
    async fetch(provider, signal) {
      const answer = await askModels(provider, { clock, timeoutMs: LIST_TIMEOUT_MS, signal });
      if (answer.ok) {
        const models = answer.value.map((model) => ({ ...model }));
        keepCache(listFile, { ...readCache(listFile), [provider.baseUrl]: { at: clock.now(), models } });
      }
      return answer;
    },
    cachedLocal() {
      const found = readCache(localFile).found;
      if (!Array.isArray(found)) return undefined;
      return LOCAL_ENDPOINTS.filter((row) => found.includes(row.name)).map((row) => localProvider(row));
    },
    async probeLocal(signal) {
      const found = await Promise.all(
        LOCAL_ENDPOINTS.filter(({ isAlias }) => !isAlias).map(async (row) => {
          const provider = localProvider(row);
          const answer = await askModels(provider, { clock, timeoutMs: PROBE_TIMEOUT_MS, signal });
          return answer.ok && answer.value.length > 0 ? { provider, models: answer.value } : undefined;
        }),
      );
      const present = found.filter((entry) => entry !== undefined);
      const names = present.map((entry) => entry.provider.name);
      if (names.length > 0 || lists.cachedLocal()?.length) {
        keepCache(localFile, { at: clock.now(), found: names });
        const known = Object.fromEntries(
          present.map((entry) => [entry.provider.baseUrl, { at: clock.now(), models: entry.models }]),
        );
        keepCache(listFile, { ...readCache(listFile), ...known });
      }
      return present.map((entry) => entry.provider);
    },
  };
  return lists;
}

export function localProvider(row: (typeof LOCAL_ENDPOINTS)[number]): FoundProvider {
  return {
    name: row.name,
    kind: 'openai',
    baseUrl: row.baseUrl,
    aggregator: true,
    local: true,
    reason: `${row.title} answers at ${row.baseUrl}`,
    settings: {},
  };
}

async function askModels(
  { name: provider, kind, baseUrl, apiKey, proxies }: FoundProvider,
  options: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Result<readonly ListedModel[], ListRefusal>> {
  const wire = kind === 'anthropic' ? kind : 'openai';
  try {
    const ways = { ...(apiKey ? { apiKey } : {}), ...(proxies ? { proxies } : {}) };
    return ok(await listModels({ provider, kind: wire, baseUrl, ...ways }, options));
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (!(error instanceof ModelError)) throw error;
    return refuse(error.code as ModelErrorCode, withFix(error.message, error.fix));
  }
}

/** Rows of our own cache. */
function cachedModels(value: JsonValue | undefined): readonly ListedModel[] {
  if (!isJsonObject(value) || !Array.isArray(value.models)) return [];
  return value.models.filter(isJsonObject).flatMap(({ id, contextWindow }) => {
    if (typeof id !== 'string') return [];
    return [{ id, ...(typeof contextWindow === 'number' ? { contextWindow } : {}) }];
  });
}

/** What cannot be kept is asked for again: a home that can only be read is looked at all the same. */
function keepCache(path: string, value: object): void {
  try {
    atomicWrite(path, JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof TalariaError)) throw error;
  }
}

function readCache(path: string): JsonObject {
  try {
    const parsed = parseJsonObject(readFileSync(path, 'utf8'));
    return parsed.ok ? parsed.value : {};
  } catch {
    // No cache yet, or one that cannot be read: the endpoint will be asked.
    return {};
  }
}
