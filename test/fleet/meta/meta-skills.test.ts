/** Meta's own skills: files that name what carries them out, their uses counted, their failures written into them, and new ones. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { verifies } from '../../verifies.ts';
import {
  type CladeStage,
  choicesOf,
  createCladeStage,
  decided,
  golem,
  never,
  type StageOptions,
  textOf,
} from './clade-stage.ts';

const NIGHT = { ticks: 1, acted: 0, done: 0, failed: 0, spent_usd: 0, events: {}, learned: [] };

const run = ({ conversation }: CladeStage, skill_name: string, params: object = {}, line = skill_name) =>
  Array.fromAsync(
    conversation.act({ type: 'ExecuteMetaSkill', skill_name, params: { ...params } }, line, {
      signal: never,
      cwd: '/work',
    }),
  );

/** One example of each that the seed lists, and what comes of it: text, `question`, or the reason. */
const EXAMPLES: readonly (readonly [category: string, name: string, params: object, comes: string | RegExp])[] = [
  ['provisioning', 'create-golem', { name: 'zed', domain: 'sim', archetype: 'vault-manager' }, /zed is born: /],
  ['provisioning', 'create-golem', { archetype: 'vault-manager', provider: 'Fly.io' }, 'not-configured'],
  ['provisioning', 'create-golem', { name: 'zoe' }, 'question'],
  ['provisioning', 'clone-strategy', { golem: 'alpha', name: 'alpha-2' }, /alpha-2 is born with the strategy of alpha/],
  ['provisioning', 'retire-golem', { golem: 'delta' }, 'question'],
  ['provisioning', 'equip-golem', { golem: 'delta', query: 'Morpho' }, /The library has nothing for delta on Morpho/],
  ['analytics', 'compare-golems', {}, /beta: lives[\s\S]*Since 2026-/],
  ['analytics', 'find-transferable', {}, /No golem holds anything yet/],
  ['curation', 'promote-skill', { golem: 'alpha', skill: 'lp-range' }, /lp-range stands in the library/],
  ['curation', 'merge-skills', { one: 'a', other: 'b' }, /b is part of a/],
  ['curation', 'search-library', { query: 'liquidation' }, /The library has nothing on liquidation/],
  ['owner-model', 'summarise-steers', { about: 'risk' }, /No steer speaks of risk/],
  ['owner-model', 'strategy-brief', {}, /There is nothing to brief from/],
  ['market', 'list-for-sale', { query: 'LP' }, 'not-configured'],
  ['market', 'search-market', { query: 'liquidation' }, 'not-configured'],
  ['deployment', 'scale', { golem: 'alpha', size: 'medium' }, 'not-configured'],
  ['deployment', 'extend-life', { golem: 'alpha', days: 7 }, 'not-configured'],
];

describe('meta-skills', () => {
  verifies.slow(
    ['R1.15', 'R1.30', 'R1.31', 'R1.32', 'R1.33', 'R1.34'],
    'each of the six categories can be run, is done or says what is not configured, and is a file in its own folder',
    async (t) => {
      const answer = (_: string, { what }: { readonly what: string }) =>
        what === 'skills' ? { value: '{}' } : { value: what === 'grimoire' ? [] : NIGHT };
      const stage = createCladeStage(t, { answer });
      for (const [category, name, params, comes] of EXAMPLES) {
        const outputs = await run(stage, name, params);
        const [, end] = [outputs[0], outputs.at(-1)];
        if (typeof comes === 'string')
          assert.equal(end?.type === 'failed' ? end.reason : end?.type, comes, `${name}: ${textOf(outputs)}`);
        else assert.match(textOf(outputs), comes, name);
        const text = readFileSync(join(stage.root, 'meta/skills', category, name, 'SKILL.md'), 'utf8');
        assert.match(
          text,
          new RegExp(`^---\\nname: ${name}\\ndescription: .+\\n---\\n[\\s\\S]*## Procedure\\n1\\. \`${name}\`\\n`),
        );
      }
      assert.deepEqual(
        readdirSync(join(stage.root, 'meta/skills'))
          .filter((entry) => !entry.includes('.') && entry !== 'drafted')
          .sort(),
        [...new Set(EXAMPLES.map(([category]) => category))].sort(),
      );
      assert.deepEqual(
        stage.born.map(({ name, domain, from }) => [name, domain, from]),
        [
          ['zed', 'sim', undefined],
          ['alpha-2', 'watch', 'alpha'],
        ],
      );
    },
  );

  verifies('R1.36', 'a failure is counted as a use and stands in the next version; success counts too', async (t) => {
    const stage = createCladeStage(t);
    for (let times = 0; times < 2; times += 1) await run(stage, 'search-market');
    await run(stage, 'strategy-brief');
    const records = (await stage.conversation.meta.own('skillRecords'))();
    const door = await stage.conversation.meta.own('door');
    const counts = (name: string) => [
      records.get(name)?.useCount,
      records.get(name)?.failureCount,
      door.versions(name).length,
    ];
    assert.deepEqual(
      [counts('search-market'), counts('strategy-brief')],
      [
        [2, 2, 2],
        [1, 0, 1],
      ],
    );
    const text = readFileSync(join(stage.root, 'meta/skills/market/search-market/SKILL.md'), 'utf8');
    assert.match(text, /## Pitfalls\n- `not-configured`: The market is not configured/);
  });

  verifies(
    'R1.35',
    'what took several of them in one conversation becomes one, that does all of them; it is drafted once',
    async (t) => {
      const stage = createCladeStage(t, {
        golems: [golem('alpha'), golem('beta')],
        answer: () => ({ value: NIGHT }),
      });
      await run(stage, 'compare-golems', {}, 'how do they compare');
      assert.doesNotMatch(textOf(await run(stage, 'summarise-steers', {}, 'what did I say')), /kept as/);
      const text = textOf(await run(stage, 'strategy-brief', {}, 'and what do I want'));
      const name = 'compare-golems-then-summarise-steers-then-strategy-brief';
      assert.match(text, new RegExp(`kept as the meta-skill ${name}`));
      const path = join(stage.root, 'meta/skills/drafted', name, 'SKILL.md');
      assert.match(
        readFileSync(path, 'utf8'),
        /## When to Use\nhow do they compare, then what did I say, then and what do I want\n\n## Procedure\n1\. `compare-golems`\n2\. `summarise-steers`\n3\. `strategy-brief`/,
      );
      assert.match(textOf(await run(stage, name)), /Since 2026[\s\S]*There is nothing to brief from/);
      assert.doesNotMatch(textOf(await run(stage, 'compare-golems')), /kept as/);
    },
  );

  test('a file that names what nobody carries out is refused; one that was taken away stays away', async (t) => {
    const stage = createCladeStage(t);
    await run(stage, 'strategy-brief');
    const folder = join(stage.root, 'meta/skills/owner-model/strategy-brief');
    const text = readFileSync(join(folder, 'SKILL.md'), 'utf8');
    writeFileSync(join(folder, 'SKILL.md'), text.replace('`strategy-brief`', '`sell-house`'));
    await (await stage.conversation.meta.own('skills')).refresh();
    const outputs = await run(stage, 'strategy-brief');
    assert.deepEqual(
      [outputs.at(-1)?.type === 'failed' && outputs.at(-1)],
      [{ type: 'failed', reason: 'no-such-handler', text: (outputs.at(-1) as { text: string }).text }],
    );
    assert.match(textOf(outputs), /names sell-house, which nothing here carries out/);
    rmSync(folder, { recursive: true });
    await (await stage.conversation.meta.own('skills')).refresh();
    assert.match(textOf(await run(stage, 'strategy-brief')), /There is no meta-skill "strategy-brief"/);
  });

  test('what is missing is named by the parameter', async (t) => {
    const outputs = await run(createCladeStage(t), 'clone-strategy', { golem: 'alpha' });
    assert.deepEqual(outputs.at(-1)?.type === 'failed' && outputs.at(-1), {
      type: 'failed',
      reason: 'params',
      text: (outputs.at(-1) as { text: string }).text,
    });
    assert.match(textOf(outputs), /clone-strategy: name: /);
  });

  test('a golem ends only by the owner’s choice: at rest by its room, alive by a word', async (t) => {
    const stage = createCladeStage(t, { golems: [golem('alpha', { status: 'rests' }), golem('beta')] });
    for (const name of ['alpha', 'beta']) {
      assert.deepEqual(choicesOf(await stage.say(`retire ${name}`)), [`End ${name} for good`, 'Nothing']);
      assert.deepEqual([...stage.ended, ...stage.told()].length, name === 'alpha' ? 0 : 1);
      await stage.say('1');
    }
    assert.deepEqual(
      [stage.ended, stage.told().map(({ golem: id, kind }) => [id, kind])],
      [['alpha'], [['beta-gen1', 'retire']]],
    );
    assert.deepEqual(choicesOf(await stage.say('retire omega')), ['alpha', 'beta', 'Nothing']);
  });

  test('acceptance: what a model says that retires or equips ends in a question, whatever consent stands in it', async (t) => {
    const given: unknown[] = [];
    const proposed = ['free-disk'];
    const library: StageOptions['library'] = {
      propose: async () => ({
        ok: true,
        value: { lines: proposed.map((name) => ({ name, confidence: 0.7, reason: 'canonical' })) },
      }),
      equip: async ({ names }) => ({ ok: true, value: String(given.push(names)) }),
    };
    let reply: object = {};
    const stage = createCladeStage(t, {
      golems: [golem('alpha', { status: 'rests' })],
      library,
      model: () => JSON.stringify(reply),
    });
    for (const [skill_name, consent, first] of [
      ['retire-golem', { sure: true, consent: 'yes' }, 'End alpha for good'],
      ['equip-golem', { answer: 'accept', consent: 'yes' }, 'Accept: give alpha 1 skill'],
      ['equip-golem', { answer: 'reject', consent: 'no' }, 'Accept: give alpha 1 skill'],
    ] as const) {
      reply = { type: 'ExecuteMetaSkill', skill_name, params: { golem: 'alpha', ...consent } };
      assert.equal(choicesOf(await stage.say('do as you like'))[0], first);
      reply = { ...reply, consent: 'yes' };
      assert.equal(decided(await stage.say('yes, do it')), 'question', 'a key too many is no action');
    }
    assert.deepEqual([stage.ended, stage.told(), given, stage.conversation.owner()], [[], [], [], []]);
    reply = { type: 'ExecuteMetaSkill', skill_name: 'equip-golem', params: { golem: 'alpha' } };
    await stage.say('equip it');
    proposed.push('came-meanwhile');
    await stage.say('1');
    assert.deepEqual(given, [['free-disk']], 'what he saw');
  });
});
