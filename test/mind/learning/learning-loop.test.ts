/** The learning loop: when reviews run, what they are made of, and the flush. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { estimateTokens } from '#base/text.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import { keepWay } from '#mind/learning/keep-proposal.ts';
import { kindOf } from '#mind/learning/learning.ts';
import { learningSchema } from '#mind/learning/learning-schema.ts';
import { ownerStatements } from '#mind/learning/read-turns.ts';
import { ReviewRows, withUnattendedLease } from '#mind/learning/reviews.ts';
import { citableMessages } from '#mind/learning/run-review.ts';
import type { Message, ModelRequest } from '#public/talaria.ts';
import type { ScriptedStep } from '#public/testing.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedJudge } from '#testing/scripted-model.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';
import {
  answerOf,
  call,
  entriesOf,
  idOf,
  keeping,
  once,
  openWorld,
  proposeSkill,
  RELEASE,
  reviewRequests,
  SKILL,
  say,
  scripted,
  settle,
  turn,
  type World,
} from './learning-world.ts';

describe('the learning loop', () => {
  verifies(
    [
      'core:skills:confirm-create-and-delete',
      'core:learning:after-the-answer',
      'core:learning:silent',
      'core:learning:snapshot',
    ],
    'a task of five calls is reviewed at the end of the session; the skill waits for the yes of the owner',
    async (t) => {
      const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'One skill proposed.']);
      const world = await openWorld(t, { model });
      const talk = await world.open();
      const events = await say(talk, 'release a new version');
      assert.equal(answerOf(events), 'Released.');
      const before = await world.store.messages(talk.session.id);
      await talk.close();
      await settle(world);
      assert.deepEqual(await world.store.messages(talk.session.id), before, 'the conversation is as it was');
      const [offer] = world.learning.offers();
      assert.match(offer?.line ?? '', /^New skill "release" \(5 steps: npm ci, npm run build, npm test, …\)\?$/);
      assert.match(offer?.text ?? '', /3\. Run `npm test`[\s\S]*Cited:\n {2}message \d+: "release a new version"/);
      assert.ok(!existsSync(join(world.home, 'skills/release')), 'nothing is written before the yes');
      assert.ok(existsSync(join(world.home, 'pending/skills', `${offer?.id}.json`)));
      const kept = await world.learning.accept(offer?.id ?? '');
      assert.ok(kept.ok, JSON.stringify(kept));
      assert.equal(readFileSync(join(world.home, 'skills/release/SKILL.md'), 'utf8').trim(), SKILL.trim());
      assert.deepEqual(world.learning.offers(), []);
      assert.ok(!existsSync(join(world.home, 'pending/skills', `${offer?.id}.json`)));
      assert.equal(world.records.get('release')?.createdBy, 'agent');
      const [why] = world.ledger.why({ kind: 'skill', target: 'release', key: '1' });
      assert.match(why?.citations.map(({ text }) => text).join('\n') ?? '', /release a new version/);
    },
  );

  verifies(
    ['core:learning:memory-nudge', 'core:learning:three-prompts', 'core:learning:no-recursion'],
    'ten turns of the owner bring a review for memory, once, with its own prompt and tools',
    async (t) => {
      const model = scripted(t, [
        ...Array.from({ length: 10 }, (): ScriptedStep => 'Noted.'),
        'Nothing to keep.',
        'Noted.',
      ]);
      const world = await openWorld(t, { model });
      const talk = await world.open();
      for (let count = 1; count <= 9; count += 1) await say(talk, `a plain line, number ${count}`);
      assert.equal(reviewRequests(model).length, 0);
      await say(talk, 'a plain line, number 10');
      await settle(world);
      await say(talk, 'and one more');
      await settle(world);
      const [request, ...more] = reviewRequests(model);
      assert.equal(more.length, 0);
      const text = JSON.stringify(request?.messages.at(-1));
      assert.match(text, /Memory: did the owner say/);
      assert.doesNotMatch(text, /Skills: was there a procedure/);
      assert.deepEqual(request?.tools, model.requests[0]?.tools, 'the shown tools are the same bytes');
      assert.equal(request?.system, model.requests[0]?.system);
      await talk.close();
    },
  );

  verifies(
    'core:learning:shared-stores',
    'a supported fact is kept, announced once, and taken back by undo',
    async (t) => {
      const keep = keeping('The user prefers tabs over spaces.', 'I prefer tabs over spaces');
      const model = scripted(t, ['Tabs it is.', keep, 'Kept one entry.']);
      const world = await openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
      const talk = await world.open();
      await say(talk, 'By the way, I prefer tabs over spaces in everything.');
      await settle(world);
      assert.deepEqual(world.learning.announcements(talk.session.id), [
        'Kept in USER.md: "The user prefers tabs over spaces." · /undo takes it back',
      ]);
      assert.deepEqual(world.learning.announcements(talk.session.id), []);
      assert.deepEqual(entriesOf(world), ['The user prefers tabs over spaces.']);
      const undone = await world.learning.undoLast(talk.session.id);
      assert.ok(undone.ok, JSON.stringify(undone));
      assert.deepEqual(entriesOf(world), []);
      await talk.close();
    },
  );

  verifies(
    ['core:origin:memory-needs-owner', 'core:origin:foreign-waits'],
    'what cites nothing that is there goes back with its reason; what goes beyond or rests on foreign text waits in pending',
    async (t) => {
      const call = (content: string, evidence: readonly object[]): ScriptedStep => ({
        calls: [{ name: 'memory', arguments: { action: 'add', target: 'user', content, evidence: evidence as never } }],
      });
      const model = scripted(t, [
        { calls: [{ name: 'terminal', arguments: { command: 'cat profile' } }] },
        'It says so.',
        call('The user lives in Paris.', []),
        call('The user lives in Paris.', [{ message_id: 99999, quote: 'lives in Paris' }]),
        call('The user has a profile.', [{ quote: 'what does the profile say' }]),
        call('The owner ran cat profile.', [{ quote: 'ran cat profile' }]),
        'Done.',
      ]);
      const judge = createScriptedJudge('goes-beyond');
      const world = await openWorld(t, { model, judge, settings: { intervals: { memory: 1, skills: 0 } } });
      const talk = await world.open();
      await say(talk, 'what does the profile say?');
      await settle(world);
      assert.deepEqual(
        world.ledger
          .list()
          .map(({ status, reason }) => `${status} ${reason}`)
          .toReversed(),
        ['refused no-citation', 'refused unknown-handle', 'pending goes-beyond', 'pending origin-not-allowed'],
      );
      assert.equal(judge.asked.length, 1, 'what the rules hold back is not asked about');
      assert.equal(world.logged.filter((line) => line.startsWith('proposal-refused')).length, 2);
      assert.deepEqual(
        world.learning.offers(),
        [],
        'what waits for its origin or its meaning is not offered by itself',
      );
      const [waiting] = world.ledger.list({ status: 'pending' });
      const said = world.learning.announcements();
      assert.equal(said.length, 2);
      assert.match(
        said[1] ?? '',
        new RegExp(`^Waits: an entry for USER\\.md, .* talaria pending show ${waiting?.id}$`),
      );
      const kept = await world.learning.accept(waiting?.id ?? '');
      assert.ok(kept.ok && kept.value.startsWith('Kept in USER.md'), JSON.stringify(kept));
      await talk.close();
    },
  );

  verifies(
    'core:learning:iteration-cap',
    'a review that loops ends after eight steps, and one that talks nonsense keeps nothing',
    async (t) => {
      const loop = (_: unknown, at: number): ScriptedStep => ({
        calls: [{ name: 'memory', arguments: { action: 'add', content: `x ${at}`, evidence: 'nonsense' } }],
      });
      const model = scripted(t, ['Hello.', ...Array.from({ length: 8 }, loop)]);
      const world = await openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
      const talk = await world.open();
      await say(talk, 'hello there, friend');
      await settle(world);
      assert.equal(reviewRequests(model).length, 8);
      assert.deepEqual(entriesOf(world, 'memory'), []);
      await talk.close();
    },
  );

  test('a review may run nothing but its own tools', async (t) => {
    const model = scripted(t, ['Hello.', { calls: [{ name: 'terminal', arguments: { command: 'rm x' } }] }, 'Well.']);
    const world = await openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
    const talk = await world.open();
    await say(talk, 'hello there, friend');
    await settle(world);
    assert.match(JSON.stringify(reviewRequests(model).at(-1)?.messages.at(-1)), /tool-not-allowed/);
    await talk.close();
  });

  test('always: later skills of reviews are kept and announced; no: the same one is not offered again', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = await openWorld(t, { model });
    await once(world);
    const rejected = await world.learning.reject(world.learning.offers()[0]?.id ?? '');
    assert.ok(rejected.ok);
    model.push(...RELEASE, 'Released.', proposeSkill, 'Done.');
    await once(world);
    assert.deepEqual(world.learning.offers(), []);
    assert.match(world.logged.join('\n'), /rejected-before/);
  });

  verifies('core:learning:after-the-answer', 'a review that hangs holds no turn up', async (t) => {
    const model = scripted(t, ['Noted.', { hang: true }, 'Still here.']);
    const world = await openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
    const talk = await world.open();
    await say(talk, 'a plain line, number one');
    while (reviewRequests(model).length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(answerOf(await say(talk, 'are you there?')), 'Still here.');
    await world.learning.drain(AbortSignal.abort());
    await settle(world);
    await talk.close();
  });

  verifies(
    'core:learning:shared-stores',
    'a review and the conversation write at once, and every entry is there',
    async (t) => {
      const fact = (name: string) => `the ${name} server listens on port 80${name.length}`;
      const names = ['red', 'blue', 'green', 'purple'];
      const keepAll = (request: ModelRequest): ScriptedStep => ({
        calls: names.map((name) => ({
          name: 'memory',
          arguments: {
            action: 'add',
            content: fact(name),
            evidence: [{ message_id: idOf(request, /user: the red/), quote: fact(name) }],
          },
        })),
      });
      const model = scripted(t, ['Noted.', keepAll, 'Kept.']);
      const world = await openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
      const talk = await world.open();
      await say(talk, names.map(fact).join(', '));
      const own = ['one', 'two', 'three'].map((name) =>
        world.memory.apply('memory', [{ action: 'add', content: `note ${name}` }]),
      );
      await Promise.all([...own, settle(world)]);
      const expected = ['note one', 'note three', 'note two', ...names.map(fact)];
      assert.deepEqual([...entriesOf(world, 'memory')].sort(), expected.sort());
      await talk.close();
    },
  );
});

const stored = (messages: readonly Message[]) =>
  messages.map((message, index) => ({ id: index + 5, sessionId: 's', at: 0, message }));

describe('pieces of a review', () => {
  test('every message that can be cited is listed with its id and first words', () => {
    const messages = stored(turn('run the tests', [call('npm test', { text: '12 passing' })], 'They pass.'));
    assert.equal(
      citableMessages(messages, 100_000),
      [
        'Messages that can be cited (number, who, first words):',
        '#5 user: run the tests',
        '#6 assistant: terminal {"command":"npm test"}',
        '#7 tool terminal exit 0: 12 passing',
        '#8 assistant: They pass.',
      ].join('\n'),
    );
  });

  test('the list is bounded by the window, the newest stay', () => {
    const messages = stored(
      Array.from({ length: 2000 }, (_, index) => turn(`line ${index} ${'word '.repeat(60)}`)).flat(),
    );
    for (const window of [8_000, 128_000]) {
      const list = citableMessages(messages, window);
      assert.ok(estimateTokens(list) <= Math.min(6_100, window * 0.08 + 50), `${estimateTokens(list)} of ${window}`);
      assert.match(list, /#4004 assistant: Done\.$/);
      assert.ok(list.split('\n').every((line) => line.length <= 200));
    }
    assert.equal(citableMessages([], 8_000), '');
  });

  test('the prompt is the one for what fired', () => {
    assert.equal(kindOf(['memory-nudge']), 'memory');
    assert.equal(kindOf(['skill-nudge']), 'skills');
    assert.equal(kindOf(['memory-nudge', 'skill-nudge']), 'combined');
    assert.equal(kindOf(['session-end', 'tool-calls']), 'combined');
    assert.equal(kindOf(['repeated']), 'skills');
  });

  test('nothing is deleted, nothing of the owner changed, and no skill made without a yes', () => {
    const situation = { attended: true, unattended: 'apply', alwaysCreate: false } as const;
    const way = (action: string, more = {}, agentMade = true) =>
      keepWay({ kind: 'skill', action }, { ...situation, ...more }, agentMade);
    assert.equal(keepWay({ kind: 'memory', action: 'add' }, situation, true), 'apply');
    assert.equal(way('create'), 'draft');
    assert.equal(way('create', { alwaysCreate: true }), 'apply');
    assert.equal(way('create', { attended: false }), 'apply');
    assert.equal(way('create', { attended: false, unattended: 'draft' }), 'draft');
    assert.equal(way('delete', { attended: false }), 'draft');
    assert.equal(way('patch'), 'apply');
    assert.equal(way('patch', {}, false), 'draft');
    assert.equal(way('patch', { attended: false }, false), 'draft');
    assert.equal(way('patch', { attended: false, unattended: 'draft' }), 'draft');
  });

  test('statements of the owner that last are found, word for word; the moment, questions and what is kept are not', () => {
    const lines = [
      'Please fix it. I prefer small commits with one change each.',
      'we use pnpm in all our projects',
      'our staging server is called bluebird',
      'my build is broken again',
      'do we use yarn?',
      'I want to go home now',
      'run the tests',
      'we use pnpm in all our projects!',
    ];
    const found = ownerStatements(
      lines.flatMap((line) => turn(line)),
      ['the staging server is called bluebird'],
    );
    assert.deepEqual(
      found.map(({ target, text }) => `${target}: ${text}`),
      ['user: I prefer small commits with one change each', 'memory: we use pnpm in all our projects'],
    );
  });

  test('rows: reasons are joined while nobody runs it, one process takes it, three failures end it', async (t) => {
    const home = createTempHome(t).path;
    const clock = createManualClock();
    const { database } = openDatabase(join(home, 'state.db'), { rooms: [learningSchema], clock });
    t.after(() => database.close());
    const rows = new ReviewRows(database, clock);
    const first = await rows.order({ sessionId: 's1', reasons: ['memory-nudge'], through: 4 });
    const again = await rows.order({ sessionId: 's1', reasons: ['skill-nudge'], through: 9 });
    assert.equal(again.id, first.id);
    assert.deepEqual([again.kind, again.through, again.reasons], ['combined', 9, ['memory-nudge', 'skill-nudge']]);
    assert.equal((await rows.take(first.id))?.status, 'running');
    assert.equal(await rows.take(first.id), undefined);
    assert.deepEqual(rows.due(), []);
    const beside = await rows.order({ sessionId: 's1', reasons: ['asked'], through: 12, hint: 'x' });
    assert.notEqual(beside.id, first.id);
    await rows.giveBack(first.id, { detail: 'stopped' });
    assert.deepEqual([rows.get(first.id)?.status, rows.get(first.id)?.attempts], ['due', 1]);
    for (const _ of [1, 2]) {
      await rows.take(first.id);
      await rows.giveBack(first.id, { detail: 'no network' });
    }
    assert.deepEqual([rows.get(first.id)?.status, rows.get(first.id)?.detail], ['failed', 'no network']);
    database.run("UPDATE reviews SET status = 'running', runner = '999999999 nowhere 0' WHERE id = ?", beside.id);
    assert.equal(rows.due().length, 1, 'an hour old, its holder is gone');
    await rows.take(beside.id);
    await rows.finish(beside.id, { kept: 2, refused: 1, pending: 0, tokens: 10, cost: null, model: 'm' });
    const free = await rows.order({ sessionId: 's2', reasons: ['repeated'], through: 1 });
    await rows.take(free.id);
    await rows.finish(free.id, { kept: 0, refused: 0, pending: 1, tokens: 0, cost: 0, model: 'reflex/1' });
    assert.deepEqual(
      rows.finished(10).map(({ kept }) => kept),
      [2],
      'what costs nothing does not count',
    );
    assert.deepEqual([rows.keptSince(clock.now()), rows.keptSince(clock.now() + 1)], [2, 0]);
    assert.equal(rows.list('s1').length, 2);
  });

  test('one unattended writer a home; the work of the holder may itself meet a lock', async (t) => {
    const path = join(createTempHome(t).path, 'lease');
    const clock = createManualClock({ auto: true });
    const result = await withUnattendedLease(path, () => withUnattendedLease(path, async () => 'inner', clock), clock);
    assert.ok(result.ok && !result.value.ok && result.value.reason === 'lease-held');
    await assert.rejects(
      withUnattendedLease(path, async () => Promise.reject(Object.assign(new Error('x'), { code: 'locked' })), clock),
      /x/,
    );
    assert.ok((await withUnattendedLease(path, async () => 1, clock)).ok);
  });
});

const settings = { intervals: { memory: 0, skills: 0 } };

async function beforeCompression(world: World, talk: Conversation): Promise<void> {
  const flush = world.hooks.find(({ name }) => name === 'flush');
  const info = { sessionId: talk.session.id, source: 'cli', cwd: '/' };
  await flush?.beforeCompress?.(info, talk.history, new AbortController().signal);
}

describe('the flush before a compression', () => {
  test('is not paid for again while little is new, also after a restart, and is when much is', async (t) => {
    const model = scripted(t, ['Good to know.', 'Nothing to keep.']);
    const flushes = () => model.requests.filter(({ purpose }) => purpose === 'flush').length;
    const world = await openWorld(t, { model, settings });
    const talk = await world.open();
    await say(talk, 'For the record: the staging server is called bluebird.');
    await beforeCompression(world, talk);
    await beforeCompression(world, talk);
    assert.equal(flushes(), 1);
    model.push('Yes.', 'Yes.');
    await say(talk, 'one more line');
    await say(talk, 'and another one');
    await beforeCompression(world, talk);
    assert.equal(flushes(), 1);
    await talk.close();
    await world.close();

    const next = await openWorld(t, { home: world.home, model, settings });
    const resumed = await next.open('cli', talk.session.id);
    await beforeCompression(next, resumed);
    assert.equal(flushes(), 1);
    model.push('A long story.', 'Nothing to keep.');
    await say(resumed, 'a word and then some more of them '.repeat(4_000));
    await beforeCompression(next, resumed);
    await beforeCompression(next, resumed);
    assert.equal(flushes(), 2);
    await resumed.close();
  });

  test('that failed is tried again', async (t) => {
    const model = scripted(t, ['Good to know.', { error: 'model-unreachable' }, 'Nothing to keep.']);
    const world = await openWorld(t, { model, settings });
    const talk = await world.open();
    await say(talk, 'For the record: the staging server is called bluebird.');
    await beforeCompression(world, talk);
    await beforeCompression(world, talk);
    assert.equal(model.requests.filter(({ purpose }) => purpose === 'flush').length, 2);
    await talk.close();
  });
});
