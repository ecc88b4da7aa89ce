/** What is kept, announced and taken back. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { findRepeated, offerText } from '#mind/learning/drafts.ts';
import { learningSchema } from '#mind/learning/learning-schema.ts';
import { createAnnouncements } from '#mind/learning/owners-desk.ts';
import type { ScriptedStep } from '#public/testing.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';
import {
  entriesOf,
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
  type World,
} from './learning-world.ts';

const quietly = { intervals: { memory: 0, skills: 0 } };
const eachTurn = { intervals: { memory: 1, skills: 0 } };

const TABS = keeping('Prefers tabs over spaces.', 'I prefer tabs over spaces');

async function releaseSkill(world: World): Promise<void> {
  await once(world);
  assert.ok((await world.learning.accept(world.learning.offers()[0]?.id ?? '')).ok);
  await settle(world);
}

describe('undo', () => {
  test('in a new chat takes back what was announced there, though another session brought it', async (t) => {
    const model = scripted(t, ['Tabs it is.', TABS, 'Kept.']);
    const world = await openWorld(t, { model, settings: eachTurn });
    const talk = await world.open();
    await say(talk, 'By the way, I prefer tabs over spaces.');
    await settle(world);
    await talk.close();
    await world.close();
    const next = await openWorld(t, { home: world.home, model, settings: quietly });
    const chat = await next.open();
    assert.equal(next.learning.announcements().length, 1);
    const undone = await next.learning.undoLast(chat.session.id);
    assert.ok(undone.ok, JSON.stringify(undone));
    assert.match(undone.value, /^Taken back: Kept in USER\.md: "Prefers tabs/);
    assert.deepEqual(entriesOf(next), []);
    await chat.close();
    await next.close();
    const last = await openWorld(t, { home: world.home, model, settings: quietly });
    const again = await last.learning.undoLast('another');
    assert.equal(again.ok || again.reason, 'nothing-to-undo', 'also a later program knows that it was taken back');
  });

  test('takes back a skill that the owner said yes to', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = await openWorld(t, { model });
    await releaseSkill(world);
    const undone = await world.learning.undoLast('a new chat');
    assert.equal(undone.ok && undone.value, 'Taken back: the skill release is gone.');
    assert.ok(!existsSync(join(world.home, 'skills/release/SKILL.md')));
    assert.equal(world.library.get('release'), undefined);
  });

  test("takes back the agent's own patch, before what came earlier", async (t) => {
    const patch = { action: 'patch', name: 'release', old_string: 'npm test', new_string: 'npm run check' };
    const model = scripted(t, [
      ...[...RELEASE, 'Released.', proposeSkill, 'Done.'],
      ...[{ calls: [{ name: 'skill_manage', arguments: patch }] }, 'Patched.'],
    ]);
    const world = await openWorld(t, { model });
    await releaseSkill(world);
    await world.clock.advance(1_000);
    const talk = await world.open();
    await say(talk, 'use npm run check in the release');
    assert.match(world.library.get('release')?.text ?? '', /npm run check/);
    const undone = await world.learning.undoLast(talk.session.id);
    assert.match(undone.ok ? undone.value : undone.detail, /^Taken back: Patched the skill release: "/);
    assert.doesNotMatch(world.library.get('release')?.text ?? '', /npm run check/);
    assert.ok((await world.learning.undoLast(talk.session.id)).ok);
    assert.equal(world.library.get('release'), undefined, 'the next one means what was kept by the yes');
    await talk.close();
  });

  test('keeps what a later version covers, and names what undoes that one', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = await openWorld(t, { model });
    await releaseSkill(world);
    const change = { action: 'patch', oldString: 'npm test', newString: 'npm run check' } as const;
    const covered = await world.door.write({ name: 'release', change, actor: 'owner', approved: true });
    assert.ok(covered.ok, JSON.stringify(covered));
    for (const time of ['first', 'second']) {
      const undone = await world.learning.undoLast('a new chat');
      assert.equal(undone.ok || undone.reason, 'later-version', time);
      assert.match(
        undone.ok ? '' : undone.detail,
        /you changed release since \(version 2\); `talaria skills rollback release`/,
      );
    }
    assert.ok((await world.door.rollback({ skill: 'release' })).ok);
    const undone = await world.learning.undoLast('a new chat');
    assert.equal(undone.ok && undone.value, 'Taken back: the skill release is gone.');
  });

  test('a manifest that was changed is said once; the next undo means the write before it', async (t) => {
    const world = await openWorld(t, { model: scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']) });
    await releaseSkill(world);
    const manifest = world.door.versions('release')[0]?.manifestPath ?? '';
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"new_sha256": "[^"]*"/, '"new_sha256": "00"'));
    for (const reason of ['manifest-changed', 'nothing-to-undo']) {
      const undone = await world.learning.undoLast('a new chat');
      assert.equal(undone.ok || undone.reason, reason);
    }
  });

  test('says once what cannot be taken back, and passes over what was rolled back by hand', async (t) => {
    const model = scripted(t, [...[...RELEASE, 'Released.', proposeSkill, 'Done.'], ...['Tabs it is.', TABS, 'Kept.']]);
    const first = await openWorld(t, { model });
    await releaseSkill(first);
    await first.close();
    const world = await openWorld(t, { home: first.home, model, settings: eachTurn });
    await world.library.ready();
    const talk = await world.open();
    await say(talk, 'By the way, I prefer tabs over spaces.');
    await settle(world);
    world.learning.announcements();
    await world.memory.apply('user', [{ action: 'remove', oldText: 'Prefers tabs over spaces.' }], { actor: 'owner' });
    const changed = await world.learning.undoLast(talk.session.id);
    assert.equal(changed.ok || changed.reason, 'target-changed');
    assert.ok((await world.door.rollback({ skill: 'release' })).ok);
    const again = await world.learning.undoLast(talk.session.id);
    assert.equal(again.ok || again.reason, 'nothing-to-undo');
    await talk.close();
  });
});

describe('what the owner took back', () => {
  test('is not kept again from the same messages, and /learn says why', async (t) => {
    const model = scripted(t, ['Tabs it is.', TABS, 'Kept.', TABS, 'Kept.']);
    const world = await openWorld(t, { model, settings: eachTurn });
    const talk = await world.open();
    await say(talk, 'By the way, I prefer tabs over spaces.');
    await settle(world);
    assert.ok((await world.learning.undoLast(talk.session.id)).ok);
    const learned = await world.learning.learnNow(talk.session.id, '', new AbortController().signal);
    assert.equal(learned.ok && learned.value.line, '1 refused: you took it back before.');
    assert.deepEqual(entriesOf(world), []);
    model.push('Again tabs.', TABS, 'Kept.');
    await say(talk, 'Once more: I prefer tabs over spaces, really.');
    await settle(world);
    assert.deepEqual(entriesOf(world), ['Prefers tabs over spaces.'], 'a new message may bring it back');
    await talk.close();
  });

  test('a rejected or taken back skill is not drafted again out of the same calls', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.', proposeSkill, 'Done.']);
    const world = await openWorld(t, { model });
    await releaseSkill(world);
    assert.ok((await world.learning.undoLast()).ok);
    const [session] = await world.store.list({ limit: 1 });
    const learned = await world.learning.learnNow(session?.id ?? '', '', new AbortController().signal);
    assert.equal(learned.ok && learned.value.line, '1 refused: you took it back before.');
    assert.deepEqual(world.learning.offers(), []);
  });

  test('/learn names why something was refused', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.', proposeSkill, 'Done.']);
    const world = await openWorld(t, { model });
    const sessionId = await once(world);
    const learned = await world.learning.learnNow(sessionId, '', new AbortController().signal);
    assert.equal(learned.ok && learned.value.line, '1 refused: waiting for your yes already.');
    assert.deepEqual(learned.ok && learned.value.reasons, { 'already-pending': 1 });
  });
});

describe('a draft of a review', () => {
  for (const wish of ['accept', 'reject'] as const) {
    test(`that the owner decides with ${wish} ${wish === 'accept' ? 'counts' : 'does not count'} as kept`, async (t) => {
      const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
      const world = await openWorld(t, { model });
      await once(world);
      assert.equal((await world.learning.report()).reviews.kept, 0);
      assert.ok((await world.learning[wish](world.learning.offers()[0]?.id ?? '')).ok);
      await settle(world);
      const report = await world.learning.report();
      assert.deepEqual([report.reviews.finished, report.reviews.kept], [1, wish === 'accept' ? 1 : 0]);
    });
  }

  for (const [attended, later] of [
    [true, false],
    [true, true],
    [false, false],
  ] as const)
    test(`${attended ? 'waits' : 'is written'} where ${attended ? 'a' : 'no'} person can answer${later ? ', also when the review runs later' : ''}`, async (t) => {
      const apply = { writeApproval: 'apply', isAttended: () => false } as const;
      const poor = { share: 0, floorPerDay: 0 };
      const rich = { share: 0, floorPerDay: 100_000 };
      const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
      const settings = { ...apply, isAttended: () => attended, budget: later ? poor : rich };
      const world = await openWorld(t, { model, settings });
      await once(world);
      const next = await openWorld(t, { home: world.home, model, settings: apply });
      assert.equal(await next.learning.runDue(new AbortController().signal), later ? 1 : 0);
      assert.equal(next.learning.offers().length, attended ? 1 : 0);
      assert.equal(existsSync(join(world.home, 'skills/release')), !attended);
    });

  test('is not asked about after `always`, until that is taken back', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = await openWorld(t, { model });
    assert.equal(world.learning.keepsNewSkills(), false);
    await world.learning.keepNewSkills(true);
    assert.equal(world.learning.keepsNewSkills(), true);
    await world.learning.keepNewSkills(false);
    await once(world);
    assert.equal(world.learning.offers().length, 1);
  });
});

test('of many that wait the newest are said and the rest counted, once', async (t) => {
  const clock = createManualClock();
  const path = join(createTempHome(t).path, 'state.db');
  const { database } = openDatabase(path, { rooms: [evidenceSchema, learningSchema], clock });
  t.after(() => database.close());
  const ledger = createProposalLedger({ database, clock });
  const ids: string[] = [];
  const wait = async (count: number, sessionId: string) => {
    for (let at = 0; at < count; at += 1) {
      const draft = { kind: 'memory', actor: 'review', target: 'user', action: 'add', citations: [] } as const;
      const { id } = await ledger.open({ ...draft, change: { content: `Fact ${at}.` }, sessionId });
      await ledger.decide(id, { status: 'pending', reason: 'not-judged' });
      await clock.advance(1);
      ids.push(id);
    }
  };
  const parts = { ledger, database, clock };
  const news = createAnnouncements(parts);
  await wait(30, 'a');
  assert.equal(news.take('a').length, 30);
  await wait(32, 'a');
  await wait(1, 'b');
  const lines = news.take('a');
  assert.equal(lines.length, 31);
  assert.ok(lines[0]?.endsWith(`talaria pending show ${ids[32]}`) && lines[29]?.endsWith(`show ${ids[61]}`));
  assert.equal(lines[30], '… and 2 more wait · talaria pending list');
  assert.deepEqual(news.take('a'), []);
  assert.equal(createAnnouncements(parts).take().length, 1, 'also a later program knows what was counted');
});

describe('what waits for the owner', () => {
  test('an edit shows every file that changes with it, whole', () => {
    const files = [
      { path: 'references/new.md', content: 'first line\nlast line' },
      { path: 'references/old.md', content: null },
    ];
    const change = { action: 'edit', content: 'the new text', files };
    const shown = offerText({ change, action: 'edit', citations: [] } as never);
    assert.match(shown, /^the new text\n/);
    assert.match(shown, /The file references\/new\.md:\nfirst line\nlast line/);
    assert.match(shown, /The file references\/old\.md goes\./);
  });
});

/** The same steps under another name; the version is a value of the day. */
const AGAIN = SKILL.replaceAll('name: release', 'name: publish-it').replace('version patch', 'version {kind}');
const propose: ScriptedStep = {
  calls: [{ name: 'skill_manage', arguments: { action: 'create', name: 'publish-it', content: AGAIN } }],
};

describe('a draft that repeats a skill', () => {
  for (const wish of ['kept', 'offered'] as const)
    verifies(
      'core:learning:no-repeat',
      `is refused where the skill is ${wish}, and says which one it is`,
      async (t) => {
        const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
        const world = await openWorld(t, { model });
        await once(world);
        const [offer] = world.learning.offers();
        if (wish === 'kept') assert.ok((await world.learning.accept(offer?.id ?? '')).ok);
        await settle(world);
        model.push(...RELEASE, 'Released.', propose, 'I see.');
        await once(world);
        assert.equal(world.ledger.list({ status: 'refused' })[0]?.reason, 'repeats-skill');
        const told = JSON.stringify(reviewRequests(model).at(-1)?.messages.at(-1));
        assert.match(told, wish === 'kept' ? /patch release instead/ : /the skill release, which waits for the owner/);
        assert.equal(world.learning.offers().length, wish === 'kept' ? 0 : 1);
      },
    );

  test('commands are compared word by word; values of the day and what is no command do not count', () => {
    const skill = (...commands: readonly string[]) => ({
      name: 'new',
      text: `---\nname: x\n---\n${commands.map((one, at) => `${at + 1}. Run \`${one}\` in \`src\``).join('\n')}`,
    });
    const block = { name: 'block', text: '```sh\n# all of it\n$ npm ci\nnpm test\n```\n' };
    const single = { ...skill('npm ci'), name: 'single' };
    const rows: readonly (readonly [string | undefined, readonly string[]])[] = [
      ['block', ['npm ci', 'npm test']],
      ['block', ['npm ci', 'npm test', 'npm publish']],
      [undefined, ['npm ci', 'npm publish', 'git push origin']],
      ['block', ['npm {command}', 'npm test']],
      ['single', ['npm ci']],
      [undefined, ['{program} ci', '{program} test']],
      [undefined, ['npm ci --omit dev', 'npm test --watch']],
      [undefined, ['make', 'src/main.c']],
      [undefined, []],
    ];
    for (const [found, commands] of rows)
      assert.equal(findRepeated(skill(...commands), [block, single]), found, commands.join());
    assert.equal(findRepeated({ name: 'x', text: '``` `` ` {} <> $' }, [{ name: 'y', text: '```\n~~~' }]), undefined);
  });
});
