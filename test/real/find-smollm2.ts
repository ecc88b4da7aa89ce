/**
 * Where the small model and the local engine lie: TALARIA_TEST_MODEL names the GGUF file, TALARIA_TEST_ENGINE the folder
 * with node_modules/node-llama-cpp; without them the places that scripts/fetch-smollm2.sh and
 * scripts/install-local-engine.sh use.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface SmolLm2 {
  readonly modelPath: string | undefined;
  readonly engineFolder: string | undefined;
}

export function findSmolLm2(): SmolLm2 {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'talaria');
  return {
    modelPath: found(process.env.TALARIA_TEST_MODEL, join(cache, 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf')),
    engineFolder: found(process.env.TALARIA_TEST_ENGINE, join(cache, 'engines', 'node-llama-cpp-3.22.1')),
  };
}

function found(named: string | undefined, usual: string): string | undefined {
  return named ?? (existsSync(usual) ? usual : undefined);
}
