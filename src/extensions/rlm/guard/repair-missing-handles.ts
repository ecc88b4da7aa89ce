// Owns the one repair there is: handles that were left out are filled in when the manifest admits one chunk for the fact and a child of this run
// reported it. No model is asked; whatever else a reply says stays as it is. At most one attempt; the guard judges the result again.
// Invariant: pure; the synthesis that is returned differs from the given one in filled handles alone, and only when it is then accepted.
// Seed 003, "the repair loop fills only missing/null handle fields"; notes 4.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { extractJson } from './extract-json.ts';
import { indexOf, type ManifestInput } from './manifest.ts';
import { type GuardMode, type LocatedClaim, readClaims, type Validation } from './read-claims.ts';
import { validateParentSynthesis } from './validate-parent-synthesis.ts';

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
  const { synthesis } = input;
  const found = diagnose(input);
  if (found.failure !== 'missing_evidence_handle' || !isJsonObject(synthesis))
    return { synthesis, repair: blockOf(found, null) };
  const patched = structuredClone(synthesis) as JsonValue;
  const holders = [...withoutHandle(patched, input.mode).keys()];
  for (const [at, { reference }] of found.missing.entries())
    Object.assign(holders[at] ?? {}, { evidence_chunk_id: reference.allowed_evidence_chunk_id });
  const after = validate(input, patched);
  return { synthesis: after.accepted ? patched : synthesis, repair: blockOf(found, after) };
}

type Diagnosis = ReturnType<typeof diagnose>;

function diagnose(input: RepairInput) {
  const before = validate(input, input.synthesis);
  const reasons = before.rejected_claims.map(({ reason }) => reason);
  const exclusive = !before.accepted && reasons.every((reason) => reason === 'missing_evidence_handle');
  const missing = exclusive ? findMissing(input) : [];
  const resolved = exclusive && missing.every(({ reference }) => reference.allowed_evidence_chunk_id !== null);
  return { before, reasons, missing, exclusive, resolved, failure: failureOf({ before, exclusive, resolved }, input) };
}

function validate({ manifest, mode = 'strict' }: RepairInput, synthesis: unknown): Validation {
  return validateParentSynthesis({ manifest, synthesis, mode });
}

/** Null: there is nothing to repair; `missing_evidence_handle`: it can be. */
function failureOf(
  {
    before,
    exclusive,
    resolved,
  }: { readonly before: Validation; readonly exclusive: boolean; readonly resolved: boolean },
  { manifest, childRecords, attempted, selectedChunkIds = indexOf(manifest).chunkIds }: RepairInput,
) {
  if (before.accepted) return null;
  if (attempted === true) return 'repair_already_attempted' as const;
  const answered = chunksOfChildren(childRecords);
  if (!selectedChunkIds.every((chunk) => answered.has(chunk))) return 'selected_chunk_coverage_failed' as const;
  if (exclusive)
    return resolved ? ('missing_evidence_handle' as const) : ('missing_evidence_handle_unresolved' as const);
  const [first, ...others] = new Set(before.rejected_claims.map(({ reason }) => reason));
  return others.length > 0 ? ('mixed_traceguard_rejection_reasons' as const) : (first ?? null);
}

function strategyOf({ before, exclusive, failure }: Diagnosis) {
  if (before.accepted) return 'not_attempted_initial_traceguard_accept' as const;
  if (!exclusive) return 'not_attempted_non_exclusive_traceguard_rejection' as const;
  if (failure === 'missing_evidence_handle') return 'patch_missing_evidence_handle_fields' as const;
  return 'not_attempted_non_repairable_traceguard_rejection' as const;
}

function failureAfter({ accepted, rejected_claims }: Validation) {
  if (accepted) return null;
  const reasons = new Set(rejected_claims.map(({ reason }) => reason));
  return reasons.size > 1
    ? ('mixed_traceguard_rejection_reasons_after_repair' as const)
    : ('traceguard_repair_rejected' as const);
}

export type RepairBlock = Readonly<ReturnType<typeof blockOf>>;

/**
 * What repair found and did, in the seed's spelling (notes 4). The fields of the original's second parent call are kept, and say that there is
 * none: a handle that is known needs no model. @param after null: nothing was attempted
 */
function blockOf(found: Diagnosis, after: Validation | null) {
  const { before, reasons, missing, exclusive, resolved } = found;
  const strategy = strategyOf(found);
  const failed = after === null ? null : failureAfter(after);
  const known = missing.flatMap(({ reference }) => reference.allowed_evidence_chunk_id ?? []);
  return {
    /** Null when the synthesis that is returned is accepted. */
    failure_reason: after === null ? found.failure : failed,
    initial_accept: before.accepted,
    repair_eligible: strategy === 'patch_missing_evidence_handle_fields',
    repair_attempted: after !== null,
    initial_failure_reason: found.failure,
    repair_strategy: strategy,
    /** Null when nothing was attempted. */
    repair_accept: after === null ? null : after.accepted,
    repair_failure_reason: failed,
    repair_runtime_error: null,
    patch_fidelity_errors: [] as readonly string[],
    parent_synthesis_retry_attempted: false,
    parent_synthesis_retry_accept: null,
    parent_synthesis_retry_failure_reason: null,
    parent_synthesis_retry_runtime_error: null,
    parent_synthesis_retry_validation: null,
    parent_synthesis_retry_patch_fidelity_errors: [] as readonly string[],
    subsequent_repair_attempted: false,
    subsequent_repair_skip_reason: after === null ? null : 'one_repair_attempt_per_synthesis',
    initial_rejection_reasons: reasons,
    initial_rejection_exclusive_missing_evidence_handle: exclusive,
    initial_rejection_exclusive_repairable_missing_evidence_handle: resolved,
    missing_evidence_handle_resolution_pass: resolved,
    missing_evidence_handle_references: missing.map(({ reference }) => reference),
    allowed_evidence_handle_set: [...new Set(known)],
    before_validation: before,
    after_validation: after,
    before_after_diff: after === null ? [] : missing.map(changeOf),
  };
}

/** An object of the parent that names facts without the chunk they rest on. */
type MissingHandle = ReturnType<typeof findMissing>[number];

function changeOf({ reference, holder }: MissingHandle) {
  const before = holder.evidence_chunk_id === undefined ? 'absent' : 'null';
  return { path: reference.path, before, after: reference.allowed_evidence_chunk_id ?? '' };
}

/** In the order of the claims, one for each object. */
function findMissing({ manifest, synthesis, childRecords, mode = 'strict' }: RepairInput) {
  const index = indexOf(manifest);
  const reported = childHandles(childRecords);
  const admitted = (fact: string): readonly string[] => {
    const chunks = mode === 'strict' ? [...(index.chunksOf(fact)?.keys() ?? [])] : [index.lastChunk(fact) ?? []].flat();
    return chunks.filter((chunk) => reported.get(fact)?.has(chunk));
  };
  return [...withoutHandle(synthesis, mode)].map(([holder, claims]) => ({
    holder,
    reference: referenceTo(holder, claims, admitted),
  }));
}

function referenceTo(
  holder: JsonObject,
  claims: readonly LocatedClaim[],
  admitted: (fact: string) => readonly string[],
) {
  const fact_ids = claims.flatMap(({ claim }) => claim.fact_id ?? []);
  const [first = '', ...others] = fact_ids;
  const shared = admitted(first).filter((chunk) => others.every((fact) => admitted(fact).includes(chunk)));
  // An empty handle is an answer, not a gap.
  const known = (holder.evidence_chunk_id ?? null) === null && shared.length === 1 ? shared[0] : undefined;
  const { surface = '', text = '' } = claims[0]?.claim ?? {};
  const item = claims[0]?.at === undefined ? '' : `[${claims[0].at}]`;
  return {
    fact_ids,
    surface,
    text,
    /** `result.retained_facts[1].evidence_chunk_id` */
    path: `${surface}${item}.evidence_chunk_id`,
    /** The one chunk that the manifest admits and a child of this run reported; null when there is none, or more than one. */
    allowed_evidence_chunk_id: known ?? null,
  };
}

/** Claims that name a fact and no chunk, by the object that makes them. */
function withoutHandle(synthesis: unknown, mode: GuardMode = 'strict'): ReadonlyMap<JsonObject, LocatedClaim[]> {
  const missing = readClaims(synthesis, mode).filter(({ claim }) => claim.fact_id !== null && claim.chunk_id === null);
  return Map.groupBy(missing, ({ holder }) => holder);
}

/** Fact → chunks that children reported for it. A record carries the answer under `output` or `completion`, parsed or as text, or is it. */
function childHandles(records: readonly unknown[]): ReadonlyMap<string, ReadonlySet<string>> {
  const handles = new Map<string, Set<string>>();
  for (const answer of records.flatMap(answersOf)) {
    for (const { claim } of readClaims(answer)) {
      if (claim.fact_id === null || claim.chunk_id === null) continue;
      const chunks = handles.get(claim.fact_id) ?? new Set();
      handles.set(claim.fact_id, chunks.add(claim.chunk_id));
    }
  }
  return handles;
}

/** Chunks for which there is a record: the record says so, or the answer in it speaks of them. */
function chunksOfChildren(records: readonly unknown[]): ReadonlySet<string> {
  const spoken = [...childHandles(records).values()].flatMap((chunks) => [...chunks]);
  const named = records.flatMap((record) => {
    const chunk = isJsonObject(record) ? record.chunk_id : undefined;
    return typeof chunk === 'string' ? [chunk] : [];
  });
  return new Set([...named, ...spoken]);
}

/** Each answer also as the result of one: children list their facts at the top, or are one fact. */
function answersOf(record: unknown): readonly JsonObject[] {
  if (!isJsonObject(record)) return [];
  const answers = [record, ...[record.output, record.completion].flatMap(parsed)];
  return answers.flatMap((answer) => [answer, { result: answer }]);
}

function parsed(answer: unknown): readonly JsonObject[] {
  const read = typeof answer === 'string' ? extractJson(answer) : { ok: true as const, value: answer };
  return read.ok && isJsonObject(read.value) ? [read.value] : [];
}
