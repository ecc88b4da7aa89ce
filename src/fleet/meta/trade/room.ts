// Owns the front of the desk: the word `market` of the command line, and its section of the settings. It has no tool and no chat: neither a
// mind nor a golem can buy or sell; its door tells a screen what was seen, and pays
// for what Meta asks where he allowed that. Invariant: it is off until the owner turns it on, and then nothing of it is opened before he types a command.
import { raceAbort } from '#base/abort.ts';
import type { Room } from '#core/agent/room.ts';

export const room: Room = {
  name: 'market',
  settings: async () => (await import('./trade-settings.ts')).marketSettings.describe('Selling and buying skills.'),
  opens: 'when-asked',
  lends: ['market'],
  open: async (ground) => {
    const { LOOK_MS, lookAtShops, seenMarket } = await import('./looking.ts');
    const { signal } = ground.background;
    // A screen that was just opened waits for no quarter of an hour.
    if (ground.stays) ground.background.hold('market', raceAbort(lookAtShops(ground), signal));
    return {
      doors: {
        market: {
          seen: () => seenMarket(ground),
          pay: async (...asked) => (await import('./sponsor.ts')).payFor(ground, ...asked),
        },
      },
      jobs: ground.stays ? [{ name: 'look', everyMs: LOOK_MS, run: (end) => raceAbort(lookAtShops(ground), end) }] : [],
    };
  },
  commands: async (ground) => {
    const [{ sellCommands }, { shopCommands }, { buyCommands }, { allowCommand }] = await Promise.all([
      import('./sell-commands.ts'),
      import('./shop-commands.ts'),
      import('./buy-commands.ts'),
      import('./sponsor.ts'),
    ]);
    return [...sellCommands(ground), ...shopCommands(ground), ...buyCommands(ground), allowCommand(ground)];
  },
};
