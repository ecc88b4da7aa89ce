// Owns `setup`: what this machine has, and taking up a key, an address or the local engine, with questions or by flags alone. The engine is
// pinned and trimmed to the one platform package that runs here (design 10). Knows the keeping of keys through models/ only.
// Invariants: nothing is kept that did not answer a test call, unless told so; an engine folder with its mark is whole.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errorText, TalariaError } from '#base/errors.ts';
import { ownPath, SYSTEM_PATH } from '#base/paths/typed-path.ts';
import { runProcess } from '#base/process.ts';
import { findSecrets } from '#base/secrets.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  failed,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { ModelAddition } from '../app.ts';
import { type Hardware, hardwareLine, localModelAdvice, readHardware } from '../first-screen.ts';
import { loadConfig } from '../home/config.ts';
import { refuseNewerConfig } from '../home/session-door.ts';
import { childEnvironment, mergedVariables, type Variables } from '../home/variables.ts';
import {
  createLocalModels,
  createModelLists,
  ENGINE_VERSION,
  engineFolder,
  findLocalModels,
  findProviders,
  type ModelLists,
} from '../models/find-providers.ts';
import { localAdvice, machineLine, readMachine } from '../models/local-advice.ts';
import { PROVIDERS, providerRow } from '../models/provider-table.ts';
import { secretNames } from '../rooms.ts';
import type { CommandDeps } from './command-deps.ts';

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
  const machine = await readMachine(deps.environment.userHome, context.signal);
  const advice = localAdvice(machine);
  const lists = createModelLists(deps.home.cache, deps.clock);
  const found = await findAll(deps, lists, context.signal);
  yield line(`this machine: ${hardwareLine(machine)}; it fits ${localModelAdvice(machine)}`);
  for (const text of [machineLine(machine), ...advice.lines]) yield line(`  ${text}`);
  for (const { name, reason } of found) yield line(`found: ${name}: ${reason}`);
  if (found.length === 0) yield line('found: no key and no local server; reflex/1 answers, by rules');
  if (context.ask && !given.nonInteractive) {
    yield* askForModel(deps, context);
    return;
  }
  yield line('To add one: talaria setup --provider NAME --key KEY, or --base-url URL, or --local.');
  yield {
    type: 'data',
    value: { hardware: { ...machine }, advice, found: found.map(({ name, reason }) => ({ name, reason })) },
  };
}

async function findAll(deps: CommandDeps, lists: ModelLists, signal: AbortSignal) {
  const { config } = await loadConfig(deps.home.config);
  const local = findLocalModels(deps.home, config);
  const { providers } = findProviders(config, mergedVariables(deps.home, deps.environment), local);
  return [...providers, ...(await lists.probeLocal(signal))];
}

type Ask = NonNullable<CommandContext['ask']>;
type Typed = Pick<SetupInput, 'baseUrl' | 'key' | 'model'>;

const UNASKED = { local: false, untested: false, nonInteractive: false } as const;

/** Asks until it works or the person leaves; what was right stays, and only what was wrong is typed again. */
async function* askForModel(deps: CommandDeps, { ask, signal }: CommandContext): AsyncGenerator<CommandOutput> {
  if (!ask) return;
  let typed = yield* askWhere(ask);
  if (typed) typed = { ...typed, model: (await ask('Which model? (empty: its default)')).trim() || undefined };
  while (typed) {
    let problem: CommandOutput | undefined;
    for await (const output of setUpModel(deps, { ...UNASKED, ...typed }, signal)) {
      if (output.type === 'failure') problem = output;
      else yield output;
    }
    if (problem?.type !== 'failure') return;
    yield line(`${problem.message} ${problem.fix}`);
    const corrected: Typed | undefined = yield* correct(typed, ask);
    if (!corrected) {
      yield problem;
      return;
    }
    typed = corrected;
  }
}

/** Undefined when the person leaves everything as it is. */
async function* askWhere(ask: Ask): AsyncGenerator<CommandOutput, Typed | undefined> {
  for (;;) {
    const answer = (await ask('Address of an endpoint (http://…), or Enter to give a key:')).trim();
    if (/^https?:\/\//i.test(answer))
      return { baseUrl: answer, ...(await askKey(ask, 'Its key (empty: it needs none):')) };
    if (answer === '') return askKey(ask, 'Paste the key (empty: leave everything as it is):');
    if (findSecrets(answer).length > 0) return { key: answer };
    yield line('That is no address: it begins with http:// or https://. For a key, press Enter first.');
  }
}

async function askKey(ask: Ask, question: string): Promise<Typed | undefined> {
  const key = (await ask(question, 'secret')).trim();
  return key === '' ? undefined : { key };
}

/** Undefined when the person leaves. */
async function* correct(typed: Typed, ask: Ask): AsyncGenerator<CommandOutput, Typed | undefined> {
  const shown = [typed.baseUrl && `address ${typed.baseUrl}`, `model ${typed.model ?? 'its default'}`];
  yield line(`Typed was: ${shown.filter(Boolean).join(', ')}${typed.key ? ', a key' : ''}.`);
  const part = (await ask('Correct the a = address, k = key, m = model, or type the address; Enter leaves:')).trim();
  if (/^https?:\/\//i.test(part)) return { ...typed, baseUrl: part };
  if (part.startsWith('a')) return { ...typed, baseUrl: (await ask('Address:')).trim() || undefined };
  if (part.startsWith('k')) return { ...typed, key: (await ask('Key:', 'secret')).trim() || undefined };
  if (part.startsWith('m')) return { ...typed, model: (await ask('Model (empty: its default):')).trim() || undefined };
  return undefined;
}

/** What cannot be meant is wrong use; what is missing here is refused. */
const MAKERS = {
  'no-provider': wrongUse,
  'missing-key': refused,
  'no-model': refused,
  'model-failed': failed,
} as const;

async function* setUpModel(deps: CommandDeps, given: SetupInput, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { addModel } = await import('../models/add-model.ts');
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
  const hardware = readHardware();
  yield line(`installing the local engine into ${deps.home.engines} …`);
  const { config } = await loadConfig(deps.home.config);
  const env = childEnvironment(deps.home, deps.environment, config, await secretNames());
  const folder = engineFolder(deps.home);
  await installEngine({ folder, hardware, env, onOutput: () => undefined }, signal);
  yield line(`the engine is in ${folder}`);
  yield line(`Now put a GGUF file into ${deps.home.models}: it is used at once when no key and no server is set up.`);
  yield line(`This machine fits ${localModelAdvice(hardware)}.`);
  yield { type: 'data', value: { engine: folder, models: deps.home.models } };
}

const PLATFORMS: Readonly<Record<string, string>> = {
  'linux x64': 'linux-x64',
  'linux arm64': 'linux-arm64',
  'darwin arm64': 'mac-arm64-metal',
  'darwin x64': 'mac-x64',
};

interface EngineInstall {
  /** Holds the engine's node_modules afterwards. */
  readonly folder: string;
  readonly hardware: Hardware;
  /** Environment for npm, without keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onOutput: (chunk: string) => void;
}

/** Does nothing when it is there already. Throws TalariaError `engine-unsupported` or `engine-install-failed`. */
async function installEngine(install: EngineInstall, signal: AbortSignal): Promise<void> {
  const platform = PLATFORMS[`${install.hardware.platform} ${install.hardware.arch}`];
  if (!platform) {
    throw new TalariaError(`the local engine has no binary for ${install.hardware.platform} ${install.hardware.arch}`, {
      code: 'engine-unsupported',
      fix: 'Use a server such as Ollama: talaria finds it by itself.',
    });
  }
  const { folder } = install;
  const mark = join(folder, `.complete-${ENGINE_VERSION}-${platform}`);
  if (existsSync(mark)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'package.json'), packageText(platform), { mode: 0o600 });
  // Its other optional packages are graphics-card builds of several hundred MB; its install script would compile.
  const flags = [
    '--omit=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--loglevel=error',
  ];
  const done = await runProcess(
    {
      argv: ['npm', 'install', ...flags],
      cwd: folder,
      env: { ...install.env, PATH: ownPath(install.env.PATH ?? SYSTEM_PATH) },
      onOutput: install.onOutput,
      limits: { timeoutMs: 900_000 },
    },
    signal,
  );
  if (done.ended !== 'exit' || done.exitCode !== 0) {
    throw new TalariaError(
      `npm could not install the local engine: ${done.error ?? (done.ended === 'exit' ? `exit ${done.exitCode}` : done.ended)}`,
      {
        code: 'engine-install-failed',
        fix: 'Check that npm is installed and can reach its registry, then run it again.',
      },
    );
  }
  markComplete(mark);
}

function packageText(platform: string): string {
  const dependencies = { 'node-llama-cpp': ENGINE_VERSION, [`@node-llama-cpp/${platform}`]: ENGINE_VERSION };
  return `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`;
}

function markComplete(mark: string): void {
  try {
    writeFileSync(mark, '', { mode: 0o600 });
  } catch (error) {
    throw new TalariaError(`cannot write ${mark}: ${errorText(error)}`, {
      code: 'engine-install-failed',
      cause: error,
    });
  }
}
