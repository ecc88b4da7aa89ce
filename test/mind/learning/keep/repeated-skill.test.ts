// A new skill whose commands stand in a kept or an offered one is a patch of it, whatever it is called.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findRepeated } from '#mind/learning/keep/repeated-skill.ts';
import type { ScriptedStep } from '#testing/scripted-model.ts';
import { verifies } from '../../../verifies.ts';
import { openWorld, say } from '../learning-world.ts';
import { proposeSkill, RELEASE, reviewRequests, SKILL, scripted, settle } from '../release-script.ts';

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
        const world = openWorld(t, { model });
        const review = async () => {
          const talk = await world.open();
          await say(talk, 'release a new version');
          await talk.close();
          await settle(world);
        };
        await review();
        const [offer] = world.learning.offers();
        if (wish === 'kept') assert.ok((await world.learning.accept(offer?.id ?? '')).ok);
        await settle(world);
        model.push(...RELEASE, 'Released.', propose, 'I see.');
        await review();
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
