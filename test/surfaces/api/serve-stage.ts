/** `talaria serve` in this process: the command itself, a home of its own, a model that answers from a script. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { AnyCommand, CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import { serveCommands } from '#surfaces/api/commands.ts';
import type { App, AppOptions } from '#surfaces/app/app.ts';
import type { ServePart } from '#surfaces/app/serve-part.ts';
import { type ScriptedServer, type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { createStage, groundOf, type Stage } from '../app/app-fixture.ts';

export const KEY = 'a-key-of-the-owner';

export interface ServeOptions {
  readonly config?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly app?: Partial<AppOptions>;
  readonly variables?: Record<string, string>;
  readonly parts?: readonly ServePart[];
}

export interface Served {
  readonly url: string;
  readonly model: ScriptedServer;
  readonly stage: Stage;
  readonly app: App;
  /** As an authorised client. */
  call(path: string, body?: unknown, init?: RequestInit): Promise<Response>;
  /** The answer's object. */
  json(path: string, body?: unknown, init?: RequestInit): Promise<Json>;
  /** What SIGTERM does. */
  stop(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked at freely
export type Json = any;

export async function modelStage(
  t: TestContext,
  steps: readonly ServerStep[],
  { config = '', variables }: ServeOptions = {},
) {
  const model = await startScriptedServer(steps, { context: t });
  const stage = createStage(t, { TALARIA_API_KEY: KEY, ...variables });
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  const head = `model:\n  default: scripted-model\n  base_url: ${model.baseUrl}\n`;
  writeFileSync(join(stage.root, 'config.yaml'), head + config, { mode: 0o600 });
  return { model, stage };
}

/** One command of the surface, as the shell would run it. */
export function commandOf(
  t: TestContext,
  stage: Stage,
  name: string,
  app: () => Promise<App> = () => stage.open({ serves: true }),
  parts: readonly ServePart[] = [],
): AnyCommand {
  const seat = {
    ground: groundOf(t, { environment: stage.environment }),
    version: '1.2.3',
    app,
    parts: async () => parts,
  };
  const found = serveCommands(seat).find((command) => command.name === name);
  if (!found) throw new Error(`no command ${name}`);
  return found;
}

export function runOf(
  command: AnyCommand,
  input: unknown,
  context: Partial<CommandContext> = {},
): AsyncIterator<CommandOutput> {
  const place = { cwd: '/', signal: new AbortController().signal, ...context };
  return command.run(command.input.parse(input) as never, place)[Symbol.asyncIterator]();
}

export async function startServe(
  t: TestContext,
  steps: readonly ServerStep[],
  options: ServeOptions = {},
): Promise<Served> {
  const { model, stage } = await modelStage(t, steps, options);
  const app = await stage.open({ serves: true, ...options.app });
  const stopped = new AbortController();
  const command = commandOf(t, stage, 'serve', async () => app, options.parts);
  const outputs = runOf(command, { port: 0, ...options.input }, { signal: stopped.signal });
  const first = (await outputs.next()).value;
  const text = first?.type === 'line' ? first.text : JSON.stringify(first);
  const url = /http:\/\/[^;]+/.exec(text)?.[0] ?? text;
  // What runs beside the server begins behind its first line.
  const ended = (async () => {
    while ((await outputs.next()).done !== true);
  })();
  const stop = async () => {
    stopped.abort();
    await ended;
  };
  t.after(stop);
  const call = (path: string, body?: unknown, { headers, ...init }: RequestInit = {}) =>
    fetch(url + path, {
      ...(body === undefined ? {} : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...init,
      headers: { authorization: `Bearer ${KEY}`, ...headers },
    });
  const json = async (path: string, body?: unknown, init?: RequestInit) => (await call(path, body, init)).json();
  return { url, model, stage, app, call, json, stop };
}

/** Events of a stream: what stands behind `data:`, parsed. */
export function eventsIn(text: string): readonly Json[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]');
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Json);
}

export const ask = (content: unknown, more: object = {}) => ({
  model: 'talaria',
  messages: [{ role: 'user', content }],
  ...more,
});
