// Owns making the Embedder that config.yaml names. Knows one wire format. Invariant: no network; half a configuration is a notice, not an error.
import type { Clock } from '#base/clock.ts';
import type { Embedder } from '#core/model/embedder.ts';
import { createOpenAiEmbedder } from '#core/model/embedders/openai-embedder.ts';
import type { Config } from '../home/config-schema.ts';
import { fillVariables, proxiesOf, type Variables } from './find-providers.ts';

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
