// Owns where an ONNX model lies below a folder of models, and which files make it whole. Knows no engine.
// Invariant: a model of which a file is missing is never loaded; the missing ones are named.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

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
