// Owns recursion's front (seed 003): its tool, its commands, its section of the configuration, and what is forgotten of its runs.
import type { Room } from '#core/agent/room.ts';

export const room: Room = {
  name: 'rlm',
  settings: async () => (await import('./rlm-config.ts')).rlmSchema,
  commands: async (ground) => (await import('./commands.ts')).rlmCommands(ground),
  open: async (ground) => (await import('./open-room.ts')).openRoom(ground),
};
