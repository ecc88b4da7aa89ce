// When reviews run: at the end, at the next start, by hand, before a compression, within the budget.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { NO_USAGE } from '#core/model/model-client.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import {
  entriesOf,
  keeping,
  once,
  openWorld,
  proposeSkill,
  RELEASE,
  reviewRequests,
  say,
  scripted,
  settle,
} from './learning-world.ts';

describe('when the learning loop runs', () => {
  test('a review that fails is due again, runs at the next start under the lease, and gives up after three tries', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', { error: 'model-unreachable' }]);
    const world = await openWorld(t, { model });
    await once(world);
    assert.equal((await world.learning.report()).reviews.due, 1);
    model.push({ error: 'model-unreachable' }, { error: 'model-unreachable' });
    const never = new AbortController().signal;
    assert.equal(await world.learning.runDue(never), 0);
    assert.equal(await world.learning.runDue(never), 0);
    assert.equal(await world.learning.runDue(never), 0);
    assert.equal((await world.learning.report()).reviews.due, 0);
    assert.equal(world.logged.filter((line) => line.startsWith('review-failed')).length, 3);
  });

  test('at exit a running review goes back to due; the next start runs it', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', { hang: true }]);
    const world = await openWorld(t, { model });
    const talk = await world.open();
    await say(talk, 'release a new version');
    await talk.close();
    await world.learning.drain(AbortSignal.timeout(50));
    await settle(world);
    const next = await openWorld(t, { home: world.home, model: scripted(t, [proposeSkill, 'Done.']) });
    assert.equal(await next.learning.runDue(new AbortController().signal), 1);
    assert.equal(next.learning.offers().length, 1);
  });

  test('a program that ends right after the task asks no model: the review is due', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.']);
    const clock = createManualClock();
    const world = await openWorld(t, { model, clock });
    const talk = await world.open();
    await say(talk, 'release a new version');
    await talk.close();
    await world.learning.drain(new AbortController().signal);
    await settle(world);
    assert.equal((await world.learning.report()).reviews.due, 1);
    assert.deepEqual(world.logged, []);
  });

  verifies(
    'core:learning:counters-rebuilt',
    'a resumed session goes on counting where it was, behind its last review',
    async (t) => {
      const lines = (count: number): ScriptedStep[] => Array.from({ length: count }, () => 'Noted.');
      const model = scripted(t, [...lines(3), 'Nothing to keep.', ...lines(2), ...lines(1), 'Nothing to keep.']);
      const settings = { intervals: { memory: 3, skills: 0 } };
      const world = await openWorld(t, { model, settings });
      const talk = await world.open();
      for (const count of [1, 2, 3, 4, 5]) {
        await say(talk, `a plain line, number ${count}`);
        await settle(world);
      }
      await talk.close();
      const again = await openWorld(t, { home: world.home, model, settings });
      const resumed = await again.open('cli', talk.session.id);
      assert.equal(reviewRequests(model).length, 1);
      await say(resumed, 'a plain line, number 6');
      await settle(again);
      assert.equal(reviewRequests(model).length, 2);
      await resumed.close();
    },
  );

  test('without budget a nudge waits and a session end is recorded as due', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.']);
    const world = await openWorld(t, {
      model,
      settings: { budget: { share: 0, floorPerDay: 0 }, intervals: { memory: 1, skills: 1 } },
    });
    await once(world);
    const report = await world.learning.report();
    assert.equal(report.reviews.due, 1);
    assert.equal(report.budget.left, 0);
  });

  test('unattended surfaces follow write_approval', async (t) => {
    for (const writeApproval of ['draft', 'apply'] as const) {
      const model = createScriptedModel([...RELEASE, 'Released.', proposeSkill, 'Done.']);
      const world = await openWorld(t, { model, settings: { writeApproval } });
      const talk = await world.open('api');
      await say(talk, 'release a new version');
      await talk.close();
      await settle(world);
      assert.equal(existsSync(join(world.home, 'skills/release')), writeApproval === 'apply');
      assert.equal(world.learning.offers().length, writeApproval === 'apply' ? 0 : 1);
    }
  });

  test('/learn reviews now and says what came of it', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = await openWorld(t, { model, settings: { enabled: false } });
    const talk = await world.open();
    await say(talk, 'release a new version');
    const learned = await world.learning.learnNow(talk.session.id, 'call it release', new AbortController().signal);
    assert.ok(learned.ok && learned.value.line === '1 waits for your yes.', JSON.stringify(learned));
    assert.match(
      JSON.stringify(reviewRequests(model)[0]),
      /The owner asked for this review and said: .{0,3}call it release/,
    );
    await talk.close();
    const none = await world.learning.learnNow('nobody', '', new AbortController().signal);
    assert.equal(none.ok || none.reason, 'no-such-session');
  });

  verifies(
    ['core:compression:flush-first', 'core:compression:flush-as-user-message', 'core:compression:flush-stripped'],
    'before a compression one call may keep facts; nothing of it stays in the conversation',
    async (t) => {
      const fact = 'The staging server is called bluebird.';
      const keep = keeping(fact, 'the staging server is called bluebird', 'memory');
      const model = scripted(t, ['Good to know.', keep]);
      const world = await openWorld(t, { model, settings: { intervals: { memory: 0, skills: 0 } } });
      const talk = await world.open();
      await say(talk, 'For the record: the staging server is called bluebird.');
      const before = await world.store.messages(talk.session.id);
      const flush = world.hooks.find(({ name }) => name === 'flush');
      const info = { sessionId: talk.session.id, source: 'cli', cwd: '/' };
      await flush?.beforeCompress?.(info, talk.history, new AbortController().signal);
      const [request] = model.requests.filter(({ purpose }) => purpose === 'flush');
      assert.match(
        JSON.stringify(request?.messages.at(-1)),
        /\[System: The session is being compressed\. Save anything worth remembering\.\.\.\]/,
      );
      assert.equal(request?.messages.at(-1)?.role, 'user');
      assert.equal(request?.system, model.requests[0]?.system);
      assert.deepEqual(await world.store.messages(talk.session.id), before);
      assert.deepEqual(entriesOf(world, 'memory'), [fact]);
      assert.equal(world.ledger.list()[0]?.actor, 'flush');
      await talk.close();
      model.push('Hello.', { error: 'model-unreachable' });
      const other = await world.open();
      await say(other, 'hello there');
      await flush?.beforeCompress?.(
        { ...info, sessionId: other.session.id },
        other.history,
        new AbortController().signal,
      );
      assert.match(world.notices.join(), /memory was not saved before the compression/);
      await other.close();
    },
  );

  test('what is switched off is neither reviewed nor flushed', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.']);
    const keeps = { memory: false, skills: false };
    const world = await openWorld(t, { model, settings: { keeps, intervals: { memory: 1, skills: 1 } } });
    const names = world.hooks.map(({ name }) => name);
    assert.deepEqual(names, ['learning']);
    await once(world);
    assert.equal((await world.learning.report()).reviews.due, 0);
  });

  test('an installation that waits for the guard is made by the yes, a dangerous one is not', async (t) => {
    const world = await openWorld(t, { model: scripted(t, []) });
    for (const [name, word] of [
      ['odd', 'ODD'],
      ['evil', 'EVIL'],
    ] as const) {
      const from = join(world.home, 'outside', name);
      mkdirSync(from, { recursive: true });
      writeFileSync(
        join(from, 'SKILL.md'),
        `---\nname: ${name}\ndescription: An outside skill\n---\n\nDo it ${word}.\n`,
      );
      const change = { action: 'install', name, from, source: 'community', category: '', force: false };
      const { id } = await world.ledger.open({
        kind: 'skill',
        actor: 'install',
        target: name,
        action: 'install',
        change,
        citations: [],
      });
      await world.ledger.decide(id, { status: 'pending', reason: 'guard-asks' });
      const done = await world.learning.accept(id);
      assert.equal(done.ok, name === 'odd', JSON.stringify(done));
      assert.equal(world.ledger.get(id)?.status, name === 'odd' ? 'dropped' : 'pending');
    }
  });

  test('what was kept while nobody looked is said after a restart, once, and can be taken back', async (t) => {
    const keep = keeping('Prefers tabs over spaces.', 'I prefer tabs over spaces');
    const model = scripted(t, ['Tabs it is.', keep, 'Kept.']);
    const world = await openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
    const talk = await world.open();
    await say(talk, 'By the way, I prefer tabs over spaces.');
    await settle(world);
    await talk.close();
    await world.close();
    const next = await openWorld(t, { home: world.home, model });
    assert.match(next.learning.announcements().join(), /^Kept in USER\.md: "Prefers tabs over spaces\."/);
    const last = await openWorld(t, { home: world.home, model });
    assert.deepEqual(last.learning.announcements(), []);
    assert.ok((await last.learning.undoLast()).ok);
    const again = await last.learning.undoLast();
    assert.equal(again.ok || again.reason, 'nothing-to-undo');
  });

  verifies(
    'core:learning:back-off',
    'after three reviews that kept nothing the end of a session brings none for a while; a kept entry ends that',
    async (t) => {
      const model = scripted(t, [...RELEASE, 'Released.', ...RELEASE, 'Released.', 'Nothing to keep.']);
      const world = await openWorld(t, { model });
      const release = async () => {
        await once(world);
      };
      const add = (kept: number, at: number) =>
        world.database.run(
          `INSERT INTO reviews(id, session_id, kind, reasons, status, kept, tokens, at, ended_at) VALUES(?, 's', 'memory', '[]', 'done', ?, 9, ?, ?)`,
          ...[`rev_${at}`, kept, at, world.clock.now()],
        );
      for (let at = 1; at <= 3; at += 1) add(0, at);
      const low = await world.learning.report();
      assert.deepEqual([low.yield.kept, low.factor, low.intervals], [0, 2, { memory: 20, skills: 20 }]);
      await release();
      assert.equal(reviewRequests(model).length, 0);
      await world.clock.advance(2 * 3_600_000);
      await release();
      assert.equal(reviewRequests(model).length, 1);
      add(1, 9);
      const reset = await world.learning.report();
      assert.deepEqual([reset.yield.kept, reset.factor, reset.intervals], [1, 1, { memory: 10, skills: 10 }]);
    },
  );

  verifies(
    'core:learning:budget',
    'a review stops before a step that the hour has no room for, and one whose first step has none stays due',
    async (t) => {
      const usage = { inputTokens: 1_000, outputTokens: 0, cachedTokens: 0 };
      const look: ScriptedStep = { calls: [{ name: 'skills_list', arguments: {} }], usage };
      const work = RELEASE.map((step) => ({ ...(step as object), usage }) as ScriptedStep);
      for (const [hour, requests, due] of [
        [999, 0, 1],
        [1_000, 1, 0],
        [2_500, 2, 0],
      ] as const) {
        const model = createScriptedModel([...work, { reply: 'Released.', usage }, look, look, look]);
        const budget = { hour, share: 0, floorPerDay: 100_000 };
        const world = await openWorld(t, { model, settings: { budget } });
        await once(world);
        const report = await world.learning.report();
        assert.deepEqual([reviewRequests(model).length, report.reviews.due], [requests, due], `${hour}`);
        assert.equal(report.budget.hour.learning, requests * 1_000);
      }
    },
  );

  test('a session that shows no tool to keep with is not reviewed for it', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.']);
    const world = await openWorld(t, { model, hidden: ['memory', 'skill_manage'] });
    await once(world);
    assert.equal((await world.learning.report()).reviews.due, 0);
    assert.deepEqual(world.logged, []);
  });

  test('where only the reflex is left to answer, the review stays due', async (t) => {
    const fallen: ScriptedStep = (): ScriptedStep => ({
      events: [
        { type: 'fallback', from: 'scripted/model', to: 'reflex/1', reason: 'no network' },
        { type: 'text-delta', text: 'This is not a line of the owner.' },
        { type: 'finish', reason: 'stop', usage: NO_USAGE, model: 'reflex/1', tier: 'T0', cost: 0 },
      ],
    });
    const model = scripted(t, [...RELEASE, 'Released.', fallen]);
    const world = await openWorld(t, { model });
    await once(world);
    assert.equal((await world.learning.report()).reviews.due, 1);
    assert.match(world.logged.join(), /review-failed: .*no language model could be reached/);
  });
});
