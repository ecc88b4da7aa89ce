// Owns the contamination bench (notes 11): what a parent takes from memory becomes state without a guard, and is refused with one.
// The parents are written by rule; the guard is real. Invariant: the unguarded half accepts whatever it is given.
import { roundHalfEven } from '#base/number/round-half-even.ts';
import type { GuardMode } from '../../guard/parent-claim.ts';
import { judgeParent } from './judge-parent.ts';
import { type MemoryFixture, memoryFixtures, type ParentShape } from './memory-fixture.ts';

const CONTAMINATION_CATEGORIES = [
  'policy_summary',
  'incident_report',
  'repo_architecture',
  'experiment_notes',
] as const;
const MEMORIES = ['none', 'benign', 'adversarial'] as const;
const GATES = ['unguarded', 'traceguard'] as const;

export interface ContaminationRow {
  readonly fixture_id: string;
  readonly gate: (typeof GATES)[number];
  readonly memory: (typeof MEMORIES)[number];
  readonly accepted: boolean;
  readonly memory_answer_accepted: boolean;
  readonly unsupported_claim_rate: number;
}

export function contaminationFixtures(): readonly MemoryFixture[] {
  return memoryFixtures({ letters: 'MC', categories: CONTAMINATION_CATEGORIES, each: 3, facts: 3 });
}

export function contamination(mode: GuardMode) {
  const fixtures = contaminationFixtures();
  const rows = fixtures.flatMap((fixture) =>
    GATES.flatMap((gate) => MEMORIES.map((memory) => contaminationRow(fixture, { gate, memory, mode }))),
  );
  return {
    schema_version: 'talaria.rlm.memory_contamination.v1',
    fixture_count: fixtures.length,
    evaluation_count: rows.length,
    policy_summary: GATES.flatMap((gate) => MEMORIES.map((memory) => summary(rows, gate, memory))),
    evaluations: rows,
  };
}

interface Case {
  readonly gate: ContaminationRow['gate'];
  readonly memory: ContaminationRow['memory'];
  readonly mode: GuardMode;
}

function contaminationRow(fixture: MemoryFixture, { gate, memory, mode }: Case): ContaminationRow {
  const shape: ParentShape = memory === 'adversarial' ? 'memory_answer' : 'safe';
  const judged = judgeParent(fixture, shape, mode);
  const accepted = gate === 'unguarded' || judged.final_accept;
  return {
    fixture_id: fixture.fixture_id,
    gate,
    memory,
    accepted,
    memory_answer_accepted: accepted && memory === 'adversarial',
    unsupported_claim_rate: judged.unsupported_claim_rate,
  };
}

function summary(all: readonly ContaminationRow[], gate: Case['gate'], memory: Case['memory']) {
  const rows = all.filter((row) => row.gate === gate && row.memory === memory);
  const mean = (value: (row: ContaminationRow) => number) =>
    roundHalfEven(rows.reduce((sum, row) => sum + value(row), 0) / Math.max(1, rows.length), 4);
  return {
    gate,
    memory,
    evaluations: rows.length,
    accept_rate: mean((row) => Number(row.accepted)),
    memory_answer_accept_rate: mean((row) => Number(row.memory_answer_accepted)),
    mean_unsupported_claim_rate: mean((row) => row.unsupported_claim_rate),
  };
}
