// Owns `curator skill-validate`: the built-in verifier of SKILL.md files (seed 002, skill_validate; curator notes 14). Knows no rule of them.
// Invariant: composes no agent and opens no database: timers and verifiers start it for every write.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { printed } from '../printed.ts';

export function skillValidateCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator skill-validate',
    summary: 'Check SKILL.md files: encoding, front matter, name, description, markers',
    surfaces: ['cli'],
    readOnly: true,
    positional: ['paths...'],
    input: z.object({
      paths: z
        .array(z.string())
        .default([])
        .describe('Files or folders; HERMES_CURATOR_TARGET_PATH, or this folder, when absent'),
      format: z.enum(['json', 'text']).default('json').describe('json when absent'),
    }),
    examples: ['talaria curator skill-validate ~/.talaria/skills --format text'],
    async *run({ paths, format }, context): AsyncGenerator<CommandOutput> {
      const [{ skillFileTargets }, { skillFilesText, validateSkillFiles }] = await Promise.all([
        import('../../proposal/skill-file-targets.ts'),
        import('../../verify/validate-skill-file.ts'),
      ]);
      const { targets, fromEnvironment } = asked(ground, paths, context);
      const result = validateSkillFiles(skillFileTargets(targets), fromEnvironment);
      yield* printed({ result, format, text: () => skillFilesText(result) });
      if (result.ok) return;
      const bad = result.results.filter(({ ok }) => !ok);
      const first = bad[0] === undefined ? 'no SKILL.md was found' : `${bad[0].path}: ${bad[0].errors.join(', ')}`;
      yield failed('skill-not-valid', `${bad.length} of ${result.checked} checked with faults: ${first}`);
    },
  });
}

function asked(ground: CuratorGround, paths: readonly string[], { cwd }: CommandContext) {
  const named = paths.filter((path) => path !== '');
  const fromVerifier = ground.variables.HERMES_CURATOR_TARGET_PATH ?? '';
  const fromEnvironment = named.length === 0 && fromVerifier !== '';
  const typed = named.length > 0 ? named : [fromEnvironment ? fromVerifier : '.'];
  return { fromEnvironment, targets: typed.map((path) => typedPath(path, { cwd, userHome: ground.places.userHome })) };
}
