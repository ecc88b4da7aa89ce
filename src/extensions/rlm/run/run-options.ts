// Owns what may be asked of a run, with its defaults, and the checks before anything is read (notes 13.1, 13.4). Knows no file.
// Invariant: what passes can be kept; a refusal names the option and what it must be. Chunks are sized so that a prompt fits a window of 8K tokens
// unless a larger one is told.
import { z } from 'zod';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { USUAL_WINDOW } from '../call/call-limits.ts';
import { callBudget } from '../call/call-record.ts';
import { MEMORY_MODES } from '../memory/memory-record.ts';

/** Tokens that an envelope and a reply need. */
export const LEAST_RUN_WINDOW = 4_096;

const options = z
  .object({
    max_depth: z.int().min(0).max(5).default(5),
    ambiguity_threshold: z.number().min(0).max(0.2).default(0.2),
    max_chunks: z.int().min(1).max(10_000).default(6),
    chunk_lines: z.int().min(1).max(1_000_000).default(80),
    overlap: z.int().min(0).default(0),
    concurrency: z.int().min(1).max(64).default(1),
    max_retries: z.int().min(0).max(10).default(1),
    /** Children of one synthesis: six are read together well, and 6^5 chunks are within reach of the depth. */
    fan_out: z.int().min(2).max(64).default(6),
    /** Tokens of the smallest window that will be asked. */
    window_tokens: z.int().min(LEAST_RUN_WINDOW).max(100_000_000).default(USUAL_WINDOW),
    /** Null: as many as the plan needs, 64 at least. */
    max_iterations: z.int().min(1).nullable().default(null),
    budget: callBudget.default({}),
    families: z.array(z.string()).readonly().default([]),
    memory_mode: z.enum(MEMORY_MODES).default('off'),
    /** Kind of material, for memory. */
    fixture_category: z.string().nullable().default(null),
    decompose: z.boolean().default(false),
    /** Why the run goes on although the request is ambiguous. */
    force: z.string().nullable().default(null),
  })
  .refine(({ overlap, chunk_lines }) => overlap < chunk_lines, { path: ['overlap'], error: 'is below --chunk-lines' });

export type CheckedOptions = Readonly<z.infer<typeof options>>;
export type RunOptions = z.input<typeof options>;

/** What is asked when nobody says. */
export const RUN_DEFAULTS: CheckedOptions = options.parse({});

export const LEAST_ITERATIONS = 64;

export function checkOptions(asked: RunOptions): Result<CheckedOptions, 'run-option-invalid'> {
  const read = options.safeParse(asked);
  if (read.success) return ok(read.data);
  const [issue] = read.error.issues;
  const name = String(issue?.path.at(-1) ?? '');
  const flag = name === 'max_ms' ? 'timeout' : name === 'window_tokens' ? 'window' : name.replaceAll('_', '-');
  return refuse('run-option-invalid', `--${flag} ${issue === undefined ? 'is wrong' : issueText(issue)}`);
}

/** Envelope, protocol and rules. */
const BESIDE_TOKENS = 1_500;
/** Fewer than the four of plain text: material is dense. */
const BYTES_A_TOKEN = 3;

/** `byte_limit`: of one chunk; `facts_chars`: of the facts in one synthesis. */
export function promptSizes(window_tokens: number) {
  const max_output_tokens = Math.min(4_000, Math.floor(window_tokens * 0.3));
  const material = (window_tokens - BESIDE_TOKENS - max_output_tokens) * BYTES_A_TOKEN;
  const byte_limit = Math.max(1_024, Math.min(65_536, material));
  return { max_output_tokens, byte_limit, facts_chars: Math.max(2_000, Math.min(60_000, Math.floor(material * 0.7))) };
}
