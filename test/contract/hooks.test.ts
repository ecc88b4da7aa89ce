/** The hook contract on the smallest implementer, on one that uses every point, and on one that guards. */

import type { Hooks } from '#public/talaria.ts';
import { hooksContract } from './hooks.contract.ts';

hooksContract({ name: 'none', make: () => ({ name: 'none' }) });

hooksContract({
  name: 'recorder',
  make: (): Hooks => {
    const seen: string[] = [];
    const note = async (point: string) => {
      seen.push(point);
    };
    return {
      name: 'recorder',
      sessionStart: () => note('sessionStart'),
      beforeTurn: async ({ turn }) => [
        { type: 'text', text: `turn ${turn}, ${seen.length} before`, origin: 'observed' },
      ],
      afterTool: (_turn, call) => note(call.name),
      afterTurn: (_turn, { outcome }) => note(outcome),
      beforeCompress: (_session, messages) => note(`${messages.length}`),
      sessionEnd: () => note('sessionEnd'),
    };
  },
});

hooksContract({
  name: 'guard',
  make: (): Hooks => ({
    name: 'guard',
    beforeTool: async (_turn, call) =>
      call.name === 'echo' ? { decision: 'ask', reason: 'echo is loud' } : { decision: 'allow' },
  }),
});
