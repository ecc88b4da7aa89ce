/** A golem asleep: what is replayed, imagined and settled, what becomes a skill or another one, and what that may cost. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Life } from '#fleet/golem/life.ts';
import { EVOLUTION_SHARE } from '#fleet/golem/vitals.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { verifies } from '../../verifies.ts';
import * as golem from './stage.ts';

const { addEntry, only, remember, rowsOf, taught, tickOf, withMind } = golem;
const DISK = 'disk full inode quota';
const LATE = 'packet latency jitter loss';
const CIPHER = 'certificate expiry cipher';
const STEPS = ['drain', 'rotate', 'restart'];
const IDLE = { tier: 'T0' } as const;
const dream = (life: Life, tick = 50, phase: 'thriving' | 'terminal' = 'thriving') =>
  life.hooks.dreamOnset({ tick, phase, budget_usd: 1 });

verifies(['R0.73'], 'a dream comes at the 200th tick, fifty after the last, and never at the end', async (t) => {
  await withMind(t, {}, async (life) => {
    await remember(life, golem.ticksOf(197, '', [], IDLE));
    const { told, events } = await golem.liveTicks(life, 4);
    const line = told.map((one) => (one.type === 'tick' ? one.record.tick : one.type)).join(' ');
    assert.deepEqual([line, only(events, 'EvolutionCycleComplete').length], ['198 199 200 dream 201', 1]);
    assert.match((await dream(life, 249)).value.refused ?? '', /49 ticks ago/);
    assert.match((await dream(life, 400, 'terminal')).value.refused ?? '', /its end has begun/);
    assert.equal((await dream(life, 250)).value.refused, undefined);
  });
});

verifies(
  ['R0.74', 'R0.75', 'R0.92', 'R0.94'],
  'it replays, imagines, settles what it holds to be so, and evolves last, with all that the others brought',
  async (t) => {
    const domain = golem.quiet();
    const way = ['scale', 'drain'];
    await withMind(t, { domain, skills: [taught('late-packet', LATE, way)] }, async (life) => {
      const settled: number[] = [];
      const imagine = (success: boolean) => () => {
        settled.push(rowsOf(life, "SELECT id FROM grimoire WHERE kind IN ('insight', 'heuristic')").length);
        return { verified: true, success, summary: '', source: 'test' };
      };
      domain.simulate = imagine(true);
      // Three ticks that went the same way, and one that failed: what else might have been done?
      await remember(life, golem.ticksOf(3, DISK, STEPS));
      await remember(life, [tickOf(4, LATE, ['drain'], { success: false })]);
      const id = await addEntry(life, 0.8, { validated: 2, trigger: LATE, steps: way });
      const { value, events } = await dream(life);
      assert.equal(settled[0], 1);
      assert.deepEqual([value.patterns, value.counterfactuals, value.heuristics], [2, 1, 2]);
      const [created] = only(events, 'SkillCreated');
      assert.deepEqual(created?.source_episodes, ['tick:1', 'tick:2', 'tick:3']);
      const playbook = readFileSync(life.golem.places.playbook, 'utf8');
      assert.ok(playbook.includes(`[h-${id}] (confidence 0.84, validated 3)`) && playbook.includes('when disk full'));
      const [last] = only(events, 'EvolutionCycleComplete');
      assert.deepEqual([events.at(-1), last?.skills_evolved, last?.duration_secs], [last, 1, 0]);
      assert.ok((last?.fitness_improved ?? 0) > 0);
      domain.simulate = imagine(false);
      await dream(life, 100);
      assert.deepEqual(rowsOf(life, 'SELECT contradicted AS n FROM grimoire WHERE id = ?', id), [{ n: 1 }]);
    });
  },
);

const SEED_SAMPLE = `---
name: swap-execution
description: Execute token swaps via Uniswap
model: sonnet
allowed-tools: execute_swap, get_quote, check_allowance
---

# Skill instructions
[Natural language instructions for the LLM...]
`;

verifies(
  ['R0.76', 'R0.77', 'R0.95', 'R0.96', 'R0.97', 'R0.98'],
  'a heuristic that is sure enough becomes a portable skill that says where it comes from, with nothing of ours in its text',
  async (t) => {
    await withMind(t, {}, async (life, stage) => {
      const id = await addEntry(life, 0.75, { validated: 3, trigger: DISK, steps: STEPS });
      await addEntry(life, 0.74, { validated: 9, trigger: LATE, steps: ['scale'] });
      await addEntry(life, 0.9, { validated: 2, trigger: CIPHER, steps: ['drain'] });
      const name = 'incident-disk-full-inode';
      assert.deepEqual([(await dream(life)).value.created, life.mind?.skills()], [[name], [name]]);
      const text = readFileSync(stage.at('ada', 'skills', name, 'SKILL.md'), 'utf8');
      const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
      const { name: named, description, metadata, ...more } = parse(head);
      assert.deepEqual([named, typeof description, description.length <= 1_024, more], [name, 'string', true, {}]);
      assert.ok(Object.values(metadata).every((value) => typeof value === 'string'));
      assert.equal(metadata['source-heuristics'], `h-${id}`);
      for (const title of ['When to Use', 'Procedure', 'Pitfalls']) assert.ok(body.includes(`\n## ${title}\n`));
      assert.ok(!/h-\d|tick:\d|embedding|causal|[0-9a-f]{8}-[0-9a-f]{4}|\[-?\d\.\d+,/.test(body), body);
      const installed = await stage.command('skills install', { from: stage.at('ada', 'skills', name) });
      assert.equal(installed.failure, undefined, installed.text);
      assert.equal(readFileSync(`${stage.root}/skills/${name}/SKILL.md`, 'utf8'), text);
      mkdirSync(stage.at('ada', 'skills', 'swap-execution'));
      writeFileSync(stage.at('ada', 'skills', 'swap-execution', 'SKILL.md'), SEED_SAMPLE);
      assert.equal((await life.hooks.session({ reason: 'resume' })).value.count, 2);
    });
  },
);

verifies(
  ['R0.80', 'R0.81', 'R0.82'],
  'a heuristic of 0.7 flags who says otherwise, and lifts who agrees',
  async (t) => {
    const of = (name: string, when: string, prior: number) =>
      taught(name, when, STEPS, { priorConfidence: prior, confidence: prior });
    const unsure = [of('other', DISK, 0.6), of('nearly', LATE, 0.6), of('same', CIPHER, 0.6)];
    const skills = [...unsure, of('sure', 'lease quorum', 0.97)];
    await withMind(t, { skills }, async (life) => {
      const record = (name: string) => life.mind?.skill(name)?.record;
      const id = await addEntry(life, 0.7, { trigger: DISK, steps: ['scale'] });
      await addEntry(life, 0.69, { trigger: LATE, steps: ['scale'] });
      for (const trigger of [CIPHER, 'lease quorum']) await addEntry(life, 0.7, { trigger, steps: STEPS });
      assert.deepEqual((await dream(life)).value.flagged, ['other']);
      assert.deepEqual([record('other')?.status, record('nearly')?.status], ['flagged', 'active']);
      const lifted = ['same', 'sure'].map((name) => record(name)?.priorConfidence.toFixed(4));
      assert.deepEqual(lifted, ['0.6500', '0.9900']);
      const [row] = rowsOf(life, "SELECT text || handles AS told FROM grimoire WHERE source = 'cross-validation'");
      assert.match(String(row?.told), new RegExp(`skill other says .* where h-${id} says scale.*skill:other@1`));
      assert.deepEqual((await golem.look(life, DISK)).value.procedures, []);
    });
  },
);

const FAILING = [
  { name: 'failing', confidence: 0.49, items: 3, when: DISK },
  { name: 'half', confidence: 0.5, items: 3, when: LATE },
  { name: 'unheard', confidence: 0.3, items: 2, when: CIPHER },
];
const failing = FAILING.map(({ name, confidence, when }) => taught(name, when, ['scale'], { confidence }));

/** They failed so many times, and at ticks 1 to 3 another way worked for what they are for. */
async function fail(life: Life, version = 1, cases = FAILING, flushed = 1): Promise<void> {
  const other = cases.map(({ when }, at) => tickOf(at + 1, when, STEPS));
  if (life.golem.rows.tick(1) === undefined) await remember(life, other);
  const sql = "INSERT INTO feedback VALUES(NULL, 1, ?, ?, 'sim', 0, NULL, '', ?)";
  for (const { name, items } of cases)
    for (let at = 0; at < items; at += 1) await golem.put(life, sql, name, version, flushed);
}

verifies(
  ['R0.78', 'R0.79', 'R0.83', 'R0.85', 'R0.93'],
  'a skill that fails gets, asleep alone, the steps of the last way out, and goes into the Grimoire at 0.65',
  async (t) => {
    await withMind(t, { skills: failing }, async (life, stage) => {
      const skill = () => life.mind?.skill('failing');
      await fail(life);
      const before = skill()?.text;
      for (const tick of [10, 50]) await life.hooks.afterTurn({ record: tickOf(tick, '', [], IDLE) });
      assert.equal(skill()?.text, before);
      const { value, events } = await dream(life);
      assert.deepEqual([value.improved, skill()?.steps, skill()?.record.version], [['failing'], STEPS, 2]);
      const [improved] = only(events, 'SkillImproved');
      assert.equal(improved?.improvement_summary, 'scale failed; drain, rotate, restart worked at tick 1');
      const ingested = { type: 'SkillIngested', name: 'failing', source: 'self', confidence: 0.65 };
      assert.deepEqual(only(events, 'SkillIngested'), [ingested]);
      const rows = rowsOf(life, "SELECT confidence, handles FROM grimoire WHERE kind = 'causal'");
      assert.deepEqual(rows, [{ confidence: 0.65, handles: '["skill:failing@2"]' }]);
      const traced = rowsOf(life, 'SELECT name, source, stage, outcome FROM ingestions');
      assert.deepEqual(traced, [{ name: 'failing', source: 'self', stage: 'ADOPT', outcome: 'accepted' }]);
      const { text: diff } = await stage.command('skills diff', { name: 'failing' }, 'ada');
      assert.ok(diff.includes('-1. `scale`') && diff.includes('+1. `drain`'), diff);
    });
    // What a sure heuristic contradicts does not go in.
    await withMind(t, { skills: failing }, async (life) => {
      await fail(life);
      await addEntry(life, 0.7, { trigger: DISK, steps: ['restart'] });
      assert.deepEqual((await dream(life)).value.improved, ['failing']);
      const traced = rowsOf(life, 'SELECT stage, outcome FROM ingestions');
      assert.deepEqual(traced, [{ stage: 'CONSENSUS', outcome: 'rejected' }]);
      assert.deepEqual(rowsOf(life, "SELECT id FROM grimoire WHERE kind = 'causal'"), []);
    });
  },
);

verifies(['R0.57', 'R0.78'], 'with a model it gets the steps of ticks that it names, and no others', async (t) => {
  const say = (steps: readonly string[]) =>
    JSON.stringify({ steps, ticks: [1], pitfall: 'Look at the blob fee as well.' });
  const client = createScriptedModel([say(['drain', 'restart']), say(['wipe'])], { context: t });
  await withMind(t, { skills: failing, extra: { client } }, async (life) => {
    await fail(life);
    await dream(life);
    const { text = '', steps, record } = life.mind?.skill('failing') ?? {};
    assert.deepEqual([steps, record?.version], [['drain', 'restart'], 2]);
    assert.ok(text.includes('- Look at the blob fee as well.'));
    await fail(life, 2);
    await dream(life, 100);
    assert.deepEqual(life.mind?.skill('failing')?.steps, STEPS);
  });
});

const EVENTS = {
  SkillsLoaded: 'count:number',
  SkillsActivated: 'tick:number skills:list',
  SkillDrafted: 'tick:number trigger:string',
  SkillCreated: 'name:string tick:number source_episodes:list',
  SkillImproved: 'name:string improvement_summary:string',
  FeedbackFlushed: 'count:number',
  SkillPromoted: 'name:string confidence:number',
  SkillIngested: 'name:string source:string confidence:number',
  DeathSkillExport: 'skills_exported:number',
  EvolutionCycleComplete: 'skills_evolved:number fitness_improved:number duration_secs:number',
};

verifies(
  ['R0.125', 'R0.140', 'R0.141'],
  'ten events tell of it, with exactly these fields, in an envelope, to this process and to the log',
  async (t) => {
    const ripe = taught('ripe', 'strange sort of server', [], { validatedCount: 5, improvedCount: 2 });
    const skills = [...failing.slice(0, 1), ripe, taught('other', CIPHER, STEPS)];
    await withMind(t, { skills, domain: golem.always('strange thing zqx', STEPS) }, async (life, stage) => {
      const told: golem.GolemEvent[] = [];
      life.events.subscribe((event) => told.push(event));
      await remember(life, golem.ticksOf(199, DISK, STEPS));
      await fail(life, 1, FAILING.slice(0, 1), 0);
      await addEntry(life, 0.7, { trigger: CIPHER, steps: ['scale'] });
      const [, slept] = (await golem.liveTicks(life, 1)).told;
      const { created, improved, flagged, promoted } = (slept?.type === 'dream' ? slept.report : {}) as never;
      const changed = [['incident-disk-full-inode'], ['failing'], ['other'], ['ripe']];
      assert.deepEqual([created, improved, flagged, promoted], changed);
      await life.end('age', golem.never);
      const fieldsOf = ([name, value]: [string, unknown]) => `${name}:${Array.isArray(value) ? 'list' : typeof value}`;
      const shapes = told.map(({ event: { type, ...rest } }) => [type, Object.entries(rest).map(fieldsOf).join(' ')]);
      assert.deepEqual(Object.fromEntries(shapes), EVENTS);
      assert.deepEqual(stage.bodies('golem.ada.event'), told);
      const envelopes = told.map(({ golem: of, seq, tick, at }) => `${of} ${seq} ${tick >= 199} ${at > 1e12}`);
      const wanted = told.map((_, index) => `ada-gen1 ${index + 1} true true`);
      assert.deepEqual(envelopes, wanted);
    });
  },
);

verifies.slow(
  ['R0.86', 'R0.87'],
  'one that held five times and changed twice is named to the clade once',
  async (t) => {
    const of = (name: string, validatedCount: number, improvedCount: number) =>
      taught(name, name, [], { validatedCount, improvedCount, confidence: 0.8 });
    const skills = [of('ripe', 5, 2), of('raw', 5, 1), of('rare', 4, 9)];
    await withMind(t, { skills, toml: '[hermes]\ndream_interval = 1\n' }, async (life, stage) => {
      const { told } = await golem.liveTicks(life, 2);
      assert.equal(told.filter(({ type }) => type === 'dream').length, 2);
      const frames = stage.log('golem.ada.event').map(({ body }) => body as unknown as golem.GolemEvent);
      assert.deepEqual(only(frames, 'SkillPromoted'), [{ type: 'SkillPromoted', name: 'ripe', confidence: 0.8 }]);
    });
  },
);

verifies(['R0.88', 'R0.89', 'R0.90', 'R0.118'], 'what a dream may spend on skills falls to nothing', () => {
  const shares = { thriving: 0.15, stable: 0.12, conservation: 0.08, declining: 0.05, terminal: 0 };
  assert.deepEqual(EVOLUTION_SHARE, shares);
});

verifies.slow(
  ['R0.23', 'R0.40', 'R0.48', 'R0.72', 'R0.90', 'R0.93', 'R0.133', 'R0.134', 'R0.135'],
  'four hooks ask nobody, drafts and the last note ask T1, dreams alone T2; what each cost is kept',
  async (t) => {
    const usage = { inputTokens: 1_000, outputTokens: 100 };
    const server = await startScriptedServer(Array.from({ length: 40 }, () => ({ reply: '{}', usage })));
    t.after(() => server.close());
    const of = (name: string, price: number) =>
      `  ${name}: { base_url: '${server.baseUrl}', input_price: ${price}, output_price: ${price} }\n`;
    const tiers = 'tiers: { T1: [small/one], T2: [large/two] }';
    const config = `version: 1\nproviders:\n${of('small', 2)}${of('large', 20)}${tiers}\n`;
    const skills = [...failing, taught('worth', 'x', [], { confidence: 0.9, useCount: 3 })];
    await withMind(t, { skills, config }, async (life) => {
      const { hooks } = life;
      let before = 0;
      const asks = async (wanted: string, hook: Promise<{ readonly cost: { readonly usd: number } }>) => {
        const { cost } = await hook;
        const models = server.requests.slice(before).map(({ body }) => String(body.model));
        before = server.requests.length;
        const [least, most] = ({ one: [0.001, 0.005], two: [0.01, 0.05] } as const)[wanted] ?? [0, 0];
        assert.equal([...new Set(models)].join(), wanted);
        assert.ok(cost.usd >= least * models.length && cost.usd <= most * models.length, `${wanted}: ${cost.usd}`);
      };
      await asks('', hooks.session({ reason: 'resume' }));
      await asks('', golem.look(life, DISK));
      const about = { skill: { name: 'failing', version: 1 }, tool: 'sim', success: false, outcome_value: null };
      await asks('', hooks.toolResult({ feedback: { ...about, tick: 1, context: '' } }));
      await fail(life);
      for (let tick = 1; tick <= 1_000; tick += 1) {
        const word = tick % 100 === 7 ? `${'abcdefghij'[(tick - 7) / 100]}qx` : undefined;
        const record = word ? tickOf(tick, `strange thing ${word}`, STEPS) : tickOf(tick, '', [], IDLE);
        await asks(word ? 'one' : '', hooks.afterTurn({ record }));
      }
      await asks('', hooks.end({}));
      await asks('', dream(life, 1_000, 'terminal'));
      await asks('two', dream(life, 1_000));
      await asks('one', hooks.death({ tick: 1_000, cause: 'age' }));
      const kept = rowsOf(life, 'SELECT DISTINCT hook FROM costs ORDER BY hook').map(({ hook }) => hook);
      assert.equal(kept.join(), 'afterTurn,death,dreamOnset');
    });
  },
);
