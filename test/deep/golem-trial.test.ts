/** Part G of the notes: what one golem learned helps the next, on fixed seeds, so that the gates are exact. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCliStage } from '../scenario/cli-process.ts';

interface Report {
  readonly seeds: number;
  readonly missed: readonly string[];
  readonly measures: readonly { readonly name: string; readonly mean: number; readonly holds?: boolean }[];
}

describe('the trial of golems', () => {
  for (const [world, seeds, gates] of [
    ['sim', 30, 6],
    ['coding', 10, 2],
  ] as const)
    test(`${world}, ${seeds} seeds: every gate holds`, { timeout: 900_000 }, async (t) => {
      const run = await createCliStage(t).run(['golem', 'trial', world, '--seeds', String(seeds), '--json']);
      assert.equal(run.code, 0, run.out + run.err);
      const report: Report = JSON.parse(run.out);
      assert.equal(report.seeds, seeds);
      assert.deepEqual(report.missed, []);
      assert.equal(report.measures.filter(({ holds }) => holds).length, gates);
      for (const { name, mean } of report.measures) t.diagnostic(`${name}: ${mean.toFixed(3)}`);
    });

  test('what a part of the mind is worth is printed, one left out after the other', { timeout: 600_000 }, async (t) => {
    const run = await createCliStage(t).run(['golem', 'trial', 'sim', '--seeds', '2', '--ablate', 'all']);
    assert.equal(run.code, 0, run.out + run.err);
    assert.match(run.out, /without +nothing +probation +mood +accuracy-boost +discount +dreams +attribution/);
    t.diagnostic(run.out);
  });
});

test('the demonstration of the fleet ends well without a network, and shows what it promises', {
  timeout: 300_000,
}, async (t) => {
  const run = await createCliStage(t).run(['golem', 'demo']);
  assert.equal(run.code, 0, run.out + run.err);
  assert.match(run.out, /the world, |simulated/);
  assert.match(
    run.out,
    /whole, signed by 0x[0-9a-f]{40}, born in this home\n.*byte \d+ changed from .* refused, bad-signature/,
  );
  assert.match(run.out, /beta-gen2 · [\s\S]*alpha-gen1 · [\s\S]*tick:\d+: tick \d+ · T2 · rule/);
  assert.equal(run.out.match(/^[1-5] {2,}\d+/gm)?.length, 5, 'a row a world');
});
