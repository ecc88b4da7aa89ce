/**
 * Asks an endpoint as the program does: a whole turn with a home of its own, a listing, vectors, a page. As a program of its own it tells
 * how it ended and how much memory it took.
 */

import { existsSync, readFileSync } from 'node:fs';
import { systemClock } from '#base/clock.ts';
import { parseJsonObject } from '#base/json.ts';
import { absentAsker } from '#core/agent/approver.ts';
import { withRetry } from '#core/model/cascade.ts';
import { createOpenAiEmbedder } from '#core/model/embedders.ts';
import { createAnthropicClient } from '#core/model/providers/anthropic-client.ts';
import { listModels } from '#core/model/providers/list-models.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { ModelTimeouts } from '#core/model/providers/provider-options.ts';
import { createWebFetchTool } from '#core/tools/web-fetch-tool.ts';
import { openTalaria } from '#surfaces/app/embed.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import type { HostileCase } from './endpoint-cases.ts';

export const KEY = 'sentinel-0123456789-key';

export interface Asked {
  readonly to: HostileCase['to'];
  readonly origin: string;
  readonly meets?: HostileCase['meets'];
}

/** How it ended: the words for the person. */
export interface Ended {
  readonly failed: boolean;
  readonly text: string;
}

export async function askEndpoint({ to, origin, meets }: Asked): Promise<Ended> {
  const kind: 'openai' | 'anthropic' = to === 'anthropic' ? 'anthropic' : 'openai';
  const endpoint = { provider: 'acme', kind, baseUrl: `${origin}/v1`, apiKey: KEY };
  const clock = systemClock;
  const timeouts: ModelTimeouts = { connectMs: 60_000, idleMs: 60_000, ...(meets ? { [meets]: 300 } : {}) };
  const signal = new AbortController().signal;
  switch (to) {
    case 'models':
      return outcome(listModels({ ...endpoint }, { clock, timeoutMs: meets ? 1_000 : 60_000 }));
    case 'embeddings':
      return outcome(
        createOpenAiEmbedder({ endpoint, model: 'e', dimensions: 3, clock, timeouts }).embed(['one'], signal),
      );
    case 'page':
      return fetchPage(origin, meets ? 1 : 60);
    default: {
      const make = to === 'anthropic' ? createAnthropicClient : createOpenAiClient;
      const client = make({ endpoint, model: 'm', tier: 'T2', timeouts, clock });
      return turn(withRetry(client, { clock: createManualClock({ auto: true }) }));
    }
  }
}

async function outcome(work: Promise<unknown>): Promise<Ended> {
  try {
    await work;
    return { failed: false, text: '' };
  } catch (error) {
    return { failed: true, text: error instanceof Error ? error.message : String(error) };
  }
}

async function fetchPage(origin: string, seconds: number): Promise<Ended> {
  const tool = createWebFetchTool({ privateHosts: ['127.0.0.1'], seconds });
  const context = {
    sessionId: 's',
    callId: 'c',
    cwd: '/',
    clock: systemClock,
    asker: absentAsker,
    spillFolder: '/nowhere',
    history: () => [],
    redact: (text: string) => text,
    progress: () => undefined,
  };
  const output = await tool.run({ url: origin } as never, context, new AbortController().signal);
  return { failed: output.isError === true, text: output.text };
}

async function turn(client: ReturnType<typeof withRetry>): Promise<Ended> {
  using home = createTempHome();
  const talaria = await openTalaria({ home: home.path, client });
  try {
    const talk = await talaria.talk();
    let ended: Ended = { failed: true, text: 'the turn did not end' };
    for await (const event of talk.send('hello'))
      if (event.type === 'turn-end')
        ended = { failed: event.error !== undefined, text: event.error?.message ?? event.text };
    return ended;
  } finally {
    await talaria.close();
  }
}

/** What Linux counts from the start of this program; the resource usage of a child begins with that of its parent. */
function peakKilobytes(): number {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}

if (import.meta.main) {
  const asked = parseJsonObject(process.argv[2] ?? '');
  if (!asked.ok) throw new Error(asked.detail);
  const ended = await askEndpoint(asked.value as unknown as Asked);
  process.stdout.write(JSON.stringify({ ...ended, megabytes: Math.round(peakKilobytes() / 1024) }));
  process.exit();
}
