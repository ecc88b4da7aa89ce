// Owns the one repair there is: handles that were left out are filled in when the manifest and the children of this run know them. No
// model is asked; whatever else a reply says stays as it is. At most one attempt; the guard judges the result again.
// Invariant: pure; the synthesis that is returned differs from the given one in filled handles alone, and only when it is then accepted.
// Seed 003, "the repair loop fills only missing/null handle fields"; notes 4.
import { isJsonObject } from '#base/json.ts';
import { indexOf } from '../guard/build-manifest.ts';
import type { ManifestInput } from '../guard/manifest.ts';
import type { GuardMode, RejectionReason, Validation } from '../guard/parent-claim.ts';
import { validateParentSynthesis } from '../guard/validate-parent-synthesis.ts';
import { chunksOfChildren } from './child-handles.ts';
import { findReferences, type LocatedReference } from './find-references.ts';
import { patchHandles } from './patch-handles.ts';
import type { HandleChange, RepairBlock, RepairFailure, RepairStrategy } from './repair-block.ts';

export interface RepairInput {
  readonly manifest: ManifestInput;
  readonly synthesis: unknown;
  /** What the children of this run answered: `{chunk_id, output}`, the output parsed or as text. */
  readonly childRecords: readonly unknown[];
  /** @default 'strict' */
  readonly mode?: GuardMode;
  /** Each of them must have a child record, or nothing is repaired. @default the chunks of the manifest */
  readonly selectedChunkIds?: readonly string[];
  /** Was this synthesis repaired before? Then it is not again. */
  readonly attempted?: boolean;
}

export interface Repaired {
  /** Repaired and accepted, or the very one that was given. */
  readonly synthesis: unknown;
  readonly repair: RepairBlock;
}

/** @throws TalariaError `rlm-manifest-invalid` when the manifest is none */
export function repairMissingHandles(input: RepairInput): Repaired {
  const diagnosis = diagnose(input);
  const { before, references, strategy } = diagnosis;
  if (strategy !== 'patch_missing_evidence_handle_fields' || !isJsonObject(input.synthesis))
    return { synthesis: input.synthesis, repair: untouched(diagnosis) };
  const handles = new Map(
    references.map(({ holder, reference }) => [holder, reference.allowed_evidence_chunk_id ?? ''] as const),
  );
  const synthesis = patchHandles(input.synthesis, handles);
  const after = validate(input, synthesis);
  const failure = after.accepted ? null : failureAfter(after);
  return {
    synthesis: after.accepted ? synthesis : input.synthesis,
    repair: {
      ...untouched(diagnosis),
      failure_reason: failure,
      repair_attempted: true,
      repair_accept: after.accepted,
      repair_failure_reason: failure,
      subsequent_repair_skip_reason: 'one_repair_attempt_per_synthesis',
      before_validation: before,
      after_validation: after,
      before_after_diff: references.map(changeOf),
    },
  };
}

interface Diagnosis {
  readonly before: Validation;
  readonly reasons: readonly RejectionReason[];
  /** Of a synthesis whose every rejection is a missing handle. */
  readonly references: readonly LocatedReference[];
  readonly exclusive: boolean;
  readonly resolved: boolean;
  readonly failure: RepairFailure | null;
  readonly strategy: RepairStrategy;
}

function diagnose(input: RepairInput): Diagnosis {
  const { mode = 'strict' } = input;
  const before = validate(input, input.synthesis);
  const reasons = before.rejected_claims.map(({ reason }) => reason);
  const exclusive = !before.accepted && reasons.every((reason) => reason === 'missing_evidence_handle');
  const references = exclusive ? findReferences({ ...input, mode }) : [];
  const resolved = exclusive && references.every(({ reference }) => reference.allowed_evidence_chunk_id !== null);
  const found = { before, reasons, references, exclusive, resolved };
  const failure = failureBefore(found, input);
  return { ...found, failure, strategy: strategyFor(found, failure) };
}

function validate({ manifest, mode = 'strict' }: RepairInput, synthesis: unknown): Validation {
  return validateParentSynthesis({ manifest, synthesis, mode });
}

type Found = Omit<Diagnosis, 'failure' | 'strategy'>;

function failureBefore({ before, reasons, exclusive, resolved }: Found, input: RepairInput): RepairFailure | null {
  if (before.accepted) return null;
  if (input.attempted === true) return 'repair_already_attempted';
  if (!isCovered(input)) return 'selected_chunk_coverage_failed';
  if (exclusive) return resolved ? 'missing_evidence_handle' : 'missing_evidence_handle_unresolved';
  return new Set(reasons).size > 1 ? 'mixed_traceguard_rejection_reasons' : (reasons[0] ?? null);
}

function isCovered({
  manifest,
  selectedChunkIds = [...indexOf(manifest).chunkIds],
  childRecords,
}: RepairInput): boolean {
  const answered = chunksOfChildren(childRecords);
  return selectedChunkIds.every((chunk) => answered.has(chunk));
}

function strategyFor({ before, exclusive }: Found, failure: RepairFailure | null): RepairStrategy {
  if (before.accepted) return 'not_attempted_initial_traceguard_accept';
  if (!exclusive) return 'not_attempted_non_exclusive_traceguard_rejection';
  if (failure === 'missing_evidence_handle') return 'patch_missing_evidence_handle_fields';
  return 'not_attempted_non_repairable_traceguard_rejection';
}

function failureAfter({ rejected_claims }: Validation): RepairFailure {
  const reasons = new Set(rejected_claims.map(({ reason }) => reason));
  return reasons.size > 1 ? 'mixed_traceguard_rejection_reasons_after_repair' : 'traceguard_repair_rejected';
}

function changeOf({ reference, holder }: LocatedReference): HandleChange {
  const before = holder.evidence_chunk_id === undefined ? 'absent' : 'null';
  return { path: reference.path, before, after: reference.allowed_evidence_chunk_id ?? '' };
}

function untouched({ before, reasons, references, exclusive, resolved, failure, strategy }: Diagnosis): RepairBlock {
  const eligible = strategy === 'patch_missing_evidence_handle_fields';
  return {
    failure_reason: failure,
    initial_accept: before.accepted,
    repair_eligible: eligible,
    repair_attempted: false,
    initial_failure_reason: failure,
    repair_strategy: strategy,
    repair_accept: null,
    repair_failure_reason: null,
    repair_runtime_error: null,
    patch_fidelity_errors: [],
    parent_synthesis_retry_attempted: false,
    parent_synthesis_retry_accept: null,
    parent_synthesis_retry_failure_reason: null,
    parent_synthesis_retry_runtime_error: null,
    parent_synthesis_retry_validation: null,
    parent_synthesis_retry_patch_fidelity_errors: [],
    subsequent_repair_attempted: false,
    subsequent_repair_skip_reason: null,
    initial_rejection_reasons: reasons,
    initial_rejection_exclusive_missing_evidence_handle: exclusive,
    initial_rejection_exclusive_repairable_missing_evidence_handle: resolved,
    missing_evidence_handle_resolution_pass: resolved,
    missing_evidence_handle_references: references.map(({ reference }) => reference),
    allowed_evidence_handle_set: [
      ...new Set(references.flatMap(({ reference }) => reference.allowed_evidence_chunk_id ?? [])),
    ],
    before_validation: before,
    after_validation: null,
    before_after_diff: [],
  };
}
