// An Ollama on loopback: lists, what is in memory, downloads that break where they are told to and go on from there, and chat over its `/v1`
// face, which can be held as a load holds it. Invariant: what was asked is recorded in order.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from '#testing/temp-home.ts';

interface Body {
  readonly model?: string;
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
}

export interface ScriptedOllama {
  /** With `/v1`. */
  readonly baseUrl: string;
  /** Names in the order of their chat requests. */
  readonly chats: string[];
  readonly pulls: string[];
  /** In memory, by name. */
  readonly loaded: Set<string>;
  /** Chat with this model gets no answer until the returned function is called. */
  hold(model: string): () => void;
  install(name: string, bytes: number, quantisation: string): void;
  /** Share of the download at which the connection is dropped; once. */
  breakAt: number | undefined;
  /** What a model says; its text is sent in pieces of one word. */
  say: (model: string, question: string) => string;
}

const LAYER = 'sha256:0a1b';
const STEPS = 10;

export async function startScriptedOllama(context: Teardown, bytes = 32e9): Promise<ScriptedOllama> {
  const models = new Map<string, { readonly size: number; readonly quantisation: string }>();
  const kept = new Map<string, number>();
  const held = new Map<string, Promise<void>>();

  async function pull(name: string, response: ServerResponse): Promise<void> {
    ollama.pulls.push(name);
    if (name.endsWith(':NOSUCH')) return reply(response, { error: 'pull model manifest: file does not exist' });
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const tell = (told: object) =>
      new Promise<void>((done) => response.write(`${JSON.stringify(told)}\n`, () => done()));
    await tell({ status: 'pulling manifest' });
    for (let part = kept.get(name) ?? 0; part <= STEPS; part += 1) {
      kept.set(name, part);
      await tell({ status: `pulling ${LAYER}`, digest: LAYER, total: bytes, completed: (bytes / STEPS) * part });
      if (ollama.breakAt !== undefined && part >= STEPS * ollama.breakAt) {
        ollama.breakAt = undefined;
        await new Promise((done) => setImmediate(done));
        response.destroy();
        return;
      }
    }
    ollama.install(name, bytes, name.split(':')[1] ?? '');
    response.end(`{"status":"verifying sha256 digest"}\n{"status":"success"}\n`);
  }

  async function chat({ model = '', messages = [] }: Body, response: ServerResponse): Promise<void> {
    ollama.chats.push(model);
    await held.get(model);
    if (!models.has(model)) return reply(response, { error: { message: `model '${model}' not found` } }, 404);
    ollama.loaded.add(model);
    const said = ollama.say(model, messages.at(-1)?.content ?? '').match(/\S*\s*/g) ?? [];
    const chunk = (part: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model, ...part })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of said) response.write(chunk({ choices: [{ index: 0, delta: { content } }] }));
    response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
    response.write(chunk({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } }));
    response.end('data: [DONE]\n\n');
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const rows = [...models].map(([name, { size, quantisation }]) => {
      return { name, id: name, size, size_vram: 0, details: { quantization_level: quantisation } };
    });
    switch (request.url) {
      case '/api/tags':
        return reply(response, { models: rows });
      case '/api/ps':
        return reply(response, { models: rows.filter(({ name }) => ollama.loaded.has(name)) });
      case '/v1/models':
        return reply(response, { data: rows });
      case '/api/pull':
        return pull(body.model ?? '', response);
      case '/v1/chat/completions':
        return chat(body, response);
      default:
        return reply(response, { error: `no ${request.url}` }, 404);
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const ollama: ScriptedOllama = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    chats: [],
    pulls: [],
    loaded: new Set(),
    hold(model) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(model, promise);
      return resolve;
    },
    install: (name, size, quantisation) => void models.set(name, { size, quantisation }),
    breakAt: undefined,
    say: (model) => `I am ${model}.`,
  };
  return ollama;
}

function reply(response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Body);
}
