// Owns which model answers now, and the cascades per tier (design 5): the chosen model, the configured ones, at last the reflex.
// Knows no conversation. Invariant: there is always a model: without any provider it is the reflex, named as such.
import { ok, type Result, refuse } from '#base/result.ts';
import { createCascade } from '#core/model/cascade.ts';
import type { ModelClient, Tier } from '#core/model/model-client.ts';
import type { ModelInfo } from '../app.ts';
import { withFix } from '../with-fix.ts';
import { buildClient, type ClientSurroundings, UNNAMED_MODEL } from './build-client.ts';
import type { FoundProvider } from './found-provider.ts';
import { type ChoiceRefusal, chooseModel, configuredModel, type ModelChoice, named } from './model-choice.ts';

export interface ModelDesk {
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

/** Asks the network only for a model's name that nothing else tells. A refused `--model` or config name leaves the reflex, with a notice. */
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

  constructor(options: DeskOptions) {
    this.#options = options;
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
      const listed = this.#options.surroundings.lists.cached(provider.baseUrl).map((model) => model.id);
      const names = new Set([...(provider.defaultModel ? [provider.defaultModel] : []), ...listed]);
      return [...names].map((model) => infoOf(this.#build({ provider, model, reason: '' }, 'T2'), provider.reason));
    });
    return [...rows, infoOf(this.#options.reflex, 'always there')];
  };

  readonly forTier = (tier: Tier): ModelClient => {
    if (tier === 'T0') return this.#options.reflex;
    const known = this.#tiers.get(tier);
    if (known) return known;
    const built = this.#cascade(tier, []);
    this.#tiers.set(tier, built);
    return built;
  };

  readonly byName = (name: string): Result<ModelClient, ChoiceRefusal> => {
    if (isReflex(name)) return ok(this.#options.reflex);
    if (this.#options.fixed?.id === name) return ok(this.#options.fixed);
    const choice = named(name, this.#inOrder(), 'it is asked for');
    return choice.ok ? ok(this.#build(choice.value, 'T2')) : choice;
  };

  async start(signal: AbortSignal): Promise<void> {
    const { flag, fixed, surroundings, notice } = this.#options;
    if (fixed) return;
    if (isReflex(flag ?? configuredModel(surroundings.config))) {
      const reason = flag === undefined ? 'config.yaml names it' : '--model asks for it';
      this.#present = { client: this.#options.reflex, reason };
      return;
    }
    const chosen = chooseModel(surroundings.config, this.#providers, flag);
    if (!chosen.ok) notice(chosen.detail);
    else if (chosen.value) await this.#take(chosen.value, signal);
    else if (surroundings.config.tiers.T2.length > 0)
      this.#present = { client: this.forTier('T2'), reason: 'config.yaml names it' };
  }

  async switchTo(name: string, signal: AbortSignal): Promise<Result<ModelInfo, ChoiceRefusal>> {
    if (isReflex(name)) {
      this.#present = { client: this.#options.reflex, reason: 'you chose it' };
      return ok(this.info());
    }
    if (this.#options.fixed) return refuse('no-provider', 'This program brought its own model along.');
    const choice = named(name, this.#inOrder(), 'you chose it');
    if (!choice.ok) return choice;
    await this.#take(choice.value, signal);
    return ok(this.info());
  }

  adopt(provider: FoundProvider, model: string, reason: string): ModelInfo {
    this.#providers = [provider, ...this.#providers.filter((other) => other.name !== provider.name)];
    this.#tiers.clear();
    this.#present = { client: this.#cascade('T2', [this.#build({ provider, model, reason }, 'T2')]), reason };
    return this.info();
  }

  async close(): Promise<void> {
    await this.#options.surroundings.locals.close();
  }

  /** The present provider first, so that a bare name means one of its models. */
  #inOrder(): readonly FoundProvider[] {
    const present = this.#present.client.id.split('/')[0];
    return this.#providers.toSorted((a, b) => Number(b.name === present) - Number(a.name === present));
  }

  async #take(choice: ModelChoice, signal: AbortSignal): Promise<void> {
    const model = choice.model ?? (await this.#firstListed(choice.provider, signal));
    const client = this.#build({ ...choice, model }, 'T2');
    this.#present = { client: this.#cascade('T2', [client]), reason: choice.reason };
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

  #cascade(tier: Tier, first: readonly ModelClient[]): ModelClient {
    const { config, clock } = this.#options.surroundings;
    const names = tier === 'T1' ? [...config.tiers.T1, ...config.tiers.T2] : config.tiers.T2;
    const configured = names.flatMap((name) => this.#named(name, tier));
    const clients = uniqueById([...first, ...configured]);
    if (clients.length === 0 && first.length === 0 && this.#present.client !== this.#options.reflex)
      return this.#present.client;
    return createCascade({ tier, clients, fallback: this.#options.reflex, clock });
  }

  #named(name: string, tier: Tier): readonly ModelClient[] {
    const choice = named(name, this.#providers, 'config.yaml names it');
    if (choice.ok) return [this.#build(choice.value, tier)];
    this.#options.notice(`tiers.${tier}: ${choice.detail}`);
    return [];
  }

  #build(choice: ModelChoice, tier: Tier): ModelClient {
    return buildClient(choice.provider, choice.model ?? UNNAMED_MODEL, {
      tier,
      surroundings: this.#options.surroundings,
    });
  }
}

function isReflex(name: string | undefined): boolean {
  return name === 'reflex' || name === 'reflex/1';
}

function infoOf(client: ModelClient, reason: string): ModelInfo {
  return { id: client.id, tier: client.tier, reason, contextWindow: client.traits.contextWindow };
}

function uniqueById(clients: readonly ModelClient[]): readonly ModelClient[] {
  return clients.filter((client, at) => clients.findIndex((other) => other.id === client.id) === at);
}
