// Owns the front of peers (seed 004): the memory provider, what the model-free tier does and answers of them, their commands and their
// section of the configuration. Invariant: opening it opens nothing; without `memory.provider: hivemind` it adds nothing.
import type { Room } from '#core/agent/room.ts';
import { PROVIDER_NAME } from './settings.ts';

export const room: Room = {
  name: 'peers',
  settings: async () => (await import('./settings.ts')).hiveSchema,
  commands: async (ground) => (await import('./commands.ts')).hiveCommands(ground),
  secrets: ['MATRIX_ACCESS_TOKEN', 'MATRIX_PASSWORD', 'MATRIX_REGISTRATION_TOKEN'],
  provider: {
    name: PROVIDER_NAME,
    open: async (ground) => (await import('./open-hive.ts')).hivemindProvider(ground),
  },
  open: async (ground) => {
    if ((await ground.settings()).provider !== PROVIDER_NAME) return {};
    const { sparkTasks } = await import('./provider/sparks-by-rule.ts');
    return { tasks: sparkTasks(), rules: async () => (await import('./provider/peer-rules.ts')).peerRules() };
  },
};
