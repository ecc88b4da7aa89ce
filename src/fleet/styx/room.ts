// Owns the front of Styx: the commands that link this home with others, and its section of the settings.
import type { Room } from '#core/agent/room.ts';

export const room: Room = {
  name: 'styx',
  settings: async () => (await import('./linking.ts')).styxSettings,
  secrets: ['TALARIA_STYX_TOKEN'],
  commands: async (ground) => (await import('./commands.ts')).styxCommands(ground),
};
