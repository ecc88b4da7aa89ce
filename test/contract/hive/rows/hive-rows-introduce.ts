/** How one agent introduces two others (R4.30, R4.31, R4.41, R4.42; notes 6: B8, B16). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { infoOf, namesOf, refuses, suggestionsOf, talkOf } from '../agent/hive-answers.ts';
import {
  accountData,
  acquainted,
  allIntroduced,
  joinedRooms,
  NEVER,
  OF_BOB,
  OF_CAROL,
  roomOf,
  timeline,
} from '../agent/hive-scenes.ts';
import { inferring } from '../agent/hive-scripted-infer.ts';
import type { Rows } from '../agent/hive-stage.ts';

const REASON = 'Carol can audit what Bob builds.';
const TOOL = 'hivemind_introduce_peers';

export function rowsOfIntroductions(rows: Rows): void {
  describe(`introductions: ${rows.title}`, () => {
    ofWhatBothAreTold(rows);
    ofConsent(rows);
    ofSparksInThem(rows);
  });
}

function ofWhatBothAreTold({ stage, mode }: Rows): void {
  verifies(
    ['R4.41', 'R4.42', 'R4.34', 'R4.35', 'R4.36'],
    'introduce_peers_creates_room, introduce_peers_posts_context: one room for three, About twice and Why, in this order',
    stage(async (on) => {
      const { alice, bob, carol } = await allIntroduced(on);
      const raw = on.rawOf(alice);
      const room = await roomOf(raw, [alice, bob, carol]);
      const state = new Map((await raw.state(room)).map((event) => [`${event.type}|${event.state_key}`, event]));
      assert.equal(state.get('m.room.name|')?.content.name, `Introduction: ${bob.name} <> ${carol.name}`);
      assert.equal(state.get('m.room.join_rules|')?.content.join_rule, 'invite');
      assert.equal(state.get('m.room.create|')?.sender, alice.userId);
      assert.equal(state.get('m.room.encryption|')?.content.algorithm, mode.e2ee ? 'm.megolm.v1.aes-sha2' : undefined);
      assert.equal((await joinedRooms(raw)).length, 3);
      const said = [...(await timeline(raw, room))]
        .reverse()
        .filter(({ sender, state_key }) => sender === alice.userId && state_key === undefined);
      if (mode.e2ee)
        assert.deepEqual(
          said.map(({ type }) => type),
          Array(3).fill('m.room.encrypted'),
        );
      else
        assert.deepEqual(
          said.map(({ content }) => content.body),
          [`About ${bob.userId}: ${OF_BOB}`, `About ${carol.userId}: ${OF_CAROL}`, `Why: ${REASON}`],
        );
      const [toBob, toCarol] = [await infoOf(bob, carol.name), await infoOf(carol, bob.name)];
      assert.deepEqual([toBob.context, toCarol.context], [OF_CAROL, OF_BOB]);
      assert.deepEqual([toBob.introduced_by, toCarol.introduced_by], [alice.name, alice.name]);
      const texts = (await bob.transport.messages(carol.id, {}, NEVER)).map(({ text }) => text);
      assert.ok(
        texts.every((text) => !text.includes('hermes-of-alice@') || text === ''),
        texts.join('|'),
      );
    }),
  );

  verifies(
    ['R4.41', 'R4.69'],
    'without a reason nothing is said of why; one with itself is no introduction',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice');
      const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
      const raw = on.rawOf(alice);
      await refuses(alice, [TOOL, { peer_a: bob.name, peer_b: bob.id }]);
      assert.equal((await joinedRooms(raw)).length, 2);
      const answer = await alice.call(TOOL, { peer_a: bob.name, peer_b: carol.id });
      assert.equal(answer.isError, false, answer.text);
      const { introduced, peer_a, peer_b } = answer.json as Record<string, unknown>;
      assert.equal(introduced, true);
      assert.ok(
        [bob.name, bob.id].includes(String(peer_a)) && [carol.name, carol.id].includes(String(peer_b)),
        answer.text,
      );
      const room = await roomOf(raw, [alice, bob, carol]);
      const events = await timeline(raw, room);
      const said = events.filter(({ sender, state_key }) => sender === alice.userId && state_key === undefined);
      assert.equal(said.length, 2, JSON.stringify(said));
      assert.ok(!JSON.stringify(events).includes('Why:'));
    }),
  );

  verifies(
    ['R4.42', 'R4.22'],
    'whoever was summed up is introduced by the summary, else by the stored context',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice', {
        infer: inferring({
          enclaves: { needs: ['an audit'], summary_text: 'Bob ships enclaves and looks for an auditor.' },
        }),
      });
      const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: 'Carol audits chips.' });
      await alice.prefetch();
      assert.equal((await alice.call(TOOL, { peer_a: carol.name, peer_b: bob.name })).isError, false);
      await carol.prefetch();
      await bob.prefetch();
      assert.equal((await infoOf(carol, bob.name)).context, 'Bob ships enclaves and looks for an auditor.');
      assert.equal((await infoOf(bob, carol.name)).context, 'Carol audits chips.');
    }),
  );

  verifies(
    ['R4.41', 'R4.32'],
    'the introduced talk to each other, and the introducer reads along but knows no new peer',
    stage(async (on) => {
      const { alice, bob, carol } = await allIntroduced(on);
      await carol.transport.send(bob.id, 'Hello Bob.', NEVER);
      await bob.prefetch();
      assert.deepEqual(await talkOf(bob, carol.name), ['Hello Bob.']);
      await alice.prefetch();
      assert.deepEqual(await namesOf(alice), [bob.name, carol.name].sort());
      assert.deepEqual(await talkOf(alice, carol.name), []);
    }),
  );
}

function ofConsent({ stage, mode }: Rows): void {
  verifies(
    ['R4.31', 'R4.73'],
    'introducing asks each time, with the very words that both will read, whatever the owner typed',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice');
      const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
      const args = { peer_a: bob.name, peer_b: carol.name, reason: REASON };
      const risk = alice.risk(TOOL, args);
      assert.equal(risk.level, 'ask');
      if (risk.level === 'ask')
        for (const words of [OF_BOB, 'Carol specializes in TEE', 'slow in August', REASON, bob.name, carol.name])
          assert.ok(risk.preview.includes(words), risk.preview);
      assert.ok(risk.level === 'ask' && risk.key === '');
      assert.deepEqual(alice.risk(TOOL, args, `introduce ${bob.name} to ${carol.name}, please`), risk);
      assert.equal((await joinedRooms(on.rawOf(alice))).length, 2);
    }),
  );

  verifies(
    ['R4.31', 'R4.73'],
    'a message asks, under a key of its peer, with everybody who reads it',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice');
      const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
      const args = { peer: bob.name, message: 'hello' };
      const risk = alice.risk('hivemind_send_to_peer', args);
      assert.equal(risk.level, 'ask');
      assert.ok(risk.level === 'ask' && risk.key === `send-peer:${bob.id}${mode.e2ee ? '' : ' (not encrypted)'}`);
      assert.equal(risk.preview, `to ${bob.id}${mode.e2ee ? '' : ' (not encrypted)'}:\nhello`);
      assert.deepEqual(alice.risk('hivemind_send_to_peer', args, `tell ${bob.name} hello`), risk);
      assert.equal(alice.risk('hivemind_dismiss_spark', { peer_a: bob.name, peer_b: carol.name }).level, 'none');
    }),
  );
}

function ofSparksInThem({ stage }: Rows): void {
  const suggesting = inferring(
    { enclaves: { needs: ['an audit'], summary_text: 'Bob' }, TEE: { offers: ['audits'], summary_text: 'Carol' } },
    () => ({ reason: 'Bob needs what Carol offers.', confidence: 'high' }),
  );

  verifies(
    ['R4.30', 'R4.29', 'R4.31'],
    'executed: a suggestion is acted on by introducing alone, and is gone then',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice', { infer: suggesting });
      const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
      for (let turn = 0; turn < 2; turn++) await alice.prefetch();
      assert.equal((await suggestionsOf(alice)).length, 1);
      assert.equal((await joinedRooms(on.rawOf(alice))).length, 2);
      await alice.call(TOOL, { peer_a: carol.name, peer_b: bob.name });
      assert.deepEqual(await suggestionsOf(alice), []);
      assert.deepEqual(
        alice.transport.sparks().map(({ status }) => status),
        ['executed'],
      );
      const again = await on.restart(alice, { infer: suggesting });
      for (let turn = 0; turn < 2; turn++) await again.prefetch();
      assert.deepEqual(await suggestionsOf(again), []);
    }),
  );

  verifies(
    ['R4.30', 'R4.28', 'R4.59'],
    'dismiss: in either order, for good, also where nothing was suggested (B16)',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice', { infer: suggesting, config: { suggestions: true } });
      const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
      for (let turn = 0; turn < 2; turn++) await alice.prefetch();
      const answer = await alice.call('hivemind_dismiss_spark', { peer_a: carol.name, peer_b: bob.name });
      assert.equal(answer.isError, false, answer.text);
      assert.equal((answer.json as { dismissed?: unknown }).dismissed, true);
      assert.deepEqual(await suggestionsOf(alice), []);
      const again = await on.restart(alice, { infer: suggesting });
      for (let turn = 0; turn < 2; turn++) await again.prefetch();
      assert.deepEqual(await suggestionsOf(again), []);
      assert.deepEqual(
        again.transport.sparks().map(({ status }) => status),
        ['dismissed'],
      );
    }),
  );

  verifies(
    ['R4.28', 'R4.30'],
    'B16: dismissing what was never suggested says that nothing matched, and keeps it from ever being suggested',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice');
      const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
      const answer = await alice.call('hivemind_dismiss_spark', { peer_a: bob.name, peer_b: carol.name });
      assert.equal(answer.isError, false, answer.text);
      const { dismissed, matched } = answer.json as { dismissed?: unknown; matched?: unknown };
      assert.deepEqual({ dismissed, matched }, { dismissed: true, matched: 0 });
      assert.ok((await accountData(on.rawOf(alice), 'social.awareness.sparks')) !== undefined);
      const again = await on.restart(alice, { infer: suggesting });
      for (let turn = 0; turn < 3; turn++) await again.prefetch();
      assert.deepEqual(await suggestionsOf(again), []);
      assert.equal(again.transport.sparks().length, 1);
    }),
  );
}
