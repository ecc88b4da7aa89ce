// Owns the golems' front: their commands, their doors, and what `doctor` says of them. It adds nothing to an agent: a golem is a home of its own.
import type { Room } from '#core/agent/room.ts';

export const room: Room = {
  name: 'golem',
  lends: ['golems', 'births'],
  opens: 'when-asked',
  open: async (ground) => {
    const [{ golemsDoor }, { birthsDoor }] = await Promise.all([import('./answers.ts'), import('./golem-home.ts')]);
    return { doors: { golems: golemsDoor(ground), births: birthsDoor(ground) } };
  },
  commands: async (ground) => (await import('./commands.ts')).golemCommands(ground),
  doctor: async (ground) => (await import('./looking-commands.ts')).golemHealth(ground),
};
