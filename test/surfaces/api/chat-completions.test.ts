import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createManualClock } from '#testing/manual-clock.ts';
import type { ServerStep } from '#testing/scripted-server.ts';
import { until } from '../../ends.ts';
import { verifies } from '../../verifies.ts';
import { openConversation } from '../app/app-fixture.ts';
import { ask, eventsIn, type Json, KEY, startServe } from './serve-stage.ts';

const call = (command: string): ServerStep => ({ calls: [{ name: 'terminal', arguments: { command } }] });
const messagesOf = (request: { readonly body: Json } | undefined): Json[] => request?.body.messages ?? [];
const textsOf = (events: readonly Json[]) => events.map((event) => event.choices?.[0]?.delta.content ?? '').join('');

verifies.slow(['R5.61', 'R5.62', 'R5.74'], 'who may ask, how much, and in what shape a refusal comes', async (t) => {
  const served = await startServe(t, [], { config: 'serve:\n  allow_hosts: [box.lan]\n' });
  const { call: to, json } = served;
  assert.equal((await to('/health', undefined, { headers: { authorization: '' } })).status, 200);
  const unknownResponse = { model: 'talaria', input: 'x', previous_response_id: 'resp_0' };
  const refusals: readonly (readonly [Promise<Response>, number, string, string | null])[] = [
    [to('/v1/models', undefined, { headers: { authorization: '' } }), 401, 'invalid_api_key', null],
    [to('/v1/models', undefined, { headers: { authorization: `Bearer ${KEY}x` } }), 401, 'invalid_api_key', null],
    [to(`/v1/models?key=${KEY}`, undefined, { headers: { authorization: '' } }), 401, 'invalid_api_key', null],
    [to('/v1/models', undefined, { headers: { origin: 'http://evil.example' } }), 403, 'origin_not_allowed', null],
    [to('/v1/nothing'), 404, 'unknown_url', null],
    [to('/v1/models/gpt-9'), 404, 'model_not_found', 'model'],
    [to('/v1/chat/completions', 'x'.repeat(26 * 1024 ** 2)), 413, 'request_too_large', null],
    [to('/v1/chat/completions', '{"model":'), 400, 'invalid_json', null],
    [to('/v1/chat/completions', { ...ask('hi'), model: 'gpt-9' }), 404, 'model_not_found', 'model'],
    [to('/v1/chat/completions', { model: 'talaria' }), 400, 'invalid_value', 'messages'],
    [to('/v1/chat/completions', ask('')), 400, 'invalid_value', 'messages'],
    [to('/v1/responses', unknownResponse), 404, 'response_not_found', 'previous_response_id'],
  ];
  for (const [answer, status, code, param] of refusals) {
    const got = await answer;
    const { error } = (await got.json()) as Json;
    assert.deepEqual([got.status, error.code, error.param], [status, code, param]);
    assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
  }
  assert.match(await hostAnswer(served.url, 'evil.example'), /^HTTP\/1.1 403/);
  assert.match(await hostAnswer(served.url, 'box.lan'), /^HTTP\/1.1 200/);
  const { data } = await json('/v1/models');
  const ids = data.map(({ id }: Json) => id);
  assert.deepEqual(ids.slice(0, 2), ['talaria', 'talaria/custom/scripted-model']);
  assert.equal((await json('/v1/models/talaria/custom/scripted-model')).id, ids[1]);
});

/** fetch sets Host itself. */
function hostAnswer(url: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.end(`GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.once('data', (data) => resolve(data.toString()));
    socket.once('error', reject);
  });
}

verifies(['R5.63', 'R5.64'], 'an answer, with its usage; what cannot be is refused by name', async (t) => {
  const usage = { inputTokens: 50, outputTokens: 5, cachedTokens: 40 };
  const steps: ServerStep[] = [call('echo hi'), { reply: 'It says hi.', usage }, { reply: 'cut', finish: 'length' }];
  const { json, call: to, model } = await startServe(t, [...steps, { status: 401 }]);
  const ignored = { temperature: 0, top_p: 1, seed: 3, stop: null, tools: [], user: 'ada', n: 1 };
  const answer = await json('/v1/chat/completions', ask('say hi', { ...ignored, max_tokens: 77 }));
  assert.equal(answer.object, 'chat.completion');
  assert.deepEqual(answer.choices[0].message, { role: 'assistant', content: 'It says hi.', refusal: null });
  assert.equal(answer.choices[0].finish_reason, 'stop');
  assert.equal(answer.usage.prompt_tokens, 150);
  assert.equal(answer.usage.prompt_tokens_details.cached_tokens, 40);
  assert.equal(model.requests[0]?.body.max_tokens, 77);
  const cut = await json('/v1/chat/completions', ask('again'));
  assert.equal(cut.choices[0].finish_reason, 'length');
  const failed = await to('/v1/chat/completions', ask('fail'));
  assert.equal(failed.status, 502);
  assert.equal(((await failed.json()) as Json).error.code, 'model-auth');
  const format = { type: 'json_object' };
  const none: Json = {
    tools: [{ type: 'function' }],
    tool_choice: 'auto',
    functions: [{}],
    n: 2,
    response_format: format,
  };
  for (const [name, value] of Object.entries(none)) {
    const { error } = await json('/v1/chat/completions', ask('hi', { [name]: value }));
    assert.deepEqual([error.code, error.param], ['unsupported_parameter', name]);
  }
});

verifies.slow(
  ['R5.65'],
  'a stream: role first, thoughts, text, tools and beats as comments, usage, [DONE]',
  async (t) => {
    const clock = createManualClock();
    const look = { ...(call('echo hi') as object), reply: 'Let me look.', reasoning: 'Hm.' };
    const steps: ServerStep[] = [look, 'It says hi.', { fault: 'hang' }];
    const { call: to, model } = await startServe(t, steps, { app: { clock } });
    const options = { stream: true, stream_options: { include_usage: true } };
    const answer = await to('/v1/chat/completions', ask('say hi', options));
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
    const text = await answer.text();
    const events = eventsIn(text);
    assert.equal(new Set(events.map(({ id }) => id)).size, 1);
    assert.ok(events.every(({ object }) => object === 'chat.completion.chunk'));
    assert.equal(events[0].choices[0].delta.role, 'assistant');
    assert.equal(textsOf(events), 'Let me look.\n\nIt says hi.');
    assert.equal(events.map((event) => event.choices[0]?.delta.reasoning_content ?? '').join(''), 'Hm.');
    assert.match(text, /\n: tool terminal \$ echo hi\n\n/);
    assert.doesNotMatch(text, /^event:/m);
    assert.equal(events.at(-2)?.choices[0].finish_reason, 'stop');
    assert.deepEqual([events.at(-1)?.choices, events.at(-1)?.usage.total_tokens], [[], 220]);
    assert.ok(text.endsWith('data: [DONE]\n\n'));
    const slow = await to('/v1/chat/completions', ask('wait', { stream: true }));
    const reader = slow.body?.pipeThrough(new TextDecoderStream()).getReader();
    await until(() => model.requests.length === 3);
    await reader?.read();
    await clock.advance(15_000);
    assert.match((await reader?.read())?.value ?? '', /^: beat/);
    await reader?.cancel();
  },
);

verifies(
  ['R5.65'],
  'what a retry took back is not sent twice, and a failure in a stream is an error object',
  async (t) => {
    const clock = createManualClock({ auto: true });
    const again = 'The first half of an answer that never ends well.';
    const cut: ServerStep = { fault: 'reset-after' };
    const steps: ServerStep[] = [cut, again, cut, 'Other words.', { status: 401 }];
    const { call: to } = await startServe(t, steps, { app: { clock } });
    const stream = async () => eventsIn(await (await to('/v1/chat/completions', ask('go', { stream: true }))).text());
    assert.equal(textsOf(await stream()), again);
    assert.match(textsOf(await stream()), /\n\nOther words\.$/);
    assert.equal((await stream()).at(-1)?.error.code, 'model-auth');
  },
);

verifies(
  ['R5.66', 'R5.68'],
  'the visible history is the key: it goes on, forks at an older point, and is told where unknown',
  async (t) => {
    const steps = [call('echo seen'), 'One.', 'Two.', 'Other two.', 'Three.', 'Fresh.', 'Fresh again.'];
    const { call: to, model, app } = await startServe(t, steps);
    const system = { role: 'system', content: 'Be brief.' };
    const talk = async (...said: readonly string[]) => {
      const all = said.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }));
      const answer = await to('/v1/chat/completions', { model: 'talaria', messages: [system, ...all] });
      return answer.headers.get('x-talaria-session-id') ?? assert.fail(await answer.text());
    };
    const session = await talk('first');
    assert.equal(await talk('first', 'One.', 'second'), session);
    const fork = await talk('first', 'One. ', 'other second');
    assert.notEqual(fork, session);
    assert.equal((await app.doors.sessions.get(fork))?.parentId, session);
    assert.equal(await talk('first', 'One.', 'other second', 'Other two.', 'third'), fork);
    const told = await talk('never', 'heard of', 'go on');
    const past = (await app.doors.sessions.messages(told)).map(({ message }) => message);
    const roles = past.map(({ role, parts }) => `${role} ${parts[0]?.origin}`);
    assert.deepEqual(roles.slice(0, 2), ['user owner', 'assistant model']);
    assert.equal(await talk('never', 'heard of', 'go on', 'Fresh.', 'more'), told);
    const sent = model.requests.map((request) => messagesOf(request).map((message) => JSON.stringify(message)));
    const extend = (later: number, earlier: number) =>
      assert.deepEqual(sent[later]?.slice(0, sent[earlier]?.length), sent[earlier], `${later} extends ${earlier}`);
    extend(2, 1);
    assert.deepEqual(sent[3]?.slice(0, -1), sent[2]?.slice(0, -1));
    extend(4, 3);
    extend(6, 5);
    assert.equal(new Set(sent.map(([first]) => first)).size, 1, 'the prefix never changes');
    const words = sent[4]?.join('') ?? '';
    assert.equal(words.split('Be brief.').length, 2, 'said once');
    assert.match(words, /seen/);
  },
);

verifies(['R5.67'], 'a header names the session; unknown is 404, held elsewhere 409', async (t) => {
  const { call: to, app } = await startServe(t, ['One.', 'Two.']);
  const first = await to('/v1/chat/completions', ask('hi'));
  const id = first.headers.get('x-hermes-session-id') ?? '';
  const named = (session: string, name = 'x-hermes-session-id') =>
    to('/v1/chat/completions', ask('more'), { headers: { [name]: session } });
  const again = await named(id);
  assert.equal(again.headers.get('x-talaria-session-id'), id);
  assert.equal((await app.doors.sessions.get(id))?.messageCount, 4);
  assert.equal((await named('20200101_000000_abcdef', 'x-talaria-session-id')).status, 404);
  const held = await openConversation(app);
  const busy = await named(held.session.id);
  assert.equal(busy.status, 409, await busy.text());
});

verifies(['R5.71'], 'pictures: a data URL, an address by the rules of web_fetch; nothing else', async (t) => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const pages = createServer((_, response) => response.end(png)).listen(0, '127.0.0.1');
  t.after(() => pages.close());
  await until(() => pages.listening);
  const address = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/a.png`;
  const config =
    '  context_length: 32000\nproviders:\n  custom:\n    vision: true\nweb:\n  private_hosts: ["127.0.0.1"]\n';
  const { call: to, json, model } = await startServe(t, ['A dot.', 'A dot.', 'A dot.'], { config });
  const url = `data:image/png;base64,${png.toString('base64')}`;
  const text = { type: 'text', text: 'what is it?' };
  for (const image of [url, address]) {
    const answer = await to('/v1/chat/completions', ask([text, { type: 'image_url', image_url: { url: image } }]));
    assert.equal(answer.status, 200, await answer.text());
    assert.ok(JSON.stringify(messagesOf(model.requests.at(-1))).includes(png.toString('base64')));
  }
  const content = [
    { ...text, type: 'input_text' },
    { type: 'input_image', image_url: url },
  ];
  assert.equal((await json('/v1/responses', { input: [{ role: 'user', content }] })).status, 'completed');
  const local = { type: 'image_url', image_url: { url: 'file:///etc/passwd' } };
  for (const bad of [{ type: 'file', file: {} }, { type: 'input_audio' }, local]) {
    const { error } = await json('/v1/chat/completions', ask([text, bad]));
    assert.equal(error.code, 'unsupported_content_type');
  }
  const noPicture = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } };
  assert.equal((await json('/v1/chat/completions', ask([text, noPicture]))).error.code, 'invalid_image');
});

verifies(['R5.71'], 'an address of this machine is not fetched unless the owner named it', async (t) => {
  const { json } = await startServe(t, []);
  const image = { type: 'image_url', image_url: { url: 'http://127.0.0.1:9/a.png' } };
  assert.equal((await json('/v1/chat/completions', ask([image]))).error.code, 'invalid_image');
});

verifies(['R5.72'], 'a client that leaves stops its turn and what it runs', async (t) => {
  const steps: ServerStep[] = [call('sleep 60'), { fault: 'hang' }];
  const { call: to, model, app } = await startServe(t, steps, { config: 'sandbox:\n  mode: machine\n' });
  const ends: string[] = [];
  const starts: string[] = [];
  app.events.subscribe(({ event }) => {
    if (event.type === 'turn-end') ends.push(event.outcome);
    if (event.type === 'tool-start') starts.push(event.name);
  });
  const left = new AbortController();
  const stream = to('/v1/chat/completions', ask('wait', { stream: true }), { signal: left.signal });
  await (await stream).body?.getReader().read();
  await until(() => starts.length === 1);
  left.abort();
  await until(() => ends.length === 1);
  const whole = new AbortController();
  const answer = to('/v1/chat/completions', ask('wait'), { signal: whole.signal });
  await until(() => model.requests.length === 2);
  whole.abort();
  await assert.rejects(answer);
  await until(() => ends.length === 2);
  assert.deepEqual(ends, ['aborted', 'aborted']);
});

verifies(['R5.72'], 'so many turns at once, then 429; turns of one session wait for each other', async (t) => {
  const clock = createManualClock();
  const steps: ServerStep[] = [{ fault: 'hang' }, 'Later.', 'One.', 'Two.', 'Three.'];
  const { call: to, model } = await startServe(t, steps, { app: { clock }, config: 'serve:\n  max_turns: 1\n' });
  const left = new AbortController();
  const first = to('/v1/chat/completions', ask('wait'), { signal: left.signal });
  await until(() => model.requests.length === 1);
  const before = clock.pending;
  const second = to('/v1/chat/completions', ask('second'));
  await until(() => clock.pending > before);
  await clock.advance(60_000);
  const full = await second;
  assert.deepEqual([full.status, full.headers.get('retry-after')], [429, '5']);
  const third = to('/v1/chat/completions', ask('third'));
  await until(() => clock.pending > before);
  left.abort();
  await assert.rejects(first);
  assert.equal((await third).status, 200);
  const one = await to('/v1/chat/completions', ask('hi'));
  const headers = { 'x-talaria-session-id': one.headers.get('x-talaria-session-id') ?? '' };
  const both = await Promise.all(['a', 'b'].map((text) => to('/v1/chat/completions', ask(text), { headers })));
  assert.ok(both.every(({ ok }) => ok));
  assert.equal(messagesOf(model.requests.at(-1)).length, 6);
});

verifies(
  ['R5.73'],
  'what needs an approval is denied with the way out; with serve.approvals off the near runs',
  async (t) => {
    const risky = call('rm -rf ./old');
    const denied = await startServe(t, [risky, 'No.']);
    await denied.json('/v1/chat/completions', ask('tidy'));
    assert.match(JSON.stringify(messagesOf(denied.model.requests[1])), /set serve.approvals to off/);
    const free = await startServe(t, [risky, call('rm -rf /'), 'Done.'], { config: 'serve:\n  approvals: off\n' });
    await free.json('/v1/chat/completions', ask('tidy'));
    const [, near, hard] = free.model.requests.map((request) => messagesOf(request).at(-1).content);
    assert.doesNotMatch(near, /denied|approval/);
    assert.match(hard, /refused|never|not run/i);
  },
);

verifies(['R5.75'], 'the log has a line a request, without bodies and keys', async (t) => {
  const { json, stop, app } = await startServe(t, ['Fine.']);
  await json(`/v1/chat/completions?key=${KEY}`, ask('a word of mine'));
  await stop();
  await app.shutdown();
  const log = readFileSync(app.home.log, 'utf8');
  assert.match(
    log,
    /"event":"request","method":"POST","path":"\/v1\/chat\/completions","status":200,"ms":\d+,"session":/,
  );
  assert.doesNotMatch(log, new RegExp(`${KEY}|a word of mine`));
});
