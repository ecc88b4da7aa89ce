/** `-p` without a process: one turn, its answer as text or JSON, its exit code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { describe, it, type TestContext, test } from 'node:test';
import { denyingApprover, type Reach } from '#core/agent/approver.ts';
import { messageText } from '#core/model/message.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import type { TurnEvent } from '#public/talaria.ts';
import type { ServerStep } from '#public/testing.ts';
import type { RunSettings } from '#surfaces/app/app.ts';
import {
  type ApprovalsOfRun,
  forOneTurn,
  NO_INPUT,
  type PrintRequest,
  readInputLines,
  readPipedInput,
  runPrintMode,
  TurnWatch,
} from '#surfaces/cli/print-mode.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { createStage, openConversation } from '../../app/app-fixture.ts';
import { createTarget, openServed } from '../cli-fixture.ts';

const request: PrintRequest = { text: 'hello', format: 'text', continueLast: false };

type Asked = Partial<PrintRequest> & { readonly run?: RunSettings };

async function print(t: TestContext, steps: readonly ServerStep[], { run = {}, ...asked }: Asked = {}, stdin = '') {
  const served = await openServed(t, steps, { run });
  const { target, written } = createTarget();
  const ground = {
    open: async () => served.app,
    piped: async () => ({ ...NO_INPUT, text: stdin, total: stdin.length }),
  };
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
        type: 'result',
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
    assert.deepEqual(types.slice(0, 2), ['session-start', 'turn-start']);
    assert.equal(types.at(-2), 'turn-end');
    assert.equal(types.filter((type) => type === 'turn-end').length, 1);
    assert.equal(types.at(-1), 'result');
    assert.equal(lines.at(-1).result, 'Hi.');
  });

  verifies('core:cli:stdin-is-context', 'piped text is context, marked as not the words of the owner', async (t) => {
    const { server, app } = await print(t, ['Seen.'], {}, 'diff --git a b');
    assert.match(server.requests[0]?.raw ?? '', /diff --git a b/);
    const [session] = await app.doors.sessions.list();
    const [first] = await app.doors.sessions.messages(session?.id ?? '');
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
    const ground = {
      open: async () => served.app,
      piped: async () => ({ ...NO_INPUT, text: 'are you there?', total: 14 }),
    };
    const code = await runPrintMode(ground, { format: 'text', continueLast: false }, target);
    assert.deepEqual([code, written.out], [0, 'Yes.\n']);
    const [session] = await served.app.doors.sessions.list();
    assert.equal(session?.title, 'are you there?');
  });

  verifies('core:cli:exit-codes', 'a text that is missing or binary is a usage error, in JSON too', async (t) => {
    const nothing = await print(t, [], { text: '  ' });
    assert.equal(nothing.code, 2);
    assert.match(nothing.err, /-p needs a text/);
    const served = await openServed(t, []);
    const { target, written } = createTarget();
    const piped = async () => ({ ...NO_INPUT, text: 'a\u0000', binary: true });
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
    const allowed = await print(t, [risky, 'ok'], { format: 'stream-json', run: { permission: 'auto' } });
    assert.match(allowed.out, /"exitCode":0/);
    const never = await print(t, [hard, 'ok'], { format: 'stream-json', run: { permission: 'auto' } });
    assert.match(never.out, /"refused":"forbidden"/);
  });

  verifies.slow(
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
    assert.match(err, /cut off at the length limit of the model\. -c -p "go on"/);
  });

  verifies('core:cli:exit-codes', 'a refusal of the reflex is no answer; its help is', async (t) => {
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

  verifies.slow(
    'core:bad-input:half-event',
    'an answer that breaks off is tried again; half of it is neither shown nor stored',
    async (t) => {
      const { app, err, out, server } = await print(t, [{ fault: 'half-event' }, { fault: 'reset-after' }, 'Whole.']);
      assert.deepEqual([out, server.requests.length], ['Whole.\n', 3]);
      assert.match(err, /in the middle; trying again[\s\S]*in the middle.*; trying again/);
      const [session] = await app.doors.sessions.list();
      const stored = await app.doors.sessions.messages(session?.id ?? '');
      assert.deepEqual(
        stored.map(({ message }) => messageText(message)),
        ['hello', 'Whole.'],
      );
    },
  );

  it('first hour 6: an approval that was missing exits 3 with the calls and the fix, also when the model talked on', async (t) => {
    const risky = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf build' } }] };
    const talked = await print(t, [risky, 'All done.'], { format: 'json' });
    const { error, ...result } = JSON.parse(talked.out);
    assert.deepEqual([talked.code, result.is_error, result.result], [3, true, 'All done.']);
    assert.equal(error.code, 'approval-missing');
    assert.deepEqual(error.calls, [{ tool: 'terminal', call: 'rm -rf build' }]);
    assert.match(error.fix, /--yes.*--permission-mode auto.*always/);
    const stubborn = await print(t, [risky, risky, risky], { format: 'json' });
    assert.deepEqual([stubborn.code, JSON.parse(stubborn.out).error.calls.length], [3, 3]);
    const plain = await print(t, [risky, 'All done.']);
    assert.deepEqual([plain.code, plain.out], [3, 'All done.\n']);
    assert.match(plain.err, /not approved.*rm -rf build/);
  });

  slow(
    'first hour 6: what reflex refused, what failed, what it only asked and what met a limit is not done',
    async (t) => {
      const stage = createStage(t);
      const cases: readonly [string, RunSettings, number, string][] = [
        ['run `echo hi`', {}, 0, 'undefined'],
        ['run `echo hi`', { permission: 'read-only' }, 1, 'read-only'],
        ['run `echo hi`', { allowedTools: ['read_file'] }, 1, 'tool-not-allowed'],
        ['read nosuch.txt', {}, 1, 'call-failed'],
        ['run `exit 4`', {}, 1, 'call-failed'],
        ['run `echo hi`', { maxSteps: 1 }, 1, 'max-steps'],
        ['run `rm -rf build`', {}, 3, 'approval-missing'],
      ];
      for (const [text, run, expected, reason] of cases) {
        const app = await stage.open({ model: 'reflex', run });
        const { target, written } = createTarget();
        const ground = { open: async () => app, piped: async () => NO_INPUT };
        const code = await runPrintMode(ground, { ...request, text, format: 'json' }, target);
        const { is_error, error } = JSON.parse(written.out);
        assert.deepEqual([code, is_error, String(error?.code)], [expected, expected !== 0, reason], text);
      }
    },
  );

  it('first hour 6: each line of stream-json has a type, the first says who answers where', async (t) => {
    const { out, app } = await print(t, ['Hi.'], { format: 'stream-json' });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.ok(lines.every(({ type }) => typeof type === 'string'));
    const [first] = lines;
    assert.deepEqual([first.type, first.model, first.cwd], ['session-start', 'openai/m', app.environment.cwd]);
    assert.ok(first.tools.includes('terminal'));
    assert.deepEqual([lines.at(-1).type, lines.at(-1).session_id], ['result', first.session_id]);
  });

  it('first hour 6: what is too long is not cut in silence, and lies in a file whole', async (t) => {
    const served = await openServed(t, ['Seen.']);
    const { target, written } = createTarget();
    const { signal } = new AbortController();
    const text = `START${'x'.repeat(500_000)}MIDDLE${'y'.repeat(1_500_000)}END`;
    const piped = () => readPipedInput(Readable.from([Buffer.from(text)]), { signal });
    const asked = { ...request, text: "what's in it", format: 'stream-json' as const };
    assert.equal(await runPrintMode({ open: async () => served.app, piped }, asked, target), 0, written.err);
    const command = /pipe it into: talaria rlm ask --context - 'what'\\''s in it'/;
    assert.match(written.err, command);
    const lines = written.out.split('\n').filter((line) => line !== '');
    const notice = lines.map((line) => JSON.parse(line)).find(({ type }) => type === 'notice');
    assert.match(notice.text, command);
    const file = /all of it is in (\S+) \(/.exec(served.server.requests[0]?.raw ?? '')?.[1] ?? '';
    assert.equal(readFileSync(file, 'utf8'), text);
  });

  it('first hour 7: messages come as lines of JSON; a bad line is named and ends nothing', async (t) => {
    const served = await openServed(t, ['One.', 'Two.']);
    const { target, written } = createTarget();
    const typed = [
      '{"type":"user","message":{"content":"first"}}',
      'no JSON',
      '',
      '{"type":"system","text":"x"}',
      '{"type":"user","text":"second"}',
    ];
    const lines = readInputLines(Readable.from([typed.join('\n')]), target.signal);
    const ground = { open: async () => served.app, piped: async () => NO_INPUT, lines };
    const code = await runPrintMode(ground, { format: 'stream-json', continueLast: false }, target);
    const said = written.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const shown = said.flatMap(({ type, result, line }) =>
      ['result', 'error'].includes(type) ? [result ?? line] : [],
    );
    assert.deepEqual([code, shown], [1, ['One.', 2, 4, 'Two.']]);
    assert.match(written.err, /line 2 of the input: it is no JSON[\s\S]*line 4 of the input: its "type" is "system"/);
    assert.equal((await served.app.doors.sessions.list()).length, 1);
  });

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

/** What of a turn was left without an answer, and which way to one is named. */

const END: Extract<TurnEvent, { type: 'turn-end' }> = {
  ...{ type: 'turn-end', outcome: 'done', text: 'Done.', steps: 1, usage: NO_USAGE, cost: null },
  ...{ model: 'openai/m', tier: 'T2', ms: 1 },
};

interface Refused {
  readonly reach?: Reach;
  /** Absent: it did not run. */
  readonly exitCode?: number;
}

async function judge(refused: readonly Refused[], approvals: ApprovalsOfRun = 'ask') {
  const watch = new TurnWatch(approvals);
  for (const [at, { reach, exitCode }] of refused.entries()) {
    const callId = `c${at}`;
    watch.see({ type: 'tool-start', callId, name: 'terminal', arguments: {}, summary: '' });
    const far = reach === undefined ? {} : { reach };
    watch.see({ type: 'approval', callId, preview: `cmd ${at}`, decision: 'deny', reason: 'nobody', ...far });
    const observed = { ms: 1, bytes: 1, ...(exitCode === undefined ? { refused: 'denied' } : { exitCode }) };
    const result = { type: 'tool-result', callId, name: 'terminal', text: '', isError: exitCode !== 0 } as const;
    watch.see({ type: 'tool-end', callId, name: 'terminal', result: { ...result, origin: 'foreign', observed } });
  }
  return watch.judge(END, async () => undefined);
}

describe('print mode: what nobody answered', () => {
  it('a host that stayed closed is no denial of a command that ended well without it', async () => {
    assert.equal((await judge([{ reach: 'network', exitCode: 0 }])).exitCode, 0);
    assert.equal((await judge([{ reach: 'network', exitCode: 1 }])).exitCode, 3);
    assert.equal((await judge([{ reach: 'network' }])).exitCode, 3);
    assert.equal((await judge([{ reach: 'beyond', exitCode: 0 }])).exitCode, 3);
    const mixed = await judge([{ reach: 'network', exitCode: 0 }, { reach: 'folder' }]);
    assert.deepEqual(mixed.error?.calls, [{ tool: 'terminal', call: 'cmd 1' }]);
  });

  it('names --yes only where it would have helped', async () => {
    const fix = async (refused: readonly Refused[], approvals?: ApprovalsOfRun) =>
      (await judge(refused, approvals)).error?.fix ?? '';
    assert.match(await fix([{ reach: 'folder' }, { reach: 'network' }]), /^--yes .* approves such calls/);
    for (const far of [{}, { reach: 'beyond' as const }]) {
      assert.match(await fix([far]), /^It needs a yes at a terminal/);
      assert.match(await fix([far], 'deny'), /ask` lets a yes at a terminal count/);
    }
    assert.match(
      await fix([{ reach: 'folder' }, {}]),
      /^--yes approves what stays .* the rest needs a yes at a terminal/,
    );
    assert.doesNotMatch(await fix([{ reach: 'network' }], 'auto'), /--yes/);
    assert.match(await fix([{ reach: 'folder' }], 'deny'), /ask` lets --yes count/);
  });

  it('so does the result of the call', async () => {
    const asked = { callId: 'c', tool: 'terminal', preview: 'x', reason: 'r', key: 'k' };
    const said = async (reach?: Reach) => {
      const far = reach === undefined ? {} : { reach };
      return (await denyingApprover.approve({ ...asked, ...far }, new AbortController().signal)).reason ?? '';
    };
    assert.match(await said('folder'), /start with --yes/);
    assert.match(await said('network'), /start with --yes/);
    for (const far of [await said('beyond'), await said()])
      assert.match(far, /^it needs a yes at a terminal(?!.*--yes)/);
  });
});

/** What is piped in: whole, capped, never waited for without end when the command line says what to do. */

const signal = new AbortController().signal;
const bytes = (...texts: readonly string[]) => Readable.from(texts.map((text) => Buffer.from(text)));

describe('piped input', () => {
  verifies('core:cli:stdin-is-context', 'is read to its end, also when a character is cut in two', async () => {
    assert.deepEqual(await readPipedInput(bytes('one\n', 'two\n'), { signal }), {
      text: 'one\ntwo\n',
      total: 8,
      silent: false,
      binary: false,
    });
    const snow = Buffer.from('☃');
    const halves = Readable.from([snow.subarray(0, 1), snow.subarray(1)]);
    assert.equal((await readPipedInput(halves, { signal })).text, '☃');
  });

  slow('keeps head and tail of what is too long, saying how much is left out', async () => {
    const chunk = 'x'.repeat(1_000_000);
    const long = await readPipedInput(bytes('START', ...Array.from({ length: 40 }, () => chunk), 'END'), { signal });
    for (const { text } of [long, forOneTurn(long, 1_000_000), forOneTurn(long, 8_000)]) {
      assert.ok(text.startsWith('START') && text.endsWith('END'));
      assert.match(text, /\[… \d+ characters left out …\]/);
    }
    assert.deepEqual([long.total, forOneTurn(long, 1_000_000).leftOut], [40_000_008, 39_600_008]);
    assert.ok(forOneTurn(long, 8_000).text.length < 13_000);
    const cjk = { ...NO_INPUT, text: '漢'.repeat(20_000), total: 20_000 };
    assert.ok(forOneTurn(cjk, 8_000).text.length < 5_000);
  });

  it('says so when it is no text', async () => {
    assert.equal((await readPipedInput(bytes('a\u0000b'), { signal })).binary, true);
  });

  it('is not waited for when nobody writes', async () => {
    const open = new PassThrough();
    assert.deepEqual(await readPipedInput(open, { patienceMs: 20, signal }), { ...NO_INPUT, silent: true });
    const slow = new PassThrough();
    slow.write('first');
    setTimeout(() => slow.end(' and last'), 60);
    assert.equal((await readPipedInput(slow, { patienceMs: 20, signal })).text, 'first and last');
  });

  it('ends with the signal', async () => {
    const stop = new AbortController();
    const reading = readPipedInput(new PassThrough(), { signal: stop.signal });
    stop.abort(new Error('stopped by the test'));
    await assert.rejects(reading, /stopped by the test/);
  });
});
