/** The clients against a stub server that was written by others: a tool round, and a second request that extends the first. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { createAnthropicClient } from '#core/model/providers/anthropic-client.ts';
import { listModels } from '#core/model/providers/list-models.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { Message, ModelRequest } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { collect, textOf } from '../../contract/model-client.contract.ts';

const data = process.env.TALARIA_DATA;
const TERMINAL = {
  name: 'terminal',
  description: 'Runs a shell command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
} as const;

describe('stub server', () => {
  for (const kind of ['openai', 'anthropic'] as const) {
    const skip = data === undefined ? 'skipped: set TALARIA_DATA' : false;
    test(`${kind}: a tool round`, { skip }, async (context) => {
      const home = createTempHome(context);
      const port = await freePort();
      const env = { ...process.env, PORT: String(port), LOGDIR: home.path };
      const stub = spawn(process.execPath, [join(data ?? '', 'bench', 'stub.mjs')], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      context.after(() => stub.kill());
      await once(stub.stdout, 'data');

      const endpoint = { provider: kind, kind, baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'x' };
      const [listed] = await listModels(endpoint);
      assert.deepEqual(listed, { id: 'stub-model', contextWindow: 128_000 });
      const make = kind === 'openai' ? createOpenAiClient : createAnthropicClient;
      const client = make({ endpoint, model: 'stub-model', tier: 'T2' });
      const first: ModelRequest = {
        system: 'Be brief.',
        messages: [userMessage('run echo hi')],
        tools: [TERMINAL],
        purpose: 'answer',
      };
      const [call] = await collect(client, first);
      assert.ok(call?.type === 'tool-call');
      assert.deepEqual(call.arguments, { command: 'echo hi' });
      const { callId, name, arguments: args } = call;
      const answered: Message[] = [
        ...first.messages,
        {
          role: 'assistant',
          model: client.id,
          parts: [{ type: 'tool-call', callId, name, arguments: args, origin: 'model' }],
        },
        {
          role: 'tool',
          parts: [
            {
              type: 'tool-result',
              callId,
              name,
              text: 'hi',
              isError: false,
              origin: 'foreign',
              observed: { ms: 1, bytes: 2 },
            },
          ],
        },
      ];
      const events = await collect(client, { ...first, messages: answered });
      assert.equal(textOf(events), 'The command printed: hi');
      const [before, after] = bodies(home.path);
      assert.ok(before && after);
      assert.deepEqual(after.slice(0, before.length), before);
      assert.equal(after.length, before.length + 2);
    });
  }
});

/** The messages of the recorded requests, without cache marks. */
function bodies(folder: string): unknown[][] {
  const files = readdirSync(folder)
    .filter((name) => name.startsWith('req-'))
    .sort();
  return files.map((name) => {
    const unmarked = readFileSync(join(folder, name), 'utf8').replace(/,"cache_control":\{[^}]*\}/g, '');
    return (JSON.parse(unmarked) as { messages: unknown[] }).messages;
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
