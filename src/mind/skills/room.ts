// Owns the skills' front: the library that reads them, the one door that writes them, their tools, their place in the prompt, and what is
// noticed of their use.
import { z } from 'zod';
import type { Room } from '#core/agent/room.ts';
import type { GuardedSkillDoor } from './guarded-apply.ts';
import type { SkillRanker } from './library/offer-skills.ts';
import type { OpenLibrary } from './library/skill-library.ts';
import type { SkillRecords } from './skill-records.ts';
import { skillSchema } from './skill-schema.ts';
import type { SkillUse } from './skill-uses.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    readonly skills: OpenLibrary;
    /** The one way to write a skill, whoever writes. */
    readonly door: GuardedSkillDoor;
    readonly skillRecords: () => SkillRecords;
    /** For who knows what came of a use: it is counted, the version judged, and rolled back when it does worse. False: it was counted before. */
    readonly uses: { readonly count: (use: SkillUse) => Promise<boolean> };
    /** Which skills fit a text. */
    readonly ranker: Pick<SkillRanker, 'rank'>;
    /** Absolute external skill folders of config.yaml. */
    readonly externalSkills: readonly string[];
  }
}

/** hermes-agent writes `write_approval` as a boolean: true asks. */
const writeApproval = z.preprocess(
  (value) => (typeof value === 'boolean' ? (value ? 'draft' : 'apply') : value),
  z.enum(['draft', 'apply']),
);

/** Its section of config.yaml. */
export const skillsSchema = z.object({
  enabled: z.boolean().default(true).describe('List skills in the prompt and offer the skill tools.'),
  creation_nudge_interval: z
    .int()
    .min(0)
    .default(10)
    .describe('Steps with tool calls until the conversation is reviewed for procedures; 0: never.'),
  write_approval: writeApproval
    .default('draft')
    .describe('New skills of unattended surfaces: wait as drafts for your yes, or `apply` at once.'),
  external_dirs: z.array(z.string()).default([]).describe('Further folders of skills, read only.'),
});

export const room: Room = {
  name: 'skills',
  settings: async () => skillsSchema.describe('Procedures that are kept.'),
  lends: ['skills', 'door', 'skillRecords', 'uses', 'ranker', 'externalSkills'],
  tables: skillSchema,
  commands: async (ground) => (await import('./commands.ts')).skillsCommands(ground),
  open: async (ground) => {
    const settings = (await ground.settings()).section('skills', skillsSchema);
    return (await import('./open-room.ts')).openRoom(ground, settings);
  },
};
