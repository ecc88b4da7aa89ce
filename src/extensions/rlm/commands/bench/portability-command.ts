// Owns `rlm bench portability` (notes 10): its flags, its files, its checkpoint. Knows no cell.
// Invariant: a matrix that is stopped leaves its `.partial` beside where the whole would stand; a whole one removes it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { BenchReport } from '../../bench/bench-report.ts';
import type { OpenedEngine } from '../../bench/engine/open-engine.ts';
import type { CellMemory } from '../../bench/portability/run-cell.ts';
import type { Matrix } from '../../bench/portability/run-matrix.ts';
import { type MemoryMode, memoryMode } from '../../memory/memory-mode.ts';
import type { RlmGround } from '../../rlm-ground.ts';
import { reportFlags } from './table-commands.ts';

const MODES = ['contracts-only', 'dry-plan', 'live-smoke', 'live-primary'] as const;

const input = z.object({
  ...reportFlags,
  mode: z.enum(MODES).default('contracts-only').describe('What is run; only the live modes ask models'),
  fixtures: z.enum(['8', '12']).default('8').describe('The shared fixtures, or all'),
  families: z.string().min(1).default('all').describe('Comma list of families, or all that are set up'),
  timeoutSeconds: z.coerce.number().positive().default(240).describe('Of one call'),
  outputDir: z.string().min(1).optional().describe('Folder of the matrix; default rlm/benchmarks of the home'),
  outputPrefix: z
    .string()
    .regex(/^[\w.-]+$/, 'a name without slashes')
    .default('live-portability-matrix')
    .describe('Name of its files'),
  memoryMode: z.string().default('off').describe('off, read, write or read-write; reported apart from clean runs'),
  memoryStore: z.string().min(1).optional().describe('Memory file; default rlm/memory.jsonl of the home'),
});
type Asked = z.infer<typeof input>;

export function portabilityCommand(ground: RlmGround): AnyCommand {
  return defineCommand({
    name: 'rlm bench portability',
    summary: 'The same contract through every family that is set up, cell by cell',
    surfaces: ['cli'],
    input,
    examples: [
      'talaria rlm bench portability',
      'talaria rlm bench portability --mode live-smoke --families reflex',
      'talaria rlm bench portability --mode live-primary --memory-mode read-write',
    ],
    run: (asked, context) => run(ground, asked, context),
  });
}

async function* run(ground: RlmGround, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const memory = memoryMode(asked.memoryMode);
  if (!memory.ok) {
    yield wrongUse(memory.reason, memory.detail);
    return;
  }
  const { openEngine } = await import('../../bench/engine/open-engine.ts');
  const named = asked.families === 'all' ? [] : asked.families.split(',').map((name) => name.trim());
  const isLive = asked.mode === 'live-smoke' || asked.mode === 'live-primary';
  const call_timeout_ms = asked.timeoutSeconds * 1000;
  const engine = await openEngine(ground, { families: named, call_timeout_ms, offline: !isLive });
  if (!engine.ok) {
    yield refused(
      engine.reason,
      engine.detail,
      'Set the family up under rlm.families in config.yaml, or use --families reflex.',
    );
    return;
  }
  try {
    const families = named.length > 0 ? [...new Set(named)] : familiesOf(engine.value);
    const parts = { ground, asked, engine: engine.value, families, memory: memory.value };
    yield* isLive ? live(parts, context) : offline(parts, context);
  } finally {
    engine.value.close();
  }
}

interface Parts {
  readonly ground: RlmGround;
  readonly asked: Asked;
  readonly engine: OpenedEngine;
  readonly families: readonly string[];
  readonly memory: MemoryMode;
}

/** All that can answer; `default` counts when it is a model, since reflex stands there by its own name. */
function familiesOf({ inner, notice }: OpenedEngine): readonly string[] {
  return [...inner.keys()].filter((family) => family !== 'default' || notice === null);
}

async function* offline({ asked, families, ground }: Parts, context: CommandContext): AsyncGenerator<CommandOutput> {
  const [{ offlineReport }, { portabilityFixtures }] = await modules();
  const fixtures = portabilityFixtures(asked.fixtures === '12' ? 12 : 8);
  const report = offlineReport({ fixtures, families, planOnly: asked.mode === 'dry-plan' });
  if (asked.outputDir !== undefined) {
    const kept = keep(report, pathOf({ ground, asked }, context));
    yield { type: 'line', text: `written: ${kept}` };
  }
  yield* shown({ ground, asked, report }, context);
}

async function* live(parts: Parts, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { asked, engine, families, ground } = parts;
  const [{ matrixReport }, { portabilityFixtures, runMatrix }] = await modules();
  const mode = asked.mode === 'live-smoke' ? 'live-smoke' : 'live-primary';
  const path = pathOf(parts, context);
  const partial = `${path}.partial`;
  const checkpoint = (matrix: Matrix) => atomicWrite(partial, `${JSON.stringify(matrix, null, 2)}\n`);
  const fixtures = portabilityFixtures(asked.fixtures === '12' ? 12 : 8);
  const memory = await cellMemory(parts, context);
  if (engine.notice !== null) yield { type: 'line', text: engine.notice };
  const matrix = await runMatrix(engine, { mode, families, fixtures, memory, checkpoint }, context.signal);
  if (context.signal.aborted) {
    const fix = matrix.cells.length === 0 ? '' : `What was run stands in ${partial}.`;
    yield failed('cancelled', `stopped after ${matrix.cells.length} cells`, fix);
    return;
  }
  const { recordedRuns } = await import('../../trace/export/export-run.ts');
  const run_ids = matrix.cells.flatMap((cell) =>
    'run_id' in cell && typeof cell.run_id === 'string' ? [cell.run_id] : [],
  );
  const shownMatrix = matrixReport(matrix);
  const report = { ...shownMatrix, document: { ...shownMatrix.document, ...recordedRuns(engine.store, run_ids) } };
  keep(report, path);
  rmSync(partial, { force: true });
  yield { type: 'line', text: `written: ${path}` };
  yield* shown({ ground, asked, report }, context);
}

async function cellMemory(
  { asked, ground, memory, engine }: Parts,
  { cwd, signal }: CommandContext,
): Promise<CellMemory> {
  const { appendMemory, defaultMemoryPath, readMemoryFile } = await import('../../memory/memory-file.ts');
  const { home, userHome } = ground.places;
  const path =
    asked.memoryStore === undefined ? defaultMemoryPath(home) : typedPath(asked.memoryStore, { cwd, userHome });
  return {
    mode: memory,
    recall: () => readMemoryFile(path).records,
    store: async (records) => (await appendMemory(path, records, { clock: engine.clock, signal })).stored,
  };
}

function modules() {
  return Promise.all([
    import('../../bench/portability/portability-report.ts'),
    import('../../bench/portability/run-matrix.ts'),
  ]);
}

function pathOf({ ground, asked }: Pick<Parts, 'ground' | 'asked'>, { cwd }: CommandContext): string {
  const { home, userHome } = ground.places;
  const folder =
    asked.outputDir === undefined ? join(home, 'rlm', 'benchmarks') : typedPath(asked.outputDir, { cwd, userHome });
  return join(folder, `${asked.outputPrefix}.json`);
}

function keep({ document }: BenchReport, path: string): string {
  atomicWrite(path, `${JSON.stringify(document, null, 2)}\n`);
  return path;
}

interface Shown extends Pick<Parts, 'ground' | 'asked'> {
  readonly report: BenchReport;
}

async function* shown({ ground, asked, report }: Shown, { cwd }: CommandContext): AsyncGenerator<CommandOutput> {
  const { benchOutput } = await import('./bench-output.ts');
  const { output, format } = asked;
  const path = output === undefined ? undefined : typedPath(output, { cwd, userHome: ground.places.userHome });
  yield* benchOutput({ report, format, output: path });
}
