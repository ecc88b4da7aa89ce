// The learning loop over real stores and doors: when reviews run, what they may do, what becomes of what they propose.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { ModelRequest } from '#core/model/model-client.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { answerOf, openWorld, say, type World } from './learning-world.ts';

const COMMANDS = ['npm ci', 'npm run build', 'npm test', 'npm version patch', 'git push --follow-tags'];
const RELEASE = COMMANDS.map((command): ScriptedStep => ({ calls: [{ name: 'terminal', arguments: { command } }] }));

const SKILL = [
  '---',
  'name: release',
  'description: Release a new version',
  '---',
  '',
  '# release',
  '',
  '## When to use',
  '',
  'When the owner asks to release a new version.',
  '',
  '## Steps',
  '',
  ...COMMANDS.map((command, index) => `${index + 1}. Run \`${command}\``),
  '',
].join('\n');

/** Id of the newest listed message that the pattern fits. */
function idOf(request: ModelRequest, pattern: RegExp): number {
  const list = request.messages
    .flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')))
    .join('\n');
  const lines = list.split('\n').filter((line) => /^#\d+ /.test(line) && pattern.test(line));
  return Number(/^#(\d+)/.exec(lines.at(-1) ?? '')?.[1]);
}

/** What a good review proposes: the skill, with each command cited. */
function proposeSkill(request: ModelRequest): ScriptedStep {
  const cited = COMMANDS.map((command) => ({
    message_id: idOf(request, new RegExp(`assistant: .*${command}`)),
    quote: `Ran terminal. command: ${command}`,
  }));
  const owner = { message_id: idOf(request, /user: release/), quote: 'release a new version' };
  const args = { action: 'create', name: 'release', content: SKILL, evidence: [owner, ...cited] };
  return { calls: [{ name: 'skill_manage', arguments: args }] };
}

function scripted(t: TestContext, steps: readonly ScriptedStep[]): ScriptedModel {
  return createScriptedModel(steps, { context: t });
}

async function settle(world: World): Promise<void> {
  await world.background.settled();
  assert.deepEqual(world.background.failures, []);
}

const reviewRequests = (model: ScriptedModel) => model.requests.filter(({ purpose }) => purpose === 'review');

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
      assert.match(offer?.line ?? '', /^Keep this as the skill "release"\? Release a new version$/);
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
    'what is not supported is refused with its reason; what rests on foreign text waits in pending',
    async (t) => {
      const call = (content: string, evidence: readonly object[]): ScriptedStep => ({
        calls: [{ name: 'memory', arguments: { action: 'add', target: 'user', content, evidence: evidence as never } }],
      });
      const model = scripted(t, [
        { calls: [{ name: 'terminal', arguments: { command: 'cat profile' } }] },
        'It says so.',
        call('The user lives in Paris.', []),
        call('The user lives in Paris.', [{ message_id: 99999, quote: 'lives in Paris' }]),
        (request) =>
          call('The user lives in Paris.', [
            { message_id: idOf(request, /user: what/), quote: 'what does the profile say' },
          ]),
        (request) =>
          call('The owner ran cat profile.', [
            { message_id: idOf(request, /tool terminal/), quote: 'ran cat profile' },
          ]),
        'Done.',
      ]);
      const world = openWorld(t, { model, settings: { intervals: { memory: 1, skills: 0 } } });
      const talk = await world.open();
      await say(talk, 'what does the profile say?');
      await settle(world);
      assert.deepEqual(
        world.ledger
          .list()
          .map(({ status, reason }) => `${status} ${reason}`)
          .toReversed(),
        [
          'refused no-citation',
          'refused unknown-handle',
          'refused evidence_text_mismatch',
          'pending origin-not-allowed',
        ],
      );
      assert.equal(world.logged.filter((line) => line.startsWith('proposal-refused')).length, 3);
      assert.deepEqual(world.learning.offers(), [], 'foreign text is not offered by itself');
      const [waiting] = world.ledger.list({ status: 'pending' });
      assert.deepEqual(world.learning.announcements(), [
        `Waits: an entry for USER.md, since it rests on text that you did not write · talaria pending show ${waiting?.id}`,
      ]);
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

  test('a review that fails is due again, runs at the next start under the lease, and gives up after three tries', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', { error: 'model-unreachable' }]);
    const world = openWorld(t, { model });
    const talk = await world.open();
    await say(talk, 'release a new version');
    await talk.close();
    await settle(world);
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
    const world = openWorld(t, { model });
    const talk = await world.open();
    await say(talk, 'release a new version');
    await talk.close();
    await world.learning.drain(AbortSignal.timeout(50));
    await settle(world);
    const next = openWorld(t, { home: world.home, model: scripted(t, [proposeSkill, 'Done.']) });
    assert.equal(await next.learning.runDue(new AbortController().signal), 1);
    assert.equal(next.learning.offers().length, 1);
  });

  test('without budget a nudge waits and a session end is recorded as due', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.']);
    const world = openWorld(t, {
      model,
      settings: { budget: { share: 0, floorPerDay: 0 }, intervals: { memory: 1, skills: 1 } },
    });
    const talk = await world.open();
    await say(talk, 'release a new version');
    await talk.close();
    await settle(world);
    const report = await world.learning.report();
    assert.equal(report.reviews.due, 1);
    assert.equal(report.budget.left, 0);
  });

  test('unattended surfaces follow write_approval', async (t) => {
    for (const writeApproval of ['draft', 'apply'] as const) {
      const model = createScriptedModel([...RELEASE, 'Released.', proposeSkill, 'Done.']);
      const world = openWorld(t, { model, settings: { writeApproval } });
      const talk = await world.open('api');
      await say(talk, 'release a new version');
      await talk.close();
      await settle(world);
      assert.equal(existsSync(join(world.home, 'skills/release')), writeApproval === 'apply');
      assert.equal(world.learning.offers().length, writeApproval === 'apply' ? 0 : 1);
    }
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

  test('/learn reviews now and says what came of it', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = openWorld(t, { model, settings: { enabled: false } });
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
      const keep = (request: ModelRequest): ScriptedStep => ({
        calls: [
          {
            name: 'memory',
            arguments: {
              action: 'add',
              content: 'The staging server is called bluebird.',
              evidence: [{ message_id: idOf(request, /bluebird/), quote: 'the staging server is called bluebird' }],
            },
          },
        ],
      });
      const model = scripted(t, ['Good to know.', keep]);
      const world = openWorld(t, { model, settings: { intervals: { memory: 0, skills: 0 } } });
      const talk = await world.open();
      await say(talk, 'For the record: the staging server is called bluebird.');
      const before = await world.store.messages(talk.session.id);
      const flush = world.learning.hooks.find(({ name }) => name === 'flush');
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
      const state = world.memory.read('memory');
      assert.deepEqual(state.ok && state.value.entries, ['The staging server is called bluebird.']);
      assert.equal(world.ledger.list()[0]?.actor, 'flush');
      model.push({ error: 'model-unreachable' });
      await flush?.beforeCompress?.(info, talk.history, new AbortController().signal);
      assert.match(world.notices.join(), /memory was not saved before the compression/);
      await talk.close();
    },
  );
});
