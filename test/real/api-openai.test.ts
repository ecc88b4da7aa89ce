/** The official client of OpenAI against `talaria serve`, in a process of its own. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { MAIN } from '../scenario/cli-process.ts';
import { placeFor } from '../surfaces/acp/editor-stage.ts';
import { verifies } from '../verifies.ts';
import { reachPart, reachSkip } from './reach-parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the client is loaded from elsewhere
type Loose = any;

const look = { reply: 'Let me look.', calls: [{ name: 'terminal', arguments: { command: 'echo hi' } }] };

verifies(['R5.65', 'R5.66', 'R5.67', 'R5.69', 'R5.70'], 'openai for JavaScript, and the same chat after kill -9', {
  options: { skip: reachSkip },
  run: async (t) => {
    const { default: OpenAI } = (await import(pathToFileURL(reachPart('openai', 'index.mjs')).href)) as Loose;
    const steps = [
      'Hello.',
      look,
      'It says hi.',
      look,
      'It still says hi.',
      'Second.',
      'Whole.',
      'After all.',
      'Onward.',
    ];
    const model = await startScriptedServer(steps, { models: ['gpt-4o'], context: t });
    const place = placeFor(t, model.baseUrl);
    const env = { ...place.env, TALARIA_API_KEY: 'key-of-the-test' };
    let child: ChildProcess | undefined;
    const serve = async (): Promise<Loose> => {
      child = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], { cwd: place.cwd, env });
      const [said] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [Buffer];
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(said)) ?? [];
      return new OpenAI({ apiKey: env.TALARIA_API_KEY, baseURL: `${url}/v1`, maxRetries: 0 });
    };
    t.after(() => child?.kill('SIGKILL'));
    let client = await serve();
    const ids = (await client.models.list()).data.map(({ id }: Loose) => id);
    assert.ok(ids.includes('talaria'));
    const talk: Loose[] = [{ role: 'user', content: 'hi' }];
    /** The answer, and the session that it was given in. */
    const chat = async () => {
      const asked = client.chat.completions.create({ model: 'talaria', messages: talk });
      const { data, response } = await asked.withResponse();
      return [data, response.headers.get('x-talaria-session-id')];
    };
    const [first, session] = await chat();
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
    const whole = await client.responses.create({ model: 'talaria', input: 'x' });
    assert.equal(whole.output_text, 'Whole.');
    child?.kill('SIGKILL');
    await once(child as ChildProcess, 'close');
    client = await serve();
    talk.push({ role: 'user', content: 'still there?' });
    const [after, same] = await chat();
    assert.deepEqual([after.choices[0].message.content, same], ['After all.', session]);
    assert.deepEqual((await client.responses.retrieve(whole.id)).output, whole.output);
    const onward = await client.responses.create({ ...next, previous_response_id: whole.id });
    assert.equal(onward.output_text, 'Onward.');
    // Messages stand last in a request: all but the two brackets that close it must stand at the beginning of the next one.
    const sent = model.requests.map(({ raw }) => raw);
    for (const chain of [
      [0, 1, 2, 7],
      [3, 4, 5],
      [6, 8],
    ]) {
      const all = chain.map((at) => sent[at] ?? '');
      for (const [at, later] of all.slice(1).entries())
        assert.equal(later.startsWith(all[at]?.slice(0, -2) ?? '-'), true, later);
    }
  },
});
