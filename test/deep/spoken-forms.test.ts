// How a person asks the reflex tier for skills: the forms that newcomers type.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerOf, openWorld, say, type World } from '../mind/learning/learning-world.ts';

async function didTwoThings(world: World) {
  const talk = await world.open();
  for (const command of ['sh build.sh', 'sh check.sh']) await say(talk, `run \`${command}\``);
  return talk;
}

describe('skills by spoken forms', () => {
  for (const [line, name] of [
    ['learn this as look', 'look'],
    ['learn this as a skill called look', 'look'],
    ['learn this as a skill called look-around', 'look-around'],
    ['learn this as a skill named look', 'look'],
    ['learn this as the skill look', 'look'],
    ['save this as a skill called look', 'look'],
    ['save this as skill look-around', 'look-around'],
    ['make a skill out of this called look', 'look'],
    ['create a skill called look', 'look'],
    ['remember these steps as a skill called build-all', 'build-all'],
  ] as const)
    test(line, async (t) => {
      const world = await openWorld(t);
      const talk = await didTwoThings(world);
      assert.match(answerOf(await say(talk, line)), new RegExp(`^Kept as the skill ${name}:`));
      await talk.close();
    });

  test('/learn drafts nothing out of a mere replay', async (t) => {
    const world = await openWorld(t);
    const talk = await world.open();
    await say(talk, 'run `sh build.sh out`');
    await say(talk, 'run `sh check.sh out`');
    await talk.close();
    await world.background.settled();
    const next = await world.open();
    await say(next, 'do the same as we did for build.sh out');
    await say(next, '1');
    await say(next, 'do the same as we did for out');
    await say(next, '1');
    const learned = await world.learning.learnNow(next.session.id, '', new AbortController().signal);
    assert.equal(learned.ok && learned.value.line, 'Nothing was found that is worth keeping.');
    await next.close();
    await world.background.settled();
    assert.deepEqual(world.learning.offers(), []);
  });

  test('where nobody can be asked it is a draft, and its id is named', async (t) => {
    const world = await openWorld(t, { ownerSay: () => 'draft' });
    const talk = await didTwoThings(world);
    const answer = answerOf(await say(talk, 'learn this as pg2'));
    assert.match(answer, /^It waits for your yes: \/pending accept prop_\w+ keeps the skill pg2:/);
    await talk.close();
  });
});
