// Owns `models list`, `pull`, `switch` and `benchmark`: what the owner does with the models of this machine, in lines and as data. Knows no protocol.
// Invariants: nothing that stops half-way is called done, and every such end says how to go on; speed is measured where an agent would feel it and
// stands beside that of the seed's machine; a spot check compares with what is known, no model judges it.
import { z } from 'zod';
import { errorText, TalariaError } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  type CommandSpec,
  defineCommand,
  failed,
  line,
  refused,
} from '#core/agent/command-spec.ts';
import { userMessage } from '#core/model/message.ts';
import { type ModelClient, ModelError } from '#core/model/model-client.ts';
import { buildClient } from '../models/build-client.ts';
import { HERMES, readMachine, recommended, shownGb } from '../models/local-advice.ts';
import { keepSpeed, speeds } from '../models/local-calls.ts';
import {
  bareName,
  configuredId,
  findOwn,
  infraFigures,
  lookAtModels,
  type OwnModel,
  type OwnSide,
  openOwnSide,
  ownModels,
  switchModel,
  wholeName,
} from '../models/own-models.ts';
import type { CommandDeps } from './command-deps.ts';

const name = z.string().describe('A quantisation (Q6_K: of the model you have, else of Hermes 4.3), or a whole name');
const tier = z.enum(['T1', 'T2']).optional().describe('That of this tier; default: what answers you');
type Asked = { readonly model?: string | undefined; readonly tier?: 'T1' | 'T2' | undefined };
type Outputs = AsyncGenerator<CommandOutput>;
type Does = (side: OwnSide, asked: Asked, context: CommandContext) => Outputs;
type Row = Omit<CommandSpec<Asked>, 'run' | 'name'> & { readonly does: Does };

const OWN: Readonly<Record<string, Row>> = {
  list: {
    summary: 'List the models of this machine, and what is in memory',
    ...{ surfaces: ['cli', 'chat'], readOnly: true, input: z.object({ tier }), does: list },
  },
  pull: {
    summary: 'Download a model with Ollama; one that broke off goes on',
    ...{ surfaces: ['cli'], input: z.object({ model: name.optional(), tier }), does: pull },
    examples: ['talaria models pull', 'talaria models pull Q6_K', 'talaria models pull qwen2.5:7b-q8_0'],
  },
  switch: {
    summary: 'Load another model of this machine, and let it answer',
    ...{ surfaces: ['cli', 'chat'], input: z.object({ model: name, tier }), does: change },
    examples: ['talaria models switch Q8_0', 'talaria models switch qwen2.5:7b-q8_0 --tier T1'],
  },
  benchmark: {
    summary: 'Measure speed on fixed prompts, and check known answers',
    ...{ surfaces: ['cli'], input: z.object({ model: name.optional() }), does: benchmark },
  },
};

export function ownModelCommands(deps: CommandDeps): readonly AnyCommand[] {
  return Object.entries(OWN).map(([word, { does, ...spec }]) => {
    const run = (asked: Asked, context: CommandContext) => answered(deps, does, asked, context);
    return defineCommand({ ...spec, name: `models ${word}`, positional: word === 'list' ? [] : ['model'], run });
  });
}

const START =
  'Start it with `ollama serve` (ollama.com has it), or say where it is: talaria config set providers.ollama.base_url URL';

async function* answered(deps: CommandDeps, does: Does, asked: Asked, context: CommandContext) {
  try {
    const side = await openOwnSide(deps, asked.tier);
    try {
      yield* does(side, asked, context);
    } finally {
      context.progress?.('');
      await side.locals.close();
    }
  } catch (error) {
    yield problemOf(error);
  }
}

function problemOf(error: unknown): CommandOutput {
  if (!(error instanceof TalariaError)) throw error;
  const { code, message, fix } = error;
  if (code === 'locked' || code === 'not-local') return refused(code, message, fix);
  if (!(error instanceof ModelError)) throw error;
  return failed(code, message, code === 'model-unreachable' ? START : fix);
}

async function* list(side: OwnSide, _: Asked, { signal }: CommandContext): Outputs {
  const seen = await lookAtModels(side, await readMachine(side.home.models, signal), signal);
  const models = seen.models.map(({ id, name, quantisation, bytes }) => ({
    ...{ id, quantisation, bytes, inMemory: seen.loaded.find((one) => one.name === name)?.size ?? 0 },
    tiers: (['T1', 'T2'] as const).filter((tier) => [id, name].includes(configuredId(side, tier) ?? '')),
  }));
  const rows = models.map((one) => {
    return [one.id, one.quantisation, shownGb(one.bytes), shownGb(one.inMemory), one.tiers.join(' ')];
  });
  const columns = ['model', 'quantisation', 'size', 'in memory', 'answers'];
  if (rows.length > 0) yield { type: 'table', columns, rows };
  else yield line('No model is here yet: `talaria models pull` gets the one that fits this machine.');
  const { warnings, ...infra } = infraFigures(seen);
  for (const warning of warnings) yield line(warning);
  yield { type: 'data', value: { models, warnings, infra } as unknown as JsonValue };
}

async function* pull(side: OwnSide, { model }: Asked, { signal, progress }: CommandContext): Outputs {
  const quantisation = model ?? recommended(await readMachine(side.home.root, signal));
  if (quantisation === null)
    return yield refused('too-little-memory', 'No Hermes 4.3 fits here.', 'Name a smaller model.');
  const name = bareName(side, wholeName(quantisation, bareName(side, configuredId(side))));
  const meter = pullMeter(side.clock);
  let said = '';
  try {
    for await (const step of side.ollama.pull(name, signal)) {
      said = meter(step);
      progress?.(`${quantisation}: ${said}`);
    }
  } catch (error) {
    if (!(error instanceof ModelError) || said === '') throw error;
    const again = `Run \`talaria models pull ${quantisation}\` again: what came is kept, and it goes on from there.`;
    return yield failed('pull-broken', `The pull of ${name} broke at ${said}: ${errorText(error)}`, again);
  }
  yield line(`${name} is here; \`talaria models switch ${quantisation}\` lets it answer`);
  yield { type: 'data', value: { model: name, provider: side.server.name } };
}

type PullStep = Readonly<Record<'completed' | 'total', number> & { status: string }>;

/** Says each step with the time that is left, by the pace of this call. */
function pullMeter(clock: OwnSide['clock']) {
  let first: { readonly at: number; readonly completed: number } | undefined;
  return ({ status, completed, total }: PullStep) => {
    if (total === 0) return status;
    first ??= { at: clock.monotonic(), completed };
    const pace = (completed - first.completed) / Math.max(1, clock.monotonic() - first.at);
    const left = pace > 0 ? `, ${shownTime((total - completed) / pace)} left` : '';
    return `${Math.floor((completed / total) * 100)} % (${shownGb(completed)} of ${shownGb(total)}${left})`;
  };
}

function shownTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  return seconds < 6_000 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

async function* change(side: OwnSide, asked: Asked, { signal, progress }: CommandContext): Outputs {
  const started = side.clock.monotonic();
  const steps = switchModel(side, asked, signal);
  let step = await steps.next();
  for (; !step.done; step = await steps.next()) {
    const { to, share, elapsedMs } = step.value;
    progress?.(`loading ${to}: ${'█'.repeat(Math.round(share * 20)).padEnd(20, '░')} ${shownTime(elapsedMs)}`);
  }
  const { value: done } = step;
  if (!done.ok) {
    const end = done.reason === 'not-installed' ? refused : failed;
    return yield end(done.reason, done.detail, 'Nothing was changed.');
  }
  const { id: model, quantisation } = done.value;
  const ms = side.clock.monotonic() - started;
  yield line(`${model} answers now${asked.tier ? ` for ${asked.tier}` : ''}; loaded in ${shownTime(ms)}`);
  yield { type: 'data', value: { model, quantisation, tier: asked.tier ?? null, ms } };
}

const THINK = 'You are a deep thinking AI. Think step by step between <think> and </think>, then answer.';
const TRAINS =
  'One train leaves at 9:10 and takes 2 h 55 min, another at 10:05 and takes 1 h 48 min. Which arrives first, and by how much?';
type Prompt = readonly [system: string, text: string];
const PROMPTS: Readonly<Record<'T1' | 'T2', Prompt>> = {
  T1: ['Answer briefly.', 'Name the days of the week, each with one thing that people often do on it.'],
  T2: [THINK, TRAINS],
};
const KNOWN: readonly (readonly [question: string, answer: RegExp])[] = [
  ['What is 17 + 26? Answer with the number alone.', /^\D*43\D*$/],
  ['Which city is the capital of France? Answer with its name alone.', /^\W*paris\W*$/i],
  ['Answer with this JSON and nothing else: {"ready": true}', /^\W*\{\s*"ready"\s*:\s*true\s*\}\W*$/],
];

async function* benchmark(side: OwnSide, { model: typed }: Asked, { signal, progress }: CommandContext): Outputs {
  const all = await ownModels(side, signal);
  const results = [];
  const warnings: string[] = [];
  for (const tier of ['T1', 'T2'] as const) {
    const wanted = typed ? wholeName(typed, bareName(side, configuredId(side))) : configuredId(side, tier);
    const model = findOwn(all, wanted) ?? (typed ? undefined : all[0]);
    if (!model)
      return yield refused('not-installed', `${typed ?? 'No model'} is not here.`, 'See: talaria models list');
    const client = buildClient(model.provider, model.name, { tier, surroundings: side });
    progress?.(`${tier}: ${model.id} …`);
    const { tokensPerSecond, tokens, firstMs } = await timed(client, side.clock, PROMPTS[tier], signal);
    results.push({ tier, model: model.id, quantisation: model.quantisation, tokensPerSecond, tokens, firstMs });
    if (tier === 'T2') warnings.push(...(yield* spotCheck(side, model, client, signal)));
  }
  const { machine, ...usual } = HERMES.reference;
  const rows = results.map((of) => {
    return [of.tier, of.model, of.tokensPerSecond.toFixed(1), usual[of.tier].join('–'), shownTime(of.firstMs)];
  });
  yield { type: 'table', columns: ['tier', 'model', 'tok/s', `tok/s of ${machine}`, 'first word'], rows };
  warnings.push(...infraFigures(await lookAtModels(side, await readMachine(side.home.root, signal), signal)).warnings);
  for (const warning of warnings) yield line(warning);
  yield { type: 'data', value: { results, reference: HERMES.reference, warnings } as unknown as JsonValue };
}

async function timed(client: ModelClient, clock: OwnSide['clock'], [system, text]: Prompt, signal: AbortSignal) {
  const started = clock.monotonic();
  let [first, said, tokens, last] = [started, '', 0, started];
  const request = { system, messages: [userMessage(text)], tools: [], purpose: 'probe', maxOutputTokens: 512 } as const;
  for await (const event of client.stream(request, signal)) {
    if (event.type.endsWith('-delta') && first === started) first = clock.monotonic();
    if (event.type === 'text-delta') said += event.text;
    if (event.type === 'finish') [tokens, last] = [event.usage.outputTokens, clock.monotonic()];
  }
  return { said, tokens, firstMs: first - started, tokensPerSecond: (tokens * 1000) / Math.max(1, last - first) };
}

async function* spotCheck(side: OwnSide, { id, name }: OwnModel, client: ModelClient, signal: AbortSignal) {
  let right = 0;
  for (const [question, answer] of KNOWN) {
    const { said } = await timed(client, side.clock, ['Answer exactly as asked.', question], signal);
    if (answer.test(said)) right += 1;
  }
  const quality = right / KNOWN.length;
  const checked = speeds(side, side.clock.now()).filter((row) => row.model === id && row.quality !== undefined);
  const before = checked.at(-1)?.quality ?? 0;
  keepSpeed(side, { model: id, quality });
  yield line(`${id}: ${right} of ${KNOWN.length} known questions answered as known`);
  if (quality >= Math.max(before, 2 / 3)) return [];
  const cure = `download it again (talaria models pull ${name}), or take a cloud provider (talaria setup)`;
  return [
    `the quality of ${id} ${quality < before ? 'fell' : 'is low'} (${right} of ${KNOWN.length}): its file may be damaged, or too coarse: ${cure}`,
  ];
}
