/** Everything that an endpoint can do wrong, over real sockets: each ends in one clear ModelError, and no key is in any message. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import type { JsonObject } from '#base/json.ts';
import { ModelError, type ModelErrorCode, type ModelEvent } from '#core/model/model-client.ts';
import { createAnthropicClient } from '#core/model/providers/anthropic-client.ts';
import { listModels } from '#core/model/providers/list-models.ts';
import { retryAfterMs } from '#core/model/providers/model-failure.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { ModelTimeouts } from '#core/model/providers/provider-options.ts';
import { type ScriptedServer, type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { collect, GREETING } from '../contract/model-client.contract.ts';
import { until } from '../ends.ts';
import { verifies } from '../verifies.ts';

const KEY = 'sentinel-0123456789-key';

interface Expected {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly message: RegExp;
  readonly fix?: RegExp;
  readonly retryAfterMs?: number;
}

type Kind = 'openai' | 'anthropic';

const servers: ScriptedServer[] = [];

async function failureOf(
  kind: Kind,
  step: ServerStep,
  timeouts?: ModelTimeouts,
): Promise<{ error: ModelError; server: ScriptedServer }> {
  const server = await startScriptedServer([step]);
  servers.push(server);
  const make = kind === 'openai' ? createOpenAiClient : createAnthropicClient;
  const endpoint = {
    provider: 'acme',
    kind,
    baseUrl: server.baseUrl,
    apiKey: KEY,
    headers: { 'x-team': 'sentinel-header-value' },
  };
  const client = make({ endpoint, model: 'm-1', tier: 'T2', ...(timeouts ? { timeouts } : {}) });
  const error = await collect(client, GREETING).then(
    () => assert.fail('the call should have failed'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ModelError, inspect(error));
  return { error, server };
}

function check(error: ModelError, expected: Expected): void {
  assert.equal(error.code, expected.code, error.message);
  assert.equal(error.retryable, expected.retryable, error.message);
  assert.match(error.message, expected.message);
  assert.ok(!error.message.includes('\n'));
  assert.ok(error.fix, 'a person needs to know what to do');
  if (expected.fix) assert.match(error.fix, expected.fix);
  assert.equal(error.retryAfterMs, expected.retryAfterMs);
  const everything = inspect(error, { depth: 20, showHidden: true }) + String(error.stack);
  assert.ok(!everything.includes('sentinel-'), everything);
}

const echoKey = {
  error: { message: `Incorrect API key provided: ${KEY}`, type: 'invalid_request_error', code: 'invalid_api_key' },
};

type Row = readonly [
  step: ServerStep,
  message: RegExp,
  more?: Pick<Expected, 'fix' | 'retryAfterMs'> & { readonly only?: Kind },
];

interface Case {
  readonly name: string;
  readonly step: ServerStep;
  readonly expected: Expected;
  readonly only: Kind | undefined;
}

/** Faults, by their names, that end in the same code. */
function endingIn(end: Pick<Expected, 'code' | 'retryable'>) {
  return (rows: Readonly<Record<string, Row>>): Case[] =>
    Object.entries(rows).map(([name, [step, message, { only, ...more } = {}]]) => {
      return { name, step, expected: { ...end, message, ...more }, only };
    });
}

const says = (status: number, message: string, more: JsonObject = {}): ServerStep => {
  return { status, body: { error: { message, ...more } } };
};

const CASES: readonly Case[] = [
  ...endingIn({ code: 'model-auth', retryable: false })({
    '401': [{ status: 401, body: echoKey }, /acme refused the key \(HTTP 401\).*redacted/, { fix: /key/ }],
    '403': [{ status: 403, body: 'forbidden for sentinel-header-value' }, /HTTP 403.*forbidden/],
    '402': [says(402, 'Insufficient credits'), /no credit left/],
  }),
  ...endingIn({ code: 'model-not-found', retryable: false })({
    '404 of a model': [says(404, "The model 'm-1' does not exist"), /acme has no model m-1/, { fix: /lists/ }],
    '404 page': [
      { status: 404, body: '<html><head><title>nginx: not here</title></head></html>' },
      /is not the base URL of a model endpoint.*HTML page "nginx: not here"/,
      { fix: /base URL/ },
    ],
  }),
  ...endingIn({ code: 'model-rate-limited', retryable: true })({
    '429 with seconds': [
      { status: 429, headers: { 'retry-after': '7' }, body: { error: { message: 'slow down' } } },
      /limits how often.*slow down/,
      { retryAfterMs: 7000 },
    ],
    '429 with milliseconds': [
      { status: 429, headers: { 'retry-after-ms': '350', 'retry-after': '1' }, body: {} },
      /HTTP 429/,
      { retryAfterMs: 350 },
    ],
    "429 in Google's way": [
      { status: 429, body: '[{"error":{"message":"quota of the minute","details":[{"retryDelay":"34s"}]}}]' },
      /quota of the minute/,
      { retryAfterMs: 34_000 },
    ],
    'a rate limit inside the stream': [
      { streamError: { message: 'upstream limit', code: 429 } },
      /upstream limit/,
      { only: 'openai' },
    ],
  }),
  ...endingIn({ code: 'model-rate-limited', retryable: false })({
    '429 without money': [
      says(429, 'You exceeded your current quota', { code: 'insufficient_quota' }),
      /no credit/,
      { fix: /credit/ },
    ],
  }),
  ...endingIn({ code: 'model-overloaded', retryable: true })({
    '500': [{ status: 500, body: 'oops' }, /failed inside \(HTTP 500\): oops/],
    '503': [{ status: 503, body: '' }, /is overloaded \(HTTP 503\)\./],
    '529': [says(529, 'Overloaded'), /overloaded.*529/],
    'an error in JSON with 200': [says(200, 'busy', { code: 503 }), /busy/],
    'an error inside the stream': [{ streamError: { type: 'overloaded_error', message: 'Overloaded' } }, /Overloaded/],
  }),
  ...endingIn({ code: 'model-context-full', retryable: false })({
    '400 of the window': [
      says(400, "This model's maximum context length is 8192 tokens", { code: 'context_length_exceeded' }),
      /longer than the window of m-1/,
      { fix: /ompress/ },
    ],
    "400 of the window, in Anthropic's words": [
      {
        status: 400,
        body: {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
        },
      },
      /prompt is too long/,
    ],
  }),
  ...endingIn({ code: 'model-bad-request', retryable: false })({
    '413': [{ status: 413, body: 'too big' }, /too large/],
    '422': [{ status: 422, body: { detail: 'bad field' } }, /bad field/],
    '400 of tools': [
      says(400, 'registry.ollama.ai/library/m-1 does not support tools'),
      /does not support tools/,
      { fix: /tool calling.*text/ },
    ],
  }),
  ...endingIn({ code: 'model-bad-response', retryable: false })({
    'a web page with 200': [{ fault: 'html' }, /HTML page "Welcome"/, { fix: /base URL/ }],
    'an answer that is no stream': [{ status: 200, body: { choices: [] } }, /no event stream/],
  }),
  ...endingIn({ code: 'model-unreachable', retryable: true })({
    'a reset before the answer': [{ fault: 'reset' }, /lost before an answer came/],
  }),
  ...endingIn({ code: 'model-bad-response', retryable: true })({
    'a reset in mid-stream': [{ fault: 'reset-after' }, /lost in the middle/],
    'half an event': [{ fault: 'half-event' }, /ended its answer in the middle/],
    'a stream without a finish': [{ fault: 'no-finish' }, /ended its answer in the middle/],
    'an event that is no JSON': [{ fault: 'garbage' }, /not in its protocol/],
  }),
];

const LATE_ANTHROPIC_ERROR = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}',
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
].join('\n\n');

describe('model endpoint faults', () => {
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  for (const kind of ['openai', 'anthropic'] as const) {
    for (const { name, step, expected, only } of CASES) {
      if (only && only !== kind) continue;
      test(`${kind}: ${name}`, async () => check((await failureOf(kind, step)).error, expected));
    }

    verifies('core:model:timeouts', `${kind}: an endpoint that hangs before its answer`, async () => {
      const { error, server } = await failureOf(kind, { fault: 'hang' }, { connectMs: 60 });
      check(error, { code: 'model-timeout', retryable: true, message: /did not answer within 60 ms/ });
      await untilNoSockets(server);
    });

    verifies('core:model:timeouts', `${kind}: an endpoint that hangs in mid-stream`, async () => {
      const { error, server } = await failureOf(kind, { fault: 'hang-after' }, { idleMs: 60 });
      check(error, { code: 'model-timeout', retryable: true, message: /sent nothing for 60 ms in the middle/ });
      await untilNoSockets(server);
    });

    verifies('core:model:abort', `${kind}: an abort closes the connection`, async () => {
      const server = await startScriptedServer([{ fault: 'hang-after' }]);
      servers.push(server);
      const make = kind === 'openai' ? createOpenAiClient : createAnthropicClient;
      const client = make({ endpoint: { provider: 'acme', kind, baseUrl: server.baseUrl }, model: 'm', tier: 'T1' });
      const controller = new AbortController();
      const events: ModelEvent[] = [];
      await assert.rejects(async () => {
        for await (const event of client.stream(GREETING, controller.signal)) {
          events.push(event);
          controller.abort(new Error('enough'));
        }
      }, /enough/);
      assert.ok(events.length >= 1);
      await untilNoSockets(server);
    });
  }

  test('anthropic: an error event after the first text', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    const { error } = await failureOf('anthropic', { status: 200, headers, body: `${LATE_ANTHROPIC_ERROR}\n\n` });
    check(error, { code: 'model-overloaded', retryable: true, message: /Overloaded/ });
  });

  test('a date in Retry-After counts from now', () => {
    const headers = new Headers({ 'retry-after': 'Thu, 15 Jan 2026 12:00:30 GMT' });
    assert.equal(retryAfterMs(headers, '', Date.UTC(2026, 0, 15, 12)), 30_000);
  });

  const unreachable: readonly (readonly [name: string, baseUrl: string, code: ModelErrorCode, message: RegExp])[] = [
    [
      'a name that does not exist',
      'https://nowhere.invalid/v1',
      'model-unreachable',
      /cannot be found \(DNS\)|lost before|connection refused/,
    ],
    ['no URL', 'not a url', 'model-not-found', /no usable base URL/],
    ['a forbidden port', 'http://127.0.0.1:1/v1', 'model-not-found', /no usable base URL/],
  ];
  for (const [name, baseUrl, code, message] of unreachable) {
    test(`unreachable: ${name}`, async () => {
      const client = createOpenAiClient({
        endpoint: { provider: 'acme', baseUrl, apiKey: KEY },
        model: 'm',
        tier: 'T2',
      });
      await assert.rejects(collect(client, GREETING), (error: ModelError) => {
        assert.equal(error.code, code, inspect(error));
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test('unreachable: nothing listens; the password in the URL stays out of the message', async () => {
    const server = await startScriptedServer([]);
    await server.close();
    const baseUrl = server.baseUrl.replace('http://', 'http://me:sentinel-password@');
    const client = createOpenAiClient({
      endpoint: { provider: 'acme', baseUrl: server.baseUrl, apiKey: KEY },
      model: 'm',
      tier: 'T2',
    });
    await assert.rejects(collect(client, GREETING), (error: ModelError) => {
      check(error, {
        code: 'model-unreachable',
        retryable: true,
        message: /nothing answers at .*connection refused/,
        fix: /acme/,
      });
      return true;
    });
    await assert.rejects(listModels({ baseUrl }), (error: ModelError) => {
      check(error, { code: 'model-not-found', retryable: false, message: /no usable base URL/ });
      return true;
    });
  });

  test('unreachable: https spoken to a plain server', async () => {
    const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const address = plain.address();
    assert.ok(address && typeof address === 'object');
    const client = createOpenAiClient({
      endpoint: { provider: 'acme', baseUrl: `https://127.0.0.1:${address.port}/v1` },
      model: 'm',
      tier: 'T2',
    });
    await assert.rejects(collect(client, GREETING), (error: ModelError) => {
      check(error, {
        code: 'model-unreachable',
        retryable: false,
        message: /no secure connection/,
        fix: /http or https/,
      });
      return true;
    });
    plain.close();
  });
});

async function untilNoSockets(server: ScriptedServer): Promise<void> {
  await until(() => server.openSockets === 0);
}
