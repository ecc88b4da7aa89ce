// Owns the memory's front: both files, their block in the prompt, the tool.
import { z } from 'zod';
import type { Room } from '#core/agent/room.ts';
import type { MemoryFiles } from './memory-files.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    readonly memory: MemoryFiles;
  }
}

/** Its section of config.yaml. */
export const memorySchema = z.object({
  enabled: z.boolean().default(true).describe('Put MEMORY.md and USER.md into the prompt and offer the memory tool.'),
  provider: z.string().default('').describe('One external memory provider beside the files.'),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe(`What that provider is given, by name of variable; secrets as \`\${NAME}\`, kept in .env.`),
  nudge_interval: z
    .int()
    .min(0)
    .default(10)
    .describe('Turns of the owner until the conversation is reviewed for facts to keep; 0: never.'),
});

export const room: Room = {
  name: 'memory',
  settings: async () => memorySchema.describe('What is remembered across sessions.'),
  lends: ['memory'],
  commands: async (ground) => (await import('./commands.ts')).memoryCommands(ground),
  doctor: async ({ places }) => (await import('./commands.ts')).checkMemory(places.memories),
  open: async (ground) => {
    const settings = (await ground.settings()).section('memory', memorySchema);
    return (await import('./open-room.ts')).openRoom(ground, settings);
  },
};
