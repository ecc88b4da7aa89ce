/** What the owner told golems, what of it holds and what became of it; and what he seems to want. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualClock } from '#testing/manual-clock.ts';
import { verifies } from '../../verifies.ts';
import { type CladeStage, createCladeStage, golem, never, textOf } from './clade-stage.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function tell({ conversation }: CladeStage, text: string, about?: string, name = 'alpha') {
  const steer = {
    type: 'RouteSteer',
    target_golem: name,
    steer_content: text,
    urgency: 'normal',
    kind: 'steer',
  } as const;
  return Array.fromAsync(
    conversation.act({ ...steer, ...(about === undefined ? {} : { about }) }, text, { signal: never, cwd: '/' }),
  );
}

describe('steers', () => {
  verifies(
    ['R1.42', 'R1.43', 'R1.44'],
    'of two about the same the newest holds; the older one is context after a day',
    async (t) => {
      const clock = createManualClock();
      const stage = createCladeStage(t, { clock });
      await tell(stage, 'be aggressive', 'risk');
      await tell(stage, 'keep logs', 'logs');
      await tell(stage, 'be bold', 'risk', 'beta');
      await clock.advance(1_000);
      await tell(stage, 'be conservative', 'risk');
      const standing = async () =>
        (await stage.conversation.steers())
          .map(({ called, text, standing: how }) => `${called} ${text}: ${how}`)
          .sort();
      const others = ['alpha be conservative: directive', 'alpha keep logs: directive', 'beta be bold: directive'];
      assert.deepEqual(await standing(), ['alpha be aggressive: superseded', ...others]);
      await clock.advance(DAY - 60_000 - 1_000);
      assert.deepEqual(await standing(), ['alpha be aggressive: superseded', ...others], '23:59');
      await clock.advance(120_000);
      assert.deepEqual(await standing(), ['alpha be aggressive: context', ...others], '24:01');
      assert.match(
        (await stage.run('clade steers')).text,
        /\| alpha \| context \| risk \| not taken yet \| be aggressive/,
      );
    },
  );

  test('without a key nothing contradicts: English is not read', async (t) => {
    const stage = createCladeStage(t);
    await tell(stage, 'be aggressive');
    await tell(stage, 'be conservative');
    assert.deepEqual(
      (await stage.conversation.steers()).map(({ standing }) => standing),
      ['directive', 'directive'],
    );
  });

  test('a golem confirms with its tick; what it refused is said with why; a confirmation of another golem counts for nothing', async (t) => {
    const stage = createCladeStage(t);
    const { log, conversation } = stage;
    for (const text of ['one', 'two', 'three']) await tell(stage, text);
    const [one, two, three] = stage.told().map(({ id }) => id);
    await log.append('golem.alpha.heard', { golem: 'alpha-gen1', id: one ?? '', tick: 901, refused: null });
    await log.append('golem.alpha.heard', { golem: 'alpha-gen1', id: one ?? '', tick: null, refused: 'replayed' });
    await log.append('golem.alpha.heard', { golem: 'alpha-gen1', id: two ?? '', tick: null, refused: 'unknown-owner' });
    await log.append('golem.beta.heard', { golem: 'beta-gen1', id: three ?? '', tick: 5, refused: null });
    await log.append('golem.beta.heard', 'nonsense');
    const heard = (await conversation.steers()).map((steer) => [steer.text, steer.heard?.tick, steer.heard?.refused]);
    assert.deepEqual(heard.toReversed(), [
      ['one', 901, null],
      ['two', null, 'unknown-owner'],
      ['three', undefined, undefined],
    ]);
    const { text } = await stage.run('clade steers');
    assert.match(text, /taken at tick 901/);
    assert.match(text, /not taken: unknown-owner/);
  });

  test('a word that was altered, or is of another key, is none of the owner’s', async (t) => {
    const stage = createCladeStage(t);
    await tell(stage, 'rest');
    const [row] = stage.log.read(['golem.alpha.steer'], 0, 1);
    const body = row?.body as { readonly word: object };
    await stage.log.append('golem.alpha.steer', { ...body, word: { ...body.word, id: 'word_x', text: 'sell all' } });
    await stage.log.append('golem.alpha.steer', { kind: 'steer', text: 'sell all' });
    assert.deepEqual(
      (await stage.conversation.steers()).map(({ text }) => text),
      ['rest'],
    );
  });

  test('pins are set and taken away by the id that the table shows', async (t) => {
    const stage = createCladeStage(t);
    await tell(stage, 'rest');
    const id = /^(\w{8}) \| alpha/m.exec((await stage.run('clade steers')).text)?.[1] ?? '';
    assert.match(
      (await stage.run('clade steers', { pin: id, about: 'work' })).text,
      new RegExp(`${id} \\| alpha \\| pinned, directive \\| work`),
    );
    assert.match(
      (await stage.run('clade steers', { unpin: id })).text,
      new RegExp(`${id} \\| alpha \\| directive \\| work`),
    );
    assert.equal((await stage.run('clade steers', { pin: 'zz' })).failure?.code, 'no-such-steer');
  });

  verifies(['R1.84', 'R1.85'], 'what is routed stands in the log at once, as a word and as no event', async (t) => {
    const stage = createCladeStage(t);
    await stage.say('tell alpha to rest');
    assert.deepEqual(
      stage.log.read(['golem.*.steer'], 0, 9).map(({ topic }) => topic),
      ['golem.alpha.steer'],
    );
    assert.deepEqual(stage.log.read(['golem.*.event', '*.event'], 0, 9), []);
  });
});

describe('the owner’s model', () => {
  verifies(['R1.38', 'R1.40'], 'is a sorted map; what it believes fades by 0.995 a day', async (t) => {
    const clock = createManualClock();
    const stage = createCladeStage(t, { clock });
    for (const [key, value] of [
      ['risk', 'low'],
      ['fees', 'conservative'],
      ['new.preset', 'cautious'],
    ])
      await stage.run('clade owner', { word: 'set', key, value: [value] });
    const at = clock.now();
    assert.deepEqual(
      stage.conversation.owner().map((one) => [one.key, one.value, one.confidence, one.updatedAt, one.evidence]),
      [
        ['fees', 'conservative', 0.95, at, ['set']],
        ['new.preset', 'cautious', 0.95, at, ['set']],
        ['risk', 'low', 0.95, at, ['set']],
      ],
    );
    clock.jump(138 * DAY);
    assert.ok(Math.abs((stage.conversation.owner()[0]?.confidence ?? 0) / 0.95 - 0.5) < 0.001);
    await stage.run('clade owner', { word: 'forget', key: 'risk' });
    assert.deepEqual(
      stage.conversation.owner().map(({ key }) => key),
      ['fees', 'new.preset'],
    );
    assert.equal((await stage.run('clade owner', { word: 'forget', key: 'risk' })).failure?.code, 'no-such-preference');
    assert.equal((await stage.run('clade owner', { word: 'set', key: 'risk' })).failure?.exitCode, 2);
    clock.jump(3_000 * DAY);
    assert.deepEqual(stage.conversation.owner(), [], 'what is hardly believed is not spoken of');
  });

  verifies(
    ['R1.37', 'R1.39', 'R1.79'],
    'learns from a steer by the second tier, with the message as evidence; grows surer, and gives way',
    async (t) => {
      let value = 'low';
      const model = ({ system }: { readonly system: string }) =>
        system.includes('You are Meta')
          ? JSON.stringify({
              type: 'RouteSteer',
              target_golem: 'alpha',
              steer_content: 'no IL above 5 %',
              urgency: 'normal',
            })
          : JSON.stringify({ preferences: [{ key: 'risk', value }] });
      const stage = createCladeStage(t, { model });
      const sure = () =>
        stage.conversation.owner().map((one) => [one.value, Number(one.confidence.toFixed(3)), one.evidence.length]);
      assert.match(textOf(await stage.say('tell alpha: no IL above 5 %')), /Taken as what you want: risk/);
      assert.deepEqual(
        stage.prompts.map(({ tier }) => tier),
        ['T1', 'T2'],
      );
      assert.deepEqual(sure(), [['low', 0.7, 1]]);
      await stage.say('again');
      assert.deepEqual(sure(), [['low', 0.91, 2]]);
      assert.match(
        stage.prompts[2]?.system ?? '',
        /What the owner seems to want \(confidence\):\nrisk = low \(0\.70\)/,
      );
      value = 'high';
      await stage.say('and now this');
      assert.deepEqual(sure(), [['high', 0.7, 1]]);
      await stage.run('clade owner', { word: 'set', key: 'risk', value: ['low'] });
      await stage.say('once more');
      assert.equal(sure()[0]?.[0], 'low', 'what he set himself outweighs what is inferred');
    },
  );

  test('what no golem can be made with is refused when it is set', async (t) => {
    const { run } = createCladeStage(t);
    const set = (value: string) => run('clade owner', { word: 'set', key: 'new.preset', value: [value] });
    assert.match((await set('nonsense')).text, /^new\.preset is one of cautious, balanced, bold\./);
    assert.equal((await set('bold')).failure, undefined);
  });

  test('what the model says otherwise is nothing', async (t) => {
    for (const reply of ['none', '{"preferences":[{"key":"Bad Key","value":"x"}]}', '{"preferences":"x"}', '']) {
      const model = ({ system }: { readonly system: string }) =>
        system.includes('You are Meta')
          ? JSON.stringify({ type: 'RouteSteer', target_golem: 'alpha', steer_content: 'rest', urgency: 'normal' })
          : reply;
      const stage = createCladeStage(t, { model });
      await stage.say('tell alpha to rest');
      assert.deepEqual(stage.conversation.owner(), []);
    }
  });

  verifies(
    ['R1.37', 'R1.39', 'R1.41'],
    'three refusals of a kind are a preference, which shapes the next kit, and it says so',
    async (t) => {
      const all = ['free-disk', 'rotate-logs', 'sell-low'];
      const given: (readonly string[])[] = [];
      const library = {
        propose: async ({ without }: { readonly without: readonly string[] }) => ({
          ok: true as const,
          value: {
            lines: all
              .filter((name) => !without.includes(name))
              .map((name) => ({ name, confidence: 0.7, reason: 'canonical' })),
          },
        }),
        equip: async ({ names }: { readonly names: readonly string[] }) => {
          given.push(names);
          return { ok: true as const, value: 'sent' };
        },
      };
      const stage = createCladeStage(t, { library });
      for (let times = 0; times < 3; times += 1) {
        await stage.say('equip alpha');
        await stage.say('4');
        assert.match(textOf(await stage.say('1')), /sent/);
      }
      assert.deepEqual(
        given,
        Array.from({ length: 3 }, () => ['free-disk', 'rotate-logs']),
      );
      const known = stage.conversation.owner().map(({ key, value, evidence }) => [key, value, evidence.length]);
      assert.deepEqual(known, [
        ['kit:observer', 'accepted', 3],
        ['skill:sell-low', 'refused', 3],
      ]);
      const text = textOf(await stage.say('equip alpha'));
      assert.match(text, /Left out, since you refused it before: sell-low\./);
      assert.doesNotMatch(text, /sell-low: 0\.70/);
      await stage.say('4');
      assert.deepEqual(given.slice(3), [[]], 'refused whole: nothing is given');
    },
  );

  verifies('R1.41', 'a new golem is made as the owner seems to want it, and it says so', async (t) => {
    const stage = createCladeStage(t, { golems: [golem('alpha')] });
    for (const [key, value] of [
      ['new.preset', 'cautious'],
      ['new.domain', 'watch'],
      ['new.dir', '/srv'],
    ])
      await stage.run('clade owner', { word: 'set', key, value: [value] });
    const text = textOf(await stage.say('create golem called zed'));
    assert.deepEqual(stage.born, [{ name: 'zed', domain: 'watch', preset: 'cautious', dir: '/srv' }]);
    assert.match(text, /preset is cautious because you seem to want it so \(0\.95\)/);
  });
});
