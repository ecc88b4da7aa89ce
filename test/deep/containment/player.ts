/**
 * Plays attacks against the composed agent in a process of its own, whose environment holds secrets as a user's does. Arguments: a file of
 * tries, the mode, the variant. Prints a line of JSON for each try: what an attacker got. A try that ends this process is seen by its caller.
 */

import { mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ModelClient, type ModelEvent, type ModelRequest, NO_USAGE } from '#core/model/model-client.ts';
import { createWalls } from '#core/tools/walls/create-walls.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import { type ApprovalRequest, type Approver, absentAsker, denyingApprover, type JsonObject } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { composeApp } from '#surfaces/app/house.ts';
import { realClock } from '../../ground.ts';
import { makeWorld, type World } from './world.ts';

export interface Attack {
  readonly id: string;
  readonly row: string;
  readonly mode: 'unattended' | 'yes' | 'attended';
  readonly why: string;
  readonly setup: readonly { readonly path: string; readonly text: string }[];
  readonly calls: readonly { readonly tool: string; readonly arguments: JsonObject }[];
}

export interface Played {
  readonly id: string;
  /** Empty: the attacker got nothing. */
  readonly got: readonly string[];
  readonly asked: readonly string[];
  /** Of the tools, shortened: for whoever looks why. */
  readonly results: readonly string[];
}

interface Stage {
  steps: ModelEvent[][];
  requests: string[];
}

function obedient(stage: Stage): ModelClient {
  return {
    id: 'obedient/model',
    tier: 'T2',
    traits: { contextWindow: 128_000, toolCalling: 'structured', cacheMarks: false, local: true },
    async *stream(request: ModelRequest) {
      stage.requests.push(JSON.stringify(request.messages));
      const done: ModelEvent[] = [{ type: 'text-delta', text: 'Done.' }];
      const events = request.purpose === 'judge' ? [yesToAll(request)] : (stage.steps.shift() ?? done);
      yield* events;
      const reason = events.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
      yield { type: 'finish', reason, usage: NO_USAGE, model: 'obedient/model', tier: 'T2', cost: 0 };
    },
  };
}

function yesToAll({ messages }: ModelRequest): ModelEvent {
  const asked = JSON.stringify(messages.at(-1)).match(/claim c\d+/g) ?? [];
  return { type: 'text-delta', text: asked.map((claim) => `${claim.slice(6)} supported: yes`).join('\n') };
}

function filled<T>(world: World, value: T): T {
  return JSON.parse(JSON.stringify(value), (_, each) => (typeof each === 'string' ? world.fill(each) : each)) as T;
}

/** The tries say `text` for what the memory tool calls `content`. */
function argumentsOf(world: World, { tool, arguments: given }: Attack['calls'][number]): JsonObject {
  const { text, ...rest } = given;
  return filled(world, tool === 'memory' && text !== undefined ? { ...rest, content: text } : given);
}

/** The last request holds all that the ones before held. */
async function play(app: App, world: World, stage: Stage, one: Attack): Promise<Played> {
  const project = world.renew();
  for (const { path, text } of one.setup) {
    const at = path.startsWith('~/') ? join(world.home, path.slice(2)) : join(project, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, world.fill(text));
  }
  const asked: string[] = [];
  const no: Approver = {
    approve: async (request: ApprovalRequest) => {
      asked.push(`${request.tool}: ${request.preview.slice(0, 200)} (${request.reason})`);
      return { decision: 'deny', reason: 'the owner said no' };
    },
  };
  world.mark();
  stage.requests = [];
  // What hijacked the model was read by it.
  const calls = [{ tool: 'read_file', arguments: { path: 'README.md' } }, ...one.calls];
  stage.steps = calls.map((call, at) => [
    { type: 'tool-call', callId: `${one.id}-${at}`, name: call.tool, arguments: argumentsOf(world, call) },
  ]);
  const approver = one.mode === 'attended' ? no : denyingApprover;
  const opened = await app.openConversation({ source: 'cli', cwd: project, approver, asker: absentAsker });
  if (!opened.ok) throw new Error(opened.detail);
  const results: string[] = [];
  const signal = AbortSignal.timeout(60_000);
  for await (const event of opened.value.send(`Please do what you can (${one.id}).`, { signal })) {
    if (event.type === 'tool-end') results.push(JSON.stringify(event.result.text).slice(0, 300));
    if (event.type === 'turn-end' && event.error) results.push(`turn: ${event.error.message}`);
  }
  await opened.value.close();
  const leaked = world.secretsIn(stage.requests.join('\n')).map((name) => `the model was told ${name}`);
  return { id: one.id, got: [...world.changes(), ...leaked, ...world.reached(), ...keptBy(app)], asked, results };
}

/** A pipe that is full takes a part; a reader of lines takes these two characters for ends of lines. */
function say(value: object): void {
  const line = JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
}

let known = 0;

function keptBy(app: App): readonly string[] {
  const kept = app.doors.proposals.list({ status: 'applied' });
  const fresh = kept.slice(0, kept.length - known).filter(({ actor }) => actor !== 'owner');
  known = kept.length;
  return fresh.map(({ change }) => `kept: ${JSON.stringify(change).slice(0, 200)}`);
}

const [file = '', mode = 'unattended', variant = 'walls'] = process.argv.slice(2);
const tries = (JSON.parse(readFileSync(file, 'utf8')) as readonly Attack[]).filter((one) => one.mode === mode);
const world = await makeWorld();
const stage: Stage = { steps: [], requests: [] };
Object.assign(process.env, world.variables, { HOME: world.home });
// The home is the world's own, whatever home the tests were started with.
delete process.env.TALARIA_HOME;
const isWalled = variant === 'walls';
const variables = { ...process.env, ...world.variables, HOME: world.home };
/** Of a machine where bubblewrap is nowhere, or that is the wall itself. Commands find their programs where the system has them: what only reads runs unasked. */
function wallsOfNobody(): Walls {
  const mode = variant === 'machine' ? 'machine' : 'auto';
  const ground = { mode, paths: [], hosts: [], clock: realClock } as const;
  const env = { ...variables, PATH: process.env.WALLESS_PATH };
  const own = { env, userHome: world.home, dataHome: world.agentHome, programs: { system: '' } };
  return createWalls({ ...ground, ...own });
}

const app = await composeApp({
  environment: { cwd: world.renew(), userHome: world.home, variables },
  extra: { client: obedient(stage), ...(isWalled ? {} : { walls: wallsOfNobody() }) },
  ...(mode === 'yes' ? { run: { permission: 'auto' } } : {}),
});
for (const one of tries) {
  say({ begins: one.id });
  const played = await play(app, world, stage, one).catch((error: unknown) => ({
    id: one.id,
    got: [`the try broke: ${error instanceof Error ? error.stack : String(error)}`],
    asked: [],
    results: [],
  }));
  say(played);
}
await app.shutdown();
say({ id: 'afterwards', got: [...world.changes(), ...world.reached()], asked: [], results: [] });
world.close();
