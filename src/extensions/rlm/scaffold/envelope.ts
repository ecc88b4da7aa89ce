/**
 * Owns the shape of what an inner call answers: `rlm.hermes.output.v1` (notes 15.2), read as widely as models write it, and what a reply is
 * measured against. It does not know what was asked. Invariant: the six contract fields are there; what stands in another form is brought into
 * this one. Serves seed 003: returns structured JSON evidence to Ouroboros.
 */
import { z } from 'zod';
import { isJsonObject } from '#base/json.ts';

export const CALL_MODES = ['decompose_ac', 'execute_atomic', 'summarize_chunk', 'synthesize_parent'] as const;
export type CallMode = (typeof CALL_MODES)[number];

const VERDICTS = ['atomic', 'decomposed', 'passed', 'failed', 'partial', 'retryable'] as const;
type Verdict = (typeof VERDICTS)[number];

export const ARTIFACT_OF = {
  decompose_ac: 'decomposition',
  execute_atomic: 'atomic_execution',
  summarize_chunk: 'chunk_summary',
  synthesize_parent: 'parent_synthesis',
} as const;

/** What every reply must hold, in this order (the output contract of an input). */
export const REQUIRED_OUTPUT_FIELDS: readonly string[] = [
  'mode',
  'verdict',
  'confidence',
  'result',
  'evidence_references',
  'residual_gaps',
];

export const TOKEN_BUDGET = { max_input_tokens: 24_000, max_output_tokens: 4_000 } as const;

export const INPUT_VERSION = 'rlm.hermes.input.v1';
export const OUTPUT_VERSION = 'rlm.hermes.output.v1';

/** Words in which models say a verdict. */
const VERDICT_WORDS: ReadonlyMap<unknown, Verdict> = new Map([
  ...VERDICTS.map((verdict) => [verdict, verdict] as const),
  ...(['pass', 'ok', 'success', 'completed', 'complete', 'done'] as const).map((word) => [word, 'passed'] as const),
  ...(['fail', 'error'] as const).map((word) => [word, 'failed'] as const),
  ['retry', 'retryable'],
]);

function readVerdict(value: unknown): unknown {
  return typeof value === 'string' ? (VERDICT_WORDS.get(value.trim().toLowerCase()) ?? value) : value;
}

/** One alone stands for a list of one. */
function listed(value: unknown): unknown {
  return isJsonObject(value) || typeof value === 'string' ? [value] : value;
}

function readGap(value: unknown): unknown {
  if (typeof value === 'string') return { gap: value };
  if (!isJsonObject(value)) return { gap: JSON.stringify(value) };
  return { ...value, gap: [value.gap, value.text, value.description].find(isText) ?? JSON.stringify(value) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const text = z.string();
const words = text.catch('');

/** Unknown fields pass: they are noted by whoever reads. */
export const outputSchema = z.object({
  schema_version: z.literal(OUTPUT_VERSION).default(OUTPUT_VERSION),
  mode: z.enum(CALL_MODES),
  rlm_node_id: text.optional(),
  ac_node_id: text.optional(),
  verdict: z.preprocess(readVerdict, z.enum(VERDICTS)),
  confidence: z.number().min(0).max(1),
  result: z.preprocess(
    (value) => (typeof value === 'string' ? { summary: value } : value),
    z.object({ summary: words }),
  ),
  evidence_references: z.preprocess(listed, z.array(z.unknown())),
  residual_gaps: z.preprocess(
    listed,
    z.array(z.preprocess(readGap, z.object({ gap: text, impact: words, suggested_next_step: words }))),
  ),
  artifacts: z.preprocess(listed, z.array(z.unknown())).catch([]),
  control: z.object({ requires_retry: z.boolean() }).catch({ requires_retry: false }),
});
export type HermesOutput = z.infer<typeof outputSchema>;

export type ProblemCode =
  | 'not_an_object'
  | 'reply_too_large'
  | 'prompt_echo'
  | 'schema_version_mismatch'
  | 'missing_field'
  | 'field_type'
  | 'field_not_allowed'
  | 'out_of_range'
  | 'mode_not_allowed'
  | 'mode_mismatch'
  | 'node_id_mismatch'
  | 'verdict_not_allowed'
  | 'confidence_out_of_range'
  | 'gaps_with_final_verdict'
  | 'evidence_outside_context'
  | 'artifact_missing'
  | 'artifact_not_allowed';

export interface EnvelopeProblem {
  readonly code: ProblemCode;
  /** As `evidence_references.0.chunk_id`; empty: the whole. */
  readonly path: string;
  readonly detail: string;
}

export function problem(code: ProblemCode, path: string, detail: string): EnvelopeProblem {
  return { code, path, detail };
}

export function schemaProblems(error: z.core.$ZodError, value: unknown): readonly EnvelopeProblem[] {
  return error.issues.map((issue) => problem(codeOf(issue, value), issue.path.join('.'), issue.message));
}

const VALUE_CODES: ReadonlyMap<PropertyKey, ProblemCode> = new Map([
  ['schema_version', 'schema_version_mismatch'],
  ['mode', 'mode_not_allowed'],
  ['verdict', 'verdict_not_allowed'],
]);

function codeOf({ code, path }: z.core.$ZodIssue, value: unknown): ProblemCode {
  const field = path.at(-1) ?? '';
  const found = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
  if (found === undefined) return 'missing_field';
  if (code === 'invalid_value') return VALUE_CODES.get(field) ?? 'field_type';
  if (code !== 'too_small' && code !== 'too_big') return 'field_type';
  return field === 'confidence' ? 'confidence_out_of_range' : 'out_of_range';
}

export interface Asked {
  readonly mode: CallMode;
  readonly rlm_node_id: string;
  readonly ac_node_id: string;
  /** Chunks, summaries and the chunks of child results: what evidence may name. */
  readonly evidence_ids: readonly string[];
}

/** What `askedOf` reads of an input. */
interface InputHead {
  readonly mode: CallMode;
  readonly rlm_node: { readonly id: string };
  readonly ac_node: { readonly id: string };
  readonly context: {
    readonly chunks: readonly { readonly chunk_id: string }[];
    readonly summaries: readonly { readonly summary_id: string }[];
    readonly child_results: readonly { readonly chunk_id: string | null }[];
  };
}

export function askedOf({ mode, rlm_node, ac_node, context }: InputHead): Asked {
  const { chunks, summaries, child_results } = context;
  const evidence = [
    ...chunks.map(({ chunk_id }) => chunk_id),
    ...summaries.map(({ summary_id }) => summary_id),
    ...child_results.flatMap(({ chunk_id }) => chunk_id ?? []),
  ];
  return { mode, rlm_node_id: rlm_node.id, ac_node_id: ac_node.id, evidence_ids: [...new Set(evidence)] };
}

/** `<parent node>:child_result:NNN` (notes 13.1). */
export function childResultId(parentNodeId: string, order: number): string {
  return `${parentNodeId}:child_result:${String(order).padStart(3, '0')}`;
}
