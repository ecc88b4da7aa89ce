// Owns what the calls and the outcome of a cell prove (notes 10.4): fresh child evidence held against the fixture, the parent judged again
// over it and over the fixture's own manifest. Pure. Invariant: coverage counts answers of children, never ids that we wrote ourselves.

import { isJsonObject, type JsonValue } from '#base/json.ts';
import { oneLine } from '#base/text.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { PortabilityFixture } from '../../fixtures/portability-fixture.ts';
import { buildManifest } from '../../guard/build-manifest.ts';
import type { ManifestEntry } from '../../guard/manifest.ts';
import type { Validation } from '../../guard/parent-claim.ts';
import { validateParentSynthesis } from '../../guard/validate-parent-synthesis.ts';
import type { RepairBlock } from '../../repair/repair-block.ts';
import { repairMissingHandles } from '../../repair/repair-missing-handles.ts';
import type { FreshFact } from '../../run/run-outcome.ts';
import { extractJson } from '../../text/extract-json.ts';
import type { EngineRun } from '../engine/run-fixture.ts';
import { parentCompletion } from '../modes/parent-completion.ts';

export interface ChildRecord {
  readonly call_id: string;
  readonly parent_call_id: string | null;
  readonly chunk_id: string;
  readonly output: JsonValue;
}

export interface CellEvidence {
  readonly child_records: readonly ChildRecord[];
  readonly covered: boolean;
  /** Facts of children that the fixture holds under the same id, chunk and text. */
  readonly fresh: readonly ManifestEntry[];
  /** Facts of children that it does not hold so. */
  readonly stray_facts: number;
  readonly parent: JsonValue;
  readonly initial: Validation;
  readonly repair: RepairBlock;
  readonly effective_parent: JsonValue;
  readonly effective: Validation;
  /** Over the manifest of the fixture: what the bench knows and the run did not. */
  readonly against_fixture: Validation;
}

export function cellEvidence(fixture: PortabilityFixture, { calls, outcome }: EngineRun): CellEvidence {
  const child_records = childRecordsOf(calls);
  const answered = new Set(child_records.map(({ chunk_id }) => chunk_id));
  const fresh = freshEntries(fixture, outcome.evidence);
  const manifest = buildManifest({ entries: fresh, required: fresh.map(({ fact_id }) => fact_id) });
  const parent = parentOf(calls);
  const initial = validateParentSynthesis({ manifest, synthesis: parent });
  const childRecords = fresh.map(({ chunk_id, fact_id, text }) => ({
    chunk_id,
    output: { observed_facts: [{ fact_id, text, evidence_chunk_id: chunk_id }] },
  }));
  const selectedChunkIds = fixture.selected_chunk_ids;
  const { synthesis, repair } = repairMissingHandles({ manifest, synthesis: parent, childRecords, selectedChunkIds });
  return {
    child_records,
    covered: selectedChunkIds.every((chunk_id) => answered.has(chunk_id)),
    fresh,
    stray_facts: outcome.evidence.length - fresh.length,
    parent,
    initial,
    repair,
    effective_parent: synthesis as JsonValue,
    effective: validateParentSynthesis({ manifest, synthesis }),
    against_fixture: validateParentSynthesis({ manifest: buildManifest(fixture), synthesis }),
  };
}

function childRecordsOf(calls: readonly CallRecord[]): readonly ChildRecord[] {
  return calls
    .filter(({ mode, success }) => mode === 'execute_atomic' && success)
    .flatMap(({ call_id, parent_call_id, selected_chunk_ids, completion }) =>
      selected_chunk_ids.map((chunk_id) => ({ call_id, parent_call_id, chunk_id, output: completion })),
    );
}

/** Case counts, white space and the tag before the text do not. */
function freshEntries(fixture: PortabilityFixture, facts: readonly FreshFact[]): readonly ManifestEntry[] {
  const wanted = new Map(fixture.expected_retained_facts.map((fact) => [fact.fact_id, fact]));
  const entries = facts.flatMap(({ fact_id, chunk_id, text, child_call_id }): readonly ManifestEntry[] => {
    const fact = wanted.get(fact_id);
    const isSame = fact?.chunk_id === chunk_id && bare(fact.text, fact_id) === bare(text, fact_id);
    return isSame ? [{ fact_id, chunk_id, text, child_call_id }] : [];
  });
  return [...new Map(entries.map((entry) => [entry.fact_id, entry])).values()];
}

function bare(text: string, fact_id: string): string {
  const folded = oneLine(text);
  const tag = `FACT:${fact_id} `;
  return folded.startsWith(tag) ? folded.slice(tag.length) : folded;
}

function parentOf(calls: readonly CallRecord[]): JsonValue {
  const read = extractJson(parentCompletion(calls) ?? '');
  return read.ok && isJsonObject(read.value) ? read.value : null;
}
