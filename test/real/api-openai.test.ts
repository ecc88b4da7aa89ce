/** The official client of OpenAI against `talaria serve`, in a process of its own. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { COMPILE_CACHE, createCliStage, MAIN } from '../scenario/cli-process.ts';
import { reachPart, reachSkip } from './reach-parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the client is loaded from elsewhere
type Loose = any;

const look = { reply: 'Let me look.', calls: [{ name: 'terminal', arguments: { command: 'echo hi' } }] };

test('openai for JavaScript: chat, stream, responses, and the same chat after kill -9', {
  skip: reachSkip,
}, async (t) => {
  const { default: OpenAI } = (await import(pathToFileURL(reachPart('openai', 'index.mjs')).href)) as Loose;
  const steps = ['Hello.', look, 'It says hi.', look, 'It still says hi.', 'Second.', 'Whole.', 'After all.'];
  const model = await startScriptedServer(steps, { context: t });
  const stage = createCliStage(t);
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  const config = `model:\n  default: scripted-model\n  base_url: ${model.baseUrl}\nsandbox:\n  mode: machine\n`;
  writeFileSync(join(stage.root, 'config.yaml'), config, { mode: 0o600 });
  const { PATH = '' } = process.env;
  const places = { PATH, HOME: stage.folder, TALARIA_HOME: stage.root, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const env = { ...places, TALARIA_API_KEY: 'key-of-the-test' };
  let child: ChildProcess | undefined;
  const serve = async (): Promise<Loose> => {
    child = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], { cwd: stage.cwd, env });
    const [said] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [Buffer];
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(said)) ?? [];
    return new OpenAI({ apiKey: env.TALARIA_API_KEY, baseURL: `${url}/v1`, maxRetries: 0 });
  };
  t.after(() => child?.kill('SIGKILL'));
  let client = await serve();
  const ids = (await client.models.list()).data.map(({ id }: Loose) => id);
  assert.ok(ids.includes('talaria'));
  const talk: Loose[] = [{ role: 'user', content: 'hi' }];
  const first = await client.chat.completions.create({ model: 'talaria', messages: talk });
  assert.equal(first.choices[0].message.content, 'Hello.');
  talk.push(first.choices[0].message, { role: 'user', content: 'run it' });
  const stream = client.chat.completions.stream({ model: 'talaria', messages: talk });
  const text = await stream.finalContent();
  assert.equal(text, 'Let me look.\n\nIt says hi.');
  talk.push({ role: 'assistant', content: text });
  const live = client.responses.stream({ model: 'talaria', input: 'look' });
  const done = await live.finalResponse();
  assert.equal(done.output_text, 'Let me look.It still says hi.');
  const next = { model: 'talaria', input: 'second', previous_response_id: done.id };
  const second = await client.responses.create(next);
  assert.equal(second.output_text, 'Second.');
  assert.deepEqual((await client.responses.retrieve(second.id)).output, second.output);
  await client.responses.delete(second.id);
  await assert.rejects(client.responses.retrieve(second.id), { status: 404 });
  await assert.rejects(client.chat.completions.create({ model: 'talaria', messages: talk, n: 2 }), { status: 400 });
  assert.equal((await client.responses.create({ model: 'talaria', input: 'x' })).output_text, 'Whole.');
  child?.kill('SIGKILL');
  await once(child as ChildProcess, 'close');
  client = await serve();
  talk.push({ role: 'user', content: 'still there?' });
  const after = await client.chat.completions.create({ model: 'talaria', messages: talk });
  assert.equal(after.choices[0].message.content, 'After all.');
  const sent = model.requests.map(({ body }) => (body.messages as Loose[]).map((one) => JSON.stringify(one)));
  const extend = (later: number, earlier: number) =>
    assert.deepEqual(sent[later]?.slice(0, sent[earlier]?.length), sent[earlier]);
  extend(1, 0);
  extend(2, 1);
  extend(5, 4);
  extend(7, 2);
});
