/** The live conversation when it fills its window: what goes, what stays, what it says, and that a rebuilt one is the same. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { errorCode, TalariaError } from '#base/errors.ts';
import { absentAsker } from '#core/agent/approver.ts';
import { isSummary, summaryText } from '#core/agent/compress/summary.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import { messageTokens, promptTokens } from '#core/agent/history.ts';
import type { SessionStore } from '#core/agent/session-store.ts';
import { readTodos } from '#core/tools/talk-tools.ts';
import { createSessionSearchTool } from '#mind/sessions/session-search-tool.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Hooks, ModelRequest, Tool } from '#public/talaria.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { tempSessionStore } from '../../../doubles/temp-stores.ts';
import { verifies } from '../../../verifies.ts';
import { unansweredCalls } from '../turn-fixture.ts';
import {
  answering,
  breaks,
  called,
  clock,
  conversationParts,
  type Desk,
  endOf,
  gave,
  notices,
  open,
  type PartsOptions,
  said,
  say,
  signal,
  userMessage,
  words,
} from './compress-fixture.ts';

function liveSummary(conversation: Conversation): string {
  return conversation.history.map(summaryText).find((text) => text !== undefined) ?? '';
}

/** A conversation with so many messages of about 300 tokens each, not yet compressed. */
async function filled(
  options: Omit<PartsOptions, 'store'> & { readonly store?: SessionStore },
  count: number,
): Promise<{ readonly conversation: Conversation; readonly store: SessionStore }> {
  const store = options.store ?? tempSessionStore(clock);
  const { id } = await store.create({ source: 'test', cwd: '/' });
  for (let i = 0; i < count; i += 1)
    await store.append(id, i % 2 === 0 ? userMessage(`ask ${i} ${words(300)}`) : said(`answer ${i} ${words(300)}`));
  return { conversation: await open(conversationParts({ ...options, store }), id), store };
}

describe('a conversation that fills its window', () => {
  verifies(
    [
      'core:compression:threshold',
      'core:compression:under-threshold',
      'core:compression:head-kept',
      'core:compression:tail-kept',
      'core:compression:middle-summarised',
      'core:compression:prompt-renewed',
      'core:prompt:rebuilt-after-compression',
    ],
    'under the threshold nothing changes; over it the middle becomes one summary and the prompt is rebuilt once',
    async () => {
      const desk: Desk = { memory: 'old', builds: 0 };
      const model = answering({ contextWindow: 64_000 });
      const { conversation } = await filled({ model, desk }, 80);
      desk.memory = 'fresh';
      const before = conversation.history;
      assert.deepEqual(breaks(await say(conversation, 'still small')), []);
      assert.deepEqual(conversation.history.slice(0, 80), before.slice(0, 80));
      assert.equal(desk.builds, 1);
      const events = await say(conversation, words(9_000));
      assert.deepEqual(breaks(events), ['compression']);
      assert.equal(endOf(events).outcome, 'done');
      const after = conversation.history;
      assert.deepEqual(after.slice(0, 3), before.slice(0, 3));
      assert.ok(isSummary(after[3] ?? said('')));
      const tail = after.slice(4, -2);
      assert.ok(tail.length > 30);
      assert.deepEqual(tail, [...before.slice(0, 80), after.at(-4), after.at(-3)].slice(-tail.length));
      assert.equal(after.filter(isSummary).length, 1);
      assert.match(liveSummary(conversation), /## Decisions\n- Postgres, not MySQL #4/);
      assert.equal(desk.builds, 2);
      const [asked] = model.requests.filter((request) => request.purpose === 'compress');
      assert.equal(asked?.tools.length, 0);
      const last = model.requests.at(-1);
      assert.match(last?.system ?? '', /fresh/);
      assert.deepEqual(last?.messages, after.slice(0, -1));
      await conversation.close();
    },
  );

  verifies(
    ['core:session:rebuilt-like-live', 'core:compression:summary-merged', 'core:compression:fetch-told'],
    'resumed after any number of compressions it sends what the live one sends; the summary grows by merging, not by rewording',
    async () => {
      const store = tempSessionStore(clock);
      let turn = 0;
      const summary = () => `## Done\n- step ${turn} was done #${turn}\n## Open\n- question ${turn} #${turn}`;
      const model = answering({ summary });
      const live = await open(conversationParts({ store, model }));
      let broken = 0;
      for (; turn < 40; turn += 1) broken += breaks(await say(live, `turn ${turn} ${words(400)}`)).length;
      assert.ok(broken >= 3, `${broken} compressions`);
      const text = liveSummary(live);
      const done = [...text.matchAll(/step (\d+) was done/g)].map((match) => Number(match[1]));
      assert.equal(done.length, broken, 'each compression left its own line as it was');
      assert.deepEqual(
        done,
        [...done].sort((a, b) => a - b),
      );
      const [, from = '', to = ''] =
        new RegExp(`Session ${live.session.id}: messages (\\d+) to (\\d+)`).exec(text) ?? [];
      assert.ok(Number(from) > 0 && Number(to) > Number(from));
      assert.match(text, /session_search with that session_id and around_message_id/);
      await live.close();
      const again = await open(conversationParts({ store, model }), live.session.id);
      assert.deepEqual(again.history, live.history);
      assert.deepEqual(again.prompt, live.prompt);
      const events = await say(again, 'and now?');
      const start = events.find((event) => event.type === 'turn-start');
      assert.equal(start?.type === 'turn-start' && start.turn, 41);
      await again.close();
    },
  );

  verifies(
    'core:compression:provider-told',
    'hooks are told before messages go, with all of them there; a hook that fails stops nothing',
    async () => {
      const seen: number[] = [];
      const hooks: Hooks[] = [
        { name: 'flush', beforeCompress: async (_session, messages) => void seen.push(messages.length) },
        { name: 'broken', beforeCompress: () => Promise.reject(new Error('no provider')) },
      ];
      const { conversation } = await filled({ model: answering(), hooks }, 40);
      const events = await say(conversation, 'go');
      assert.deepEqual(seen, [40]);
      assert.deepEqual(breaks(events), ['compression']);
      assert.ok(events.some((event) => event.type === 'hook-failed' && event.at === 'beforeCompress'));
      await conversation.close();
    },
  );

  verifies(
    'core:compression:by-hand',
    'it can be compressed on request, and says when there is nothing to gain',
    async () => {
      const { conversation, store } = await filled({ model: answering({ contextWindow: 64_000 }) }, 60);
      const events = await Array.fromAsync(conversation.compress(signal));
      assert.deepEqual(breaks(events), ['compression']);
      assert.match(
        notices(events).join(),
        /compressed \d+ messages: about 18K tokens became .*; session_search finds them/,
      );
      const again = await Array.fromAsync(conversation.compress(signal));
      assert.deepEqual(breaks(again), []);
      assert.match(notices(again).join(), /nothing to compress/);
      assert.equal(
        (await store.costs()).some((row) => row.purpose === 'compress' && row.calls === 1),
        true,
      );
      const turn = conversation.send('x', { signal });
      await turn.next();
      await assert.rejects(conversation.compress(signal).next(), (error) => errorCode(error) === 'turn-running');
      await turn.return();
      await conversation.close();
    },
  );

  verifies(
    'core:compression:failed-summariser',
    'a summariser that fails changes nothing while there is room; when there is none, quotations stand in; both are told',
    async () => {
      for (const summary of [
        () => ({ error: 'model-overloaded' }) as const,
        () => 'I would rather talk about boats.',
      ]) {
        const model = answering({ summary, contextWindow: 32_768 });
        const { conversation } = await filled({ model }, 56);
        const before = conversation.history.slice(0, 56);
        const first = await say(conversation, 'go');
        assert.match(notices(first).join(), /not compressed, the conversation is as it was/);
        assert.deepEqual(conversation.history.slice(0, 56), before);
        assert.deepEqual(notices(await say(conversation, 'on')), [], 'it does not try again at once');
        const pressed = await say(conversation, words(11_000));
        assert.match(notices(pressed).join(), /no summary .*quotations and exact values stand in/);
        assert.deepEqual(breaks(pressed), ['compression']);
        assert.match(liveSummary(conversation), /## Goal[\s\S]*- user: ask \d+ harbour/);
        await conversation.close();
      }
    },
  );

  test('without a model quotations stand in, and no call is made', async () => {
    const reflex = createScriptedModel(['seen', 'seen'], { tier: 'T0', traits: { contextWindow: 16_384 } });
    const { conversation } = await filled({ model: reflex }, 40);
    const events = await say(conversation, 'go');
    assert.deepEqual(breaks(events), ['compression']);
    assert.match(notices(events).join(), /no model is there/);
    assert.equal(reflex.requests.length, 1);
    await conversation.close();
  });

  verifies(
    'core:compression:useless-stops',
    'after two useless compressions it stops trying, and a turn that does not fit fails with a code and a way out',
    async () => {
      const store = tempSessionStore(clock);
      const { id } = await store.create({ source: 'test', cwd: '/' });
      await store.append(id, userMessage('start'));
      await store.append(id, said('ready'));
      const model = answering({ contextWindow: 16_384 });
      const conversation = await open(conversationParts({ store, model }), id);
      const events = await say(conversation, words(15_000));
      assert.match(notices(events).join(), /frees almost nothing/);
      const { outcome, error } = endOf(events);
      assert.equal(outcome, 'failed');
      assert.equal(error?.code, 'context-full');
      assert.match(error?.fix ?? '', /new session/);
      assert.deepEqual(breaks(events), []);
      assert.equal(model.requests.length, 0);
      await conversation.close();
    },
  );

  verifies(
    'core:compression:context-full-retried',
    'a conversation that the provider refuses as too long is compressed and the step is tried once more',
    async () => {
      let refused = 0;
      const answer = () => (refused++ === 0 ? ({ error: 'model-context-full' } as const) : 'It fits now.');
      const { conversation } = await filled({ model: answering({ answer, contextWindow: 128_000 }) }, 120);
      const events = await say(conversation, 'go');
      assert.deepEqual(breaks(events), ['compression']);
      assert.equal(endOf(events).text, 'It fits now.');
      assert.equal(refused, 2);
      await conversation.close();
      const always = answering({ answer: () => ({ error: 'model-context-full' }), contextWindow: 128_000 });
      const stuck = await filled({ model: always }, 120);
      assert.equal(endOf(await say(stuck.conversation, 'go')).error?.code, 'model-context-full');
      await stuck.conversation.close();
    },
  );

  verifies(
    ['core:compression:pairs-kept', 'core:compression:small-windows'],
    'a long turn with tools in an 8K window is compressed in mid-turn, keeps the owner’s words, and comes to its end',
    async () => {
      let calls = 0;
      const answer = () =>
        calls++ < 24
          ? { calls: [{ name: 'echo', arguments: { text: words(250) }, callId: `c${calls}` }] }
          : 'All done.';
      const model = answering({ answer, contextWindow: 8_192 });
      const store = tempSessionStore(clock);
      const conversation = await open({
        ...conversationParts({ store, model }),
        buildPrompt: () => ({
          system: words(2_800),
          tools: [{ name: 'echo', description: 'Echo.', parameters: { type: 'object' } }],
        }),
        machine: { ...conversationParts({ store, model }).machine, stop: [] },
      });
      const events = await say(conversation, 'count the boats in bay 4417');
      assert.equal(endOf(events).text, 'All done.');
      assert.ok(breaks(events).length >= 1);
      for (const request of model.requests) {
        if (request.purpose !== 'answer') continue;
        assert.deepEqual(unansweredCalls(request.messages), []);
        assert.ok(request.messages.some((message) => JSON.stringify(message).includes('boats in bay 4417')));
        const size = promptTokens({ ...request, tools: request.tools }) + JSON.stringify(request.messages).length / 4;
        assert.ok(size < 8_192, `${size} tokens`);
      }
      await conversation.close();
    },
  );

  test('the task list is still there for its tool after its last result went', async () => {
    const store = tempSessionStore(clock);
    const { id } = await store.create({ source: 'test', cwd: '/' });
    for (const text of ['a', 'b']) await store.append(id, userMessage(text));
    await store.append(id, said('c'));
    await store.append(id, called('t', 'todo', {}));
    await store.append(id, gave('t', 'todo', '[x] 1: buy rope\n[ ] 2: paint the hull\n[>] 3: check the mast'));
    for (let i = 0; i < 30; i += 1) await store.append(id, i % 2 ? said(words(400)) : userMessage(words(400)));
    const conversation = await open(conversationParts({ store, model: answering() }), id);
    assert.deepEqual(breaks(await say(conversation, 'go')), ['compression']);
    assert.match(
      liveSummary(conversation),
      /## Tasks\n\[ \] 2: paint the hull\n\[>\] 3: check the mast\n\[x\] 1: buy rope/,
    );
    assert.deepEqual(
      readTodos(conversation.history).map(({ id: number, status }) => `${number} ${status}`),
      ['2 pending', '3 in_progress', '1 completed'],
    );
    await conversation.close();
  });

  test('a window that is smaller than its traits say is learnt from the refusal', async () => {
    const answer = ({ messages }: ModelRequest) =>
      JSON.stringify(messages).length / 4 > 6_000 ? ({ error: 'model-context-full' } as const) : 'It fits.';
    const { conversation } = await filled({ model: answering({ answer, contextWindow: 128_000 }) }, 40);
    const refused: string[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      const events = await say(conversation, `turn ${turn} ${words(300)}`);
      assert.equal(endOf(events).text, 'It fits.');
      refused.push(...breaks(events));
    }
    assert.ok(refused.length >= 1);
    await conversation.close();
  });

  test('a store that cannot write fails the turn with its code and leaves the old state', async () => {
    const { conversation, store } = await filled({ model: answering() }, 40);
    const before = conversation.history;
    const error = new TalariaError('no space left', { code: 'disk-full' });
    Object.assign(store, { compact: () => Promise.reject(error) });
    const events = await say(conversation, 'go');
    assert.equal(endOf(events).error?.code, 'disk-full');
    assert.deepEqual(breaks(events), []);
    assert.deepEqual(conversation.history, before);
    await conversation.close();
  });

  verifies(
    ['core:compression:fetch-told', 'core:compression:rows-kept'],
    'with the numbers that the summary names, session_search gives the compressed messages word for word',
    async (t) => {
      const store = createSqliteSessionStore({ path: join(createTempHome(t).path, 'state.db') });
      const { conversation } = await filled({ model: answering(), store }, 40);
      const { id } = conversation.session;
      const [, , , fourth] = await store.messages(id);
      assert.deepEqual(breaks(await say(conversation, 'go')), ['compression']);
      const [, named = '', from = ''] = /^Session (\S+): messages (\d+) to/m.exec(liveSummary(conversation)) ?? [];
      assert.deepEqual([named, Number(from)], [id, fourth?.id]);
      const tool = createSessionSearchTool(store) as unknown as Tool<unknown>;
      const input = tool.input.parse({ session_id: named, around_message_id: Number(from) });
      const context = { sessionId: id, callId: 'c', cwd: '/', clock, asker: absentAsker, spillFolder: '/' };
      const aside = { history: () => [], redact: (text: string) => text, progress: () => undefined };
      const { text } = await tool.run(input, { ...context, ...aside }, signal);
      assert.match(text, /answer 3 harbour water light/);
      assert.doesNotMatch(text, /Word for word/);
      const found = await store.search('answer 3 harbour', { limit: 3 });
      assert.ok(found.length > 0);
      await conversation.close();
      await store.close();
    },
  );

  test('stopped while the summary is written, the old state stands', async () => {
    const { conversation, store } = await filled({ model: answering({ summary: () => ({ hang: true }) }) }, 40);
    const before = conversation.history;
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('enough')), 20);
    const events = await Array.fromAsync(conversation.send('go', { signal: stop.signal }));
    assert.equal(endOf(events).outcome, 'aborted');
    assert.deepEqual(conversation.history, before);
    assert.equal((await store.messages(conversation.session.id)).length, 40);
    await conversation.close();
  });
});

describe('what the provider counts', () => {
  const sizeOf = ({ system, tools, messages }: ModelRequest) =>
    messages.reduce((sum, message) => sum + messageTokens(message), promptTokens({ system, tools }));

  /** A model whose tokenizer makes so many tokens of one of ours. */
  const counting = (factor: number) =>
    answering({
      contextWindow: 64_000,
      answer: (request) => ({ reply: 'Noted.', usage: { inputTokens: Math.round(factor * sizeOf(request)) } }),
    });

  test('first hour 8: a provider that counts twice our estimate has its conversation compressed at half the size', async () => {
    const { conversation } = await filled({ model: counting(2) }, 80);
    assert.deepEqual(breaks(await say(conversation, 'one')), [], 'nobody has counted yet');
    const events = await say(conversation, 'two');
    assert.deepEqual(breaks(events), ['compression']);
    assert.match(notices(events).join(), /about (?:4\d|5\d)K tokens became/);
    assert.deepEqual(breaks(await say(conversation, 'three')), []);
  });

  test('first hour 8: one that counts less lets it grow, and a count of something else is not believed', async () => {
    const { conversation } = await filled({ model: counting(0.6) }, 80);
    await say(conversation, 'one');
    assert.deepEqual(breaks(await say(conversation, words(9_000))), []);
    const cached = await filled({ model: counting(0.01) }, 80);
    await say(cached.conversation, 'one');
    assert.deepEqual(breaks(await say(cached.conversation, words(9_000))), ['compression']);
  });
});
