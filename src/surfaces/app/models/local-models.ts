// Owns the local engine's place in the home and the models it has open. Knows the engine through core/model only.
// Invariant: one file is opened once, however many tiers use it; a file is offered only when the engine is installed.
import { existsSync, readdirSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import type { ModelClient, Tier } from '#core/model/model-client.ts';
import type { ModelOverrides } from '#core/model/model-table.ts';
import { createLlamaClient, type LlamaClient } from '#core/model/providers/llama-client.ts';
import type { Home } from '../home/home.ts';
import type { FoundProvider } from './found-provider.ts';

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
      const modelPath = isAbsolute(path) ? path : join(home.models, path);
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

/** GGUF files in the home's `models`, when the engine is there to run them. */
export function findModelFiles(home: Home): readonly FoundProvider[] {
  if (!existsSync(engineFolder(home)) || !existsSync(home.models)) return [];
  const files = readdirSync(home.models)
    .filter((name) => name.endsWith('.gguf'))
    .sort();
  return files.map((file) => localFileProvider(file));
}

function localFileProvider(file: string): FoundProvider {
  const name = basename(file, '.gguf');
  return {
    name: 'llama',
    kind: 'llama',
    baseUrl: '',
    defaultModel: name,
    aggregator: false,
    local: true,
    reason: `${file} lies in the home's models folder`,
    settings: { kind: 'llama', path: file },
  };
}
