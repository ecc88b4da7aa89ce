/** What a chat is beneath its screen: its session, its commands, stopping what runs. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { type ChatOptions, ChatSession } from '#surfaces/cli/chat/chat-session.ts';
import type { ServerStep } from '#testing/server/server-step.ts';
import { until } from '../../../ends.ts';
import { verifies } from '../../../verifies.ts';
import { openServed } from '../cli-fixture.ts';

async function openChat(t: TestContext, steps: readonly ServerStep[], options: Partial<ChatOptions> = {}) {
  const served = await openServed(t, steps);
  const seats = { approver: denyingApprover, asker: absentAsker, continueLast: false };
  const chat = new ChatSession({ app: served.app, ...seats, ...options });
  assert.equal(await chat.open(), undefined);
  t.after(() => chat.close());
  return { ...served, chat };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const got: T[] = [];
  for await (const item of items) got.push(item);
  return got;
}

function textOf(outputs: readonly CommandOutput[]): string {
  return outputs
    .flatMap((output) => {
      if (output.type === 'line') return [output.text];
      if (output.type === 'table') return [output.columns, ...output.rows].map((row) => row.join(' | '));
      return output.type === 'failure' ? [`${output.code}: ${output.message} ${output.fix}`] : [];
    })
    .join('\n');
}

const endOf = (events: readonly TurnEvent[]) => events.find((event) => event.type === 'turn-end');

describe('chat session', () => {
  verifies('core:cli:slash-commands', '/help lists every command, and each listed one can be typed', async (t) => {
    const { chat } = await openChat(t, []);
    const help = textOf(await collect(chat.slash('/help')));
    for (const name of [
      '/help',
      '/model',
      '/model add',
      '/new',
      '/resume',
      '/sessions',
      '/search',
      '/memory',
      '/tools',
      '/cost',
      '/context',
      '/quit',
    ])
      assert.match(help, new RegExp(`^${name} \\|`, 'm'));
    for (const [, name] of help.matchAll(/^\/([a-z ]+) \|/gm)) {
      const usage = textOf(await collect(chat.slash(`/${name} --help`)));
      assert.match(usage, /Usage: \/ /, name);
    }
  });

  verifies('core:cli:slash-commands', 'what is not understood is named, with the nearest', async (t) => {
    const { chat } = await openChat(t, []);
    const say = async (line: string) => textOf(await collect(chat.slash(line)));
    assert.match(await say('/hepl'), /unknown command 'hepl'; did you mean help\?.*\/help/);
    assert.match(await say('/search'), /words.*\/search --help/);
    assert.match(await say('/'), /name of a command/);
    assert.match(await say('/sessions frob'), /unknown command 'frob'/);
    assert.match(await say('/cost --frob'), /unknown option '--frob'.*\/cost --help/);
    assert.match(await say('/resume nope'), /no-such-session: There is no session nope/);
  });

  verifies('core:cli:slash-commands', 'what was said can be searched, listed, and what it cost is shown', async (t) => {
    const { chat } = await openChat(t, ['The capital of Peru is Lima.']);
    await collect(chat.send('what is the capital of Peru?'));
    const say = async (line: string) => textOf(await collect(chat.slash(line)));
    assert.match(await say('/search Lima'), /Lima/);
    assert.match(await say('/sessions'), /what is the capital of Peru/);
    assert.match(await say('/cost'), /openai\/m/);
    assert.match(await say('/tools'), /read_file/);
    assert.match(await say('/context'), /total/);
    assert.match(await say('/memory'), /MEMORY\.md/);
  });

  verifies(
    'core:cli:model-switch',
    '/model shows and switches; /model add tests, keeps the key out of sight and goes on',
    async (t) => {
      const asked: (boolean | undefined)[] = [];
      const key = 'sentinel-key-of-a-test';
      const ask: ChatOptions['ask'] = async (question) => {
        asked.push(question.secret);
        return ' ';
      };
      const { chat, server, stage } = await openChat(t, ['One.', 'ready', 'Two.'], { ask });
      const say = async (line: string) => textOf(await collect(chat.slash(line)));
      await collect(chat.send('first'));
      assert.match(await say('/model'), /openai\/m \(T2.*\n(?:.*\n)*\* openai\/m/);
      const { id } = chat.conversation?.session ?? {};
      assert.match(await say(`/model add ${key} --base-url ${server.baseUrl}`), /it works; from now on: local\/m/);
      await collect(chat.send('second'));
      assert.equal(chat.conversation?.session.id, id);
      const last = server.requests.at(-1);
      assert.equal(last?.headers.authorization, `Bearer ${key}`);
      assert.match(last?.raw ?? '', /first[\s\S]*One\.[\s\S]*second/);
      assert.ok(!stage.temp.read('home/config.yaml').includes(key));
      assert.match(await say('/model reflex'), /reflex\/1/);
      assert.match(await say('/model add'), /missing-key/);
      assert.deepEqual(asked, [true]);
    },
  );

  verifies(
    ['core:cli:ctrl-c', 'core:cli:prompt-built-once'],
    'a stopped turn ends, and the chat goes on with the same prompt',
    async (t) => {
      const { chat, server } = await openChat(t, [{ fault: 'hang-after' }, 'Here.']);
      const events: TurnEvent[] = [];
      const turn = (async () => {
        for await (const event of chat.send('think long')) events.push(event);
      })();
      await until(() => events.some((event) => event.type === 'text-delta'));
      assert.ok(chat.isRunning && chat.isBusy && !chat.isStopping);
      chat.stop();
      await turn;
      assert.equal(endOf(events)?.outcome, 'aborted');
      assert.ok(!chat.isBusy);
      assert.equal(endOf(await collect(chat.send('again')))?.text, 'Here.');
      const prompts = server.requests.map((request) => (request.body.messages as { content: unknown }[])[0]);
      assert.deepEqual(prompts[0], prompts[1]);
      assert.match(server.requests[1]?.raw ?? '', /think long[\s\S]*The first half/);
    },
  );

  it('a command that waits can be stopped like a turn', async (t) => {
    const { chat, server } = await openChat(t, [{ fault: 'hang' }]);
    const running = collect(chat.slash(`/model add ${server.baseUrl} a-key`));
    await until(() => server.requests.length === 1);
    assert.ok(chat.isBusy && !chat.isRunning);
    chat.stop();
    assert.match(textOf(await running), /stopped|abort/i);
    assert.ok(!chat.isBusy);
  });

  verifies('core:cli:continue-resume', '/new and /resume change the session, but not in mid-turn', async (t) => {
    const { chat, server } = await openChat(t, ['One.', { fault: 'hang-after' }, 'Three.']);
    const say = async (line: string) => textOf(await collect(chat.slash(line)));
    assert.match(await say('/resume'), /no earlier session/);
    await collect(chat.send('in the first'));
    const first = chat.conversation?.session.id ?? '';
    assert.equal(chat.resumable(), first);
    assert.match(await say('/new'), /new session/);
    assert.notEqual(chat.conversation?.session.id, first);
    assert.equal(chat.resumable(), undefined);
    const events: TurnEvent[] = [];
    const turn = (async () => {
      for await (const event of chat.send('hang')) events.push(event);
    })();
    await until(() => server.requests.length === 2);
    assert.match(await say(`/resume ${first}`), /turn-running/);
    chat.stop();
    await turn;
    assert.match(await say('/resume'), new RegExp(`in session ${first}, 2 messages`));
    assert.equal(endOf(await collect(chat.send('go on')))?.text, 'Three.');
    assert.match(server.requests.at(-1)?.raw ?? '', /in the first[\s\S]*go on/);
  });

  verifies('core:cli:exit-words', '/quit leaves after its line', async (t) => {
    const { chat } = await openChat(t, []);
    assert.equal(chat.isLeaving, false);
    await collect(chat.slash('/quit'));
    assert.equal(chat.isLeaving, true);
  });

  it('a line for a running turn is taken at its next step', async (t) => {
    const slow = { calls: [{ name: 'terminal', arguments: { command: 'sleep 0.3' } }] };
    const { chat, server } = await openChat(t, [slow, 'Done.']);
    for await (const event of chat.send('work')) if (event.type === 'tool-start') chat.steer('and be brief');
    assert.match(server.requests[1]?.raw ?? '', /and be brief/);
  });
});
