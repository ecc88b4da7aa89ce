import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import { ownModelCommands } from '#surfaces/app/commands/own-models.ts';
import { infraFigures, lookAtModels, openOwnSide, wholeName } from '#surfaces/app/models/own-models.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';
import { type ScriptedOllama, startScriptedOllama } from '../../../doubles/scripted-ollama.ts';
import { verifies } from '../../../verifies.ts';
import { createStage, runCommand, runSpec, type Stage } from '../app-fixture.ts';

const HERMES = 'hf.co/NousResearch/Hermes-4.3-36B-GGUF';
const [Q6, Q8, QWEN] = [`${HERMES}:Q6_K`, `${HERMES}:Q8_0`, 'qwen2.5:7b-q8_0'];

const { signal } = new AbortController();
const MACHINE = { memoryBytes: 64e9, gpu: null };

interface Desk {
  readonly stage: Stage;
  readonly ollama: ScriptedOllama;
}

async function deskOf(t: TestContext, config = '', providers = ''): Promise<Desk> {
  const ollama = await startScriptedOllama(t);
  ollama.install(Q6, 32e9, 'Q6_K');
  ollama.install(Q8, 39e9, 'Q8_0');
  const stage = createStage(t, {
    OPENAI_API_KEY: 'k',
    HTTPS_PROXY: 'http://proxy.example:1',
    HTTP_PROXY: 'http://proxy.example:1',
  });
  stage.temp.write('home/config.yaml', `providers: {${providers}ollama: {base_url: "${ollama.baseUrl}"}}\n${config}`);
  return { stage, ollama };
}

async function commandOf({ stage }: Desk, name: string, clock = createManualClock()) {
  const { home } = await stage.open();
  const all = ownModelCommands({
    environment: stage.environment,
    home,
    clock,
    app: () => assert.fail('composes nothing'),
  });
  const command = all.find((one) => one.name === `models ${name}`) ?? assert.fail(`no models ${name}`);
  return (input: object, progress?: (line: string) => void) =>
    runSpec(command, input, { cwd: stage.cwd, ...(progress ? { progress } : {}) });
}

async function figuresOf({ stage }: Desk, clock = createManualClock()) {
  const side = await openOwnSide({ home: (await stage.open()).home, clock, environment: stage.environment });
  return infraFigures(await lookAtModels(side, MACHINE, signal));
}

async function ask(app: Awaited<ReturnType<Stage['open']>>, tier: 'T1' | 'T2', text = 'Who are you?'): Promise<string> {
  const request = { text, tier, purpose: 'probe', tools: [], maxSteps: 1, system: 'Say it.' } as const;
  let said = '';
  for await (const event of app.runExtensionTurn(request, signal)) {
    if (event.type === 'text-delta') said += event.text;
    if (event.type === 'turn-end') assert.equal(event.outcome, 'done', JSON.stringify(event));
  }
  return said;
}

/** Turns of the event loop, until it is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setImmediate(done));
}

verifies(['RX.9', 'RX.6'], 'C54: models list shows what is installed, in memory, and answers', async (t) => {
  const desk = await deskOf(t, `tiers: {T2: ["ollama/${Q6}"], T1: ["ollama/${QWEN}"]}\n`);
  desk.ollama.install(QWEN, 8e9, 'Q8_0');
  desk.ollama.loaded.add(Q6);
  desk.stage.temp.write('home/models/small.Q4_1.gguf', 'GGUF');
  const listed = await runCommand(desk.stage, 'models list');
  assert.match(listed.text, /ollama\/hf\.co.*Q6_K \| Q6_K \| 32\.0 GB \| 32\.0 GB \| T2/);
  assert.match(listed.text, /ollama\/qwen2\.5:7b-q8_0 \| Q8_0 \| 8\.0 GB \| 0\.0 GB \| T1/);
  assert.match(listed.text, /llama\/small\.Q4_1 \| Q4_1/);
  const { infra } = listed.data as { infra: { model: string; memory: object; installed: string[] } };
  assert.deepEqual([infra.model, infra.installed.length], [`ollama/${Q6}`, 4]);
});

test('a server that is not there, or not one of your own, is said with what to do', async (t) => {
  const desk = await deskOf(t);
  desk.stage.temp.write('home/config.yaml', 'providers: {ollama: {base_url: "http://127.0.0.1:9/v1"}}');
  const unheard = await runCommand(desk.stage, 'models pull', { model: 'Q6_K' });
  assert.deepEqual([unheard.failure?.exitCode, unheard.failure?.code], [1, 'model-not-found']);
  assert.match((await runCommand(desk.stage, 'models list')).text, /No model is here yet/);
  desk.stage.temp.write('home/config.yaml', 'providers: {ollama: {base_url: "https://models.example/v1"}}');
  const far = await runCommand(desk.stage, 'models pull', { model: 'Q6_K' });
  assert.deepEqual([far.failure?.exitCode, far.failure?.code], [3, 'not-local']);
});

verifies(
  'RX.10',
  'C54: a pull that breaks at 40 % says so and how to go on; the next one goes on there, with the time left',
  async (t) => {
    const desk = await deskOf(t);
    const pull = await commandOf(desk, 'pull', createSteppingClock());
    const told: string[] = [];
    desk.ollama.breakAt = 0.4;
    const broken = await pull({ model: 'Q4_K_M' }, (line) => told.push(line));
    assert.deepEqual([broken.failure?.exitCode, broken.failure?.code], [1, 'pull-broken']);
    assert.match(
      broken.failure?.message ?? '',
      /Q4_K_M broke at 40 % \(12\.8 GB of 32\.0 GB, .* left\): the connection .* lost/,
    );
    assert.match(broken.failure?.fix ?? '', /`talaria models pull Q4_K_M` again: what came is kept/);
    assert.doesNotMatch((await runCommand(desk.stage, 'models list')).text, /Q4_K_M/);
    told.length = 0;
    const whole = await pull({ model: 'Q4_K_M' }, (line) => told.push(line));
    assert.equal(whole.failure, undefined);
    const shares = told.flatMap((line) => /(\d+) %/.exec(line)?.[1] ?? []).map(Number);
    assert.deepEqual([shares[0], shares.at(-1)], [40, 100]);
    assert.match(told.join('\n'), /50 % \(16\.0 GB of 32\.0 GB, 5 s left\)/);
    assert.match(whole.text, /Q4_K_M is here; `talaria models switch Q4_K_M` lets it answer/);
    assert.deepEqual(desk.ollama.pulls, [`${HERMES}:Q4_K_M`, `${HERMES}:Q4_K_M`]);
    const wrong = await pull({ model: 'ollama/nobody/none:NOSUCH' });
    assert.match(wrong.failure?.message ?? '', /file does not exist/);
  },
);

test('a file of the home is switched to like any other, without a server, and one that the engine cannot load changes nothing', async (t) => {
  const { stage } = await deskOf(t);
  stage.temp.write('home/config.yaml', 'model: reflex\nproviders: {ollama: {base_url: "http://127.0.0.1:65533/v1"}}\n');
  stage.temp.write('home/models/small.Q4_1.gguf', 'GGUF');
  const { failure } = await runCommand(stage, 'models switch', { model: 'small.Q4_1' });
  assert.deepEqual([failure?.exitCode, failure?.code], [1, 'model-not-loaded']);
  assert.match(failure?.message ?? '', /llama\/small\.Q4_1 was not loaded: .*talaria setup --local/);
  assert.match(stage.temp.read('home/config.yaml'), /^model: reflex/);
});

test('what a process that died left of a load, or somebody wrote there, holds nobody up', async (t) => {
  const desk = await deskOf(t, `model: ollama/${Q6}\n`);
  const app = await desk.stage.open();
  const row = { endpoint: new URL(desk.ollama.baseUrl).host, from: Q6, to: Q8, at: app.clock.now(), expectedMs: 9_000 };
  for (const text of [JSON.stringify([row]), '[{"to":1}]', '{"half']) {
    desk.stage.temp.write('home/cache/model-switches.json', text);
    desk.stage.temp.write('home/cache/model-reload.lock', '99999999 elsewhere');
    desk.stage.temp.write('home/cache/model-speeds.jsonl', text);
    const late = await figuresOf(desk, createManualClock({ now: app.clock.now() + 400_000 }));
    assert.deepEqual([late.reloading, late.tokensPerSecond], [null, []]);
    if (text.startsWith('[{"e'))
      desk.stage.temp.write('home/cache/model-reload.lock', `${process.pid}9999 ${hostname()}`);
    assert.equal(await ask(app, 'T2'), `I am ${Q6}.`);
  }
});

test('config.yaml names the new one wherever the old one stood, or for its tier alone', async (t) => {
  const rows = [
    [`model: ollama/${Q6}`, {}, /^model: ollama\/\S+:Q8_0$/m],
    [`model: {provider: ollama, default: "${Q6}"}`, {}, /provider: ollama, default: "?ollama\/\S+:Q8_0"? *\}/],
    [
      `tiers: {T2: ["ollama/${Q6}", reflex], T1: ["ollama/${Q6}"]}`,
      {},
      /T2: *\[ *"?ollama\/\S+:Q8_0"?, reflex *\], T1: *\[ *"?ollama\/\S+:Q8_0"? *\]/,
    ],
    [
      `tiers: {T2: ["ollama/${Q6}"]}`,
      { tier: 'T1' },
      /T2: *\[ *"?ollama\/\S+:Q6_K"? *\], T1: *\[ *"?ollama\/\S+:Q8_0"? *\]/,
    ],
    ['', {}, /^model: ollama\/\S+:Q8_0$/m],
  ] as const;
  for (const [config, more, kept] of rows) {
    const desk = await deskOf(t, `${config}\n`);
    const { failure } = await runCommand(desk.stage, 'models switch', { model: 'Q8_0', ...more });
    assert.equal(failure, undefined);
    assert.match(desk.stage.temp.read('home/config.yaml'), kept);
  }
});

test('a quantisation means that of the model that is there', () => {
  assert.equal(wholeName('Q8_0', 'hf.co/a/B-GGUF:Q4_K_M'), 'hf.co/a/B-GGUF:Q8_0');
  for (const present of [undefined, 'qwen2.5:7b-q8_0', 'qwen3'])
    assert.equal(wholeName('q8_0', present), `${HERMES}:q8_0`);
  assert.equal(wholeName('qwen2.5:7b-q8_0'), 'qwen2.5:7b-q8_0');
});

verifies(
  ['RX.11', 'RX.17'],
  'C54: a switch loads and is kept; three requests that came meanwhile wait, and none is lost',
  async (t) => {
    const desk = await deskOf(t, `model: ollama/${Q6}\n`);
    const { stage, ollama } = desk;
    const app = await stage.open();
    assert.equal(await ask(app, 'T2'), `I am ${Q6}.`);
    const release = ollama.hold(Q8);
    const lines: string[] = [];
    const command = ownModelCommands({
      environment: stage.environment,
      home: app.home,
      clock: app.clock,
      app: async () => app,
    });
    const run = command.find(({ name }) => name === 'models switch') ?? assert.fail();
    const switching = runSpec(run, { model: 'Q8_0' }, { cwd: stage.cwd, progress: (line) => lines.push(line) });
    await until(() => ollama.chats.includes(Q8));
    const asked = ['one', 'two', 'three'].map((text) => ask(app, 'T2', text));
    const second = await runCommand(stage, 'models switch', { model: 'Q6_K' });
    assert.deepEqual([second.failure?.exitCode, second.failure?.code], [3, 'locked']);
    const figures = await figuresOf(desk, createManualClock({ now: app.clock.now() + 5_000 }));
    assert.equal(figures.reloading?.to, Q8);
    assert.ok((figures.reloading?.share ?? 0) > 0);
    assert.deepEqual(ollama.chats, [Q6, Q8], 'they wait here, and are not sent');
    release();
    const switched = await switching;
    assert.match(switched.text, /Q8_0 answers now; loaded in/);
    assert.match(lines.join('\n'), /loading hf\.co.*Q8_0: [█░]{20} \d+ s/);
    assert.deepEqual(await Promise.all(asked), [`I am ${Q8}.`, `I am ${Q8}.`, `I am ${Q8}.`]);
    assert.match(stage.temp.read('home/config.yaml'), /model: ollama\/hf\.co.*:Q8_0/);
    assert.equal((await figuresOf(desk)).reloading, null);
  },
);

verifies.slow(
  ['RX.11', 'RX.17'],
  'a model that never loads is given up after a bound; the old one stays, and who waited is answered by it',
  async (t) => {
    const desk = await deskOf(t, `model: ollama/${Q6}\n`);
    const app = await desk.stage.open();
    const clock = createManualClock({ now: app.clock.now() });
    const change = await commandOf(desk, 'switch', clock);
    const release = desk.ollama.hold(Q8);
    const switching = change({ model: 'Q8_0' });
    await until(() => desk.ollama.chats.includes(Q8));
    const waiting = ask(app, 'T2');
    await clock.advance(281_000);
    const { failure } = await switching;
    assert.deepEqual([failure?.exitCode, failure?.code], [1, 'model-not-loaded']);
    assert.match(`${failure?.message} ${failure?.fix}`, /Q8_0 was not loaded: .*280 s.*Nothing was changed/);
    assert.equal(await waiting, `I am ${Q6}.`);
    assert.match(desk.stage.temp.read('home/config.yaml'), /model: ollama\/hf\.co.*:Q6_K/);
    release();
    const missing = await change({ model: 'Q2_K' });
    assert.deepEqual([missing.failure?.exitCode, missing.failure?.code], [3, 'not-installed']);
    assert.match(missing.failure?.message ?? '', /First: talaria models pull hf\.co.*:Q2_K/);
  },
);

verifies(
  ['RX.22', 'RX.23'],
  'two local models answer by tier, one is switched alone, and nothing leaves this machine',
  async (t) => {
    const desk = await deskOf(t, `tiers: {T1: ["ollama/${QWEN}"], T2: ["ollama/${Q6}", reflex]}\n`);
    desk.ollama.install(QWEN, 8e9, 'Q8_0');
    const hosts = spiedHosts(t);
    const app = await desk.stage.open();
    assert.equal(await ask(app, 'T1'), `I am ${QWEN}.`);
    assert.equal(await ask(app, 'T2'), `I am ${Q6}.`);
    const late = await desk.stage.open();
    await runCommand(desk.stage, 'models switch', { model: 'Q8_0', tier: 'T2' });
    assert.equal(await ask(late, 'T2'), `I am ${Q8}.`, 'that asks for the first time after the switch');
    assert.deepEqual([await ask(app, 'T1'), await ask(app, 'T2')], [`I am ${QWEN}.`, `I am ${Q8}.`]);
    await runCommand(desk.stage, 'models benchmark');
    assert.match(desk.stage.temp.read('home/config.yaml'), new RegExp(`T2: *\\[ *"?ollama/${Q8}"?, reflex`));
    assert.deepEqual([...new Set(hosts)], ['127.0.0.1']);
  },
);

verifies(
  'RQ.2',
  'T1 at its own endpoint is answered while T2 runs at another, and while a model loads there',
  async (t) => {
    const small = await startScriptedOllama(t);
    small.install(QWEN, 8e9, 'Q8_0');
    const tiers = `tiers: {T1: ["fast/${QWEN}"], T2: ["ollama/${Q6}"]}\n`;
    const desk = await deskOf(t, tiers, `fast: {base_url: "${small.baseUrl}"}, `);
    const app = await desk.stage.open();
    const release = desk.ollama.hold(Q6);
    const slow = ask(app, 'T2');
    await until(() => desk.ollama.chats.length === 1);
    assert.equal(await ask(app, 'T1'), `I am ${QWEN}.`);
    const load = desk.ollama.hold(Q8);
    const switching = runCommand(desk.stage, 'models switch', { model: 'Q8_0', tier: 'T2' });
    await until(() => desk.ollama.chats.length === 2);
    assert.equal(await ask(app, 'T1'), `I am ${QWEN}.`);
    release();
    load();
    assert.equal(await slow, `I am ${Q6}.`);
    assert.equal((await switching).failure, undefined);
  },
);

verifies(
  ['RX.8', 'RX.12', 'RX.20'],
  'C54: the benchmark measures both tiers beside the reference, and a decline of quality is flagged',
  async (t) => {
    const desk = await deskOf(t, `model: ollama/${Q6}\n`);
    desk.ollama.say = (_, question) =>
      answers(question) ?? '<think>ten past twelve</think> The second, by 12 minutes, as it seems.';
    const benchmark = await commandOf(desk, 'benchmark', createSteppingClock());
    const measured = await benchmark({});
    const { results, reference, warnings } = measured.data as {
      results: object[];
      reference: object;
      warnings: string[];
    };
    const row = { model: `ollama/${Q6}`, quantisation: 'Q6_K', tokensPerSecond: 10, tokens: 10, firstMs: 1000 };
    assert.deepEqual(results, [
      { tier: 'T1', ...row },
      { tier: 'T2', ...row },
    ]);
    assert.deepEqual(reference, { machine: 'Mac Mini M4 Pro, Q6_K', T1: [15, 25], T2: [8, 15] });
    assert.deepEqual(warnings, []);
    assert.match(measured.text, /3 of 3 known questions/);
    desk.ollama.say = (_, question) => (question.includes('17') ? '43' : 'ffff ffff ffff');
    assert.match(
      (await benchmark({})).text,
      /1 of 3 known[\s\S]*Q6_K fell \(1 of 3\)[\s\S]*download it again \(talaria models pull hf\.co.*\), or take a cloud provider/,
    );
  },
);

verifies(
  ['RX.19', 'RX.21'],
  'the figures of Infra: an hour of speed, a sudden drop, the context of the last call',
  async (t) => {
    const desk = await deskOf(t, `model: ollama/${Q6}\n`);
    const app = await desk.stage.open();
    await ask(app, 'T2');
    const { context } = await figuresOf(desk, createManualClock({ now: app.clock.now() }));
    assert.deepEqual([context.used, context.of, context.usual], [110, 'T2', [20_000, 50_000]]);
    const seen = (tokens: readonly number[], of: 'T1' | 'dream' = 'T1') => ({
      ...{
        configured: 'ollama/m',
        models: [{ id: 'ollama/m', name: 'm', quantisation: 'Q6_K', bytes: 1, provider: {} as never }],
        silent: [],
      },
      ...{ loaded: [{ name: 'm', size: 32e9, size_vram: 20e9 }], reload: undefined, now: 0 },
      machine: { memoryBytes: 64e9, gpu: { name: 'card', memoryBytes: 24e9 } },
      speeds: tokens.map((tokensPerSecond) => ({
        at: '',
        model: 'ollama/m',
        of,
        tokensPerSecond,
        used: 9_000,
        size: 32_768,
      })),
    });
    const steady = infraFigures(seen([20, 21, 19, 20, 22, 20, 19, 21]));
    assert.deepEqual(steady, {
      ...{ model: 'ollama/m', quantisation: 'Q6_K', tokensPerSecond: [20, 21, 19, 20, 22, 20, 19, 21] },
      context: { used: 9_000, size: 32_768, of: 'T1', usual: [4_000, 12_000] },
      memory: { used: 20e9, size: 24e9 },
      ...{ installed: ['ollama/m'], reloading: null, warnings: [] },
    });
    assert.deepEqual(infraFigures(seen([20], 'dream')).context.usual, [96_000, 131_072]);
    const [drop] = infraFigures(seen([20, 21, 19, 20, 22, 8, 9, 8])).warnings;
    assert.match(drop ?? '', /fell from 20\.0 to 8\.0 tok\/s; heat may slow/);
    assert.deepEqual(infraFigures(seen([20, 8, 8])).warnings, [], 'too little to tell');
  },
);

function answers(question: string): string | undefined {
  if (question.includes('17')) return '43';
  if (question.includes('capital')) return 'Paris.';
  return question.includes('JSON') ? '{"ready": true}' : undefined;
}

/** Half a second passes with each look at it. */
function createSteppingClock(): ManualClock {
  const clock = createManualClock();
  let looks = 0;
  const monotonic = () => {
    looks += 1;
    return looks * 500;
  };
  return Object.assign(Object.create(clock) as ManualClock, { monotonic });
}

/** Every host that a socket is opened to, while the test runs. */
function spiedHosts(t: TestContext): string[] {
  const hosts: string[] = [];
  const { connect } = Socket.prototype;
  t.mock.method(Socket.prototype, 'connect', function (this: Socket, ...args: unknown[]) {
    const [first] = args.flat() as [{ readonly host?: string } | undefined];
    hosts.push(first?.host ?? 'a path');
    return connect.apply(this, args as Parameters<typeof connect>);
  });
  return hosts;
}
