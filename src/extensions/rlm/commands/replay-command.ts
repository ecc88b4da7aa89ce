// Owns `rlm replay` and `rlm verify`: a stored run, an exported one, or a committed artifact, done again or checked, without a model. Exit codes:
// 0 the same or sound, 1 not, 2 nothing there, 3 it cannot be done any more. Invariant: writes nothing, asks no model.
import { z } from 'zod';
import { type AnyCommand, defineCommand } from '#core/agent/command-spec.ts';
import type { RlmGround } from '../rlm-ground.ts';

const run = z.string().min(1).describe('Id of a run or its beginning, an exported run, or an artifact');
const fixture = z.string().min(1).optional().describe('Truncation fixture of an artifact; found beside it when absent');

export function replayCommands(ground: RlmGround): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm replay',
      summary: 'Do a stored run again without a model and compare every event and the outcome',
      surfaces: ['cli'],
      input: z.object({ run, fixture }),
      positional: ['run'],
      examples: ['talaria rlm replay rlm_3f', 'talaria rlm replay run.json', 'talaria rlm replay artifact.json'],
      run: async function* (asked, context) {
        const { replayTarget } = await import('./stored/replay-target.ts');
        yield* replayTarget(ground, asked, context);
      },
    }),
    defineCommand({
      name: 'rlm verify',
      summary: 'Check that a run holds together: calls, events, hashes, links, claims within the evidence',
      surfaces: ['cli'],
      readOnly: true,
      input: z.object({ run, fixture }),
      positional: ['run'],
      examples: ['talaria rlm verify rlm_3f', 'talaria rlm verify minimal_recursive_run.json'],
      run: async function* (asked, context) {
        const { verifyTarget } = await import('./stored/verify-target.ts');
        yield* verifyTarget(ground, asked, context);
      },
    }),
  ];
}
