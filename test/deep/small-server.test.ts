/** The page "Talaria on a small server", typed word for word into a fresh home: it ends with an answer in the chat and a scheduled message. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type FakeTelegram, startFakeTelegram } from '#testing/fake-telegram.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { COMPILE_CACHE } from '../scenario/cli-process.ts';

const root = resolve(import.meta.dirname, '../..');
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** A folder in which `bin/talaria` is the program, and a systemd that does as it is told. */
function place(t: TestContext) {
  const { path: home } = createTempHome(t);
  symlinkSync(join(root, 'bin'), join(home, 'bin'));
  mkdirSync(join(home, 'machine'));
  for (const name of ['systemctl', 'loginctl']) {
    writeFileSync(join(home, 'machine', name), '#!/bin/sh\nexit 0\n');
    chmodSync(join(home, 'machine', name), 0o755);
  }
  const path = [join(home, 'machine'), process.env.PATH ?? ''].join(delimiter);
  const env = { PATH: path, HOME: home, NODE_COMPILE_CACHE: COMPILE_CACHE, NO_COLOR: '1' };
  const run = (...argv: readonly [string, ...string[]]) => {
    const child = spawn(argv[0], argv.slice(1), { cwd: home, env, stdio: ['pipe', 'pipe', 'pipe'] });
    t.after(() => child.kill());
    return child;
  };
  return { home, run };
}

/** Waits until the bot wrote it, and gives it. */
async function shown(telegram: FakeTelegram, text: RegExp): Promise<string> {
  for (;;) {
    const found = telegram.shown(1).find((one) => text.test(one.text));
    if (found) return found.text;
    await pause(50);
  }
}

test('every line of the page works, in order; the bot answers, and brings what was scheduled', {
  timeout: 240_000,
}, async (t) => {
  const telegram = await startFakeTelegram({ context: t });
  const model = await startScriptedServer(
    Array.from({ length: 9 }, () => ({ body }) => {
      return JSON.stringify(body).includes('the schedule works') ? 'The schedule works.' : 'Good morning, Ada.';
    }),
  );
  t.after(() => model.close());
  const { home, run } = place(t);
  const typed = async (lines: string) => {
    const shell = run('sh', '-e');
    let said = '';
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (said += chunk));
    shell.stdin.end(lines);
    const [code] = await once(shell, 'close');
    return { code, said };
  };
  const page = readFileSync(join(root, 'docs/guide/small-server.md'), 'utf8');
  const blocks = Array.from(page.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, block = '']) => block);
  const [set = '', pair = '', keep = ''] = blocks;
  assert.equal(blocks.length, 3);

  const own = `bin/talaria config set gateway.telegram.api_root ${telegram.apiRoot}\nbin/talaria config set serve.port 0\n`;
  const first = set
    .replace(/^npm install\n/, '')
    .replace(/setup .*/, `setup --base-url ${model.baseUrl} --model scripted-model`)
    .replace('TOKEN=…', `TOKEN=${telegram.token}`);
  const lost = await typed('bin/talaria sessions export --all --format openai x.jsonl');
  assert.match(`${lost.code} ${lost.said}`, /^3 No session fits that/);
  const early = await typed('bin/talaria gateway');
  assert.match(
    `${early.code} ${early.said}`,
    /^3 There is neither a bot with its token nor a webhook\.\nPut TELEGRAM_BOT_TOKEN into \.env/,
  );
  const ready = await typed(first + own);
  assert.equal(ready.code, 0, ready.said);

  telegram.say('hello');
  const code = join(home, 'code');
  const told = shown(telegram, /gateway pair \w/).then((text) => writeFileSync(code, text.split(' ').at(-1) ?? ''));
  const paired = await typed(pair.replace('RFSHL37E', `"$(until [ -s ${code} ]; do sleep 0.1; done; cat ${code})"`));
  await told;
  assert.match(paired.said, /Talaria answers in telegram\n[\s\S]*Ada \(telegram\) is an owner now\.\n/);
  assert.match(paired.said, /\nAda \(telegram 1\): owner/);
  assert.equal(paired.code, 0, paired.said);

  const literal = await typed(keep);
  assert.equal(literal.code, 3, literal.said);
  const kept = await typed(keep.replaceAll('telegram:CHAT', 'telegram:1'));
  assert.equal(kept.code, 0, kept.said);
  const unit = readFileSync(join(home, '.config/systemd/user/talaria-serve.service'), 'utf8');
  const [, line = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  run('sh', '-c', `exec ${line}`);
  telegram.say('good morning');
  await shown(telegram, /^Good morning, Ada\.$/);
  await shown(telegram, /^The schedule works\.$/);
});
