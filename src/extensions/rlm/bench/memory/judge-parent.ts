// Owns what becomes of one scripted parent: the guard really judges it, the repair is really tried. Knows no provider and no memory.
// Invariant: nothing here is scripted; the row says what guard and repair did.
import { buildManifest } from '../../guard/build-manifest.ts';
import type { GuardMode, RejectionReason } from '../../guard/parent-claim.ts';
import { validateParentSynthesis } from '../../guard/validate-parent-synthesis.ts';
import { repairMissingHandles } from '../../repair/repair-missing-handles.ts';
import { childRecordsOf, type MemoryFixture, type ParentShape, parentOf } from './memory-fixture.ts';

export interface JudgedParent {
  readonly initial_accept: boolean;
  readonly final_accept: boolean;
  readonly repairs: 0 | 1;
  /** As published: the repair counted as a call. Ours asks no model for it. */
  readonly calls: number;
  /** Of the synthesis that is left in the end. */
  readonly unsupported_claim_rate: number;
  readonly reasons: readonly RejectionReason[];
}

export function judgeParent(fixture: MemoryFixture, shape: ParentShape, mode: GuardMode): JudgedParent {
  const manifest = buildManifest(fixture.fixture);
  const { synthesis, repair } = repairMissingHandles({
    manifest,
    synthesis: parentOf(fixture, shape),
    childRecords: childRecordsOf(fixture),
    mode,
    selectedChunkIds: fixture.fixture.truncation_config.expected_selected_chunk_ids,
  });
  const final = validateParentSynthesis({ manifest, synthesis, mode });
  const repairs = repair.repair_attempted ? 1 : 0;
  return {
    initial_accept: repair.initial_accept,
    final_accept: final.accepted,
    repairs,
    calls: 1 + repairs,
    unsupported_claim_rate: final.unsupported_claim_rate,
    reasons: [...new Set(repair.initial_rejection_reasons)],
  };
}
