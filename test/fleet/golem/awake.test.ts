/** A golem awake: when its mind is called, what it is shown, what it queues, drafts and counts, and how it weighs. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { addressOf } from '#base/ethereum.ts';
import { SimWorld } from '#fleet/golem/domains/sim-world.ts';
import type { Life } from '#fleet/golem/life.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import * as golem from './stage.ts';

const { liveTicks, look, never, only, put, quiet, rowsOf, seen, taught, tickOf, withMind } = golem;
const DISK = 'disk full inode quota';
const LATE = 'packet latency jitter loss';
const STEPS = ['drain', 'rotate', 'restart'];
const DISK_FULL = taught('disk-full', DISK, STEPS);
const names = (list: readonly { readonly name: string }[] = []) => list.map(({ name }) => name);
const shown = async (life: Life, text = DISK, pad: Partial<golem.Mood> = {}) =>
  (await look(life, text, pad)).value.procedures;

verifies(
  ['R0.5', 'R0.7', 'R0.10', 'R0.11', 'R0.12', 'R0.24', 'R0.41', 'R0.49', 'R0.66', 'R0.73', 'R0.99'],
  'a mind has seven hooks, each called at its moment in a life; what the golem does, it alone does',
  async (t) => {
    const settle = async () => void trace.push('settle');
    const sees = (beat: number) => seen(DISK, Number(beat !== 2));
    const domain = golem.scriptedDomain(sees, () => STEPS, { settle });
    const { trace } = domain;
    await withMind(t, { domain, toml: '[hermes]\ndream_interval = 4\n' }, async (life, stage) => {
      golem.traceHooks(life, trace);
      for await (const event of life.live({ ticks: 4, signal: never })) {
        if (event.type !== 'tick') trace.push(event.type);
        else if (event.record.tick === 2) await stage.run('golem pause', { name: 'ada' });
        if (event.type === 'paused') await stage.run('golem resume', { name: 'ada' });
      }
      await life.rest();
      await life.end('owner-kill', never);
    });
    const told = trace.join(' ').replace(/(act \w+ on_tool_result ?)+/g, '+ ');
    const acting = 'observe on_context + verify on_after_turn';
    const paused = 'observe on_after_turn paused on_session resumed';
    const end = 'on_dream_onset dream on_end settle on_death';
    assert.equal(told, `on_session ${acting} ${paused} ${acting} ${acting} ${end}`);
    assert.equal(Object.keys(golem.HOOKS).length, 7);
  },
);

verifies(['R0.7', 'R0.40', 'R0.48'], 'driven alone through all it is told, it does nothing', async (t) => {
  const domain = golem.always(DISK, STEPS);
  await withMind(t, { domain, skills: [DISK_FULL] }, async (life) => {
    assert.deepEqual(names(await shown(life)), ['disk-full']);
    const feedback = { tool: 'sim', success: true, outcome_value: null, tick: 1, context: 'x' };
    assert.deepEqual((await life.hooks.toolResult({ feedback })).value, { queued: false });
    await golem.remember(life, golem.ticksOf(50, DISK, STEPS));
    await life.hooks.afterTurn({ record: tickOf(50, DISK, STEPS) });
    await life.hooks.dreamOnset({ tick: 50, budget_usd: 1, phase: 'thriving' });
    await life.hooks.end({});
    await life.hooks.death({ tick: 50, cause: 'age' });
    assert.deepEqual(domain.trace, []);
  });
});

verifies.slow(
  ['R0.13', 'R0.14', 'R0.15', 'R0.16', 'R0.18', 'R0.19', 'R0.20', 'R0.21'],
  'a session counts what it can read anew; a newborn alone asks for a kit, lives without, and takes it when it comes',
  async (t) => {
    const stage = golem.createGolemStage(t);
    const loaded = async (name: string) => {
      const { events } = await stage.life(name, { domain: quiet() }, (life) => liveTicks(life, 1));
      return only(events, 'SkillsLoaded').map(({ count }) => count);
    };
    await stage.create('ada');
    assert.deepEqual(await loaded('ada'), [0]);
    const strong = { confidence: 0.8, useCount: 4 };
    const three = ['a', 'b', 'c'].map((name) => taught(`skill-${name}`, DISK, STEPS, strong));
    await stage.teach('ada', three);
    mkdirSync(stage.at('ada', 'skills', 'torn'));
    writeFileSync(stage.at('ada', 'skills', 'torn', 'SKILL.md'), 'no front matter');
    assert.deepEqual(await loaded('ada'), [3]);
    const signer = await addressOf(readFileSync(stage.at('ada', 'golem.key'), 'utf8'));
    const kit = { kind: 'seed-kit', golem: 'ada-gen1', signer, archetype: 'observer', domain: 'sim' };
    assert.deepEqual(stage.bodies('golem.ada.ask'), [kit]);
    const { bundle = '' } = await stage.life('ada', { domain: quiet() }, async (life) => {
      await life.hooks.session({ reason: 'start' });
      rmSync(stage.at('ada', 'skills', 'skill-b'), { recursive: true });
      const { events } = await life.hooks.session({ reason: 'resume' });
      assert.deepEqual(events, [{ type: 'SkillsLoaded', count: 2 }]);
      assert.deepEqual(names(await shown(life)), ['skill-a', 'skill-c']);
      return life.rest();
    });
    // Over the log, while it lives; and as a file that was there at birth.
    await stage.create('bea');
    const counts = await stage.life('bea', { domain: quiet() }, async (life) => {
      const told: number[] = [];
      life.events.subscribe(({ event }) => void (event.type === 'SkillsLoaded' && told.push(event.count)));
      for await (const _ of life.live({ ticks: 2, signal: never }))
        await life.log.append('clade.kit', { golem: 'bea-gen1', path: bundle });
      return told;
    });
    assert.deepEqual(counts, [0, 2]);
    await stage.create('cid', { from: bundle });
    assert.deepEqual(await loaded('cid'), [2]);
  },
);

const MOODS: readonly (readonly [Partial<golem.Mood>, string])[] = [
  [{ arousal: 0.51, pleasure: -0.21 }, ' risk mitigation defensive caution'],
  [{ arousal: 0.5, pleasure: -0.21 }, ''],
  [{ arousal: 0.51, pleasure: -0.2 }, ''],
  [{ pleasure: 0.31, dominance: 0.31 }, ' optimization aggressive opportunity'],
  [{ pleasure: 0.3, dominance: 0.31 }, ''],
  [{ pleasure: 0.31, dominance: 0.3 }, ''],
  [{ dominance: -0.31 }, ' proven validated safe'],
  [{ dominance: -0.3 }, ''],
  [{ pleasure: -0.5, arousal: 0.8, dominance: -0.5 }, ' risk mitigation defensive caution proven validated safe'],
  [{}, ''],
];
const OWN_MOODS: typeof MOODS = [
  [{ arousal: 0.2 }, ' risk mitigation defensive caution'],
  [{ arousal: 0.1 }, ''],
  [{ pleasure: 0.91, dominance: 0.1 }, ' optimization aggressive opportunity'],
  [{ dominance: -0.9 }, ''],
  [{ dominance: -0.91 }, ' proven validated safe'],
];

verifies(
  ['R0.25', 'R0.29', 'R0.30', 'R0.31', 'R0.32', 'R0.33', 'R0.34', 'R0.35'],
  'it asks for what is seen, with the words of a mood beyond its thresholds, which are settings',
  async (t) => {
    const asks = (moods: typeof MOODS) => async (life: Life) => {
      for (const [pad, suffix] of moods) assert.equal((await look(life, DISK, pad)).value.query, `${DISK}${suffix}`);
    };
    await withMind(t, {}, asks(MOODS));
    const own = 'arousal = 0.1\npleasure_low = 0.1\npleasure_high = 0.9\ndominance_low = -0.9\ndominance_high = 0.0';
    await withMind(t, { toml: `[hermes.affect_modulation]\n${own}\n` }, asks(OWN_MOODS));
  },
);

verifies(
  ['R0.6', 'R0.26', 'R0.28', 'R0.36', 'R0.38'],
  'it shows three at most and says which; an anxious golem sees caution, a confident one gain, an unsure one proof',
  async (t) => {
    const kinds = ['mitigation of risk with caution', 'aggressive optimization', 'proven and validated way', 'a', 'b'];
    const ways = kinds.map((kind, at) => taught(`way-${at}`, `${DISK} ${kind}`));
    const skills = [...ways, taught('x', LATE), taught('y', LATE)];
    await withMind(t, { skills }, async (life) => {
      const anxious = await shown(life, DISK, { arousal: 0.8, pleasure: -0.5 });
      const confident = await shown(life, DISK, { pleasure: 0.6, dominance: 0.6 });
      const unsure = await shown(life, DISK, { dominance: -0.6 });
      assert.equal([anxious, confident, unsure].map(([first]) => first?.name).join(), 'way-0,way-1,way-2');
      for (const [text, count] of Object.entries({ [DISK]: 3, [LATE]: 2, 'nothing alike': 0 })) {
        const { value, events } = await look(life, text);
        const activated = { type: 'SkillsActivated', tick: 1, skills: names(value.procedures) };
        assert.deepEqual([value.procedures.length, events], [count, count > 0 ? [activated] : []]);
      }
    });
  },
);

verifies(
  ['R0.128', 'R0.129', 'R0.130', 'R0.131'],
  'it weighs words, record, attribution and how often predictions held, and says each part',
  async (t) => {
    const of = (name: string, attribution: number, category = 'incident') =>
      taught(name, DISK, [], { confidence: 0.5, attribution, categories: [category] });
    const skills = [of('hurt', -0.3), of('plain', 0), of('other', 0.05, 'other'), of('helped', 0.3)];
    const domain = golem.scriptedDomain(() => seen(''), undefined, { categories: ['incident', 'other'] });
    await withMind(t, { skills, domain }, async (life) => {
      const weighed = async (right: number, tries: number) => {
        await golem.foretell(life, right, tries);
        const all = await shown(life);
        for (const { parts, weight } of all) {
          assert.deepEqual([parts.standing, parts.bloodstain], [1, 1]);
          assert.ok(Math.abs(weight - parts.standing * parts.attribution * parts.boost) < 1e-9);
        }
        return `${names(all)} ${all.find(({ name }) => name === 'plain')?.parts.boost.toFixed(6)}`;
      };
      assert.equal(await weighed(42, 50), 'helped,other,plain 1.000000');
      assert.equal(await weighed(11, 20), 'helped,plain,other 1.300000');
      assert.equal(await weighed(10, 19), 'helped,other,plain 1.000000');
    });
  },
);

verifies(
  ['R0.24', 'R0.27', 'R0.37', 'R0.42', 'R0.43'],
  'a model sees procedures in its user message and no tool to search them; an act feeds back when it names one',
  async (t) => {
    const domain = golem.always(DISK, STEPS);
    const { trace } = domain;
    const act = (text: string) => () => {
      trace.push('model');
      return { text, calls: [{ name: 'golem_act', arguments: { label: 'drain' } }] };
    };
    const said = [act('I follow disk-full.'), 'done', act('I try this.'), 'done'];
    const client = createScriptedModel(said, { context: t });
    await withMind(t, { domain, skills: [DISK_FULL], extra: { client } }, async (life) => {
      golem.traceHooks(life, trace);
      const { records } = await liveTicks(life, 2);
      assert.equal(records.map(({ followed }) => followed?.name).join(), 'disk-full,');
      const row = { tick: 1, skill: 'disk-full', version: 1 };
      assert.deepEqual(rowsOf(life, 'SELECT tick, skill, version FROM feedback'), [row]);
    });
    assert.ok(trace.indexOf('on_context') < trace.indexOf('model'));
    assert.equal(trace.filter((one) => one === 'on_tool_result').length, 2);
    const { messages = [], system = '', tools } = client.requests[0] ?? {};
    const user = JSON.stringify(messages.filter(({ role }) => role === 'user'));
    assert.ok(user.split('[PROCEDURAL MEMORY]').length === 2 && user.includes('1. `drain`'));
    assert.ok(!system.includes('[PROCEDURAL MEMORY]') && !system.includes('1. `drain`'));
    assert.deepEqual(names(tools), ['golem_act']);
  },
);

verifies(
  ['R0.44', 'R0.45', 'R0.46', 'R0.47', 'R0.55', 'R0.56', 'R0.58', 'R0.123'],
  'feedback waits for the tenth tick, shows how often a skill worked, and moves its confidence; none waits, none is told',
  async (t) => {
    let beat = 0;
    const sees = (at: number) => {
      beat = at;
      return seen([DISK, LATE][Math.floor((at - 1) / 10)] ?? '', Number(at < 21));
    };
    // The first works in eight of ten, the second in two, and then nothing is the matter.
    const domain = golem.scriptedDomain(sees, () => [(beat - 1) % 10 < (beat > 10 ? 2 : 8) ? 'drain' : 'rotate']);
    const skills = [taught('disk-full', DISK, ['drain']), taught('late-packet', LATE, ['drain'])];
    await withMind(t, { domain, skills }, async (life) => {
      const skill = (name = 'disk-full') => life.mind?.skill(name);
      const waiting = () => rowsOf(life, 'SELECT * FROM feedback WHERE flushed = 0');
      const nine = await liveTicks(life, 9);
      assert.deepEqual([skill()?.record.confidence, skill()?.feedback], [0.5, { successes: 8, total: 9 }]);
      const about = { tick: 1, skill: 'disk-full', version: 1, tool: 'sim', success: 1, value: null, flushed: 0 };
      assert.deepEqual([waiting().length, waiting()[0]], [9, { id: 1, ...about, context: 'incident: drain' }]);
      assert.deepEqual(only(nine.events, 'FeedbackFlushed'), []);
      const { events } = await liveTicks(life, 21);
      assert.deepEqual([skill()?.record.confidence, skill('late-packet')?.record.confidence], [0.75, 0.25]);
      assert.deepEqual([skill()?.feedback, waiting()], [{ successes: 8, total: 10 }, []]);
      const flushed = events.filter(({ event }) => event.type === 'FeedbackFlushed');
      const told = flushed.map(({ tick, event }) => `${tick} ${JSON.stringify(event)}`);
      const ten = JSON.stringify({ type: 'FeedbackFlushed', count: 10 });
      assert.deepEqual(told, [`10 ${ten}`, `20 ${ten}`]);
    });
  },
);

/** A hundred words that no text holds. */
const WORDS = Array.from({ length: 100 }, (_, at) => `w${'bcdfghjklm'[at % 10]}${'npqrstvwxz'[Math.floor(at / 10)]}q`);
const words = (count: number) => WORDS.slice(0, count).join(' ');
const DRAFTED = [true, false].flatMap((success) =>
  (['T2', 'T1'] as const).flatMap((tier) => [3, 2].map((count) => ({ success, tier, count }))),
);

verifies(
  ['R0.50', 'R0.51', 'R0.52', 'R0.53', 'R0.54'],
  'a draft is made of three steps that worked on T2 where nothing usable covers it, and is not found as a skill is',
  async (t) => {
    const of = (name: string, when: string, confidence: number) => taught(name, when, STEPS, { confidence });
    await withMind(t, { skills: [of('known', words(100), 0.9), of('stale', DISK, 0.34)] }, async (life) => {
      let tick = 0;
      const drafted = async (text: string, steps = STEPS, more: Parameters<typeof tickOf>[3] = {}) => {
        tick += 1;
        const { value, events } = await life.hooks.afterTurn({ record: tickOf(tick, text, steps, more) });
        assert.equal(only(events, 'SkillDrafted').length, Number(value.drafted));
        return value.drafted;
      };
      for (const { count, ...more } of DRAFTED) {
        const isMade = await drafted(`strange ${more.tier} thing`, STEPS.slice(0, count), more);
        assert.equal(isMade, more.success && more.tier === 'T2' && count === 3);
      }
      assert.deepEqual([await drafted(words(59)), await drafted(words(60), ['scale', ...STEPS])], [true, false]);
      const { events } = await life.hooks.afterTurn({ record: tickOf(13, DISK, STEPS) });
      assert.deepEqual(events, [{ type: 'SkillDrafted', tick: 13, trigger: DISK }]);
      const [row] = rowsOf(life, 'SELECT draft, by FROM drafts ORDER BY id DESC LIMIT 1');
      const { triggers, steps, expected, handles } = JSON.parse(String(row?.draft));
      assert.deepEqual([triggers.join(' '), steps, expected, handles], [DISK, STEPS, 'cured', ['tick:13']]);
      assert.deepEqual([row?.by, names(await life.mind?.search(DISK))], ['rule', ['stale']]);
    });
  },
);

const MADE =
  /When to Use\ndisk full inode quota\n\n## Procedure\n1\. `drain`\n2\. `rotate`\n3\. `restart`\n\n## Expected Outcome\ncured/;
const HELD =
  /^# Playbook of ada-gen1\n\n## incident\n- \[h-\d+\] \(confidence 0\.9\d, validated \d+\) when disk full inode quota, do `drain`/;

verifies.slow(
  ['R0.59', 'R0.60', 'R0.61', 'R0.62', 'R0.63', 'R0.64', 'R0.124'],
  'at the fiftieth tick it becomes a skill, among all that is curated then, in its order',
  async (t) => {
    const low = (name: string, successCount: number, failureCount: number) =>
      taught(name, `weak ${name}`, ['drain'], { successCount, failureCount });
    const lows = [low('low-a', 1, 4), low('low-b', 2, 3), low('low-c', 1, 3)];
    const skills = [taught('incident-disk-full-inode', 'other things altogether'), ...lows];
    const domain = golem.always(DISK, STEPS);
    await withMind(t, { domain, skills }, async (life) => {
      const note = (step: string, on: string, when = '') =>
        put(life, `CREATE TRIGGER ${step}_noted AFTER ${on} ${when} BEGIN INSERT INTO noted VALUES('${step}'); END`);
      await put(life, 'CREATE TABLE noted(step TEXT)');
      await note('flush', 'UPDATE OF flushed ON feedback');
      await note('forget', 'DELETE ON grimoire');
      await note('insight', 'INSERT ON grimoire', "WHEN new.kind = 'insight'");
      await note('heuristic', 'UPDATE OF kind ON grimoire');
      await note('materialise', 'DELETE ON drafts');
      const before = await liveTicks(life, 49);
      assert.deepEqual([only(before.events, 'SkillCreated'), life.mind?.skills().length], [[], 4]);
      await golem.addEntry(life, 0.09, { kind: 'warning', weak: 2 });
      await put(life, "INSERT INTO feedback VALUES(1, 49, 'taken', 1, 'sim', 1, NULL, '', 0)");
      const { events } = await liveTicks(life, 2);
      const name = 'incident-disk-full-inode-2';
      const created = { type: 'SkillCreated', name, tick: 50, source_episodes: ['tick:1'] };
      assert.deepEqual(only(events, 'SkillCreated'), [created]);
      assert.equal(only(events, 'SkillsActivated').at(-1)?.skills[0], name);
      const told = events.map(({ event }) => event.type);
      assert.ok(told.indexOf('FeedbackFlushed') < told.indexOf('SkillCreated'));
      const steps = new Set(rowsOf(life, 'SELECT step FROM noted').map(({ step }) => step));
      assert.deepEqual([...steps], ['flush', 'forget', 'insight', 'heuristic', 'materialise']);
      assert.match(readFileSync(life.golem.places.playbook, 'utf8'), HELD);
      assert.match(life.mind?.skill(name)?.text ?? '', MADE);
      const priors = names(lows).map((one) => life.mind?.skill(one)?.record.priorConfidence);
      assert.deepEqual(priors, [0.45, 0.5, 0.5]);
    });
  },
);

verifies(['R0.122'], 'a tick asks guard and simulation, predicts, acts, and records what came of it', async (t) => {
  const sees = (beat: number) => seen(DISK, [1, 0.4, 0][beat - 1]);
  const helps = ({ signals }: golem.Observation) => (signals[0]?.value === 1 ? ['drain'] : []);
  const domain = golem.scriptedDomain(sees, helps, {
    labels: ['drain', 'wipe', 'sell', 'scale'],
    guard: ({ label }) => ({ wipe: 'needs_owner' as const, sell: 'deny' as const })[label] ?? 'allow',
    simulate: (_, steps) => ({ verified: true, success: !steps.includes('scale'), summary: '', source: 'test' }),
  });
  const { act } = domain;
  const skills = [taught('disk-full', DISK, ['scale'], { confidence: 0.8 })];
  await withMind(t, { domain, skills }, async (life) => {
    const predicted: unknown[] = [];
    domain.act = (...asked) => {
      predicted.push(rowsOf(life, 'SELECT p, outcome FROM predictions ORDER BY tick DESC LIMIT 1')[0]);
      return act(...asked);
    };
    const [first, second, third] = (await liveTicks(life, 3)).records;
    const all = 'OBSERVE RETRIEVE ANALYZE GATE SIMULATE VALIDATE EXECUTE VERIFY REFLECT';
    const told = [first, second, third].map((record) => `${record?.tier} ${record?.steps.join(' ')}`);
    const quick = 'T0 OBSERVE RETRIEVE ANALYZE GATE REFLECT';
    assert.deepEqual(told, [`T2 ${all}`, `T1 ${all.replace('SIMULATE ', '')}`, quick]);
    assert.deepEqual([first?.followed, second?.followed?.name], [undefined, 'disk-full']);
    const actions = [...(first?.actions ?? []), ...(second?.actions ?? [])];
    const reasons = actions.flatMap(({ label, block_reason: reason }) => (reason ? [`${label} ${reason}`] : []));
    assert.deepEqual([...new Set(reasons)].sort(), ['sell denied', 'wipe needs-owner']);
    assert.ok(!domain.did.includes('wipe') && !domain.did.includes('sell'));
    assert.deepEqual([predicted[0], second?.prediction?.p], [{ p: 0.5, outcome: null }, 0.8]);
    assert.deepEqual(first?.outcome, { verified: true, success: true, summary: 'cured', source: 'test' });
    assert.deepEqual(rowsOf(life, 'SELECT outcome FROM predictions'), [{ outcome: 1 }, { outcome: 0 }]);
  });
});

verifies(['R0.127'], 'words of the owner force thought, and leave every skill as it is', async (t) => {
  await withMind(t, { skills: [DISK_FULL] }, async (life, stage) => {
    const text = () => [readdirSync(stage.at('ada', 'skills')).join(), life.mind?.skill('disk-full')?.text].join();
    const before = text();
    await stage.run('golem steer', { name: 'ada', text: ['take', 'less', 'risk'] });
    const { records } = await liveTicks(life, 2);
    const told = records.map(({ steers, tier, gate_reason: why }) => `${tier} ${why.split(' ')[0]} ${steers}`);
    assert.deepEqual(told, ['T2 steer take less risk', 'T0 surprise ']);
    assert.equal(text(), before);
  });
});

test('what was said before and during a pause is taken when it goes on', async (t) => {
  await withMind(t, {}, async (life, { run }) => {
    const say = async (word: string) => {
      await run('golem steer', { name: 'ada', text: ['hello'] });
      await run(`golem ${word}`, { name: 'ada' });
    };
    await run('golem dream', { name: 'ada' });
    await say('pause');
    const told: string[] = [];
    for await (const event of life.live({ ticks: 2, signal: never })) {
      told.push(event.type === 'tick' ? `tick ${event.record.steers}` : event.type);
      if (event.type === 'paused') await say('resume');
    }
    assert.deepEqual(told, ['paused', 'resumed', 'tick hello,hello', 'dream', 'tick ']);
  });
});

test('who looks on is told how it stands, each minute and when it comes, waits, rests and ends, and of each tick that thought', async (t) => {
  const stage = golem.createGolemStage(t);
  await stage.create('ada', { toml: '[heartbeat]\nbase_interval_seconds = 300\n' });
  await stage.teach('ada', [DISK_FULL]);
  const domain = golem.scriptedDomain(
    (beat) => seen(DISK, Number(beat % 2)),
    () => STEPS,
  );
  await stage.life('ada', { domain, listens: true }, async (life) => {
    for await (const event of life.live({ ticks: 4, signal: never })) {
      if (event.type === 'tick' && event.record.tick === 2) await stage.run('golem pause', { name: 'ada' });
      if (event.type === 'paused') await stage.run('golem resume', { name: 'ada' });
    }
    await life.rest();
    await life.end('owner-kill', never);
  });
  const told = stage.bodies('golem.ada.presence') as unknown as readonly Record<string, unknown>[];
  const standing = told.map(({ status }) => status);
  assert.deepEqual(
    standing.filter((status, at) => status !== standing[at - 1]),
    ['lives', 'paused', 'lives', 'rests', 'dead'],
  );
  const times = stage.log('golem.ada.presence').map(({ at }) => at);
  assert.ok(times.every((at, index) => index === 0 || at - (times[index - 1] ?? 0) <= 60_000));
  assert.ok((times.at(-1) ?? 0) - (times[0] ?? 0) > 120_000);
  const last = told.at(-1);
  assert.deepEqual([last?.golem, last?.tick, last?.cause, last?.skills], ['ada-gen1', 4, 'owner-kill', 1]);
  assert.match(String(last?.last), /^tick 3 · T2 · rule · incident/);
  const ticks = stage.bodies('golem.ada.tick') as unknown as readonly Record<string, unknown>[];
  assert.deepEqual(
    ticks.map(({ golem: id, tick, tier, followed }) => `${id} ${tick} ${tier} ${followed}`),
    ['ada-gen1 1 T2 disk-full', 'ada-gen1 3 T2 disk-full'],
  );
});

verifies.slow(['R0.132'], 'over time it is shown more procedures that fit', async (t) => {
  const stage = golem.createGolemStage(t);
  await stage.create('ada');
  const kindOf = (text: string) =>
    SimWorld.of(1).kinds.find((kind) => kind.words.filter((word) => text.includes(word)).length > 3);
  await stage.life('ada', {}, async (life) => {
    const share = async (ticks: number) => {
      const fits = (await liveTicks(life, ticks)).records.flatMap(({ procedures, observation }) =>
        procedures.map(({ name }) => life.mind?.skill(name)?.steps.join() === kindOf(observation.text)?.cure.join()),
      );
      return fits.filter(Boolean).length / fits.length;
    };
    const early = await share(100);
    const late = await share(100);
    assert.ok(late > early, `${early} → ${late}`);
  });
});

for (const domain of ['sim', 'watch'] as const)
  slow(`${domain}: a hundred unattended ticks without a fault or a gap, whose skills lead to ticks`, async (t) => {
    assert.deepEqual(await golem.liveUnattended(golem.createGolemStage(t), domain, 100), []);
  });

slow('what cannot be is refused by its name, with what to do', async (t) => {
  const stage = golem.createGolemStage(t);
  await stage.create('ada');
  const toml = stage.at('ada', 'golem.toml');
  const good = readFileSync(toml, 'utf8');
  const end = good.split('\n').length;
  const refused = async (wanted: RegExp, command: string, more: object = {}) => {
    const { failure } = await stage.run(`golem ${command}`, { name: 'ada', domain: 'sim', ...more });
    assert.match(`${failure?.code ?? 'done'}: ${failure?.message.replaceAll(stage.root, '~')}`, wanted);
  };
  await refused(/^golem-exists: There is a golem ada already: ~/, 'create');
  for (const name of ['Ada', '../ada', '', '-a', 'a'.repeat(33), 'ö'])
    for (const command of ['create', 'run', 'show']) await refused(/^invalid-name: /, command, { name });
  await refused(/^no-such-golem: There is no golem bea in ~\/golems\. There are ada\.$/, 'run', { name: 'bea' });
  for (const [text, wanted] of [
    [`${good}[torn`, new RegExp(`^golem-toml-torn: ~/golems/ada/golem\\.toml:${end} is no TOML`)],
    [good.replace('version = 1', 'version = 2'), /^golem-toml-newer: .* is of version 2; this Talaria reads version 1/],
    [`${good}[hermes]\ncolour = 3\n`, new RegExp(`-invalid: .*:${end + 1}: hermes\\.colour: there is no such key`)],
    [good.replace('max_actions = 8', 'max_actions = "x"'), /-invalid: .*\.toml:\d+: heartbeat\.max_actions: /],
    [good.replace('name = "ada"', 'name = "eve"'), /^golem-toml-invalid: .*golem\.name is eve, not ada/],
    [good.replace('domain = "sim"', 'domain = "watch"\ndir = "."'), /-invalid: .*\.toml:\d+: golem\.dir: \. is no/],
    [good.replace('domain = "sim"', 'domain = "watch"\ndir = "~/none"'), /^no-folder: .* \/.*\/none is no folder/],
  ] as const) {
    writeFileSync(toml, text);
    await refused(wanted, 'run');
  }
  rmSync(toml);
  await refused(/^golem-toml-missing: /, 'run');
  writeFileSync(toml, good);
  await stage.life('ada', { domain: quiet() }, async () => {
    for (const command of ['run', 'bury']) await refused(/^runs-already: /, command);
  });
  await refused(/^at-rest: /, 'bury');
  await refused(/^needs-owner: /, 'retire');
  await stage.run('golem retire', { name: 'ada', yes: true });
  for (const command of ['run', 'steer', 'pause', 'dream', 'retire', 'bury'])
    await refused(/^dead: /, command, { yes: true, text: ['x'] });
  // Nothing is opened for it any more.
  writeFileSync(toml, good.replace('"sim"', '"coding"'));
  await refused(/^dead: /, 'run');
});
