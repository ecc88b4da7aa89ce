// Owns `pending always on|off`: the standing yes to new skills of reviews, shown, given and taken back. Knows it by learning alone.
import { z } from 'zod';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';

export const ALWAYS_IS_ON = 'New skills of reviews are kept unasked, as you said; `pending always off` asks again.';
const ALWAYS_IS_OFF = 'You are asked before a new skill is kept; `pending always on` stops that.';

export function alwaysCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'pending always',
    summary: 'Keep new skills of reviews unasked: on, off, or show which it is',
    surfaces: ['cli', 'chat'],
    positional: ['state'],
    input: z.object({ state: z.enum(['on', 'off']).optional().describe('Absent: only show it') }),
    examples: ['talaria pending always', 'talaria pending always off'],
    async *run({ state }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      if (state !== undefined) refuseNewerHome(app);
      const learning = await app.learning();
      if (state !== undefined) await learning.keepNewSkills(state === 'on');
      const isOn = learning.keepsNewSkills();
      yield line(isOn ? ALWAYS_IS_ON : ALWAYS_IS_OFF);
      yield { type: 'data', value: { always: isOn } };
    },
  });
}
