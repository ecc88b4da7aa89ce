import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '#public/talaria.ts';
import { checkArtifact } from '../../../../bench/rlm/check-artifact.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { plain, recorded, withData } from '../fixtures/recorded.ts';

const folder = join(process.env.TALARIA_DATA ?? '', 'data', 'rlm');
const fixture = (): JsonValue => recorded<JsonObject>('long_context_truncation.json');

const never = new AbortController().signal;

async function check(value: JsonValue, beside = fixture) {
  const checked = await checkArtifact({ value, fixture: beside }, never);
  assert.ok(checked.ok, checked.ok ? '' : checked.detail);
  return checked.value;
}

/** Codes of the problems when what stands at the path is another. */
async function changed(name: string, path: string, to: JsonValue): Promise<readonly string[]> {
  const value = plain<JsonObject>(recorded(name));
  const keys = path.split('.');
  let here = value as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) here = here[key] as Record<string, unknown>;
  here[keys.at(-1) ?? ''] = to;
  return (await check(value)).problems.map(({ code }) => code);
}

describe('committed artifacts', () => {
  verifies.slow(
    ['rlm:matrix:offline', 'rlm:score:synthetic-suite', 'rlm:score:claim-aware-suite'],
    'every committed file is checked without a key, and holds',
    {
      options: withData,
      run: async () => {
        const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
        assert.ok(files.length >= 7);
        for (const name of files) {
          const report = await check(JSON.parse(readFileSync(join(folder, name), 'utf8')) as JsonValue);
          assert.deepEqual(report.problems, [], name);
          assert.notEqual(report.what, '');
        }
      },
    },
  );

  slow('what was changed in one of them is found', withData, async () => {
    const at = 'trace_records.1.parent_trace_id';
    assert.deepEqual(await changed('minimal_recursive_run.json', at, 'x'), ['parent-trace', 'child-tree']);
    const run = 'rlm-long-context-truncation-v1.json';
    assert.deepEqual(await changed(run, 'quality_comparison.score_delta', 0.1), ['figures-disagree']);
    assert.deepEqual(await changed(run, 'rlm_output.atomic_execution.subcalls.0.completion', 'x'), ['response-hash']);
    assert.deepEqual(await changed('long_context_truncation.json', 'target.line_count', 13), ['line_count_mismatch']);
    assert.deepEqual(await changed('claim-aware-omitted-fact-suite.json', 'results.3.score', 1), ['table-disagrees']);
    assert.deepEqual(await changed('synthetic-omitted-fact-benchmark.json', 'evaluations.700.score', 0.5), [
      'table-disagrees',
    ]);
    const matrix = 'live-portability-matrix.json';
    assert.deepEqual(
      await changed(matrix, 'fixtures.2.safe_parent_synthesis.evidence_references', [{ chunk_id: 'x' }]),
      ['table-disagrees'],
    );
    assert.deepEqual(await changed('traceguard-demo.json', 'results.0.validation.accepted', false), [
      'verdict-disagrees',
    ]);
    assert.equal((await changed('traceguard-demo.json', 'evidence_manifest.0.chunk_id', 'x')).length, 3);
  });

  test('an unknown file and a missing fixture are refused', async () => {
    for (const value of [null, 7, [], {}, { schema_version: 'toString' }]) {
      const checked = await checkArtifact({ value, fixture: () => undefined }, never);
      assert.equal(checked.ok ? '' : checked.reason, 'artifact-unknown');
    }
    const missing = { value: { schema_version: 'rlm.claim_aware_suite.v1' }, fixture: () => undefined };
    const suite = await checkArtifact(missing, never);
    assert.equal(suite.ok ? '' : suite.reason, 'fixture-missing');
  });

  slow('a file of a known kind that is cut or odd has problems, and never throws', withData, async () => {
    for (const name of readdirSync(folder)) {
      const { schema_version } = recorded<{ schema_version: string }>(name);
      for (const rest of [{}, { results: 7, trace_records: null, fixtures: [1, {}], rlm_output: [], evaluations: 'x' }])
        assert.notEqual((await check({ schema_version, ...rest } as JsonValue)).problems.length, 0, name);
    }
  });
});
