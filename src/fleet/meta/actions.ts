// Owns the six things that Meta can do with a message (seed 000: MetaHermesAction), as they are written by a model, a typed form or a choice, and
// the question that stands in place of a guess. Knows no golem. Invariant: what does not validate is no action, whoever wrote it.
import { z } from 'zod';
import { parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';

const words = z.string().trim().min(1).max(4_000);
/** As a golem is called; whether there is one is not known here. */
const name = z.string().trim().min(1).max(80);
/** `risk`: steers of one golem about the same contradict each other. */
const about = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{0,39}$/)
  .optional();
const urgency = z.enum(['normal', 'now']).default('normal');

/** Views that Meta fills from rows; `none`: talk, which rests on nothing. */
export const VIEWS = ['state', 'night', 'learned', 'costs', 'steers', 'owner', 'library', 'none'] as const;
export type View = (typeof VIEWS)[number];

const filter = z.strictObject({
  domain: z.string().optional(),
  archetype: z.string().optional(),
  names: z.array(name).min(1).max(100).optional(),
});

export const actionSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('DirectResponse'),
    response: z.string().max(8_000),
    skills_used: z.array(z.string()).default([]),
    /** What is shown of the clade beside the words. */
    rows: z.enum(VIEWS).default('state'),
    /** Of `night` and `learned`: how far back, hours. */
    hours: z.number().positive().max(8_760).optional(),
  }),
  z.strictObject({
    ...{ type: z.literal('RouteSteer'), target_golem: name, steer_content: words, urgency, about },
    /** What is meant by it, when it is no advice. */
    kind: z.enum(['steer', 'pause', 'resume', 'dream']).default('steer'),
  }),
  z.strictObject({
    ...{ type: z.literal('RouteFollowUp'), target_golem: name, question: words },
    /** What of the golem it is about, where that is one tick or one skill. */
    ...{ tick: z.number().int().positive().optional(), skill: name.optional() },
  }),
  z.strictObject({
    ...{ type: z.literal('BroadcastSteer'), steer_content: words, urgency, about },
    /** Absent: every golem that lives. */
    filter: filter.optional(),
  }),
  z.strictObject({
    ...{ type: z.literal('ExecuteMetaSkill'), skill_name: name },
    params: z.record(z.string(), z.unknown()).default({}),
  }),
  z.strictObject({
    type: z.literal('QueryGrimoires'),
    /** Empty: every golem. */
    targets: z.array(name).max(100),
    query: z.string().trim().max(1_000),
  }),
]);

export type MetaHermesAction = z.output<typeof actionSchema>;
export type ActionOf<Type extends MetaHermesAction['type']> = Extract<MetaHermesAction, { type: Type }>;

/** The reply of a model: one JSON object that is an action, and nothing else but thoughts before it. */
export function readAction(reply: string): Result<MetaHermesAction, 'not-json' | 'no-action'> {
  const read = parseJsonObject(reply.replace(/^\s*<think>[\s\S]*?<\/think>/, '').trim());
  if (!read.ok) return refuse('not-json', 'It did not answer with one JSON object.');
  const action = actionSchema.safeParse(read.value);
  if (action.success) return ok(action.data);
  const [issue] = action.error.issues;
  return refuse('no-action', `Its answer is none of the six actions: ${issue?.path.join('.')} ${issue?.message}`);
}

/** What the owner said to what he was asked; it travels beside the action, where no model writes. */
export type Consent = 'yes' | 'no';

/** With `asks` the choice leads to another question; with neither nothing is done. */
export interface Choice {
  readonly text: string;
  readonly action?: MetaHermesAction;
  readonly consent?: Consent;
  readonly asks?: Question;
}

export interface Question {
  readonly text: string;
  /** A golem was named that is not there. */
  readonly isWrong?: boolean;
  readonly choices: readonly Choice[];
}

/** What is to be done with a message. `why`: the model's id, `rule`, or `owner`. */
export type Decision =
  | { readonly type: 'act'; readonly action: MetaHermesAction; readonly why: string; readonly consent?: Consent }
  | { readonly type: 'ask'; readonly question: Question }
  | { readonly type: 'failed'; readonly reason: string; readonly text: string };

/** The names that an action is for; undefined: it reaches no golem. */
export function targetsOf(action: MetaHermesAction): readonly string[] | undefined {
  if (action.type === 'RouteSteer' || action.type === 'RouteFollowUp') return [action.target_golem];
  if (action.type === 'QueryGrimoires') return action.targets;
  return action.type === 'BroadcastSteer' ? (action.filter?.names ?? []) : undefined;
}

/** The same action for these golems instead. */
export function aimedAt(action: MetaHermesAction, names: readonly string[]): MetaHermesAction {
  const [target_golem = ''] = names;
  if (action.type === 'RouteSteer' || action.type === 'RouteFollowUp') return { ...action, target_golem };
  if (action.type === 'QueryGrimoires') return { ...action, targets: [...names] };
  if (action.type !== 'BroadcastSteer' || action.filter?.names === undefined) return action;
  return { ...action, filter: { ...action.filter, names: [...names] } };
}
