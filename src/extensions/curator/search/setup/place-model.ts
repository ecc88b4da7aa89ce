// Owns bringing one model into the home: taken from a folder or the hub into a staging folder, checked there, then renamed into place.
// Invariant: what lies in the model's place is the old whole model or the new whole one; a failure leaves nothing behind.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { randomHex } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { openOnnxEmbedder } from '#core/model/embedders/onnx-embedder.ts';
import { findModelFolder, missingFiles, modelFolder } from '#core/model/onnx/model-files.ts';
import { onnxEngineFolder } from '#core/model/onnx/onnx-engine.ts';
import type { OnnxModelFiles } from '#core/model/onnx/open-onnx-model.ts';
import { openOnnxReranker } from '#core/model/rerankers/onnx-reranker.ts';
import type { SemanticConfig } from '../semantic-config.ts';
import { semanticRuntime } from '../semantic-config.ts';
import { fetchModel, type ModelHub } from './model-hub.ts';
import { copyModel, findInFolder, foldersOf } from './model-source.ts';
import type { WantedModel } from './wanted-model.ts';

export interface PlaceGround extends CheckGround {
  readonly models: string;
  readonly hub: ModelHub;
  /** Folder with the models; without it the hub is asked. */
  readonly from: string | undefined;
}

export interface PlacedModel {
  readonly folder: string;
  readonly how: 'was there' | 'copied' | 'fetched';
  /** What it answered, in words. */
  readonly answer: string;
}

/** Throws what the hub, the engine and the disk throw. */
export async function placeModel(
  wanted: WantedModel,
  ground: PlaceGround,
  signal: AbortSignal,
): Promise<Result<PlacedModel, 'model-files-missing'>> {
  const place = modelFolder(ground.models, wanted.id);
  mkdirSync(ground.models, { recursive: true, mode: 0o700 });
  clearRemains(ground.models, place);
  const present = findModelFolder(ground.models, wanted.id);
  if (ground.from === undefined && missingFiles(present, wanted.file).length === 0) {
    return ok({ folder: present, how: 'was there', answer: await checkModel(present, wanted, ground, signal) });
  }
  const staging = join(ground.models, `${STAGING}${randomHex(4)}`);
  mkdirSync(staging, { mode: 0o700 });
  try {
    const filled = await fill(staging, wanted, ground, signal);
    if (!filled.ok) return filled;
    const answer = await checkModel(staging, wanted, ground, signal);
    swap(staging, place);
    return ok({ folder: place, how: ground.from === undefined ? 'fetched' : 'copied', answer });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const STAGING = '.staging-';
const REPLACED = '.replaced-';

async function fill(
  staging: string,
  wanted: WantedModel,
  { from, hub }: PlaceGround,
  signal: AbortSignal,
): Promise<Result<unknown, 'model-files-missing'>> {
  if (from !== undefined) {
    const found = modelIn(from, wanted);
    if (!found.ok) return found;
    copyModel(found.value, staging, wanted.file);
    return ok(undefined);
  }
  await fetchModel(hub, { wanted, into: staging }, signal);
  return wholeModel(staging, wanted, `${hub.endpoint}/${wanted.source}`);
}

/** The folder below `from` that holds all files of the model. */
export function modelIn(from: string, wanted: WantedModel): Result<string, 'model-files-missing'> {
  const folder = findInFolder(from, wanted);
  if (folder !== undefined) return wholeModel(folder, wanted, folder);
  const tried = new Set(foldersOf(from, wanted).map((place) => basename(place)));
  const looked = existsSync(from) ? `${from} has no folder of ${wanted.id}` : `there is no folder ${from}`;
  return refuse('model-files-missing', `${looked} (looked for ${[...tried].join(', ')})`);
}

function wholeModel(folder: string, { file }: WantedModel, named: string): Result<string, 'model-files-missing'> {
  const missing = missingFiles(folder, file);
  if (missing.length === 0) return ok(folder);
  return refuse('model-files-missing', `${named} has no ${missing.join(', no ')}`);
}

/** Between the two renames the old model waits under another name, from which `clearRemains` brings it back. */
function swap(staging: string, place: string): void {
  const aside = join(place, '..', `${REPLACED}${basename(place)}`);
  if (existsSync(place)) renameSync(place, aside);
  renameSync(staging, place);
  rmSync(aside, { recursive: true, force: true });
}

function clearRemains(models: string, place: string): void {
  const aside = join(models, `${REPLACED}${basename(place)}`);
  if (existsSync(aside) && !existsSync(place)) renameSync(aside, place);
  rmSync(aside, { recursive: true, force: true });
  for (const name of readdirSync(models)) {
    if (name.startsWith(STAGING)) rmSync(join(models, name), { recursive: true, force: true });
  }
}

interface CheckGround {
  readonly engines: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly config: SemanticConfig;
}

const QUERY = 'restart the gateway';
const TEXT = 'How to restart the gateway service and read its log.';

/** What it answered, in words. Throws ModelError. */
async function checkModel(
  folder: string,
  { role, file }: WantedModel,
  ground: CheckGround,
  signal: AbortSignal,
): Promise<string> {
  const { embedding, reranker } = ground.config;
  const files: OnnxModelFiles = {
    ...{ folder, file, engineFolder: onnxEngineFolder(ground.engines) },
    device: semanticRuntime(ground.variables).device,
    maxLength: role === 'embedding' ? embedding.max_length : reranker.max_length,
    fix: 'Run: talaria curator setup-semantic',
  };
  if (role === 'embedding') {
    const { id, pooling } = embedding;
    const model = await openOnnxEmbedder({ id, pooling, files }, signal);
    await model.close();
    return `gives vectors of ${model.dimensions} numbers`;
  }
  const model = await openOnnxReranker({ id: reranker.id, files }, signal);
  try {
    const [score] = await model.score(QUERY, [TEXT], signal);
    return `gives scores (${score?.toFixed(4)} for a text that fits)`;
  } finally {
    await model.close();
  }
}
