/** What reached us is answered, once, in order. */
import assert from 'node:assert/strict';
import { TalariaError } from '#base/errors.ts';
import type { ModelRequest } from '#core/model/model-client.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { MemoryChannel } from '#testing/memory-channel.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { startGateway } from './gateway-stage.ts';

verifies(
  ['R5.102', 'R5.103'],
  'messages of one chat are answered in order, in one session; a second delivery is nothing',
  async (t) => {
    const gate = await startGateway(t, ['one', 'two']);
    gate.channel.say({ id: 'a', text: 'first' });
    gate.channel.say({ id: 'a', text: 'first' });
    gate.channel.say({ id: 'b', text: 'second' });
    await gate.until(() => gate.channel.shown.length === 2);
    assert.deepEqual(gate.texts(), ['one', 'two']);
    await gate.until(() => gate.mailbox.received("state = 'done'").length === 2);
    const sessions = await gate.app.doors.sessions.list({ source: 'memory' });
    assert.deepEqual(
      sessions.map(({ messageCount }) => messageCount),
      [4],
    );
  },
);

verifies(['R5.111'], 'a risky call is asked with buttons, and only its person counts', async (t) => {
  const gate = await startGateway(t, [
    { calls: [{ name: 'terminal', arguments: { command: 'rm -rf build' } }] },
    'gone',
  ]);
  gate.channel.say({ text: 'clean up' });
  await gate.until(() => gate.channel.shown.length === 1);
  assert.match(gate.texts()[0] ?? '', /rm -rf build/);
  gate.channel.press('Once', { person: '2' });
  await gate.until(() => gate.channel.told.length === 1);
  gate.channel.press('Once');
  await gate.until(() => gate.channel.shown.length === 2);
  gate.channel.press('Once');
  await gate.until(() => gate.channel.told.length === 3);
  assert.deepEqual(gate.channel.told, ['This was not asked of you.', 'Once', 'This question is over.']);
});

verifies(
  ['R5.112', 'R5.113'],
  'a stranger gets one code; paired as a guest he is answered, without what is the owner’s',
  async (t) => {
    const gate = await startGateway(t, ['hello guest']);
    for (const text of ['hi', 'hi?']) gate.channel.say({ person: '9', chat: '9', text });
    await gate.until(() => gate.mailbox.received("state = 'done'").length === 2);
    const [code = ''] = gate.texts('9').map((text) => /pair ([A-Z2-9]{8})$/.exec(text)?.[1] ?? '');
    assert.equal(gate.texts('9').length, 1);
    assert.equal((await gate.people.pair(code, 'guest')).ok, true);
    assert.equal((await gate.people.pair(code, 'owner')).ok, false);
    gate.channel.say({ person: '9', chat: '9', text: 'now?' });
    await gate.until(() => gate.texts('9').length === 2);
    gate.channel.say({ person: '9', chat: '9', text: '/cost' });
    await gate.until(() => gate.texts('9').length === 3);
    assert.equal(gate.texts('9')[2], '/cost is for the owner.');
  },
);

verifies(['R5.104'], 'what waited while it was down is answered after the start', async (t) => {
  const first = await startGateway(t, ['one']);
  await first.stop();
  first.channel.say({ text: 'while you were down' });
  const gate = await startGateway(t, ['here'], { stage: first.stage, channel: first.channel });
  await gate.until(() => gate.channel.shown.length === 1);
  assert.deepEqual(gate.texts(), ['here']);
});

verifies(['R5.111'], 'a button of before a restart is over; what it asked for is asked again', async (t) => {
  const calls = [{ name: 'terminal', arguments: { command: 'rm -rf build' } }];
  const clock = createManualClock();
  const first = await startGateway(t, [{ calls }], { app: { clock } });
  first.channel.say({ text: 'clean up', at: clock.now() });
  await first.until(() => first.channel.shown.length === 1);
  const stopped = first.stop();
  const isStopped = stopped.then(() => true);
  while (!(await Promise.race([isStopped, clock.advance(6_000)])));
  const { stage, channel } = first;
  channel.press('Once');
  const gate = await startGateway(t, [{ calls }, 'gone'], { stage, channel });
  await gate.until(() => channel.shown.length === 2);
  channel.press('No');
  await gate.until(() => channel.shown.length === 3);
  assert.deepEqual([channel.told, gate.texts().at(-1)], [['This question is over.', 'No'], 'gone']);
});

verifies(['R5.112'], 'ten who ask within a second open three codes; whatever their names hold', async (t) => {
  const gate = await startGateway(t, []);
  for (let person = 10; person < 20; person += 1)
    for (const text of ['hi', 'hi?']) {
      const by = { person: String(person), chat: String(person), name: '<b>\u202E*Eve*</b>'.padEnd(person * 100, 'e') };
      gate.channel.say({ ...by, text });
    }
  await gate.until(() => gate.mailbox.received("state = 'done'").length === 20);
  assert.equal(gate.channel.shown.length, 3);
  assert.ok(gate.channel.shown.every(({ text }) => !text.includes('Eve')));
});

for (const code of ['disk-full', 'database-locked'])
  verifies(
    ['R5.102', 'R5.104'],
    `${code} between a message and its answer is waited for, and it is answered`,
    async (t) => {
      const clock = createManualClock();
      const gate = await startGateway(t, ['one', 'two'], { app: { clock } });
      const fails = (times: number) => async () => {
        if (times > 0) {
          times -= 1;
          throw new TalariaError('it cannot be written', { code });
        }
      };
      for (const name of ['answer', 'begin', 'become', 'sending', 'sent'] as const) {
        const [own, fail] = [gate.mailbox[name].bind(gate.mailbox) as (...all: unknown[]) => Promise<void>, fails(2)];
        Object.assign(gate.mailbox, { [name]: (...all: unknown[]) => fail().then(() => own(...all)) });
      }
      gate.channel.say({ text: 'first' });
      gate.channel.say({ text: 'among themselves', chat: '-5', isGroup: true, isMeant: false });
      gate.channel.say({ text: 'second' });
      await gate.until(async () => {
        await clock.advance(1_000);
        return gate.texts().length === 2;
      });
      assert.deepEqual(gate.texts(), ['one', 'two']);
      await gate.until(async () => {
        await clock.advance(1_000);
        return gate.mailbox.received("state = 'done'").length === 3;
      });
    },
  );

verifies(
  ['R5.101', 'R5.114'],
  'a group that became a supergroup goes on in its session, whoever spoke in it',
  async (t) => {
    const gate = await startGateway(t, ['one', 'two', 'three', 'four']);
    await gate.people.allow('memory', '1');
    const sessions = () =>
      ['-5', '-50'].flatMap((chat) =>
        ['', ':guests'].map((end) => gate.mailbox.sessionOf(`memory:group:${chat}${end}`)),
      );
    await gate.people.pair(
      (await gate.people.begin({ channel: 'memory', person: '9', name: 'Eve', chat: '9' })) ?? '',
      'guest',
    );
    const group = { chat: '-5', isGroup: true };
    gate.channel.say({ ...group, text: 'of the owner' });
    await gate.until(() => gate.texts('-5').length === 1);
    gate.channel.say({ ...group, person: '9', text: 'of a guest' });
    await gate.until(() => gate.texts('-5').length === 2);
    const before = sessions();
    // Somebody was quicker in the new one.
    gate.channel.say({ ...group, chat: '-50', text: 'already here' });
    await gate.until(() => gate.texts('-50').length === 1);
    gate.channel.say({ ...group, movedTo: '-50' });
    await gate.until(() => sessions()[0] === undefined);
    assert.deepEqual(sessions(), [undefined, undefined, ...before.slice(0, 2)]);
  },
);

verifies(
  ['R5.104'],
  'a message that was cut off twice is answered itself, also when others were said meanwhile',
  async (t) => {
    const gate = await startGateway(t, [{ error: new Error('gone') }, 'two', 'one']);
    for (const text of ['first', 'second']) gate.channel.say({ text });
    await gate.until(() => gate.channel.shown.length === 2);
    await gate.until(() => gate.mailbox.received("state = 'done'").length === 2);
    const [{ key = 0 } = {}] = gate.mailbox.received('1 = 1');
    await gate.mailbox.become(key, 'asked');
    gate.channel.press(`g:${key}:0`);
    await gate.until(() => gate.channel.shown.length === 3);
    assert.equal(gate.texts()[2], 'one');
  },
);

verifies.slow(
  ['R5.102', 'R5.104'],
  'what was said before a question waits for its answer; what comes after it is one',
  async (t) => {
    const gate = await startGateway(t, ['one', 'two', 'three']);
    gate.channel.say({ text: 'first' });
    await gate.until(() => gate.mailbox.received("state = 'done'").length === 1);
    const [first] = gate.mailbox.received('1 = 1');
    const ask = async () => {
      const buttons = [{ text: 'Go on', data: `g:${first?.key}:0` }];
      await gate.mailbox.answer({ channel: 'memory', chat: '1', key: first?.key ?? 0 }, ['go on?'], {
        state: 'asked',
        buttons,
      });
      await gate.until(() => gate.texts().at(-1) === 'go on?');
    };
    await ask();
    gate.channel.say({ text: 'second', at: 0 });
    await gate.until(() => gate.mailbox.received("state = 'received'").length === 1);
    gate.channel.press('Go on');
    await gate.until(() => gate.texts().length === 4);
    await ask();
    gate.channel.say({ text: 'third' });
    await gate.until(() => gate.texts().length === 6);
    assert.deepEqual(gate.texts(), ['one', 'go on?', 'one', 'two', 'go on?', 'three']);
    assert.equal(gate.mailbox.received("state = 'failed'").length, 1);
  },
);

verifies(['R5.102', 'R5.105'], 'of two channels each sends at once what it has, however often', async (t) => {
  const all = ['one', 'two'].map((name) => new MemoryChannel(name));
  const seat = { allow: ['1'], groups: 'off', progress: 'off' } as const;
  const channels = all.map((channel) => ({ channel, ...seat }));
  const gate = await startGateway(t, ['a', 'b', 'c', 'd'], {
    app: { clock: createManualClock() },
    means: { channels },
  });
  for (const count of [1, 2])
    for (const channel of all) {
      channel.say({ text: 'hello' });
      await gate.until(() => channel.shown.length === count);
    }
});

verifies(
  ['core:gateway:one-process', 'core:gateway:fresh-agent-stored-prompt', 'core:gateway:routed-by-user'],
  'the owner goes on from one platform to another in one session, and no request changes what was sent before',
  async (t) => {
    const client = createScriptedModel(['one', 'two', 'three']);
    const all = ['one', 'two'].map((name) => new MemoryChannel(name));
    const seat = { allow: ['1'], groups: 'off', progress: 'off' } as const;
    const gate = await startGateway(t, [], {
      app: { extra: { client } },
      means: { channels: all.map((channel) => ({ channel, ...seat })) },
    });
    for (const [at, text] of ['first', 'second', 'third'].entries()) {
      const channel = all[at % 2];
      channel?.say({ text });
      await gate.until(() => all.flatMap(({ shown }) => shown).length === at + 1);
    }
    const sessions = await gate.app.doors.sessions.list({});
    assert.deepEqual(
      sessions.map(({ messageCount }) => messageCount),
      [6],
    );
    const [first, ...later] = client.requests;
    assert.equal(later.length, 2);
    for (const [at, request] of later.entries()) {
      assert.equal(request.system, first?.system);
      const before = at === 0 ? first : later[at - 1];
      assert.deepEqual(request.messages.slice(0, before?.messages.length), before?.messages);
    }
  },
);

/** A model whose first answer waits until it is let. */
function waitingModel() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const model = createScriptedModel(['one', 'two', 'three']);
  const heard: string[] = [];
  const stream = async function* (request: ModelRequest, signal: AbortSignal) {
    const said = JSON.stringify(request.messages.findLast(({ role }) => role === 'user'));
    heard.push(/first|second|third/.exec(said)?.[0] ?? '');
    await promise;
    yield* model.stream(request, signal);
  };
  return { client: { ...model, stream }, heard, go: resolve };
}

verifies(['R5.102'], 'what waits before it in the line is not passed by what could steer', async (t) => {
  const { client, heard, go } = waitingModel();
  const gate = await startGateway(t, [], { app: { extra: { client } } });
  const begun = Promise.withResolvers<void>();
  const begin = gate.mailbox.begin.bind(gate.mailbox);
  gate.mailbox.begin = async (...all) => begun.promise.then(() => begin(...all));
  gate.channel.say({ text: 'first' });
  await gate.until(() => gate.mailbox.received('1 = 1').length === 1);
  gate.channel.say({ text: 'second' });
  await gate.until(() => gate.mailbox.received('1 = 1').length === 2);
  begun.resolve();
  await gate.until(() => heard.length === 1);
  gate.channel.say({ text: 'third' });
  await gate.until(() => gate.mailbox.received('1 = 1').length === 3);
  go();
  await gate.until(() => gate.channel.shown.length === 3);
  assert.deepEqual(
    [gate.texts(), heard],
    [
      ['one', 'two', 'three'],
      ['first', 'second', 'third'],
    ],
  );
});

verifies(['R5.102'], 'what was to steer a turn that ended meanwhile is a message of its own', async (t) => {
  const { client, heard, go } = waitingModel();
  const gate = await startGateway(t, [], { app: { extra: { client } } });
  const steers = gate.mailbox.steers.bind(gate.mailbox);
  gate.mailbox.steers = async (...all) => {
    go();
    await gate.until(() => gate.channel.shown.length === 1);
    await steers(...all);
  };
  gate.channel.say({ text: 'first' });
  await gate.until(() => heard.length === 1);
  gate.channel.say({ text: 'second' });
  await gate.until(() => gate.channel.shown.length === 2);
  assert.deepEqual(
    [gate.texts(), heard],
    [
      ['one', 'two'],
      ['first', 'second'],
    ],
  );
});
