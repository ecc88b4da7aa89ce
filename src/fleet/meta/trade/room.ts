// Owns the front of the desk: the word `market` of the command line, and its section of the settings. It has no tool, no door and no chat: neither a
// mind nor a golem can buy or sell. Invariant: it is off until the owner turns it on, and then nothing of it is opened before he types a command.
import type { Room } from '#core/agent/room.ts';

export const room: Room = {
  name: 'market',
  settings: async () => (await import('./trade-settings.ts')).marketSettings.describe('Selling and buying skills.'),
  opens: 'when-asked',
  commands: async (ground) => {
    const [{ sellCommands }, { shopCommands }, { buyCommands }] = await Promise.all([
      import('./sell-commands.ts'),
      import('./shop-commands.ts'),
      import('./buy-commands.ts'),
    ]);
    return [...sellCommands(ground), ...shopCommands(ground), ...buyCommands(ground)];
  },
};
