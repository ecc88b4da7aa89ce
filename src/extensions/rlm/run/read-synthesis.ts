// Owns judging the reply of a synthesis: its form, then TraceGuard over the fresh facts of its children, then the one local repair; and reading that
// of a decomposition into sub-questions, by the rules of tree/ac (notes 14). Asks nobody. Invariant: accepted only when the guard accepts what is shown;
// memory changes what is asked again and never a verdict; a refused decomposition carries the original's code. Seed 003: the parent must pass
// TraceGuard before its claims become state; notes 2, 4.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Result, refuse } from '#base/result.ts';
import { extractJson } from '../guard/extract-json.ts';
import { buildManifest } from '../guard/manifest.ts';
import type { GuardMode, Validation } from '../guard/read-claims.ts';
import { type RepairBlock, repairMissingHandles } from '../guard/repair-missing-handles.ts';
import type { PriorPolicy } from '../memory/priors.ts';
import type { FreshFact } from '../outcome.ts';
import type { Asked } from '../scaffold/envelope.ts';
import {
  type DecompositionError,
  type ProposedChild,
  readReply,
  type SubQuestion,
  takeApart,
} from '../scaffold/read-reply.ts';
import { listOf, problemTexts, rejectionTexts, type Said, saidOf, strictForm } from './read-leaf.ts';

interface SynthesisTask {
  readonly asked: Asked;
  readonly facts: readonly FreshFact[];
  /** Chunks of all leaves below: each must have answered before a handle is repaired. */
  readonly selectedChunkIds: readonly string[];
  /** Chunks that were answered, with or without a fact. */
  readonly answeredChunkIds: readonly string[];
  readonly mode: GuardMode;
  readonly policy: PriorPolicy;
}

export interface SynthesisReading extends Said {
  readonly accepted: boolean;
  readonly validation: Validation;
  readonly repair: RepairBlock;
  /** Why it should be asked again; empty: it need not. */
  readonly problems: readonly string[];
}

export function readSynthesis(text: string, task: SynthesisTask): SynthesisReading {
  const { facts, policy, mode, selectedChunkIds } = task;
  const manifest = buildManifest({ entries: facts.map(({ place: _place, ...entry }) => entry) });
  // References may name any chunk that a fact stands in.
  const evidence_ids = [...new Set([...task.asked.evidence_ids, ...facts.map(({ chunk_id }) => chunk_id)])];
  const read = readReply(text, { ...task.asked, evidence_ids });
  const raw = read.ok ? read.raw : anyObject(text);
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

/** What is no reply is judged all the same, so that the reasons can be told. */
function anyObject(text: string): JsonObject | null {
  const extracted = extractJson(text);
  return extracted.ok && isJsonObject(extracted.value) ? extracted.value : null;
}

/** One record for each chunk that was answered, with its fresh facts. */
function childRecords({ facts, answeredChunkIds }: SynthesisTask): readonly unknown[] {
  return answeredChunkIds.map((chunk_id) => {
    const own = facts.filter((fact) => fact.chunk_id === chunk_id);
    const observed_facts = own.map(({ fact_id, text }) => ({ fact_id, text, evidence_chunk_id: chunk_id }));
    return { chunk_id, output: { observed_facts } };
  });
}

/** A refusal `atomic`: the reply says that the question is one. */
export function readDecomposition(
  text: string,
  asked: Asked,
  { question, max_depth }: { readonly question: string; readonly max_depth: number },
): Result<readonly SubQuestion[], DecompositionError | 'parse_failure' | 'atomic'> {
  const read = readReply(text, asked);
  if (!read.ok) return refuse('parse_failure', problemTexts(read.problems).join('; '));
  const children = proposedChildren(read.raw);
  if (read.value.verdict === 'atomic' && children.length === 0) return refuse('atomic', 'the question is one');
  if (max_depth < 1) return refuse('max_depth_reached', `${asked.ac_node_id} cannot be decomposed like this`);
  return takeApart({ ac_node_id: asked.ac_node_id, question }, children);
}

/** Of the plain list, else of the decomposition artifact. */
function proposedChildren(reply: JsonObject): readonly ProposedChild[] {
  const result = isJsonObject(reply.result) ? reply.result : {};
  const details = isJsonObject(result.details) ? result.details : {};
  const plain = listOf(result.sub_questions ?? details.sub_questions ?? reply.sub_questions);
  const artifacts = listOf(reply.artifacts).filter(isJsonObject);
  const proposed = plain.length > 0 ? plain : artifacts.flatMap((one) => listOf(one.proposed_child_acs));
  return proposed.map((item) => {
    if (!isJsonObject(item)) return { content: typeof item === 'string' ? item : '' };
    const content = [item.statement, item.question, item.title].find((value) => typeof value === 'string');
    const depends_on = listOf(item.depends_on).map((index) => (typeof index === 'number' ? index : -1));
    return { content: typeof content === 'string' ? content : '', depends_on };
  });
}
