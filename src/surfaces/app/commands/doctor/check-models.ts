// Owns the checks of what Talaria could talk to. Asks every provider for its list of models, nothing else.
import type { Clock } from '#base/clock.ts';
import type { Environment } from '../../environment.ts';
import { loadConfig } from '../../home/config.ts';
import type { Config } from '../../home/config-schema.ts';
import type { Home } from '../../home/home.ts';
import { findProviders } from '../../models/find-providers.ts';
import type { FoundProvider, LocalFile } from '../../models/found-provider.ts';
import { findLocalModels } from '../../models/local-models.ts';
import {
  cannotAnswer,
  configuredModel,
  configuredProvider,
  firstChoice,
  isReflex,
  type ModelGround,
  named,
  unplacedTiers,
} from '../../models/model-choice.ts';
import { createModelLists, type ModelLists } from '../../models/model-lists.ts';
import { mergedVariables } from '../../parts/compose-models.ts';
import { fault, good, type HealthLine, warning } from './health-check.ts';

export interface ModelCheck {
  readonly home: Home;
  readonly environment: Environment;
  readonly clock: Clock;
}

export async function checkModels(
  { home, environment, clock }: ModelCheck,
  signal: AbortSignal,
): Promise<readonly HealthLine[]> {
  const { config } = await loadConfig(home.config);
  const search = findProviders(config, mergedVariables(home, environment), findLocalModels(home, config));
  const lists = createModelLists(home.cache, clock);
  const problems = search.problems.map(({ provider, message, fix }) => fault(`model ${provider}`, message, fix));
  const answers = await Promise.all(search.providers.map((provider) => checkProvider(provider, lists, signal)));
  const isAlone = firstChoice(search.providers) === undefined;
  const local = isAlone ? await lists.probeLocal(signal) : [];
  const listed = ({ baseUrl }: FoundProvider) => lists.cached(baseUrl).map(({ id }) => id);
  const ground = { ...search, providers: [...local, ...search.providers], modelsFolder: home.models, listed };
  const chosen = await checkChosen(config, ground, (provider) => checkProvider(provider, lists, signal));
  const found = local.map((provider) => good(`model ${provider.name}`, provider.reason));
  const tiers = unplacedTiers(config.tiers, ground).map(({ tier, detail }) =>
    fault(tier, detail, `\`talaria config set ${tier} …\` changes the list.`),
  );
  const all = [...problems, ...answers, ...found, ...chosen, ...tiers];
  return all.length > 0 ? all : [NONE];
}

const NONE = warning(
  'model',
  'none is set up: reflex/1 answers, by rules',
  'Run `talaria setup`, set a key such as OPENAI_API_KEY, or start a local server such as Ollama.',
);

/** What config.yaml names, by the same rules and in the same words as a turn. */
async function checkChosen(
  config: Config,
  ground: ModelGround,
  check: (provider: FoundProvider) => Promise<HealthLine>,
): Promise<readonly HealthLine[]> {
  const wish = configuredModel(config);
  if (wish === undefined) return [];
  const why = { reason: 'config.yaml names it', preferred: configuredProvider(config) };
  if (isReflex(wish)) return [good('model', `reflex/1: ${why.reason}`)];
  const choice = named(wish, ground, why);
  const isNew = choice.ok && !ground.providers.includes(choice.value.provider);
  const answers = isNew ? [await check(choice.value.provider)] : [];
  const checked = isNew ? named(wish, ground, why) : choice;
  return checked.ok ? answers : [...answers, fault('model', cannotAnswer(wish, checked.detail), CHOOSE)];
}

const CHOOSE = '`talaria config set model NAME` chooses another.';

async function checkProvider(provider: FoundProvider, lists: ModelLists, signal: AbortSignal): Promise<HealthLine> {
  const name = `model ${provider.name}`;
  if (provider.files) return checkFiles(name, provider.files);
  const listed = await lists.fetch(provider, signal);
  if (listed.ok) return good(name, `${provider.baseUrl} answers, ${listed.value.length} models (${provider.reason})`);
  const fix =
    listed.reason === 'model-auth'
      ? `Check ${provider.keyVariable ?? 'the key'}: \`talaria setup --provider ${provider.name} --key …\`.`
      : 'Check the address and that the server runs.';
  return fault(name, listed.detail, fix);
}

function checkFiles(name: string, files: readonly LocalFile[]): HealthLine {
  const short = files.find(({ missing }) => missing !== undefined);
  if (short?.missing === undefined) return good(name, files.map(({ reason }) => reason).join('; '));
  return warning(name, `${short.model} cannot answer`, short.missing);
}
