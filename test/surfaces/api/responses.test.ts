import assert from 'node:assert/strict';
import type { ServerStep } from '#testing/scripted-server.ts';
import { verifies } from '../../verifies.ts';
import { eventsIn, type Json, startServe } from './serve-stage.ts';

const look: ServerStep = {
  reasoning: 'Hm.',
  reply: 'Let me look. ',
  calls: [{ name: 'terminal', arguments: { command: 'echo hi' } }],
};

verifies.slow(['R5.69'], 'a response: items, kept, read again, gone on with, forked, deleted', async (t) => {
  const steps = [look, 'It says hi.', 'Two.', 'Other two.', 'Three.', 'Not kept.', 'Named.'];
  const { json, call, model } = await startServe(t, steps);
  const metadata = { ticket: '7' };
  const first = await json('/v1/responses', { model: 'talaria', input: 'say hi', instructions: 'Be brief.', metadata });
  assert.deepEqual([first.object, first.status, first.metadata], ['response', 'completed', metadata]);
  const kinds = first.output.map(({ type }: Json) => type);
  assert.deepEqual(kinds, ['reasoning', 'message', 'function_call', 'function_call_output', 'message']);
  assert.ok(first.output.slice(2).every(({ status }: Json) => status === 'completed'));
  assert.deepEqual([first.output[2].name, first.output[2].call_id], ['terminal', first.output[3].call_id]);
  assert.equal(first.output[4].content[0].text, 'It says hi.');
  const read = await json(`/v1/responses/${first.id}`);
  assert.deepEqual(read, { ...first, instructions: null });
  const next = (previous: string, input: unknown) =>
    json('/v1/responses', { model: 'talaria', input, previous_response_id: previous });
  const two = await next(first.id, 'second');
  const other = await next(first.id, [{ role: 'user', content: [{ type: 'input_text', text: 'other second' }] }]);
  await next(other.id, 'third');
  const [, whole, second, otherSecond, third] = model.requests.map(({ body }) =>
    (body.messages as Json[]).map((one) => JSON.stringify(one)),
  );
  assert.deepEqual(second?.slice(0, whole?.length), whole);
  assert.deepEqual(otherSecond?.slice(0, -1), second?.slice(0, -1));
  assert.deepEqual(third?.slice(0, otherSecond?.length), otherSecond);
  assert.equal(two.previous_response_id, first.id);
  const passing = await json('/v1/responses', { model: 'talaria', input: 'x', store: false });
  assert.equal((await call(`/v1/responses/${passing.id}`)).status, 404);
  const gone = await json(`/v1/responses/${two.id}`, undefined, { method: 'DELETE' });
  assert.deepEqual(gone, { id: two.id, object: 'response', deleted: true });
  assert.equal((await call(`/v1/responses/${two.id}`)).status, 404);
  assert.equal((await call(`/v1/responses/${two.id}`, undefined, { method: 'DELETE' })).status, 404);
  const session = (await call('/v1/responses', { input: 'named', conversation: { id: 'none' } })).status;
  assert.equal(session, 404);
  const { error } = await json('/v1/responses', { input: 'later', background: true });
  assert.deepEqual([error.code, error.param], ['unsupported_parameter', 'background']);
  const input = [{ role: 'user', content: 'say hi' }, ...first.output, { role: 'user', content: 'and now' }];
  await json('/v1/responses', { input });
  const last = ((model.requests.at(-1)?.body.messages ?? []) as Json[]).map((one) => JSON.stringify(one));
  assert.deepEqual(last.slice(0, whole?.length), whole, 'items that come back are the key too');
});

verifies(['R5.70'], 'the events of a response, numbered without gaps', async (t) => {
  const steps: ServerStep[] = [look, 'It says hi.', { reply: 'cut', finish: 'length' }, { status: 401 }];
  const { call, json } = await startServe(t, steps);
  const stream = async (input: string) => {
    const text = await (await call('/v1/responses', { model: 'talaria', input, stream: true })).text();
    return { text, events: eventsIn(text) };
  };
  const { text, events } = await stream('say hi');
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, at) => at),
  );
  const types = events.map(({ type }) => type.replace('response.', ''));
  const once = types.filter((type, at) => type !== types[at - 1]);
  const whole = ['output_item.added', 'output_item.done'];
  const spoken = (kind: string) =>
    `output_item.added content_part.added ${kind}.delta ${kind}.done content_part.done output_item.done`.split(' ');
  const message = spoken('output_text');
  const items = [...spoken('reasoning_text'), ...message, ...whole, ...whole, ...message];
  assert.deepEqual(once, ['created', 'in_progress', ...items, 'completed']);
  assert.match(text, /\n: tool terminal/);
  const named = [...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name);
  assert.deepEqual(
    named,
    events.map(({ type }) => type),
  );
  const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
  const last = events.at(-1)?.response;
  assert.deepEqual(done, last.output);
  assert.deepEqual((await json(`/v1/responses/${last.id}`)).output, last.output);
  const cut = (await stream('again')).events.at(-1);
  assert.deepEqual(
    [cut.type, cut.response.status, cut.response.incomplete_details.reason],
    ['response.incomplete', 'incomplete', 'max_output_tokens'],
  );
  const failed = (await stream('fail')).events.at(-1);
  assert.deepEqual([failed.type, failed.response.error.code], ['response.failed', 'model-auth']);
});
