/** Everything that an endpoint can do wrong, over real sockets: each ends in one clear ModelError, and no key is in any message. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { ModelError, type ModelErrorCode, type ModelEvent } from '#core/model/model-client.ts';
import { createAnthropicClient } from '#core/model/providers/anthropic-client.ts';
import { retryAfterMs } from '#core/model/providers/failure/retry-after.ts';
import { listModels } from '#core/model/providers/list-models.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { ModelTimeouts } from '#core/model/providers/provider-options.ts';
import { type ScriptedServer, startScriptedServer } from '#testing/scripted-server.ts';
import type { ServerStep } from '#testing/server/server-step.ts';
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

const CASES: readonly (readonly [name: string, step: ServerStep, expected: Expected, only?: Kind])[] = [
  [
    '401',
    { status: 401, body: echoKey },
    { code: 'model-auth', retryable: false, message: /acme refused the key \(HTTP 401\).*redacted/, fix: /key/ },
  ],
  [
    '403',
    { status: 403, body: 'forbidden for sentinel-header-value' },
    { code: 'model-auth', retryable: false, message: /HTTP 403.*forbidden/ },
  ],
  [
    '402',
    { status: 402, body: { error: { message: 'Insufficient credits' } } },
    { code: 'model-auth', retryable: false, message: /no credit left/ },
  ],
  [
    '404 of a model',
    { status: 404, body: { error: { message: "The model 'm-1' does not exist" } } },
    { code: 'model-not-found', retryable: false, message: /acme has no model m-1/, fix: /lists/ },
  ],
  [
    '404 page',
    { status: 404, body: '<html><head><title>nginx: not here</title></head></html>' },
    {
      code: 'model-not-found',
      retryable: false,
      message: /is not the base URL of a model endpoint.*HTML page "nginx: not here"/,
      fix: /base URL/,
    },
  ],
  [
    '429 with seconds',
    { status: 429, headers: { 'retry-after': '7' }, body: { error: { message: 'slow down' } } },
    { code: 'model-rate-limited', retryable: true, message: /limits how often.*slow down/, retryAfterMs: 7000 },
  ],
  [
    '429 with milliseconds',
    { status: 429, headers: { 'retry-after-ms': '350', 'retry-after': '1' }, body: {} },
    { code: 'model-rate-limited', retryable: true, message: /HTTP 429/, retryAfterMs: 350 },
  ],
  [
    "429 in Google's way",
    { status: 429, body: '[{"error":{"message":"quota of the minute","details":[{"retryDelay":"34s"}]}}]' },
    { code: 'model-rate-limited', retryable: true, message: /quota of the minute/, retryAfterMs: 34_000 },
  ],
  [
    '429 without money',
    { status: 429, body: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } } },
    { code: 'model-rate-limited', retryable: false, message: /no credit/, fix: /credit/ },
  ],
  [
    '500',
    { status: 500, body: 'oops' },
    { code: 'model-overloaded', retryable: true, message: /failed inside \(HTTP 500\): oops/ },
  ],
  [
    '503',
    { status: 503, body: '' },
    { code: 'model-overloaded', retryable: true, message: /is overloaded \(HTTP 503\)\./ },
  ],
  [
    '529',
    { status: 529, body: { error: { message: 'Overloaded' } } },
    { code: 'model-overloaded', retryable: true, message: /overloaded.*529/ },
  ],
  [
    '400 of the window',
    {
      status: 400,
      body: {
        error: { message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded' },
      },
    },
    { code: 'model-context-full', retryable: false, message: /longer than the window of m-1/, fix: /ompress/ },
  ],
  [
    "400 of the window, in Anthropic's words",
    {
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      },
    },
    { code: 'model-context-full', retryable: false, message: /prompt is too long/ },
  ],
  ['413', { status: 413, body: 'too big' }, { code: 'model-bad-request', retryable: false, message: /too large/ }],
  [
    '422',
    { status: 422, body: { detail: 'bad field' } },
    { code: 'model-bad-request', retryable: false, message: /bad field/ },
  ],
  [
    '400 of tools',
    { status: 400, body: { error: { message: 'registry.ollama.ai/library/m-1 does not support tools' } } },
    { code: 'model-bad-request', retryable: false, message: /does not support tools/, fix: /tool calling.*text/ },
  ],
  [
    'a web page with 200',
    { fault: 'html' },
    { code: 'model-bad-response', retryable: false, message: /HTML page "Welcome"/, fix: /base URL/ },
  ],
  [
    'an error in JSON with 200',
    { status: 200, body: { error: { message: 'busy', code: 503 } } },
    { code: 'model-overloaded', retryable: true, message: /busy/ },
  ],
  [
    'an answer that is no stream',
    { status: 200, body: { choices: [] } },
    { code: 'model-bad-response', retryable: false, message: /no event stream/ },
  ],
  [
    'a reset before the answer',
    { fault: 'reset' },
    { code: 'model-unreachable', retryable: true, message: /lost before an answer came/ },
  ],
  [
    'a reset in mid-stream',
    { fault: 'reset-after' },
    { code: 'model-bad-response', retryable: true, message: /lost in the middle/ },
  ],
  [
    'half an event',
    { fault: 'half-event' },
    { code: 'model-bad-response', retryable: true, message: /ended its answer in the middle/ },
  ],
  [
    'a stream without a finish',
    { fault: 'no-finish' },
    { code: 'model-bad-response', retryable: true, message: /ended its answer in the middle/ },
  ],
  [
    'an event that is no JSON',
    { fault: 'garbage' },
    { code: 'model-bad-response', retryable: true, message: /not in its protocol/ },
  ],
  [
    'an error inside the stream',
    { streamError: { type: 'overloaded_error', message: 'Overloaded' } },
    { code: 'model-overloaded', retryable: true, message: /Overloaded/ },
  ],
  [
    'a rate limit inside the stream',
    { streamError: { message: 'upstream limit', code: 429 } },
    { code: 'model-rate-limited', retryable: true, message: /upstream limit/ },
    'openai',
  ],
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
    for (const [name, step, expected, only] of CASES) {
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
