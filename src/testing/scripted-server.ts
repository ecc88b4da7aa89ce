// Owns a provider on loopback that answers from a script: OpenAI chat completions and Anthropic messages as event streams, and
// `/models`. Knows no client. Invariant: a request beyond the script gets status 500 and makes `done()` throw; so do leftovers.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { TalariaError } from '#base/errors.ts';
import { parseJsonObject } from '#base/json.ts';
import { frozenSnapshot } from './deep-freeze.ts';
import { playServerStep } from './server/play-step.ts';
import { resolveServerStep, type ServerRequest, type ServerStep } from './server/server-step.ts';
import type { Teardown } from './teardown.ts';

export interface ScriptedServerOptions {
  /** Entries of `/models`; a string is an id. Default one model, `scripted-model`. */
  readonly models?: readonly (string | { readonly id: string; readonly [field: string]: unknown })[];
  /** Answers `/models` instead of the list. */
  readonly modelsStep?: ServerStep;
  /** A test context: the server is closed, and `done()` runs, when the test ends. */
  readonly context?: Teardown;
}

export interface ScriptedServer {
  /** `http://127.0.0.1:<port>/v1` */
  readonly baseUrl: string;
  /** Frozen, oldest first; model calls only. */
  readonly requests: readonly ServerRequest[];
  /** Connections that are open now. */
  readonly openSockets: number;
  push(...steps: readonly ServerStep[]): void;
  /** Throws when steps are left over or a call came that the script did not expect. */
  done(): void;
  close(): Promise<void>;
}

export async function startScriptedServer(
  steps: readonly ServerStep[],
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const queue = [...steps];
  const requests: ServerRequest[] = [];
  const sockets = new Set<Socket>();
  const unexpected: string[] = [];
  let ids = 0;
  const nextId = () => `call_${++ids}`;

  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(message);
    const listing = request.method === 'GET' && request.path.endsWith('/models');
    if (!listing) requests.push(request);
    const step = listing ? (options.modelsStep ?? modelsStep(options)) : queue.shift();
    if (step === undefined) unexpected.push(`${request.method} ${request.path}`);
    const played = step ?? { status: 500, body: { error: { message: 'the script did not expect this call' } } };
    playServerStep(resolveServerStep(played, request), { request, response, nextId });
  };
  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);

  const done = () => {
    const wrong = [
      ...unexpected.map((what) => `unexpected ${what}`),
      ...(queue.length > 0 ? [`${queue.length} steps left over`] : []),
    ];
    if (wrong.length > 0) throw new TalariaError(`scripted server: ${wrong.join(', ')}`, { code: 'script-unexpected' });
  };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  options.context?.after(async () => {
    await close();
    done();
  });
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    get openSockets() {
      return sockets.size;
    },
    push: (...more) => {
      queue.push(...more);
    },
    done,
    close,
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function readRequest(message: IncomingMessage): Promise<ServerRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk as Uint8Array);
  const raw = Buffer.concat(chunks).toString('utf8');
  const body = parseJsonObject(raw);
  const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)]);
  return frozenSnapshot({
    method: message.method ?? '',
    path: (message.url ?? '').split('?')[0] ?? '',
    headers: Object.fromEntries(headers),
    body: body.ok ? body.value : {},
    raw,
  });
}

function modelsStep({ models = ['scripted-model'] }: ScriptedServerOptions): ServerStep {
  const data = models.map((entry) => (typeof entry === 'string' ? { id: entry, object: 'model' } : entry));
  return { status: 200, body: JSON.stringify({ object: 'list', data }) };
}
