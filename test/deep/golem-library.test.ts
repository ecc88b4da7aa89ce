/** Kits that went through a library (notes A8, G): the gates of the trial hold as they do for testaments; and the life of two hundred ticks with one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tryAll } from '../property-runs.ts';
import { createCliStage } from '../scenario/cli-process.ts';

tryAll();
await import('../fleet/meta/golem-library.test.ts');
await import('../fleet/meta/library-worth.test.ts');

test('sim, 10 seeds, heirs given what a library makes of the testament: every gate holds', {
  timeout: 900_000,
}, async (t) => {
  const run = await createCliStage(t).run(['golem', 'trial', 'sim', '--library', '--seeds', '10', '--json']);
  assert.equal(run.code, 0, run.out + run.err);
  const report: {
    readonly missed: readonly string[];
    readonly measures: readonly { readonly name: string; readonly mean: number; readonly holds?: boolean }[];
  } = JSON.parse(run.out);
  assert.deepEqual(report.missed, []);
  assert.equal(report.measures.filter(({ holds }) => holds).length, 6);
  for (const { name, mean } of report.measures) t.diagnostic(`${name}: ${mean.toFixed(3)}`);
});
