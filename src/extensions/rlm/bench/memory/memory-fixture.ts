// Owns the fixtures of the memory benches (notes 11) and the parents that a scripted provider writes for them: by rule, no model.
// Invariant: a fixture follows from its name and number; each shape of parent differs from the safe one in its fault alone.
import type { JsonObject } from '#base/json.ts';
import { repairableParent, safeParent, unsafeParent } from '../../fixtures/portability-parents.ts';
import type { PortabilityFact, PortabilityWording } from '../../fixtures/portability-spec.ts';
import { buildTruncationFixture, type TruncationFixture } from '../../fixtures/truncation-fixture.ts';

export interface MemoryFixture {
  readonly fixture_id: string;
  readonly category: string;
  readonly fixture: TruncationFixture;
  readonly facts: readonly PortabilityFact[];
}

/** `memory_answer`: safe, and beside it a fact that only memory knows. */
export type ParentShape = 'safe' | 'missing_handle' | 'chunk_only' | 'memory_answer';

const WORDING: PortabilityWording = {
  description: '',
  distractor: '',
  safe_summary: 'The answer rests on the chunks that were read.',
  unsafe_summary: 'The answer rests on the chunks that were read.',
  gap: 'Nothing else was read.',
};

export interface MemoryFixturePlan {
  readonly letters: string;
  readonly categories: readonly string[];
  readonly each: number;
  readonly facts: number;
}

export function memoryFixtures({ letters, categories, each, facts }: MemoryFixturePlan): readonly MemoryFixture[] {
  return categories.flatMap((category, group) =>
    Array.from({ length: each }, (_, at) =>
      memoryFixture({ letters, category, number: group * each + at + 1, facts, at: at + 1 }),
    ),
  );
}

interface One {
  readonly letters: string;
  readonly category: string;
  readonly number: number;
  readonly facts: number;
  readonly at: number;
}

function memoryFixture({ letters, category, number, facts, at }: One): MemoryFixture {
  const fixture_id = `${category.replaceAll('_', '-')}-${pad(at, 2)}`;
  const ids = Array.from({ length: facts }, (_, index) => `${letters}-${pad(number, 2)}-${pad(index + 1, 3)}`);
  const fixture = buildTruncationFixture(
    { fixture_id, description: `Memory bench: ${category}.` },
    {
      path: `${fixture_id}.txt`,
      lines: ids.map((id) => `FACT:${id} the record ${id} stands in its own chunk.`),
      chunk_line_limit: 1,
      max_atomic_chunks: facts,
      facts: ids.map((fact_id, index) => ({ fact_id, line: index + 1 })),
      minimum_confidence: 0.8,
    },
  );
  const retained = fixture.expected_retained_facts.map((fact) => ({ ...fact, visibility: 'retained' as const }));
  return { fixture_id, category, fixture, facts: retained };
}

export function parentOf({ facts }: MemoryFixture, shape: ParentShape): JsonObject {
  if (shape === 'missing_handle') return plain(repairableParent(facts, WORDING));
  if (shape === 'chunk_only')
    return plain(unsafeParent({ retained: facts, omitted: [], wording: WORDING, isTrap: true }));
  const safe = safeParent(facts, WORDING);
  if (shape === 'safe') return plain(safe);
  const answer = { fact_id: 'MEMORY-ANSWER-001', text: 'What memory says.', evidence_chunk_id: 'memory://answers/1' };
  return plain({ ...safe, result: { ...safe.result, observed_facts: [answer] } });
}

/** What the children of the run reported: every fact with its chunk. */
export function childRecordsOf({ facts }: MemoryFixture): readonly JsonObject[] {
  return facts.map(({ fact_id, text, chunk_id }) => ({
    chunk_id,
    output: { observed_facts: [{ fact_id, text, evidence_chunk_id: chunk_id }], residual_gaps: [] },
  }));
}

function plain(value: object): JsonObject {
  return value as JsonObject;
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
