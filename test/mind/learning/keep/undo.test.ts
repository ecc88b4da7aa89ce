// What `/undo` means: what the owner heard of here first, then what was heard of elsewhere; and what was taken back stays away.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ModelRequest } from '#core/model/model-client.ts';
import type { ScriptedStep } from '#testing/scripted-model.ts';
import { openWorld, say, type World } from '../learning-world.ts';
import { idOf, proposeSkill, RELEASE, scripted, settle } from '../release-script.ts';

const quietly = { intervals: { memory: 0, skills: 0 } };
const eachTurn = { intervals: { memory: 1, skills: 0 } };

function keep(content: string, quote: string) {
  return (request: ModelRequest): ScriptedStep => {
    const evidence = [{ message_id: idOf(request, new RegExp(quote)), quote }];
    return { calls: [{ name: 'memory', arguments: { action: 'add', target: 'user', content, evidence } }] };
  };
}

const TABS = keep('Prefers tabs over spaces.', 'I prefer tabs over spaces');

function entriesOf(world: World): readonly string[] {
  const state = world.memory.read('user');
  return state.ok ? state.value.entries : [];
}

async function releaseSkill(world: World): Promise<void> {
  const talk = await world.open();
  await say(talk, 'release a new version');
  await talk.close();
  await settle(world);
  assert.ok((await world.learning.accept(world.learning.offers()[0]?.id ?? '')).ok);
  await settle(world);
}

describe('undo', () => {
  test('in a new chat takes back what was announced there, though another session brought it', async (t) => {
    const model = scripted(t, ['Tabs it is.', TABS, 'Kept.']);
    const world = openWorld(t, { model, settings: eachTurn });
    const talk = await world.open();
    await say(talk, 'By the way, I prefer tabs over spaces.');
    await settle(world);
    await talk.close();
    await world.close();
    const next = openWorld(t, { home: world.home, model, settings: quietly });
    const chat = await next.open();
    assert.equal(next.learning.announcements().length, 1);
    const undone = await next.learning.undoLast(chat.session.id);
    assert.ok(undone.ok, JSON.stringify(undone));
    assert.match(undone.value, /^Taken back: Kept in USER\.md: "Prefers tabs/);
    assert.deepEqual(entriesOf(next), []);
    await chat.close();
    await next.close();
    const last = openWorld(t, { home: world.home, model, settings: quietly });
    const again = await last.learning.undoLast('another');
    assert.equal(again.ok || again.reason, 'nothing-to-undo', 'also a later program knows that it was taken back');
  });

  test('takes back a skill that the owner said yes to', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = openWorld(t, { model });
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
    const world = openWorld(t, { model });
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
    const world = openWorld(t, { model });
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
    const world = openWorld(t, { model: scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']) });
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
    const first = openWorld(t, { model });
    await releaseSkill(first);
    await first.close();
    const world = openWorld(t, { home: first.home, model, settings: eachTurn });
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
    const world = openWorld(t, { model, settings: eachTurn });
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
    const world = openWorld(t, { model });
    await releaseSkill(world);
    assert.ok((await world.learning.undoLast()).ok);
    const [session] = await world.store.list({ limit: 1 });
    const learned = await world.learning.learnNow(session?.id ?? '', '', new AbortController().signal);
    assert.equal(learned.ok && learned.value.line, '1 refused: you took it back before.');
    assert.deepEqual(world.learning.offers(), []);
  });

  test('/learn names why something was refused', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.', proposeSkill, 'Done.']);
    const world = openWorld(t, { model });
    const talk = await world.open();
    await say(talk, 'release a new version');
    await talk.close();
    await settle(world);
    const learned = await world.learning.learnNow(talk.session.id, '', new AbortController().signal);
    assert.equal(learned.ok && learned.value.line, '1 refused: waiting for your yes already.');
    assert.deepEqual(learned.ok && learned.value.reasons, { 'already-pending': 1 });
  });
});

describe('a draft of a review', () => {
  for (const wish of ['accept', 'reject'] as const) {
    test(`that the owner decides with ${wish} ${wish === 'accept' ? 'counts' : 'does not count'} as kept`, async (t) => {
      const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
      const world = openWorld(t, { model });
      const talk = await world.open();
      await say(talk, 'release a new version');
      await talk.close();
      await settle(world);
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
      const world = openWorld(t, { model, settings });
      const talk = await world.open();
      await say(talk, 'release a new version');
      await talk.close();
      await settle(world);
      const next = openWorld(t, { home: world.home, model, settings: apply });
      assert.equal(await next.learning.runDue(new AbortController().signal), later ? 1 : 0);
      assert.equal(next.learning.offers().length, attended ? 1 : 0);
      assert.equal(existsSync(join(world.home, 'skills/release')), !attended);
    });

  test('is not asked about after `always`, until that is taken back', async (t) => {
    const model = scripted(t, [...RELEASE, 'Released.', proposeSkill, 'Done.']);
    const world = openWorld(t, { model });
    assert.equal(world.learning.keepsNewSkills(), false);
    await world.learning.keepNewSkills(true);
    assert.equal(world.learning.keepsNewSkills(), true);
    await world.learning.keepNewSkills(false);
    const talk = await world.open();
    await say(talk, 'release a new version');
    await talk.close();
    await settle(world);
    assert.equal(world.learning.offers().length, 1);
  });
});
