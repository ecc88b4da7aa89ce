// Owns judging the reply of a synthesis: its form, then TraceGuard over the fresh facts of its children, then the one local repair.
// Asks nobody. Invariant: accepted only when the guard accepts what is shown; memory changes what is asked again and never a verdict.
// Seed 003: the parent must pass TraceGuard before its claims become state; notes 2, 4.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Asked } from '../../envelope/asked.ts';
import { type ReadReply, readReply } from '../../envelope/read-output.ts';
import { buildManifest } from '../../guard/build-manifest.ts';
import type { GuardMode, Validation } from '../../guard/parent-claim.ts';
import type { PriorPolicy } from '../../memory/prior-policy.ts';
import type { RepairBlock } from '../../repair/repair-block.ts';
import { repairMissingHandles } from '../../repair/repair-missing-handles.ts';
import { extractJson } from '../../text/extract-json.ts';
import type { FreshFact } from '../run-outcome.ts';
import { problemTexts, rejectionTexts } from './problem-texts.ts';
import { strictForm } from './strict-form.ts';

export interface SynthesisTask {
  readonly asked: Asked;
  readonly facts: readonly FreshFact[];
  /** Chunks of all leaves below: each must have answered before a handle is repaired. */
  readonly selectedChunkIds: readonly string[];
  /** Chunks that were answered, with or without a fact. */
  readonly answeredChunkIds: readonly string[];
  readonly mode: GuardMode;
  readonly policy: PriorPolicy;
}

export interface SynthesisReading {
  readonly accepted: boolean;
  readonly validation: Validation;
  readonly repair: RepairBlock;
  readonly summary: string;
  readonly verdict: string | null;
  readonly confidence: number | null;
  readonly gaps: readonly string[];
  /** Why it should be asked again; empty: it need not. */
  readonly problems: readonly string[];
}

export function readSynthesis(text: string, task: SynthesisTask): SynthesisReading {
  const { facts, policy, mode } = task;
  const manifest = buildManifest({ entries: facts.map(({ place: _place, ...entry }) => entry) });
  const asked = withinFacts(task);
  const read = readReply(text, asked, { level: 'lenient' });
  const raw = read.ok ? read.raw : anyObject(text);
  const { selectedChunkIds } = task;
  const judged = { manifest, synthesis: raw, childRecords: childRecords(task), mode, selectedChunkIds };
  const { repair } = repairMissingHandles(judged);
  const validation = repair.after_validation?.accepted ? repair.after_validation : repair.before_validation;
  const strict = policy.output_schema === 'strict' ? strictForm(text, 'retained_facts') : [];
  const form = read.ok ? strict : problemTexts(read.problems);
  const failed = read.ok && read.value.verdict === 'failed';
  return {
    accepted: read.ok && !failed && validation.accepted,
    validation,
    repair,
    ...saidOf(read),
    problems: [
      ...form,
      ...(failed ? [SAYS_FAILED] : []),
      ...(raw === null ? [] : rejectionTexts(validation.rejected_claims)),
    ],
  };
}

const SAYS_FAILED = 'the reply says of itself that it failed';

/** References may name any chunk that a fact stands in. */
function withinFacts({ asked, facts }: SynthesisTask): Asked {
  return { ...asked, evidence_ids: [...new Set([...asked.evidence_ids, ...facts.map(({ chunk_id }) => chunk_id)])] };
}

/** What is no reply is judged all the same, so that the reasons can be told. */
function anyObject(text: string): JsonObject | null {
  const extracted = extractJson(text);
  return extracted.ok && isJsonObject(extracted.value) ? extracted.value : null;
}

function saidOf(read: ReadReply): Pick<SynthesisReading, 'summary' | 'verdict' | 'confidence' | 'gaps'> {
  if (!read.ok) return { summary: '', verdict: null, confidence: null, gaps: [] };
  const { result, verdict, confidence, residual_gaps } = read.value;
  return { summary: result.summary, verdict, confidence, gaps: residual_gaps.map(({ gap }) => gap) };
}

/** One record for each chunk that was answered, with its fresh facts. */
function childRecords({ facts, answeredChunkIds }: SynthesisTask): readonly unknown[] {
  return answeredChunkIds.map((chunk_id) => {
    const own = facts.filter((fact) => fact.chunk_id === chunk_id);
    const observed_facts = own.map(({ fact_id, text }) => ({ fact_id, text, evidence_chunk_id: chunk_id }));
    return { chunk_id, output: { observed_facts } };
  });
}
