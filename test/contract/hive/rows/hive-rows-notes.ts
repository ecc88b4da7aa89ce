/** What an agent keeps about its peers, and how it is stored (R4.22, R4.23, R4.38 to R4.40, R4.63; conflict H4). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { infoOf, messagesOf, peersOf, suggestionsOf } from '../agent/hive-answers.ts';
import {
  accountData,
  bobIntroduced,
  introduceByHand,
  localpart,
  OF_CAROL,
  opaque,
  timeline,
} from '../agent/hive-scenes.ts';
import { inferring } from '../agent/hive-scripted-infer.ts';
import type { HiveStage, Rows } from '../agent/hive-stage.ts';

const EIGHT = [
  'context',
  'introduced_at',
  'introduced_by',
  'introduced_by_id',
  'peer_id',
  'peer_name',
  'room_id',
  'status',
];
const SEALED = ['ciphertext', 'encrypted', 'nonce'];

export function rowsOfNotes(rows: Rows): void {
  const { title, stage, mode } = rows;
  describe(`notes about peers: ${title}`, () => {
    if (mode.encryptAccountData) ofSealedNotes(rows);
    else
      verifies(
        ['R4.63', 'R4.38', 'R4.65', 'R4.56'],
        'account data plain: exactly the eight fields of a peer, under its room',
        stage(async (on) => {
          const { alice, bob, carol, room } = await bobIntroduced(on);
          await bob.prefetch();
          const stored = await accountData(on.rawOf(bob), 'social.awareness.peer', room);
          assert.deepEqual(Object.keys(stored ?? {}).sort(), EIGHT);
          const created = (await timeline(alice, room)).find(({ type }) => type === 'm.room.create');
          assert.deepEqual(stored, {
            peer_name: localpart(carol.userId),
            peer_id: carol.userId,
            context: OF_CAROL,
            introduced_by: localpart(alice.userId),
            introduced_by_id: alice.userId,
            introduced_at: new Date(created?.origin_server_ts ?? 0).toISOString(),
            status: 'active',
            room_id: room,
          });
        }),
      );

    verifies(
      ['R4.40', 'R4.23', 'R4.59'],
      'global_account_data round trip: what one process kept, another reads',
      stage(async (on) => {
        const { bob } = await twoPeople(on);
        for (let turn = 0; turn < 2; turn++) await bob.prefetch();
        const before = bob.transport.sparks();
        assert.equal(before.length, 1);
        const again = await on.restart(bob);
        await again.prefetch();
        assert.deepEqual(again.transport.sparks(), before);
        assert.equal((await suggestionsOf(again)).length, 1);
      }),
    );

    verifies(
      ['R4.22', 'R4.39', 'R4.58', 'R4.53'],
      'a summary and a read mark of one process are those of the next',
      stage(async (on) => {
        const { bob, alpha, room } = await twoPeople(on);
        for (let turn = 0; turn < 2; turn++) await bob.prefetch();
        await alpha.say(room, 'hello');
        await bob.prefetch();
        await messagesOf(bob, opaque(alpha));
        const summary = bob.transport.peers().find(({ peer }) => peer.id === opaque(alpha))?.summary;
        assert.equal(summary?.summary_text, 'Alpha.');
        const again = await on.restart(bob);
        await again.prefetch();
        const known = again.transport.peers().find(({ peer }) => peer.id === opaque(alpha));
        assert.deepEqual(known?.summary, summary);
        assert.equal(known?.traffic.unread, 0);
        assert.equal(
          (await messagesOf(again, opaque(alpha))).some((message) => message.new === true),
          false,
        );
      }),
    );
  });
}

async function twoPeople(on: HiveStage) {
  const alice = await on.raw('hermes-of-alice');
  const bob = await on.agent('hermes-of-bob', {
    infer: inferring(
      { alpha: { needs: ['apples'], summary_text: 'Alpha.' }, beta: { offers: ['apples'], summary_text: 'Beta.' } },
      () => ({ reason: 'apples', confidence: 'high' }),
    ),
  });
  const [alpha, beta] = [await on.raw('alpha'), await on.raw('beta')];
  const room = await introduceByHand(alice, [
    [bob, 'Bob'],
    [alpha, 'alpha needs apples'],
  ]);
  const other = await introduceByHand(alice, [
    [bob, 'Bob'],
    [beta, 'beta has apples'],
  ]);
  await alpha.join(room);
  await beta.join(other);
  return { bob, alpha, room };
}

function ofSealedNotes({ stage }: Rows): void {
  verifies(
    ['R4.38', 'R4.39', 'R4.40', 'R4.56'],
    'account data encrypted: the four keys hold nothing but a sealed value, each time another nonce',
    stage(async (on) => {
      const { bob, alpha, room } = await twoPeople(on);
      for (let turn = 0; turn < 2; turn++) await bob.prefetch();
      await alpha.say(room, 'hello');
      await bob.prefetch();
      await messagesOf(bob, opaque(alpha));
      const raw = on.rawOf(bob);
      const values = [
        ...(await Promise.all(
          ['peer', 'summary', 'read'].map((key) => accountData(raw, `social.awareness.${key}`, room)),
        )),
        await accountData(raw, 'social.awareness.sparks'),
      ];
      for (const value of values) {
        assert.deepEqual(Object.keys(value ?? {}).sort(), SEALED, JSON.stringify(value));
        assert.equal(value?.encrypted, 'v1');
      }
      assert.equal(new Set(values.map((value) => value?.nonce)).size, 4);
    }),
  );

  verifies(
    ['R4.56', 'R4.58', 'R4.60'],
    'account data encrypted: values from before are read, and written sealed',
    stage(async (on) => {
      const { bob: account, carol, room } = await bobIntroduced(on);
      account.kill();
      const before = await on.open(account.account, {
        mode: { e2ee: on.mode.e2ee, encryptAccountData: false },
        folder: account.folder,
      });
      await before.prefetch();
      const [known] = await peersOf(before);
      await before.close();
      const raw = on.rawOf(account);
      assert.deepEqual(Object.keys((await accountData(raw, 'social.awareness.peer', room)) ?? {}).sort(), EIGHT);
      const after = await on.open(account.account, { folder: account.folder });
      for (let turn = 0; turn < 2; turn++) await after.prefetch();
      assert.deepEqual(await infoOf(after, opaque(carol)), known);
      assert.deepEqual(Object.keys((await accountData(raw, 'social.awareness.peer', room)) ?? {}).sort(), SEALED);
    }),
  );
}
