/** The houses of the trial on real files: the same for everybody, with faults that their own tasks cure, and whole lives in them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runCodingTrial } from '#fleet/golem/trial/coding-trial.ts';
import {
  buildHouse,
  type Dialect,
  FAULTS,
  type Incident,
  incidentsOf,
  plant,
} from '#fleet/golem/trial/coding-world.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { createGolemStage, never } from '../fleet/golem/stage.ts';

const { env } = process;
const TESTS = 'sh test.sh';

type House = Awaited<ReturnType<typeof buildHouse>>;

/** Each fault in each project, once. */
const deck = (house: House, stream = 1): readonly Incident[] =>
  incidentsOf(house, stream)
    .take(house.length * FAULTS.length)
    .toArray();
const told = (incident: Incident) => `${incident.project.name} ${incident.fault}: ${incident.cures}`;

describe('a house of the trial', () => {
  test('is the same for the same seed, to the commit, and so are its incidents; a neighbour says it in other words', async (t) => {
    const { path } = createTempHome(t);
    const build = (at: string, seed: number, dialect: Dialect) => buildHouse(join(path, at), seed, dialect, env);
    const one = await build('one', 7, 'here');
    const twin = await build('twin', 7, 'here');
    const next = await build('next', 7, 'next');
    const commits = (house: House) => house.map(({ commit }) => commit);
    assert.ok(commits(one).length === 3 && commits(one).every((commit) => /^[0-9a-f]{40}$/.test(commit)));
    assert.deepEqual(commits(twin), commits(one));
    assert.deepEqual(deck(twin).map(told), deck(one).map(told));
    assert.notDeepEqual(deck(one, 2).map(told), deck(one).map(told));
    assert.equal(new Set(deck(one).map(told)).size, 15);
    // The same conventions, but for one project whose generated code comes from another task.
    const cures = (house: House) =>
      house.map((project) =>
        deck([project])
          .map(({ fault, cures }) => `${fault} ${cures}`)
          .sort(),
      );
    const [usual, ...others] = [cures(one)[0], ...cures(one), ...cures(next)].map((list) => list ?? []);
    const strange = others.map((list) => list.filter((line) => !usual?.includes(line)));
    assert.deepEqual(
      strange.map(({ length }) => length),
      [0, 0, 0, 1, 0, 0],
    );
    assert.match(strange[3]?.[0] ?? '', /^ungenerated /);
    assert.ok(!next.some(({ name }) => one.some((project) => project.name === name)));
  });

  test('a fault is cured by its own tasks and by no other, and what does not cure it changes nothing', async (t) => {
    const { path } = createTempHome(t);
    const [project] = await buildHouse(path, 3, 'next', env);
    assert.ok(project);
    const worktree = join(path, 'worktree');
    const run = (line: string, cwd = worktree) => {
      const { status, stdout } = spawnSync('/bin/sh', ['-c', line], {
        cwd,
        env: { ...env, NODE_TEST_CONTEXT: undefined },
        encoding: 'utf8',
      });
      return { isOk: status === 0, text: stdout };
    };
    assert.ok(run(`git worktree add -q ${worktree}`, project.path).isOk);
    const labels = Object.values(project.names).map((name) => `sh tasks/${name}.sh`);
    assert.equal(new Set(labels).size, 9);
    const said = new Set<string>();
    for (const fault of FAULTS) {
      const incident: Incident = deck([project]).find((one) => one.fault === fault) ?? assert.fail();
      const cured: string[] = [];
      for (const label of labels) {
        plant(incident, worktree);
        const before = run(TESTS);
        assert.ok(!before.isOk && before.text.split('\n').length === 2, before.text);
        said.add(before.text);
        run(label);
        const after = run(TESTS);
        if (after.isOk) cured.push(label);
        else assert.equal(after.text, before.text, label);
      }
      assert.deepEqual(cured.sort(), [...incident.cures].sort(), fault);
    }
    assert.equal(said.size, 5);
    const useless = labels.filter((label) => !deck([project]).some(({ cures }) => cures.includes(label)));
    assert.equal(useless.length, 4);
  });
});

describe('the trial on real files', () => {
  test('lives each arm on its own home, tells what came of it, and judges nothing from one seed', async (t) => {
    const { ground } = createGolemStage(t);
    const { measures, missed } = await runCodingTrial(ground, {
      seeds: 1,
      ticks: { parent: 4, heir: 2 },
      signal: never,
    });
    assert.deepEqual(missed, []);
    assert.ok(measures.every(({ mean, holds }) => Number.isFinite(mean) && holds === undefined));
    assert.equal(measures[0]?.must, 'lower end ≥ 0.0001');
  });

  test('with a model each heir asks it, with the actions of the project at hand', async (t) => {
    const act = (request: { readonly raw: string }) => {
      const [, label = ''] = /- (sh tasks\/\w+\.sh)/.exec(request.raw) ?? [];
      return { calls: [{ name: 'golem_act', arguments: { label } }] };
    };
    const server = await startScriptedServer(
      [1, 2, 3].flatMap(() => [act, 'done', '{"note": "it was short"}']),
      { context: t },
    );
    const { ground } = createGolemStage(t, {
      variables: { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'test-key-0000' },
    });
    const options = { seeds: 1, ticks: { parent: 2, heir: 1 }, signal: never, model: 'openai/some-model' };
    const { measures } = await runCodingTrial(ground, options);
    const of = (name: string) => measures.find((one) => one.name === name)?.mean;
    assert.deepEqual(
      ['seeded', 'control', 'placebo'].map((arm) => of(`${arm}, steps`)),
      [1, 1, 1],
    );
    assert.equal(of('control, ticks that the model answered'), 1);
    assert.ok((of('control, tokens') ?? 0) > 0);
  });
});
