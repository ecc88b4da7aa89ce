/** What reached us is answered, once, in order. */
import assert from 'node:assert/strict';
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
