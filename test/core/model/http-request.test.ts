/** The way of a model request over real sockets: redirects, proxies, abort, kept connections, packed answers, and no library of `fetch`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { ModelError } from '#core/model/model-client.ts';
import { sendRequest } from '#core/model/providers/http-request.ts';
import { listModels } from '#core/model/providers/list-models.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { Endpoint, Pay } from '#core/model/providers/provider-options.ts';
import { collect, GREETING, textOf } from '../../contract/model-client.contract.ts';
import { slow } from '../../slow.ts';

const KEY = 'sentinel-0123456789-key';
const ANSWER = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello there.' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
];
const STREAM = `${ANSWER.map((part) => `data: ${JSON.stringify({ id: 'x', created: 0, model: 'm', ...part })}\n\n`).join('')}data: [DONE]\n\n`;
const EVENTS = { 'content-type': 'text/event-stream' };

async function listening(context: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serving(context: TestContext, answer: Answer): Promise<string> {
  return `http://127.0.0.1:${await listening(context, createServer(answer))}/v1`;
}

function clientOf(baseUrl: string, more: Partial<Endpoint> = {}) {
  const endpoint = { provider: 'acme', baseUrl, apiKey: KEY, ...more };
  return createOpenAiClient({ endpoint, model: 'm-1', tier: 'T2' });
}

async function failureOf(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => assert.fail('it should have failed'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ModelError, String(error));
  return error;
}

/** Long enough for what is under way: the end of a connection to be seen, or a broken off body to throw what nobody can catch. */
async function turns(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a request to a model endpoint', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`first hour start: a redirect (${status}) is refused, and the other host hears nothing`, async (context) => {
      const heard: string[] = [];
      const other = await serving(context, (request, response) => {
        heard.push(request.url ?? '');
        response.writeHead(200, EVENTS).end(STREAM);
      });
      const location = `${other.replace('127.0.0.1', 'localhost')}/elsewhere?token=sentinel-token`;
      const first = await serving(context, (_, response) => {
        response.writeHead(status, { location }).end();
      });
      for (const work of [collect(clientOf(first), GREETING), listModels({ baseUrl: first, apiKey: KEY })]) {
        const error = await failureOf(work);
        assert.equal(error.code, 'model-not-found');
        assert.equal(error.retryable, false);
        assert.match(error.message, /another address, http:\/\/localhost:\d+\/v1\/elsewhere \(HTTP 30\d\)/);
        assert.ok(!JSON.stringify([error.message, error.fix]).includes('sentinel'));
      }
      assert.deepEqual(heard, []);
    });
  }

  test('first hour start: a redirect to the server itself is no other address', async (context) => {
    const server: string = await serving(context, (request, response) => {
      response.writeHead(307, { location: request.url ?? '/' }).end();
    });
    const error = await failureOf(collect(clientOf(server), GREETING));
    assert.match(error.message, /round on the same server, to http\S+ \(HTTP 307\)/);
    assert.doesNotMatch(error.message, /another address/);
  });

  test('first hour start: a plain request goes through the proxy of the environment', async (context) => {
    const heard: string[] = [];
    const proxy = await serving(context, (request, response) => {
      heard.push(request.url ?? '');
      response.writeHead(200, EVENTS).end(STREAM);
    });
    const proxies = { HTTP_PROXY: new URL(proxy).origin };
    assert.equal(textOf(await collect(clientOf('http://model.invalid/v1', { proxies }), GREETING)), 'Hello there.');
    assert.deepEqual(heard, ['http://model.invalid/v1/chat/completions']);
  });

  test('first hour start: neither NO_PROXY nor this machine goes through a proxy', async (context) => {
    const own = await serving(context, (_, response) => {
      response.writeHead(200, EVENTS).end(STREAM);
    });
    let asked = 0;
    const proxy = await serving(context, (_, response) => {
      asked += 1;
      response.writeHead(500).end();
    });
    const proxies = { HTTP_PROXY: new URL(proxy).origin, NO_PROXY: 'model.invalid' };
    assert.equal(textOf(await collect(clientOf(own, { proxies }), GREETING)), 'Hello there.');
    const error = await failureOf(collect(clientOf('http://model.invalid/v1', { proxies }), GREETING));
    assert.equal(error.code, 'model-unreachable');
    assert.equal(asked, 0);
  });

  test('first hour start: a secure request goes through a tunnel, which never sees the key', async (context) => {
    const seen: Buffer[] = [];
    const proxy = createSocketServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (head) => {
        seen.push(head);
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.once('data', (inside) => {
          seen.push(inside);
          socket.destroy();
        });
      });
    });
    const proxies = { HTTPS_PROXY: `http://127.0.0.1:${await listening(context, proxy)}` };
    const error = await failureOf(collect(clientOf('https://model.invalid/v1', { proxies }), GREETING));
    assert.equal(error.code, 'model-unreachable');
    const [head, inside] = seen;
    assert.match(String(head), /^CONNECT model\.invalid:443 HTTP\/1\.1\r\n/);
    assert.equal(inside?.[0], 0x16, 'what follows is the handshake of TLS');
    assert.ok(!Buffer.concat(seen).includes(KEY));
  });

  test('first hour start: a proxy that refuses is named as the cause', async (context) => {
    const proxy = createSocketServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
    });
    const proxies = { HTTPS_PROXY: `http://me:sentinel@127.0.0.1:${await listening(context, proxy)}` };
    const error = await failureOf(collect(clientOf('https://model.invalid/v1', { proxies }), GREETING));
    assert.match(error.message, /the proxy lets nothing through to https:\/\/model\.invalid\/v1/);
    assert.match(error.fix ?? '', /HTTPS_PROXY/);
    assert.ok(!`${error.message}${error.stack}`.includes('sentinel'));
  });

  for (const when of ['before the headers', 'in the middle of the body'] as const) {
    test(`first hour start: an abort ${when} closes the socket`, async (context) => {
      const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
      const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>();
      const baseUrl = await serving(context, (request, response) => {
        request.socket.once('close', () => onClosed());
        if (when === 'in the middle of the body') response.writeHead(200, EVENTS).write(STREAM.slice(0, 20));
        request.resume().once('end', () => onBegun());
      });
      const stop = new AbortController();
      const reason = new Error('enough');
      const call = collect(clientOf(baseUrl), GREETING, stop.signal);
      await begun;
      stop.abort(reason);
      await assert.rejects(call, reason);
      await closed;
    });
  }

  test('first hour start: one connection serves call after call, and one that the server closed is made anew', async (context) => {
    const ports: (number | undefined)[] = [];
    const server = createServer((request, response) => {
      ports.push(request.socket.remotePort);
      response.writeHead(200, EVENTS).end(STREAM);
    });
    const closed = Promise.withResolvers<void>();
    server.on('connection', (socket: Socket) => socket.once('close', () => closed.resolve()));
    const client = clientOf(`http://127.0.0.1:${await listening(context, server)}/v1`);
    for (let i = 0; i < 3; i += 1) assert.equal(textOf(await collect(client, GREETING)), 'Hello there.');
    assert.equal(new Set(ports).size, 1);
    server.closeIdleConnections();
    await closed.promise;
    await turns();
    assert.equal(textOf(await collect(client, GREETING)), 'Hello there.');
    assert.equal(new Set(ports).size, 2);
  });

  test('first hour start: a request that was read before a kept connection broke is not sent again', async (context) => {
    let read = 0;
    const baseUrl = await serving(context, (request, response) => {
      request.resume().once('end', () => {
        read += 1;
        if (read === 1) response.writeHead(200, EVENTS).end(STREAM);
        else request.socket.resetAndDestroy();
      });
    });
    const client = clientOf(baseUrl);
    await collect(client, GREETING);
    const error = await failureOf(collect(client, GREETING));
    assert.deepEqual([error.code, error.retryable, read], ['model-unreachable', true, 2]);
  });

  const packed: Readonly<Record<string, (text: string) => Buffer>> = {
    gzip: gzipSync,
    br: brotliCompressSync,
    deflate: deflateSync,
  };
  for (const [encoding, pack] of Object.entries(packed)) {
    test(`first hour start: an answer in ${encoding} is unpacked, although nobody asked for one`, async (context) => {
      const asked: unknown[] = [];
      const baseUrl = await serving(context, (request, response) => {
        asked.push(request.headers['accept-encoding']);
        response.writeHead(200, { ...EVENTS, 'content-encoding': encoding }).end(pack(STREAM));
      });
      assert.equal(textOf(await collect(clientOf(baseUrl), GREETING)), 'Hello there.');
      assert.deepEqual(asked, [undefined]);
    });
  }

  test('first hour start: a packed answer comes piece by piece, and an unreadable one is a failure', async (context) => {
    const { promise: gotFirst, resolve: onFirst } = Promise.withResolvers<void>();
    const piecewise = await serving(context, (_, response) => {
      response.writeHead(200, { ...EVENTS, 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      const half = STREAM.indexOf('\n\n') + 2;
      gzip.write(STREAM.slice(0, half));
      gzip.flush();
      gotFirst.then(
        () => gzip.end(STREAM.slice(half)),
        () => undefined,
      );
    });
    for await (const event of clientOf(piecewise).stream(GREETING, new AbortController().signal)) {
      if (event.type === 'text-delta') onFirst();
    }
    const broken = await serving(context, (_, response) => {
      response.writeHead(200, { ...EVENTS, 'content-encoding': 'gzip' }).end('not packed at all');
    });
    const error = await failureOf(collect(clientOf(broken), GREETING));
    assert.equal(error.code, 'model-bad-response');
    assert.equal(error.retryable, true);
  });

  for (const [encoding, pack] of Object.entries({ gzip: gzipSync, br: brotliCompressSync })) {
    test(`first hour start: a long failure in ${encoding} is broken off, and nothing comes after it`, async (context) => {
      const page = pack(`<html>${'bad gateway '.repeat(9_000)}</html>`);
      const baseUrl = await serving(context, (request, response) => {
        request.resume().once('end', () => response.writeHead(502, { 'content-encoding': encoding }).end(page));
      });
      for (let i = 0; i < 20; i += 1)
        assert.equal((await failureOf(collect(clientOf(baseUrl), GREETING))).retryable, true);
      await turns();
    });
  }

  test('first hour start: a plain body that is broken off early ends there', async (context) => {
    const baseUrl = await serving(context, (_, response) => {
      for (let i = 0; i < 40; i += 1) response.write('x'.repeat(2_000));
      response.end();
    });
    const unused = {
      onSent: () => undefined,
      onBytes: () => undefined,
      headerBytes: 16_384,
      preliminary: 16,
      signal: new AbortController().signal,
    };
    for (let i = 0; i < 100; i += 1) {
      const { body } = await sendRequest(baseUrl, { method: 'GET', headers: {}, ...unused });
      const reader = body.getReader();
      for (let read = 0; read < i % 4; read += 1) await reader.read();
      await reader.cancel();
      await turns();
    }
  });

  test('a 402 is paid once: what fails after it is not tried again, and a call that nobody pays says why', async (t) => {
    const heard: (string | undefined)[] = [];
    let then: Answer = (_, response) => response.writeHead(200, EVENTS).end(STREAM);
    const baseUrl = await serving(t, (request, response) => {
      const payment = request.headers['payment-signature'];
      heard.push(String(payment));
      if (payment === undefined) response.writeHead(402, { 'payment-required': 'three cents' }).end('{}');
      else then(request, response);
    });
    const asked: unknown[] = [];
    const clientThat = (pay: Pay) => {
      const options = { endpoint: { provider: 'acme', baseUrl }, model: 'm-1', tier: 'T2', pay } as const;
      return createOpenAiClient(options);
    };
    const payer = clientThat(async (...all) => `paid ${asked.push(all)}`);
    assert.equal(textOf(await collect(payer, GREETING)), 'Hello there.');
    assert.deepEqual([asked, heard], [[['three cents', GREETING.purpose]], ['undefined', 'paid 1']]);
    for (const fails of [503, 429, 0]) {
      then = (_, response) => (fails === 0 ? response.destroy() : response.writeHead(fails).end('{}'));
      assert.equal((await failureOf(collect(payer, GREETING))).retryable, false, String(fails));
    }
    assert.equal(asked.length, 4);
    const poor = clientThat(() => Promise.reject(new Error('the purse is empty')));
    assert.match(
      (await failureOf(collect(poor, GREETING))).message,
      /nobody pays for the call of acme: the purse is empty/,
    );
  });

  slow('first hour start: when the request arrives, the library of fetch is not loaded', async () => {
    const client = new URL('../../../src/core/model/providers/openai-client.ts', import.meta.url).href;
    const script = `
      const { createServer } = process.getBuiltinModule('node:http');
      const { createOpenAiClient } = await import(${JSON.stringify(client)});
      const server = createServer(() => {
        console.log(JSON.stringify(process.moduleLoadList.filter((name) => name.includes('undici'))));
        process.exit(0);
      });
      server.listen(0, '127.0.0.1', () => {
        const endpoint = { provider: 'acme', baseUrl: 'http://127.0.0.1:' + server.address().port };
        const made = createOpenAiClient({ endpoint, model: 'm', tier: 'T2' });
        made.stream({ system: '', messages: [], tools: [] }, new AbortController().signal).next();
      });`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    assert.deepEqual(JSON.parse(stdout), []);
  });
});
