// Owns turning a chosen model into a ModelClient: wire format, retries, tool strategy, what config and the endpoint say of it.
// Knows no order of models. Invariant: building reads no network and loads no provider library.
import type { Clock } from '#base/clock.ts';
import { type ModelClient, ModelError, type Tier } from '#core/model/model-client.ts';
import { type ModelOverrides, modelTraits } from '#core/model/model-table.ts';
import { createAnthropicClient } from '#core/model/providers/anthropic-client.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { ProviderClientOptions } from '#core/model/providers/provider-options.ts';
import { withRetry } from '#core/model/retry.ts';
import { withToolStrategy } from '#core/model/tool-mode.ts';
import type { Config } from '../home/config-schema.ts';
import type { Home } from '../home/home.ts';
import type { FoundProvider } from './found-provider.ts';
import type { LocalModels } from './local-models.ts';
import { nearestNames, saidNearest } from './model-choice.ts';
import type { ModelLists } from './model-lists.ts';

export interface ClientSurroundings {
  readonly home: Home;
  readonly config: Config;
  readonly clock: Clock;
  readonly lists: ModelLists;
  readonly locals: LocalModels;
}

/** What is sent when neither a name nor a list is to be had; servers with one model take any name. */
export const UNNAMED_MODEL = 'default';

export function buildClient(
  provider: FoundProvider,
  model: string,
  { tier, surroundings }: { readonly tier: Tier; readonly surroundings: ClientSurroundings },
): ModelClient {
  const { clock, config, lists } = surroundings;
  const { name, kind, baseUrl, apiKey, proxies } = provider;
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
    ...(price ? { price } : {}),
    local: provider.local,
  };
}
