// Owns a truncation fixture as a bench takes it: from a file or ours, checked. Invariant: what it gives agrees with itself.
import { readFileSync, statSync } from 'node:fs';
import { errorText } from '#base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type FixtureFault, type ValidFixture, validateFixture } from '../../fixtures/validate-fixture.ts';
import type { FixtureLines } from '../engine/fixture-request.ts';
import { ownTruncationFixture } from './own-fixture.ts';

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
