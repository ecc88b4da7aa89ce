// Owns loading the optional ONNX engine (transformers.js over onnxruntime) from a folder, and the few of its shapes that we use. Knows no
// model. Invariant: never a static import; it never reaches for the network, and says nothing by itself.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { throwIfAborted } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
import type { Embedder, Reranker } from './embedders.ts';
import { ModelError } from './model-client.ts';

export const ONNX_ENGINE_VERSION = '4.3.1';

/** Below `engines`, the folder that holds `node_modules/@huggingface/transformers`. */
export function onnxEngineFolder(engines: string): string {
  return join(engines, `transformers-js-${ONNX_ENGINE_VERSION}`);
}

interface OnnxTensor {
  readonly data: ArrayLike<number | bigint>;
  /** Sizes, outermost first. */
  readonly dims: readonly number[];
}

type OnnxTensors = Readonly<Record<string, OnnxTensor | undefined>>;

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

interface OnnxEngine {
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
async function loadOnnxEngine(engineFolder: string, fix: string): Promise<OnnxEngine> {
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

// Opening one ONNX model of a folder, with its tokenizer, and running one input through it. Knows no pooling and no score.
// Invariant: at most two threads; an abort between inputs stops it; closing frees the memory.

export interface OnnxModelFiles {
  readonly engineFolder: string;
  /** Holds config.json and the tokenizer's files. */
  readonly folder: string;
  /** The ONNX file, relative to `folder`. */
  readonly file: string;
  /** `auto` leaves it to the engine. */
  readonly device: string;
  /** Most tokens of one input. */
  readonly maxLength: number;
  /** How to get what is missing, one sentence. */
  readonly fix: string;
}

export interface OnnxModel {
  /** One input: a text, or a pair of texts; the outputs by name. */
  run(
    texts: readonly [string, string?],
    signal: AbortSignal,
  ): Promise<{ readonly inputs: OnnxTensors; readonly outputs: OnnxTensors }>;
  close(): Promise<void>;
}

export type OnnxHead = 'AutoModel' | 'AutoModelForSequenceClassification';

const THREADS = 2;
/** Of the runtime: 4 is fatal errors alone. */
const SILENT = 4;

/** Throws ModelError: `model-unreachable` without the engine, `model-not-found` without a file, `model-bad-response` for a broken one. */
async function openOnnxModel(files: OnnxModelFiles, head: OnnxHead, signal: AbortSignal): Promise<OnnxModel> {
  throwIfAborted(signal);
  refuseMissing(files);
  const engine = await loadOnnxEngine(files.engineFolder, files.fix);
  const { tokenizer, runner } = await loadParts(engine, files, head);
  const model: OnnxModel = {
    async run([text, second], asked) {
      throwIfAborted(asked);
      const inputs = tokenizer(text.toWellFormed(), {
        ...(second === undefined ? {} : { text_pair: second.toWellFormed() }),
        ...{ padding: true, truncation: true, max_length: files.maxLength },
      });
      const outputs = await runner(inputs).catch((error) => {
        throw broken(files, 'could not read a text', error);
      });
      throwIfAborted(asked);
      return { inputs, outputs };
    },
    close: async () => void (await runner.dispose()),
  };
  if (signal.aborted) {
    await model.close();
    throwIfAborted(signal);
  }
  return model;
}

function refuseMissing({ folder, file, fix }: OnnxModelFiles): void {
  const missing = missingFiles(folder, file);
  if (missing.length === 0) return;
  const what = existsSync(folder)
    ? `the model in ${folder} has no ${missing.join(', no ')}`
    : `there is no model ${folder}`;
  throw new ModelError(what, { code: 'model-not-found', fix });
}

async function loadParts(engine: OnnxEngine, files: OnnxModelFiles, head: OnnxHead) {
  try {
    const tokenizer = await engine.AutoTokenizer.from_pretrained(files.folder, { local_files_only: true });
    const runner = await engine[head].from_pretrained(files.folder, {
      local_files_only: true,
      subfolder: dirname(files.file) === '.' ? '' : dirname(files.file),
      model_file_name: basename(files.file, '.onnx'),
      // The suffix of this type is empty: the file is named whole.
      dtype: 'fp32',
      device: files.device === 'auto' ? null : files.device,
      session_options: { intraOpNumThreads: THREADS, interOpNumThreads: 1, logSeverityLevel: SILENT },
    });
    return { tokenizer, runner };
  } catch (error) {
    throw broken(files, 'could not be loaded', error);
  }
}

function broken({ folder }: OnnxModelFiles, what: string, error: unknown): ModelError {
  return new ModelError(`the model in ${folder} ${what}: ${errorText(error)}`, {
    code: 'model-bad-response',
    cause: error,
    fix: 'Check that its files belong together and that there is memory for it.',
  });
}

// Where an ONNX model lies below a folder of models, and which files make it whole. Knows no engine.
// Invariant: a model of which a file is missing is never loaded; the missing ones are named.

/** Beside the ONNX file itself. */
const SIDE_FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];

/** Files without which the model does not load, relative to its folder. */
export function neededFiles(file: string): readonly string[] {
  return [...SIDE_FILES, file];
}

export function missingFiles(folder: string, file: string): readonly string[] {
  return neededFiles(file).filter((name) => !existsSync(join(folder, name)));
}

/** `OWNER--NAME`, as a new model is placed. */
export function modelFolder(models: string, id: string): string {
  return join(models, id.replaceAll('/', '--'));
}

/** The model's folder: `OWNER--NAME`, or `OWNER/NAME` when only that is there. */
export function findModelFolder(models: string, id: string): string {
  const flat = modelFolder(models, id);
  const nested = join(models, ...id.split('/'));
  return existsSync(flat) || !existsSync(nested) ? flat : nested;
}

// Making one vector of a text out of the vectors of its tokens. Pure. Invariant: the result has length 1, or is all zero.

export type Pooling = 'last_token' | 'mean' | 'cls';

/**
 * `hidden`: one text of [1, tokens, size], or an already pooled [1, size]; `mask` of [1, tokens] is 0 where padding stands.
 * Undefined when it is neither, or holds what is no number.
 */
export function poolVector(
  hidden: OnnxTensor,
  mask: OnnxTensor | undefined,
  pooling: Pooling,
): Float32Array | undefined {
  const [batch, ...rest] = hidden.dims;
  const [tokens, size] = rest.length === 1 ? [1, rest[0]] : rest;
  if (batch !== 1 || rest.length > 2 || !tokens || !size || hidden.data.length !== tokens * size) return undefined;
  const read = Array.from({ length: tokens }, (_, at) => rest.length === 1 || Number(mask?.data[at] ?? 1) !== 0);
  const taken = tokensOf(read, pooling);
  const vector = new Float32Array(size);
  for (const token of taken) {
    for (let at = 0; at < size; at += 1) vector[at] = (vector[at] ?? 0) + Number(hidden.data[token * size + at]);
  }
  const length = Math.hypot(...vector);
  if (!Number.isFinite(length)) return undefined;
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Positions that are added up; the sum's direction is the mean's. */
function tokensOf(read: readonly boolean[], pooling: Pooling): readonly number[] {
  const all = read.flatMap((isRead, at) => (isRead ? [at] : []));
  if (pooling === 'mean') return all;
  return pooling === 'cls' ? all.slice(0, 1) : all.slice(-1);
}

export interface OnnxEmbedderOptions {
  readonly id: string;
  readonly pooling: Pooling;
  readonly files: OnnxModelFiles;
}

export interface OnnxEmbedder extends Embedder {
  /** Frees the model's memory; nothing may be asked afterwards. */
  close(): Promise<void>;
}

/** Loads the model and tries it on a word, which tells its dimensions. Throws ModelError. */
export function openOnnxEmbedder(options: OnnxEmbedderOptions, signal: AbortSignal): Promise<OnnxEmbedder> {
  return tried(openOnnxModel(options.files, 'AutoModel', signal), async (model) => {
    const vectorOf = async (text: string, asked: AbortSignal): Promise<Float32Array> => {
      const { inputs, outputs } = await model.run([text], asked);
      const hidden = outputs.sentence_embedding ?? outputs.last_hidden_state ?? Object.values(outputs)[0];
      const vector = hidden && poolVector(hidden, inputs.attention_mask, options.pooling);
      if (vector) return vector;
      throw unfit(`${options.id} gave no vector`, 'Check that it is an embedding model.');
    };
    const dimensions = (await vectorOf('skill', signal)).length;
    return {
      id: `onnx/${options.id}`,
      dimensions,
      async embed(texts, asked) {
        asked.throwIfAborted();
        const vectors: Float32Array[] = [];
        for (const text of texts)
          vectors.push(text.trim() === '' ? new Float32Array(dimensions) : await vectorOf(text, asked));
        return vectors;
      },
      close: () => model.close(),
    };
  });
}

/** What `use` makes of the model; when it cannot, the model's memory is freed. */
async function tried<T>(opening: Promise<OnnxModel>, use: (model: OnnxModel) => Promise<T>): Promise<T> {
  const model = await opening;
  try {
    return await use(model);
  } catch (error) {
    await model.close();
    throw error;
  }
}

function unfit(what: string, fix: string): ModelError {
  return new ModelError(what, { code: 'model-bad-response', fix });
}

export interface OnnxRerankerOptions {
  readonly id: string;
  readonly files: OnnxModelFiles;
}

export interface OnnxReranker extends Reranker {
  /** Frees the model's memory; nothing may be asked afterwards. */
  close(): Promise<void>;
}

/** Loads the model and tries it on a pair. Throws ModelError. */
export function openOnnxReranker({ id, files }: OnnxRerankerOptions, signal: AbortSignal): Promise<OnnxReranker> {
  return tried(openOnnxModel(files, 'AutoModelForSequenceClassification', signal), async (model) => {
    const scoreOf = async (query: string, text: string, asked: AbortSignal): Promise<number> => {
      const { outputs } = await model.run([query, text], asked);
      const logits = outputs.logits ?? Object.values(outputs)[0];
      const logit = logits?.data.length === 1 ? Number(logits.data[0]) : Number.NaN;
      if (Number.isFinite(logit)) return 1 / (1 + Math.exp(-logit));
      throw unfit(`${id} gave no score`, 'Check that it is a cross-encoder with one output.');
    };
    await scoreOf('skill', 'skill', signal);
    return {
      id: `onnx/${id}`,
      async score(query, texts, asked) {
        asked.throwIfAborted();
        const scores: number[] = [];
        for (const text of texts) scores.push(await scoreOf(query, text, asked));
        return scores;
      },
      close: () => model.close(),
    };
  });
}
