// Owns what each of the ten events of a golem's mind does on the screens and what it sounds like (seed 000, Event Fabric; R0.143–R0.152), as data, and how
// a sound becomes bells. Knows no window and no terminal. Invariants: an event that is not in the table changes nothing; pitch belongs to the name of a skill.
import { z } from 'zod';
import { plural } from '#base/text.ts';

const count = z.number().catch(0).default(0);
const text = z.string().catch('').default('');

/** All ten as one shape: what an event does not have is 0 or empty. */
export const mindEvent = z.object({
  type: z.enum([
    ...([
      'SkillsLoaded',
      'SkillsActivated',
      'SkillDrafted',
      'SkillCreated',
      'SkillImproved',
      'FeedbackFlushed',
    ] as const),
    ...(['SkillPromoted', 'SkillIngested', 'DeathSkillExport', 'EvolutionCycleComplete'] as const),
  ]),
  ...{ tick: count, count, confidence: count, skills_exported: count, skills_evolved: count },
  ...{ fitness_improved: count, duration_secs: count },
  ...{ name: text, trigger: text, source: text, improvement_summary: text },
  skills: z.array(z.string()).catch([]).default([]),
});

export type MindEvent = z.infer<typeof mindEvent>;
export type EventName = MindEvent['type'];
export type WindowName = 'clade' | 'hearth' | 'hermes' | 'dream' | 'mind' | 'library' | 'infra' | 'market';

/** One bell: `hz` is heard on a Linux console, any other terminal rings as it does. */
export interface Note {
  readonly hz: number;
  readonly ms: number;
}

/** `window`: where it is seen first. `sound`: null for none. */
export const EVENTS: Readonly<
  Record<
    EventName,
    {
      readonly window: WindowName;
      readonly says: (event: MindEvent) => string;
      readonly sound: ((event: MindEvent) => readonly Note[]) | null;
    }
  >
> = {
  SkillsLoaded: { window: 'hermes', says: (event) => `${plural(event.count, 'skill')} loaded`, sound: null },
  SkillsActivated: {
    window: 'hearth',
    says: ({ skills }) => `uses ${skills.join(', ')}`,
    sound: ({ skills }) => skills.map((name) => ({ hz: pitchOf(name), ms: 120 })),
  },
  SkillDrafted: { window: 'hermes', says: ({ trigger }) => `a draft, from ${trigger}`, sound: null },
  SkillCreated: { window: 'hermes', says: ({ name }) => `new skill ${name}`, sound: () => tune(90, 523, 659, 784) },
  SkillImproved: {
    window: 'hermes',
    says: ({ name, improvement_summary: summary }) => `${name} changed: ${summary}`,
    sound: () => tune(140, 494, 523),
  },
  FeedbackFlushed: { window: 'dream', says: (event) => `${plural(event.count, 'outcome')} counted`, sound: null },
  SkillPromoted: {
    window: 'library',
    says: ({ name, confidence }) => `${name} goes to the clade, ${percent(confidence)}`,
    sound: () => tune(600, 660),
  },
  SkillIngested: {
    window: 'hermes',
    says: ({ name, source, confidence }) => `took in ${name} from ${source}, ${percent(confidence)}`,
    sound: null,
  },
  DeathSkillExport: {
    window: 'library',
    says: (event) => `dies, and leaves ${plural(event.skills_exported, 'skill')} to the library`,
    sound: () => tune(1_500, 65),
  },
  EvolutionCycleComplete: {
    window: 'dream',
    says: (event) =>
      `dreamt ${event.duration_secs} s: ${plural(event.skills_evolved, 'skill')} evolved, fitness ${signed(event.fitness_improved)}`,
    sound: () => tune(300, 196, 262, 330, 392),
  },
};

function tune(ms: number, ...pitches: readonly number[]): readonly Note[] {
  return pitches.map((hz) => ({ hz, ms }));
}

/** Five notes in two octaves, none of which jars beside another. */
const SCALE = [523, 587, 659, 784, 880, 1_047, 1_175, 1_319, 1_568, 1_760];

export function pitchOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return SCALE[sum % SCALE.length] ?? 523;
}

/** What rings one note. Pitch and length are those of the Linux console; a terminal that has none passes over them. */
export function bellOf({ hz, ms }: Note): string {
  return `\u001b[10;${hz}]\u001b[11;${ms}]\u0007`;
}

/** `81 %` */
export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

export function signed(value: number): string {
  const text = Math.abs(value).toFixed(2);
  return `${value < 0 && Number(text) > 0 ? '-' : '+'}${text}`;
}
