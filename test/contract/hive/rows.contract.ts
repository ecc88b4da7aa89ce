/** All rows of the peers seed on one ground in one mode; here those of guide, tools and host (R4.4 to R4.13, R4.15, R4.24, R4.70), and the sentinels. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Ground, TurnRequest } from '#core/agent/room.ts';
import { functionSchema } from '#core/tools/tool-registry.ts';
import { room } from '#extensions/hive/room.ts';
import { type MemoryProvider, ok, type TurnEvent } from '#public/talaria.ts';
import { testMind } from '../../ground.ts';
import type { HiveAgent } from './hive-agent.ts';
import { groundOf, inferring } from './hive-agent.ts';
import {
  acquainted,
  bobIntroduced,
  introduceByHand,
  listed,
  localpart,
  messagesOf,
  NEVER,
  opaque,
  send,
  speaksOfPeersOnly,
  suggestionsOf,
} from './hive-scenes.ts';
import type { HiveStage, Rows } from './hive-stage.ts';
import { rowsOfProtection, rowsOfRestarts } from './rows-of-keys.contract.ts';
import { rowsOfIntroductions, rowsOfPeers } from './rows-of-peers.contract.ts';
import { rowsOfModels, rowsOfNotes, rowsOfSparks } from './rows-of-sparks.contract.ts';
import { rowsOfFaults, rowsOfSync } from './rows-of-wire.contract.ts';
import { rowsOfForeignWords, rowsOfMessages } from './rows-of-words.contract.ts';

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

function ofGuide({ verifies, ground }: Rows): void {
  verifies(
    ['R4.4', 'R4.5', 'R4.6', 'R4.7', 'R4.31'],
    'system prompt block: the guide speaks of peers and introductions, leaves the tools to their schemas, asks before introducing, knows no protocol',
    async (on) => {
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
    },
  );

  if (ground.isFake)
    verifies(['R4.4', 'R4.70', 'R4.44'], 'initialize: start asks no server; the block stays the same', async (on) => {
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
    });
}

function ofTools({ verifies }: Rows): void {
  verifies(
    ['R4.12', 'R4.7', 'R4.5', 'R4.11'],
    'schema count = 6, schemas: the six and their parameters',
    async (on) => {
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
    },
  );

  verifies(['R4.12', 'R4.69'], 'other names of parameters are understood; incomplete calls are refused', async (on) => {
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
  });

  verifies(['R4.50', 'R4.2'], 'a tool before any prefetch of the process answers the truth', async (on) => {
    const { bob, carol } = await bobIntroduced(on);
    await bob.prefetch();
    const again = await on.restart(bob);
    const { peers } = await listed(again);
    assert.deepEqual(
      peers.map(({ id }) => id),
      [opaque(carol)],
    );
    assert.ok((await messagesOf(again, opaque(carol))).length > 0);
  });
}

function ofViews({ verifies }: Rows): void {
  verifies(
    ['R4.48', 'R4.29'],
    'format_context empty/peers/suggestions: nothing for nobody, a line for each peer, a line for each suggestion with reason and confidence',
    async (on) => {
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
          await introduceByHand(alice, [bob, 'Bob'], [who, `Somebody called ${word}. ${'long '.repeat(100)}`]),
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
    },
  );

  verifies(['R4.48', 'R4.37'], 'prefetch has peer, then what is new: a message, a peer, one who left', async (on) => {
    const { alice, bob, carol, room } = await bobIntroduced(on);
    const name = localpart(carol.userId);
    assert.ok((await bob.prefetch()).includes(name));
    assert.equal(await bob.prefetch(), '');
    await carol.say(room, 'hello');
    assert.ok((await bob.prefetch()).includes(name));
    assert.equal(await bob.prefetch(), '');
    const dave = await on.raw('hermes-of-dave');
    await dave.join(await introduceByHand(alice, [bob, 'Bob'], [dave, 'Dave cooks.']));
    const shown = await bob.prefetch();
    assert.ok(shown.includes(localpart(dave.userId)) && shown.includes('Dave cooks.'), shown);
    await carol.leave(room);
    assert.match(await bob.prefetch(), new RegExp(name));
  });
}

const SESSION = { sessionId: 's1', source: 'cli', cwd: '/', audience: 'primary' } as const;

export function rowsOfHost({ title, verifies }: Rows): void {
  describe(`the host: ${title}`, () => {
    verifies(['R4.10', 'R4.70', 'R4.9'], 'availability with and without env: what is missing is named', async (on) => {
      const ground = await groundFor(on);
      assert.equal((await openProvider(ground)).available().ok, true);
      for (const missing of ['MATRIX_HOMESERVER', 'MATRIX_USER_ID', 'MATRIX_ACCESS_TOKEN'])
        await isNotConfigured(ground, missing);
      const token = 'syt_a_token_that_nobody_may_read';
      const odd = await openProvider(replacing(ground, { MATRIX_ACCESS_TOKEN: `${token} with a blank` }));
      const said = odd.available();
      assert.ok(!said.ok && !said.detail.includes(token));
    });

    verifies(['R4.15', 'R4.24', 'R4.16', 'R4.2'], 'inference is one bounded turn of the host', async (on) => {
      const asked: TurnRequest[] = [];
      const ground = await groundFor(on, (request) => {
        asked.push(request);
        return '{"needs":["rest"],"offers":[],"expertise":[],"summary_text":"Needs rest."}';
      });
      const provider = await openProvider(ground);
      await provider.start(SESSION, NEVER);
      await provider.prefetch('hello', AbortSignal.timeout(30_000));
      await provider.turnEnded?.(SESSION, []);
      await provider.stop();
      assert.equal(asked.length, 1);
      const [{ purpose, tier, tools, maxSteps, maxOutputTokens, system = '', text }] = asked as [TurnRequest];
      assert.deepEqual(
        { purpose, tier, tools, maxSteps, maxOutputTokens },
        { purpose: 'peers', tier: 'T1', tools: [], maxSteps: 1, maxOutputTokens: 300 },
      );
      assert.ok(system.length > 0 && !system.includes('sleeps well'));
      assert.match(text, /sleeps well/);
    });

    verifies(['R4.13', 'R4.10'], 'an unknown token: the turn goes on, the owner is told', async (on) => {
      const notices: string[] = [];
      const ground = replacing(await groundFor(on), { MATRIX_ACCESS_TOKEN: 'syt_no_such_token' });
      const provider = await openProvider({ ...ground, notice: (text) => void notices.push(text) });
      await provider.start(SESSION, NEVER);
      const parts = await provider.prefetch('hello', AbortSignal.timeout(30_000)).catch(() => []);
      for (const { text } of parts) speaksOfPeersOnly(text, 'prefetch');
      await provider.turnEnded?.(SESSION, []);
      await provider.stop();
      assert.ok(notices.length > 0, 'the owner is told');
      for (const text of notices) assert.ok(!text.includes('syt_no_such_token'), text);
    });
  });
}

async function openProvider(ground: Ground): Promise<MemoryProvider> {
  return room.provider?.open(ground) ?? assert.fail();
}

async function isNotConfigured(ground: Ground, missing: string): Promise<void> {
  const provider = await openProvider(without(ground, missing));
  const available = provider.available();
  const said = available.ok ? '' : available.detail;
  assert.match(said, new RegExp(missing));
  assert.match(said, /talaria peers login/);
  await provider.start(SESSION, NEVER);
  await provider.prefetch('hello', NEVER).catch(() => []);
  for (const tool of provider.tools()) speaksOfPeersOnly(tool.description, tool.name);
  await provider.stop();
}

/** Settings of an agent that was introduced to one who sleeps well. */
async function groundFor(on: HiveStage, answer?: (request: TurnRequest) => string): Promise<Ground> {
  const alice = await on.raw('hermes-of-alice');
  const carol = await on.raw('hermes-of-carol');
  const account = await on.server.register('hermes-of-bob');
  await introduceByHand(alice, [account, 'Bob'], [carol, 'Carol sleeps well.']);
  const ground = groundOf(on.server, account, { ...on.mode, folder: on.emptyFolder() });
  if (answer === undefined) return ground;
  return {
    ...ground,
    open: async () =>
      testMind({
        redact: (text) => text,
        runTurn: async function* (request): AsyncGenerator<TurnEvent> {
          yield endOf(answer(request));
        },
      }),
  };
}

function endOf(text: string): TurnEvent {
  return {
    type: 'turn-end',
    outcome: 'done',
    text,
    steps: 1,
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    cost: null,
    model: 'test/1',
    tier: 'T1',
    ms: 1,
  };
}

function replacing(ground: Ground, env: Readonly<Record<string, string>>): Ground {
  return {
    ...ground,
    settings: async () => {
      const settings = await ground.settings();
      return { ...settings, env: { ...settings.env, ...env } };
    },
  };
}

function without(ground: Ground, name: string): Ground {
  return {
    ...ground,
    settings: async () => {
      const settings = await ground.settings();
      return { ...settings, env: Object.fromEntries(Object.entries(settings.env).filter(([key]) => key !== name)) };
    },
  };
}

/** Twenty that nobody may find, and one that is said in clear: words that occur nowhere else, with a quotation mark and a sign beyond ASCII, since those are written in more than one way. */
const SENTINELS: readonly string[] = Array.from(
  { length: 21 },
  (_, i) => `sentinel-${i}-"näh€r"-${(i * 7_919 + 104_729).toString(36)}`,
);

/** The forms in which a server might keep a text; base64 at each of the three places where it may begin. */
function formsOf(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const inBase64 = [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]);
    const coded = bytes.toString('base64').replace(/=+$/, '');
    return coded.slice(shift === 0 ? 0 : 4, -3);
  });
  return [
    text,
    json,
    ascii,
    encodeURIComponent(text),
    text.split('"')[0] ?? text,
    ...inBase64,
    Buffer.from(text).toString('hex'),
  ];
}

export function rowsOfSentinels({ title, verifies }: Rows): void {
  describe(`what the server keeps: ${title}`, () => {
    verifies(['R4.36', 'R4.74'], 'none of twenty sentinels is in the server’s store, in any form', async (on) => {
      await sayAll(on);
      const stored = await on.server.storedText();
      assert.ok(stored.length > 10_000 && stored.includes('m.megolm.v1.aes-sha2'), 'the store was read');
      const found = SENTINELS.slice(0, 20).filter((sentinel) =>
        formsOf(sentinel).some((form) => stored.includes(form)),
      );
      assert.deepEqual(found, []);
    });

    verifies('R4.74', 'the search finds what is kept in clear', async (on) => {
      const [alice, bob] = [await on.raw('alice'), await on.raw('bob')];
      const inClear = SENTINELS[20] ?? '';
      await introduceByHand(alice, [bob, inClear]);
      const stored = await on.server.storedText();
      assert.ok(formsOf(inClear).some((form) => stored.includes(form)));
    });
  });
}

async function sayAll(on: HiveStage): Promise<void> {
  const [c1, c2, about, why, m1, m2, m3, m4, m5, reason] = SENTINELS as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const summary = (i: number) => ({
    needs: [SENTINELS[i]],
    offers: [SENTINELS[i + 1]],
    expertise: [SENTINELS[i + 2]],
    summary_text: SENTINELS[i + 3],
  });
  const alice = await on.agent('hermes-of-alice', {
    infer: async ({ kind, input }) => ({
      byRule: false,
      text:
        kind === 'spark'
          ? JSON.stringify({ introduce: [{ pair: 1, confidence: 'high', reason }] })
          : JSON.stringify(summary(JSON.stringify(input).includes('sentinel-0-') ? 10 : 14)),
    }),
  });
  const { bob, carol } = await acquainted(on, alice, { bob: c1, carol: c2 });
  const dave = await on.agent('hermes-of-dave');
  await dave.prefetch();
  await alice.transport.contact({ id: dave.id, context: SENTINELS[18] ?? '', about }, NEVER);
  await dave.prefetch();
  await alice.prefetch();
  assert.equal((await suggestionsOf(alice))[0]?.reason, reason);
  await send(alice, bob.name, m1);
  await send(bob, alice.name, m2);
  const answer = await alice.call('hivemind_introduce_peers', { peer_a: bob.name, peer_b: carol.name, reason: why });
  assert.equal(answer.isError, false, answer.text);
  for (const agent of [bob, carol, bob, alice]) await agent.prefetch();
  await send(bob, carol.name, m3);
  await send(carol, bob.name, m4);
  await carol.transport.send(bob.id, `${m5} ${SENTINELS[19]}`, NEVER);
  for (const agent of [bob, carol, alice]) await agent.prefetch();
  const heard = (await messagesOf(bob, opaque(carol))).map(({ text }) => text);
  assert.ok(
    [m3, m4].every((text) => heard.includes(text)),
    heard.join(' | '),
  );
}

export function allRows(rows: Rows): void {
  quickRows(rows);
  rowsOfFaults(rows);
}

/** All but what waits for servers that fail. */
export function quickRows(rows: Rows): void {
  rowsOfGuide(rows);
  rowsOfHost(rows);
  rowsOfPeers(rows);
  rowsOfNotes(rows);
  rowsOfMessages(rows);
  rowsOfIntroductions(rows);
  rowsOfSync(rows);
  rowsOfProtection(rows);
  rowsOfRestarts(rows);
  rowsOfSparks(rows);
  rowsOfModels(rows);
  rowsOfForeignWords(rows);
}
