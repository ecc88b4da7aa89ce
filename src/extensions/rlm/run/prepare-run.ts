// Owns everything of a run that touches the disk or a person, before it begins: options, target, gate, chunks, priors. What comes out is a
// request that needs no file any more, and the texts that it names. It begins no run and asks no model but for a rating.
// Invariant: a refusal has a reason of its own and says what would mend it; equal files and options give an equal request.
// Serves seed 003: the outer scaffold validates before anything is scheduled; notes 13.4, 13.5.
import { basename } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import { type MemoryFile, readMemoryFile } from '../memory/memory-file.ts';
import { readsMemory } from '../memory/memory-record.ts';
import { priorPolicy, RECALLED_TASKS, rankFamilies, recallPriors } from '../memory/priors.ts';
import type { SourceStamp } from '../trace/run-record.ts';
import { askClear, type ClearGround, type MeasuredTerm } from './ambiguity.ts';
import { nodesOf, rootPlan } from './plan.ts';
import { type CheckedOptions, checkOptions, LEAST_ITERATIONS, promptSizes, type RunOptions } from './run-options.ts';
import { type FamilyOrder, RUN_REQUEST_VERSION, type RunMemory, type RunRequest } from './run-request.ts';
import {
  type FoundTarget,
  findTarget,
  type PlannedTarget,
  pathTarget,
  promptTarget,
  type TargetGround,
  type TargetRefusal,
} from './target.ts';

export interface RunAsk {
  readonly ground: TargetGround & ClearGround;
  /** As it was typed. */
  readonly target: string;
  /** Null: what the target says in the main. */
  readonly question: string | null;
  readonly options: RunOptions;
  /** Absolute; needed when the mode reads. */
  readonly memory_path: string;
}

export interface PreparedRun {
  readonly request: RunRequest;
  /** Those that the request names by hash; to be kept in the trace before the run is executed. */
  readonly texts: readonly string[];
  readonly root: string;
  readonly sources: readonly SourceStamp[];
  readonly terms: readonly MeasuredTerm[];
  readonly max_chunks: number;
}

export type PrepareRefusal = TargetRefusal | 'run-option-invalid' | 'question-blank';

/** The gate may be closed: `request.ambiguity.passed` is false, with the question to ask. Throws `memory-unreadable`, and on abort. */
export async function prepareRun(ask: RunAsk, signal: AbortSignal): Promise<Result<PreparedRun, PrepareRefusal>> {
  const options = checkOptions(ask.options);
  if (!options.ok) return options;
  const found = await findTarget(ask.target, ask.ground);
  if (!found.ok) return found;
  const asked = ask.question ?? defaultQuestion(found.value);
  if (asked.trim() === '') return refuse('question-blank', 'say what should be answered: --question TEXT');
  const { ambiguity_threshold: threshold, force } = options.value;
  const clear = await askClear(asked.toWellFormed(), { threshold, force }, ask.ground);
  const { window_tokens, chunk_lines: line_limit, overlap: overlap_lines, max_chunks } = options.value;
  const { byte_limit } = promptSizes(window_tokens);
  const planned =
    found.value.kind === 'prompt'
      ? promptTarget(found.value.text, byte_limit)
      : pathTarget(found.value, { line_limit, byte_limit, overlap_lines, max_chunks }, signal);
  if (!planned.ok) return planned;
  const { question, verdict, terms } = clear;
  const head = { question, target: ask.target, target_kind: found.value.kind, ambiguity: verdict } as const;
  const request = requestOf(head, planned.value, options.value, ask.memory_path);
  const { texts, sources } = planned.value;
  return ok({ request, texts, root: found.value.root, sources, terms, max_chunks });
}

function defaultQuestion(found: FoundTarget): string {
  const name = found.kind === 'prompt' ? 'the text' : basename(found.files[0]?.path ?? 'the folder');
  const what = found.kind === 'path' && found.isFolder ? 'each file' : name;
  return `List the main statements of ${what}, each with its source.`;
}

function requestOf(
  head: Pick<RunRequest, 'question' | 'target' | 'target_kind' | 'ambiguity'>,
  planned: PlannedTarget,
  options: CheckedOptions,
  memory_path: string,
): RunRequest {
  const { max_depth, concurrency: max_in_flight, max_retries, fan_out, decompose, budget } = options;
  const { max_output_tokens, facts_chars } = promptSizes(options.window_tokens);
  const { chunks, omitted, boundaries, skipped } = planned;
  const remembered = rememberedFor(options, memory_path);
  const limits = { max_depth, max_iterations: LEAST_ITERATIONS, max_in_flight, max_retries };
  const request: RunRequest = {
    schema_version: RUN_REQUEST_VERSION,
    ...head,
    limits,
    fan_out,
    max_output_tokens,
    facts_chars,
    chunks,
    omitted,
    boundaries,
    skipped,
    guard_mode: 'strict',
    ...remembered,
    decompose,
    budget,
  };
  const max_iterations = options.max_iterations ?? Math.max(LEAST_ITERATIONS, iterationsOf(request));
  return { ...request, limits: { ...limits, max_iterations } };
}

/** Sub-questions at most. */
const MOST_SPLIT = 5;

/** Each node as often as it may be asked, for each sub-question. */
function iterationsOf(request: RunRequest): number {
  const nodes = nodesOf(rootPlan(request)).length * (request.decompose ? MOST_SPLIT + 1 : 1);
  return (nodes + 1) * (request.limits.max_retries + 2);
}

/** Priors and the order of the families; without a mode that reads nothing is looked up. */
function rememberedFor(
  { memory_mode, families, fixture_category }: CheckedOptions,
  path: string,
): { readonly memory: RunMemory; readonly families: FamilyOrder } {
  if (!readsMemory(memory_mode)) {
    const memory = { mode: memory_mode, priors: [], fixture_category };
    return { memory, families: { children: families, synthesis: families } };
  }
  const { records } = readMemoryFile(path);
  const order = familyOrder(families, records, fixture_category);
  const family_id = order.synthesis[0] ?? 'default';
  const priors = recallPriors(records, { tasks: RECALLED_TASKS, family_id, fixture_category });
  return { memory: { mode: memory_mode, priors, fixture_category }, families: order };
}

/** Several families are ranked by how their schema held; only memory that says so changes the order of the synthesis. */
function familyOrder(
  families: readonly string[],
  records: MemoryFile['records'],
  fixture_category: string | null,
): FamilyOrder {
  const task = 'synthesize_parent_answer_from_child_evidence';
  const ranked = rankFamilies(families, { records, task, fixture_category });
  const priors = recallPriors(records, { tasks: [task], family_id: families[0] ?? 'default', fixture_category });
  const routes = priorPolicy(priors).route_by_stability;
  return { children: families, synthesis: routes ? ranked : families };
}
