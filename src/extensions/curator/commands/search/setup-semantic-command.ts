// Owns `curator setup-semantic`: the engine and the two models of a semantic search, installed and tried. Knows no step of it.
// Invariant: what is missing is named with its fix, and leaves with exit code 1.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { SetupStep } from '../../search/setup/set-up-semantic.ts';

const input = z.object({
  from: z.string().optional().describe('Folder that holds the models; the hub (HF_ENDPOINT) is asked when absent'),
  engineOnly: z.boolean().default(false).describe('Install the engine and leave the models'),
});

export function setupSemanticCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator setup-semantic',
    summary: 'Install the engine and the models that rank skills by meaning, and try them',
    surfaces: ['cli'],
    input,
    examples: ['talaria curator setup-semantic', 'talaria curator setup-semantic --from ~/models'],
    async *run({ from, engineOnly }, { cwd, signal }): AsyncGenerator<CommandOutput> {
      const [mind, { fullPath }, { setUpSemantic }, { readSemanticConfig }] = await Promise.all([
        ground.open(),
        import('#core/tools/file/file-access.ts'),
        import('../../search/setup/set-up-semantic.ts'),
        import('../../search/semantic-config.ts'),
      ]);
      const setup = {
        ...{ ground, engineOnly, config: readSemanticConfig(mind) },
        from: from === undefined ? undefined : fullPath(from, cwd, { userHome: ground.places.userHome }),
        machine: { platform: process.platform, architecture: process.arch },
      };
      const steps: SetupStep[] = [];
      for await (const step of setUpSemantic(setup, signal)) {
        steps.push(step);
        yield { type: 'line', text: `${step.ok ? 'ok' : 'MISSING'}: ${step.text}` };
        if (step.fix !== undefined) yield { type: 'line', text: `  ${step.fix}` };
      }
      yield { type: 'data', value: { steps } as unknown as JsonValue };
      const failed = steps.filter(({ ok }) => !ok);
      if (failed[0] !== undefined) yield failure(failed[0], failed.length);
    },
  });
}

function failure({ code = 'setup-failed', text, fix = '' }: SetupStep, count: number): CommandOutput {
  const message = count === 1 ? text : `${text} (and ${count - 1} more, above)`;
  return { type: 'failure', exitCode: 1, code, message, fix };
}
