// What holds for every bench: scores and rates in 0..1, a status for every mix of cells, memory files that survive any bytes.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { appendMemory, readMemoryFile } from '#extensions/rlm/memory/memory-file.ts';
import { MEMORY_KINDS, MEMORY_TASKS, RECOMMENDATIONS } from '#extensions/rlm/memory/memory-record.ts';
import { memoryReport } from '#extensions/rlm/memory/memory-report.ts';
import { scoreCompletion } from '#public/rlm.ts';
import { compareRuns } from '../../../bench/rlm/compare-runs.ts';
import { generateFixture } from '../../../bench/rlm/contract-ablation.ts';
import { gateFaults } from '../../../bench/rlm/engine-ablation.ts';
import { runMessage } from '../../../bench/rlm/run-fixture.ts';
import { aggregateStatus, type CellClass, cellVerdict, familySummary } from '../../../bench/rlm/run-matrix.ts';
import { ownTruncationFixture, validateFixture } from '../../../bench/rlm/truncation-fixture.ts';

const within = (value: number) => value >= 0 && value <= 1;
const json = fc.jsonValue({ maxDepth: 4 });
const completion = fc.oneof(
  json,
  fc.string(),
  json.map((value) => JSON.stringify(value)),
);

describe('rlm/bench: properties', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rlm-property-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('whatever both sides say, scores lie in 0..1, the delta in -1..1, and a tie is within its epsilon', () => {
    const fixture = ownTruncationFixture();
    fc.assert(
      fc.property(completion, completion, fc.nat(6), (vanilla, parent, chunks) => {
        const calls = [
          ...fixture.truncation_config.expected_selected_chunk_ids
            .slice(0, chunks)
            .map((chunk_id) => call('execute_atomic', chunk_id)),
          call('synthesize_parent', null),
        ];
        const compared = compareRuns({ fixture, vanilla, rlm: { completion: parent, calls } });
        assert.ok(within(compared.vanilla_quality.score) && within(compared.rlm_quality.score));
        assert.ok(Math.abs(compared.score_delta) <= 1);
        assert.equal(compared.winner === 'tie', Math.abs(compared.score_delta) <= 0.0001);
      }),
    );
  });

  test('the report of the boundary that a controller adds never takes from a score, and adds no claim', () => {
    const fixture = ownTruncationFixture();
    const outcome = { boundaries: [{ source_path: 'f', last_retained_line: 8, omitted_line_count: 4 }] } as never;
    fc.assert(
      fc.property(completion, (said) => {
        const text = typeof said === 'string' ? said : JSON.stringify(said);
        const calls = [{ mode: 'synthesize_parent', completion: text }] as never;
        const [before, then] = [text, runMessage({ outcome, calls }).text].map((one) =>
          scoreCompletion({ fixture, completion: one }),
        );
        assert.ok((then?.score ?? 0) >= (before?.score ?? 0));
        assert.deepEqual(then?.claimed_omitted_fact_ids, before?.claimed_omitted_fact_ids);
        assert.deepEqual(then?.cited_retained_fact_ids, before?.cited_retained_fact_ids);
      }),
    );
  });

  test('a generated fixture of any shape agrees with itself, and no harmful fault passes the strict guard', () => {
    const shape = fc
      .record({ total: fc.integer({ min: 3, max: 12 }), distractors: fc.nat(3), kept: fc.integer({ min: 2, max: 11 }) })
      .map(({ total, distractors, kept }) => ({
        total_facts: total,
        retained_count: Math.min(kept, total - 1),
        omitted_count: total - Math.min(kept, total - 1),
        retained_fraction: 0.5,
        distractor_lines_per_fact: distractors,
        claim_target: 'all_omitted' as const,
      }));
    fc.assert(
      fc.property(shape, (one) => {
        const generated = generateFixture({ name: 'p', letters: 'UC' }, one);
        assert.equal(validateFixture(generated.fixture).ok, true);
        const bench = gateFaults([generated]);
        assert.deepEqual([bench.unexpected_count, bench.harmful_accepted.strict], [0, 0]);
      }),
      { numRuns: 40 },
    );
  });

  test('a cell passes only when every condition holds; counts of a family add up; more failures never help', () => {
    const found = fc.record({
      completed: fc.boolean(),
      timed_out: fc.boolean(),
      accepted: fc.boolean(),
      covered: fc.boolean(),
      fresh_facts: fc.nat(5),
      wanted_facts: fc.nat(5),
      validated_claims: fc.nat(3),
      fixture_accepted: fc.boolean(),
    });
    fc.assert(
      fc.property(found, (one) => {
        const verdict = cellVerdict(one);
        const holds = one.completed && one.accepted && one.covered && one.fixture_accepted;
        const passes = holds && one.fresh_facts === one.wanted_facts && one.validated_claims > 0;
        assert.equal(verdict.mandatory_contract_pass, passes);
        assert.equal(verdict.failures.length === 0, passes);
      }),
    );
    const classes = fc.constantFrom<CellClass>('pass', 'primary_contract_failure', 'infra_skip', 'infra_timeout');
    const order = ['fail', 'inconclusive', 'pass'];
    fc.assert(
      fc.property(fc.array(classes, { minLength: 1, maxLength: 10 }), (all) => {
        const cells = all.map((failure_classification) => ({
          family_id: 'f',
          completed: !failure_classification.startsWith('infra'),
          failure_classification,
          latency_seconds: null,
        }));
        const row = familySummary('f', cells, cells.length);
        const counted = row.passed_primary_cells + row.failed_primary_cells + row.infra_skipped_primary_cells;
        assert.equal(counted, cells.length);
        const failure = {
          family_id: 'f',
          completed: true,
          failure_classification: 'primary_contract_failure' as const,
          latency_seconds: null,
        };
        const worse = familySummary('f', [...cells.slice(1), failure], cells.length);
        assert.ok(order.indexOf(aggregateStatus([worse])) <= order.indexOf(aggregateStatus([row])));
      }),
    );
  });

  test('any bytes in a memory file: read never throws, sound lines are used, an append loses nothing', async () => {
    const path = join(folder, 'memory.jsonl');
    const sound = { kind: MEMORY_KINDS[0], task: MEMORY_TASKS[1], recommendation: RECOMMENDATIONS[1] };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.constant(null)), { maxLength: 8 }),
        async (parts) => {
          writeFileSync(path, '');
          for (const part of parts) appendFileSync(path, part === null ? `\n${JSON.stringify(sound)}\n` : part);
          const whole = parts.filter((part, at) => part === null && (parts[at + 1] ?? null) === null).length;
          const before = readFileSync(path);
          const read = readMemoryFile(path);
          assert.ok(read.records.length >= whole);
          assert.equal(memoryReport(read).record_count, read.records.length);
          await appendMemory(path, [sound]);
          assert.deepEqual(readFileSync(path).subarray(0, before.length), before);
          const again = readMemoryFile(path);
          assert.equal(again.records.at(-1)?.kind, sound.kind);
          assert.equal(again.records.length, read.records.length + 1);
        },
      ),
      { numRuns: 60 },
    );
  });
});

function call(mode: string, chunk_id: string | null) {
  return { mode, exit_code: 0, success: true, chunk_id };
}
