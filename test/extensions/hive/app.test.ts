import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { room } from '#extensions/hive/room.ts';
import { type Approver, denyingApprover } from '#public/talaria.ts';
import { configSchema } from '#surfaces/app/home/config-schema.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { childEnvironment, createLiveRedaction } from '#surfaces/app/home/variables.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { devicesContract, homeserverContract, protocolSuite } from '../../contract/hive/hive-homeserver.contract.ts';
import { HiveRawClient, refused, withAgents } from '../../contract/hive/hive-raw-client.ts';
import {
  introduceByHand,
  localpart,
  OF_BOB,
  OF_CAROL,
  opaque,
  speaksOfPeersOnly,
} from '../../contract/hive/hive-scenes.ts';
import { OFF, onFake, rowsOn, startFake } from '../../contract/hive/hive-stage.ts';
import { quickRows } from '../../contract/hive/rows.contract.ts';
import { createStage, openConversation, play } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

/** Peers in the composed agent: config.yaml names the provider, its tools and guide are found, and a turn goes from the owner's line to a peer. */

const SIX = ['check_messages', 'dismiss_spark', 'get_peer_info', 'introduce_peers', 'list_peers', 'send_to_peer'];

describe('peers in the composed agent', () => {
  verifies(
    ['R4.4', 'R4.9', 'R4.10', 'R4.11', 'R4.12', 'R4.5'],
    'config.yaml names it: six tools and guide',
    async (t) => {
      const { server, stage, requests } = await stageWithPeers(t);
      const app = await stage.open({ extra: { client: createScriptedModel([]) } });
      assert.deepEqual(app.notices, []);
      const schemas = (await app.tools()).schemas.filter(({ name }) => name.startsWith('hivemind_'));
      assert.deepEqual(
        schemas.map(({ name }) => name).sort(),
        SIX.map((name) => `hivemind_${name}`),
      );
      speaksOfPeersOnly(JSON.stringify(schemas), 'schemas');
      const conversation = await openConversation(app);
      assert.match(conversation.prompt.system, /hivemind_list_peers/);
      assert.deepEqual(server.wire.requests().length, requests);
      await app.shutdown();
    },
  );

  verifies(['R4.10', 'R4.70', 'R4.9'], 'without its token the agent works, and is told how to mend it', async (t) => {
    const { stage } = await stageWithPeers(t, {});
    const app = await stage.open({ extra: { client: createScriptedModel(['good morning']) } });
    assert.match(app.notices.join('\n'), /MATRIX_ACCESS_TOKEN[\s\S]*talaria peers login/);
    assert.deepEqual(
      (await app.tools()).schemas.filter(({ name }) => name.startsWith('hivemind_')),
      [],
    );
    const { end } = await play(await openConversation(app), 'hello');
    assert.equal(end.outcome, 'done');
    await app.shutdown();
  });

  verifies(['R4.48', 'R4.46', 'R4.73', 'R4.31', 'R4.36'], 'a turn has the peer; a message needs a yes', async (t) => {
    const { stage, carol, room } = await stageWithPeers(t);
    const peer = localpart(carol.userId);
    const sends = (message: string): ScriptedStep => ({
      calls: [{ name: 'hivemind_send_to_peer', arguments: { peer, message } }],
    });
    const replies: ScriptedStep[] = [sends('unasked'), 'it was denied', sends('allowed'), 'told'];
    const client = createScriptedModel(replies, { context: t });
    const app = await stage.open({ extra: { client } });
    const conversation = await openConversation(app);
    const { events } = await play(conversation, `please tell ${peer} something`);
    const first = conversation.history.at(0);
    const context =
      first?.role === 'user' ? first.parts.flatMap((part) => (part.label === 'context' ? [part] : [])) : [];
    const about = context.find(({ text }) => text.includes(peer));
    assert.equal(about?.origin, 'foreign');
    assert.ok(about?.text.includes('Carol specializes in TEE'));
    const end = events.find((event) => event.type === 'tool-end');
    assert.match(end?.type === 'tool-end' ? end.result.text : '', /start with --yes.*peers\.allow_send/);
    await app.shutdown();
    const settings = stage.temp.read('home/config.yaml');
    stage.temp.write('home/config.yaml', `${settings}  allow_send: ["${opaque(carol)}"]\n`);
    const again = await stage.open({ extra: { client } });
    await play(await openConversation(again), 'what is new?');
    const sent = (await carol.texts(room)).filter((text) => !/^(?:About|Why)/.test(text));
    assert.deepEqual(sent, ['allowed']);
    await again.shutdown();
  });

  verifies.slow('R4.31', 'an introduction asks in every mode; where nobody can answer only --yes agrees', async (t) => {
    const { stage, server, carol, alice } = await stageWithPeers(t);
    const dave = await HiveRawClient.register(server, 'hermes-of-dave');
    const introduce = (): ScriptedStep => ({
      calls: [
        {
          name: 'hivemind_introduce_peers',
          arguments: { peer_a: localpart(carol.userId), peer_b: localpart(dave.userId) },
        },
      ],
    });
    const bob = stage.temp.read('home/config.yaml').match(/@[^"]+/)?.[0] ?? '';
    await dave.join(await introduceByHand(alice, [{ userId: bob }, OF_BOB], [dave, 'Dave cooks.']));
    const asked: string[] = [];
    const approver: Approver = {
      approve: async ({ key }) => {
        asked.push(key);
        return { decision: 'always' };
      },
    };
    const settings = stage.temp.read('home/config.yaml');
    const cases = [
      ['off', undefined, denyingApprover, 'denied', 0],
      ['off', undefined, approver, 'ran', 1],
      ['ask', 'auto', approver, 'ran', 1],
      ['ask', 'auto', denyingApprover, 'ran', 0],
      ['ask', undefined, approver, 'ran', 1],
    ] as const;
    for (const [mode, permission, who, expected, questions] of cases) {
      stage.temp.write('home/config.yaml', `${settings}approvals:\n  mode: ${mode}\n`);
      const client = createScriptedModel([introduce(), 'done'], { context: t });
      const app = await stage.open({ extra: { client }, ...(permission ? { run: { permission } } : {}) });
      const { events } = await play(await openConversation(app, { approver: who }), 'introduce the two of them');
      const end = events.find((event) => event.type === 'tool-end');
      const said = end?.type === 'tool-end' ? (end.result.observed.refused ?? 'ran') : 'nothing';
      assert.deepEqual([said, asked.splice(0).length], [expected, questions], `${mode}, ${permission}`);
      await app.shutdown();
    }
  });

  verifies(['R4.72', 'R4.25', 'R4.70'], 'a homeserver that is down does not cost a turn its answer', async (t) => {
    const { stage, server } = await stageWithPeers(t);
    const app = await stage.open({ extra: { client: createScriptedModel(['good morning'], { context: t }) } });
    const conversation = await openConversation(app);
    await server.wire.down();
    const { end } = await play(conversation, 'hello');
    assert.equal(end.outcome, 'done');
    await app.shutdown();
  });
});

/** Bob's home, and a server on which Alice has introduced him to Carol. */
async function stageWithPeers(t: TestContext, variables?: Record<string, string>) {
  const server = await startFake({ context: t });
  const [alice, carol] = [
    await HiveRawClient.register(server, 'hermes-of-alice'),
    await HiveRawClient.register(server, 'hermes-of-carol'),
  ];
  const bob = await server.register('hermes-of-bob');
  const room = await introduceByHand(alice, [bob, OF_BOB], [carol, OF_CAROL]);
  await carol.join(room);
  const stage = createStage(t, variables ?? { MATRIX_ACCESS_TOKEN: bob.accessToken });
  const lines = [
    'memory:',
    '  provider: hivemind',
    '  env:',
    `    MATRIX_HOMESERVER: ${server.url}`,
    `    MATRIX_USER_ID: "${bob.userId}"`,
    `    MATRIX_ACCESS_TOKEN: \${MATRIX_ACCESS_TOKEN}`,
    'peers:',
    '  suggestions: false',
  ];
  stage.temp.write('home/config.yaml', `${lines.join('\n')}\n`);
  return { server, stage, alice, carol, room, requests: server.wire.requests().length };
}

/** The rows of the peers seed on the strict fake homeserver, both switches off; servers that fail are in test/deep/hive. */

quickRows(rowsOn({ name: 'fake homeserver', isFake: true, start: onFake() }, OFF));

/** What `memory.env` gives as a secret of peers, in whatever way it is written. */

describe('the token in memory.env', () => {
  test('what is given as a secret is redacted, as it stands and by whatever variable, and no command sees the variable', (t) => {
    const { path } = createTempHome(t);
    const environment = { variables: { TALARIA_HOME: `${path}/home` }, cwd: path, userHome: path };
    const home = findHome(environment);
    const around = {
      ...environment,
      variables: { ...environment.variables, BOB_TOKEN: 'token-of-bob-123', PATH: '/bin' },
    };
    const given = [{ MATRIX_ACCESS_TOKEN: 'written-literally-1' }, { MATRIX_ACCESS_TOKEN: '${BOB_TOKEN}' }];
    const { secrets = [] } = room;
    const [literal, named] = given.map((env) => createLiveRedaction(home, around, { given: env, names: secrets }));
    assert.equal(literal?.('a written-literally-1 b'), 'a [redacted] b');
    assert.equal(named?.('a token-of-bob-123 b'), 'a [redacted] b');
    const seenWith = (env: Record<string, string>, names: readonly string[]) => {
      const config = configSchema.parse({ memory: { env }, sandbox: { env: names } });
      return Object.keys(childEnvironment(home, around, config, secrets)).sort();
    };
    assert.deepEqual(seenWith(given[1] ?? {}, []), ['PATH', 'TALARIA_HOME', 'TALARIA_INSIDE']);
    assert.ok(seenWith(given[0] ?? {}, ['BOB_TOKEN']).includes('BOB_TOKEN'), 'the owner named it');
  });
});

/** The protocol tests and the homeserver contract on the fake homeserver, strict and in rooms of two ages. */

protocolSuite('fake, strict', onFake());
protocolSuite('fake, rooms of version 12', onFake({ roomVersion: '12' }));
homeserverContract('fake, strict', onFake());
devicesContract('fake, strict', onFake());

verifies('R4.66', 'a strict server refuses a join without a body, a lenient one lets it pass', async () => {
  await withAgents(onFake(), async ({ bob, room }) => {
    await refused(bob.call('POST', `/v3/join/${encodeURIComponent(room)}`), 'M_NOT_JSON', 400);
    await bob.join(room);
  });
  await withAgents(onFake({ strict: false }), async ({ bob, room }) => {
    await bob.call('POST', `/v3/join/${encodeURIComponent(room)}`);
  });
});
