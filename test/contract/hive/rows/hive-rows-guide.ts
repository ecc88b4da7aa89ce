/** What the agent is told, and its tools (R4.4 to R4.12, R4.15, R4.24; the fourteen plugin tests). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ok } from '#base/result.ts';
import { functionSchema } from '#core/tools/registry/tool-schema.ts';
import { verifies } from '../../../verifies.ts';
import type { HiveAgent } from '../agent/hive-agent.ts';
import { listed, messagesOf, speaksOfPeersOnly, suggestionsOf } from '../agent/hive-answers.ts';
import { bobIntroduced, introduceByHand, localpart, opaque } from '../agent/hive-scenes.ts';
import { inferring } from '../agent/hive-scripted-infer.ts';
import type { Rows } from '../agent/hive-stage.ts';

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  hivemind_list_peers: [],
  hivemind_check_messages: [],
  hivemind_send_to_peer: ['message', 'peer'],
  hivemind_get_peer_info: ['peer'],
  hivemind_introduce_peers: ['peer_a', 'peer_b'],
  hivemind_dismiss_spark: ['peer_a', 'peer_b'],
};
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  hivemind_check_messages: ['peer'],
  hivemind_introduce_peers: ['reason'],
};
const SIX = Object.keys(REQUIRED).sort();

export function rowsOfGuide(rows: Rows): void {
  describe(`guide and tools: ${rows.title}`, () => {
    ofGuide(rows);
    ofTools(rows);
    ofViews(rows);
  });
}

const toolNames = (agent: HiveAgent): readonly string[] =>
  agent.provider
    .tools()
    .map(({ name }) => name)
    .sort();

function ofGuide({ stage, ground }: Rows): void {
  verifies(
    ['R4.4', 'R4.5', 'R4.6', 'R4.7', 'R4.31'],
    'system prompt block: the guide speaks of peers and introductions, leaves the tools to their schemas, asks before introducing, knows no protocol',
    stage(async (on) => {
      const bob = await on.agent('hermes-of-bob');
      const block = bob.provider.promptBlock();
      speaksOfPeersOnly(block, 'the guide');
      assert.deepEqual(block.match(/hivemind_\w+/g), ['hivemind_list_peers']);
      for (const word of [
        /\bpeers?\b/i,
        /other agents/i,
        /introduc/i,
        /context/i,
        /automatically|by itself/i,
        /suggest/i,
        /confirm|ask/i,
        /dismiss/i,
      ])
        assert.match(block, word);
      assert.doesNotMatch(block, /unread count/i);
    }),
  );

  if (ground.isFake)
    verifies(
      ['R4.4', 'R4.70', 'R4.44'],
      'initialize: start, prompt block, tools and availability ask no server; the block is the same bytes all session',
      stage(async (on) => {
        const { bob } = await bobIntroduced(on);
        on.wire.clear();
        const fresh = await on.restart(bob);
        const block = fresh.provider.promptBlock();
        fresh.provider.tools();
        assert.deepEqual(fresh.provider.available(), ok(true));
        assert.equal(fresh.provider.name, 'hivemind');
        if (!on.mode.e2ee) assert.deepEqual(on.wire.requests(), []);
        await fresh.prefetch();
        assert.equal(fresh.provider.promptBlock(), block);
      }),
    );
}

function ofTools({ stage }: Rows): void {
  verifies(
    ['R4.12', 'R4.7', 'R4.5', 'R4.11'],
    'schema count = 6, schemas: exactly the six tools with their parameters, in words of peers',
    stage(async (on) => {
      const bob = await on.agent('hermes-of-bob');
      assert.deepEqual(toolNames(bob), SIX);
      for (const name of SIX) {
        const schema = functionSchema(bob.tool(name) as never);
        speaksOfPeersOnly(JSON.stringify(schema), name);
        const { properties, required = [] } = schema.parameters as { properties: object; required?: readonly string[] };
        const wanted = [...(REQUIRED[name] ?? []), ...(OPTIONAL[name] ?? [])];
        for (const parameter of wanted)
          assert.ok(
            (properties as Record<string, { description?: string }>)[parameter]?.description,
            `${name} ${parameter}`,
          );
        for (const parameter of required) assert.ok(REQUIRED[name]?.includes(parameter), `${name} needs ${parameter}`);
      }
    }),
  );

  verifies(
    ['R4.12', 'R4.69'],
    'peer_name and context are understood for peer and reason; calls without what is needed are refused unsent',
    stage(async (on) => {
      const { bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      const name = localpart(carol.userId);
      const info = await bob.call('hivemind_get_peer_info', { peer_name: name });
      assert.equal((info.json as { name?: unknown }).name, name, info.text);
      assert.equal((await bob.call('hivemind_send_to_peer', { peer_name: name, message: 'by alias' })).isError, false);
      assert.ok((await carol.texts(room)).includes('by alias'));
      for (const [tool, args] of [
        ['hivemind_send_to_peer', { message: 'to nobody' }],
        ['hivemind_send_to_peer', { peer: name }],
        ['hivemind_send_to_peer', { peer: name, message: '' }],
        ['hivemind_send_to_peer', { peer: [name], message: 'x' }],
        ['hivemind_get_peer_info', {}],
        ['hivemind_introduce_peers', { peer_a: name }],
        ['hivemind_dismiss_spark', { peer_b: name }],
      ] as const) {
        const answer = await bob.call(tool, args).catch(() => ({ isError: true, text: 'invalid arguments' }));
        assert.equal(answer.isError, true, `${tool} ${JSON.stringify(args)}: ${answer.text}`);
      }
      assert.equal((await carol.texts(room)).filter((text) => !/^About/.test(text)).length, 1);
    }),
  );

  verifies(
    ['R4.50', 'R4.2'],
    'a tool that comes before any prefetch of the process answers the truth, not an empty list',
    stage(async (on) => {
      const { bob, carol } = await bobIntroduced(on);
      await bob.prefetch();
      const again = await on.restart(bob);
      const { peers } = await listed(again);
      assert.deepEqual(
        peers.map(({ id }) => id),
        [opaque(carol)],
      );
      assert.ok((await messagesOf(again, opaque(carol))).length > 0);
    }),
  );
}

function ofViews({ stage }: Rows): void {
  verifies(
    ['R4.48', 'R4.29'],
    'format_context empty/peers/suggestions: nothing for nobody, a line for each peer, a line for each suggestion with reason and confidence',
    stage(async (on) => {
      const alice = await on.raw('hermes-of-alice');
      const people = {
        alpha: { needs: ['apples'], summary_text: 'Alpha.' },
        beta: { offers: ['apples'], summary_text: 'Beta.' },
      };
      const bob = await on.agent('hermes-of-bob', {
        infer: inferring(people, () => ({ reason: 'Beta has apples.', confidence: 'medium' })),
      });
      assert.equal(await bob.prefetch(), '');
      for (const word of ['alpha', 'beta']) {
        const who = await on.raw(`${word}-person`);
        await who.join(
          await introduceByHand(alice, [
            [bob, 'Bob'],
            [who, `Somebody called ${word}. ${'long '.repeat(100)}`],
          ]),
        );
      }
      const first = await bob.prefetch();
      const later = await bob.prefetch();
      const shown = `${first}\n${later}`;
      for (const word of ['alpha-person', 'beta-person', localpart(alice.userId), 'Beta has apples.', 'medium'])
        assert.ok(shown.includes(word), `${word} in ${shown}`);
      assert.ok(
        first.split('\n').every((line) => line.length < 600),
        'lines are short',
      );
      speaksOfPeersOnly(shown, 'prefetch');
      assert.equal((await suggestionsOf(bob)).length, 1);
      assert.equal(await bob.prefetch(), '');
      const before = await bob.provider.beforeCompress?.([], AbortSignal.timeout(30_000));
      for (const word of ['alpha-person', 'beta-person', 'Beta has apples.']) assert.ok(before?.includes(word), before);
    }),
  );

  verifies(
    ['R4.48', 'R4.37'],
    'prefetch has peer, and later only what is new: a message, a peer, one who left',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      const name = localpart(carol.userId);
      assert.ok((await bob.prefetch()).includes(name));
      assert.equal(await bob.prefetch(), '');
      await carol.say(room, 'hello');
      assert.ok((await bob.prefetch()).includes(name));
      assert.equal(await bob.prefetch(), '');
      const dave = await on.raw('hermes-of-dave');
      await dave.join(
        await introduceByHand(alice, [
          [bob, 'Bob'],
          [dave, 'Dave cooks.'],
        ]),
      );
      const shown = await bob.prefetch();
      assert.ok(shown.includes(localpart(dave.userId)) && shown.includes('Dave cooks.'), shown);
      await carol.leave(room);
      assert.match(await bob.prefetch(), new RegExp(name));
    }),
  );
}
