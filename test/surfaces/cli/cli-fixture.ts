/** A composed agent in a throw-away home that talks to a scripted provider over HTTP. */
import type { TestContext } from 'node:test';
import type { App, AppOptions } from '#surfaces/app/app.ts';
import { type ScriptedServer, type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { createStage, type Stage } from '../app/app-fixture.ts';

export interface Served {
  readonly stage: Stage;
  readonly server: ScriptedServer;
  readonly app: App;
}

export async function openServed(
  t: TestContext,
  steps: readonly ServerStep[],
  options: Partial<AppOptions> = {},
): Promise<Served> {
  const server = await startScriptedServer(steps, { models: ['m', 'other'], context: t });
  const stage = createStage(t, { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' });
  return { stage, server, app: await stage.open(options) };
}

export interface Written {
  out: string;
  err: string;
}

/** Somewhere to print to, kept as text. */
export function createTarget(signal: AbortSignal = new AbortController().signal) {
  const written: Written = { out: '', err: '' };
  return {
    written,
    target: {
      out: (text: string) => {
        written.out += text;
      },
      err: (text: string) => {
        written.err += text;
      },
      signal,
    },
  };
}
