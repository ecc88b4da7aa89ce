// Owns opening one ONNX model of a folder, with its tokenizer, and running one input through it. Knows no pooling and no score.
// Invariant: at most two threads; an abort between inputs stops it; closing frees the memory.
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
import { ModelError } from '../model-client.ts';
import { missingFiles } from './model-files.ts';
import { loadOnnxEngine, type OnnxEngine, type OnnxTensors } from './onnx-engine.ts';

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
  run(texts: readonly [string, string?], signal: AbortSignal): Promise<OnnxRun>;
  close(): Promise<void>;
}

export interface OnnxRun {
  readonly inputs: OnnxTensors;
  readonly outputs: OnnxTensors;
}

export type OnnxHead = 'AutoModel' | 'AutoModelForSequenceClassification';

const THREADS = 2;
/** Of the runtime: 4 is fatal errors alone. */
const SILENT = 4;

/** Throws ModelError: `model-unreachable` without the engine, `model-not-found` without a file, `model-bad-response` for a broken one. */
export async function openOnnxModel(files: OnnxModelFiles, head: OnnxHead, signal: AbortSignal): Promise<OnnxModel> {
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
