/** A home with stored runs, and the commands that look at them. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { storedCommands } from '#extensions/rlm/commands/stored-commands.ts';
import { openTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import type { CommandOutput, Ground, JsonObject } from '#public/talaria.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { testGround } from '../../../ground.ts';
import { dying, harbour, type Prepared, requestOver, run, type Script, scripted } from '../run/run-ground.ts';

export interface Stored {
  readonly home: TempHome;
  readonly ground: Ground;
}

/** Nothing may be asked: opening the agent is a failure. */
export function storedHome(context: TestContext): Stored {
  const home = createTempHome(context);
  const ground = testGround({ places: { home: home.path, userHome: home.path } });
  return { home, ground };
}

export interface StoreRun {
  readonly run_id?: string;
  readonly script?: Script;
  readonly prepared?: Prepared;
}

const limits = { max_depth: 5, max_iterations: 1_000, max_in_flight: 2, max_retries: 1 };

export function sampleRequest(chunks = 3): Prepared {
  return requestOver(harbour(chunks), { limits });
}

export async function storeRun(
  { home }: Pick<Stored, 'home'>,
  { run_id = 'run_one', script, prepared = sampleRequest() }: StoreRun = {},
): Promise<void> {
  const store = openTraceStore(home.path);
  try {
    await run(prepared, { store, run_id, inner: scripted(script) });
  } finally {
    store.close();
  }
}

/** Killed when so many calls were answered. */
export async function storeKilled(
  { home }: Pick<Stored, 'home'>,
  answers: number,
  run_id = 'run_killed',
): Promise<void> {
  const store = openTraceStore(home.path);
  let asked = 0;
  const last = dying(answers);
  const inner: InnerCall = {
    family: 'default',
    call: (request, signal) => {
      asked += 1;
      return last.call(request, signal);
    },
  };
  const dead = run(sampleRequest(), { store, run_id, inner });
  // What the other branch in flight still writes after the kill, no process would have written.
  dead.catch(() => {});
  while (asked <= answers) await new Promise((resolve) => setImmediate(resolve));
  store.close();
}

export interface Ran {
  readonly text: string;
  readonly data: JsonObject;
  readonly failure: Extract<CommandOutput, { type: 'failure' }> | undefined;
}

export async function ran(
  ground: Ground,
  name: string,
  flags: JsonObject = {},
  cwd = ground.places.home,
): Promise<Ran> {
  const command = storedCommands(ground).find((one) => one.name === `rlm ${name}`);
  assert.ok(command, name);
  const outputs: CommandOutput[] = [];
  const input = command.input.parse(flags) as never;
  for await (const output of command.run(input, { cwd, signal: new AbortController().signal })) outputs.push(output);
  const lines = outputs.flatMap((output) => {
    if (output.type === 'line') return [output.text];
    return output.type === 'table' ? [output.columns, ...output.rows].map((row) => row.join(' | ')) : [];
  });
  const data = outputs.find((output) => output.type === 'data')?.value as JsonObject;
  return { text: lines.join('\n'), data, failure: outputs.find((output) => output.type === 'failure') };
}
