// Owns `setup`: what this machine has, and taking up a key, an address or the local engine, with questions or by flags alone.
// Knows the keeping of keys through models/ only. Invariant: nothing is kept that did not answer a test call, unless told so.
import { z } from 'zod';
import { failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { ModelAddition } from '../../app.ts';
import { loadConfig } from '../../home/config.ts';
import { hardwareLine, localModelAdvice, readHardware } from '../../home/hardware.ts';
import { refuseNewerConfig } from '../../home/newer-home.ts';
import { findProviders, type Variables } from '../../models/find-providers.ts';
import { createLocalModels, engineFolder, findLocalModels } from '../../models/local-models.ts';
import { createModelLists, type ModelLists } from '../../models/model-lists.ts';
import { PROVIDERS, providerRow } from '../../models/provider-table.ts';
import { childEnvironment, mergedVariables } from '../../parts/compose-models.ts';
import { type CommandDeps, line } from '../command-deps.ts';

const input = z.object({
  provider: z
    .string()
    .optional()
    .describe(`Provider: ${PROVIDERS.map((row) => row.name).join(', ')}, or a name of your own`),
  key: z.string().optional().describe('Its key; `-` reads it from the variable TALARIA_KEY'),
  baseUrl: z.string().optional().describe('Address of an OpenAI-compatible endpoint'),
  model: z.string().optional().describe('Model to use there'),
  local: z.boolean().default(false).describe('Install the local engine into the home'),
  untested: z.boolean().default(false).describe('Keep without the test call'),
  nonInteractive: z.boolean().default(false).describe('Ask nothing'),
});

type SetupInput = z.infer<typeof input>;

export function setupCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'setup',
    summary: 'Find or add a model: a key, an endpoint, or a local engine',
    surfaces: ['cli'],
    input,
    examples: [
      'talaria setup',
      'talaria setup --provider openai --key sk-…',
      'talaria setup --base-url http://127.0.0.1:11434/v1 --model qwen3:8b',
      'talaria setup --local',
    ],
    async *run(given, context): AsyncGenerator<CommandOutput> {
      if (given.local) yield* setUpEngine(deps, context.signal);
      else if (given.provider || given.key || given.baseUrl || given.model)
        yield* setUpModel(deps, given, context.signal);
      else yield* lookAround(deps, given, context);
    },
  });
}

async function* lookAround(
  deps: CommandDeps,
  given: SetupInput,
  context: CommandContext,
): AsyncGenerator<CommandOutput> {
  const hardware = readHardware();
  const lists = createModelLists(deps.home.cache, deps.clock);
  const found = await findAll(deps, lists, context.signal);
  yield line(`this machine: ${hardwareLine(hardware)}; it fits ${localModelAdvice(hardware)}`);
  for (const { name, reason } of found) yield line(`found: ${name}: ${reason}`);
  if (found.length === 0) yield line('found: no key and no local server; reflex/1 answers, by rules');
  if (context.ask && !given.nonInteractive) {
    yield* askForModel(deps, context);
    return;
  }
  yield line('To add one: talaria setup --provider NAME --key KEY, or --base-url URL, or --local.');
  yield {
    type: 'data',
    value: { hardware: { ...hardware }, found: found.map(({ name, reason }) => ({ name, reason })) },
  };
}

async function findAll(deps: CommandDeps, lists: ModelLists, signal: AbortSignal) {
  const { config } = await loadConfig(deps.home.config);
  const local = findLocalModels(deps.home, config);
  const { providers } = findProviders(config, mergedVariables(deps.home, deps.environment), local);
  return [...providers, ...(await lists.probeLocal(signal))];
}

async function* askForModel(deps: CommandDeps, context: CommandContext): AsyncGenerator<CommandOutput> {
  const answer =
    (
      await context.ask?.('Paste a key, or the address of an endpoint (empty: leave everything as it is):', 'secret')
    )?.trim() ?? '';
  if (answer === '') return;
  const isAddress = /^https?:\/\//i.test(answer);
  const model = (await context.ask?.('Which model? (empty: its default)'))?.trim();
  const base = { local: false, untested: false, nonInteractive: false, ...(model ? { model } : {}) };
  yield* setUpModel(deps, isAddress ? { ...base, baseUrl: answer } : { ...base, key: answer }, context.signal);
}

/** What cannot be meant is wrong use; what is missing here is refused. */
const MAKERS = {
  'no-provider': wrongUse,
  'missing-key': refused,
  'no-model': refused,
  'model-failed': failed,
} as const;

async function* setUpModel(deps: CommandDeps, given: SetupInput, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { addModel } = await import('../../models/add-model.ts');
  const loaded = await loadConfig(deps.home.config);
  refuseNewerConfig(loaded);
  const { config } = loaded;
  const addition = additionOf(given, mergedVariables(deps.home, deps.environment));
  const lists = createModelLists(deps.home.cache, deps.clock);
  const surroundings = { home: deps.home, config, clock: deps.clock, lists, locals: createLocalModels(deps.home) };
  const added = await addModel(addition, { surroundings, untested: given.untested }, signal);
  if (!added.ok) {
    yield MAKERS[added.reason](added.reason, added.detail, 'Nothing was kept.');
    return;
  }
  const { provider, model } = added.value;
  yield line(`${given.untested ? 'kept' : 'it answers'}: ${provider.name}/${model} is the model now`);
  if (addition.key) yield line(`the key is in ${deps.home.env} and nowhere else`);
  yield { type: 'data', value: { provider: provider.name, model, baseUrl: provider.baseUrl, tested: !given.untested } };
}

/** A key that is already known need not be given again. */
function additionOf(given: SetupInput, variables: Variables): ModelAddition {
  const known = given.provider ? providerRow(given.provider)?.keyVariables.find((name) => variables[name]) : undefined;
  const key = given.key === '-' ? variables.TALARIA_KEY : (given.key ?? (known && variables[known]));
  const { provider, baseUrl, model } = given;
  return {
    ...(provider ? { provider } : {}),
    ...(key ? { key } : {}),
    ...(baseUrl ? { baseUrl } : {}),
    ...(model ? { model } : {}),
  };
}

async function* setUpEngine(deps: CommandDeps, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { installEngine } = await import('./install-engine.ts');
  const hardware = readHardware();
  yield line(`installing the local engine into ${deps.home.engines} …`);
  const env = childEnvironment(deps.home, deps.environment);
  const folder = engineFolder(deps.home);
  await installEngine({ folder, hardware, env, onOutput: () => undefined }, signal);
  yield line(`the engine is in ${folder}`);
  yield line(`Now put a GGUF file into ${deps.home.models}: it is used at once when no key and no server is set up.`);
  yield line(`This machine fits ${localModelAdvice(hardware)}.`);
  yield { type: 'data', value: { engine: folder, models: deps.home.models } };
}
