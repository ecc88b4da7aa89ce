// Owns which model is used: flag, config, the provider's default, else the first id that the endpoint lists (design 5).
// Knows no client. Invariant: a name that cannot be served is refused with the variable to set, never sent somewhere else.
import { ok, type Result, refuse } from '#base/result.ts';
import type { Config } from '../home/config-schema.ts';
import { missingKeyFix } from './find-providers.ts';
import type { FoundProvider } from './found-provider.ts';
import { providerRow } from './provider-table.ts';

export interface ModelChoice {
  readonly provider: FoundProvider;
  /** As the endpoint knows it; undefined: ask for its list first. */
  readonly model: string | undefined;
  /** One line for the header. */
  readonly reason: string;
}

export type ChoiceRefusal = 'missing-key' | 'no-provider';

/** Undefined when there is neither a provider nor a wish: the reflex tier answers. */
export function chooseModel(
  config: Config,
  providers: readonly FoundProvider[],
  flag?: string,
): Result<ModelChoice | undefined, ChoiceRefusal> {
  if (flag !== undefined) return named(flag, providers, '--model asks for it');
  const wish = configuredModel(config);
  if (wish !== undefined) {
    const preferred =
      typeof config.model === 'object'
        ? (config.model.provider ?? (config.model.base_url ? 'custom' : undefined))
        : undefined;
    return named(wish, providers, 'config.yaml names it', preferred);
  }
  const first = providers[0];
  return ok(first && { provider: first, model: first.defaultModel, reason: first.reason });
}

/** The name in config.yaml, whichever way it is written there. */
export function configuredModel(config: Config): string | undefined {
  return typeof config.model === 'object' ? (config.model.default ?? config.model.model) : config.model;
}

/** `provider/model`, or a name alone for the first provider (or the preferred one). */
export function named(
  name: string,
  providers: readonly FoundProvider[],
  reason: string,
  preferred?: string,
): Result<ModelChoice, ChoiceRefusal> {
  const cut = name.indexOf('/');
  const prefix = cut > 0 ? name.slice(0, cut) : '';
  const byPrefix = providers.find((provider) => provider.name === prefix);
  if (byPrefix) return ok({ provider: byPrefix, model: name.slice(cut + 1), reason });
  const whole = preferred ? providers.find((provider) => provider.name === preferred) : undefined;
  if (whole) return ok({ provider: whole, model: name, reason });
  const byName = providers.find((provider) => provider.name === name);
  if (byName) return ok({ provider: byName, model: byName.defaultModel, reason });
  const known = providerRow(prefix || name);
  const fallback = providers.find((provider) => !known || provider.aggregator);
  if (fallback) return ok({ provider: fallback, model: name, reason });
  const wanted = known?.name ?? preferred;
  if (wanted) return refuse('missing-key', `${wanted} has no key here. ${missingKeyFix(wanted)}`);
  return refuse(
    'no-provider',
    `No provider is set up for ${name}. Run \`talaria setup\`, set a key such as OPENAI_API_KEY, or start a local server.`,
  );
}
