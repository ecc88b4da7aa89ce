/**
 * A bot in Telegram, as a person sees it: a stranger gets a code, is let in, writes, says yes to a command by a button, and gets what a job
 * of the schedule brought. Telegram is the one of `talaria/testing` on loopback, and the model is a script: `node examples/gateway.ts`.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startFakeTelegram, startScriptedServer } from 'talaria/testing';

const folder = mkdtempSync(join(tmpdir(), 'talaria-example-'));
const [home, work] = [join(folder, 'home'), join(folder, 'work')];
const program = join(import.meta.dirname, '../bin/talaria');
const telegram = await startFakeTelegram();
const model = await startScriptedServer([
  'Good morning! What shall I do?',
  { calls: [{ name: 'terminal', arguments: { command: 'rm -r build' } }] },
  'The build folder is gone.',
  'Two tests broke overnight: parser and clock.',
]);
mkdirSync(join(work, 'build'), { recursive: true });
mkdirSync(home, { mode: 0o700 });
const config = [
  `model: {default: scripted-model, base_url: "${model.baseUrl}"}`,
  `gateway: {telegram: {api_root: "${telegram.apiRoot}"}}`,
];
writeFileSync(join(home, 'config.yaml'), config.join('\n'));
const env = { ...process.env, HOME: folder, TALARIA_HOME: home, TELEGRAM_BOT_TOKEN: telegram.token };

/** What was shown of it so far. */
let seen = 0;

/** Shows what the bot wrote until a line of it fits. */
async function until(fits: RegExp): Promise<string> {
  for (let tries = 0; tries < 600; tries += 1) {
    for (const { text, buttons } of telegram.shown(1).slice(seen)) {
      seen += 1;
      console.log(`  bot  ${text.replaceAll('\n', '\n       ')}`);
      if (buttons.length > 0) console.log(`       [${buttons.flat().join('] [')}]`);
      if (fits.test(text)) return text;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the bot said nothing like ${fits}`);
}

function say(text: string): void {
  console.log(`  Ada  ${text}`);
  telegram.say(text);
}

async function talaria(...args: readonly string[]): Promise<void> {
  console.log(`$ talaria ${args.join(' ')}`);
  const { stdout } = await promisify(execFile)(program, args, { cwd: work, env });
  console.log(stdout.trimEnd());
}

const gateway: ChildProcess = spawn(program, ['gateway'], { cwd: work, env, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const [line] = await once(gateway.stdout as NonNullable<typeof gateway.stdout>, 'data');
  console.log(`$ talaria gateway\n${String(line).trimEnd()}`);
  say('Hello?');
  const code = /pair (\S+)$/.exec(await until(/pair \S+$/))?.[1] ?? '';
  await talaria('gateway', 'pair', code);
  await until(/let in/);
  say('Good morning');
  await until(/What shall I do/);
  say('Clean up');
  await until(/May this run/);
  console.log('  Ada  presses Once');
  telegram.press('Once');
  await until(/is gone/);
  await talaria(
    'cron',
    'create',
    'every day at 9:00',
    'What broke overnight?',
    '--name',
    'tests',
    '--deliver',
    'telegram:1',
  );
  await talaria('cron', 'run', 'tests');
  await until(/Two tests broke/);
  if (existsSync(join(work, 'build'))) throw new Error('the command did not run');
} finally {
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
  await Promise.all([telegram.close(), model.close()]);
  rmSync(folder, { recursive: true, force: true });
}
