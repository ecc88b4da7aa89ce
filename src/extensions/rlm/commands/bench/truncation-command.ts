// Owns `rlm bench truncation`: one call and a recursive run over the same cut text, side by side. Knows no score.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { RlmGround } from '../../rlm-ground.ts';

const input = z.object({
  fixture: z.string().min(1).optional().describe('Truncation fixture; default: our own'),
  output: z.string().min(1).optional().describe('File for the artifact; default below rlm/benchmarks of the home'),
  family: z.string().min(1).optional().describe('Who answers; default: the models that are set up'),
  timeoutSeconds: z.coerce.number().positive().optional().describe('Of one call'),
});
type Asked = z.infer<typeof input>;

export function truncationCommand(ground: RlmGround): AnyCommand {
  return defineCommand({
    name: 'rlm bench truncation',
    summary: 'One call against a recursive run on the same cut text, both scored',
    surfaces: ['cli'],
    input,
    examples: [
      'talaria rlm bench truncation',
      'talaria rlm bench truncation --family reflex --output ./comparison.json',
    ],
    run: (asked, context) => run(ground, asked, context),
  });
}

async function* run(ground: RlmGround, asked: Asked, { cwd, signal }: CommandContext): AsyncGenerator<CommandOutput> {
  const [{ openEngine }, { truncationMode }] = await Promise.all([
    import('../../bench/engine/open-engine.ts'),
    import('../../bench/run-modes.ts'),
  ]);
  const { fixture, output, family, timeoutSeconds } = asked;
  const families = family === undefined ? [] : [family];
  const timeout = timeoutSeconds === undefined ? {} : { call_timeout_ms: timeoutSeconds * 1000 };
  const engine = await openEngine(ground, { families, ...timeout });
  if (!engine.ok) {
    yield refused(engine.reason, engine.detail, 'Name a family that is set up, or set one up under rlm.families.');
    return;
  }
  const { home, userHome } = ground.places;
  const from = { cwd, userHome };
  const paths = {
    ...(fixture === undefined ? {} : { fixture: typedPath(fixture, from) }),
    ...(output === undefined ? {} : { output: typedPath(output, from) }),
  };
  try {
    const result = await truncationMode({ engine: engine.value, home }, { ...paths, families }, signal);
    if (!result.ok) {
      yield wrongUse(result.reason, result.detail, 'Name a truncation fixture, or leave --fixture out.');
      return;
    }
    for (const text of result.value.lines) yield { type: 'line', text };
    yield { type: 'data', value: result.value.artifact };
    if (!result.value.success) yield failed('bench-incomplete', 'not every call brought a result');
  } finally {
    engine.value.close();
  }
}
