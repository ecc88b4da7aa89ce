/** `-p` without a process: one turn, its answer as text or JSON, its exit code. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext, test } from 'node:test';
import { messageText } from '#core/model/message.ts';
import { NO_INPUT } from '#surfaces/cli/print/piped-input.ts';
import { type PrintRequest, runPrintMode } from '#surfaces/cli/print/print-mode.ts';
import type { ServerStep } from '#testing/server/server-step.ts';
import { verifies } from '../../../verifies.ts';
import { createStage, openConversation } from '../../app/app-fixture.ts';
import { createTarget, openServed } from '../cli-fixture.ts';

const request: PrintRequest = { text: 'hello', format: 'text', continueLast: false, yes: false };

async function print(t: TestContext, steps: readonly ServerStep[], asked: Partial<PrintRequest> = {}, stdin = '') {
  const served = await openServed(t, steps);
  const { target, written } = createTarget();
  const ground = { open: async () => served.app, piped: async () => ({ ...NO_INPUT, text: stdin }) };
  const code = await runPrintMode(ground, { ...request, ...asked }, target);
  return { ...served, ...written, code };
}

describe('print mode', () => {
  verifies('core:cli:print-text', 'the answer alone is on standard output', async (t) => {
    const { code, out, err } = await print(t, ['Hello to you.']);
    assert.deepEqual({ code, out, err }, { code: 0, out: 'Hello to you.\n', err: '' });
  });

  verifies('core:cli:print-json', 'one object with every field', async (t) => {
    const { code, out } = await print(t, [{ reply: 'Hi.', usage: { inputTokens: 7, outputTokens: 2 } }], {
      format: 'json',
    });
    assert.equal(code, 0);
    const got = JSON.parse(out);
    assert.match(got.session_id, /^\d{8}_\d{6}_[0-9a-f]{6}$/);
    assert.deepEqual(
      { ...got, session_id: '' },
      {
        session_id: '',
        result: 'Hi.',
        is_error: false,
        outcome: 'done',
        num_steps: 1,
        usage: { input_tokens: 7, output_tokens: 2, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
        cost: got.cost,
        model: 'openai/m',
        tier: 'T2',
      },
    );
  });

  verifies('core:cli:print-stream-json', 'one event a line, the object last', async (t) => {
    const { out } = await print(t, ['Hi.'], { format: 'stream-json' });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const types = lines.map((line) => line.type);
    assert.equal(types[0], 'turn-start');
    assert.equal(types.at(-2), 'turn-end');
    assert.equal(types.filter((type) => type === 'turn-end').length, 1);
    assert.equal(types.at(-1), undefined);
    assert.equal(lines.at(-1).result, 'Hi.');
  });

  verifies('core:cli:stdin-is-context', 'piped text is context, marked as not the words of the owner', async (t) => {
    const { server, app } = await print(t, ['Seen.'], {}, 'diff --git a b');
    assert.match(server.requests[0]?.raw ?? '', /diff --git a b/);
    const [session] = await app.store.list();
    const [first] = await app.store.messages(session?.id ?? '');
    assert.deepEqual(
      first?.message.parts.map((part) => [part.origin, 'label' in part ? part.label : undefined]),
      [
        ['foreign', 'stdin'],
        ['owner', undefined],
      ],
    );
  });

  it('takes what is piped in as the message when none is given', async (t) => {
    const served = await openServed(t, ['Yes.']);
    const { target, written } = createTarget();
    const ground = { open: async () => served.app, piped: async () => ({ ...NO_INPUT, text: 'are you there?' }) };
    const code = await runPrintMode(ground, { format: 'text', continueLast: false, yes: false }, target);
    assert.deepEqual([code, written.out], [0, 'Yes.\n']);
    const [session] = await served.app.store.list();
    assert.equal(session?.title, 'are you there?');
  });

  verifies('core:cli:exit-codes', 'a text that is missing or binary is a usage error, in JSON too', async (t) => {
    const nothing = await print(t, [], { text: '  ' });
    assert.equal(nothing.code, 2);
    assert.match(nothing.err, /-p needs a text/);
    const served = await openServed(t, []);
    const { target, written } = createTarget();
    const piped = async () => ({ text: 'a\u0000', silent: false, binary: true });
    const ground = { open: async () => served.app, piped };
    assert.equal(await runPrintMode(ground, { ...request, format: 'json' }, target), 2);
    assert.equal(JSON.parse(written.out).error.code, 'usage');
    assert.match(written.err, /binary/);
  });

  verifies(
    'core:cli:continue-resume',
    'an unknown session and one that is open elsewhere are refused, saying what to do',
    async (t) => {
      const unknown = await print(t, [], { resume: 'nope', format: 'json' });
      assert.equal(unknown.code, 3);
      const got = JSON.parse(unknown.out);
      assert.deepEqual([got.is_error, got.session_id, got.error.code], [true, null, 'no-such-session']);
      const served = await openServed(t, ['One.']);
      const other = await openConversation(await served.stage.open());
      for await (const event of other.send('mine', { signal: new AbortController().signal })) void event;
      const { target, written } = createTarget();
      const ground = { open: async () => served.app, piped: async () => NO_INPUT };
      assert.equal(await runPrintMode(ground, { ...request, resume: other.session.id }, target), 3);
      assert.match(written.err, /has this session open[\s\S]*sessions fork/);
    },
  );

  verifies('core:cli:yes-flag', 'risky calls run with --yes alone, the hard list never', async (t) => {
    const risky = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf build' } }] };
    const hard = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf /' } }] };
    const denied = await print(t, [risky, 'ok'], { format: 'stream-json' });
    assert.match(denied.out, /"refused":"denied"/);
    assert.match(denied.out, /start with --yes/);
    const allowed = await print(t, [risky, 'ok'], { format: 'stream-json', yes: true });
    assert.match(allowed.out, /"exitCode":0/);
    const never = await print(t, [hard, 'ok'], { format: 'stream-json', yes: true });
    assert.match(never.out, /"refused":"forbidden"/);
  });

  verifies(
    'core:bad-input:http-errors',
    'HTTP 401, 404, 429 and 500 are each named, nobody else answers, and the exit code says so',
    async (t) => {
      const body = { error: { message: 'no good' } };
      const cases: readonly [number, number, RegExp][] = [
        [401, 1, /refused the key \(HTTP 401\)/],
        [404, 1, /HTTP 404/],
        [429, 3, /how often.*HTTP 429.*trying again/],
        [500, 3, /failed inside \(HTTP 500\).*trying again/],
      ];
      const codes = { 401: 'model-auth', 404: 'model-not-found', 429: 'model-rate-limited', 500: 'model-overloaded' };
      for (const [status, calls, expected] of cases) {
        const steps = Array.from({ length: calls }, () => ({ status, body, headers: { 'retry-after': '0' } }));
        const { err, out, server, code } = await print(t, steps, { format: 'json' });
        assert.match(err, expected);
        assert.doesNotMatch(err, /reflex|\/retry/);
        const result = JSON.parse(out);
        const expectedCode = codes[status as keyof typeof codes];
        assert.deepEqual([code, result.is_error, result.error.code, result.result], [1, true, expectedCode, '']);
        assert.match(result.error.message, new RegExp(`HTTP ${status}`));
        assert.equal(server.requests.length, calls);
      }
    },
  );

  test('first hour 4: an answer that was cut is an error with outcome length, and the way to the rest', async (t) => {
    const { code, out, err } = await print(t, [{ reply: 'and the', finish: 'length' }], { format: 'json' });
    const result = JSON.parse(out);
    assert.deepEqual([code, result.is_error, result.outcome, result.result], [1, true, 'length', 'and the']);
    assert.match(err, /cut off at the length limit of the model; -c -p "go on"/);
  });

  verifies('core:cli:exit-codes', 'a refusal of the reflex is no answer; its help and its questions are', async (t) => {
    const cases: readonly [string, number][] = [
      ['why is the sky blue', 1],
      ['help', 0],
      ['/help', 0],
      ['run `echo hi`', 0],
    ];
    const app = await createStage(t).open({ model: 'reflex' });
    for (const [text, expected] of cases) {
      const { target, written } = createTarget();
      const ground = { open: async () => app, piped: async () => NO_INPUT };
      const code = await runPrintMode(ground, { ...request, text, format: 'stream-json' }, target);
      const lines = written.out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const end = lines.find((line) => line.type === 'turn-end');
      const last = lines.at(-1);
      assert.equal(code, expected, text);
      assert.equal(last.is_error, expected === 1);
      assert.deepEqual([end.outcome, end.text, end.error?.code], [last.outcome, last.result, last.error?.code]);
      assert.equal(last.error?.code, expected === 1 ? 'no-model' : undefined);
    }
  });

  verifies(
    'core:bad-input:half-event',
    'an answer that breaks off is tried again; half of it is neither shown nor stored',
    async (t) => {
      const { app, err, out, server } = await print(t, [{ fault: 'half-event' }, { fault: 'reset-after' }, 'Whole.']);
      assert.deepEqual([out, server.requests.length], ['Whole.\n', 3]);
      assert.match(err, /in the middle; trying again[\s\S]*in the middle.*; trying again/);
      const [session] = await app.store.list();
      const stored = await app.store.messages(session?.id ?? '');
      assert.deepEqual(
        stored.map(({ message }) => messageText(message)),
        ['hello', 'Whole.'],
      );
    },
  );

  it('prints the one object also when the agent cannot be composed', async () => {
    const { target, written } = createTarget();
    const ground = {
      open: async () => {
        throw new Error('no home');
      },
      piped: async () => NO_INPUT,
    };
    await assert.rejects(runPrintMode(ground, { ...request, format: 'json' }, target), /no home/);
    assert.equal(JSON.parse(written.out).error.message, 'no home');
  });
});
