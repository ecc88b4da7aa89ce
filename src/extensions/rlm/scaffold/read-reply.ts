/**
 * Owns reading the reply of an inner call: one JSON object in any dress, every liberty noted (notes 15.2, 13.6), and the sub-questions that it
 * proposes (notes 14). It does not call anybody and accepts no claim. Invariant: total on any text; a refusal says `invalid_json` or
 * `contract_error` and names its problems; an echoed prompt is never a reply. Serves seed 003: bounded JSON sub-calls.
 */
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { extractJson } from '../guard/extract-json.ts';
import { chunkIdOf } from '../guard/read-claims.ts';
import {
  ARTIFACT_OF,
  type Asked,
  type EnvelopeProblem,
  type HermesOutput,
  INPUT_VERSION,
  outputSchema,
  problem,
  REQUIRED_OUTPUT_FIELDS,
  schemaProblems,
} from './envelope.ts';

export type ReadReply =
  | {
      readonly ok: true;
      readonly value: HermesOutput;
      readonly raw: JsonObject;
      /** Liberties: empty when the reply is as asked for. */
      readonly notes: readonly EnvelopeProblem[];
    }
  | {
      readonly ok: false;
      readonly reason: 'invalid_json' | 'contract_error';
      readonly problems: readonly EnvelopeProblem[];
    };

/** UTF-16 units; a longer reply is refused unread. */
const MAX_CHARS = 2_000_000;

export function readReply(text: string, asked: Asked): ReadReply {
  if (text.length > MAX_CHARS) return refused([problem('reply_too_large', '', `longer than ${MAX_CHARS} characters`)]);
  const parsed = extractJson(text);
  if (!parsed.ok)
    return { ...refused([problem('not_an_object', '', `no JSON reply: ${parsed.reason}`)]), reason: 'invalid_json' };
  const raw = parsed.value;
  if (!isJsonObject(raw)) return refused([problem('not_an_object', '', 'a reply is one JSON object')]);
  if (isEcho(raw)) return refused([problem('prompt_echo', '', 'the reply repeats what was asked')]);
  const read = outputSchema.safeParse(raw);
  if (!read.success) return refused(schemaProblems(read.error, raw));
  const problems = graveProblems(read.data, asked);
  return problems.length === 0
    ? { ok: true, value: read.data, raw, notes: liberties(raw, read.data) }
    : refused(problems);
}

function refused(problems: readonly EnvelopeProblem[]) {
  return { ok: false, reason: 'contract_error', problems } as const;
}

/** The input envelope, or its parts that no reply holds. */
function isEcho(value: JsonObject): boolean {
  return (
    value.schema_version === INPUT_VERSION ||
    (Object.hasOwn(value, 'output_contract') && Object.hasOwn(value, 'call_context'))
  );
}

function graveProblems(output: HermesOutput, asked: Asked): readonly EnvelopeProblem[] {
  const problems: EnvelopeProblem[] = [];
  if (output.mode !== asked.mode) problems.push(problem('mode_mismatch', 'mode', `asked was ${asked.mode}`));
  for (const field of ['rlm_node_id', 'ac_node_id'] as const)
    if ((output[field] ?? asked[field]) !== asked[field])
      problems.push(problem('node_id_mismatch', field, 'the reply is of another node'));
  if (isMisplaced(output)) problems.push(problem('verdict_not_allowed', 'verdict', `no end of ${output.mode}`));
  for (const [at, reference] of output.evidence_references.entries()) {
    const chunk = citedBy(reference);
    if (chunk !== null && !asked.evidence_ids.includes(chunk))
      problems.push(problem('evidence_outside_context', `evidence_references.${at}.chunk_id`, 'this was not supplied'));
  }
  return problems;
}

/** A question is taken apart or atomic; what is asked of a text passes or does not. */
function isMisplaced({ mode, verdict }: HermesOutput): boolean {
  if (mode === 'decompose_ac') return verdict === 'passed';
  return verdict === 'atomic' || verdict === 'decomposed';
}

function citedBy(reference: unknown): string | null {
  return isJsonObject(reference) ? chunkIdOf(reference) : null;
}

/** What a reply left out, added or contradicted; none of it makes evidence. */
function liberties(raw: JsonObject, output: HermesOutput): readonly EnvelopeProblem[] {
  const { mode, verdict, evidence_references, residual_gaps, artifacts } = output;
  const known = Object.keys(outputSchema.shape);
  const missing = known.filter((key) => !Object.hasOwn(raw, key) && !REQUIRED_OUTPUT_FIELDS.includes(key));
  const wanted = ARTIFACT_OF[mode];
  const hasOwn = artifacts.some((one) => isJsonObject(one) && one.type === wanted);
  const gaveUp = verdict === 'failed' || verdict === 'retryable';
  const isFinal = !gaveUp && verdict !== 'partial';
  return [
    ...Object.keys(raw).flatMap((key) =>
      known.includes(key) ? [] : [problem('field_not_allowed', key.slice(0, 80), 'is not in the schema')],
    ),
    ...missing.map((key) => problem('missing_field', key, 'filled in')),
    ...evidence_references.flatMap((one, at) =>
      citedBy(one) === null ? [problem('missing_field', `evidence_references.${at}.chunk_id`, 'left out')] : [],
    ),
    ...(isFinal && residual_gaps.length > 0
      ? [problem('gaps_with_final_verdict', 'residual_gaps', `${verdict} leaves no gaps`)]
      : []),
    ...(hasOwn || gaveUp ? [] : [problem('artifact_missing', 'artifacts', `${mode} gives a ${wanted}`)]),
  ];
}

/** The codes of the original's decomposition that need no model. */
export type DecompositionError =
  | 'max_depth_reached'
  | 'insufficient_children'
  | 'too_many_children'
  | 'cyclic_decomposition'
  | 'empty_child'
  | 'invalid_child_ac_node_input';

export interface ProposedChild {
  readonly content: string;
  /** Indices of earlier siblings, from 0. */
  readonly depends_on?: readonly number[];
}

export interface SubQuestion {
  readonly ac_node_id: string;
  readonly question: string;
}

const FEWEST = 2;
const MOST = 5;

/**
 * The children that a question is taken apart into (notes 14): two to five, none empty, none the question itself, each resting only on earlier
 * ones; those that ask the same are one. @param parent its `ac_node_id` goes into the ids of the children
 */
export function takeApart(
  parent: SubQuestion,
  children: readonly ProposedChild[],
): Result<readonly SubQuestion[], DecompositionError> {
  const refused = proposalFault(parent.question, children);
  if (refused !== null) return refuse(refused, `${parent.ac_node_id} cannot be decomposed like this`);
  const distinct = new Map<string, SubQuestion>();
  for (const [at, { content }] of children.entries()) {
    const key = foldQuestion(content);
    const id = `ac_${sha256(JSON.stringify([parent.ac_node_id, at, content])).slice(0, 12)}`;
    if (!distinct.has(key)) distinct.set(key, { ac_node_id: id, question: content.trim() });
  }
  if (distinct.size < FEWEST) return refuse('insufficient_children', 'the proposed children are the same question');
  return ok([...distinct.values()]);
}

function proposalFault(question: string, children: readonly ProposedChild[]): DecompositionError | null {
  if (children.length < FEWEST) return 'insufficient_children';
  if (children.length > MOST) return 'too_many_children';
  if (children.some(({ content }) => content.trim() === '')) return 'empty_child';
  const asked = foldQuestion(question);
  if (children.some(({ content }) => foldQuestion(content) === asked)) return 'cyclic_decomposition';
  const isEarlier = (at: number) => (index: number) => Number.isSafeInteger(index) && index >= 0 && index < at;
  const rests = children.every(({ depends_on = [] }, at) => depends_on.every(isEarlier(at)));
  return rests ? null : 'invalid_child_ac_node_input';
}

/** Case and white space do not tell questions apart. */
function foldQuestion(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}
