// Owns what is known about an endpoint before it is asked anything. Knows no client and no network.
// Invariant: `apiKey` is never part of a text; `reason` is what the header shows.
import type { Proxies } from '#core/model/providers/http-request.ts';
import type { ProviderConfig } from '../home/config-schema.ts';

export interface FoundProvider {
  readonly name: string;
  readonly kind: 'openai' | 'anthropic' | 'llama';
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Variable that the key came from or should be put in. */
  readonly keyVariable?: string;
  readonly defaultModel?: string;
  /** Takes `maker/model` names of other providers. */
  readonly aggregator: boolean;
  /** On this machine. */
  readonly local: boolean;
  /** Ways out that the environment names. */
  readonly proxies?: Proxies;
  /** Why it is used: `OPENAI_API_KEY is set`. */
  readonly reason: string;
  /** What config.yaml says about it. */
  readonly settings: ProviderConfig;
  /** Of `llama` alone: all models that it has. */
  readonly files?: readonly LocalFile[];
}

/** A GGUF file. */
export interface LocalFile {
  readonly model: string;
  /** Relative paths start in the home's `models`. */
  readonly path: string;
  /** Whole names that mean it: `llama/<model>`, and those of its section in config.yaml. */
  readonly names: readonly string[];
  readonly reason: string;
  readonly settings: ProviderConfig;
  /** Why it cannot answer now. */
  readonly missing?: string;
}
