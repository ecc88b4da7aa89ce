// Owns taking a model's files out of a folder that the owner gave. Knows no hub and no engine.
// Invariant: only files that the model needs are copied; links are followed, so that a hub's cache of links can be given as it is.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { neededFiles } from '#core/model/onnx/model-files.ts';
import type { WantedModel } from './wanted-model.ts';

/** Folders of `from` in which the model may lie, the likeliest first. */
export function foldersOf(from: string, { id, source, role }: WantedModel): readonly string[] {
  const names = [id, source].flatMap((name) => [name.replaceAll('/', '--'), name, basename(name)]);
  return [...new Set([...names, role])].map((name) => join(from, ...name.split('/')));
}

/** The first of them that is there; undefined when none is. */
export function findInFolder(from: string, wanted: WantedModel): string | undefined {
  return foldersOf(from, wanted).find((folder) => existsSync(folder));
}

/** Copies what is there of the needed files and of the weights that belong to the ONNX file. */
export function copyModel(folder: string, into: string, file: string): void {
  for (const name of [...neededFiles(file), ...weightsOf(folder, file)]) {
    if (!existsSync(join(folder, name))) continue;
    mkdirSync(dirname(join(into, name)), { recursive: true, mode: 0o700 });
    copyFileSync(join(folder, name), join(into, name));
    chmodSync(join(into, name), 0o600);
  }
}

/** Weights that lie beside a large ONNX file: `model.onnx_data`, `model.onnx_data_1`, … */
export function isWeightsOf(file: string, name: string): boolean {
  return name.startsWith(file) && /^[._]data(_\d{1,4})?$/.test(name.slice(file.length));
}

function weightsOf(folder: string, file: string): readonly string[] {
  const beside = dirname(file);
  if (!existsSync(join(folder, beside))) return [];
  return readdirSync(join(folder, beside))
    .map((name) => (beside === '.' ? name : `${beside}/${name}`))
    .filter((name) => isWeightsOf(file, name));
}
