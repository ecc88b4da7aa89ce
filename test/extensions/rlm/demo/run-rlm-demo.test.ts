import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { demoCommands } from '#extensions/rlm/commands.ts';
import { type DemoPlace, openDemoPlace, runRlmDemo } from '#extensions/rlm/demo.ts';
import type { RunOutcome } from '#extensions/rlm/outcome.ts';
import { openTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import type { CommandOutput, Ground, JsonObject } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { testGround } from '../../../ground.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { pageText } from '../page/page-tags.ts';

interface Stage {
  readonly path: string;
  readonly ground: Ground;
}

function demoGround(t: TestContext): Stage {
  const { path } = createTempHome(t);
  const places = { home: join(path, 'never'), userHome: path };
  return {
    path,
    ground: testGround({ places, variables: { XDG_DATA_HOME: join(path, 'data') } }),
  };
}

async function play(output: AsyncIterable<CommandOutput>) {
  const all = await Array.fromAsync(output);
  const lines = all.flatMap((one) => (one.type === 'line' ? [one.text] : []));
  const data = all.find((one) => one.type === 'data');
  const failure = all.find((one) => one.type === 'failure');
  return { text: lines.join('\n'), data: data?.value as JsonObject | undefined, failure };
}

function placeOf({ ground, path }: Stage): DemoPlace {
  const place = openDemoPlace(ground, join(path, 'kept'));
  assert.ok(place.ok);
  return place.value;
}

const signal = new AbortController().signal;

function command(ground: Ground, input: JsonObject, cwd: string) {
  const [demo] = demoCommands(ground);
  const run = demo?.run as unknown as (input: JsonObject, context: object) => AsyncIterable<CommandOutput>;
  return play(run(input, { cwd, signal }));
}

describe('the demo of recursion', () => {
  verifies(
    'rlm:run:replay',
    'a real file through split, calls, gate, fault, repair, replay, check and page',
    async (t) => {
      const stage = demoGround(t);
      const { text, data, failure } = await command(stage.ground, {}, stage.path);
      assert.equal(failure, undefined, JSON.stringify(failure));
      const { home, stages } = data as unknown as { home: string; stages: Record<string, Record<string, unknown>> };
      assert.deepEqual(Object.keys(stages), [
        'split',
        'children',
        'gate',
        'fault',
        'repair',
        'replay',
        'verify',
        'page',
      ]);
      assert.match(text, /reflex\/1, which is rules and no language model/);
      assert.match(text, /refused 2 times, nothing accepted: unsupported_fact_id/);
      assert.match(text, /one handle left out: missing_evidence_handle\n.*filled in with README\.md:\d+-\d+/);
      assert.ok(home.startsWith(join(stage.path, 'data', 'talaria-demo')), 'below the data folder');
      assert.equal(existsSync(stage.ground.places.home), false, 'never the home of the person');

      const store = openTraceStore(home, { readOnly: true });
      t.after(() => store.close());
      const rows = store.list().toReversed();
      const outcomes = rows.map(({ outcome }) => outcome as unknown as RunOutcome);
      assert.deepEqual(
        outcomes.map(({ verdict }) => verdict),
        ['accepted', 'refused', 'accepted'],
        'what was told is what is stored',
      );
      assert.equal(stages.replay?.state_hash, rows[0]?.state_hash);
      assert.equal(stages.children?.evidence, outcomes[0]?.evidence.length);
      assert.equal(
        stages.verify?.events,
        rows.reduce((sum, { run_id }) => sum + store.events(run_id).length, 0),
      );
      const { pages } = stages.page as { pages: readonly string[] };
      const [accepted, refused, repaired] = pages.map((path) => pageText(readFileSync(path, 'utf8')));
      assert.match(accepted ?? '', /Accepted\. Every claim of the synthesis is cited/);
      assert.match(refused ?? '', /unsupported_fact_id[\s\S]*Talaria has never made a mistake\./);
      assert.match(repaired ?? '', /The synthesis left out where 1 quotation stood/);
    },
  );

  test('a folder that is named is used when it is new or empty, and left as it is when not', async (t) => {
    const { ground, path } = demoGround(t);
    const kept = await command(ground, { keep: './kept' }, path);
    assert.equal(kept.failure, undefined);
    assert.deepEqual(readdirSync(join(path, 'kept')).sort(), [
      'accepted.html',
      'folder',
      'home',
      'refused.html',
      'repaired.html',
    ]);
    assert.equal(statSync(join(path, 'kept')).mode & 0o777, 0o700);
    assert.equal(statSync(join(path, 'kept', 'accepted.html')).mode & 0o777, 0o600);
    const again = await command(ground, { keep: './kept' }, path);
    assert.equal(again.failure?.exitCode, 2);
    assert.equal(again.failure?.code, 'folder-not-empty');
    assert.equal(readdirSync(join(path, 'kept')).length, 5);
    writeFileSync(join(path, 'a-file'), '');
    assert.equal((await command(ground, { keep: './a-file' }, path)).failure?.code, 'folder-not-empty');
    assert.equal((await command(ground, { keep: './a-file/below' }, path)).failure?.code, 'folder-unusable');
  });

  slow('two plays tell the same, their places and their times aside', async (t) => {
    const { ground, path } = demoGround(t);
    const told = async () => {
      const { data } = await command(ground, {}, path);
      const { stages } = data as { stages: JsonObject };
      const { page: _page, replay: _replay, ...rest } = stages;
      return rest;
    };
    assert.deepEqual(await told(), await told());
  });

  const FAILING: Readonly<Record<string, readonly [text: string, stage: string]>> = {
    'a file of one chunk': ['It works without any model.\n', 'split'],
    'a file that says nothing of the question': [`${'Grass is green and rivers are wet.\n'.repeat(200)}`, 'children'],
  };
  for (const [what, [text, stage]] of Object.entries(FAILING)) {
    test(`${what}: exit 1, and the stage is named`, async (t) => {
      const at = demoGround(t);
      const place = placeOf(at);
      writeFileSync(join(place.folder, place.file), text);
      const { failure, data } = await play(runRlmDemo(at.ground, place, signal));
      assert.equal(failure?.exitCode, 1);
      assert.equal(failure?.code, 'demo-failed');
      assert.match(failure?.message ?? '', new RegExp(`failed at its stage ${stage}: `));
      assert.match(failure?.fix ?? '', /is kept: /);
      assert.equal(data, undefined, 'no result is told');
    });
  }
});
