// The learning loop over real stores and doors: what reviews may do, what becomes of what they propose.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ModelRequest } from '#core/model/model-client.ts';
import { createScriptedJudge } from '#testing/scripted-judge.ts';
import type { ScriptedStep } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { answerOf, openWorld, say } from './learning-world.ts';
import { idOf, proposeSkill, RELEASE, reviewRequests, SKILL, scripted, settle } from './release-script.ts';

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
      const world = openWorld(t, { model });
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
      const world = openWorld(t, { model });
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
      const keep = (request: ModelRequest): ScriptedStep => ({
        calls: [
          {
            name: 'memory',
            arguments: {
              action: 'add',
              target: 'user',
              content: 'The user prefers tabs over spaces.',
              evidence: [{ message_id: idOf(request, /prefer tabs/), quote: 'I prefer tabs over spaces' }],
            },
          },
        ],
      });
      const model = scripted(t, ['Tabs it is.', keep, 'Kept one entry.']);
      const world = openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
      const talk = await world.open();
      await say(talk, 'By the way, I prefer tabs over spaces in everything.');
      await settle(world);
      assert.deepEqual(world.learning.announcements(talk.session.id), [
        'Kept in USER.md: "The user prefers tabs over spaces." · /undo takes it back',
      ]);
      assert.deepEqual(world.learning.announcements(talk.session.id), []);
      const state = world.memory.read('user');
      assert.ok(state.ok && state.value.entries.includes('The user prefers tabs over spaces.'));
      const undone = await world.learning.undoLast(talk.session.id);
      assert.ok(undone.ok, JSON.stringify(undone));
      const after = world.memory.read('user');
      assert.deepEqual(after.ok && after.value.entries, []);
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
      const world = openWorld(t, { model, judge, settings: { intervals: { memory: 1, skills: 0 } } });
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
      const world = openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
      const talk = await world.open();
      await say(talk, 'hello there, friend');
      await settle(world);
      assert.equal(reviewRequests(model).length, 8);
      const state = world.memory.read('memory');
      assert.deepEqual(state.ok && state.value.entries, []);
      await talk.close();
    },
  );

  test('a review may run nothing but its own tools', async (t) => {
    const model = scripted(t, ['Hello.', { calls: [{ name: 'terminal', arguments: { command: 'rm x' } }] }, 'Well.']);
    const world = openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
    const talk = await world.open();
    await say(talk, 'hello there, friend');
    await settle(world);
    assert.match(JSON.stringify(reviewRequests(model).at(-1)?.messages.at(-1)), /tool-not-allowed/);
    await talk.close();
  });

  test('always: later skills of reviews are kept and announced; no: the same one is not offered again', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = openWorld(t, { model });
    const first = await world.open();
    await say(first, 'release a new version');
    await first.close();
    await settle(world);
    const rejected = await world.learning.reject(world.learning.offers()[0]?.id ?? '');
    assert.ok(rejected.ok);
    model.push(...RELEASE, 'Released.', proposeSkill, 'Done.');
    const second = await world.open();
    await say(second, 'release a new version');
    await second.close();
    await settle(world);
    assert.deepEqual(world.learning.offers(), []);
    assert.match(world.logged.join('\n'), /rejected-before/);
  });

  verifies('core:learning:after-the-answer', 'a review that hangs holds no turn up', async (t) => {
    const model = scripted(t, ['Noted.', { hang: true }, 'Still here.']);
    const world = openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
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
      const world = openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
      const talk = await world.open();
      await say(talk, names.map(fact).join(', '));
      const own = ['one', 'two', 'three'].map((name) =>
        world.memory.apply('memory', [{ action: 'add', content: `note ${name}` }]),
      );
      await Promise.all([...own, settle(world)]);
      const state = world.memory.read('memory');
      assert.deepEqual(
        state.ok && [...state.value.entries].sort(),
        ['note one', 'note three', 'note two', ...names.map(fact)].sort(),
      );
      await talk.close();
    },
  );
});
