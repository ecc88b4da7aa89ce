/** The composed stack (cascade over strategy over retry over a client) against an endpoint that misbehaves and then behaves. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCascade, withRetry } from '#core/model/cascade.ts';
import { type ModelClient, ModelError, type ModelEvent } from '#core/model/model-client.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import { withToolStrategy } from '#core/model/tool-mode.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { type ScriptedServer, type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { collect, GREETING, textOf } from '../contract/model-client.contract.ts';
import { until } from '../ends.ts';
import { verifies } from '../verifies.ts';

interface Stack {
  readonly client: ModelClient;
  readonly server: ScriptedServer;
  readonly slept: readonly number[];
}

async function stackOver(steps: readonly ServerStep[], model = 'm-1'): Promise<Stack> {
  const server = await startScriptedServer(steps);
  // Short where the time-out is what is tested; a busy machine may take long for everything else.
  const ms = steps.some((step) => typeof step === 'object' && 'fault' in step && /^hang/.test(step.fault))
    ? 80
    : 60_000;
  const clock = createManualClock({ auto: true });
  const endpoint = { provider: 'acme', baseUrl: server.baseUrl };
  const inner = createOpenAiClient({ endpoint, model, tier: 'T2', timeouts: { connectMs: ms, idleMs: ms } });
  const client = createCascade({
    tier: 'T2',
    clients: [withToolStrategy(withRetry(inner, { clock }))],
    clock,
  });
  return { client, server, slept: clock.slept };
}

/** What is left for the consumer after all drops. */
function kept(events: readonly ModelEvent[]): readonly ModelEvent[] {
  const last = events.findLastIndex((event) => event.type === 'retry' || event.type === 'fallback');
  return events.slice(last + 1);
}

const CALL = { calls: [{ name: 'echo', arguments: { text: 'hi' } }] };
const HALF_CALL =
  'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"echo","arguments":"{\\"te"}}]}}]}\n\n';

const MENDED: readonly (readonly [name: string, steps: readonly ServerStep[]])[] = [
  ['429 without Retry-After', [{ status: 429 }]],
  ['429 with Retry-After', [{ status: 429, headers: { 'retry-after': '3' } }]],
  ['500 twice', [{ status: 500 }, { status: 500 }]],
  ['a reset in mid-stream', [{ fault: 'reset-after' }]],
  ['a reset before the answer', [{ fault: 'reset' }]],
  ['half an event', [{ fault: 'half-event' }]],
  ['an overload inside the stream', [{ streamError: { message: 'busy', code: 503 } }]],
  ['half a tool call', [{ status: 200, headers: { 'content-type': 'text/event-stream' }, body: HALF_CALL }]],
];

describe('model stack', () => {
  for (const [name, faults] of MENDED) {
    verifies('core:model:no-retry-after-output', `${name}: mended by trying again, nothing doubled`, async () => {
      const { client, server, slept } = await stackOver([...faults, { reply: 'The answer.', ...CALL }]);
      const events = await collect(client, GREETING);
      const rest = kept(events);
      assert.equal(textOf(rest), 'The answer.');
      assert.equal(rest.filter((event) => event.type === 'tool-call').length, 1);
      assert.equal(events.filter((event) => event.type === 'finish').length, 1);
      assert.equal(events.filter((event) => event.type === 'retry').length, faults.length);
      assert.equal(slept.length, faults.length);
      server.done();
      await server.close();
    });
  }

  const LOST: readonly (readonly [name: string, steps: readonly ServerStep[]])[] = [
    ['a hang', [{ fault: 'hang' }]],
    ['a hang in mid-stream', [{ fault: 'hang-after' }]],
    ['three errors', [{ status: 500 }, { status: 500 }, { status: 500 }]],
    ['a wrong key', [{ status: 401 }]],
    ['a web page', [{ fault: 'html' }]],
    ['a wait of an hour', [{ status: 429, headers: { 'retry-after': '3600' } }]],
  ];
  for (const [name, faults] of LOST) {
    verifies(
      'core:model:chosen-or-nobody',
      `${name}: an error that says what to do, and nobody else answers`,
      async () => {
        const { client, server } = await stackOver(faults);
        await assert.rejects(collect(client, GREETING), (error: unknown) => {
          assert.ok(error instanceof ModelError);
          return error.fix !== undefined && !error.message.includes('\n');
        });
        server.done();
        await server.close();
      },
    );
  }

  test('a model without tools in its template is asked in text', async () => {
    const refusal = { status: 400, body: { error: { message: 'acme/m-1 does not support tools' } } };
    const { client, server } = await stackOver([
      refusal,
      '<tool_call>{"name":"echo","arguments":{"text":"a"}}</tool_call>',
    ]);
    const rest = kept(await collect(client, GREETING));
    assert.equal(rest[0]?.type, 'tool-call');
    assert.ok(!('tools' in (server.requests[1]?.body ?? {})));
    await server.close();
  });

  verifies(
    'core:strategy:text-tools-in-prompt',
    'a text model gets its tools in the prompt, over the wire',
    async () => {
      const { client, server } = await stackOver(
        ['<tool_call>{"name":"echo","arguments":{"text":"a"}}</tool_call>'],
        'gemma-3-4b-it',
      );
      const events = await collect(client, GREETING);
      assert.equal(events[0]?.type, 'tool-call');
      const [sent] = server.requests;
      assert.ok(sent && !('tools' in sent.body) && sent.raw.includes('# Tools'));
      await server.close();
    },
  );

  test('an empty reply and a refusal end properly', async () => {
    for (const [step, reason] of [
      [{ reply: '' }, 'stop'],
      [{ reply: 'I cannot.', finish: 'refusal' }, 'refusal'],
    ] as const) {
      const { client, server } = await stackOver([step]);
      const last = (await collect(client, GREETING)).at(-1);
      assert.ok(last?.type === 'finish' && last.reason === reason);
      await server.close();
    }
  });

  verifies('core:model:abort', 'an abort at each event ends with its reason, and closes the connection', async () => {
    for (const at of [0, 1, 2]) {
      const { client, server } = await stackOver([{ fault: 'hang-after' }]);
      await assert.rejects(abortAt(client, at), /stop/);
      await until(() => server.openSockets === 0);
      await server.close();
    }
  });
});

/** Aborts when the `at`-th event arrives; 0: before the call. */
async function abortAt(client: ModelClient, at: number): Promise<void> {
  const controller = new AbortController();
  let seen = 0;
  const arrive = () => {
    if (seen === at) controller.abort(new Error('stop'));
    seen += 1;
  };
  arrive();
  for await (const _ of client.stream(GREETING, controller.signal)) arrive();
}
