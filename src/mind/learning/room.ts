// Owns learning's front: reviews in the background, the flush before a compression, the external memory provider beside the files, and the
// summaries of recall.
import { z } from 'zod';
import type { Room } from '#core/agent/room.ts';
import type { Learning } from './learning.ts';
import { learningSchema } from './learning-schema.ts';

export interface LearningDoor {
  readonly load: () => Promise<Learning>;
  /** False: nothing was kept and nothing waits, so that nobody need be told. */
  readonly mayHaveNews: () => boolean;
}

declare module '#core/agent/room.ts' {
  interface Doors {
    readonly learning: LearningDoor;
  }
}

/** Its section of config.yaml. */
export const learningSettings = z.object({
  enabled: z.boolean().default(true).describe('Review conversations in the background.'),
  budget: z
    .object({
      hour: z.int().min(0).optional().describe('Tokens of any 60 minutes; none: a fifth of the day.'),
      day: z.int().min(0).optional().describe('Tokens of any 24 hours; none: by `budget_share` and `budget_floor`.'),
    })
    .prefault({})
    .describe('What learning may cost at most.'),
  budget_share: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe('Share of all other tokens of a day that learning may take, where `budget.day` says nothing.'),
  budget_floor: z
    .int()
    .min(0)
    .default(100_000)
    .describe('Tokens a day that it may take at least, where `budget.day` says nothing.'),
});

export const room: Room = {
  name: 'learning',
  settings: async () => learningSettings.describe('Reviews and what they may cost.'),
  lends: ['learning', 'recall'],
  tables: learningSchema,
  commands: async (ground) => (await import('./commands.ts')).learningCommands(ground),
  open: async (ground) => {
    const settings = (await ground.settings()).section('learning', learningSettings);
    return (await import('./open-room.ts')).openRoom(ground, settings);
  },
};
