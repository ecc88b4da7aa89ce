// Owns `rlm portability` (notes 10): its flags, its files, its checkpoint. Knows no cell.
// Invariant: a matrix that is stopped leaves its `.partial` beside where the whole would stand; a whole one removes it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  failed,
  refused,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { OpenedEngine } from '#extensions/rlm/engine.ts';
import { MEMORY_MODES } from '#extensions/rlm/memory/memory-record.ts';
import { type BenchReport, benchOutput, reportFlags } from './bench-report.ts';
import type { CellMemory, Matrix } from './run-matrix.ts';

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
  memoryMode: z.enum(MEMORY_MODES).default('off').describe('Reported apart from clean runs'),
  memoryStore: z.string().min(1).optional().describe('Memory file; default rlm/memory.jsonl of the home'),
});
type Asked = z.infer<typeof input>;

export function portabilityCommand(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'rlm portability',
    summary: 'The same contract through every family that is set up, cell by cell',
    surfaces: ['cli'],
    input,
    examples: [
      'npm run bench -- rlm portability',
      'npm run bench -- rlm portability --mode live-smoke --families reflex',
      'npm run bench -- rlm portability --mode live-primary --memory-mode read-write',
    ],
    run: (asked, context) => run(ground, asked, context),
  });
}

async function* run(ground: Ground, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { openEngine } = await import('#extensions/rlm/engine.ts');
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
    const parts = { ground, asked, engine: engine.value, families };
    yield* isLive ? live(parts, context) : offline(parts, context);
  } finally {
    engine.value.close();
  }
}

interface Parts {
  readonly ground: Ground;
  readonly asked: Asked;
  readonly engine: OpenedEngine;
  readonly families: readonly string[];
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
  const { recordedRuns } = await import('./run-fixture.ts');
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

async function cellMemory({ asked, ground, engine }: Parts, { cwd, signal }: CommandContext): Promise<CellMemory> {
  const { appendMemory, defaultMemoryPath, readMemoryFile } = await import('#extensions/rlm/memory/memory-file.ts');
  const { home, userHome } = ground.places;
  const path =
    asked.memoryStore === undefined ? defaultMemoryPath(home) : typedPath(asked.memoryStore, { cwd, userHome });
  return {
    mode: asked.memoryMode,
    recall: () => readMemoryFile(path).records,
    store: async (records) => (await appendMemory(path, records, { clock: engine.clock, signal })).stored,
  };
}

function modules() {
  return Promise.all([import('./portability-report.ts'), import('./run-matrix.ts')]);
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
  const { output, format } = asked;
  const path = output === undefined ? undefined : typedPath(output, { cwd, userHome: ground.places.userHome });
  yield* benchOutput({ report, format, output: path });
}
