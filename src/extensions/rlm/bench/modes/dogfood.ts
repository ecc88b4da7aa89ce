// Owns the dogfood benchmark (notes 13.9): the engine reads the first lines of six files of a folder and must come back with a tree of two
// levels and at least three cited files. Evidence is what this run accepted, never a list of places known beforehand.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type ChunkSpan, planChunks } from '../../chunk/plan-chunks.ts';
import { readChunk } from '../../chunk/read-chunk.ts';
import { comparePaths, isSkippedPath } from '../../chunk/select-chunks.ts';
import type { BenchEngine } from '../engine/bench-engine.ts';
import { benchRequest } from '../engine/bench-request.ts';
import { measuredCalls } from '../engine/measured-calls.ts';
import { type EngineRun, runAsked, stampOf } from '../engine/run-fixture.ts';
import { treeDepth } from './rlm-output.ts';

export const DOGFOOD_ID = 'rlm-mvp-src-dogfood-v1';
const QUESTION = 'List every fact that the first lines of these files state, each with its chunk.';
const FILES = 6;
const LINES = 8;
const LEAST_FILES = 3;
const LEAST_DEPTH = 2;

export interface DogfoodRun {
  readonly run: EngineRun;
  readonly artifact: JsonObject;
  readonly success: boolean;
}

export interface DogfoodAsk {
  /** Absolute. */
  readonly folder: string;
  /** As it was typed. */
  readonly target: string;
  readonly families: readonly string[];
}

export async function dogfoodBenchmark(
  engine: BenchEngine,
  { folder, target, families }: DogfoodAsk,
  signal: AbortSignal,
): Promise<Result<DogfoodRun, 'target-unreadable'>> {
  const read = firstChunks(folder);
  if (!read.ok) return read;
  const files = read.value;
  const asked = benchRequest({
    question: QUESTION,
    target,
    omitted: files.flatMap(({ rest }) => rest.map(({ chunk_id }) => ({ chunk_id, reason: 'max_chunks' as const }))),
    boundaries: [],
    selected: files.map(({ span, bytes }) => ({ span, chunk: readChunk(bytes, span) })),
    // Half of the files under each of two parents: a tree of two levels.
    options: { families, fan_out: Math.ceil(files.length / 2) },
  });
  const sources = files.map(({ path, bytes }) => stampOf(path, bytes));
  const run = await runAsked(engine, { asked, sources }, signal);
  return ok(resultOf(run));
}

interface FirstChunk {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly span: ChunkSpan;
  readonly rest: readonly ChunkSpan[];
}

/** Of the first six files of text, in the order of their paths. */
function firstChunks(folder: string): Result<readonly FirstChunk[], 'target-unreadable'> {
  const found: FirstChunk[] = [];
  try {
    const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .filter((path) => !isSkippedPath(path))
      .sort(comparePaths);
    for (const path of paths) {
      const bytes = readFileSync(join(folder, path));
      const plan = bytes.length === 0 || bytes.includes(0) ? null : planChunks({ path, bytes }, { line_limit: LINES });
      const [span, ...rest] = plan?.ok === true ? plan.value.spans : [];
      if (span !== undefined) found.push({ path, bytes, span, rest });
      if (found.length === FILES) break;
    }
  } catch (error) {
    return refuse('target-unreadable', `${folder} cannot be read as a folder (${errorText(error)})`);
  }
  return found.length >= LEAST_FILES
    ? ok(found)
    : refuse('target-unreadable', `${folder} holds fewer than ${LEAST_FILES} files of text`);
}

function resultOf(run: EngineRun): DogfoodRun {
  const { outcome } = run;
  const claimed = new Set(outcome.claims.flatMap(({ fact_ids }) => fact_ids));
  const cited = outcome.evidence.filter(({ fact_id }) => claimed.has(fact_id));
  const evidence = cited.map(({ fact_id, chunk_id, text, place }) => ({
    evidence_id: fact_id,
    chunk_id,
    source_path: place?.source_path ?? null,
    start_line: place?.start_line ?? null,
    end_line: place?.end_line ?? null,
    claim_categories: ['Target context'],
    claim: text,
  }));
  const files = new Set(evidence.flatMap(({ source_path }) => source_path ?? []));
  const depth = treeDepth(outcome);
  const success = outcome.verdict === 'accepted' && files.size >= LEAST_FILES && depth >= LEAST_DEPTH;
  const artifact = {
    schema_version: 'rlm.evaluation.output.v1',
    benchmark_id: DOGFOOD_ID,
    success,
    verdict: outcome.verdict,
    source_evidence: evidence,
    cited_source_file_count: files.size,
    generated_rlm_tree_depth: depth,
    report_markdown: reportOf(run, [...files]),
    measured: measuredCalls(run.calls),
  };
  return { run, artifact: artifact as unknown as JsonObject, success };
}

function reportOf({ outcome, calls }: EngineRun, files: readonly string[]): string {
  const claims = outcome.claims.map(({ text, fact_ids }) => `- ${text} [${fact_ids.join(', ')}]`);
  return [
    '# Dogfood benchmark',
    `${calls.length} calls, ${outcome.evidence.length} quotations, ${outcome.claims.length} accepted claims from ${files.length} files.`,
    ...claims,
    '',
  ].join('\n');
}
