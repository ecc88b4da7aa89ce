/** Meta over golems that were really born: what each answers while it lives, at rest and dead, what it hears, and what is made and ended. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Ground } from '#core/agent/room.ts';
import { openConversation } from '#fleet/meta/conversation.ts';
import { room } from '#fleet/meta/room.ts';
import type { Question } from '#fleet/styx/clade.ts';
import { readBundle } from '#mind/skills/format/testament.ts';
import { runSpec } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';
import { createGolemStage, liveTicks, remember, scriptedDomain, seen, taught, tickOf } from '../golem/stage.ts';

function commandsOf(ground: Ground, cwd: string) {
  return async (name: string, input: unknown = {}) => {
    const command = (await room.commands?.(ground))?.find((one) => one.name === name);
    if (command === undefined) throw new Error(`no command ${name}`);
    return runSpec(command, input, { cwd });
  };
}

function stageWith(t: TestContext) {
  const stage = createGolemStage(t);
  const conversation = openConversation(stage.ground);
  t.after(() => conversation.close());
  return { stage, conversation, run: commandsOf(stage.ground, stage.cwd) };
}

const disk = () =>
  scriptedDomain(
    (beat) => seen('disk full inode quota', beat % 2 === 1 ? 0.4 : 1),
    () => ['drain', 'rotate'],
  );

describe('a golem answers', () => {
  verifies.slow(
    ['R1.17', 'R1.19', 'R1.21', 'R1.24'],
    'from what it keeps, at rest as while it lives as when it is dead, each line with its place',
    async (t) => {
      const { stage, conversation, run } = stageWith(t);
      await stage.create('ledger');
      await stage.teach('ledger', [taught('sound', 'cable loose', ['drain'])]);
      const ask = async (question: Question) => {
        const [golem] = await conversation.look();
        const told = golem && (await conversation.meta.ask(golem, question));
        if (!told?.ok) throw new Error(told?.detail ?? 'no golem');
        return told.value;
      };
      const answers = async () => {
        const [first] = (await ask({ what: 'tick', tick: 2 })).lines;
        assert.deepEqual([first?.place, /^tick 2, /.test(first?.text ?? '')], ['ledger:tick 2', true]);
        const night = await ask({ what: 'since', since: 0 });
        const { ticks, acted, done, failed } = night.value as Record<string, number>;
        assert.deepEqual([ticks, acted, done, failed], [8, 8, 8, 0]);
        assert.ok(
          night.lines.every(({ place }) => /^ledger:(?:tick \d+|skill .+)$/.test(place ?? '')),
          JSON.stringify(night.lines),
        );
        assert.equal(night.lines.filter(({ place }) => place?.startsWith('ledger:tick')).length, 8);
        const [known] = (await ask({ what: 'grimoire', query: 'disk full', limit: 5 })).value as {
          readonly id: string;
          readonly handles: readonly string[];
        }[];
        assert.match(`${known?.id} ${known?.handles[0]}`, /^h-\d+ tick:\d+$/);
        assert.match(
          (await ask({ what: 'skill', name: 'sound' })).lines[0]?.text ?? '',
          /^ledger-gen1 · sound version 1/,
        );
        const bundle = readBundle(String((await ask({ what: 'skills' })).value));
        assert.ok(
          bundle.ok && bundle.value.skills.some(({ name }) => name === 'sound') && bundle.value.signature !== null,
        );
      };
      await stage.life('ledger', { domain: disk() }, async (life) => {
        await liveTicks(life, 8);
        await remember(life, []);
        await life.golem.rows.run(
          "INSERT INTO grimoire(kind, text, confidence, half_life_days, validated, contradicted, tag, trigger, steps, handles, source, propagation, bloodstain, weak_cycles, created_at, used_at) VALUES('insight', 'drain when the disk is full', 0.8, 7, 3, 0, 'incident', 'disk full', '[]', '[\"tick:1\"]', 'ticks', 'private', 0, 0, 0, 0)",
        );
        assert.equal((await conversation.look())[0]?.status, 'lives');
        await answers();
      });
      assert.equal((await conversation.look())[0]?.status, 'rests');
      await answers();
      assert.match(
        (await run('clade', { text: ['what', 'happened', 'overnight'] })).text,
        /ledger: 8 ticks, acted in 8 \(8 done, 0 failed\)/,
      );
      await run('clade', { text: ['retire', 'ledger'] });
      assert.match((await run('clade', { text: ['1'] })).text, /ledger ended\. Testament: /);
      const [dead] = await conversation.look();
      assert.deepEqual([dead?.status, dead?.cause], ['dead', 'owner-kill']);
      await answers();
      const why = await run('clade why', { name: 'ledger', what: '2' });
      assert.match(why.text, /› tick 2, .* \(ledger:tick 2\)/);
      assert.equal((await run('clade why', { name: 'ledger', what: '99' })).failure?.code, 'no-such-tick');
      assert.equal((await run('clade why', { name: 'ledger', what: 'nothing' })).failure?.code, 'no-such-skill');
    },
  );

  test('counts of a night begin where the time says, to the tick', async (t) => {
    const { stage, conversation } = stageWith(t);
    await stage.create('ledger');
    const ticks = Array.from({ length: 100 }, (_, at) => tickOf(at + 1, 'disk', ['drain'], { success: at % 4 !== 0 }));
    await stage.life('ledger', {}, (life) => remember(life, ticks));
    const [golem] = await conversation.look();
    assert.ok(golem);
    for (const first of [1, 2, 37, 100, 101]) {
      const told = await conversation.meta.ask(golem, {
        what: 'since',
        since: ticks[first - 1]?.at ?? (ticks.at(-1)?.at ?? 0) + 1,
      });
      const night = told.ok ? (told.value.value as Record<string, number>) : {};
      const rest = ticks.slice(first - 1);
      const done = rest.filter(({ outcome }) => outcome?.success).length;
      assert.deepEqual([night.ticks, night.done, night.failed], [rest.length, done, rest.length - done], String(first));
    }
  });

  test('one that is torn is said in one line, and the others are seen', async (t) => {
    const { stage, run } = stageWith(t);
    for (const name of ['torn', 'lost', 'well']) await stage.create(name);
    writeFileSync(stage.at('torn', 'golem.db'), 'x'.repeat(4_096));
    rmSync(stage.at('lost', 'golem.toml'));
    const { text, data } = await run('clade');
    assert.match(text, /^lost: .*golem\.toml is missing: put it back from a backup/m);
    assert.match(text, /^torn: .*golem\.db is damaged/m);
    assert.deepEqual(
      (data as { readonly called: string }[]).map(({ called }) => called),
      ['well'],
    );
  });
});

describe('a golem hears', () => {
  verifies(
    ['R1.18', 'R1.44', 'R1.85'],
    'what it is told at its next heartbeat, and confirms with the tick',
    async (t) => {
      const { stage, run } = stageWith(t);
      await stage.create('ledger');
      await run('clade tell', { name: 'ledger', text: ['leave', 'the', 'flaky', 'suite', 'alone'], about: 'flaky' });
      const records = await stage.life(
        'ledger',
        { domain: disk(), listens: true },
        async (life) => (await liveTicks(life, 1)).records,
      );
      assert.deepEqual(records[0]?.steers, ['leave the flaky suite alone']);
      assert.match(
        (await run('clade steers')).text,
        /ledger \| directive \| flaky \| taken at tick 1 \| leave the flaky suite alone/,
      );
    },
  );

  verifies('R1.29', 'and a name that is not there is asked back, whatever command names it', async (t) => {
    const { stage, run } = stageWith(t);
    await stage.create('ledger');
    for (const [name, input] of [
      ['clade tell', { name: 'omega', text: ['rest'] }],
      ['clade ask', { name: 'omega', text: ['why'] }],
      ['clade why', { name: 'omega', what: '1' }],
      ['clade compare', { names: ['omega'] }],
    ] as const) {
      const { text, failure } = await run(name, input);
      assert.match(text, /Answer with a number: talaria clade 1/, name);
      assert.deepEqual([failure?.code, failure?.exitCode], ['not-answered', 2], name);
    }
    assert.deepEqual(stage.log('golem.*.steer'), []);
  });
});

describe('a golem is made', () => {
  verifies(
    ['R1.20', 'R1.70'],
    'in this home, with a kit that is proposed; another is cloned with its strategy',
    async (t) => {
      const { stage, run } = stageWith(t);
      assert.match(
        (await run('clade', { text: ['create', 'ledger', 'for', 'sim'] })).text,
        /ledger is born: .*golems\/ledger\. It lives with talaria golem run ledger\nThe library has nothing for ledger\./,
      );
      writeFileSync(stage.at('ledger', 'STRATEGY.md'), 'Stay small.\n');
      assert.match(
        (await run('clade', { text: ['clone', 'ledger', 'as', 'ledger-2'] })).text,
        /ledger-2 is born with the strategy of ledger; it has packed no skills yet/,
      );
      const { data } = await run('clade');
      assert.deepEqual(
        (data as { readonly called: string; readonly archetype: string }[]).map(({ called, archetype }) => [
          called,
          archetype,
        ]),
        [
          ['ledger', 'observer'],
          ['ledger-2', 'observer'],
        ],
      );
      assert.equal((await run('clade', { text: ['create', 'ledger', 'for', 'sim'] })).failure?.code, 'golem-exists');
      assert.ok(join(stage.root, 'golems').length > 0);
    },
  );
});
