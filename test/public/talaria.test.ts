import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { defineTool, openTalaria, type TurnEvent } from 'talaria';
import { createScriptedModel } from 'talaria/testing';
import { z } from 'zod';
import { createTempHome } from '#testing/temp-home.ts';
import { createFakeMemoryProvider } from '../contract/fake-memory-provider.ts';
import { verifies } from '../verifies.ts';

const tide = defineTool({
  name: 'tide',
  description: 'Height of the tide.',
  input: z.object({ harbour: z.string() }),
  toolset: 'harbour',
  effect: 'read',
  run: async ({ harbour }) => ({ text: `${harbour}: 2.4 m` }),
});

describe('the entry talaria', () => {
  verifies(
    'core:entry:talaria',
    'opens a home, talks, tells events, runs a tool of the program, searches, resumes, closes',
    async (t) => {
      const temp = createTempHome(t);
      const client = createScriptedModel(
        [{ calls: [{ name: 'tide', arguments: { harbour: 'Piraeus' } }] }, 'It stands at 2.4 m.', 'Yes, at Piraeus.'],
        { context: t },
      );
      const talaria = await openTalaria({ home: join(temp.path, 'home'), client, extras: { tools: [tide] } });
      t.after(() => talaria.close());
      const seen: TurnEvent['type'][] = [];
      const stop = talaria.subscribe(({ event }) => seen.push(event.type));
      const talk = await talaria.talk();
      const turn = await talk.ask('How high is the water?');
      stop();
      assert.deepEqual([turn.outcome, turn.text, turn.steps], ['done', 'It stands at 2.4 m.', 2]);
      assert.ok(seen.includes('tool-end'));
      assert.equal(seen.at(-1), 'turn-end');
      const [hit] = await talaria.search('how high is the water', { limit: 1 });
      assert.equal(hit?.sessionId, talk.sessionId);
      await talk.close();
      const again = await talaria.talk({ resume: talk.sessionId });
      assert.equal((await again.ask('At Piraeus?')).text, 'Yes, at Piraeus.');
      await assert.rejects(talaria.talk({ resume: 'nothing' }), { code: 'no-such-session' });
      await talaria.close();
      await talaria.close();
    },
  );

  test('a memory provider of the program stands beside the files', async (t) => {
    const temp = createTempHome(t);
    temp.write('home/config.yaml', 'memory:\n  provider: fake\n');
    const fake = createFakeMemoryProvider();
    fake.facts.push('the lighthouse keeper is called Ida');
    const client = createScriptedModel(['Ida'], { context: t });
    const home = join(temp.path, 'home');
    const talaria = await openTalaria({ home, client, extras: { memoryProviders: [fake] } });
    t.after(() => talaria.close());
    assert.deepEqual(talaria.notices, []);
    await (await talaria.talk()).ask('who keeps the lighthouse?');
    assert.match(JSON.stringify(client.requests[0]), /the lighthouse keeper is called Ida/);
    await talaria.close();
  });

  verifies('core:turn:collect-is-stream', 'asking is the collected stream, with the same end', async (t) => {
    const temp = createTempHome(t);
    const ends: unknown[] = [];
    for (const way of ['ask', 'send'] as const) {
      const talaria = await openTalaria({
        home: join(temp.path, way),
        client: createScriptedModel(['same'], { context: t }),
      });
      const talk = await talaria.talk();
      const last = way === 'ask' ? await talk.ask('hello') : (await Array.fromAsync(talk.send('hello'))).at(-1);
      ends.push({ ...last, ms: 0 });
      await talaria.close();
    }
    assert.deepEqual(ends[0], ends[1]);
  });

  test('an abort ends the turn, and the talk goes on', async (t) => {
    const temp = createTempHome(t);
    const client = createScriptedModel([{ hang: true, after: 'half' }, 'whole'], { context: t });
    const talaria = await openTalaria({ home: temp.path, client });
    t.after(() => talaria.close());
    const talk = await talaria.talk();
    const stop = new AbortController();
    const turn = talk.ask('hello', { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 20);
    assert.equal((await turn).outcome, 'aborted');
    assert.equal((await talk.ask('again')).text, 'whole');
  });

  test('without an approver a risky call is denied, and works in the folder that was named', async (t) => {
    const temp = createTempHome(t);
    const cwd = join(temp.path, 'work');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'notes.txt'), 'port 4711\n');
    const calls = (name: string, args: Record<string, string>) => ({ calls: [{ name, arguments: args }] });
    const client = createScriptedModel(
      [calls('read_file', { path: 'notes.txt' }), calls('terminal', { command: 'git push --force' }), 'done'],
      { context: t },
    );
    const talaria = await openTalaria({ home: join(temp.path, 'home'), cwd, client });
    t.after(() => talaria.close());
    const events = await Array.fromAsync((await talaria.talk()).send('go'));
    const results = events.flatMap((event) => (event.type === 'tool-end' ? [event.result] : []));
    assert.match(results[0]?.text ?? '', /port 4711/);
    assert.equal(results[1]?.observed.refused, 'denied');
  });
});
