/** What an owner sees and says: the commands around a life. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { createGolemStage, liveTicks, never, put, remember, scriptedDomain, seen, tickOf } from './stage.ts';

describe('commands that look', () => {
  slow('list, show, ticks, why, playbook tell of a life, and change nothing of it', async (t) => {
    const stage = createGolemStage(t);
    const empty = await stage.run('golem list');
    assert.match(empty.text, /There is no golem yet: talaria golem create NAME/);
    await stage.create('ada');
    await stage.run('golem run', { name: 'ada', ticks: 60 });
    const before = readFileSync(stage.at('ada', 'golem.toml'), 'utf8');
    assert.match(
      (await stage.run('golem list')).text,
      /ada \| ada-gen1 \| sim \| rests \| thriving \| 60 \| \d+ % \| \$0\.00/,
    );
    const shown = await stage.run('golem show', { name: 'ada' });
    assert.match(shown.text, /^ada-gen1 · sim · rests · thriving · tick 60 · right \d+ %/);
    assert.match(shown.text, /skill \| confidence \| held \| failed \| status \| from\nincident-/);
    const ticks = await stage.run('golem ticks', { name: 'ada', from: 59, to: 60 });
    assert.match(ticks.text, /^tick 59 · T2 · rule · incident[^\n]+\ntick 60 · T2 · rule · incident[^\n]+$/);
    const why = await stage.run('golem why', { name: 'ada', what: '60' });
    assert.match(why.text, /^tick 60, [\s\S]*gate {5}T2, surprise 1\.00[\s\S]*expected [\s\S]*answered rule\ndid /);
    assert.match((await stage.run('golem playbook', { name: 'ada' })).text, /^# Playbook of ada-gen1/);
    assert.equal(readFileSync(stage.at('ada', 'golem.toml'), 'utf8'), before);
    assert.equal((await stage.command('doctor', {})).text.includes('ada was killed'), false);
  });

  test('what is not there is named, with the way to what is', async (t) => {
    const stage = createGolemStage(t);
    await stage.create('ada');
    for (const [name, input, code, says] of [
      ['golem show', { name: 'bob' }, 'no-such-golem', /There is no golem bob in .*golems\. There are ada\./],
      ['golem show', { name: 'A b' }, 'invalid-name', /"A b" is no name/],
      ['golem why', { name: 'ada', what: '9' }, 'no-such-tick', /ada has no tick 9; it lived 0\./],
      ['golem why', { name: 'ada', what: 'nothing' }, 'no-such-skill', /ada has no skill nothing\./],
      ['golem verify', { file: 'gone.json' }, 'no-such-bundle', /There is no file .*gone\.json/],
      ['golem trial', { world: 'sim', ablate: 'heart' }, 'no-such-part', /heart is no part of the mind/],
      ['golem create', { name: 'cy', dir: 'gone' }, 'no-folder', /gone is no folder/],
      ['golem create', { name: 'cy', domain: 'coding' }, 'no-repository', /repository/],
      ['golem create', { name: 'cy', domain: 'sim', from: 'ada' }, 'no-testament', /ada left no testament yet/],
    ] as const) {
      const { failure, text } = await stage.run(name, input);
      assert.equal(failure?.code, code, `${name} ${JSON.stringify(input)}: ${text}`);
      assert.match(text, says);
    }
    assert.equal(existsSync(stage.at('cy')), false, 'nothing is half born');
  });

  verifies(
    'RQ.5',
    'trajectories leave as JSON lines: observation, procedures, actions, outcome, and no key',
    async (t) => {
      const stage = createGolemStage(t);
      await stage.create('ada');
      await stage.run('golem run', { name: 'ada', ticks: 12 });
      const done = await stage.run('golem export', { name: 'ada', trajectories: 'out.jsonl' });
      assert.match(done.text, /12 acting ticks in /);
      const lines = readFileSync(join(stage.cwd, 'out.jsonl'), 'utf8').trimEnd().split('\n');
      assert.equal(lines.length, 12);
      for (const line of lines) {
        const { observation, procedures, actions, outcome } = JSON.parse(line);
        assert.ok(observation.text && Array.isArray(procedures) && actions.length > 0 && outcome.verified);
      }
      const again = (trajectories: string, force: boolean) =>
        stage.run('golem export', { name: 'ada', trajectories, force });
      assert.equal((await again('.', true)).failure?.code, 'file-name');
      assert.equal((await again('out.jsonl', false)).failure?.code, 'file-exists');
      assert.match((await again('out.jsonl', true)).text, /12 acting ticks/);
    },
  );

  test('what is torn or missing is named by all of them, and left as it is', async (t) => {
    const stage = createGolemStage(t);
    for (const name of ['torn', 'empty', 'gone', 'lost']) await stage.create(name);
    writeFileSync(stage.at('torn', 'golem.db'), 'x'.repeat(4_096));
    writeFileSync(stage.at('empty', 'golem.db'), '');
    rmSync(stage.at('gone', 'golem.db'));
    rmSync(stage.at('lost', 'golem.toml'));
    const own = (file: string) => !file.endsWith('.suspect');
    const files = () => ['torn', 'empty', 'gone', 'lost'].map((name) => readdirSync(stage.at(name)).filter(own));
    const before = files();
    for (const name of ['torn', 'empty', 'gone'])
      for (const word of ['show', 'bury', 'run']) {
        const told = { code: 'golem-torn', message: /golem\.db is damaged/, fix: /from a backup/ };
        await assert.rejects(stage.run(`golem ${word}`, { name }), told);
      }
    assert.equal((await stage.run('golem show', { name: 'lost' })).failure?.code, 'golem-toml-missing');
    assert.equal((await stage.run('golem create', { name: 'lost', domain: 'sim' })).failure?.code, 'golem-exists');
    for (const { text } of [await stage.run('golem list'), await stage.command('doctor', {})]) {
      for (const name of ['torn', 'empty', 'gone'])
        assert.match(text, new RegExp(`${name}: \\S+golem\\.db is damaged`));
      assert.match(text, /lost: \S+golem\.toml is missing: put it back from a backup/);
    }
    assert.deepEqual(files(), before);
  });

  test('of many ticks the first thousand from there, and where the next begin; what could not be seen is no quiet', async (t) => {
    const stage = createGolemStage(t);
    await stage.create('ada');
    await stage.life('ada', {}, async (life) => {
      await remember(life, [tickOf(1, '', [], { tier: 'T0', faults: ['unseen: no folder'] })]);
      const many = 'WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)';
      const copy = "SELECT i, at, tag, tier, surprise, acted, success, json_set(record, '$.tick', i) FROM n, ticks";
      await put(life, `INSERT INTO ticks ${many} ${copy}`);
    });
    const ticks = async (range: { from?: number; to?: number }) => {
      const { text, data } = await stage.run('golem ticks', { name: 'ada', ...range });
      const [first, last] = [(data as { tick: number }[])[0], (data as { tick: number }[]).at(-1)];
      return { span: `${first?.tick}–${last?.tick}`, text, more: /There is more: .*$/.exec(text)?.[0] };
    };
    const { span, text, more } = await ticks({ from: 1 });
    assert.deepEqual([span, more], ['1–1000', 'There is more: talaria golem ticks ada --from 1001']);
    assert.match(text, /^tick 1 · T0 .* · unseen: no folder\n/);
    for (const [range, expected] of [
      [{ from: 1_001 }, '1001–1500'],
      [{ from: 1, to: 1_000 }, '1–1000'],
      [{}, '1481–1500'],
    ] as const) {
      const { span, more } = await ticks(range);
      assert.deepEqual([span, more], [expected, undefined]);
    }
  });
});

describe('words and trust', () => {
  slow('a dream by hand has what is left of the day, and says what it waits for', async (t) => {
    for (const [most, calls] of [
      [1, 1],
      [10, 2],
    ]) {
      const steps = ['Nothing.', '{"counterfactuals": []}'].slice(0, calls);
      const model = createScriptedModel(steps, { context: t, cost: 1 });
      const stage = createGolemStage(t, { extra: { client: model } });
      const toml = `[heartbeat]\nmax_daily_cost_usd = ${most}\n\n[hermes]\ndream_interval = 4\n`;
      await stage.create('ada', { toml });
      const domain = scriptedDomain(() => seen('disk full'));
      await stage.life('ada', { domain, models: true }, async (life) => {
        await liveTicks(life, 1);
        await remember(
          life,
          [2, 3].map((tick) => tickOf(tick, 'disk full', ['drain'], { success: false })),
        );
      });
      const dream = async () => (await stage.run('golem dream', { name: 'ada' })).text;
      assert.match(await dream(), /^tick 3 · no dream: it lived 3 ticks, and dreams from 4 on$/);
      const fourth = tickOf(4, 'disk full', ['drain'], { success: false });
      await stage.life('ada', { domain }, (life) => remember(life, [fourth]));
      assert.match(await dream(), /^tick 4 · dreamt: /);
      assert.equal(model.requests.length, calls, `${most} dollars a day`);
      assert.match(await dream(), /^tick 4 · no dream: the last dream was 0 ticks ago$/);
    }
  });

  test('pause, resume and steer go over the log, and the dead hear nothing', async (t) => {
    const stage = createGolemStage(t);
    await stage.create('ada');
    for (const kind of ['pause', 'resume']) await stage.run(`golem ${kind}`, { name: 'ada' });
    await stage.run('golem steer', { name: 'ada', text: ['be', 'careful'] });
    const words = stage.bodies('golem.ada.steer').map((body) => Object(Object(body).word));
    assert.deepEqual(
      words.map(({ kind, golem, text }) => [kind, golem, text]),
      [
        ['pause', 'ada-gen1', undefined],
        ['resume', 'ada-gen1', undefined],
        ['steer', 'ada-gen1', 'be careful'],
      ],
    );
    const asked: string[] = [];
    await stage.run('golem retire', { name: 'ada' }, async (question) => {
      asked.push(question);
      return 'n';
    });
    assert.match(asked.join(), /End ada for good\?/);
    assert.equal((await stage.run('golem retire', { name: 'ada' })).failure?.code, 'needs-owner');
    await stage.run('golem retire', { name: 'ada', yes: true });
    for (const kind of ['steer', 'pause', 'dream', 'retire', 'bury', 'run']) {
      const told = await stage.run(`golem ${kind}`, { name: 'ada', text: ['x'], yes: true });
      assert.equal(told.failure?.code, 'dead', kind);
      assert.equal(told.failure?.exitCode, 3);
    }
  });

  slow('a stranger’s testament waits for a word of the owner, and then an heir may be born of it', async (t) => {
    const far = createGolemStage(t);
    await far.create('ada');
    await far.run('golem run', { name: 'ada', ticks: 60 });
    await far.run('golem retire', { name: 'ada', yes: true });
    const text = readFileSync(far.at('ada', 'testament', 'ada-gen1.json'), 'utf8');
    const here = createGolemStage(t);
    writeFileSync(join(here.cwd, 'ada.json'), text);
    const held = await here.run('golem create', { name: 'bea', domain: 'sim', from: 'ada.json' });
    assert.deepEqual([held.failure?.code, held.failure?.exitCode], ['unknown-signer', 3]);
    assert.match(held.text, /golem verify ada\.json --trust/);
    assert.match((await here.run('golem verify', { file: 'ada.json' })).text, /unknown to this home; lineage ada-gen1/);
    assert.match((await here.run('golem verify', { file: 'ada.json', trust: true })).text, /accepted by you now/);
    const born = await here.run('golem create', { name: 'bea', domain: 'sim', from: 'ada.json' });
    assert.match(born.text, /bea is born: .*\nIt knows \d+ skills? that it was given.*\n/);
    const [, known = ''] = /It knows (\d+)/.exec(born.text) ?? [];
    const told = await here.life('bea', {}, async ({ golem }) => Object(golem.rows.value('told')));
    assert.equal(told.skills, Number(known));
    const { skills } = (await here.run('golem show', { name: 'bea' })).data as {
      skills: readonly { priorConfidence: number }[];
    };
    const given = JSON.parse(text).skills as readonly { record: { confidence: number } }[];
    const best = (values: readonly number[]) => Math.max(...values).toFixed(6);
    assert.equal(
      best(skills.map((one) => one.priorConfidence)),
      best(given.map(({ record }) => record.confidence * 0.7)),
    );
    writeFileSync(join(here.cwd, 'bad.json'), text.replace('incident', 'incidemt'));
    assert.equal((await here.run('golem verify', { file: 'bad.json' })).failure?.exitCode, 1);
    truncateSync(join(here.cwd, 'bad.json'), 70 * 1024 ** 2);
    const { failure } = await here.run('golem verify', { file: 'bad.json' });
    assert.deepEqual([failure?.code, failure?.exitCode], ['too-large', 1]);
    assert.match(failure?.message ?? '', /bad\.json: A bundle has at most 64 MiB/);
  });
});

test('a clock that jumps an hour back and a day forth leaves no gap, no tick twice and no second dream', async (t) => {
  const clock = createManualClock({ auto: true });
  const stage = createGolemStage(t, { clock });
  await stage.create('ada', { toml: '[hermes]\ndream_interval = 10\n' });
  const dreams: number[] = [];
  await stage.life('ada', {}, async (life) => {
    for (const jump of [0, -3_600_000, 86_400_000]) {
      clock.jump(jump);
      for await (const event of life.live({ ticks: 8, signal: never }))
        if (event.type === 'dream') dreams.push(event.tick);
    }
    const records = life.golem.rows.ticks({});
    assert.deepEqual(
      records.map(({ tick }) => tick),
      Array.from({ length: 24 }, (_, index) => index + 1),
    );
    assert.deepEqual(
      records.flatMap(({ faults }) => faults),
      [],
    );
  });
  assert.deepEqual(dreams, [10, 20]);
});
