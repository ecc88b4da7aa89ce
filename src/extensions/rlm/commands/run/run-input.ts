// Owns the flags of `rlm run` (notes 13.8, and ours) and what they mean as options of a run. Reads nothing.
import { z } from 'zod';
import { MEMORY_MODES } from '../../memory/memory-mode.ts';
import { RUN_DEFAULTS, type RunOptions } from '../../run/prepare/run-options.ts';

const text = z.string().min(1);
const number = z.coerce.number();
const flag = z.boolean().default(false);
const D = RUN_DEFAULTS;

export const runInput = z.object({
  target: text.default('src').describe('File, folder or text to read; default src'),
  question: text.optional().describe('What is to be answered; default: what the target says in the main'),
  goal: text.optional().describe('The same as --question'),
  cwd: text.optional().describe('Folder from which the target is named'),
  maxDepth: number.optional().describe(`Levels below the root, 0 to 5; default ${D.max_depth}`),
  ambiguityThreshold: number
    .optional()
    .describe(`From which on it asks back, 0 to 0.2; default ${D.ambiguity_threshold}`),
  maxChunks: number.optional().describe(`Chunks that are read; default ${D.max_chunks}. The rest is named`),
  chunkLines: number.optional().describe(`Lines of a chunk; default ${D.chunk_lines}`),
  overlap: number.optional().describe(`Lines that a chunk repeats of the one before; default ${D.overlap}`),
  maxIterations: number.optional().describe('Nodes that are taken from the queue; default: as many as the plan needs'),
  concurrency: number.optional().describe(`Calls at once; default ${D.concurrency}`),
  window: number
    .optional()
    .describe('Tokens that prompts and their replies may have; default: what the model reads at once, 32768 at most'),
  maxCalls: number.optional().describe('Calls that may be made'),
  maxTokens: number.optional().describe('Tokens that may be used, in and out'),
  maxCost: number.optional().describe('US dollars that may be spent'),
  timeout: number.optional().describe('Seconds that the run may take'),
  family: text.optional().describe('Who answers, several with commas: the next when one cannot'),
  memoryMode: z.enum(MEMORY_MODES).default('off').describe('Whether priors are read and observations written'),
  memoryStore: text.optional().describe('Memory file; default rlm/memory.jsonl of the home'),
  decompose: flag.describe('Split the question into sub-questions first'),
  force: text.optional().describe('Go on although the request is ambiguous, and why'),
  rate: flag.describe('Let a model say too how open the request is; over the threshold it asks back'),
  dryRun: flag.describe('Show what would be read, and ask nobody'),
  benchmark: flag.describe('The dogfood benchmark over the target'),
  benchmarkId: text.optional().describe('Which benchmark; there is rlm-mvp-src-dogfood-v1'),
  vanillaBaseline: flag.describe('One call over the truncation fixture'),
  truncationBenchmark: flag.describe('That call and a recursive run, compared'),
  truncationFixture: text.optional().describe('Fixture of both; default our own'),
  recursiveFixture: text.optional().describe('Run a fixture with its recursive_run; "default" is our own'),
  baselineOutput: text.optional().describe('File for the baseline'),
  truncationOutput: text.optional().describe('File for the comparison'),
  debug: flag.describe('Show each call'),
});
export type RunInput = z.infer<typeof runInput>;

export function optionsOf(asked: RunInput, families: readonly string[]): RunOptions {
  return {
    ...given('max_depth', asked.maxDepth),
    ...given('ambiguity_threshold', asked.ambiguityThreshold),
    ...given('max_chunks', asked.maxChunks),
    ...given('chunk_lines', asked.chunkLines),
    ...given('overlap', asked.overlap),
    ...given('max_iterations', asked.maxIterations),
    ...given('concurrency', asked.concurrency),
    ...given('window_tokens', asked.window),
    budget: {
      ...given('max_calls', asked.maxCalls),
      ...given('max_tokens', asked.maxTokens),
      ...given('max_cost', asked.maxCost),
      ...given('max_ms', asked.timeout === undefined ? undefined : asked.timeout * 1_000),
    },
    families,
    memory_mode: asked.memoryMode,
    decompose: asked.decompose,
    force: asked.force ?? null,
  };
}

function given<Name extends string>(name: Name, value: number | undefined): Partial<Record<Name, number>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, number>);
}

export function familiesOf({ family }: RunInput): readonly string[] {
  const names = (family ?? '').split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

/** The benchmark modes that were asked for. */
export function modesOf(asked: RunInput): readonly string[] {
  return [
    ...(asked.benchmark || asked.benchmarkId !== undefined ? ['--benchmark'] : []),
    ...(asked.vanillaBaseline ? ['--vanilla-baseline'] : []),
    ...(asked.truncationBenchmark ? ['--truncation-benchmark'] : []),
    ...(asked.recursiveFixture === undefined ? [] : ['--recursive-fixture']),
  ];
}
