// Owns asking for one node: its envelope as a prompt, the call, and what the reply is to be measured against. Knows no tree.
// Invariant: the prompt follows from the request, the texts and the results of the children alone, whatever the window of calls.
import { TalariaError } from '#base/errors.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { Calls } from '../../call/calls.ts';
import { type Asked, askedOf } from '../../envelope/asked.ts';
import { textHash } from '../../trace/text-hash.ts';
import type { RunTrace } from '../../trace/trace-store.ts';
import { decompositionContext } from '../../tree/ac/decompose-ac.ts';
import type { ChunkText } from '../fresh-facts.ts';
import type { ShownChild } from '../prompt/child-results.ts';
import { buildEnvelope, modeOf } from '../prompt/envelope.ts';
import { SYSTEM_PROMPT } from '../prompt/instructions.ts';
import { PLAIN_SYSTEM, plainPrompt, plainTokens } from '../prompt/plain-prompt.ts';
import type { RequestChunk, RunRequest } from '../run-request.ts';
import type { NodePlan } from './node-plan.ts';

export interface NodeCall {
  readonly plan: NodePlan;
  readonly call_id: string;
  readonly prompt: string;
  readonly prompt_hash: string;
  /** Without an envelope: rule, question, text. */
  readonly plain: boolean;
  readonly asked: Asked;
  readonly chunks: readonly ChunkText[];
}

export interface NodeAsk {
  readonly plan: NodePlan;
  readonly parent: { readonly plan: NodePlan; readonly siblings: number } | null;
  readonly ancestry: readonly string[];
  /** 0 for the first time. */
  readonly attempt: number;
  /** Of a leaf whose reply before was of no use. */
  readonly plain: boolean;
  readonly children: readonly ShownChild[];
  readonly problems: readonly string[];
  readonly causal_parent_event_id: string | null;
}

/** Of a chunk, for the question how to split the question. */
const BEGINNING = 240;
const MOST_BEGINNINGS = 24;

export function nodeCall(
  { request, trace }: { readonly request: RunRequest; readonly trace: RunTrace },
  ask: NodeAsk,
): NodeCall {
  const { plan, attempt, plain } = ask;
  const call_id = attempt === 0 ? plan.call_id : `${plan.call_id}_retry_${attempt}`;
  const chunks = plan.kind === 'leaf' ? plan.chunks.map((chunk) => chunkText(chunk, trace)) : [];
  const beginnings = plan.kind === 'decomposition' ? beginningsOf(request.chunks, trace) : [];
  const envelope = buildEnvelope({ run_id: trace.run_id, request, call_id, chunks, beginnings, ...ask });
  const texts = chunks.map(({ text }) => text);
  const prompt = plain ? plainPrompt(plan.question, texts) : JSON.stringify(envelope);
  return { plan, call_id, prompt, prompt_hash: textHash(prompt), plain, asked: askedOf(envelope), chunks };
}

export interface AskParts {
  readonly calls: Calls;
  readonly request: RunRequest;
  readonly keep_back: number;
  readonly parent_call_id: string | null;
  readonly causal_parent_event_id: string | null;
}

export function askNode(parts: AskParts, call: NodeCall, signal: AbortSignal): Promise<CallRecord> {
  const { plan } = call;
  const { request, keep_back, parent_call_id, causal_parent_event_id } = parts;
  const ask = {
    call_id: call.call_id,
    parent_call_id,
    causal_parent_event_id,
    mode: modeOf(plan),
    rlm_node_id: plan.id,
    ac_node_id: plan.ac_node_id,
    depth: plan.depth,
    selected_chunk_ids: call.chunks.map(({ chunk_id }) => chunk_id),
    system: call.plain ? PLAIN_SYSTEM : SYSTEM_PROMPT,
    prompt: call.prompt,
    max_output_tokens: call.plain ? plainTokens(request.max_output_tokens) : request.max_output_tokens,
    families: plan.kind === 'group' ? request.families.synthesis : request.families.children,
    keep_back,
  };
  return parts.calls.ask(ask, signal);
}

function chunkText({ text_hash, ...chunk }: RequestChunk, trace: RunTrace): ChunkText {
  const text = trace.textOf(text_hash);
  if (text !== undefined) return { ...chunk, text };
  throw new TalariaError(`The text of ${chunk.chunk_id} is not in the trace.`, { code: 'trace-incomplete' });
}

function beginningsOf(chunks: readonly RequestChunk[], trace: RunTrace) {
  return chunks.slice(0, MOST_BEGINNINGS).map((chunk) => {
    const text = chunkText(chunk, trace).text.slice(0, BEGINNING).toWellFormed();
    return { summary_id: chunk.chunk_id, text: decompositionContext(text, 0) };
  });
}
