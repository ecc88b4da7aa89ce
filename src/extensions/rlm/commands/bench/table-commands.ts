// Owns `rlm bench claim-aware|synthetic|ablation|memory`: benches that need no model and no home. Knows none of their rules.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { BenchReport } from '../../bench/bench-report.ts';
import type { RlmGround } from '../../rlm-ground.ts';

interface TableBench {
  readonly name: string;
  readonly summary: string;
  readonly report: (signal: AbortSignal) => Promise<BenchReport>;
}

const BENCHES: readonly TableBench[] = [
  {
    name: 'claim-aware',
    summary: 'Score seven controlled completions of a cut text',
    report: async () => (await import('../../bench/scorer/claim-aware-bench.ts')).claimAwareBench(),
  },
  {
    name: 'synthetic',
    summary: 'Score 756 generated completions: 108 fixtures, seven strategies',
    report: async () => (await import('../../bench/scorer/synthetic-bench.ts')).syntheticBench(),
  },
  {
    name: 'ablation',
    summary: 'Six contracts and injected faults, with the gate really run and calls counted',
    report: async (signal) => (await import('../../bench/ablation/ablation-bench.ts')).ablationBench(signal),
  },
  {
    name: 'memory',
    summary: 'What operational memory changes, apart from clean runs; what is assumed is said',
    report: async () => (await import('../../bench/memory/memory-bench.ts')).memoryBench(),
  },
];

export const reportFlags = {
  output: z.string().min(1).optional().describe('File for the result: JSON, or Markdown when its name ends in .md'),
  format: z.enum(['text', 'md']).default('text').describe('How the tables are printed'),
} as const;

export function tableCommands(ground: RlmGround): readonly AnyCommand[] {
  return BENCHES.map((bench) =>
    defineCommand({
      name: `rlm bench ${bench.name}`,
      summary: bench.summary,
      surfaces: ['cli'],
      input: z.object(reportFlags),
      examples: [`talaria rlm bench ${bench.name}`, `talaria rlm bench ${bench.name} --format md`],
      run: (asked, context) => run({ ground, bench }, asked, context),
    }),
  );
}

interface Asked {
  readonly output?: string | undefined;
  readonly format: 'text' | 'md';
}

async function* run(
  { ground, bench }: { readonly ground: RlmGround; readonly bench: TableBench },
  { output, format }: Asked,
  { cwd, signal }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const [report, { benchOutput }] = await Promise.all([bench.report(signal), import('./bench-output.ts')]);
  const path = output === undefined ? undefined : typedPath(output, { cwd, userHome: ground.places.userHome });
  yield* benchOutput({ report, format, output: path });
}
