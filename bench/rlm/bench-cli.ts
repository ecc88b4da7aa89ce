/**
 * `npm run bench -- rlm …`: the benches of recursion, typed like commands of `talaria` and run over the composed agent and the home of
 * whoever types. They are no part of the package: published tables, fixtures and what compares with the original are for a checkout.
 */
import { Command } from 'commander';
import { systemClock } from '#base/clock.ts';
import type { App } from '#surfaces/app/app.ts';
import { holdSecrets, readEnvironment } from '#surfaces/app/environment.ts';
import { lendGround } from '#surfaces/app/ground.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { composeApp } from '#surfaces/app/house.ts';
import { type Invocation, mountCommands } from '#surfaces/cli/mount-command.ts';
import { renderOutput } from '#surfaces/cli/render-output.ts';
import { benchCommands } from './commands.ts';

const TARGET = { out: (text: string) => process.stdout.write(text), err: (text: string) => process.stderr.write(text) };

/** @param words behind `npm run bench --`, from `rlm` on. Resolves to the exit code of the command. */
export async function runRlmBench(words: readonly string[]): Promise<number> {
  holdSecrets();
  const environment = readEnvironment();
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let opened: Promise<App> | undefined;
  const app = () => {
    opened ??= composeApp({ environment });
    return opened;
  };
  const ground = lendGround({ environment, home: findHome(environment), clock: systemClock, app });
  const program = new Command('npm run bench --');
  const typed: Invocation[] = [];
  mountCommands(program, benchCommands(ground), (invocation) => {
    typed.push(invocation);
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
    const [invocation] = typed;
    if (invocation === undefined) return 2;
    const context = { cwd: environment.cwd, signal: stop.signal };
    return await renderOutput(invocation.command.run(invocation.input as never, context), invocation.json, TARGET);
  } finally {
    await (await opened)?.shutdown();
  }
}
