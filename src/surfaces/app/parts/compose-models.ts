// Owns composing the models of one run: variables, providers, local endpoints, the desk. Knows no conversation.
// Invariant: local ports are asked only when nothing else is set up; keys stay inside the providers.
import type { Clock } from '#base/clock.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import type { AppOptions } from '../app.ts';
import { EXTENSIONS } from '../extensions.ts';
import { type LoadedConfig, loadConfig } from '../home/config.ts';
import type { Config } from '../home/config-schema.ts';
import { readEnvFile } from '../home/env-file.ts';
import type { Home } from '../home/home.ts';
import type { ClientSurroundings } from '../models/build-client.ts';
import { fillVariables, findProviders, proxyProblem, type Variables } from '../models/find-providers.ts';
import type { FoundProvider } from '../models/found-provider.ts';
import { createLocalModels, findLocalModels } from '../models/local-models.ts';
import { firstChoice, type ModelGround } from '../models/model-choice.ts';
import { type ModelDesk, openModelDesk } from '../models/model-desk.ts';
import { createModelLists, type ModelLists } from '../models/model-lists.ts';
import { PROVIDERS } from '../models/provider-table.ts';
import { withFix } from '../with-fix.ts';
import type { Background } from './background.ts';
import { commandVariables, looksSecret } from './command-variables.ts';

export interface ModelParts {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly clock: Clock;
  readonly background: Background;
  readonly reflex: ModelClient;
  readonly notice: (text: string) => void;
  /** Work for after the first turn. */
  readonly later: (name: string, work: () => Promise<unknown>) => void;
}

export interface ComposedModels {
  readonly desk: ModelDesk;
  readonly surroundings: ClientSurroundings;
}

/** The environment of the process, its keys too, over the home's .env; an empty variable counts as not set. For who signs requests. */
export function mergedVariables(home: Home, { variables, keyring }: AppOptions['environment']): Variables {
  const set = Object.entries(variables).filter(([, value]) => value !== undefined && value !== '');
  return { ...readEnvFile(home.env), ...keyring?.values(), ...Object.fromEntries(set) };
}

/** `memory.env` as it is written. */
type GivenEnv = Readonly<Record<string, string>>;

/**
 * Values that may stand nowhere but in .env: everything of .env, also what the environment hides, every key of a known provider, what
 * else of the environment has the look of a secret, and what `memory.env` gives as one, filled in.
 */
export function secretValues(home: Home, variables: Variables, given: GivenEnv = {}): readonly string[] {
  const kept = readEnvFile(home.env);
  const looks = Object.entries(variables).filter(([name, value = '']) => looksSecret(name, value));
  const names = new Set([...Object.keys(kept), ...secretNames(), ...looks.map(([name]) => name)]);
  const filled = secretEntries(given).map((text) => fillVariables(text, variables));
  const values = new Set([
    ...Object.values(kept),
    ...[...names].flatMap((name) => variables[name] ?? []),
    ...filled.flatMap((value) => (value.ok ? [value.value] : [])),
  ]);
  return [...values].filter((value) => value.length >= 8).sort((a, b) => b.length - a.length);
}

/** What commands get to see (command-variables.ts): of the process's environment alone, and no key of this home. */
export function childEnvironment(
  home: Home,
  { variables, keyring }: AppOptions['environment'],
  { memory, sandbox }: Pick<Config, 'memory' | 'sandbox'>,
): Variables {
  const refers = (text: string) => [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const hidden = new Set([
    ...Object.keys(readEnvFile(home.env)),
    ...secretNames(),
    ...secretEntries(memory.env).flatMap(refers),
  ]);
  return commandVariables({ ...keyring?.values(), ...variables }, { named: sandbox.env, hidden });
}

function secretEntries(given: GivenEnv): readonly string[] {
  return ofExtensions().flatMap((name) => given[name] ?? []);
}

function ofExtensions(): readonly string[] {
  return EXTENSIONS.flatMap(({ provider }) => provider?.secrets ?? []);
}

function secretNames(): readonly string[] {
  return [...PROVIDERS.flatMap((row) => row.keyVariables), ...ofExtensions()];
}

/** Throws TalariaError `missing-key`, `no-provider` or `no-model` when `--model` names what cannot be had. */
export async function composeModels(options: AppOptions, parts: ModelParts): Promise<ComposedModels> {
  const { home, loaded, clock, background, notice, reflex } = parts;
  const lists = createModelLists(home.cache, clock);
  const variables = mergedVariables(home, options.environment);
  const search = findProviders(loaded.config, variables, findLocalModels(home, loaded.config));
  for (const { message, fix } of search.problems) notice(withFix(message, fix));
  const unheard = proxyProblem(variables);
  if (unheard) notice(unheard);
  const fixed = options.extra?.client;
  const isAlone = firstChoice(search.providers) === undefined && fixed === undefined && options.model !== 'reflex';
  const providers = [...(isAlone ? await findLocal(lists, parts) : []), ...search.providers];
  const surroundings = { home, config: loaded.config, clock, lists, locals: createLocalModels(home) };
  const desk = await openModelDesk(
    {
      surroundings,
      providers,
      problems: search.problems,
      reflex,
      ...(options.model === undefined ? {} : { flag: options.model }),
      ...(fixed ? { fixed } : {}),
      notice,
      later: parts.later,
    },
    background.signal,
  );
  return { desk, surroundings };
}

/** Providers and lists of a home as a run would find them, for whoever only looks a name up. */
export async function knownModels({ home, environment, clock }: KnownIn, signal: AbortSignal): Promise<ModelGround> {
  const { config } = await loadConfig(home.config);
  const lists = createModelLists(home.cache, clock);
  const found = findProviders(config, mergedVariables(home, environment), findLocalModels(home, config));
  const cached = lists.cachedLocal() ?? [];
  const isAlone = firstChoice(found.providers) === undefined;
  const local = isAlone && cached.length === 0 ? await lists.probeLocal(signal) : cached;
  return {
    providers: [...(isAlone ? local : []), ...found.providers],
    problems: found.problems,
    modelsFolder: home.models,
    listed: ({ baseUrl }) => lists.cached(baseUrl).map(({ id }) => id),
  };
}

interface KnownIn extends Pick<ModelParts, 'home' | 'clock'> {
  readonly environment: AppOptions['environment'];
}

/** Servers that were there last time are used at once and looked for again after the first turn; else each port is asked, briefly. */
async function findLocal(lists: ModelLists, { background, later }: ModelParts): Promise<readonly FoundProvider[]> {
  const cached = lists.cachedLocal();
  if (!cached?.length) return await lists.probeLocal(background.signal);
  later('look for local endpoints', () => lists.probeLocal(AbortSignal.timeout(1_000)));
  return cached;
}
