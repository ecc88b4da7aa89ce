// Owns the steps of `setup-semantic`: the engine, then each model, each told as it is done. Knows no command.
// Invariant: one set-up at a time in a home; a model that fails does not keep the other one from its place.
import { join } from 'node:path';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import type { Refusal } from '#base/result.ts';
import { onnxEngineFolder } from '#core/model/onnx/onnx-engine.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { SemanticConfig } from '../semantic-config.ts';
import { installOnnxEngine } from './install-onnx-engine.ts';
import { modelHub } from './model-hub.ts';
import { modelIn, type PlaceGround, placeModel } from './place-model.ts';
import { type WantedModel, wantedModels } from './wanted-model.ts';

export interface SemanticSetup {
  readonly ground: Pick<CuratorGround, 'clock' | 'variables'> & {
    readonly places: Pick<CuratorGround['places'], 'engines' | 'models'>;
  };
  readonly config: SemanticConfig;
  readonly from: string | undefined;
  readonly engineOnly: boolean;
  readonly machine: { readonly platform: string; readonly architecture: string };
}

export interface SetupStep {
  readonly step: 'engine' | 'embedding' | 'reranker';
  readonly ok: boolean;
  /** What lies there or what is missing, one sentence without its full stop. */
  readonly text: string;
  /** Set when it failed. */
  readonly code?: string;
  readonly fix?: string;
}

const LOCK_WAIT_MS = 5_000;

/** Ends early when the named folder holds none of the models, or the engine fails: nothing could be checked without it. */
export async function* setUpSemantic(setup: SemanticSetup, signal: AbortSignal): AsyncGenerator<SetupStep> {
  const { engines, models } = setup.ground.places;
  const lacking = setup.engineOnly ? [] : lackingModels(setup);
  if (lacking.length > 0) {
    yield* lacking;
    return;
  }
  const engine = await attempt('engine', signal, () => engineStep(setup, signal));
  yield engine;
  if (!engine.ok || setup.engineOnly) return;
  const { clock, variables } = setup.ground;
  const { config, from } = setup;
  const ground: PlaceGround = { models, engines, variables, config, from, hub: modelHub(variables, clock) };
  for (const wanted of wantedModels(config)) {
    yield await attempt(wanted.role, signal, () =>
      withFileLock(join(models, '.setup.lock'), () => modelStep(wanted, ground, signal), {
        ...{ clock, signal, waitMs: LOCK_WAIT_MS },
      }),
    );
  }
}

/** Empty while at least one model can be taken from the folder that was named. */
function lackingModels({ from, config }: SemanticSetup): readonly SetupStep[] {
  if (from === undefined) return [];
  const steps = wantedModels(config).flatMap((wanted) => {
    const found = modelIn(from, wanted);
    return found.ok ? [] : [missingStep(wanted, from, found)];
  });
  return steps.length === wantedModels(config).length ? steps : [];
}

function missingStep(wanted: WantedModel, from: string | undefined, { reason, detail }: Refusal<string>): SetupStep {
  const fix =
    from === undefined
      ? 'Name a repository that has them as curator.semantic in the configuration, or give the files with --from.'
      : `Put the files of ${wanted.source} into a folder ${wanted.id.replaceAll('/', '--')} there, then run it again.`;
  return { step: wanted.role, ok: false, code: reason, text: detail, fix };
}

async function engineStep({ ground, machine }: SemanticSetup, signal: AbortSignal): Promise<SetupStep> {
  const { engines } = ground.places;
  const isNew = await installOnnxEngine({ engines, variables: ground.variables, ...machine }, signal);
  const text = `the engine ${isNew ? 'is installed' : 'was there'}: ${onnxEngineFolder(engines)}`;
  return { step: 'engine', ok: true, text };
}

async function modelStep(wanted: WantedModel, ground: PlaceGround, signal: AbortSignal): Promise<SetupStep> {
  const step = wanted.role;
  const placed = await placeModel(wanted, ground, signal);
  if (placed.ok) {
    const { how, answer, folder } = placed.value;
    return { step, ok: true, text: `${wanted.id} ${how} and ${answer}: ${folder}` };
  }
  return missingStep(wanted, ground.from, placed);
}

/** What a step throws is its failure; an abort ends everything. */
async function attempt(
  step: SetupStep['step'],
  signal: AbortSignal,
  run: () => Promise<SetupStep>,
): Promise<SetupStep> {
  try {
    return await run();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const fix = error instanceof TalariaError ? error.fix : undefined;
    const code = errorCode(error) ?? 'setup-failed';
    return { step, ok: false, code, text: errorText(error), ...(fix ? { fix } : {}) };
  }
}
