/** A command as it is typed: what it prints, gives and ends with. */
import { runCommand } from '../../../surfaces/app/app-fixture.ts';
import type { RunBench } from './run-bench.ts';

export async function typedRun(
  { stage }: RunBench,
  name: string,
  input: Record<string, unknown>,
  command = `curator ${name}`,
) {
  const { outputs, failure, data } = await runCommand(stage, command, input);
  const [first] = outputs;
  return {
    printed: first?.type === 'line' ? first.text : '',
    code: failure?.exitCode ?? 0,
    reason: failure?.code ?? null,
    message: failure?.message ?? '',
    fix: failure?.fix ?? '',
    data: data as Record<string, unknown>,
  };
}
