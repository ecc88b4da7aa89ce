/**
 * Where the engine for ONNX models and the small real embedder lie: TALARIA_TEST_ONNX_ENGINE names the folder of engines,
 * TALARIA_TEST_MINILM the model's folder; without them the places that scripts/install-onnx-engine.ts and
 * scripts/fetch-minilm.sh use.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { onnxEngineFolder } from '#core/model/onnx.ts';

export interface FoundOnnx {
  /** Folder of engines. */
  readonly engines: string;
  readonly minilm: string;
}

/** Undefined when one of the two is not there. */
export function findOnnx(): FoundOnnx | undefined {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'talaria');
  const engines = process.env.TALARIA_TEST_ONNX_ENGINE ?? join(cache, 'engines');
  const minilm = process.env.TALARIA_TEST_MINILM ?? join(cache, 'models', 'minilm-l6-v2-int8');
  return existsSync(onnxEngineFolder(engines)) && existsSync(minilm) ? { engines, minilm } : undefined;
}
