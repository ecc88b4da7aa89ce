// The six tools over the hub: parameters, results, failures, and what the owner is asked.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { functionSchema } from '#core/tools/registry/tool-schema.ts';
import { NEVER, sparkOf, summaryOf, textsWith } from '../../../contract/hive/hive-transport-ground.ts';
import { toolContract } from '../../../contract/tool.contract.ts';
import { verifies } from '../../../verifies.ts';
import { bobsWorld, type HiveTalk, idOf, introduceMore, toolContext, toolOf } from './hive-talk.ts';

const NAMES = [
  'hivemind_list_peers',
  'hivemind_check_messages',
  'hivemind_send_to_peer',
  'hivemind_get_peer_info',
  'hivemind_introduce_peers',
  'hivemind_dismiss_spark',
];
const CAROL = 'hermes-of-carol';
const BOTH = { peer_a: 'hermes-of-alice', peer_b: CAROL };
const SECRET = 'sk-live-very-secret';
const redact = (text: string) => text.replaceAll(SECRET, '[secret]');

/** Arguments by which each tool works in Bob's world. */
const GOOD: Readonly<Record<string, JsonObject>> = {
  hivemind_check_messages: { peer: CAROL },
  hivemind_send_to_peer: { peer: CAROL, message: 'hello' },
  hivemind_get_peer_info: { peer: CAROL },
  hivemind_introduce_peers: BOTH,
  hivemind_dismiss_spark: BOTH,
};

for (const name of NAMES)
  toolContract(name, async () => {
    const { talk } = await bobsWorld();
    await talk.line('hello there');
    return {
      tool: toolOf(talk.provider, name),
      context: () => toolContext(talk.history),
      good: () => GOOD[name] ?? {},
      ...(name in GOOD ? { hopeless: () => ({ peer: 'x-y', message: 'm', peer_a: 'x-y', peer_b: CAROL }) } : {}),
      close: () => talk.provider.stop(),
    };
  });

async function error(talk: HiveTalk, name: string, args: Record<string, JsonValue>): Promise<string> {
  const { output, json } = await talk.call(name, args);
  assert.equal(output?.isError, true, output?.text);
  return String((json as { error: string }).error);
}

describe('peer tools: schemas', () => {
  verifies(
    ['R4.7', 'R4.11', 'R4.12'],
    'there are exactly the six, with the stated parameters, each described',
    async () => {
      const { talk } = await bobsWorld();
      const schemas = talk.provider.tools().map((tool) => functionSchema(tool));
      assert.deepEqual(
        schemas.map(({ name }) => name),
        NAMES,
      );
      const asked = schemas.map(({ name, parameters: { properties = {}, required = [] } }) => {
        for (const [parameter, schema] of Object.entries(properties as Record<string, Record<string, unknown>>)) {
          assert.equal(schema.type, 'string', parameter);
          assert.match(String(schema.description), /^\w.{6,80}$/, `${name}: ${parameter} is described`);
        }
        return [name, Object.keys(properties as object), required];
      });
      assert.deepEqual(asked, [
        ['hivemind_list_peers', [], []],
        ['hivemind_check_messages', ['peer'], []],
        ['hivemind_send_to_peer', ['peer', 'message'], ['peer', 'message']],
        ['hivemind_get_peer_info', ['peer'], ['peer']],
        ['hivemind_introduce_peers', ['peer_a', 'peer_b', 'reason'], ['peer_a', 'peer_b']],
        ['hivemind_dismiss_spark', ['peer_a', 'peer_b'], ['peer_a', 'peer_b']],
      ]);
      for (const tool of talk.provider.tools()) assert.equal(tool.toolset, 'peers');
    },
  );

  test('other names of the parameters are read as well', async () => {
    const { talk, carol } = await bobsWorld();
    await talk.line('send hermes-of-carol a word');
    assert.equal((await talk.call('hivemind_get_peer_info', { peer_name: CAROL })).output?.isError, undefined);
    await talk.call('hivemind_send_to_peer', { peer_name: CAROL, text: 'aliased' });
    await carol.refresh(NEVER);
    assert.deepEqual(await textsWith(carol, idOf('bob')), ['aliased']);
    const { json } = await talk.call('hivemind_introduce_peers', {
      a: 'hermes-of-alice',
      b: CAROL,
      context: 'because',
    });
    assert.deepEqual(json, { introduced: true, ...BOTH, reason: 'because' });
  });
});

describe('peer tools: results', () => {
  verifies(
    ['R4.62', 'R4.64', 'R4.29'],
    'list says who one is, gives peers with six fields, and suggestions of two who do not know each other',
    async () => {
      const { talk, bob, hub } = await bobsWorld({ engine: { run: async () => undefined } });
      await introduceMore(hub, [idOf('dave')]);
      await bob.refresh(NEVER);
      await bob.changeSparks(
        () => [
          sparkOf(idOf('carol'), idOf('dave'), { reason: 'both audit' }),
          sparkOf(idOf('alice'), idOf('carol'), { reason: 'one introduced the other' }),
        ],
        NEVER,
      );
      await talk.line('who do I know?');
      const { json } = await talk.call('hivemind_list_peers');
      const { you, peers, suggestions } = json as unknown as {
        you: string;
        peers: JsonObject[];
        suggestions: JsonObject[];
      };
      assert.deepEqual(Object.keys(json as JsonObject), ['you', 'peers', 'suggestions']);
      assert.equal(you, idOf('bob'));
      assert.equal(peers.find(({ name }) => name === 'hermes-of-alice')?.introduced_by, 'nobody: it made contact');
      const { introduced_at, ...rest } = peers.find(({ name }) => name === CAROL) ?? {};
      assert.deepEqual(rest, {
        name: CAROL,
        id: idOf('carol'),
        context: 'Carol specializes in TEE attestation',
        introduced_by: 'hermes-of-alice',
        status: 'active',
      });
      assert.match(String(introduced_at), /^\d{4}-.*Z$/);
      assert.deepEqual(suggestions, [
        { peer_a: CAROL, peer_b: 'hermes-of-dave', reason: 'both audit', confidence: 'medium', by: 'rule' },
      ]);
    },
  );

  verifies('R4.69', 'info gives one peer, or the error', async () => {
    const { talk } = await bobsWorld();
    const { json } = await talk.call('hivemind_get_peer_info', { peer: CAROL });
    assert.deepEqual(Object.keys(json as JsonObject), [
      'name',
      'id',
      'context',
      'introduced_by',
      'introduced_at',
      'status',
    ]);
    assert.equal(
      await error(talk, 'hivemind_get_peer_info', { peer: 'hermes-of-car' }),
      'there is no peer "hermes-of-car"',
    );
  });

  test('messages: what is new first, and what was shown is read', async () => {
    const { talk, carol, hub } = await bobsWorld();
    await introduceMore(hub, [idOf('dave')]);
    await talk.line('hello there');
    for (const text of ['one', 'two']) await carol.send(idOf('bob'), text, NEVER);
    const { json } = await talk.call('hivemind_check_messages');
    const entries = json as unknown as { peer: string; new: number; messages: JsonObject[] }[];
    assert.deepEqual(entries.map(({ peer, new: count }) => `${peer} ${count}`).sort(), [
      'helper 1',
      'hermes-of-alice 1',
      'hermes-of-carol 2',
    ]);
    const [newest, before] = entries.find(({ peer }) => peer === CAROL)?.messages ?? [];
    assert.deepEqual(Object.keys(newest ?? {}), ['from', 'text', 'time', 'new']);
    assert.deepEqual([newest?.from, newest?.text, newest?.new, before?.text], [CAROL, 'two', true, 'one']);
    const again = (await talk.call('hivemind_check_messages')).json as unknown as {
      new: number;
      messages: unknown[];
    }[];
    assert.ok(again.length > 0 && again.every((entry) => entry.new === 0 && entry.messages.length <= 3));
    await carol.send(idOf('bob'), 'three', NEVER);
    const withCarol = (await talk.call('hivemind_check_messages', { peer: CAROL })).json as unknown as JsonObject[];
    assert.deepEqual(
      withCarol.slice(0, 3).map(({ text, new: isNew }) => `${text} ${isNew}`),
      ['three true', 'two false', 'one false'],
    );
    const [only] = (await talk.call('hivemind_check_messages')).json as unknown as { new: number }[];
    assert.equal(only?.new, 0);
  });

  test('messages: at most ten peers at once, the others at the next call; long texts share the space', async () => {
    const { talk, hub } = await bobsWorld();
    const ids = Array.from({ length: 12 }, (_, at) => `hermes-of-p${at}@localhost`);
    await introduceMore(hub, ids);
    for (const id of ids) {
      const peer = hub.join(id);
      await peer.refresh(NEVER);
      for (let at = 0; at < 3; at += 1) await peer.send(idOf('bob'), 'x'.repeat(9_000), NEVER);
    }
    const first = await talk.call('hivemind_check_messages');
    const entries = first.json as unknown as JsonObject[];
    assert.equal(entries.length, 11);
    assert.ok((first.output?.text.length ?? 0) < 40_000);
    const { more_peers_with_new_messages: more } = entries.at(-1) ?? {};
    assert.equal(more, 4);
    const next = (await talk.call('hivemind_check_messages')).json as unknown as { new: number }[];
    assert.equal(next.filter((entry) => entry.new > 0).length, 4);
    const one = (await talk.call('hivemind_check_messages', { peer: 'hermes-of-p0' })).json as unknown as {
      text: string;
    }[];
    assert.ok(one.every(({ text }) => text.length <= 4_000));
  });

  test('send reaches the peer, and only what is not too large', async () => {
    const { talk, carol } = await bobsWorld();
    await talk.line('tell hermes-of-carol: hello');
    const { json, risk } = await talk.call('hivemind_send_to_peer', { peer: CAROL, message: 'hello' });
    assert.deepEqual([json, risk.level], [{ sent: true, to: CAROL }, 'ask']);
    assert.match(await error(talk, 'hivemind_send_to_peer', { peer: CAROL, message: '€'.repeat(11_000) }), /too large/);
    await carol.refresh(NEVER);
    assert.deepEqual(await textsWith(carol, idOf('bob')), ['hello']);
  });

  verifies(
    ['R4.30', 'R4.41', 'R4.42'],
    'introduce tells both, by the summary where there is one, and the suggestion is done',
    async () => {
      const { talk, hub, bob } = await bobsWorld({ engine: { run: async () => undefined } });
      await introduceMore(hub, [idOf('dave'), idOf('erin')], (id) => `about ${id.slice(10, 14)}`);
      await bob.refresh(NEVER);
      await bob.keepSummary(idOf('dave'), summaryOf('x', { summary_text: 'Dave digs' }), NEVER);
      await bob.changeSparks(() => [sparkOf(idOf('erin'), idOf('dave'))], NEVER);
      await talk.line('introduce hermes-of-dave and hermes-of-erin');
      const both = { peer_a: 'hermes-of-dave', peer_b: 'hermes-of-erin' };
      const { json, risk } = await talk.call('hivemind_introduce_peers', { ...both, reason: 'digging' });
      assert.deepEqual([json, risk.level], [{ introduced: true, ...both, reason: 'digging' }, 'ask']);
      const erin = hub.join(idOf('erin'));
      for (const transport of [erin, bob]) await transport.refresh(NEVER);
      assert.deepEqual(
        (await erin.messages(idOf('dave'), {}, NEVER)).map(({ text }) => text),
        ['Why: digging', `About ${idOf('erin')}: about erin`, `About ${idOf('dave')}: Dave digs`],
      );
      assert.equal(bob.sparks()[0]?.status, 'executed');
      assert.deepEqual(((await talk.call('hivemind_list_peers')).json as JsonObject).suggestions, []);
    },
  );

  verifies(['R4.28', 'R4.30'], 'an introduction that nobody suggested is never suggested afterwards', async () => {
    const { talk, bob } = await bobsWorld();
    await talk.call('hivemind_list_peers');
    await talk.call('hivemind_introduce_peers', BOTH);
    await bob.refresh(NEVER);
    const [spark, ...others] = bob.sparks();
    assert.deepEqual(
      [spark?.status, spark?.peer_a_id, spark?.peer_b_id, others.length],
      ['executed', idOf('alice'), idOf('carol'), 0],
    );
  });

  verifies(['R4.28', 'R4.30'], 'dismiss says what it matched and keeps it, suggested or not', async () => {
    const { talk, bob } = await bobsWorld();
    const turned = { peer_a: CAROL, peer_b: 'hermes-of-alice' };
    assert.deepEqual((await talk.call('hivemind_dismiss_spark', turned)).json, {
      dismissed: true,
      ...turned,
      matched: 0,
    });
    await bob.refresh(NEVER);
    assert.deepEqual(
      bob.sparks().map(({ status }) => status),
      ['dismissed'],
    );
    const { talk: other, bob: again } = await bobsWorld();
    await again.changeSparks(() => [sparkOf(idOf('alice'), idOf('carol'))], NEVER);
    assert.deepEqual((await other.call('hivemind_dismiss_spark', turned)).json, {
      dismissed: true,
      ...turned,
      matched: 1,
    });
    assert.deepEqual((await other.call('hivemind_dismiss_spark', turned)).json, {
      dismissed: true,
      ...turned,
      matched: 0,
    });
    await again.refresh(NEVER);
    assert.deepEqual(
      again.sparks().map(({ status }) => status),
      ['dismissed'],
    );
  });
});

describe('peer tools: refusals', () => {
  verifies('R4.69', 'an unknown peer is named in the error of each tool', async () => {
    const { talk } = await bobsWorld();
    const args = { peer: 'hermes-of-car', message: 'm', peer_a: CAROL, peer_b: 'hermes-of-car' };
    for (const name of NAMES.slice(1))
      assert.equal(await error(talk, name, args), 'there is no peer "hermes-of-car"', name);
    assert.match(await error(talk, 'hivemind_introduce_peers', { peer_a: CAROL, peer_b: idOf('carol') }), /same peer/);
  });

  verifies('R4.71', 'two of one name are told apart by id, and nothing is sent to either', async () => {
    const { talk, hub, carol } = await bobsWorld();
    const other = hub.join('hermes-of-carol@elsewhere:8448');
    await introduceMore(hub, [other.selfId]);
    await talk.line('tell hermes-of-carol: hello');
    const args = { peer: CAROL, message: 'hello', peer_a: CAROL, peer_b: 'hermes-of-alice' };
    for (const name of NAMES.slice(1))
      assert.match(
        await error(talk, name, args),
        /^several peers are named "hermes-of-carol": "hermes-of-carol@localhost", "hermes-of-carol@elsewhere:8448"; say which id$/,
      );
    for (const transport of [carol, other]) {
      await transport.refresh(NEVER);
      assert.deepEqual(await textsWith(transport, idOf('bob')), []);
    }
    const { json, risk } = await talk.call('hivemind_send_to_peer', { peer: other.selfId, message: 'to the other' });
    assert.equal(risk.level, 'ask');
    assert.deepEqual(json, { sent: true, to: other.selfId });
    await carol.refresh(NEVER);
    assert.deepEqual(await textsWith(carol, idOf('bob')), []);
    assert.match(await talk.line('who is there?'), /- hermes-of-carol@localhost,|- hermes-of-carol@elsewhere:8448,/);
  });

  test('who left cannot be written to or introduced', async () => {
    const { talk, hub } = await bobsWorld();
    hub.leave(idOf('carol'), idOf('bob'));
    assert.match(await talk.line('hello there'), /hermes-of-carol.*\(has left\)/);
    for (const [name, args] of [
      ['hivemind_send_to_peer', { peer: CAROL, message: 'm' }],
      ['hivemind_introduce_peers', BOTH],
    ] as const)
      assert.equal(await error(talk, name, args), 'this peer has left');
  });

  test('a secret is sent to nobody, neither as a message nor as a reason nor within a context', async () => {
    const { talk, carol, hub } = await bobsWorld({ redact });
    await introduceMore(hub, [idOf('dave')], () => `the key is ${SECRET}`);
    await talk.line('tell hermes-of-carol the key');
    for (const [name, args] of [
      ['hivemind_send_to_peer', { peer: CAROL, message: `it is ${SECRET}` }],
      ['hivemind_introduce_peers', { ...BOTH, reason: `it is ${SECRET}` }],
      ['hivemind_introduce_peers', { peer_a: CAROL, peer_b: 'hermes-of-dave' }],
    ] as const)
      assert.match(await error(talk, name, args), /holds a secret, so nothing was sent/);
    await carol.refresh(NEVER);
    assert.deepEqual(await textsWith(carol, idOf('bob')), []);
    assert.deepEqual(
      carol.peers().map(({ peer }) => peer.id),
      [idOf('alice'), idOf('bob')],
    );
  });
});
