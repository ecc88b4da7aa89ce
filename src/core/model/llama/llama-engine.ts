// Owns loading the optional local engine (node-llama-cpp) from a folder, and the few of its shapes that we use.
// Knows no conversation. Invariant: never a static import; a machine without the engine pays nothing and gets a clear error.
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText } from '#base/errors.ts';
import { ModelError } from '../model-client.ts';

export type LlamaToken = number;

export interface LlamaSequence {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: LlamaToken[], allowShift?: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: LlamaToken[]): Promise<void>;
  evaluate(tokens: LlamaToken[], options: object): AsyncGenerator<LlamaToken, void, void>;
}

export interface LlamaModel {
  readonly tokenizer: unknown;
  readonly trainContextSize: number;
  detokenize(tokens: readonly LlamaToken[], specialTokens?: boolean, lastTokens?: readonly LlamaToken[]): string;
  createContext(options: object): Promise<{ readonly contextSize: number; getSequence(): LlamaSequence }>;
}

export type LlamaChatItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly string[] };

export interface LlamaChatWrapper {
  generateContextState(input: { readonly chatHistory: readonly LlamaChatItem[] }): {
    readonly contextText: { tokenize(tokenizer: unknown): LlamaToken[] };
  };
}

interface LlamaModule {
  getLlama(options: object): Promise<{ loadModel(options: object): Promise<LlamaModel>; dispose(): Promise<void> }>;
  resolveChatWrapper(model: LlamaModel, options?: object): LlamaChatWrapper;
  readonly LlamaLogLevel: { readonly disabled: string };
}

export interface LoadedLlama {
  readonly model: LlamaModel;
  readonly sequence: LlamaSequence;
  readonly wrapper: LlamaChatWrapper;
  /** Tokens that prompt and answer share, as the engine really made it. */
  readonly window: number;
  dispose(): Promise<void>;
}

export interface LlamaFiles {
  /** Folder with `node_modules/node-llama-cpp`. */
  readonly engineFolder: string;
  /** A GGUF file. */
  readonly modelPath: string;
  /** Wanted tokens of window; never more than the model was trained for. */
  readonly contextWindow: number;
}

export async function loadLlama({ engineFolder, modelPath, contextWindow }: LlamaFiles): Promise<LoadedLlama> {
  const entry = join(engineFolder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  if (!existsSync(entry)) {
    throw new ModelError('the local engine is not installed', {
      code: 'model-unreachable',
      fix: 'Install it with: talaria setup --local',
    });
  }
  if (!existsSync(modelPath)) {
    throw new ModelError(`there is no model file ${modelPath}`, {
      code: 'model-not-found',
      fix: 'Fetch one with: talaria setup --local, or correct its path in the configuration.',
    });
  }
  try {
    return await open((await import(pathToFileURL(entry).href)) as LlamaModule, modelPath, contextWindow);
  } catch (error) {
    throw new ModelError(`the local engine could not load ${basename(modelPath)}: ${errorText(error)}`, {
      code: 'model-unreachable',
      cause: error,
      fix: 'Check that the file is a whole GGUF model and that there is memory for it.',
    });
  }
}

async function open(engine: LlamaModule, modelPath: string, wanted: number): Promise<LoadedLlama> {
  const llama = await engine.getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    maxThreads: 1,
    progressLogs: false,
    logLevel: engine.LlamaLogLevel.disabled,
  });
  try {
    const model = await llama.loadModel({ modelPath });
    const contextSize = model.trainContextSize > 0 ? Math.min(wanted, model.trainContextSize) : wanted;
    const context = await model.createContext({ contextSize });
    const wrapper = engine.resolveChatWrapper(model, { warningLogs: false });
    return {
      model,
      sequence: context.getSequence(),
      wrapper,
      window: context.contextSize,
      dispose: () => llama.dispose(),
    };
  } catch (error) {
    await llama.dispose();
    throw error;
  }
}
