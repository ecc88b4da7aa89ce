// Owns loading the optional ONNX engine (transformers.js over onnxruntime) from a folder, and the few of its shapes that we use. Knows no
// model. Invariant: never a static import; it never reaches for the network, and says nothing by itself.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText } from '#base/errors.ts';
import { ModelError } from '../model-client.ts';

export const ONNX_ENGINE_VERSION = '4.3.1';

/** Below `engines`, the folder that holds `node_modules/@huggingface/transformers`. */
export function onnxEngineFolder(engines: string): string {
  return join(engines, `transformers-js-${ONNX_ENGINE_VERSION}`);
}

export interface OnnxTensor {
  readonly data: ArrayLike<number | bigint>;
  /** Sizes, outermost first. */
  readonly dims: readonly number[];
}

export type OnnxTensors = Readonly<Record<string, OnnxTensor | undefined>>;

export interface OnnxTokenizerOptions {
  readonly text_pair?: string;
  readonly padding: boolean;
  readonly truncation: boolean;
  readonly max_length: number;
}

export type OnnxTokenizer = (text: string, options: OnnxTokenizerOptions) => OnnxTensors;

export interface OnnxRunner {
  (inputs: OnnxTensors): Promise<OnnxTensors>;
  dispose(): Promise<unknown>;
}

interface Pretrained<T> {
  from_pretrained(folder: string, options: object): Promise<T>;
}

export interface OnnxEngine {
  readonly AutoTokenizer: Pretrained<OnnxTokenizer>;
  readonly AutoModel: Pretrained<OnnxRunner>;
  readonly AutoModelForSequenceClassification: Pretrained<OnnxRunner>;
}

interface EngineModule extends OnnxEngine {
  readonly env: {
    allowRemoteModels: boolean;
    allowLocalModels: boolean;
    useFSCache: boolean;
    useBrowserCache: boolean;
    logLevel: unknown;
  };
  readonly LogLevel: { readonly NONE: unknown };
}

/** Throws ModelError `model-unreachable` when the engine is not there or does not start; `fix` says how to get it. */
export async function loadOnnxEngine(engineFolder: string, fix: string): Promise<OnnxEngine> {
  const entry = join(engineFolder, 'node_modules', '@huggingface', 'transformers', 'dist', 'transformers.node.mjs');
  if (!existsSync(entry)) {
    throw new ModelError('the engine for local models is not installed', { code: 'model-unreachable', fix });
  }
  try {
    const engine = (await import(pathToFileURL(entry).href)) as EngineModule;
    engine.env.allowRemoteModels = false;
    engine.env.allowLocalModels = true;
    engine.env.useFSCache = false;
    engine.env.useBrowserCache = false;
    engine.env.logLevel = engine.LogLevel.NONE;
    return engine;
  } catch (error) {
    throw new ModelError(`the engine for local models does not start: ${errorText(error)}`, {
      code: 'model-unreachable',
      cause: error,
      fix,
    });
  }
}
