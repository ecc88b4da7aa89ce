/** What peers say to each other (R4.8, R4.36, R4.37, R4.69, R4.74; notes 6: B1, B10; conflicts H4, H6). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { SECRET } from '../agent/hive-agent.ts';
import { allMessages, messagesOf, refuses, send, speaksOfPeersOnly, talkOf } from '../agent/hive-answers.ts';
import {
  allIntroduced,
  bobIntroduced,
  introduceByHand,
  localpart,
  opaque,
  redact,
  roomOf,
  timeline,
} from '../agent/hive-scenes.ts';
import type { Rows } from '../agent/hive-stage.ts';
import { RawError, roomPath } from '../hive-raw-client.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export function rowsOfMessages(rows: Rows): void {
  describe(`messages: ${rows.title}`, () => {
    ofTalks(rows);
    ofNews(rows);
    ofWhoIsMeant(rows);
    ofOddEvents(rows);
  });
}

function ofTalks({ stage, mode }: Rows): void {
  verifies(
    ['R4.36', 'R4.37', 'R4.60'],
    'bidirectional_conversation, send_to_peer, check_messages_from_peer: newest first, with sender and time',
    stage(async (on) => {
      const { alice, bob, carol } = await allIntroduced(on);
      await send(bob, carol.name, 'Hello Carol, can you look at my enclave?');
      await send(carol, bob.name, 'Gladly — 東京 🦊\nnext week');
      await send(bob, carol.id, 'Thanks.');
      const expected = ['Thanks.', 'Gladly — 東京 🦊\nnext week', 'Hello Carol, can you look at my enclave?'];
      for (const [agent, peer] of [
        [bob, carol],
        [carol, bob],
      ] as const) {
        await agent.prefetch();
        assert.deepEqual(await talkOf(agent, peer.name), expected);
      }
      const said = await messagesOf(bob, carol.name);
      const [thanks, gladly] = said;
      assert.deepEqual([thanks?.from, gladly?.from], [bob.name, carol.name]);
      for (const { time } of said) assert.match(time, ISO);
      assert.deepEqual(
        said.map(({ time }) => time),
        [...said.map(({ time }) => time)].sort().reverse(),
      );
      const room = await roomOf(on.rawOf(bob), [alice, bob, carol]);
      const types = new Set((await timeline(on.rawOf(alice), room)).map(({ type }) => type));
      assert.equal(types.has('m.room.encrypted'), mode.e2ee);
      assert.equal(types.has('m.room.message'), !mode.e2ee);
    }),
  );

  verifies(
    ['R4.37'],
    'the last twenty are shown, of more than one page of thirty',
    stage(async (on) => {
      const { bob, carol } = await allIntroduced(on);
      for (let i = 0; i < 30; i++) await carol.transport.send(bob.id, `message ${i}`, AbortSignal.timeout(30_000));
      await bob.prefetch();
      const seen = await talkOf(bob, carol.name);
      assert.deepEqual(
        seen,
        Array.from({ length: 20 }, (_, i) => `message ${29 - i}`),
      );
    }),
  );

  verifies(
    ['R4.8', 'R4.5', 'R4.37'],
    'no_matrix_ids_in_messages: no tool shows a word or an id of the protocol',
    stage(async (on) => {
      const { alice, bob, carol } = await allIntroduced(on);
      await send(carol, bob.name, 'hello');
      speaksOfPeersOnly(await bob.prefetch(), 'prefetch');
      const said = [
        await bob.call('hivemind_list_peers'),
        await bob.call('hivemind_check_messages'),
        await bob.call('hivemind_check_messages', { peer: carol.name }),
        await bob.call('hivemind_get_peer_info', { peer: carol.name }),
        await bob.call('hivemind_send_to_peer', { peer: carol.name, message: 'hi' }),
        await bob.call('hivemind_introduce_peers', { peer_a: carol.name, peer_b: alice.name, reason: 'they get on' }),
        await bob.call('hivemind_dismiss_spark', { peer_a: carol.name, peer_b: alice.name }),
      ];
      for (const { text, isError } of said) {
        assert.equal(isError, false, text);
        speaksOfPeersOnly(text, 'a tool');
      }
    }),
  );
}

function ofNews({ stage }: Rows): void {
  verifies(
    ['R4.37', 'R4.14'],
    'H4: what is new is said once, mine is never new, and a restart forgets nothing of it',
    stage(async (on) => {
      const { bob, carol } = await allIntroduced(on);
      await send(carol, bob.name, 'first');
      await send(bob, carol.name, 'mine');
      await send(carol, bob.name, 'second');
      await bob.prefetch();
      const fresh = async (agent = bob): Promise<readonly string[]> =>
        (await messagesOf(agent, carol.name)).filter((message) => message.new === true).map(({ text }) => text);
      assert.deepEqual(await fresh(), ['second', 'first']);
      await bob.prefetch();
      assert.deepEqual(await fresh(), []);
      await send(carol, bob.name, 'third');
      await bob.prefetch();
      await bob.close();
      const again = await on.restart(bob);
      await again.prefetch();
      assert.deepEqual(await fresh(again), ['third']);
      assert.deepEqual(await fresh(again), []);
    }),
  );

  verifies(
    ['R4.37', 'R4.50'],
    'H4: what was read live, after the prefetch of its turn, is not new again in the next',
    stage(async (on) => {
      const { bob, carol } = await allIntroduced(on);
      await bob.prefetch();
      await send(carol, bob.name, 'read once');
      const fresh = async () =>
        (await messagesOf(bob, carol.name)).filter((message) => message.new === true).map(({ text }) => text);
      assert.deepEqual(await fresh(), ['read once']);
      assert.equal(await bob.prefetch(), '');
      assert.deepEqual(await fresh(), []);
    }),
  );

  verifies(
    ['R4.37', 'R4.36'],
    'the same words twice are two messages',
    stage(async (on) => {
      const { bob, carol } = await allIntroduced(on);
      for (let i = 0; i < 2; i++) await send(bob, carol.name, 'ok');
      await Promise.all([send(bob, carol.name, 'both'), send(bob, carol.name, 'both')]);
      await carol.prefetch();
      assert.deepEqual(await talkOf(carol, bob.name), ['both', 'both', 'ok', 'ok']);
    }),
  );

  verifies(
    ['R4.37', 'R4.7'],
    'check_messages without a name asks everybody',
    stage(async (on) => {
      const { alice, bob, carol } = await allIntroduced(on);
      await send(carol, bob.name, 'from carol');
      await send(alice, bob.name, 'from alice');
      await bob.prefetch();
      const all = await allMessages(bob);
      const from = (name: string): readonly string[] =>
        [...all].filter(([peer]) => peer.startsWith(name)).flatMap(([, messages]) => messages.map(({ text }) => text));
      assert.ok(from(carol.name).includes('from carol'), JSON.stringify([...all]));
      assert.ok(from(alice.name).includes('from alice'), JSON.stringify([...all]));
      assert.ok(!from(alice.name).includes('from carol'));
    }),
  );
}

function ofWhoIsMeant({ stage }: Rows): void {
  verifies(
    ['R4.69', 'R4.71'],
    'B1: neither a beginning nor a part of a name means anybody; nothing is sent',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      const name = localpart(carol.userId);
      const before = (await timeline(alice, room)).length;
      for (const peer of [
        name.slice(0, -1),
        `${name}x`,
        name.slice(3),
        name.toUpperCase(),
        '',
        ' ',
        '*',
        opaque(carol).slice(0, -1),
        carol.userId.slice(0, -1),
        'constructor',
        '__proto__',
      ])
        for (const [tool, args] of [
          ['hivemind_send_to_peer', { peer, message: 'secret for carol' }],
          ['hivemind_get_peer_info', { peer }],
        ] as const) {
          const answer = await bob.call(tool, args).catch((error: unknown) => ({ isError: true, text: String(error) }));
          assert.equal(answer.isError, true, `${tool} ${peer}: ${answer.text}`);
        }
      assert.equal((await timeline(alice, room)).length, before);
    }),
  );

  verifies(
    'R4.69',
    'an unknown peer is refused by name in each of the four tools; nothing is sent',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      const known = localpart(carol.userId);
      const before = (await timeline(alice, room)).length;
      for (const [tool, args] of [
        ['hivemind_send_to_peer', { peer: 'hermes-of-nobody', message: 'hello' }],
        ['hivemind_check_messages', { peer: 'hermes-of-nobody' }],
        ['hivemind_get_peer_info', { peer: 'hermes-of-nobody' }],
        ['hivemind_introduce_peers', { peer_a: known, peer_b: 'hermes-of-nobody' }],
        ['hivemind_introduce_peers', { peer_a: 'hermes-of-nobody', peer_b: known }],
      ] as const)
        assert.match(await refuses(bob, [tool, args]), /hermes-of-nobody/);
      assert.equal((await timeline(alice, room)).length, before);
      assert.equal(Object.keys((await on.rawOf(bob).sync()).rooms?.join ?? {}).length, 1);
    }),
  );

  verifies(
    ['R4.73', 'R4.8'],
    'a message that holds a secret of the host is refused, unsent',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      const message = `the key is ${SECRET}`;
      const answer = await bob.call('hivemind_send_to_peer', { peer: localpart(carol.userId), message });
      assert.equal(answer.isError, true, answer.text);
      assert.ok(!answer.text.includes(SECRET));
      assert.ok(!(await alice.texts(room)).some((text) => text.includes(SECRET)));
    }),
  );
}

function ofOddEvents({ stage }: Rows): void {
  verifies(
    ['R4.72', 'R4.36'],
    'a message of a megabyte is refused, unsent; the longest that servers take arrives whole',
    stage(async (on) => {
      const { bob, carol } = await allIntroduced(on);
      for (const message of ['x'.repeat(1_000_000), '€'.repeat(400_000), '"'.repeat(500_000)])
        await refuses(bob, ['hivemind_send_to_peer', { peer: carol.name, message }]);
      await carol.prefetch();
      assert.deepEqual(await talkOf(carol, bob.name), []);
      await send(bob, carol.name, 'y'.repeat(30_000));
      await carol.prefetch();
      const [long] = await carol.transport.messages(bob.id, {}, AbortSignal.timeout(30_000));
      assert.match(long?.text ?? '', /^y{1000}/);
    }),
  );

  verifies(
    ['R4.37', 'R4.50'],
    'H6: messages are read live: one that came after the prefetch of this turn is there',
    stage(async (on) => {
      const { bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      await carol.say(room, 'just now');
      assert.deepEqual((await messagesOf(bob, opaque(carol))).map(({ text }) => text).slice(0, 1), ['just now']);
    }),
  );

  verifies(
    ['R4.37', 'R4.36', 'R4.50'],
    'H6: the first words of a peer, sent after the prefetch of this turn, are read as well',
    stage(async (on) => {
      const { bob, carol } = await allIntroduced(on);
      await bob.prefetch();
      await send(carol, bob.name, 'my first words to you');
      assert.deepEqual(await talkOf(bob, carol.name), ['my first words to you']);
    }),
  );

  verifies(
    ['R4.37', 'R4.72'],
    'B10: redacted, non-text and misshapen messages break nothing; the text around them is read',
    stage(async (on) => {
      const { bob, carol, room } = await bobIntroduced(on);
      await carol.say(room, 'before');
      const gone = await carol.say(room, 'regretted');
      await redact(carol, room, gone);
      for (const content of ODD_MESSAGES)
        await carol.send(room, { type: 'm.room.message', content }).catch(isRefusedAsOdd);
      await carol.send(room, { type: 'm.sticker', content: { body: 'a sticker' } });
      await carol.send(room, { type: 'org.example.odd', content: { body: { deep: [] } } });
      await carol.say(room, 'after');
      await bob.prefetch();
      const text = (await bob.call('hivemind_check_messages', { peer: opaque(carol) })).text;
      assert.match(text, /after/);
      assert.doesNotMatch(text, /regretted/);
      const seen = await messagesOf(bob, opaque(carol));
      for (const message of seen) assert.equal(typeof message.text, 'string', JSON.stringify(message));
    }),
  );

  verifies(
    ['R4.37', 'R4.75'],
    'an event that cannot be decrypted is shown as such, with who and when',
    stage(async (on) => {
      const { bob, carol, room } = await bobIntroduced(on);
      await carol.say(room, 'before');
      const content = {
        algorithm: 'm.megolm.v1.aes-sha2',
        ciphertext:
          'AwgAEnACgAkLmt6qF84IK++J7UDH2Za1YVchHyprqTqsg2yyOwAtHaZTwyNg37afzg8f3r9IsN9r4uJGAdj8G9SmsSSCXLJpMg',
        device_id: 'NOWHERE',
        sender_key: 'bm9ib2R5IGhhcyB0aGlzIGtleSBpbiB0aGUgd29ybGQ',
        session_id: 'bm8gc2Vzc2lvbiBvZiB0aGlzIG5hbWUgYW55d2hlcmU',
      };
      await carol.send(room, { type: 'm.room.encrypted', content });
      await bob.prefetch();
      const seen = await messagesOf(bob, opaque(carol));
      assert.equal(seen.length > 1, true, JSON.stringify(seen));
      const [placeholder, before] = seen;
      assert.equal(before?.text, 'before');
      assert.equal(placeholder?.from, localpart(carol.userId));
      assert.match(String(placeholder?.time), ISO);
      assert.doesNotMatch(String(placeholder?.text), /AwgAEn|megolm/i);
      const [state] = (await bob.transport.messages(opaque(carol), {}, AbortSignal.timeout(30_000))).map(
        (m) => m.state,
      );
      assert.equal(state, 'unreadable');
    }),
  );

  verifies(
    ['R4.41', 'R4.37'],
    'rooms of two pairs leak nothing into each other',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      const dave = await on.raw('hermes-of-dave');
      const other = await introduceByHand(alice, [
        [bob, 'Bob'],
        [dave, 'Dave'],
      ]);
      await dave.join(other);
      await bob.prefetch();
      await send(bob, localpart(carol.userId), 'for carol');
      await send(bob, localpart(dave.userId), 'for dave');
      const texts = async (client: typeof carol, where: string) =>
        (await client.texts(where)).filter((text) => text.startsWith('for '));
      assert.deepEqual(await texts(carol, room), ['for carol']);
      assert.deepEqual(await texts(dave, other), ['for dave']);
      await assert.rejects(dave.call('GET', `${roomPath(room)}/messages?dir=b`));
    }),
  );
}

const ODD_MESSAGES: readonly unknown[] = [
  {},
  { msgtype: 'm.image', body: 'photo.png', url: 'mxc://localhost/abc' },
  { msgtype: 'm.notice', body: 'a notice' },
  { msgtype: 'm.emote', body: 'waves' },
  { msgtype: 'm.text' },
  { msgtype: 'm.text', body: 7 },
  { msgtype: 'm.text', body: null },
  { msgtype: 'm.text', body: ['a', 'list'] },
  { msgtype: 'm.text', body: { toString: 'no function' } },
  { msgtype: 7, body: 'a number as its kind' },
  { msgtype: 'm.text', body: '' },
  { msgtype: 'm.text', body: '\u0000\u001b[2J\u202e' },
  { msgtype: 'm.text', body: '* edited', 'm.new_content': 'no object', 'm.relates_to': 'no object' },
  { body: 'About nobody', __proto__: { polluted: true } },
];

/** Some servers take no such thing in the first place. */
function isRefusedAsOdd(error: unknown): void {
  assert.ok(error instanceof RawError && error.status === 400, String(error));
}
