/** `talaria gateway` in a process of its own against Telegram on loopback, killed at any moment; and what its person saw of it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { seededRandom } from '#base/ids.ts';
import { type FakeTelegram, startFakeTelegram } from '#testing/fake-telegram.ts';
import { type ServerRequest, startScriptedServer } from '#testing/scripted-server.ts';
import { COMPILE_CACHE, createCliStage, MAIN } from '../../scenario/cli-process.ts';

export interface Kills {
  readonly rounds: number;
  /** How another gateway of the home ended: code and words. */
  readonly second: string;
  readonly unanswered: number;
  readonly twice: number;
  /** As `gateway status` counts them. */
  readonly maybeTwice: number;
  readonly outOfOrder: number;
  /** Lines that the commands of all turns appended. */
  readonly lines: readonly string[];
}

/** Each message wants one line appended to a file, and is answered with its number. */
function answerTo({ body }: ServerRequest) {
  const messages = body.messages as readonly { readonly role: string; readonly content: unknown }[];
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const number = /append (\d+)/.exec(JSON.stringify(messages[at]?.content))?.[1] ?? '?';
  if (messages.length > at + 1) return `done ${number}`;
  return { calls: [{ name: 'terminal', arguments: { command: `echo ${number} >> lines.txt` } }] };
}

export async function killGateway(t: TestContext, rounds: number, seed: number): Promise<Kills> {
  const random = seededRandom(seed);
  const stage = createCliStage(t);
  const telegram = await startFakeTelegram({ context: t });
  const model = await startScriptedServer(Array.from({ length: rounds * 8 }, () => answerTo));
  t.after(() => model.close());
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  const config = [
    `model: {default: scripted-model, base_url: "${model.baseUrl}"}`,
    'sandbox: {mode: machine}',
    `gateway: {telegram: {token: "\${BOT}", api_root: "${telegram.apiRoot}", allow: [1]}}`,
  ];
  writeFileSync(join(stage.root, 'config.yaml'), config.join('\n'), { mode: 0o600 });
  const start = () => startProcess(t, stage, telegram);
  let child = start();
  for (let round = 1; round <= rounds; round += 1) {
    telegram.say(`append ${round}`);
    await pause(random() * 900);
    child.kill('SIGKILL');
    await once(child, 'exit');
    child = start();
    while (!isAnswered(telegram, round)) await pause(10);
  }
  const run = (...words: readonly string[]) => stage.run(['gateway', ...words], { env: { BOT: telegram.token } });
  // The last answer may be the work of the one before.
  while (!(await run('status', '--json')).out.includes('"runs"')) await pause(100);
  const second = await run();
  const status = await run('status', '--json');
  child.kill('SIGTERM');
  await once(child, 'exit');
  const answers = telegram
    .shown(1)
    .flatMap(({ text }) => /^done (\d+)$/.exec(text)?.[1] ?? [])
    .map(Number);
  const known = new Set(answers);
  const [{ outbox = {} } = {}] = JSON.parse(status.out || '{"channels":[]}').channels;
  return {
    rounds,
    second: `${second.code} ${second.err}`,
    unanswered: rounds - known.size,
    twice: answers.length - known.size,
    maybeTwice: outbox['maybe-twice'] ?? 0,
    outOfOrder: [...known].filter((one, at, all) => at > 0 && one < (all[at - 1] ?? 0)).length,
    lines: existsSync(join(stage.cwd, 'lines.txt'))
      ? readFileSync(join(stage.cwd, 'lines.txt'), 'utf8').trim().split('\n')
      : [],
  };
}

function isAnswered(telegram: FakeTelegram, round: number): boolean {
  return telegram.shown(1).some(({ text }) => text === `done ${round}`);
}

function startProcess(
  t: TestContext,
  { cwd, folder, root }: ReturnType<typeof createCliStage>,
  { token }: FakeTelegram,
): ChildProcess {
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

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What the promise is: answered, once, in order; no command twice. */
export function assertKept({ rounds, second, unanswered, twice, maybeTwice, outOfOrder, lines }: Kills): void {
  assert.match(second, /^3 [\s\S]*telegram is served by another program of this home \(.*\d/);
  assert.equal(unanswered, 0);
  assert.equal(outOfOrder, 0);
  assert.ok(twice <= maybeTwice, `${twice} came twice, ${maybeTwice} are counted`);
  assert.ok(twice <= Math.max(1, rounds / 100), `${twice} of ${rounds} came twice`);
  assert.equal(new Set(lines).size, lines.length, 'no command ran twice');
}
