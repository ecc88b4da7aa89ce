// Owns Meta's own skills (seed 000): SKILL.md files in `<home>/meta/skills/` that name what carries them out, written by the skill door, their uses
// counted like those of every skill. Knows no handler by name. Invariants: what a file names and nobody can carry out is refused, not guessed; a
// file that the owner changed or took away stays as he left it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { oneLine } from '#base/text.ts';
import type { SeenGolem } from '#fleet/styx/clade.ts';
import { stepsOf } from '#mind/skills/format/skill-parts.ts';
import { writeSkill } from '#mind/skills/format/write-skill.ts';
import type { Skill } from '#mind/skills/skill.ts';
import type { ActionOf, Consent } from './actions.ts';
import type { MetaGround } from './meta-ground.ts';
import { failed, say, type Told } from './past.ts';

export const CATEGORIES = ['provisioning', 'analytics', 'curation', 'owner-model', 'market', 'deployment'] as const;

export interface HandlerContext {
  readonly meta: MetaGround;
  readonly clade: readonly SeenGolem[];
  /** What the owner wrote, and the number of that message. */
  readonly line: string;
  readonly message: number;
  readonly signal: AbortSignal;
  readonly cwd: string;
  /** To the question that the handler asked before; absent: he was not asked. */
  readonly consent?: Consent | undefined;
}

export interface Handler {
  readonly name: string;
  readonly category: (typeof CATEGORIES)[number];
  /** At most 60 characters. */
  readonly summary: string;
  readonly when: string;
  readonly params: z.ZodType;
  /** Ends with `failed` where it could not be done; a question of the owner is neither. */
  readonly run: (context: HandlerContext, params: never) => AsyncGenerator<Told>;
}

export function defineHandler<Params>(
  handler: Omit<Handler, 'params' | 'run'> & {
    readonly params: z.ZodType<Params>;
    readonly run: (context: HandlerContext, params: Params) => AsyncGenerator<Told>;
  },
): Handler {
  return handler as unknown as Handler;
}

function skillText(
  name: string,
  { summary, when, steps }: { readonly summary: string; readonly when: string; readonly steps: readonly string[] },
): string {
  const procedure = steps.map((step, at) => `${at + 1}. \`${step}\``);
  const parts = [`# ${name}\n`, '## When to Use', `${when}\n`, '## Procedure', ...procedure, `\n${PITFALLS}`];
  const body = [...parts, '- None seen so far.'].join('\n');
  const text = writeSkill({ name, description: summary, body });
  if (!text.ok) throw new TalariaError(text.detail, { code: text.reason });
  return text.value;
}

const PITFALLS = '## Pitfalls';

type Own = Pick<MetaGround, 'own' | 'rows' | 'ground'>;

async function write(
  { own }: Own,
  request: Omit<Parameters<Awaited<ReturnType<typeof door>>['write']>[0], 'actor' | 'approved'>,
) {
  const written = await (await door({ own })).write({ ...request, actor: 'dream', approved: true });
  await (await own('skills')).refresh();
  return written;
}

function door({ own }: Pick<Own, 'own'>) {
  return own('door');
}

async function skillsThere({ own, ground }: Own): Promise<readonly Skill[]> {
  return existsSync(join(ground.places.home, 'meta', 'skills')) ? (await own('skills')).list() : [];
}

/** Names of those that were written once: one that is gone was taken away. */
function madeOnce({ rows }: Own): readonly string[] {
  return rows().value<readonly string[]>('madeSkills') ?? [];
}

/** What can be executed. */
export async function offeredSkills(meta: Own, handlers: readonly Handler[]): Promise<readonly Offered[]> {
  const there = await skillsThere(meta);
  const gone = madeOnce(meta);
  const fresh = handlers.filter(({ name }) => !gone.includes(name) && !there.some((skill) => skill.name === name));
  return [...there, ...fresh.map(({ name, summary: description }) => ({ name, description }))];
}

export type Offered = Pick<Skill, 'name' | 'description'>;

/** The file that stands; that of a handler is written at its first use. */
async function skillOf(meta: Own, name: string, handlers: readonly Handler[]): Promise<Skill | undefined> {
  const found = (await skillsThere(meta)).find((skill) => skill.name === name);
  const handler = handlers.find((one) => one.name === name);
  if (found || handler === undefined || madeOnce(meta).includes(name)) return found;
  const { category, summary, when } = handler;
  const content = skillText(name, { summary, when, steps: [name] });
  await write(meta, { name, change: { action: 'create', content, category } });
  await meta.rows().keep('madeSkills', [...madeOnce(meta), name]);
  return (await meta.own('skills')).get(name);
}

/** Runs what the skill names, in order, until something fails or the owner is asked; the use counts by what came. */
export async function* executeSkill(
  context: HandlerContext,
  { skill_name: name, params }: ActionOf<'ExecuteMetaSkill'>,
  handlers: readonly Handler[],
): AsyncGenerator<Told> {
  const { meta, message } = context;
  const skill = await skillOf(meta, name, handlers);
  if (skill === undefined) return yield failed('no-such-skill', `There is no meta-skill ${JSON.stringify(name)}.`);
  const steps = stepsOf(skill.body);
  const known = steps.flatMap((step) => handlers.find((one) => one.name === step) ?? []);
  if (known.length < steps.length || known.length === 0)
    return yield failed('no-such-handler', unknownText(skill, steps, handlers));
  let end: End | undefined;
  for (const handler of known) {
    // He was asked by one of them alone.
    const consent = handler.name === name ? context.consent : undefined;
    end ??= yield* runHandler(handler, { ...context, consent }, params);
  }
  if (end?.type !== 'ask') await count(meta, { skill, message, failed: end });
}

function unknownText({ folder }: Skill, steps: readonly string[], handlers: readonly Handler[]): string {
  const names = handlers.map(({ name }) => name);
  const strange = steps.find((step) => !names.includes(step));
  const what = strange === undefined ? 'nothing that carries it out' : `${strange}, which nothing here carries out`;
  return `${folder}/SKILL.md names ${what}. Its Procedure takes: ${names.join(', ')}.`;
}

type End = Extract<Told, { type: 'failed' | 'ask' }>;
type Failed = Extract<Told, { type: 'failed' }>;

/** What ended it before it was carried out. */
async function* runHandler(
  handler: Handler,
  context: HandlerContext,
  params: unknown,
): AsyncGenerator<Told, End | undefined> {
  const given = handler.params.safeParse(params);
  let end: End | undefined;
  if (!given.success) {
    const [issue] = given.error.issues;
    end = {
      type: 'failed',
      reason: 'params',
      text: `${handler.name}: ${issue?.path.join('.') || 'params'}: ${issue?.message}`,
    };
    yield end;
    return end;
  }
  for await (const told of handler.run(context, given.data as never)) {
    if (told.type === 'failed' || told.type === 'ask') end = told;
    yield told;
  }
  if (end === undefined) await context.meta.rows().handled(handler.name, context.line);
  return end;
}

/** A use, judged by what came; what failed stands in the file from then on, so that a later version says it. */
async function count(
  meta: Own,
  {
    skill,
    message,
    failed: why,
  }: { readonly skill: Skill; readonly message: number; readonly failed: Failed | undefined },
): Promise<void> {
  const at = meta.ground.clock.now();
  const version = (await door(meta)).versions(skill.name).at(-1)?.version ?? 1;
  const outcome = why ? 'failure' : 'success';
  await (await meta.own('uses')).count({
    ...{ skill: skill.name, version, sessionId: 'meta', turn: message },
    ...{ outcome, at },
    reason: why?.reason ?? 'carried-out',
  });
  const seen = `- \`${why?.reason}\``;
  if (why === undefined || skill.body.includes(seen) || !skill.body.includes(PITFALLS)) return;
  const lines = skill.body.split('\n').filter((text) => text.startsWith('- `'));
  if (lines.length >= 5) return;
  const newString = `${PITFALLS}\n${seen}: ${oneLine(why.text, 200)}`;
  await write(meta, {
    name: skill.name,
    change: { action: 'patch', oldString: PITFALLS, newString },
    expectedHash: skill.hash,
  });
}

/** What is one conversation, ms. */
const TOGETHER_MS = 1_800_000;

/** As for a golem's drafts. */
const LEAST_STEPS = 3;

/** Several things in a row that no skill does as one become a skill (seed 000: a novel problem of managing the clade). Its name. */
export async function draftSkill(meta: Own): Promise<string | undefined> {
  const done = meta
    .rows()
    .handledSince(Math.max(meta.ground.clock.now() - TOGETHER_MS, meta.rows().value<number>('draftedAt') ?? 0));
  const steps = done.map(({ handler }) => handler).filter((step, at, all) => step !== all[at - 1]);
  const known = await skillsThere(meta);
  const isNovel =
    steps.length >= LEAST_STEPS &&
    steps.length <= 5 &&
    !known.some(({ body }) => stepsOf(body).join() === steps.join());
  if (!isNovel) return undefined;
  const name = steps.join('-then-').slice(0, 64).replace(/-+$/, '');
  if (known.some((skill) => skill.name === name)) return undefined;
  const when = `${done.map(({ line }) => oneLine(line, 120)).join(', then ')}`;
  const written = await write(meta, {
    name,
    change: {
      action: 'create',
      content: skillText(name, { summary: oneLine(steps.join(', then '), 60), when, steps }),
      category: 'drafted',
    },
  });
  if (!written.ok) return undefined;
  await meta.rows().keep('draftedAt', meta.ground.clock.now());
  return name;
}

/** Said where nothing of ours can do it. */
export function* notConfigured(what: string, fix: string): Generator<Told> {
  yield failed('not-configured', `${what} is not configured. ${fix}`);
}

export function* lines(texts: readonly string[]): Generator<Told> {
  for (const text of texts) yield say(text);
}
