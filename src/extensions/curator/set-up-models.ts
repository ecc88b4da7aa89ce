// Owns `setup-semantic`: the engine, then each of the two models brought into the home, from a folder of the owner's or plainly from a hub, tried,
// and each step told as it is done.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { deadline, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { ownPath, SYSTEM_PATH } from '#base/paths/typed-path.ts';
import { withFileLock } from '#base/platform.ts';
import { type ProcessResult, runProcess } from '#base/process.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { Ground } from '#core/agent/room.ts';
import {
  findModelFolder,
  missingFiles,
  modelFolder,
  neededFiles,
  ONNX_ENGINE_VERSION,
  onnxEngineFolder,
} from '#core/model/onnx.ts';
import { openEmbedder, openReranker, type SemanticGround } from './rank-skills.ts';
import type { SemanticConfig } from './skill-search.ts';

type SetupGround = SemanticGround & { readonly clock: Clock };

export interface SemanticSetup {
  readonly ground: SetupGround;
  readonly config: SemanticConfig;
  /** Folder with the models; without it the hub is asked. */
  readonly from: string | undefined;
  readonly engineOnly: boolean;
  readonly machine: Machine;
}

export interface SetupStep {
  readonly step: 'engine' | 'embedding' | 'reranker';
  readonly ok: boolean;
  /** What lies there or what is missing, one sentence without its full stop. */
  readonly text: string;
  readonly code?: string;
  readonly fix?: string;
}

const LOCK_WAIT_MS = 5_000;

/** Ends early when the named folder holds none of the models, or the engine fails: nothing could be checked without it. */
export async function* setUpSemantic(setup: SemanticSetup, signal: AbortSignal): AsyncGenerator<SetupStep> {
  const { ground, engineOnly, machine } = setup;
  const { engines, models } = ground.places;
  const wanted = wantedModels(setup);
  const lacking = engineOnly ? [] : wanted.flatMap((model) => lackingStep(model, setup));
  if (lacking.length === wanted.length) {
    yield* lacking;
    return;
  }
  const engine = await attempt('engine', signal, async () => {
    const isNew = await installOnnxEngine(engines, ground.variables, machine, signal);
    const text = `the engine ${isNew ? 'is installed' : 'was there'}: ${onnxEngineFolder(engines)}`;
    return { step: 'engine', ok: true, text };
  });
  yield engine;
  if (!engine.ok || engineOnly) return;
  for (const model of wanted) {
    yield await attempt(model.role, signal, () =>
      withFileLock(join(models, '.setup.lock'), () => modelStep(model, setup, signal), {
        ...{ clock: ground.clock, signal, waitMs: LOCK_WAIT_MS },
      }),
    );
  }
}

type WantedModel = SemanticConfig['embedding' | 'reranker'] & { readonly role: 'embedding' | 'reranker' };

function wantedModels({ config }: SemanticSetup): readonly WantedModel[] {
  return [
    { role: 'embedding', ...config.embedding },
    { role: 'reranker', ...config.reranker },
  ];
}

function lackingStep(wanted: WantedModel, { from }: SemanticSetup): readonly SetupStep[] {
  const found = from === undefined ? ok('') : modelIn(from, wanted);
  return found.ok ? [] : [missingStep(wanted, from, found)];
}

function missingStep(wanted: WantedModel, from: string | undefined, { reason, detail }: Refusal<string>): SetupStep {
  const fix =
    from === undefined
      ? 'Name a repository that has them as curator.semantic in the configuration, or give the files with --from.'
      : `Put the files of ${wanted.source} into a folder ${wanted.id.replaceAll('/', '--')} there, then run it again.`;
  return { step: wanted.role, ok: false, code: reason, text: detail, fix };
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

async function modelStep(wanted: WantedModel, setup: SemanticSetup, signal: AbortSignal): Promise<SetupStep> {
  const { models } = setup.ground.places;
  const { id, file, role } = wanted;
  const done = (folder: string, how: string, answer: string): SetupStep => ({
    ...{ step: role, ok: true, text: `${id} ${how} and ${answer}: ${folder}` },
  });
  const place = modelFolder(models, id);
  mkdirSync(models, { recursive: true, mode: 0o700 });
  clearRemains(models, place);
  const present = findModelFolder(models, id);
  if (setup.from === undefined && missingFiles(present, file).length === 0)
    return done(present, 'was there', await checkModel(present, role, setup, signal));
  const staging = join(models, `${STAGING}${randomHex(4)}`);
  mkdirSync(staging, { mode: 0o700 });
  try {
    const filled = await fill(staging, wanted, setup, signal);
    if (!filled.ok) return missingStep(wanted, setup.from, filled);
    const answer = await checkModel(staging, role, setup, signal);
    swap(staging, place);
    return done(place, setup.from === undefined ? 'fetched' : 'copied', answer);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const STAGING = '.staging-';
const REPLACED = '.replaced-';

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

async function checkModel(
  folder: string,
  role: WantedModel['role'],
  { ground, config }: SemanticSetup,
  signal: AbortSignal,
): Promise<string> {
  if (role === 'embedding') {
    const model = await openEmbedder(ground, config, signal, folder);
    await model.close();
    return `gives vectors of ${model.dimensions} numbers`;
  }
  const model = await openReranker(ground, config, signal, folder);
  try {
    const text = 'How to restart the gateway service and read its log.';
    const [score] = await model.score('restart the gateway', [text], signal);
    return `gives scores (${score?.toFixed(4)} for a text that fits)`;
  } finally {
    await model.close();
  }
}

async function fill(
  staging: string,
  wanted: WantedModel,
  { from, ground }: SemanticSetup,
  signal: AbortSignal,
): Promise<Result<unknown, 'model-files-missing'>> {
  if (from === undefined) {
    await fetchModel(ground, wanted, staging, signal);
    return wholeModel(staging, wanted.file, `${endpointOf(ground)}/${wanted.source}`);
  }
  const found = modelIn(from, wanted);
  if (found.ok) copyModel(found.value, staging, wanted.file);
  return found;
}

/** The folder below `from` that holds all files of the model, the likeliest first. */
function modelIn(from: string, { id, source, role, file }: WantedModel): Result<string, 'model-files-missing'> {
  const names = [id, source].flatMap((name) => [name.replaceAll('/', '--'), name, basename(name)]);
  const folders = [...new Set([...names, role])].map((name) => join(from, ...name.split('/')));
  const folder = folders.find((one) => existsSync(one));
  if (folder !== undefined) return wholeModel(folder, file, folder);
  const tried = new Set(folders.map((place) => basename(place)));
  const looked = existsSync(from) ? `${from} has no folder of ${id}` : `there is no folder ${from}`;
  return refuse('model-files-missing', `${looked} (looked for ${[...tried].join(', ')})`);
}

function wholeModel(folder: string, file: string, named: string): Result<string, 'model-files-missing'> {
  const missing = missingFiles(folder, file);
  if (missing.length === 0) return ok(folder);
  return refuse('model-files-missing', `${named} has no ${missing.join(', no ')}`);
}

function copyModel(folder: string, into: string, file: string): void {
  const beside = dirname(file);
  const there = existsSync(join(folder, beside)) ? readdirSync(join(folder, beside)) : [];
  const weights = there.map((name) => (beside === '.' ? name : `${beside}/${name}`)).filter(isWeightsOf(file));
  for (const name of [...neededFiles(file), ...weights]) {
    if (!existsSync(join(folder, name))) continue;
    mkdirSync(dirname(join(into, name)), { recursive: true, mode: 0o700 });
    copyFileSync(join(folder, name), join(into, name));
    chmodSync(join(into, name), 0o600);
  }
}

/** Weights that lie beside a large ONNX file: `model.onnx_data`, `model.onnx_data_1`, … */
function isWeightsOf(file: string): (name: string) => boolean {
  return (name) => name.startsWith(file) && /^[._]data(_\d{1,4})?$/.test(name.slice(file.length));
}

const IDLE_MS = 60_000;

function endpointOf({ variables }: SetupGround): string {
  return (variables.HF_ENDPOINT?.trim() || 'https://huggingface.co').replace(/\/+$/, '');
}

const listing = z.array(
  z.looseObject({
    path: z.string(),
    size: z.number().int().nonnegative().optional(),
    lfs: z.looseObject({ oid: z.string() }).optional(),
  }),
);

async function fetchModel(
  ground: SetupGround,
  { source, file }: WantedModel,
  into: string,
  signal: AbortSignal,
): Promise<void> {
  const needed = new Set(neededFiles(file));
  const isWeights = isWeightsOf(file);
  const list = { url: `api/models/${source}/tree/main?recursive=true`, what: `the files of ${source}` };
  const read = async (response: Response) => {
    const parsed = parseJson(await response.text());
    const files = listing.safeParse(parsed.ok ? parsed.value : undefined);
    if (!files.success) throw new TypeError('the answer is no list of files');
    return files.data;
  };
  for (const one of await exchange(ground, list, read, signal)) {
    const { path } = one;
    if (!needed.has(path) && !isWeights(path)) continue;
    const asked = { url: `${source}/resolve/main/${path}`, what: path };
    await exchange(ground, asked, (response, touch) => keep(response, touch, one, join(into, path)), signal);
  }
}

async function keep(
  response: Response,
  touch: () => void,
  { size: listed, lfs }: z.infer<typeof listing>[number],
  place: string,
): Promise<void> {
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  let size = 0;
  const watch = async function* (body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    for await (const chunk of body) {
      touch();
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  };
  await pipeline(watch(response.body ?? []), createWriteStream(place, { mode: 0o600 }));
  if (listed !== undefined && size !== listed) throw new TypeError(`${size} bytes came, not ${listed}`);
  const known = lfs?.oid.replace(/^sha256:/, '');
  if (known !== undefined && hash.digest('hex') !== known) throw new TypeError('its SHA-256 is not the listed one');
}

async function exchange<T>(
  ground: SetupGround,
  { url, what }: { readonly url: string; readonly what: string },
  read: (response: Response, touch: () => void) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { clock, variables } = ground;
  const endpoint = endpointOf(ground);
  const idle = deadline(clock, signal, IDLE_MS, () => new Error(`nothing came for ${IDLE_MS / 1_000} s`));
  try {
    const token = variables.HF_TOKEN?.trim();
    const headers = { 'user-agent': 'talaria', ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const response = await fetch(`${endpoint}/${url}`, { headers, signal: idle.signal });
    if (!response.ok) throw new TypeError(`status ${response.status}`);
    return await read(response, idle.touch);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new TalariaError(`${endpoint} did not give ${what}: ${errorText(cause)}`, {
      code: 'model-hub-failed',
      retryable: true,
      cause: error,
      fix: 'Name another hub with HF_ENDPOINT, or fetch the files elsewhere and give their folder with --from.',
    });
  } finally {
    idle.clear();
  }
}

export const ENGINE_FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify(
    {
      private: true,
      description: 'The engine for local ONNX models of Talaria. This folder can be deleted and installed again.',
      dependencies: { '@huggingface/transformers': ONNX_ENGINE_VERSION },
      // It imports an image library at the top and brings a browser build of 140 MB; ranking text needs neither.
      overrides: { sharp: 'file:./absent', 'onnxruntime-web': 'file:./absent' },
    },
    null,
    2,
  )}\n`,
  'absent/package.json': '{"name":"absent","version":"1.0.0","type":"module","main":"absent.js"}\n',
  'absent/absent.js': "export default function absent() {\n  throw new Error('left out: only text is read here');\n}\n",
};

const NPM_INSTALL = [
  ...['npm', 'install', '--omit=optional', '--ignore-scripts', '--install-links'],
  ...['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'],
] as const;

/** Of the runtime's binaries, 290 MB for all platforms, only `<platform>/<architecture>` below each of these folders is kept. */
const BINARIES = 'node_modules/onnxruntime-node/bin';

/** Node's names, e.g. `linux` and `x64`. */
interface Machine {
  readonly platform: string;
  readonly architecture: string;
}

const TIMEOUT_MS = 900_000;
const ENGINE_STAGING = '.staging-onnx-';

/** True when it was installed now, false when it was there. Throws TalariaError `engine-install-failed` or `engine-unsupported`. */
export async function installOnnxEngine(
  engines: string,
  variables: Ground['variables'],
  machine: Machine,
  signal: AbortSignal,
): Promise<boolean> {
  const folder = onnxEngineFolder(engines);
  if (existsSync(folder)) return false;
  return withFileLock(
    join(engines, '.onnx-install.lock'),
    async () => {
      if (existsSync(folder)) return false;
      for (const name of readdirSync(engines)) if (name.startsWith(ENGINE_STAGING)) remove(join(engines, name));
      const staging = join(engines, `${ENGINE_STAGING}${randomHex(4)}`);
      try {
        await fillEngine(staging, variables, signal);
        keepBinary(join(staging, BINARIES), machine);
        renameSync(staging, folder);
        return true;
      } finally {
        remove(staging);
      }
    },
    { waitMs: TIMEOUT_MS, signal },
  );
}

async function fillEngine(staging: string, variables: Ground['variables'], signal: AbortSignal): Promise<void> {
  for (const [name, text] of Object.entries(ENGINE_FILES)) {
    mkdirSync(dirname(join(staging, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(staging, name), text, { mode: 0o600 });
  }
  const PATH = ownPath(variables.PATH ?? SYSTEM_PATH);
  const env = { ...withoutKeys(variables), PATH, ONNXRUNTIME_NODE_INSTALL: 'skip' };
  const done = await runProcess({ argv: NPM_INSTALL, cwd: staging, env, limits: { timeoutMs: TIMEOUT_MS } }, signal);
  throwIfAborted(signal);
  if (done.ended !== 'exit' || done.exitCode !== 0) throw npmFailed(done);
}

/** npm's own settings may hold the key of a private registry. */
function withoutKeys(variables: Ground['variables']): Ground['variables'] {
  const isKey = (name: string) =>
    name === 'NODE_COMPILE_CACHE' || (/KEY|TOKEN|SECRET|PASSWORD/i.test(name) && !/^npm_/i.test(name));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !isKey(name)));
}

function keepBinary(binaries: string, { platform, architecture }: Machine): void {
  const found = readdirSync(binaries).flatMap((api) =>
    readdirSync(join(binaries, api)).flatMap((system) =>
      readdirSync(join(binaries, api, system)).map((processor) => ({ api, system, processor })),
    ),
  );
  const isOurs = (one: { system: string; processor: string }) =>
    one.system === platform && one.processor === architecture;
  if (!found.some(isOurs)) {
    throw new TalariaError(`the engine for local models has no binary for ${platform} ${architecture}`, {
      code: 'engine-unsupported',
      fix: 'Skills are ranked by words and by evidence here.',
    });
  }
  for (const one of found) if (!isOurs(one)) remove(join(binaries, one.api, one.system, one.processor));
}

function npmFailed({ ended, exitCode, error, output }: ProcessResult): TalariaError {
  const how = error ?? (ended === 'exit' ? `exit ${exitCode}` : ended);
  const said = output.text
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!)\s*/i, '').trim())
    .find((line) => line !== '' && !/^(code|errno|syscall|path|command) /.test(line));
  return new TalariaError(
    `npm could not install the engine for local models (${how})${said ? `: ${redactSecrets(said)}` : ''}`,
    {
      code: 'engine-install-failed',
      retryable: true,
      fix: 'Check that npm is installed and can reach its registry, then run it again.',
    },
  );
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
