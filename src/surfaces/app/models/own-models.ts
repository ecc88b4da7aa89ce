// Owns the models of this machine as the owner sees them: what is installed at an Ollama server and as files of the home, which of them config.yaml
// names, changing that with a reload, and the figures of the Infra window. Knows no terminal. Invariants: config.yaml names a model only after it
// answered; what is not installed changes nothing; nobody but an address of one's own network is asked.
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { deadline } from '#base/abort.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ModelError } from '#core/model/model-client.ts';
import type { CommandDeps } from '../commands/command-deps.ts';
import { editConfig, loadConfig } from '../home/config.ts';
import type { Config } from '../home/config-schema.ts';
import { mergedVariables } from '../home/variables.ts';
import { withFix } from '../wording.ts';
import { testModel } from './add-model.ts';
import { plainClient } from './build-client.ts';
import {
  createLocalModels,
  createModelLists,
  findLocalModels,
  findProviders,
  localProvider,
} from './find-providers.ts';
import { HERMES, type Machine, USUAL_CONTEXT } from './local-advice.ts';
import { LOAD_MS, localEndpoint, reloading, reloadOf, type Switch, speeds } from './local-calls.ts';
import { configuredModel, configuredProvider } from './model-choice.ts';
import { ollamaAt } from './ollama.ts';
import { type FoundProvider, LOCAL_ENDPOINTS } from './provider-table.ts';

export type OwnTier = 'T1' | 'T2';
export type OwnSide = Awaited<ReturnType<typeof openOwnSide>>;

const [OLLAMA] = LOCAL_ENDPOINTS.map(localProvider) as [FoundProvider];
const OTHERS: ReadonlySet<string> = new Set(['llama-cpp', 'vllm', 'lm-studio']);

/** `server`: what answers the tier now, where that is an address of config.yaml on this machine, else Ollama. Throws `not-local`. */
export async function openOwnSide({ home, clock, environment }: Omit<CommandDeps, 'app'>, tier?: OwnTier) {
  const { config } = await loadConfig(home.config);
  const { providers } = findProviders(config, mergedVariables(home, environment));
  const [present = ''] = configuredId({ config }, tier)?.split('/') ?? [];
  const own = providers.find(({ name, local }) => name === present && local && !OTHERS.has(name));
  const server = own ?? providers.find(({ name }) => name === 'ollama') ?? OLLAMA;
  const { name, baseUrl, local } = server;
  const told = `${name} (${baseUrl}) is not on your own network: nothing was asked of it`;
  if (!local) throw new TalariaError(told, { code: 'not-local', fix: 'Correct providers.ollama.base_url.' });
  const engine = findLocalModels(home, config);
  const made = { lists: createModelLists(home.cache, clock), locals: createLocalModels(home) };
  return { home, clock, config, ...made, server, ollama: ollamaAt(baseUrl, clock), engine };
}

export interface OwnModel {
  /** As config.yaml and `-m` take it; `name`: as its server or engine knows it. */
  readonly id: string;
  readonly name: string;
  readonly quantisation: string;
  readonly bytes: number;
  readonly provider: FoundProvider;
}

/** Throws ModelError when the server does not answer; one that nobody started is no fault where there are files. */
export async function ownModels(side: OwnSide, signal: AbortSignal, ms?: number): Promise<readonly OwnModel[]> {
  const { server: provider } = side;
  const files = ownFiles(side);
  const installed = await side.ollama.installed(signal, ms).catch((error: unknown) => {
    if (files.length === 0 || !(error instanceof ModelError) || error.code !== 'model-unreachable') throw error;
    return [];
  });
  const served = installed.map(({ name, size, details }) => {
    const quantisation = details.quantization_level || quantisationOf(name);
    return { id: `${provider.name}/${name}`, name, quantisation, bytes: size, provider };
  });
  return [...served, ...files];
}

function ownFiles({ engine, home }: OwnSide): readonly OwnModel[] {
  return (engine?.files ?? []).map(({ model: name, path }) => {
    const place = resolve(home.models, path);
    const bytes = existsSync(place) ? statSync(place).size : 0;
    return { id: `llama/${name}`, name, quantisation: quantisationOf(name), bytes, provider: engine as FoundProvider };
  });
}

const QUANTISATION = /(?:^|[-_.:])(I?Q\d\w*|BF16|F16|F32)$/i;

function quantisationOf(name: string): string {
  return QUANTISATION.exec(name)?.[1]?.toUpperCase() ?? '';
}

/** `Q8_0` is that of the family of `present` when its tag is one too, else of Hermes 4.3; anything else is a name already. */
export function wholeName(typed: string, present = ''): string {
  const [family, tag = ''] = present.split(/:(?=[^:]*$)/);
  if (quantisationOf(typed) !== typed.toUpperCase()) return typed;
  return `${tag !== '' && quantisationOf(tag) === tag.toUpperCase() ? family : HERMES.repository}:${typed}`;
}

/** `provider/model` of what answers for a tier; without a tier of what answers the owner. */
export function configuredId({ config }: { readonly config: Config }, tier?: OwnTier): string | undefined {
  const { T1, T2 } = config.tiers;
  const model = configuredModel(config);
  const provider = configuredProvider(config);
  const own = model === undefined || !provider || model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
  if (!tier) return own ?? T2[0];
  return (tier === 'T1' ? [...T1, ...T2] : T2)[0] ?? own;
}

/** `share`: 0 to 1, by what loading so many bytes usually takes. */
function progressOf({ from, to, at, expectedMs }: Switch, now: number) {
  const elapsedMs = Math.max(0, now - at);
  return { from, to, elapsedMs, share: Math.min(0.95, elapsedMs / Math.max(1, expectedMs)) };
}

const STEP_MS = 250;
const [START_MS, BYTES_A_SECOND] = [2_000, 1.5e9];

/**
 * Loads `model` (a quantisation, or a name) and makes config.yaml name it; yields while it loads, when every request to its endpoint waits.
 * Refused: all is as it was. Throws ModelError when the server does not answer, and `locked` while another process loads a model.
 */
export async function* switchModel(
  side: OwnSide,
  { model: typed = '', tier }: { readonly model?: string | undefined; readonly tier?: OwnTier | undefined },
  signal: AbortSignal,
): AsyncGenerator<ReturnType<typeof progressOf>, Result<OwnModel, 'not-installed' | 'model-not-loaded'>> {
  const { clock } = side;
  const from = bareName(side, configuredId(side, tier));
  const name = wholeName(typed, from);
  const all = await ownModels(side, signal);
  const model = findOwn(all, name);
  const there = all.map(({ id }) => id).join(', ') || 'nothing';
  if (!model) return refuse('not-installed', `${name} is not here, but ${there}. First: talaria models pull ${name}`);
  const expectedMs = START_MS + (model.bytes / BYTES_A_SECOND) * 1000;
  const names = { endpoint: localEndpoint(model.provider), from, to: model.name };
  const row: Switch = { ...names, at: clock.now(), expectedMs, ...(tier ? { tier } : {}) };
  let result: Result<OwnModel, 'model-not-loaded'> | undefined;
  const load = async () => {
    await loadModel(side, model, signal);
    await keepModel(side, model, tier);
    result = ok(model);
  };
  const work = reloading(side, row, load).catch((error: unknown) => {
    if (!(error instanceof ModelError)) throw error;
    result = refuse('model-not-loaded', withFix(`${model.id} was not loaded: ${errorText(error)}`, error.fix));
  });
  while (result === undefined) {
    yield progressOf(row, clock.now());
    await Promise.race([work, clock.sleep(STEP_MS)]);
  }
  await work;
  return result;
}

/** As the server or the engine knows it. */
export function bareName({ server }: OwnSide, id = ''): string {
  const prefix = [`${server.name}/`, 'llama/'].find((own) => id.startsWith(own)) ?? '';
  return id.slice(prefix.length);
}

/** By id or name, `:latest` or not. */
export function findOwn(all: readonly OwnModel[], wanted = ''): OwnModel | undefined {
  const named = (name: string) => name.toLowerCase() === wanted.toLowerCase();
  return all.find(({ id, name }) => [id, name, name.replace(/:latest$/, '')].some(named));
}

/** It is loaded when it answers. */
async function loadModel(side: OwnSide, { provider, name }: OwnModel, parent: AbortSignal): Promise<void> {
  const late = () => new ModelError(`no answer within ${LOAD_MS / 1000} s`, { code: 'model-timeout' });
  const { signal, clear } = deadline(side.clock, parent, LOAD_MS, late);
  try {
    const tested = await testModel(plainClient(provider, name, { tier: 'T2', surroundings: side }), signal);
    if (!tested.ok) throw new ModelError(tested.detail, { code: 'model-none' });
  } finally {
    clear();
    await side.locals.close();
  }
}

/** Without a tier the new one stands wherever the old one stood. */
async function keepModel(side: OwnSide, { id, provider }: OwnModel, tier: OwnTier | undefined): Promise<void> {
  const { model, tiers } = side.config;
  const before = configuredId(side, tier) ?? '';
  const isMap = typeof model === 'object' && configuredProvider(side.config) === provider.name;
  const single = { path: isMap ? ['model', 'default'] : ['model'], value: id };
  const swapped = (['T1', 'T2'] as const).flatMap((name) => {
    const value = [...new Set(tiers[name].map((one) => (one === before ? id : one)))];
    return tiers[name].includes(before) ? [{ path: ['tiers', name], value }] : [];
  });
  const everywhere = model === undefined && tiers.T2.length > 0 ? swapped : [single, ...swapped];
  const first = (list: OwnTier) => [id, ...tiers[list].filter((one) => one !== id && one !== before)];
  const edits = tier ? [{ path: ['tiers', tier], value: first(tier) }] : everywhere;
  const edited = await editConfig(side.home.config, edits);
  if (!edited.ok) throw new TalariaError(`config.yaml was not changed: ${edited.detail}`, { code: edited.reason });
}

/**
 * What the Infra window shows; what nobody tells is null, zero or empty. `model`: id of what answers T2, when it is of this machine;
 * `tokensPerSecond`: of the last hour, oldest first; `context`: tokens of the last call and of its window, and what such calls (`of`) usually hold;
 * `memory`: bytes that models hold, of the graphics card where they are on one; `installed`: ids as `switchModel` takes them, in the order of the
 * keys 1, 2, 3; `warnings`: each with what to do.
 */
export function infraFigures(seen: Seen) {
  const { configured, models, loaded, speeds: rows, reload, machine } = seen;
  const model = models.find(({ id, name }) => id === configured || name === configured);
  const tokensPerSecond = rows.flatMap((row) => (row.model === model?.id ? (row.tokensPerSecond ?? []) : []));
  const { used = 0, size = 0, of = 'T2' } = rows.findLast((row) => row.used !== undefined) ?? {};
  const onCard = loaded.reduce((sum, { size_vram }) => sum + size_vram, 0);
  const held = onCard || loaded.reduce((sum, { size: bytes }) => sum + bytes, 0);
  const room = onCard > 0 && machine.gpu ? machine.gpu.memoryBytes : machine.memoryBytes;
  return {
    model: model?.id ?? null,
    quantisation: model?.quantisation || null,
    tokensPerSecond,
    context: { used, size, of, usual: USUAL_CONTEXT[of] },
    memory: loaded.length === 0 ? null : { used: held, size: room },
    installed: models.map(({ id }) => id),
    reloading: reload ? progressOf(reload, seen.now) : null,
    warnings: [...speedWarning(tokensPerSecond), ...seen.silent],
  };
}

const [RECENT, BEFORE, DROP] = [3, 5, 0.6];

/** A sudden drop: the last three answers against the middle one of at least five before. */
function speedWarning(tokensPerSecond: readonly number[]): readonly string[] {
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const [from, to] = [middle(tokensPerSecond.slice(0, -RECENT)), middle(tokensPerSecond.slice(-RECENT))];
  if (tokensPerSecond.length < RECENT + BEFORE || to >= from * DROP) return [];
  const why = 'heat may slow the machine, or another program takes its cores: look at both';
  return [`the speed fell from ${from.toFixed(1)} to ${to.toFixed(1)} tok/s; ${why}`];
}

const HOUR_MS = 3_600_000;
const LOOK_MS = 1_000;
type Seen = Awaited<ReturnType<typeof lookAtModels>>;

/** `silent`: why the server did not answer; it is waited for a second at most. */
export async function lookAtModels(side: OwnSide, machine: Pick<Machine, 'memoryBytes' | 'gpu'>, signal: AbortSignal) {
  const silent: string[] = [];
  const nothing = (error: unknown) => {
    if (!(error instanceof ModelError)) throw error;
    silent[0] = withFix(errorText(error), error.fix);
    return [];
  };
  const models = await ownModels(side, signal, LOOK_MS).catch(nothing);
  const loaded = await side.ollama.loaded(signal, LOOK_MS).catch(nothing);
  const kept = { speeds: speeds(side, HOUR_MS), reload: reloadOf(side), configured: configuredId(side, 'T2') };
  return { ...kept, models, loaded, silent, now: side.clock.now(), machine };
}
