// Owns turning a chosen model into a ModelClient: wire format, retries, tool strategy, what config and the endpoint say of it, what reflex/1 does
// beside it; and the Embedder that config.yaml names. Knows no order of models. Invariants: building reads no network and loads no provider
// library; a refusal or a question of the reflex is never shown when there is a model to ask, and it never answers for one that failed.

import { throwIfAborted } from '#base/abort.ts';
import { openBlobs } from '#base/blobs.ts';
import type { Clock } from '#base/clock.ts';
import { withRetry } from '#core/model/cascade.ts';
import { createOpenAiEmbedder, type Embedder } from '#core/model/embedders.ts';
import {
  type ModelClient,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  type Tier,
} from '#core/model/model-client.ts';
import { type ModelOverrides, modelTraits } from '#core/model/model-table.ts';
import { createAnthropicClient } from '#core/model/providers/anthropic-client.ts';
import { UNPAID } from '#core/model/providers/golem-providers.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { Pay, ProviderClientOptions } from '#core/model/providers/provider-options.ts';
import { withToolStrategy } from '#core/model/tool-mode.ts';
import type { Config } from '../home/config-schema.ts';
import type { Home } from '../home/home.ts';
import { fillVariables, type Variables } from '../home/variables.ts';
import { type LocalModels, type ModelLists, proxiesOf } from './find-providers.ts';
import { createLocalClient, localEndpoint } from './local-calls.ts';
import { nearestNames, saidNearest } from './model-choice.ts';
import { type FoundProvider, providerRow } from './provider-table.ts';

export interface ClientSurroundings {
  readonly home: Home;
  readonly config: Config;
  readonly clock: Clock;
  readonly lists: ModelLists;
  readonly locals: LocalModels;
  /** Of calls that are paid one by one. */
  readonly pay?: Pay;
}

/** What is sent when neither a name nor a list is to be had; servers with one model take any name. */
export const UNNAMED_MODEL = 'default';

interface HowToBuild {
  readonly tier: Tier;
  readonly surroundings: ClientSurroundings;
  /** When it was chosen, epoch ms; default now. Where a model of this machine was switched since, the new one is asked. */
  readonly since?: number | undefined;
}

export function buildClient(provider: FoundProvider, model: string, how: HowToBuild): ModelClient {
  const build = (name: string) => plainClient(provider, name, how);
  if (!provider.local) return build(model);
  const { home, clock } = how.surroundings;
  const { tier, since = clock.now() } = how;
  return createLocalClient({ home, clock, endpoint: localEndpoint(provider), model, tier, since, build });
}

/** One that waits for no reload. */
export function plainClient(provider: FoundProvider, model: string, { tier, surroundings }: HowToBuild): ModelClient {
  const { clock, config, lists, pay } = surroundings;
  const { name, kind, baseUrl, apiKey, proxies, settings } = provider;
  const isPaid = settings.payment === 'x402';
  if (providerRow(name)?.paidBy && !isPaid) return absentClient(`${name}/${model}`, `${name} ${UNPAID}`);
  if (kind === 'llama') {
    const file = provider.files?.find((one) => one.model === model);
    const overrides = overridesOf({ ...provider, settings: file?.settings ?? {} }, model, lists);
    return withToolStrategy(surroundings.locals.client(file?.path ?? `${model}.gguf`, tier, overrides));
  }
  const options: ProviderClientOptions = {
    endpoint: {
      provider: name,
      kind: kind === 'anthropic' ? kind : 'openai',
      baseUrl,
      ...(apiKey ? { apiKey } : {}),
      ...(proxies ? { proxies } : {}),
    },
    model,
    tier,
    overrides: overridesOf(provider, model, lists),
    cacheTtl: config.prompt_caching.cache_ttl,
    ...(isPaid && pay ? { pay } : {}),
    bytesOf: (hash) => openBlobs(surroundings.home.blobs).read(hash),
    clock,
  };
  const client = kind === 'anthropic' ? createAnthropicClient(options) : createOpenAiClient(options);
  // The strategy is outermost: it starts over when a retry drops what had come.
  return withToolStrategy(withNearest(withRetry(client, { clock }), provider, lists));
}

/** An endpoint that does not know the model says so; its own list says what was meant. */
function withNearest(client: ModelClient, provider: FoundProvider, lists: ModelLists): ModelClient {
  const said = async (error: ModelError, signal: AbortSignal): Promise<ModelError> => {
    const listed = await lists.fetch(provider, signal);
    const near = listed.ok ? nearestNames(client.id, [provider], () => listed.value.map(({ id }) => id)) : [];
    if (near.length === 0) return error;
    return new ModelError(error.message, {
      code: 'model-not-found',
      cause: error,
      fix: `${saidNearest(near)} ${error.fix ?? ''}`.trim(),
    });
  };
  return {
    ...client,
    async *stream(request, signal) {
      try {
        yield* client.stream(request, signal);
      } catch (error) {
        throw error instanceof ModelError && error.code === 'model-not-found' ? await said(error, signal) : error;
      }
    },
  };
}

/** A model that was configured and cannot be had: it stays the one that was chosen, and each call says what is missing. */
export function absentClient(id: string, message: string): ModelClient {
  const fix = 'Or take another: /model NAME (-m NAME); reflex works by rules.';
  return {
    id,
    tier: 'T2',
    traits: modelTraits(id),
    // biome-ignore lint/correctness/useYield: it never has anything to say.
    async *stream() {
      throw new ModelError(message, { code: 'model-none', fix });
    },
  };
}

/** Configuration first, then what the endpoint listed; the table of names fills the rest. */
function overridesOf(provider: FoundProvider, model: string, lists: ModelLists): ModelOverrides {
  const { settings } = provider;
  const window =
    settings.context_length ?? lists.cached(provider.baseUrl).find((row) => row.id === model)?.contextWindow;
  const price =
    settings.input_price === undefined
      ? undefined
      : { input: settings.input_price, output: settings.output_price ?? settings.input_price };
  return {
    ...(window ? { contextWindow: window } : {}),
    ...(settings.tool_calling ? { toolCalling: settings.tool_calling } : {}),
    ...(settings.vision === undefined ? {} : { images: settings.vision }),
    ...(price ? { price } : {}),
    local: provider.local,
  };
}

export interface EmbedderGround {
  readonly config: Config;
  readonly variables: Variables;
  readonly clock: Clock;
  readonly notice: (text: string) => void;
}

export function configuredEmbedder({ config, variables, clock, notice }: EmbedderGround): Embedder | undefined {
  const { base_url: address, api_key: reference, model, dimensions } = config.embedding;
  if (address === undefined && model === undefined) return undefined;
  if (address === undefined || model === undefined || dimensions === undefined) {
    notice('embedding: base_url, model and dimensions are needed together; words alone rank skills');
    return undefined;
  }
  const key = reference === undefined ? undefined : fillVariables(reference, variables);
  if (key && !key.ok) {
    notice(`embedding: ${key.detail}; words alone rank skills`);
    return undefined;
  }
  const host = URL.parse(address)?.hostname;
  if (!host) {
    notice(`embedding.base_url: ${address} is no address; words alone rank skills`);
    return undefined;
  }
  const endpoint = { provider: host, baseUrl: address, ...(key ? { apiKey: key.value } : {}), ...proxiesOf(variables) };
  return createOpenAiEmbedder({ endpoint, model, dimensions, clock });
}

/** Said with the name of the model where nobody set it. */
export const FIRST_SINCE_SMALL = 'small, so reflex/1 goes first for its own forms (reflex.first: false ends that)';
/** Billions of parameters: under this a model on this machine is better at talking than at calling tools. */
const SMALL = 4;

/** Does the reflex go first? As the owner set it; unset, beside a small model of this machine. */
export function goesFirst(
  wish: boolean | undefined,
  { id, traits, tier }: Pick<ModelClient, 'id' | 'traits' | 'tier'>,
): boolean {
  return tier !== 'T0' && (wish ?? (traits.local && isSmall(id)));
}

/** By the size in its name: `135m`, `1.7b`, `3B`. */
function isSmall(id: string): boolean {
  const [, count, unit = ''] = /(?:^|[^a-z0-9.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])/i.exec(id) ?? [];
  return count !== undefined && Number(count) / (unit.toLowerCase() === 'm' ? 1000 : 1) < SMALL;
}

export function reflexFirst(reflex: ModelClient, model: ModelClient): ModelClient {
  return {
    get id() {
      return model.id;
    },
    get traits() {
      return model.traits;
    },
    tier: model.tier,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      const events: ModelEvent[] = [];
      for await (const event of reflex.stream(request, signal)) events.push(event);
      throwIfAborted(signal);
      const acts = events.some((event) => event.type === 'tool-call');
      if (acts || reflexIsAtWork(request, reflex.id)) yield* events;
      else yield* model.stream(request, signal);
    },
  };
}

/** The last step of this turn was the reflex's own: it quotes the results of its calls. */
function reflexIsAtWork(request: ModelRequest, reflexId: string): boolean {
  for (const message of request.messages.toReversed()) {
    if (message.role === 'assistant') return message.model === reflexId;
    if (message.role === 'user') return false;
  }
  return false;
}
