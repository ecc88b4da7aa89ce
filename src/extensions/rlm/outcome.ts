// Owns what a run comes to: of `ask` sentences with the handles they rest on, of `run` claims with the facts that carry them. Plain data that replay
// reaches again byte for byte: no time, no latency, no path of a machine; what was refused or not read stands in it with its reason. Reads a stored
// one back: what is handed on has the shape that drawing relies on; a damaged or newer one is shown as it is, never thrown at.
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import type { RejectedClaim } from './guard/read-claims.ts';
import type { RepairBlock } from './guard/repair-missing-handles.ts';
import type { DroppedChunk, TruncationBoundary } from './scaffold/chunks.ts';
import type { EndState, RlmTree, TerminationReason } from './scaffold/run-tree.ts';

type Frozen<T> = T extends readonly (infer One)[]
  ? readonly Frozen<One>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** What this version writes there is T; what is read back is looked at as far as it is relied on. */
const as = <T>(relied: z.ZodType): z.ZodType<T> => relied as z.ZodType<T>;
const text = z.string();
const texts = z.array(text);
const told = z.number().nullable();

const place = z.object({
  source_path: text,
  start_line: z.number(),
  end_line: z.number(),
  start_byte: z.number(),
  end_byte: z.number(),
});

export type SourcePlace = Frozen<z.infer<typeof place>>;

/** How a place is written: `path:line` or `path:first-last`. */
export function placeText({ source_path, start_line, end_line }: SourcePlace): string {
  return `${source_path}:${start_line === end_line ? start_line : `${start_line}-${end_line}`}`;
}

const gap = z.object({ what: text, why: text });

export type RunGap = Frozen<z.infer<typeof gap>>;

/** Null: some call did not tell. */
const totals = z.object({ calls: z.number(), input_tokens: told, output_tokens: told, cost: told });

export type RunTotals = Frozen<z.infer<typeof totals>>;

const head = {
  run_id: as<string>(z.any().optional()),
  question: text,
  run_state: as<EndState>(text),
  /** Why, in one sentence, when it is not answered or accepted. */
  detail: text.nullable(),
  gaps: z.array(gap),
  totals,
};

const fact = z.object({
  fact_id: text,
  chunk_id: text,
  /** Stands in the chunk word for word, but for white space. */
  text,
  child_call_id: text,
  /** Where the quotation stands: byte range of the source, lines from 1; null when the source has none (a prompt). */
  place: place.nullable(),
});

/** A quotation that a child reported and its chunk holds. */
export type FreshFact = Frozen<z.infer<typeof fact>>;

const claim = z.object({ fact_id: text.nullable(), chunk_id: text.nullable(), surface: text, text });
const repair = z.object({
  failure_reason: text.nullable(),
  initial_accept: z.boolean(),
  repair_attempted: z.boolean(),
  repair_accept: z.boolean().nullable(),
  repair_strategy: text,
  initial_rejection_reasons: texts,
  before_after_diff: z.array(z.object({ path: text, before: text, after: text })),
});
const node = z.object({
  id: text,
  parent_id: text.nullable(),
  depth: z.number(),
  state: text,
  children_ids: texts,
  retries: z.number(),
});
const boundary = z.object({ source_path: text, last_retained_line: z.number(), omitted_line_count: z.number() });

/** `accepted`: the synthesis passed the gate; `refused`: it did not; `no_evidence`: no child found anything. */
export type RunVerdict = 'accepted' | 'refused' | 'no_evidence' | 'failed' | 'cancelled' | 'dry_run';

const runOutcome = z.object({
  schema_version: z.literal('talaria.rlm.run.v1'),
  ...head,
  verdict: as<RunVerdict>(text),
  termination_reason: as<TerminationReason>(text),
  /** The parent's prose. Never checked, and shown as such. */
  summary: text.nullable(),
  /** Of the accepted synthesis, with the facts that carry each. */
  claims: z.array(z.object({ text, fact_ids: texts })),
  refused: as<RejectedClaim[]>(z.array(z.object({ reason: text, claim, detail: text }))),
  /** Refused quotations of children: what they said that their chunk does not hold. */
  refused_facts: z.array(z.object({ call_id: text, text, reason: text })),
  evidence: z.array(fact),
  selected_chunk_ids: texts,
  omitted: as<Pick<DroppedChunk, 'chunk_id' | 'reason'>[]>(z.array(z.object({ chunk_id: text, reason: text }))),
  boundaries: as<TruncationBoundary[]>(z.array(boundary)),
  repair: as<RepairBlock | null>(repair.nullable()),
  tree: as<RlmTree>(z.object({ root_id: text, nodes: z.record(text, node) })),
  /** Into which the question was split; absent: it was not. */
  sub_questions: z.array(z.object({ ac_node_id: text, question: text })).exactOptional(),
});

export type RunOutcome = Frozen<z.infer<typeof runOutcome>>;

/** A byte range of the context, and what stands there. */
const span = z.object({ kind: z.literal('span'), id: text, place, quote: text });
/** A claim of a sub-call that the piece it was asked on holds; `over`: handle of the piece. */
const child = z.object({ kind: z.literal('child'), id: text, call_id: text, text, over: text });
/** What a piece of code made of other handles; the code sees nothing else, and running it again gives the same bytes. */
const computed = z.object({
  kind: z.literal('computed'),
  id: text,
  code: text,
  /** `sha256:` of the code. */
  code_hash: text,
  /** Handles, in order; `context` is the whole. */
  inputs: texts,
  /** Canonical JSON. */
  output: text,
  output_hash: text,
});

export type SpanHandle = Frozen<z.infer<typeof span>>;
export type ChildHandle = Frozen<z.infer<typeof child>>;
export type ComputedHandle = Frozen<z.infer<typeof computed>>;
export type Handle = SpanHandle | ChildHandle | ComputedHandle;

/** Ids of what it rests on. */
export function basesOf(handle: Handle): readonly string[] {
  if (handle.kind === 'span') return [];
  return handle.kind === 'child' ? [handle.over] : handle.inputs;
}

/**
 * `quoted`: a whole sentence, line, item or cell of the source; alone evidence for anything else. `supported`: its hard values stand in the
 * lines that it cites, and a model that read them says that they carry it. `computed`: it cites code alone; the values are shown, the sentence is
 * not graded.
 */
const grade = z.enum(['quoted', 'supported', 'not-supported', 'computed']);

export type Grade = z.infer<typeof grade>;

const sentence = z.object({
  /** Quoted: as it stands in the source, but for white space. */
  text,
  /** Ids, in the order cited. */
  handles: texts,
  grade,
  /** Where the quoted one stands. */
  place: place.nullable(),
  /** Supported: what the model said; not supported: why. Else empty. */
  why: text,
  /** Id of the model that read it; empty: none did. */
  model: text,
});

export type AnswerSentence = Frozen<z.infer<typeof sentence>>;

/** `answered`: at least one sentence is quoted, supported or computed; `unsupported`: only others; `no_answer`: the model never finished. */
export type AskVerdict = 'answered' | 'unsupported' | 'no_answer' | 'failed' | 'cancelled';

const askOutcome = z.object({
  schema_version: z.literal('talaria.rlm.ask.v2'),
  ...head,
  verdict: as<AskVerdict>(text),
  sentences: z.array(sentence),
  handles: z.array(z.union([span, child, computed])),
  /** Bytes of the context that sub-calls or printed output have shown to a model, overlaps once; the rest only code has seen. */
  bytes_read: z.number(),
  bytes_total: z.number(),
  /** Code blocks that ran. */
  steps: z.number(),
});

export type AskOutcome = Frozen<z.infer<typeof askOutcome>>;

export type ReadOutcome =
  | { readonly kind: 'run'; readonly outcome: RunOutcome }
  | { readonly kind: 'ask'; readonly outcome: AskOutcome }
  | { readonly kind: 'other'; readonly outcome: JsonObject | null };

export function readOutcome(outcome: JsonObject | null): ReadOutcome {
  if (runOutcome.safeParse(outcome).success) return { kind: 'run', outcome: outcome as unknown as RunOutcome };
  if (askOutcome.safeParse(outcome).success) return { kind: 'ask', outcome: outcome as unknown as AskOutcome };
  return { kind: 'other', outcome };
}
