// Owns the local engine's place in the home, the model files there are, and the models it has open. Knows the engine through core/model only.
// Invariant: one file is opened once, however many tiers use it; every file is a model of the one provider `llama`, and a name means one
// file or none.
import { existsSync, readdirSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import type { ModelClient, Tier } from '#core/model/model-client.ts';
import type { ModelOverrides } from '#core/model/model-table.ts';
import { createLlamaClient, type LlamaClient } from '#core/model/providers/llama-client.ts';
import type { Config, ProviderConfig } from '../home/config-schema.ts';
import type { Home } from '../home/home.ts';
import type { FoundProvider, LocalFile } from './found-provider.ts';

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
