// Owns composing the models of one run: variables, providers, local endpoints, the desk. Knows no conversation.
// Invariant: local ports are asked only when nothing else is set up; keys stay inside the providers.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { createCascade } from '#core/model/cascade.ts';
import type { ModelClient, Tier } from '#core/model/model-client.ts';
import type { Pay } from '#core/model/providers/provider-options.ts';
import type { AppOptions, ModelInfo } from '../app.ts';
import { type LoadedConfig, loadConfig } from '../home/config.ts';
import type { Home } from '../home/home.ts';
import { mergedVariables } from '../home/variables.ts';
import type { Background } from '../place.ts';
import { withFix } from '../wording.ts';
import { absentClient, buildClient, type ClientSurroundings, UNNAMED_MODEL } from './build-client.ts';
import {
  createLocalModels,
  createModelLists,
  findLocalModels,
  findProviders,
  type ModelLists,
  type ProviderProblem,
  proxyProblem,
} from './find-providers.ts';
import {
  type ChoiceRefusal,
  cannotAnswer,
  configuredModel,
  configuredProvider,
  firstChoice,
  isReflex,
  type ModelChoice,
  type ModelGround,
  named,
  serves,
  unplacedTiers,
} from './model-choice.ts';
import type { FoundProvider } from './provider-table.ts';

export interface ModelParts {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly clock: Clock;
  readonly background: Background;
  readonly reflex: ModelClient;
  readonly notice: (text: string) => void;
  readonly pay: Pay;
  /** Work for after the first turn. */
  readonly later: (name: string, work: () => Promise<unknown>) => void;
}

export interface ComposedModels {
  readonly desk: ModelDesk;
  readonly surroundings: ClientSurroundings;
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
  const surroundings = { home, config: loaded.config, clock, lists, locals: createLocalModels(home), pay: parts.pay };
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
export async function knownModels(
  { home, environment, clock }: Pick<ModelParts, 'home' | 'clock'> & Pick<AppOptions, 'environment'>,
  signal: AbortSignal,
): Promise<ModelGround> {
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

/** Servers that were there last time are used at once and looked for again after the first turn; else each port is asked, briefly. */
async function findLocal(lists: ModelLists, { background, later }: ModelParts): Promise<readonly FoundProvider[]> {
  const cached = lists.cachedLocal();
  if (!cached?.length) return await lists.probeLocal(background.signal);
  later('look for local endpoints', () => lists.probeLocal(AbortSignal.timeout(1_000)));
  return cached;
}

// Which model answers now, and the cascades per tier (design 5): the lists of config.yaml. Knows no conversation.
// Invariant: the model that was chosen answers, or nobody; only where nothing at all is set up it is the reflex, named as such.

interface ModelDesk {
  /** For answers of the owner's turns. */
  readonly current: () => ModelClient;
  readonly forTier: (tier: Tier) => ModelClient;
  /** `provider/model`, as for `switchTo`, without switching; never asks the network. */
  readonly byName: (name: string) => Result<ModelClient, ChoiceRefusal>;
  readonly info: () => ModelInfo;
  readonly list: () => readonly ModelInfo[];
  readonly providers: () => readonly FoundProvider[];
  switchTo(name: string, signal: AbortSignal): Promise<Result<ModelInfo, ChoiceRefusal>>;
  /** Takes up a provider that was set up meanwhile and answers with it. */
  adopt(provider: FoundProvider, model: string, reason: string): ModelInfo;
  /** Frees what local engines hold. */
  close(): Promise<void>;
}

export interface DeskOptions {
  readonly surroundings: ClientSurroundings;
  readonly providers: readonly FoundProvider[];
  /** Providers of config.yaml that cannot be used. */
  readonly problems?: readonly ProviderProblem[];
  readonly reflex: ModelClient;
  /** `--model`. */
  readonly flag?: string;
  /** Used instead of every provider. */
  readonly fixed?: ModelClient;
  readonly notice: (text: string) => void;
  /** Work for after the first turn: nothing may stand before the first request. */
  readonly later: (name: string, work: () => Promise<unknown>) => void;
}

interface Present {
  readonly client: ModelClient;
  readonly reason: string;
}

/**
 * Asks the network only for a model's name that nothing else tells, and for a list that speaks against the name that was chosen.
 * Throws TalariaError `missing-key`, `no-provider` or `no-model` when `--model` names what cannot be had; what config.yaml names stays
 * chosen, and each call says what is missing.
 */
export async function openModelDesk(options: DeskOptions, signal: AbortSignal): Promise<ModelDesk> {
  const desk = new Desk(options);
  await desk.start(signal);
  return desk;
}

/** How long the end of a run may wait for a list that is asked for anew. */
const REFRESH_MS = 1_500;
const REFLEX_REASON = 'no model is set up; rules only, no language model';

class Desk implements ModelDesk {
  readonly #options: DeskOptions;
  #providers: readonly FoundProvider[];
  #present: Present;
  readonly #tiers = new Map<Tier, ModelClient>();
  /** What config.yaml names is as old as what was read of it. */
  readonly #since: number;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.#since = options.surroundings.clock.now();
    this.#providers = options.providers;
    this.#present = options.fixed
      ? { client: options.fixed, reason: 'given by the program' }
      : { client: options.reflex, reason: REFLEX_REASON };
  }

  readonly current = (): ModelClient => this.#present.client;
  readonly providers = (): readonly FoundProvider[] => this.#providers;
  readonly info = (): ModelInfo => infoOf(this.#present.client, this.#present.reason);

  readonly list = (): readonly ModelInfo[] => {
    const rows = this.#providers.flatMap((provider) => {
      const { files, defaultModel, reason } = provider;
      const row = (model: string, why: string) => infoOf(this.#build({ provider, model, reason: '' }, 'T2'), why);
      if (files) return files.map((file) => row(file.model, file.reason));
      const names = new Set([...(defaultModel ? [defaultModel] : []), ...this.#listed(provider)]);
      return [...names].map((model) => row(model, reason));
    });
    const { reflex } = this.#options;
    const present = this.#present.client === reflex ? [] : [this.info()];
    return uniqueById([...present, ...this.#configured(), ...rows, infoOf(reflex, 'always there')]);
  };

  /** Whatever config.yaml names stands in the list, had or not. */
  #configured(): readonly ModelInfo[] {
    const { config } = this.#options.surroundings;
    const wish = configuredModel(config);
    const own = wish === undefined ? [] : [{ name: wish, preferred: configuredProvider(config) }];
    const tiers = [...config.tiers.T2, ...config.tiers.T1].map((name) => ({ name, preferred: undefined }));
    return [...own, ...tiers].flatMap(({ name, preferred }) => {
      if (isReflex(name)) return [];
      const reason = 'config.yaml names it';
      const choice = named(name, this.#ground(), { reason, preferred });
      if (choice.ok) return [infoOf(this.#build(choice.value, 'T2'), reason)];
      const why = `${reason}; it cannot answer: ${choice.detail}`;
      return [infoOf(absentClient(name, why), why)];
    });
  }

  readonly forTier = (tier: Tier): ModelClient => {
    if (tier === 'T0') return this.#options.reflex;
    const built = this.#tiers.get(tier) ?? this.#cascade(tier);
    if (built) this.#tiers.set(tier, built);
    const { strict } = this.#options.surroundings.config.tiers;
    if (!built && strict && tier === 'T1' && !this.#options.fixed)
      return absentClient('T1', 'no model of tiers.T1 can be had, and tiers.strict asks no other');
    return built ?? this.#present.client;
  };

  readonly byName = (name: string): Result<ModelClient, ChoiceRefusal> => {
    if (isReflex(name)) return ok(this.#options.reflex);
    if (this.#options.fixed?.id === name) return ok(this.#options.fixed);
    const choice = named(name, this.#ground(), { reason: 'it is asked for' });
    return choice.ok ? ok(this.#build(choice.value, 'T2')) : choice;
  };

  async start(signal: AbortSignal): Promise<void> {
    if (this.#options.fixed) return;
    await this.#choose(signal);
    const { tiers } = this.#options.surroundings.config;
    for (const said of unplacedTiers(tiers, this.#ground())) this.#options.notice(`${said.tier}: ${said.detail}`);
  }

  async #choose(signal: AbortSignal): Promise<void> {
    const { flag, surroundings } = this.#options;
    const { config } = surroundings;
    const wish = flag ?? configuredModel(config);
    const reason = flag === undefined ? 'config.yaml names it' : '--model asks for it';
    if (wish === undefined) return this.#startUnnamed(signal);
    if (isReflex(wish)) {
      this.#present = { client: this.#options.reflex, reason };
      return;
    }
    const preferred = flag === undefined ? configuredProvider(config) : undefined;
    // Before the first request only a list that speaks against the name is asked again.
    const known = (provider: FoundProvider) => this.#listed(provider).length > 0;
    const choice = await this.#find(wish, { reason, preferred }, { signal, mayAsk: known });
    if (choice.ok) await this.#take(choice.value, signal);
    else if (flag !== undefined) throw new TalariaError(choice.detail, { code: choice.reason });
    else this.#keepAbsent(wish, choice.detail);
  }

  async switchTo(name: string, signal: AbortSignal): Promise<Result<ModelInfo, ChoiceRefusal>> {
    if (isReflex(name)) {
      this.#present = { client: this.#options.reflex, reason: 'you chose it' };
      return ok(this.info());
    }
    if (this.#options.fixed) return refuse('no-provider', 'This program brought its own model along.');
    const choice = await this.#find(name, { reason: 'you chose it' }, { signal, mayAsk: () => true });
    if (!choice.ok) return refuse(choice.reason, choice.detail);
    await this.#take(choice.value, signal);
    return ok(this.info());
  }

  adopt(provider: FoundProvider, model: string, reason: string): ModelInfo {
    this.#providers = [provider, ...this.#providers.filter((other) => other.name !== provider.name)];
    this.#tiers.clear();
    this.#present = { client: this.#build({ provider, model, reason }, 'T2'), reason };
    return this.info();
  }

  async close(): Promise<void> {
    await this.#options.surroundings.locals.close();
  }

  /** Nobody named one: the list of config.yaml, else the first provider that can answer, else the reflex. */
  async #startUnnamed(signal: AbortSignal): Promise<void> {
    const { surroundings, problems = [] } = this.#options;
    const { T2 } = surroundings.config.tiers;
    const first = firstChoice(this.#providers);
    const [problem] = problems;
    if (T2.length > 0) {
      const client = this.#cascade('T2');
      if (client)
        this.#present = { client, reason: 'first of tiers.T2 in config.yaml; the next one follows when it fails' };
      else this.#keepAbsent(T2[0] ?? '', 'no model of tiers.T2 in config.yaml can be had');
    } else if (first) await this.#take(first, signal);
    else if (problem) this.#keepAbsent(problem.provider, withFix(problem.message, problem.fix));
  }

  /** What was chosen and cannot be had is not exchanged for anything else. */
  #keepAbsent(name: string, why: string): void {
    this.#present = { client: absentClient(name, cannotAnswer(name, why)), reason: `cannot answer: ${why}` };
  }

  #ground(): ModelGround {
    const [present = ''] = this.#present.client.id.split('/');
    const { problems = [], surroundings } = this.#options;
    const modelsFolder = surroundings.home.models;
    return { providers: this.#providers, problems, present, listed: this.#listed, modelsFolder };
  }

  readonly #listed = ({ baseUrl }: FoundProvider): readonly string[] =>
    baseUrl === '' ? [] : this.#options.surroundings.lists.cached(baseUrl).map(({ id }) => id);

  /** By what is known; a name that this speaks against, or that nothing tells of, is looked up once more where that is allowed. */
  async #find(
    name: string,
    why: { readonly reason: string; readonly preferred?: string | undefined },
    { signal, mayAsk }: { readonly signal: AbortSignal; readonly mayAsk: (provider: FoundProvider) => boolean },
  ): Promise<ReturnType<typeof named>> {
    const found = named(name, this.#ground(), why);
    const ask = (found.ok ? this.#unlisted(found.value) : (found.ask ?? [])).filter(mayAsk);
    if (ask.length === 0) return found;
    const { lists } = this.#options.surroundings;
    await Promise.all(ask.map((provider) => lists.fetch(provider, signal)));
    return named(name, this.#ground(), why);
  }

  #unlisted({ provider, model }: ModelChoice): readonly FoundProvider[] {
    return model !== undefined && serves(provider, model, this.#ground()) === 'unknown' ? [provider] : [];
  }

  async #take(choice: ModelChoice, signal: AbortSignal): Promise<void> {
    const model = choice.model ?? (await this.#firstListed(choice.provider, signal));
    this.#present = { client: this.#build({ ...choice, model }, 'T2'), reason: choice.reason };
  }

  async #firstListed(provider: FoundProvider, signal: AbortSignal): Promise<string> {
    const { lists } = this.#options.surroundings;
    const cached = lists.cached(provider.baseUrl)[0];
    if (cached) {
      const refresh = () => lists.fetch(provider, AbortSignal.timeout(REFRESH_MS));
      if (lists.isStale(provider.baseUrl)) this.#options.later('refresh the list of models', refresh);
      return cached.id;
    }
    const listed = await lists.fetch(provider, signal);
    const first = listed.ok ? listed.value[0] : undefined;
    if (first) return first.id;
    this.#options.notice(
      withFix(
        `${provider.name}: ${listed.ok ? 'it lists no model' : listed.detail}`,
        `Or name one with --model ${provider.name}/NAME.`,
      ),
    );
    return UNNAMED_MODEL;
  }

  /** The list of config.yaml; small work goes on to the large models. Undefined: nothing of it can be had. */
  #cascade(tier: 'T1' | 'T2'): ModelClient | undefined {
    const { config, clock } = this.#options.surroundings;
    const { T1, T2, strict } = config.tiers;
    const names = tier === 'T2' ? T2 : [...T1, ...(strict ? [] : T2)];
    const clients = uniqueById(
      names.flatMap((name) => {
        if (isReflex(name)) return [this.#options.reflex];
        const choice = named(name, this.#ground(), { reason: 'config.yaml names it' });
        return choice.ok ? [this.#build(choice.value, tier, this.#since)] : [];
      }),
    );
    return clients.length === 0 ? undefined : createCascade({ tier, clients, clock });
  }

  #build({ provider, model = UNNAMED_MODEL }: ModelChoice, tier: Tier, since?: number): ModelClient {
    return buildClient(provider, model, { tier, surroundings: this.#options.surroundings, since });
  }
}

function infoOf(client: ModelClient, reason: string): ModelInfo {
  return { id: client.id, tier: client.tier, reason, contextWindow: client.traits.contextWindow };
}

function uniqueById<Known extends { readonly id: string }>(all: readonly Known[]): readonly Known[] {
  return all.filter(({ id }, at) => all.findIndex((other) => other.id === id) === at);
}
