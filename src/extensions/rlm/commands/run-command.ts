// Owns `rlm run` (notes 13.8): flags in, a prepared run executed, its outcome shown. Knows no chunk and no verdict.
// Invariant: nothing is asked before every check has passed; exit 0 only for what was accepted or planned.

import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  type Failure,
  failed,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { secretTest } from '#core/tools/files/file-access.ts';
import type { OpenedEngine } from '../engine.ts';
import { MEMORY_MODES } from '../memory/memory-record.ts';
import type { RunOutcome } from '../outcome.ts';
import type { ClearGround } from '../run/ambiguity.ts';
import type { PreparedRun, PrepareRefusal } from '../run/prepare-run.ts';
import { LEAST_RUN_WINDOW, RUN_DEFAULTS, type RunOptions } from '../run/run-options.ts';
import { budgetOf, familiesOf, given } from './engine-flags.ts';

const text = z.string().min(1);
const number = z.coerce.number();
const flag = z.boolean().default(false);
const D = RUN_DEFAULTS;

const runInput = z.object({
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
  debug: flag.describe('Show each call'),
});
type RunInput = z.infer<typeof runInput>;

export function runCommands(ground: Ground): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm run',
      summary: 'Take a file, a folder or a text apart, ask about each part, and put together only what is cited',
      surfaces: ['cli'],
      input: runInput,
      positional: ['target'],
      examples: [
        'talaria rlm run src --question "List the exported functions of each file."',
        'talaria rlm run notes.md --max-chunks 200 --concurrency 4 --goal "Which deadlines are named?"',
        'talaria rlm run --dry-run docs',
      ],
      run: (asked, context) => run(ground, asked, context),
    }),
  ];
}

async function* run(ground: Ground, asked: RunInput, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { openNesting } = await import('../call/call-limits.ts');
  const nesting = openNesting(ground.variables);
  if (!nesting.ok) return yield refused(nesting.reason, nesting.detail);
  if (asked.dryRun) yield* dryRun(ground, { asked, depth: nesting.value.depth }, context);
  else yield* realRun(ground, { asked, depth: nesting.value.depth }, context);
}

interface Asked {
  readonly asked: RunInput;
  /** Levels that are left here. */
  readonly depth: number;
}

async function* dryRun(ground: Ground, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { dryLines } = await import('../page/run-text.ts');
  const { ask: _nobody, ...alone } = context;
  const prepared = await prepare(ground, { ...asked, rate: undefined }, alone);
  if (!prepared.ok) return yield refusalOf(prepared);
  for (const text of dryLines(prepared.value)) yield { type: 'line', text };
  const { request, terms } = prepared.value;
  yield { type: 'data', value: { verdict: 'dry_run', request, terms } as unknown as JsonValue };
}

const DEEPEST = RUN_DEFAULTS.max_depth;

type Rate = ClearGround['rate'];

async function prepare(
  rlm: Ground,
  { asked, depth, rate }: Asked & { readonly rate: Rate },
  { cwd, ask, signal }: CommandContext,
) {
  const { prepareRun } = await import('../run/prepare-run.ts');
  const { userHome, home } = rlm.places;
  const place = asked.cwd === undefined ? cwd : typedPath(asked.cwd, { cwd, userHome });
  const ground = { cwd: place, userHome, isSecret: secretTest(place, { home, userHome }), ask, rate };
  const families = familiesOf(asked);
  const wanted = asked.maxDepth ?? depth;
  const options: RunOptions = {
    ...given({
      ambiguity_threshold: asked.ambiguityThreshold,
      max_chunks: asked.maxChunks,
      chunk_lines: asked.chunkLines,
      overlap: asked.overlap,
      max_iterations: asked.maxIterations,
      concurrency: asked.concurrency,
    }),
    // Inside of another recursion fewer levels are left; what is out of range stays so, and is refused.
    max_depth: wanted <= DEEPEST ? Math.min(wanted, depth) : wanted,
    window_tokens: asked.window ?? (await windowOf(rlm, families)),
    budget: budgetOf(asked),
    families,
    memory_mode: asked.memoryMode,
    decompose: asked.decompose,
    force: asked.force ?? null,
  };
  const memory_path = await memoryPath(rlm, asked.memoryStore, cwd);
  const question = asked.question ?? asked.goal ?? null;
  return prepareRun({ ground, target: asked.target, question, options, memory_path }, signal);
}

async function windowOf(ground: Ground, families: readonly string[]): Promise<number> {
  const [mind, { defaultWindow }] = await Promise.all([ground.open(), import('../call/call-limits.ts')]);
  return defaultWindow(mind, { families, least: LEAST_RUN_WINDOW });
}

async function* realRun(ground: Ground, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { openEngine } = await import('../engine.ts');
  const families = familiesOf(asked.asked);
  const opened = await openEngine(ground, { families });
  if (!opened.ok)
    return yield refused(
      opened.reason,
      opened.detail,
      'Name a family that is set up, or set one up under rlm.families.',
    );
  const engine = opened.value;
  try {
    const rate = asked.asked.rate ? await raterOf(engine, families, context.signal) : undefined;
    const prepared = await prepare(ground, { ...asked, rate }, context);
    if (!prepared.ok) yield refusalOf(prepared);
    else if (!prepared.value.request.ambiguity.passed) yield ambiguous(prepared.value);
    else yield* execute({ ground, engine, prepared: prepared.value, asked: asked.asked }, context);
  } finally {
    engine.close();
  }
}

async function raterOf({ inner }: OpenedEngine, [first = 'default']: readonly string[], signal: AbortSignal) {
  const { ambiguityRater } = await import('../run/ambiguity.ts');
  const family = inner.get(first);
  return family === undefined ? undefined : ambiguityRater(family, signal);
}

interface Execution {
  readonly ground: Ground;
  readonly engine: OpenedEngine;
  readonly prepared: PreparedRun;
  readonly asked: RunInput;
}

async function* execute(execution: Execution, { signal, cwd }: CommandContext): AsyncGenerator<CommandOutput> {
  const { engine, prepared, asked, ground } = execution;
  const [{ liveRun, rememberRun }, { CALL_COLUMNS, callRow, runLines }] = await Promise.all([
    import('../run/live-run.ts'),
    import('../page/run-text.ts'),
  ]);
  if (engine.notice !== null) yield { type: 'line', text: engine.notice };
  const outcome = await liveRun(engine, prepared, signal);
  const calls = engine.store.calls(outcome.run_id);
  if (asked.debug) yield { type: 'table', columns: CALL_COLUMNS, rows: calls.map(callRow) };
  for (const text of runLines(outcome, calls)) yield { type: 'line', text };
  const path = await memoryPath(ground, asked.memoryStore, cwd);
  const remembered = await rememberRun(engine, prepared, outcome, { calls, path });
  if (remembered !== null) yield { type: 'line', text: remembered };
  yield { type: 'data', value: outcome as unknown as JsonValue };
  const failure = failureOf(outcome);
  if (failure !== null) yield failure;
}

function failureOf({ verdict, detail, run_id }: RunOutcome): Failure | null {
  const message = detail ?? 'no claim was accepted';
  if (verdict === 'accepted') return null;
  if (verdict === 'refused') return refused('synthesis-refused', message, `See talaria rlm show ${run_id}.`);
  if (verdict === 'no_evidence')
    return refused('no-evidence', message, 'Ask for something that the material says, or read more with --max-chunks.');
  return failed(verdict === 'cancelled' ? 'run-cancelled' : 'run-failed', message, `See talaria rlm show ${run_id}.`);
}

function ambiguous({ request }: PreparedRun): Failure {
  const { ambiguity_score: score, ambiguity_threshold: threshold, model_rating, question } = request.ambiguity;
  const worst = Math.max(score, model_rating ?? 0);
  const fix = 'Say it with --question, or go on with --force "why".';
  return refused('request-ambiguous', `ambiguity ${worst} is over ${threshold}: ${question ?? ''}`, fix);
}

const USAGE: readonly PrepareRefusal[] = ['run-option-invalid', 'question-blank', 'target-blank'];

function refusalOf({ reason, detail }: { readonly reason: PrepareRefusal; readonly detail: string }): Failure {
  return USAGE.includes(reason) ? wrongUse(reason, detail) : failed(reason, detail);
}

async function memoryPath({ places }: Ground, typed: string | undefined, cwd: string): Promise<string> {
  const { home, userHome } = places;
  if (typed !== undefined) return typedPath(typed, { cwd, userHome });
  return (await import('../memory/memory-file.ts')).defaultMemoryPath(home);
}
