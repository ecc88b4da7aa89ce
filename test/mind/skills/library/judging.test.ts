import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { JudgeWord, SkillJudge } from '#mind/skills/library/judge/skill-judge.ts';
import { until } from '../../../ends.ts';
import { createSkillHome, HERE } from '../skill-home.ts';

function countingJudge(words: Record<string, JudgeWord> = {}, version = '1') {
  const asked: string[] = [];
  const judge: SkillJudge = {
    version,
    judge: async (folder) => {
      const name = folder.split('/').at(-1) ?? '';
      asked.push(name);
      return { word: words[name] ?? 'allow', finding: words[name] ? `found in ${name}` : '' };
    },
  };
  return { judge, asked };
}

describe('judging external skills', () => {
  test('what is refused is hidden and said, what is doubtful is shown with a note; local ones are not asked about', async (t) => {
    const { skill, open, home } = createSkillHome(t);
    skill('own');
    for (const name of ['good', 'bad', 'odd']) skill(`../team/${name}`);
    const { judge, asked } = countingJudge({ bad: 'refuse', odd: 'ask' });
    const library = open({ external: [join(home.path, 'team')], judge });
    await library.ready();
    assert.deepEqual(
      library.offered(HERE).map(({ name }) => name),
      ['own'],
      'nothing is shown unseen',
    );
    assert.deepEqual(asked, []);
    assert.deepEqual(
      library.problems().map(({ reason }) => reason),
      ['not-judged'],
    );
    await library.refresh();
    assert.deepEqual(
      library.offered(HERE).map(({ name }) => name),
      ['good', 'odd', 'own'],
    );
    assert.deepEqual(
      library.problems().map(({ reason, detail }) => `${reason}: ${detail}`),
      [`refused: bad is refused and not offered (${join(home.path, 'team/bad')}). found in bad`],
    );
    assert.deepEqual([library.note('odd'), library.note('good')], ['found in odd', undefined]);
    assert.deepEqual(asked, ['bad', 'good', 'odd']);
  });

  test('the same files are judged once, wherever they lie; a support file that changed asks again, and so does a new version', async (t) => {
    const { skill, open, home } = createSkillHome(t);
    skill('../team/tides');
    home.write('team/tides/scripts/run.sh', 'echo 1');
    const first = countingJudge();
    const external = [join(home.path, 'team'), join(home.path, 'copy')];
    const library = open({ external, judge: first.judge });
    await library.refresh();
    await library.refresh();
    assert.deepEqual(first.asked, ['tides']);
    skill('../copy/tides');
    home.write('copy/tides/scripts/run.sh', 'echo 1');
    await library.refresh();
    assert.deepEqual(first.asked, ['tides']);
    home.write('team/tides/scripts/run.sh', 'echo 22');
    await library.refresh();
    assert.deepEqual(first.asked, ['tides', 'tides']);
    library.close();
    const second = countingJudge({}, '2');
    await open({ external, judge: second.judge }).refresh();
    assert.deepEqual(second.asked, ['tides', 'tides']);
  });

  test('a refused skill takes no name from one that is not', async (t) => {
    const { skill, open, home } = createSkillHome(t);
    skill('../a/bad', 'name: tides\ndescription: bad');
    skill('../b/good', 'name: tides\ndescription: good');
    const { judge } = countingJudge({ bad: 'refuse' });
    const library = open({ external: [join(home.path, 'a'), join(home.path, 'b')], judge });
    await library.refresh();
    assert.equal(library.get('tides')?.description, 'good');
    assert.deepEqual(
      library.problems().map(({ reason }) => reason),
      ['refused'],
    );
  });

  test('a refresh waits for a bounded time, and the rest follows by itself', async (t) => {
    const { skill, open, home } = createSkillHome(t);
    for (let i = 0; i < 12; i += 1) skill(`../team/skill-${i}`);
    let now = 0;
    const judge: SkillJudge = {
      version: '1',
      judge: async () => {
        now += 200;
        return { word: 'allow', finding: '' };
      },
    };
    const clock = { ...systemClock, monotonic: () => now };
    const library = open({ external: [join(home.path, 'team')], judge, clock });
    await library.refresh();
    const early = library.list().length;
    assert.ok(early > 0 && early < 12, String(early));
    await until(() => library.list().length === 12);
  });
});
