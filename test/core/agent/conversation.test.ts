/** The live conversation over the real store: one prompt, one history, and a rebuilt conversation that behaves as the live one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { errorCode } from '#base/errors.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import { type Conversation, type ConversationParts, openConversation } from '#core/agent/conversation.ts';
import { buildFrozenPrompt } from '#core/agent/frozen-prompt.ts';
import type { SessionStore } from '#core/agent/session-store.ts';
import { defaultStopConditions } from '#core/agent/turn/run-step.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Hooks, ModelClient, ModelRequest, SessionEvent, TurnEvent } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';
import { echoTool, schemaOf, unansweredCalls } from './turn-fixture.ts';

interface World {
  readonly path: string;
  memory: string;
  builds: number;
}

function newWorld(t: TestContext): World {
  return { path: join(createTempHome(t).path, 'state.db'), memory: 'the build runs on arm64', builds: 0 };
}

function parts(world: World, store: SessionStore, model: ModelClient, hooks: readonly Hooks[] = []): ConversationParts {
  const tool = echoTool();
  return {
    store,
    model,
    buildPrompt: (window) => {
      world.builds += 1;
      return buildFrozenPrompt({ environment: 'here', skills: '', memory: world.memory }, [schemaOf(tool)], window);
    },
    machine: {
      clock,
      hooks,
      stop: defaultStopConditions(20),
      place: { cwd: tmpdir(), clock, asker: absentAsker, spillFolder: tmpdir(), redact: (text) => text },
      access: {
        tools: new Map([[tool.name, tool]]),
        approver: denyingApprover,
        allowList: { has: () => false, add: () => undefined },
      },
    },
  };
}

const clock = createManualClock();
const signal = new AbortController().signal;

async function open(made: ConversationParts, resume?: string): Promise<Conversation> {
  const request = resume === undefined ? { start: { source: 'test', cwd: tmpdir() } } : { resume };
  const opened = await openConversation(request, made, signal);
  assert.ok(opened.ok, opened.ok ? '' : opened.detail);
  return opened.value;
}

async function say(conversation: Conversation, text: string): Promise<readonly TurnEvent[]> {
  return Array.fromAsync(conversation.send(text, { signal }));
}

const turnScript = (turn: number): ScriptedStep[] => [
  { calls: [{ name: 'echo', arguments: { text: `t${turn}` }, callId: `c${turn}` }], reasoning: `thinking ${turn}` },
  `answer ${turn}`,
];

type Body = Pick<ModelRequest, 'system' | 'tools' | 'messages'>;

function bodies(requests: readonly ModelRequest[]): readonly Body[] {
  return requests.map(({ system, tools, messages }) => ({ system, tools, messages }));
}

function asText({ system, tools, messages }: Body): string {
  return JSON.stringify([system, tools, ...messages]).slice(0, -1);
}

/** Plays the same turns on one live conversation, or on one that is opened anew from the store for every turn. */
async function converse(
  t: TestContext,
  { turns, rebuild }: { turns: number; rebuild: boolean },
): Promise<readonly ModelRequest[]> {
  const world = newWorld(t);
  const requests: ModelRequest[] = [];
  let sessionId: string | undefined;
  for (let turn = 0; turn < turns; ) {
    const store = createSqliteSessionStore({ path: world.path });
    const last = rebuild ? turn + 1 : turns;
    const model = createScriptedModel([], { context: t });
    const conversation = await open(parts(world, store, model), sessionId);
    sessionId = conversation.session.id;
    for (; turn < last; turn++) {
      model.push(...turnScript(turn));
      await say(conversation, `question ${turn}`);
      world.memory = `changed in turn ${turn}`;
    }
    requests.push(...model.requests);
    await conversation.close();
    await store.close();
  }
  assert.equal(world.builds, 1);
  return requests;
}

describe('conversation', () => {
  verifies(
    [
      'core:session:rebuilt-like-live',
      'core:loop:working-memory',
      'core:cache:prefix-append-only',
      'core:prompt:once-per-session',
      'core:prompt:stored-by-hash',
    ],
    'fifty turns, each rebuilt from the store: the same requests as a live one, each starting with all of the one before',
    async (t) => {
      const live = bodies(await converse(t, { turns: 50, rebuild: false }));
      const rebuilt = bodies(await converse(t, { turns: 50, rebuild: true }));
      assert.equal(live.length, 100);
      assert.deepEqual(rebuilt, live);
      for (const [i, request] of rebuilt.entries()) {
        const before = rebuilt[i - 1];
        if (before)
          assert.ok(asText(request).startsWith(asText(before)), `request ${i} does not extend request ${i - 1}`);
      }
    },
  );

  verifies(
    ['core:prompt:frozen-memory', 'core:memory:frozen-snapshot'],
    'memory written in a session shows in the next one only',
    async (t) => {
      const world = newWorld(t);
      const store = createSqliteSessionStore({ path: world.path });
      const model = createScriptedModel(['one', 'two', 'three'], { context: t });
      const first = await open(parts(world, store, model));
      await say(first, 'a');
      world.memory = 'the build runs on x64';
      await say(first, 'b');
      await first.close();
      const second = await open(parts(world, store, model));
      await say(second, 'c');
      await second.close();
      assert.deepEqual(
        model.requests.map((request) => /arm64|x64/.exec(request.system)?.[0]),
        ['arm64', 'arm64', 'x64'],
      );
      await store.close();
    },
  );

  verifies(
    ['core:loop:every-call-answered', 'core:turn:abort-anywhere'],
    'a consumer that leaves in mid-turn leaves a history that the next turn makes legal',
    async (t) => {
      const world = newWorld(t);
      const store = createSqliteSessionStore({ path: world.path });
      const model = createScriptedModel([{ calls: [{ name: 'echo', arguments: { text: 'x' } }] }, 'after'], {
        context: t,
      });
      const conversation = await open(parts(world, store, model));
      for await (const event of conversation.send('go', { signal })) {
        if (event.type === 'message' && event.message.role === 'assistant') break;
      }
      const events = await say(conversation, 'go on');
      assert.equal(events.at(-1)?.type, 'turn-end');
      assert.deepEqual(unansweredCalls(conversation.history), []);
      assert.match(JSON.stringify(conversation.history), /the process ended while this call was running/);
      await conversation.close();
      await store.close();
    },
  );

  verifies(
    ['core:strategy:switch-mid-session', 'core:cli:model-switch'],
    'a switch of model counts from the next step; a switch of strategy breaks the prefix once, by name',
    async (t) => {
      const world = newWorld(t);
      const store = createSqliteSessionStore({ path: world.path });
      const conversation = await open(
        parts(world, store, createScriptedModel(['one'], { context: t, id: 'a/structured' })),
      );
      await say(conversation, 'a');
      conversation.switchModel(
        createScriptedModel(['three', 'four'], { context: t, id: 'b/text', traits: { toolCalling: 'text' } }),
      );
      const third = await say(conversation, 'b');
      const fourth = await say(conversation, 'c');
      const breaks = [...third, ...fourth].filter((event) => event.type === 'prefix-break');
      assert.deepEqual(breaks, [{ type: 'prefix-break', reason: 'strategy-switch' }]);
      const end = fourth.at(-1);
      assert.equal(end?.type === 'turn-end' && end.model, 'b/text');
      conversation.switchModel(createScriptedModel([], { id: 'c/text', traits: { toolCalling: 'text' } }));
      await conversation.close();
      await store.close();
    },
  );

  verifies(
    ['core:session:lease', 'core:session:create'],
    'a live session has one owner; closed it can be taken',
    async (t) => {
      const world = newWorld(t);
      const store = createSqliteSessionStore({ path: world.path });
      const conversation = await open(parts(world, store, createScriptedModel(['x'], { context: t })));
      await say(conversation, '  the first line\nand more');
      assert.equal((await store.get(conversation.session.id))?.title, 'the first line');
      await conversation.close();
      await conversation.close();
      await assert.rejects(
        conversation.send('late', { signal }).next(),
        (error) => errorCode(error) === 'conversation-closed',
      );
      const missing = await openConversation(
        { resume: '20200101_000000_abcdef' },
        parts(world, store, createScriptedModel([])),
        signal,
      );
      assert.equal(missing.ok ? '' : missing.reason, 'no-such-session');
      const well = parts(world, store, createScriptedModel([]));
      const { id: resume } = await store.create({ source: 'test', cwd: tmpdir() });
      const broken = { ...well, buildPrompt: () => assert.fail('no prompt') };
      await assert.rejects(openConversation({ resume }, broken, signal), /no prompt/);
      assert.ok((await openConversation({ resume }, well, signal)).ok, 'what fails to open is free again');
      await store.close();
    },
  );

  verifies(['core:hooks:vocabulary'], 'the hooks of a session are called in order', async (t) => {
    const world = newWorld(t);
    const store = createSqliteSessionStore({ path: world.path });
    const called: string[] = [];
    const hook: Hooks = {
      name: 'recorder',
      sessionStart: async () => void called.push('sessionStart'),
      beforeTurn: async () => {
        called.push('beforeTurn');
        return [];
      },
      beforeTool: async () => {
        called.push('beforeTool');
        return { decision: 'allow' };
      },
      afterTool: async () => void called.push('afterTool'),
      afterTurn: async () => void called.push('afterTurn'),
      sessionEnd: async () => void called.push('sessionEnd'),
    };
    const conversation = await open(parts(world, store, createScriptedModel(turnScript(1), { context: t }), [hook]));
    await say(conversation, 'go');
    await conversation.close();
    assert.deepEqual(called, ['sessionStart', 'beforeTurn', 'beforeTool', 'afterTool', 'afterTurn', 'sessionEnd']);
    await store.close();
  });

  verifies(
    'core:home:secrets-in-env-only',
    'a known secret reaches neither messages, calls, title nor the model, whoever says it',
    async (t) => {
      const world = newWorld(t);
      const store = createSqliteSessionStore({ path: world.path });
      const secret = 'sentinel-0123456789';
      const model = createScriptedModel(
        [{ calls: [{ name: 'echo', arguments: { text: `a ${secret}` } }], text: `so ${secret}` }, `done ${secret}`],
        { context: t },
      );
      const made = parts(world, store, model);
      const place = { ...made.machine.place, redact: (text: string) => text.replaceAll(secret, '[redacted]') };
      const conversation = await open({ ...made, machine: { ...made.machine, place } });
      await say(conversation, `my key is ${secret}`);
      assert.doesNotMatch(JSON.stringify([conversation.history, model.requests.at(-1)]), /sentinel/);
      assert.equal((await store.get(conversation.session.id))?.title, 'my key is [redacted]');
      assert.doesNotMatch(JSON.stringify(await store.spans(conversation.session.id)), /sentinel/);
      await conversation.close();
      await store.close();
      assert.equal(readFileSync(world.path).includes(secret), false);
    },
  );

  verifies('core:origin:every-part', 'text that nobody typed does not count as the owner’s word', async (t) => {
    const world = newWorld(t);
    const store = createSqliteSessionStore({ path: world.path });
    const conversation = await open(parts(world, store, createScriptedModel(['ok'], { context: t })));
    await Array.fromAsync(conversation.send('from a schedule', { signal, origin: 'model' }));
    assert.equal(conversation.history[0]?.parts[0]?.origin, 'model');
    await conversation.close();
    await store.close();
  });

  it('first hour 7: a turn is taken back however it ended, and live context and store stay equal', async (t) => {
    const store = createSqliteSessionStore({ path: newWorld(t).path });
    const model = createScriptedModel([...turnScript(0), ...turnScript(1), 'again'], { context: t });
    const conversation = await open(parts(newWorld(t), store, model));
    const { id } = conversation.session;
    const storedNow = async () => (await store.messages(id)).map(({ message }) => message);
    assert.equal(await conversation.takeBackTurn(), undefined);
    await say(conversation, 'first');
    const before = [...conversation.history];
    const piped = { type: 'text' as const, text: 'piped', origin: 'foreign' as const, label: 'stdin' as const };
    for await (const event of conversation.send('second', { signal, extra: [piped] })) {
      if (event.type === 'tool-start') conversation.steer('and be brief');
      if (event.type === 'tool-start')
        await assert.rejects(conversation.takeBackTurn(), (error) => errorCode(error) === 'turn-running');
    }
    const taken = await conversation.takeBackTurn();
    assert.deepEqual([taken?.text, taken?.acted], ['second\nand be brief', true]);
    assert.deepEqual(taken?.extra, [piped]);
    assert.deepEqual(conversation.history, before);
    assert.deepEqual(await storedNow(), before);
    await say(conversation, 'second');
    assert.deepEqual(await storedNow(), conversation.history);
    assert.ok(!JSON.stringify(model.requests.at(-1)?.messages).includes('be brief'));
    assert.equal((await conversation.takeBackTurn())?.acted, false);
    assert.equal((await conversation.takeBackTurn())?.text, 'first');
    assert.deepEqual([conversation.history, await storedNow()], [[], []]);
    await conversation.close();
    await store.close();
  });

  verifies(['core:turn:steering'], 'first hour 2: lines that no step took are given back', async (t) => {
    const store = createSqliteSessionStore({ path: newWorld(t).path });
    const model = createScriptedModel(['first', 'second'], { context: t });
    const conversation = await open(parts(newWorld(t), store, model));
    for (const line of ['one', 'two', 'three']) conversation.steer(line);
    const steers: string[] = [];
    const left: string[] = [];
    for await (const event of conversation.send('go', { signal })) {
      if (event.type !== 'steer') continue;
      steers.push(event.text);
      if (steers.length === 2) left.push(...conversation.takeBack());
    }
    assert.deepEqual([steers, left, conversation.takeBack()], [['one', 'two'], ['three'], []]);
    await conversation.close();
    await store.close();
  });

  it('first hour 7: a call that the owner spelled out is made without a model, and is in the history', async (t) => {
    const store = createSqliteSessionStore({ path: newWorld(t).path });
    const model = createScriptedModel(['I saw it.'], { context: t });
    const conversation = await open(parts(newWorld(t), store, model));
    const call = { name: 'echo', arguments: { text: 'hi' } };
    const events = await Array.fromAsync(conversation.send('!echo hi', { signal, call }));
    assert.equal(model.requests.length, 0);
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'tool-end' ? [event.result.text] : [])),
      ['echo: hi'],
    );
    assert.equal(events.find((event) => event.type === 'turn-end')?.outcome, 'done');
    await say(conversation, 'what was it?');
    assert.deepEqual(
      model.requests[0]?.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'user'],
    );
    assert.deepEqual(unansweredCalls(conversation.history), []);
    await conversation.close();
    await store.close();
  });

  verifies(
    'R5.203',
    'a turn that was cut off goes on with the request that it was cut off at, wherever that was, and runs no call again',
    async (t) => {
      const uncut = createScriptedModel(turnScript(1), { context: t });
      const world = newWorld(t);
      const store = createSqliteSessionStore({ path: world.path });
      await say(await open(parts(world, store, uncut)), 'go');
      const cutAt = async (role: 'user' | 'tool', before: ScriptedStep[], after: ScriptedStep[]) => {
        const first = await open(parts(world, store, createScriptedModel(before, { context: t })));
        for await (const event of first.send('go', { signal }))
          if (event.type === 'message' && event.message.role === role) break;
        await first.leave();
        const model = createScriptedModel(after, { context: t });
        const second = await open(parts(world, store, model), first.session.id);
        const events = await Array.fromAsync(second.goOn({ signal }));
        assert.equal(events.findLast((event) => event.type === 'turn-end')?.text, 'answer 1');
        assert.equal(events.findLast((event) => event.type === 'turn-start')?.turn, 1);
        await assert.rejects(second.goOn({ signal }).next(), { code: 'nothing-to-do' });
        await second.close();
        return bodies(model.requests);
      };
      assert.deepEqual(await cutAt('user', [], turnScript(1)), bodies(uncut.requests));
      const [, second] = bodies(uncut.requests);
      assert.deepEqual(await cutAt('tool', turnScript(1).slice(0, 1), ['answer 1']), [second]);
      await store.close();
    },
  );

  verifies('R5.203', 'a call that has no result is answered as interrupted, and not made again', async (t) => {
    const world = newWorld(t);
    const store = createSqliteSessionStore({ path: world.path });
    const first = await open(parts(world, store, createScriptedModel(turnScript(1).slice(0, 1), { context: t })));
    await assert.rejects(first.goOn({ signal }).next(), { code: 'nothing-to-do' });
    for await (const event of first.send('go', { signal })) {
      if (event.type === 'message' && event.message.role === 'assistant') break;
    }
    await first.leave();
    const model = createScriptedModel(['so be it'], { context: t });
    const second = await open(parts(world, store, model), first.session.id);
    const events = await Array.fromAsync(second.goOn({ signal }));
    assert.ok(!events.some(({ type }) => type === 'tool-start'));
    assert.match(JSON.stringify(model.requests[0]?.messages.at(-1)), /the process ended while this call was running/);
    await second.close();
    await store.close();
  });

  verifies(
    ['R5.200', 'R5.202'],
    'leaving gives the session to the next, and tells no end; every event names its session',
    async (t) => {
      const world = newWorld(t);
      const store = createSqliteSessionStore({ path: world.path });
      const ended: string[] = [];
      const told: SessionEvent[] = [];
      const hook: Hooks = { name: 'ends', sessionEnd: async ({ sessionId }) => void ended.push(sessionId) };
      const made = {
        ...parts(world, store, createScriptedModel(['one', 'two', 'three'], { context: t }), [hook]),
        events: { emit: (event: SessionEvent) => void told.push(event) },
      };
      const [first, other] = [await open(made), await open(made)];
      const { id } = first.session;
      await say(first, 'a');
      await say(other, 'b');
      await first.leave();
      await first.close();
      assert.deepEqual([ended, (await store.get(id))?.endedAt], [[], undefined]);
      const again = await open(made, id);
      await say(again, 'c');
      await again.close();
      assert.deepEqual(ended, [id]);
      const starts = told.flatMap(({ sessionId, event }) =>
        event.type === 'turn-start' ? [[sessionId, event.sessionId]] : [],
      );
      const of = (one: string) => [one, one];
      assert.deepEqual(starts, [of(id), of(other.session.id), of(id)]);
      assert.ok(told.every(({ sessionId }) => sessionId !== undefined));
      await other.close();
      await store.close();
    },
  );
});
