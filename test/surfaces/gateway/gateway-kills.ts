/** `talaria gateway` in a process of its own against Telegram on loopback, killed at any moment; and what its people saw of it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { seededRandom } from '#base/ids.ts';
import { type FakeTelegram, startFakeTelegram } from '#testing/fake-telegram.ts';
import { type ServerRequest, type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { COMPILE_CACHE, createCliStage, MAIN } from '../../scenario/cli-process.ts';

export interface Kills {
  readonly said: number;
  /** Kills by what was going on. */
  readonly moments: Readonly<Record<string, number>>;
  /** How another gateway of the home ended: code and words. */
  readonly second: string;
  readonly unanswered: number;
  readonly twice: number;
  /** Answers that Telegram showed without a word to us, or just when a kill came: they may come twice whatever we do. */
  readonly lost: number;
  /** As `gateway status` counts them. */
  readonly maybeTwice: number;
  readonly outOfOrder: number;
  /** Times that a person was asked whether it shall go on. */
  readonly asked: number;
  /** Messages that want a line appended. */
  readonly wanted: number;
  /** Lines that the commands of all turns appended. */
  readonly lines: readonly string[];
}

type Moment = 'receiving' | 'thinking' | 'tool' | 'sending';
/** A kill comes within so many ms of it. */
const SPAN: Readonly<Record<Moment, number>> = { receiving: 40, thinking: 60, tool: 150, sending: 40 };
const MOMENTS = Object.keys(SPAN) as readonly Moment[];

interface World {
  readonly random: () => number;
  readonly stage: ReturnType<typeof createCliStage>;
  readonly telegram: FakeTelegram;
  /** Whether this one wants a line appended. */
  readonly acts: (number: number) => boolean;
  /** Where the newest turn is. */
  moment: Moment;
  child: ChildProcess;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (holds: () => boolean) => {
  while (!holds()) await pause(4);
};

/**
 * Each message is one `append N`: a line N is appended to a file, and all that is open is answered with its numbers, by a model that takes its
 * time. It believes the result of a call that was cut off: it looks before it appends again.
 */
async function answerTo({ body }: ServerRequest, world: World): Promise<ServerStep> {
  const messages = body.messages as readonly { readonly role: string; readonly content: unknown }[];
  const isDone = ({ role, content }: (typeof messages)[number]) =>
    role === 'assistant' && /done \d/.test(JSON.stringify(content));
  const texts = (role: string) =>
    messages
      .slice(messages.findLastIndex(isDone) + 1)
      .flatMap((one) => (one.role === role ? [JSON.stringify(one.content)] : []));
  if (!texts('user').at(-1)?.includes('append')) return 'Nothing to learn.';
  world.moment = 'thinking';
  await pause(world.random() * 120);
  const open = texts('user').flatMap((text) => [...text.matchAll(/append (\d+)/g)].map(([, one = '']) => one));
  const number = open.at(-1) ?? '?';
  const result = messages.at(-1)?.role === 'tool' ? texts('tool').at(-1) : undefined;
  const isCut = result?.includes('check before repeating') === true;
  const isTool = isCut || (result === undefined && world.acts(Number(number)));
  world.moment = isTool ? 'tool' : 'sending';
  if (!isTool) return `done ${open.join(' ')}`;
  const command = `${isCut ? `grep -qx ${number} lines.txt || ` : ''}echo ${number} >> lines.txt; sleep 0.05`;
  return { calls: [{ name: 'terminal', arguments: { command } }] };
}

async function createWorld(t: TestContext, seed: number, acts: World['acts']): Promise<World> {
  const [stage, telegram] = [createCliStage(t), await startFakeTelegram({ context: t })];
  const steps = Array.from({ length: 10_000 }, () => (request: ServerRequest) => answerTo(request, world));
  const model = await startScriptedServer(steps);
  t.after(() => model.close());
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  const config = [
    `model: {default: scripted-model, base_url: "${model.baseUrl}"}`,
    'sandbox: {mode: machine}',
    `gateway: {telegram: {token: "\${BOT}", api_root: "${telegram.apiRoot}", allow: [1]}}`,
  ];
  writeFileSync(join(stage.root, 'config.yaml'), config.join('\n'), { mode: 0o600 });
  const child = startProcess(t, stage, telegram);
  const world: World = { random: seededRandom(seed), stage, telegram, acts, moment: 'receiving', child };
  return world;
}

async function killOnce(t: TestContext, world: World): Promise<void> {
  world.child.kill('SIGKILL');
  await once(world.child, 'exit');
  world.moment = 'receiving';
  world.child = startProcess(t, world.stage, world.telegram);
}

/** What becomes of the answer on its way: mostly it hangs where it is to be killed there, and seldom its receipt is lost. */
function faultOf({ random, telegram }: World, at: Moment): 'hang' | 'lost' | undefined {
  const fault = at === 'sending' && random() < 0.9 ? 'hang' : random() < 1 / 200 ? 'lost' : undefined;
  if (fault) telegram.fault('sendMessage', fault);
  return fault;
}

/** One person, a message a round, and a kill at a moment of its turn. */
export async function killGateway(t: TestContext, rounds: number, seed: number): Promise<Kills> {
  const world = await createWorld(t, seed, () => true);
  const { random, telegram } = world;
  const moments: Record<string, number> = {};
  let lost = 0;
  for (let round = 1; round <= rounds; round += 1) {
    world.moment = 'receiving';
    const at = MOMENTS[Math.floor(random() * MOMENTS.length)] ?? 'tool';
    const sends = countSends(telegram);
    const fault = faultOf(world, at);
    const hangs = fault === 'hang';
    // Who writes has read the last answer: it is noted by then.
    await pause(150);
    telegram.say(`append ${round}`);
    const isThere = () => world.moment === at && !(hangs && countSends(telegram) === sends);
    await until(() => isThere() || isAnswered(telegram, round));
    await pause(random() * SPAN[at]);
    const moment = isAnswered(telegram, round) ? 'answered' : world.moment;
    moments[moment] = (moments[moment] ?? 0) + 1;
    if (fault === 'lost' || (!hangs && /answered|sending/.test(moment))) lost += 1;
    await killOnce(t, world);
    await until(() => isAnswered(telegram, round));
  }
  return { ...(await lookAt(world, [{ chat: 1, numbers: range(rounds) }])), moments, lost };
}

/** Groups that one person writes in, each at its own pace, while processes die whatever goes on. */
export async function killAmongMany(t: TestContext, chats: number, each: number, kills: number): Promise<Kills> {
  const world = await createWorld(t, chats, (number) => number % 4 === 0);
  const { random, telegram } = world;
  const all = range(chats).map((one) => ({ chat: -one, numbers: range(each).map((i) => one * 1_000 + i) }));
  const talks = all.map(async ({ chat, numbers }) => {
    for (const number of numbers) {
      telegram.say(`@talaria_bot append ${number}`, { chat });
      await pause(random() * 3_000);
      if (random() < 0.3) await pause(random() * 300);
      else while (!isAnswered(telegram, number, chat)) await goOn(telegram, chat);
    }
    while (numbers.some((one) => !isAnswered(telegram, one, chat))) await goOn(telegram, chat);
  });
  let isOver = false;
  const ended = Promise.all(talks).then(() => {
    isOver = true;
  });
  const moments: Record<string, number> = {};
  for (let kill = 1; kill <= kills && !isOver; kill += 1) {
    await until(() => isOver || world.moment !== 'receiving');
    await pause(random() * 1_500);
    moments[world.moment] = (moments[world.moment] ?? 0) + 1;
    await killOnce(t, world);
  }
  await ended;
  return { ...(await lookAt(world, all)), moments, lost: 0 };
}

/** A person who is asked says yes, once. */
async function goOn(telegram: FakeTelegram, chat: number): Promise<void> {
  await pause(150);
  const open = telegram.shown(chat).findLast(({ buttons }) => buttons.flat().includes('Go on'));
  if (open && !pressed.has(open)) telegram.press('Go on', { chat });
  if (open) pressed.add(open);
}

const pressed = new WeakSet<object>();
const range = (length: number) => Array.from({ length }, (_, i) => i + 1);
const countSends = ({ calls }: FakeTelegram) => calls.filter(({ method }) => method === 'sendMessage').length;

/** What people saw, and what the gateway says of itself. */
async function lookAt(
  { stage, telegram, child, acts }: World,
  all: readonly { readonly chat: number; readonly numbers: readonly number[] }[],
): Promise<Omit<Kills, 'moments' | 'lost'>> {
  const run = (...words: readonly string[]) => stage.run(['gateway', ...words], { env: { BOT: telegram.token } });
  // The last answer may be the work of the one before.
  while (!(await run('status', '--json')).out.includes('"runs"')) await pause(100);
  const second = await run();
  const status = await run('status', '--json');
  child.kill('SIGTERM');
  await once(child, 'exit');
  const file = join(stage.cwd, 'lines.txt');
  const seen = all.map(({ chat }) => answersIn(telegram, chat));
  const [{ outbox = {} } = {}] = JSON.parse(status.out || '{"channels":[]}').channels;
  const said = all.flatMap(({ numbers }) => numbers);
  const known = new Set(seen.flat());
  return {
    said: said.length,
    second: `${second.code} ${second.err}`,
    unanswered: said.filter((one) => !known.has(one)).length,
    twice: seen.flat().length - known.size,
    maybeTwice: outbox['maybe-twice'] ?? 0,
    outOfOrder: seen.reduce((sum, one) => sum + backwards([...new Set(one)]), 0),
    asked: telegram.shown().filter(({ buttons }) => buttons.flat().includes('Go on')).length,
    wanted: said.filter(acts).length,
    lines: existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [],
  };
}

function backwards(numbers: readonly number[]): number {
  return numbers.filter((one, at) => at > 0 && one < (numbers[at - 1] ?? 0)).length;
}

function answersIn(telegram: FakeTelegram, chat: number): readonly number[] {
  const texts = telegram.shown(chat).flatMap(({ text }) => /^done ([\d ]+)$/.exec(text)?.[1] ?? []);
  return texts.flatMap((text) => text.split(' ').map(Number));
}

function isAnswered(telegram: FakeTelegram, number: number, chat = 1): boolean {
  return answersIn(telegram, chat).includes(number);
}

function startProcess(t: TestContext, { cwd, folder, root }: World['stage'], { token }: FakeTelegram): ChildProcess {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    TALARIA_HOME: root,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    BOT: token,
  };
  const child = spawn(process.execPath, [MAIN, 'gateway'], { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

/** What the promise is: answered, once, in order; no command twice. */
export function assertKept({ second, unanswered, twice, maybeTwice, outOfOrder, lines }: Kills): void {
  assert.match(second, /^3 [\s\S]*telegram is served by another program of this home \(.*\d/);
  assert.equal(unanswered, 0);
  assert.equal(outOfOrder, 0);
  assert.ok(twice <= maybeTwice, `${twice} came twice, ${maybeTwice} are counted`);
  assert.equal(new Set(lines).size, lines.length, 'no command ran twice');
}

/** Of all that was said one in a hundred may come twice; what Telegram lost, or showed in the moment of a kill, is beside that. */
export function assertSeldomTwice(all: readonly Kills[]): void {
  const sum = (of: (kills: Kills) => number) => all.reduce((before, one) => before + of(one), 0);
  assert.ok(sum(({ twice, lost }) => twice - lost) <= Math.max(1, sum(({ said }) => said) / 100));
}

/** For a diagnostic. */
export function figuresOf({ lines, second, ...rest }: Kills): string {
  return JSON.stringify({ ...rest, lines: lines.length, second: second.slice(0, 1) });
}
