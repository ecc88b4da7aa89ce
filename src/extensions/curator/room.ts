// Owns the curator's front (seed 002): its tool, its schedule, its commands and its section of the configuration.
import type { Room } from '#core/agent/room.ts';

export const room: Room = {
  name: 'curator',
  settings: async () => {
    const [{ scheduleSchema }, { semanticSchema }] = await Promise.all([
      import('./schedule-job.ts'),
      import('./skill-search.ts'),
    ]);
    return scheduleSchema.extend({ semantic: semanticSchema.prefault({}).describe('Models of a search by meaning.') });
  },
  commands: async (ground) => (await import('./commands.ts')).curatorCommands(ground),
  open: async (ground) => (await import('./open-room.ts')).openRoom(ground),
};
