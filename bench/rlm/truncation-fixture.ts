// Owns the fixture of a long text that is cut (seed 003, truncation fixture; notes 6.1): lines and facts in, what a completion must keep
// and must not claim out; from a file or ours, checked. Invariant: chunk ids, the boundary and the requirements follow from the lines, nothing is said
// twice; what is loaded agrees with itself.
import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { errorText } from '#base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { chunkId, parseChunkId } from '#extensions/rlm/scaffold/chunks.ts';
import type { FixtureLines } from './run-fixture.ts';

export interface FixtureFact {
  readonly fact_id: string;
  readonly line: number;
  readonly chunk_id: string;
  readonly text: string;
  readonly must_appear_in?: readonly string[];
}

export interface TruncationBoundary {
  readonly last_retained_line: number;
  readonly omitted_line_count: number;
}

export interface FixtureHead {
  readonly fixture_id: string;
  readonly description: string;
}

export interface FixtureSource {
  readonly path: string;
  readonly lines: readonly string[];
  readonly chunk_line_limit: number;
  readonly max_atomic_chunks: number;
  /** Facts in the order of their lines (from 1). */
  readonly facts: readonly { readonly fact_id: string; readonly line: number }[];
  readonly minimum_confidence: number;
}

export type TruncationFixture = ReturnType<typeof buildTruncationFixture>;

const OUTPUT_FIELDS = ['mode', 'verdict', 'confidence', 'result', 'evidence_references', 'residual_gaps'] as const;
const EVIDENCE_PLACES = ['chunk_prompt', 'parent_synthesis_prompt', 'completion_evidence'] as const;

export function buildTruncationFixture(head: FixtureHead, source: FixtureSource) {
  const { path, lines, chunk_line_limit, max_atomic_chunks } = source;
  const chunks = chunkLines({ path, lines, limit: chunk_line_limit });
  const kept = chunks.slice(0, max_atomic_chunks);
  const lastLine = kept.at(-1)?.end_line ?? 0;
  const boundary: TruncationBoundary = { last_retained_line: lastLine, omitted_line_count: lines.length - lastLine };
  const facts = source.facts.map(({ fact_id, line }): FixtureFact => {
    const chunk = chunks[Math.floor((line - 1) / chunk_line_limit)];
    return { fact_id, line, chunk_id: chunk?.chunk_id ?? '', text: lines[line - 1] ?? '' };
  });
  const retained = facts.filter((fact) => fact.line <= lastLine);
  const omitted = facts.filter((fact) => fact.line > lastLine);
  return {
    schema_version: 'rlm.long_context_truncation_fixture.v1',
    ...head,
    target: { path, encoding: 'utf-8', line_count: lines.length, lines },
    truncation_config: {
      chunk_line_limit,
      max_atomic_chunks,
      expected_selected_chunk_ids: kept.map((chunk) => chunk.chunk_id),
      expected_omitted_chunk_ids: chunks.slice(max_atomic_chunks).map((chunk) => chunk.chunk_id),
      truncation_boundary: boundary,
    },
    expected_retained_facts: retained.map((fact) => ({ ...fact, must_appear_in: EVIDENCE_PLACES })),
    expected_omitted_facts: omitted,
    completion_requirements: requirements({ retained, omitted, boundary, minimum: source.minimum_confidence }),
  };
}

interface Asked {
  readonly retained: readonly FixtureFact[];
  readonly omitted: readonly FixtureFact[];
  readonly boundary: TruncationBoundary;
  readonly minimum: number;
}

function requirements({ retained, omitted, boundary, minimum }: Asked) {
  return [
    {
      requirement_id: 'cite-every-retained-fact',
      description: 'Every fact that was kept is cited with evidence from a selected chunk.',
      required_fact_ids: retained.map((fact) => fact.fact_id),
      must_cite_chunk_ids: [...new Set(retained.map((fact) => fact.chunk_id))],
      required_output_fields: OUTPUT_FIELDS,
      minimum_confidence: minimum,
    },
    {
      requirement_id: 'respect-truncation-boundary',
      description: 'No fact beyond the cut is claimed, and the cut is reported.',
      must_not_claim_fact_ids: omitted.map((fact) => fact.fact_id),
      must_report_truncation: true,
      truncation_boundary: boundary,
    },
  ] as const;
}

export interface LineChunk {
  readonly chunk_id: string;
  /** From 1, both ends included. */
  readonly start_line: number;
  readonly end_line: number;
  readonly content: string;
}

export interface LineSource {
  readonly path: string;
  readonly lines: readonly string[];
  /** Lines a chunk, at least 1. */
  readonly limit: number;
}

export function chunkLines({ path, lines, limit }: LineSource): readonly LineChunk[] {
  return Array.from({ length: Math.ceil(lines.length / limit) }, (_, at) => {
    const start = at * limit;
    const end = Math.min(start + limit, lines.length);
    const place = { start_line: start + 1, end_line: end };
    return { chunk_id: chunkId({ path, ...place, part: null }), ...place, content: lines.slice(start, end).join('\n') };
  });
}

const fact = z.looseObject({
  fact_id: z.string().min(1),
  line: z.number().int().min(1),
  chunk_id: z.string().min(1),
  text: z.string(),
});
const schema = z.looseObject({
  fixture_id: z.string().min(1),
  target: z.looseObject({ path: z.string().min(1), line_count: z.number().int().min(0), lines: z.array(z.string()) }),
  truncation_config: z.looseObject({
    chunk_line_limit: z.number().int().min(1),
    max_atomic_chunks: z.number().int().min(1),
    expected_selected_chunk_ids: z.array(z.string()),
    expected_omitted_chunk_ids: z.array(z.string()),
    truncation_boundary: z.looseObject({ last_retained_line: z.number().int(), omitted_line_count: z.number().int() }),
  }),
  expected_retained_facts: z.array(fact),
  expected_omitted_facts: z.array(fact),
});

export type ValidFixture = z.infer<typeof schema>;
export type FixtureFault =
  | 'fixture_malformed'
  | 'line_count_mismatch'
  | 'selected_chunks_mismatch'
  | 'omitted_chunks_mismatch'
  | 'boundary_mismatch'
  | 'fact_mismatch';

export function validateFixture(value: unknown): Result<ValidFixture, FixtureFault> {
  const read = schema.safeParse(value);
  if (!read.success) return refuse('fixture_malformed', z.prettifyError(read.error));
  const fault = findFault(read.data);
  return fault === null ? ok(read.data) : refuse(fault.reason, fault.detail);
}

interface Fault {
  readonly reason: FixtureFault;
  readonly detail: string;
}

function findFault(fixture: ValidFixture): Fault | null {
  const { target, truncation_config: config } = fixture;
  const chunks = chunkLines({ path: target.path, lines: target.lines, limit: config.chunk_line_limit });
  const kept = chunks.slice(0, config.max_atomic_chunks);
  const selected = kept.map((chunk) => chunk.chunk_id);
  const omitted = chunks.slice(config.max_atomic_chunks).map((chunk) => chunk.chunk_id);
  const lastLine = kept.at(-1)?.end_line ?? 0;
  const boundary = config.truncation_boundary;
  if (target.line_count !== target.lines.length)
    return {
      reason: 'line_count_mismatch',
      detail: `the target declares ${target.line_count} lines and has ${target.lines.length}`,
    };
  if (!same(config.expected_selected_chunk_ids, selected))
    return { reason: 'selected_chunks_mismatch', detail: `the lines give ${selected.join(', ')}` };
  if (!same(config.expected_omitted_chunk_ids, omitted))
    return { reason: 'omitted_chunks_mismatch', detail: `the lines give ${omitted.join(', ')}` };
  if (boundary.last_retained_line !== lastLine || boundary.omitted_line_count !== target.lines.length - lastLine)
    return {
      reason: 'boundary_mismatch',
      detail: `the lines give ${lastLine} kept and ${target.lines.length - lastLine} left out`,
    };
  return factFault(fixture, { selected, omitted });
}

function factFault(
  fixture: ValidFixture,
  chunks: { readonly selected: readonly string[]; readonly omitted: readonly string[] },
): Fault | null {
  const isWrong = (ids: readonly string[]) => (item: z.infer<typeof fact>) => {
    const place = parseChunkId(item.chunk_id);
    if (place === null || !ids.includes(item.chunk_id)) return true;
    const { start_line, end_line } = place;
    return item.line < start_line || item.line > end_line || fixture.target.lines[item.line - 1] !== item.text;
  };
  const wrong =
    fixture.expected_retained_facts.find(isWrong(chunks.selected)) ??
    fixture.expected_omitted_facts.find(isWrong(chunks.omitted));
  return wrong === undefined
    ? null
    : { reason: 'fact_mismatch', detail: `${wrong.fact_id} does not stand where it is declared` };
}

function same(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, at) => item === right[at]);
}

const QUESTION =
  'List every fact of the harbour log with its chunk, and report the truncation boundary without claiming anything beyond it.';

const FACTS = [
  'the mail boat ties up at the third mooring ring.',
  'a fog bell is rung once every ninety seconds.',
  'the lamp of the breakwater burns 14 litres of oil a night.',
  'two keepers sign the tide table before noon.',
  'a later page claims that the bell was sold.',
  'a later page claims that nobody signs anything.',
];

export function ownTruncationFixture() {
  const lines = FACTS.flatMap((fact, at) => [`FACT:LC-00${at + 1} ${fact}`, `filler ${at + 1} says nothing.`]);
  const fixture = buildTruncationFixture(
    {
      fixture_id: 'talaria-long-context-truncation-v1',
      description: 'A harbour log of which four of six chunks are read.',
    },
    {
      path: 'harbour_log.txt',
      lines,
      chunk_line_limit: 2,
      max_atomic_chunks: 4,
      facts: FACTS.map((_, at) => ({ fact_id: `LC-00${at + 1}`, line: 2 * at + 1 })),
      minimum_confidence: 0.8,
    },
  );
  const { expected_selected_chunk_ids, expected_omitted_chunk_ids } = fixture.truncation_config;
  return {
    ...fixture,
    recursive_run: {
      schema_version: 'rlm.recursive_fixture_config.v1',
      initial_prompt: QUESTION,
      iteration_limits: {
        max_depth: 5,
        ambiguity_threshold: 0.2,
        chunk_line_limit: 2,
        max_atomic_chunks: 4,
        max_iterations: 8,
      },
      expected_outputs: {
        status: 'completed',
        target_kind: 'path',
        termination_reason: 'parent_synthesis_completed',
        hermes_subcall_count: 5,
        selected_chunk_ids: expected_selected_chunk_ids,
        omitted_chunk_ids: expected_omitted_chunk_ids,
        required_fact_ids: fixture.expected_retained_facts.map(({ fact_id }) => fact_id),
        forbidden_fact_ids: fixture.expected_omitted_facts.map(({ fact_id }) => fact_id),
        required_output_fields: fixture.completion_requirements[0].required_output_fields,
      },
    },
  };
}

export interface BenchFixture {
  readonly fixture: ValidFixture;
  /** The section `recursive_run`; null: the fixture has none. */
  readonly recursive: RecursiveConfig | null;
}

export interface RecursiveConfig {
  readonly initial_prompt: string;
  readonly max_depth: number;
  readonly max_iterations: number;
  readonly expected: JsonObject;
}

export type FixtureProblem = FixtureFault | 'fixture_unreadable';

const LARGEST = 16 * 1024 * 1024;

/** @param path absolute; absent: our own fixture */
export function loadFixture(path?: string): Result<BenchFixture, FixtureProblem> {
  const read = path === undefined ? ok<unknown>(ownTruncationFixture()) : readFixtureFile(path);
  if (!read.ok) return read;
  const valid = validateFixture(read.value);
  return valid.ok ? ok({ fixture: valid.value, recursive: recursiveOf(valid.value.recursive_run) }) : valid;
}

function readFixtureFile(path: string): Result<unknown, FixtureProblem> {
  try {
    const found = statSync(path);
    if (!found.isFile()) return refuse('fixture_unreadable', `${path} is no file`);
    const { size } = found;
    if (size > LARGEST) return refuse('fixture_unreadable', `${path} is larger than ${LARGEST} bytes`);
    const parsed = parseJson(readFileSync(path, 'utf8'));
    return parsed.ok ? parsed : refuse('fixture_malformed', `${path} is not JSON: ${parsed.detail}`);
  } catch (error) {
    return refuse('fixture_unreadable', `${path} cannot be read (${errorText(error)})`);
  }
}

function recursiveOf(value: unknown): RecursiveConfig | null {
  if (!isJsonObject(value) || typeof value.initial_prompt !== 'string') return null;
  const limits = isJsonObject(value.iteration_limits) ? value.iteration_limits : {};
  return {
    initial_prompt: value.initial_prompt,
    max_depth: wholeOr(limits.max_depth, 5),
    max_iterations: wholeOr(limits.max_iterations, 64),
    expected: isJsonObject(value.expected_outputs) ? value.expected_outputs : {},
  };
}

function wholeOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
}

export function fixtureLines({ target, truncation_config: config }: ValidFixture): FixtureLines {
  return {
    path: target.path,
    lines: target.lines,
    chunk_line_limit: config.chunk_line_limit,
    max_atomic_chunks: config.max_atomic_chunks,
    selected: config.expected_selected_chunk_ids,
  };
}

/** What both sides of a comparison are asked. */
export function fixtureQuestion({ fixture, recursive }: BenchFixture): string {
  if (recursive !== null) return recursive.initial_prompt;
  return `List every fact of ${fixture.target.path} with its chunk, and report the truncation boundary without claiming anything beyond it.`;
}

/** The same for a recursive run, which is told here what the single call reads in its context. */
export function runQuestion(bench: BenchFixture): string {
  const { last_retained_line, omitted_line_count } = bench.fixture.truncation_config.truncation_boundary;
  return `${fixtureQuestion(bench)}\nThe target was cut: last_retained_line ${last_retained_line}, omitted_line_count ${omitted_line_count}. Put these two numbers into result.truncation_report.`;
}
