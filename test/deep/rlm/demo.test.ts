import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe } from 'node:test';
import { createCliStage } from '../../scenario/cli-process.ts';
import { verifies } from '../../verifies.ts';

describe('talaria rlm demo', () => {
  verifies(
    ['rlm:run:parent-gated', 'rlm:run:replay', 'rlm:repair:from-children'],
    'without a key: a file taken apart, a false claim refused, a handle repaired, the same state again, a page',
    async (t) => {
      const stage = createCliStage(t);
      const run = await stage.run(['rlm', 'demo']);
      assert.equal(run.code, 0, run.err);
      assert.match(run.out, /rules and no language model/);
      assert.match(run.out, /3\. gate +accepted: (\d+) claims, all \1 cited/);
      assert.match(run.out, /4\. fault [\s\S]*refused 2 times, nothing accepted: unsupported_fact_id/);
      assert.match(run.out, /5\. repair [\s\S]*missing_evidence_handle\n +filled in with README\.md:\d+-\d+/);
      assert.match(run.out, /6\. replay .*the same state sha256:/);
      assert.match(run.out, /7\. verify .* 0 problems/);
      const page = /8\. page +(\/\S+\.html)/.exec(run.out)?.[1] ?? '';
      assert.ok(page.startsWith(stage.folder), 'below the folder of this test');
      assert.match(readFileSync(page, 'utf8'), /^<!doctype html>/);
      assert.equal(existsSync(stage.root), false, 'never the home of the person');

      const home = `${dirname(page)}/home`;
      const runs = await stage.run(['rlm', 'runs'], { env: { TALARIA_HOME: home } });
      assert.equal(runs.code, 0, runs.err);
      assert.equal(runs.out.match(/^run_\d{14}_[0-9a-f]{8} /gm)?.length, 3, 'the way to look around works');
    },
  );

  verifies('rlm:run:trace', 'its result as data', async (t) => {
    const stage = createCliStage(t);
    const run = await stage.run(['rlm', 'demo', '--keep', './kept', '--json']);
    assert.equal(run.code, 0, run.err);
    const { stages } = JSON.parse(run.out) as { stages: Record<string, Record<string, unknown>> };
    assert.equal(stages.fault?.reason, 'unsupported_fact_id');
    assert.match(String(stages.replay?.state_hash), /^sha256:[0-9a-f]{64}$/);
    assert.equal(stages.verify?.problems, 0);
    const again = await stage.run(['rlm', 'demo', '--keep', './kept']);
    assert.equal(again.code, 2, 'a folder that holds something is not used');
  });
});
