/** Ids of people in both forms, lines of an introduction, and what is read of an event. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  aboutLine,
  contextIn,
  isIntroductionLine,
  translateLine,
} from '#extensions/hive/matrix/events/introduction-line.ts';
import { messageText } from '#extensions/hive/matrix/events/message-text.ts';
import { readEvent } from '#extensions/hive/matrix/events/room-event.ts';
import { isUserId, nameOf, opaqueId, userIdOf } from '#extensions/hive/matrix/events/user-id.ts';
import { verifies } from '../../../../verifies.ts';

describe('ids', () => {
  verifies(['R4.33', 'R4.64'], 'the opaque form can be turned back, also with a port and with odd signs', () => {
    const pairs: readonly (readonly [string, string, string])[] = [
      ['@hermes-of-carol:localhost', 'hermes-of-carol@localhost', 'hermes-of-carol'],
      ['@bob:localhost:8448', 'bob@localhost:8448', 'bob'],
      ['@a=2f/b.c_d-e+f:[::1]:8448', 'a=2f/b.c_d-e+f@[::1]:8448', 'a=2f/b.c_d-e+f'],
      ['@old@name:example.org', 'old@name@example.org', 'old@name'],
    ];
    for (const [userId, id, name] of pairs) {
      assert.equal(opaqueId(userId), id);
      assert.equal(userIdOf(id), userId);
      assert.equal(nameOf(userId), name);
    }
    fc.assert(
      fc.property(fc.string(), fc.string(), (local, server) => {
        const userId = `@${local}:${server}`;
        if (isUserId(userId)) assert.equal(userIdOf(opaqueId(userId)), userId);
      }),
    );
  });

  test('what is no id of a person is none', () => {
    for (const id of ['', 'bob', '@localhost', 'bob@', 'a b@c', 'a@b c', 'a:b@c', '@', `${'x'.repeat(300)}@y`])
      assert.equal(userIdOf(id), undefined, id);
    for (const id of ['', '@', '@:x', '@a', 'a:b', '@a b:c', '@a:b\n', '@a:b@c', 7, null, undefined, '@\u0000:x'])
      assert.equal(isUserId(id), false, String(id));
  });

  test('an id with a server that encryption cannot take is none, so that one member holds up nobody', async () => {
    const { UserId } = await import('@matrix-org/matrix-sdk-crypto-wasm');
    const servers = [
      'b_c',
      'b:99999',
      'x/y',
      'x?y',
      'x:',
      'x:abc',
      '[::1',
      '[zz]',
      '[1.2.3.4]',
      '[::1%eth0]',
      'é.org',
      'x:y:1',
    ];
    for (const server of servers) assert.equal(isUserId(`@a:${server}`), false, server);
    assert.equal(isUserId('@\ud800:x'), false);
    for (const server of ['x', 'X-y.z.', '10.0.0.1:80', '[2001:db8::1]:8448', '-'])
      assert.doesNotThrow(() => (isUserId(`@a:${server}`) ? new UserId(`@a:${server}`) : assert.fail(server)));
    const sign = fc.constantFrom(...'aé.:-_[]0159/%@ ');
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 12 }), (signs) => {
        const id = `@a:${signs.join('')}`;
        if (isUserId(id)) assert.doesNotThrow(() => new UserId(id), id);
      }),
    );
  });
});

describe('lines of an introduction', () => {
  verifies('R4.34', 'the context is what stands after About and the exact id, several lines kept, capped', () => {
    const carol = '@carol:localhost:8448';
    assert.equal(contextIn(aboutLine(carol, 'one\n\ntwo  '), carol), 'one\n\ntwo');
    assert.equal(contextIn(`About ${carol}:no blank`, carol), 'no blank');
    for (const text of [
      'About @carol:localhost: x',
      `about ${carol}: x`,
      `so: About ${carol}: x`,
      `About ${carol}`,
      '',
    ])
      assert.equal(contextIn(text, carol), undefined, text);
    assert.equal(contextIn(aboutLine(carol, '🦊'.repeat(4_000)), carol)?.length, 4_000);
  });

  verifies(['R4.8', 'R4.64'], 'a line shows the opaque id, every other text stays as it is', () => {
    assert.equal(translateLine('About @carol:localhost:8448: one\ntwo'), 'About carol@localhost:8448: one\ntwo');
    for (const text of ['About us: x', 'mail @carol:localhost: x', 'About @carol: x', 'About @a b:c: x', ''])
      assert.equal(translateLine(text), text);
    assert.ok(isIntroductionLine('Why: so'));
    assert.ok(!isIntroductionLine('Why not?'));
  });
});

describe('events', () => {
  verifies(
    'R4.37',
    'B10: whatever is no event or no message gives nothing or a sentence of ours, never a throw',
    () => {
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          readEvent(value as never);
          readEvent({ event_id: '$a', type: 'm.room.message', sender: '@a:b', content: value } as never);
          if (typeof value === 'object' && value !== null && !Array.isArray(value)) messageText(value as never);
        }),
      );
      const event = { event_id: '$a', type: 'm.room.message', sender: '@a:b', content: {}, origin_server_ts: 5 };
      assert.equal(readEvent(event)?.at, 5);
      for (const at of ['5', -1, Number.NaN, 8.7e15, null, {}])
        assert.equal(readEvent({ ...event, origin_server_ts: at as never })?.at, 0);
      for (const broken of [
        { sender: 'a' },
        { content: 'x' },
        { content: [] },
        { event_id: 7 },
        { event_id: '' },
        { type: 1 },
      ])
        assert.equal(readEvent({ ...event, ...(broken as object) } as never), undefined);
      assert.deepEqual(
        [{}, { msgtype: 'm.text' }, { msgtype: 7, body: 'x' }, { body: 'x' }].map(
          (content) => messageText(content)?.state,
        ),
        ['removed', undefined, undefined, undefined],
      );
      assert.match(
        messageText({ msgtype: 'm.image', body: 'cat.png', url: 'mxc://x/y' })?.text ?? '',
        /an image was sent/,
      );
      assert.match(messageText({ msgtype: '__proto__', body: 'x' })?.text ?? '', /something was sent/);
      assert.equal(messageText({ msgtype: 'm.emote', body: 'waves \ud800' })?.text, 'waves \ufffd');
      assert.ok((messageText({ msgtype: 'm.text', body: 'x'.repeat(1_000_000) })?.text.length ?? 0) <= 16_000);
    },
  );
});
