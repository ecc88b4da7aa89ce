// Owns what may be asked of a run, with its defaults, and the checks before anything is read (notes 13.1, 13.4). Knows no file.
// Invariant: what passes can be kept; a refusal names the option and its range. Chunks are sized so that a prompt fits a window of 8K tokens
// unless a larger one is told.
import { ok, type Result, refuse } from '#base/result.ts';
import type { CallBudget } from '../../call/calls.ts';
import { USUAL_WINDOW } from '../../call/default-window.ts';
import type { MemoryModeName } from '../../memory/memory-mode.ts';

export interface RunOptions {
  readonly max_depth?: number;
  readonly ambiguity_threshold?: number;
  readonly max_chunks?: number;
  readonly chunk_lines?: number;
  readonly overlap?: number;
  /** Absent: as many as the plan needs, 64 at least. */
  readonly max_iterations?: number;
  readonly concurrency?: number;
  readonly max_retries?: number;
  readonly fan_out?: number;
  /** Tokens of the smallest window that will be asked. */
  readonly window_tokens?: number;
  readonly budget?: CallBudget;
  readonly families?: readonly string[];
  readonly memory_mode?: MemoryModeName;
  /** Kind of material, for memory. */
  readonly fixture_category?: string | null;
  readonly decompose?: boolean;
  /** Why the run goes on although the request is ambiguous. */
  readonly force?: string | null;
}

export const RUN_DEFAULTS = {
  max_depth: 5,
  ambiguity_threshold: 0.2,
  max_chunks: 6,
  chunk_lines: 80,
  overlap: 0,
  concurrency: 1,
  max_retries: 1,
  /** Children of one synthesis: six are read together well, and 6^5 chunks are within reach of the depth. */
  fan_out: 6,
  window_tokens: USUAL_WINDOW,
} as const;

export const LEAST_ITERATIONS = 64;

/** An envelope and a reply need so many tokens. */
export const LEAST_RUN_WINDOW = 4_096;

export interface CheckedOptions extends Required<Omit<RunOptions, 'max_iterations'>> {
  readonly max_iterations: number | null;
}

type Range = readonly [least: number, most: number];

const RANGES: Readonly<Record<keyof typeof RUN_DEFAULTS, Range>> = {
  max_depth: [0, 5],
  ambiguity_threshold: [0, 0.2],
  max_chunks: [1, 10_000],
  chunk_lines: [1, 1_000_000],
  overlap: [0, 1_000_000],
  concurrency: [1, 64],
  max_retries: [0, 10],
  fan_out: [2, 64],
  window_tokens: [LEAST_RUN_WINDOW, 100_000_000],
};

export function checkOptions(asked: RunOptions): Result<CheckedOptions, 'run-option-invalid'> {
  const told = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  const kept: CheckedOptions = { ...RUN_DEFAULTS, ...UNSET, ...told };
  const wrong = wrongRange(kept) ?? wrongRest(kept);
  return wrong === undefined ? ok(kept) : refuse('run-option-invalid', wrong);
}

const UNSET = {
  max_iterations: null,
  budget: {},
  families: [],
  memory_mode: 'off',
  fixture_category: null,
  decompose: false,
  force: null,
} as const;

function wrongRange(options: CheckedOptions): string | undefined {
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = options[name as keyof typeof RANGES];
    const whole = name === 'ambiguity_threshold' || Number.isSafeInteger(value);
    if (!(value >= least && value <= most && whole)) return `${flag(name)} is ${least} to ${most}, not ${value}`;
  }
  return undefined;
}

function wrongRest({ overlap, chunk_lines, max_iterations, budget }: CheckedOptions): string | undefined {
  if (overlap >= chunk_lines) return `--overlap is below --chunk-lines (${chunk_lines}), not ${overlap}`;
  if (max_iterations !== null && !(Number.isSafeInteger(max_iterations) && max_iterations > 0))
    return `--max-iterations is a whole number above 0, not ${max_iterations}`;
  for (const [name, value] of Object.entries(budget))
    if (!(typeof value === 'number' && value > 0)) return `${flag(name)} is above 0, not ${value}`;
  return undefined;
}

function flag(name: string): string {
  return `--${name === 'max_ms' ? 'timeout' : name === 'window_tokens' ? 'window' : name.replaceAll('_', '-')}`;
}

export interface PromptSizes {
  readonly max_output_tokens: number;
  /** Of one chunk. */
  readonly byte_limit: number;
  /** Of the facts in one synthesis. */
  readonly facts_chars: number;
}

/** Envelope, protocol and rules. */
const BESIDE_TOKENS = 1_500;
/** Fewer than the four of plain text: material is dense. */
const BYTES_A_TOKEN = 3;

export function promptSizes(window_tokens: number): PromptSizes {
  const max_output_tokens = Math.min(4_000, Math.floor(window_tokens * 0.3));
  const material = (window_tokens - BESIDE_TOKENS - max_output_tokens) * BYTES_A_TOKEN;
  const byte_limit = Math.max(1_024, Math.min(65_536, material));
  return { max_output_tokens, byte_limit, facts_chars: Math.max(2_000, Math.min(60_000, Math.floor(material * 0.7))) };
}
