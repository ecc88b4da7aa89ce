import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { localMidnight } from '#base/clock.ts';
import { userMessage } from '#core/model/message.ts';
import type { SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { verifies } from '../../../verifies.ts';
import { withStore } from '../temp-store.ts';

interface Line {
  readonly text: string;
  readonly speaker?: string;
  readonly at?: number;
}

async function tell(store: SqliteSessionStore, lines: readonly (Line | string)[]): Promise<readonly number[]> {
  const { id } = await store.create({ source: 'cli', cwd: '/' });
  const ids: number[] = [];
  for (const line of lines) {
    const { text, ...extras } = typeof line === 'string' ? { text: line } : line;
    ids.push((await store.append(id, userMessage(text), extras)).id);
  }
  return ids;
}

const FILLER = [
  'Good morning!',
  'The weather is fine.',
  'I had soup.',
  'See you soon.',
  'That sounds great.',
  'Of course.',
];

async function firstHit(store: SqliteSessionStore, question: string): Promise<number | undefined> {
  return (await store.search(question, { limit: 5 }))[0]?.messageId;
}

describe('searching messages', () => {
  verifies(
    ['core:recall:natural-questions', 'core:session:index-user-and-assistant'],
    'a question in plain words finds the sentence in other word forms',
    () =>
      withStore(async (store) => {
        await tell(store, FILLER);
        const [, camping] = await tell(store, ['hello', 'We went camping with the children near the lake.', 'Nice.']);
        const [bought] = await tell(store, ['I bought a red bicycle for my daughter.', ...FILLER]);
        assert.equal(await firstHit(store, 'When did they go on the camp?'), camping);
        assert.equal(await firstHit(store, 'What was purchased or buys?'), bought);
        assert.equal(await firstHit(store, 'which bike did the kid get'), bought);
      }),
  );

  test('a typing error finds the word that was meant', () =>
    withStore(async (store) => {
      await tell(store, FILLER);
      const [museum] = await tell(store, ['The museum of natural history was wonderful.', ...FILLER]);
      assert.equal(await firstHit(store, 'musuem'), museum);
      assert.equal(await firstHit(store, 'wonderfull'), museum);
    }));

  test('rare words count more than common ones', () =>
    withStore(async (store) => {
      await tell(
        store,
        Array.from({ length: 40 }, (_, at) => `the project meeting number ${at}`),
      );
      const [rare] = await tell(store, ['the zeppelin of the project', 'ok']);
      assert.equal(await firstHit(store, 'project meeting about the zeppelin'), rare);
    }));

  test('the named speaker comes first', () =>
    withStore(async (store) => {
      const ids = await tell(store, [
        { text: 'I painted the garden fence.', speaker: 'Bela' },
        ...FILLER,
        { text: 'I painted the garden fence.', speaker: 'Cora' },
      ]);
      assert.equal(await firstHit(store, 'What did Bela paint?'), ids[0]);
      assert.equal(await firstHit(store, 'What did Cora paint?'), ids.at(-1));
    }));

  test('the answer after a question is found though it shares no word with it', () =>
    withStore(async (store) => {
      await tell(store, FILLER);
      const ids = await tell(store, [...FILLER, 'What is the name of your parrot?', 'Captain Flint.', ...FILLER]);
      const hits = await store.search('name of the parrot', { limit: 3 });
      assert.ok(hits.some((hit) => hit.messageId === ids[FILLER.length + 1]));
    }));

  test('a date in the question prefers messages of that time; of equal ones the newer comes first', () => {
    const clock = createManualClock({ now: localMidnight(2026, 3, 18) + 43_200_000 });
    return withStore(async (store) => {
      const times = [localMidnight(2025, 7, 4), localMidnight(2025, 9, 4), localMidnight(2026, 3, 10)];
      const ids: number[] = [];
      for (const at of times) ids.push(...(await tell(store, [{ text: 'we decided about the budget', at }])));
      assert.equal(await firstHit(store, 'what did we decide about the budget in July?'), ids[0]);
      assert.equal(await firstHit(store, 'what did we decide about the budget last week?'), ids[2]);
      assert.equal(await firstHit(store, 'what did we decide about the budget in 2025-09?'), ids[1]);
      assert.equal(await firstHit(store, 'what did we decide about the budget?'), ids[2]);
    }, clock);
  });

  verifies('core:recall:cjk', 'Chinese, Japanese and Korean are found, also by one character', () =>
    withStore(async (store) => {
      await tell(store, FILLER);
      const ids = await tell(store, [
        '我们昨天去了东京的博物馆。',
        '昨日は京都で寿司を食べました。',
        '어제 서울에서 김치를 먹었어요.',
        'ok',
      ]);
      assert.equal(await firstHit(store, '博物馆'), ids[0]);
      assert.equal(await firstHit(store, '馆'), ids[0]);
      assert.equal(await firstHit(store, '寿司はどこで食べましたか'), ids[1]);
      assert.equal(await firstHit(store, '鮨'), undefined);
      assert.equal(await firstHit(store, '김치'), ids[2]);
    }),
  );

  test('what holds no word is searched as plain text', () =>
    withStore(async (store) => {
      const [plus] = await tell(store, ['the operator <=> compares', 'C++ and 100% _sure_', ...FILLER]);
      assert.equal(await firstHit(store, '<=>'), plus);
      assert.equal((await store.search('100%'))[0]?.snippet.includes('100'), true);
      assert.deepEqual(await store.search('%'), await store.search('%'));
      assert.equal((await store.search('%')).length, 1);
      assert.deepEqual(await store.search('¿¿¿'), []);
      assert.deepEqual(await store.search('   '), []);
    }));

  test('tool output is found when it is asked for, and only then', () =>
    withStore(async (store) => {
      const { id } = await store.create({ source: 'cli', cwd: '/' });
      const observed = { ms: 1, bytes: 9 };
      const part = {
        type: 'tool-result',
        callId: 'c',
        name: 'terminal',
        text: 'ENOSPC on /dev/sda1',
        isError: true,
        observed,
      } as const;
      const tool = await store.append(id, { role: 'tool', parts: [{ ...part, origin: 'foreign' }] });
      assert.deepEqual(await store.search('ENOSPC'), []);
      assert.equal((await store.search('ENOSPC', { roles: ['tool'] }))[0]?.messageId, tool.id);
      assert.equal((await store.search('enospc', { roles: ['user', 'tool'] }))[0]?.role, 'tool');
    }));

  test('labelled context and notices are not what was said', () =>
    withStore(async (store) => {
      const { id } = await store.create({ source: 'cli', cwd: '/' });
      const context = { type: 'text', text: 'injected walrus', origin: 'foreign', label: 'context' } as const;
      await store.append(id, userMessage('hello there', [context]));
      assert.deepEqual(await store.search('walrus'), []);
      assert.equal((await store.search('hello')).length, 1);
    }));

  verifies('core:recall:live-session-included', 'compacted rows are found, rewound ones are not', () =>
    withStore(async (store) => {
      const ids = await tell(store, ['the copper kettle', 'the silver kettle', 'the golden kettle']);
      const sessionId = (await store.search('kettle'))[0]?.sessionId ?? '';
      const summary = { type: 'text', text: 'a kettle of no metal', origin: 'model', label: 'summary' } as const;
      await store.compact(sessionId, { ids: ids.slice(0, 1), replacement: [{ role: 'user', parts: [summary] }] });
      const gone = await store.append(sessionId, userMessage('the wooden kettle'));
      assert.equal((await store.search('kettle')).length, 4);
      await store.rewind(sessionId, gone.id);
      assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
      await store.repairIndex();
      const found = (await store.search('kettle')).map((hit) => hit.messageId);
      assert.deepEqual(found.sort(), ids);
    }),
  );

  test('a fork does not show its copies a second time', () =>
    withStore(async (store) => {
      const { id } = await store.create({ source: 'cli', cwd: '/' });
      await store.append(id, userMessage('the amber lamp'));
      const fork = await store.fork(id);
      await store.append(fork.id, userMessage('the lamp is broken now'));
      assert.deepEqual((await store.search('lamp')).map((hit) => hit.sessionId).sort(), [id, fork.id].sort());
      assert.equal((await store.checkIndex()).agrees, true);
    }));

  verifies(
    'core:recall:fast-at-a-million',
    'statistics, candidates and cached lists stay right while rows arrive',
    () =>
      withStore(async (store) => {
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        const say = (text: string) => store.append(id, userMessage(text));
        await Promise.all(
          Array.from({ length: 1500 }, (_, at) => say(`entry ${at} about topic ${at % 7} and colour ${at % 11}`)),
        );
        assert.equal((await store.search('entry 77'))[0]?.snippet, '>>>entry<<< >>>77<<< about topic 0 and colour 0');
        const late = await say('entry 9999 arrived');
        assert.equal(await firstHit(store, 'entry 9999'), late.id);
        assert.equal((await store.search('entry topic', { limit: 25 })).length, 25);
        assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
        const counted = store.database.get<{ rows: number }>("SELECT rows FROM spoken_words WHERE word = 'entri'");
        assert.ok((counted?.rows ?? 0) >= 1024, 'the statistics were counted on the way');
      }),
  );
});
