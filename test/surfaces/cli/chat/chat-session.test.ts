/** What a chat is beneath its screen: its session, its commands, stopping what runs. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { CommandOutput, Part, TurnEvent } from '#public/talaria.ts';
import type { ServerStep } from '#public/testing.ts';
import { type ChatOptions, ChatSession } from '#surfaces/cli/chat/chat-session.ts';
import { commandLines } from '#surfaces/cli/terminal-text.ts';
import { until } from '../../../ends.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { openServed } from '../cli-fixture.ts';

async function openChat(t: TestContext, steps: readonly ServerStep[], options: Partial<ChatOptions> = {}) {
  const served = await openServed(t, steps);
  const seats = { approver: denyingApprover, asker: absentAsker, continueLast: false, submit: () => undefined };
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

const echo = (text: string): ServerStep => ({ calls: [{ name: 'terminal', arguments: { command: `echo ${text}` } }] });

/** A file in the folder of the chat. */
function stage(chat: ChatSession, name: string, text: string): void {
  const path = join(chat.app.environment.cwd, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** One turn; `during` is called with the first tool that starts. */
async function play(
  chat: ChatSession,
  line: string,
  during: () => void,
  onEvent: (event: TurnEvent) => void = () => undefined,
): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of chat.send(line)) {
    if (event.type === 'tool-start' && !events.some(({ type }) => type === 'tool-start')) during();
    onEvent(event);
    events.push(event);
  }
  return events;
}

const messageLength = (part: Part) => ('text' in part ? part.text.length : 0);

const steersOf = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === 'steer' ? [event.text] : []));

const endOf = (events: readonly TurnEvent[]) => events.find((event) => event.type === 'turn-end');

describe('chat session', () => {
  verifies.slow('core:cli:slash-commands', '/help lists every command, and each listed one can be typed', async (t) => {
    const { chat } = await openChat(t, []);
    const help = textOf(await collect(chat.slash('/help')));
    for (const name of [
      '/help',
      '/model',
      '/model add',
      '/new /clear',
      '/resume',
      '/sessions …',
      '/search',
      '/memory …',
      '/tools',
      '/cost',
      '/context',
      '/quit /exit',
    ])
      assert.match(help, new RegExp(`^  ${name} \\|`, 'm'));
    for (const command of await chat.commands()) {
      const usage = textOf(await collect(chat.slash(`/${command.name} --help`)));
      assert.ok(usage.startsWith(`Usage: /${command.name}`), usage);
    }
  });

  verifies('core:cli:slash-commands', 'what is not understood is named, with the nearest', async (t) => {
    const { chat } = await openChat(t, []);
    const say = async (line: string) => textOf(await collect(chat.slash(line)));
    assert.match(await say('/hepl'), /unknown command 'hepl'; did you mean help\?.*\/help/);
    assert.match(await say('/search'), /words.*\/sessions search --help/);
    assert.match(await say('/'), /name of a command/);
    assert.match(await say('/sessions frob'), /unknown command 'frob' \/sessions takes list · show/);
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

  verifies.slow(
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

  verifies.slow('core:cli:continue-resume', '/new and /resume change the session, but not in mid-turn', async (t) => {
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

  it('first hour 2: a line waits until the running turn says that it took it', async (t) => {
    const { chat, server } = await openChat(t, [echo('one'), echo('two'), 'Done.']);
    const waiting: (readonly string[])[] = [];
    await play(
      chat,
      'work',
      () => ['be brief', 'be kind'].map((line) => chat.wait(line)),
      (event) => event.type === 'steer' && waiting.push(chat.waiting),
    );
    assert.deepEqual(waiting, [['be kind'], []]);
    assert.match(server.requests[1]?.raw ?? '', /be brief[\s\S]*be kind/);
    assert.doesNotMatch(server.requests[0]?.raw ?? '', /be brief/);
    assert.equal(chat.next(), undefined);
  });

  it('first hour 2: what the turn did not take waits, in order, and so does what was typed behind it', async (t) => {
    const { chat } = await openChat(t, [echo('one'), 'Done.']);
    stage(chat, 'a.txt', 'a file');
    const lines = ['first', 'read @a.txt', 'third', '!ls'];
    const events = await play(chat, 'work', () => lines.map((line) => chat.wait(line)));
    assert.deepEqual(steersOf(events), ['first']);
    assert.deepEqual(chat.waiting, ['read @a.txt', 'third', '!ls']);
    chat.wait('after the turn');
    assert.deepEqual([chat.next(), chat.takeLast()], ['read @a.txt', 'after the turn']);
    assert.deepEqual(chat.takeBack(), ['third', '!ls']);
  });

  it('first hour 2: a line that was taken back is not read by the turn', async (t) => {
    const { chat, server } = await openChat(t, [echo('one'), 'Done.']);
    await play(chat, 'work', () => {
      for (const line of ['keep this', 'not this']) chat.wait(line);
      assert.equal(chat.takeLast(), 'not this');
    });
    assert.match(server.requests[1]?.raw ?? '', /keep this/);
    assert.doesNotMatch(server.requests[1]?.raw ?? '', /not this/);
    assert.deepEqual(chat.waiting, []);
  });

  slow('first hour 2: a turn that is being stopped takes no line; reflex never does', async (t) => {
    const { chat, server } = await openChat(t, [echo('one')]);
    await play(chat, 'work', () => {
      chat.wait('before');
      chat.stop();
      chat.wait('behind');
    });
    assert.deepEqual(chat.takeBack(), ['before', 'behind']);
    await collect(chat.slash('/model reflex'));
    const events = await play(chat, 'run `echo hi`', () => chat.wait('run `echo ho`'));
    assert.deepEqual([chat.waiting, steersOf(events)], [['run `echo ho`'], []]);
    assert.equal(server.requests.length, 1);
  });

  it('first hour 7: !command runs through the same door as any call, and the model sees what it printed', async (t) => {
    const { chat, server } = await openChat(t, ['I saw it.']);
    const shown = (await collect(chat.send("!printf '  `a` <b>\\n\\nc'"))).flatMap(commandLines);
    assert.deepEqual(
      shown.map(({ kind, text }) => (kind === 'result' ? kind : text)),
      ["$ printf '  `a` <b>\\n\\nc'", '  `a` <b>\n\nc', 'result'],
    );
    const refused = (await collect(chat.send('!rm -rf gone'))).flatMap(commandLines);
    assert.match(refused.at(-1)?.text ?? '', /not run \(denied\)/);
    const failed = (await collect(chat.send('!exit 3'))).flatMap(commandLines);
    assert.match(failed.at(-1)?.text ?? '', /^failed · exit 3/);
    assert.equal(server.requests.length, 0);
    const alone = await collect(chat.send('!'));
    assert.deepEqual(
      alone.map(({ type }) => type),
      ['notice'],
    );
    await collect(chat.send('what was that?'));
    assert.match(server.requests[0]?.raw ?? '', /!printf[\s\S]*`a` <b>[\s\S]*what was that/);
  });

  it('first hour 7: @path goes along, up to a bound; secrets do not, what does not exist is a word', async (t) => {
    const { chat, server } = await openChat(t, ['One.', 'Two.']);
    stage(chat, 'src/a.js', 'const a = `1`;\n\n  b();\n');
    stage(chat, 'my notes.txt', 'remember\n');
    stage(chat, '.env', 'KEY=sentinel\n');
    stage(chat, 'long.txt', `${'0123456789'.repeat(10)}\n`.repeat(3_000));
    const events = await collect(chat.send('@src/a.js, @"my notes.txt" @.env @nobody @src and a@b.c'));
    const notes = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    assert.deepEqual(notes, [
      '@src/a.js goes along, 3 lines',
      '@my notes.txt goes along, 1 line',
      '@.env does not go along: it holds keys or passwords',
      '@src goes along as a list, 1 name',
    ]);
    const parts = chat.conversation?.history[0]?.parts ?? [];
    const files = parts.filter((part) => part.type === 'text' && part.label === 'file');
    assert.deepEqual(
      files.map((part) => part.type === 'text' && [part.origin, part.text]),
      [
        ['foreign', '[file src/a.js, 3 lines]\nconst a = `1`;\n\n  b();\n[end of src/a.js]'],
        ['foreign', '[file my notes.txt, 1 line]\nremember\n[end of my notes.txt]'],
        ['foreign', '[folder src, 1 name]\na.js\n[end of src]'],
      ],
    );
    assert.match(server.requests[0]?.raw ?? '', /@nobody @src and a@b\.c/);
    assert.doesNotMatch(server.requests[0]?.raw ?? '', /sentinel/);
    const cut = await collect(chat.send('@long.txt @src/a.js'));
    const said = cut.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    assert.match(said[0] ?? '', /^@long\.txt goes along, cut: \d+ lines of 3000$/);
    assert.match(said[1] ?? '', /^@src\/a\.js (?:goes along, cut|does not go along)/);
    const sent = chat.conversation?.history.at(-2)?.parts.reduce((sum, part) => sum + messageLength(part), 0) ?? 0;
    assert.ok(sent > 8_000 && sent < chat.app.model().contextWindow + 1_000, `${sent}`);
  });

  it('first hour 7: reflex reads @path by its own tool', async (t) => {
    const { chat } = await openChat(t, []);
    stage(chat, 'a.txt', 'the text\n');
    await collect(chat.slash('/model reflex'));
    const events = await collect(chat.send('show me @a.txt'));
    assert.match(endOf(events)?.text ?? '', /the text/);
  });
});
