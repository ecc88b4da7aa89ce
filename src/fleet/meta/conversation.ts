// Owns the one conversation over the clade: a message comes in, is decided by a model or by its plain words, is done, and what was said stays. Lends
// the door `clade`. Knows no screen. Invariants: a message goes to Meta first, whatever is in view; a number answers the last question and nothing
// else, and only where that was asked; what a golem said is shown, and never stands in a later prompt.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { Ground } from '#core/agent/room.ts';
import type { AnswerLine, CladeDoor, CladeOutput, SeenGolem } from '#fleet/styx/clade.ts';
import type { Choice, Decision, MetaHermesAction, Question } from './actions.ts';
import { HANDLERS } from './handlers.ts';
import { meantBy } from './look.ts';
import type { MetaGround, OpenMeta } from './meta-ground.ts';
import { NO_MODEL, openMetaGround } from './meta-ground.ts';
import { draftSkill, offeredSkills } from './meta-skills.ts';
import { learnFromSteer, preferencesOf } from './owner-model.ts';
import type { Told } from './past.ts';
import { type DoingContext, perform } from './perform.ts';
import { askBack, decidePlainly, settled } from './plain-words.ts';
import { decideByModel, type RouteContext } from './route.ts';
import { steersOf } from './steers.ts';

/** Messages that may stand in a prompt. */
const TALK = 200;

type Said = Parameters<CladeDoor['say']>[1];
/** With whose question a number answers. */
type About = Said & { readonly talk: string };

export interface Conversation extends CladeDoor {
  readonly meta: MetaGround;
  /** An action that the owner chose himself, by a command: nothing is routed. */
  act(action: MetaHermesAction, line: string, about: Said): AsyncIterable<CladeOutput>;
  close(): Promise<void>;
}

/** `talk`: where its questions are shown; those who share it answer them. */
export function openConversation(ground: Ground, given: Partial<MetaGround> = {}, talk = randomHex(8)): Conversation {
  const meta: OpenMeta = openMetaGround(ground, given);
  return {
    meta,
    look: () => meta.look(),
    say: (text, about) => hear(meta, text, { ...about, talk }),
    act: (action, line, about) => chosen(meta, action, line, { ...about, talk }),
    messages: (limit) => Array.from(meta.rows().messages(limit), ({ from, text, at }) => ({ from, text, at })),
    steers: async () => steersOf(meta, await meta.look(), ground.clock.now()),
    owner: () => preferencesOf(meta.rows(), ground.clock.now()),
    library: () => meta.library.entries(),
    close: () => meta.close(),
  };
}

async function* hear(meta: MetaGround, text: string, about: About): AsyncGenerator<CladeOutput> {
  const line = text.trim();
  if (line === '') return;
  await meta.ground.writable();
  const clade = await meta.look();
  const rows = meta.rows();
  const pending = rows.pending(about.talk);
  const message = await rows.add('owner', line);
  // One that two have the name of is in nobody's view.
  const [viewed, ...others] = about.focus === undefined ? [] : meantBy(clade, about.focus);
  const focus = others.length === 0 ? viewed?.called : undefined;
  if (about.focus !== undefined && viewed === undefined)
    return yield { type: 'failed', reason: 'no-such-golem', text: `There is no golem ${about.focus} to have in view.` };
  const decision = /^\d{1,3}$/.test(line)
    ? answerOf(pending, line)
    : await decide(meta, { line, clade, focus }, about.signal);
  await rows.setPending(about.talk, undefined);
  yield* carryOut(meta, decision, { line, message, clade, about });
}

async function* chosen(
  meta: MetaGround,
  action: MetaHermesAction,
  line: string,
  about: About,
): AsyncGenerator<CladeOutput> {
  await meta.ground.writable();
  const clade = await meta.look();
  const message = await meta.rows().add('owner', line);
  await meta.rows().setPending(about.talk, undefined);
  yield* carryOut(meta, settled(action, { clade }, 'owner'), { line, message, clade, about });
}

/** Who was asked something elsewhere did not see these choices. */
function notAsked(line: string): Question {
  const action: MetaHermesAction = { type: 'DirectResponse', response: '', skills_used: [], rows: 'state' };
  const choices: readonly Choice[] = [{ text: 'Show how the golems are', action }, { text: 'Nothing' }];
  return { text: `Nothing was asked here that ${line} could answer. What shall I do?`, choices };
}

/** What a number means; one that is none of the choices asks again. */
function answerOf(question: Question | undefined, line: string): Decision {
  if (question === undefined) return { type: 'ask', question: notAsked(line) };
  const choice: Choice | undefined = question.choices[Number(line) - 1];
  const text = `${line} is not one of them. ${question.text.replace(/^\d+ is not one of them\. /, '')}`;
  if (choice === undefined) return { type: 'ask', question: { ...question, text } };
  if (choice.asks) return { type: 'ask', question: choice.asks };
  const { action, consent } = choice;
  if (action) return { type: 'act', action, why: 'owner', ...(consent ? { consent } : {}) };
  return { type: 'failed', reason: 'nothing', text: 'Nothing was done.' };
}

interface Heard {
  readonly line: string;
  readonly clade: readonly SeenGolem[];
  readonly focus: string | undefined;
}

async function decide(meta: MetaGround, heard: Heard, signal: AbortSignal): Promise<Decision> {
  const why = await meta.noModel();
  if (why === undefined) return decideByModel(meta, heard.line, await contextOf(meta, heard), signal);
  const decision = decidePlainly(heard.line, heard);
  if (decision.type !== 'ask' || why === NO_MODEL) return decision;
  return { type: 'ask', question: askBack(heard.line, heard, `${why} What shall I do with this?`) };
}

async function contextOf(meta: MetaGround, { clade, focus }: Heard): Promise<RouteContext> {
  const now = meta.ground.clock.now();
  const rows = meta.rows();
  // The last one is the message itself.
  const talk = rows.messages(TALK + 1).slice(0, -1);
  const skills = await offeredSkills(meta, HANDLERS);
  return {
    clade,
    focus,
    messages: talk.filter(({ said }) => said !== ''),
    skills,
    steers: await steersOf(meta, clade, now),
    preferences: preferencesOf(rows, now),
    strategy: strategyOf(meta, clade, focus),
  };
}

/** Of the golem in view, and of the clade: what stands there beside the first comment. */
function strategyOf({ ground }: MetaGround, clade: readonly SeenGolem[], focus: string | undefined): readonly string[] {
  const { home } = ground.places;
  const viewed = clade.find(({ called, where }) => called === focus && where === 'here');
  const folders = [join(home, 'meta'), ...(viewed ? [join(home, 'golems', viewed.name)] : [])];
  const paths = folders.map((folder) => join(folder, 'STRATEGY.md')).filter((path) => existsSync(path));
  const texts = paths.map((path) => readFileSync(path, 'utf8').replace(/<!--[\s\S]*?-->/g, ''));
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

async function* carryOut(
  meta: MetaGround,
  decision: Decision,
  { line, message, clade, about }: Omit<Heard, 'focus'> & { readonly message: number; readonly about: About },
): AsyncGenerator<CladeOutput> {
  const shown: string[] = [];
  const own: string[] = [];
  try {
    const context = { meta, clade, line, message, signal: about.signal, cwd: about.cwd };
    for await (const told of outcomes(meta, decision, context)) {
      const output = await outputOf(meta, told, about.talk);
      shown.push(shownText(output));
      // Why something failed may be in the words of a golem.
      if (told.type !== 'quote') own.push(told.type === 'failed' ? `not done: ${told.reason}` : toldText(told));
      yield output;
    }
  } finally {
    await meta.rows().add('meta', shown.join('\n'), own.join('\n'));
  }
}

async function* outcomes(meta: MetaGround, decision: Decision, context: DoingContext): AsyncGenerator<Told> {
  if (decision.type === 'failed')
    return yield decision.reason === 'nothing' ? { type: 'text', text: decision.text } : decision;
  if (decision.type === 'ask') return yield decision;
  const { action, why, consent } = decision;
  yield { type: 'action', action: action as unknown as JsonObject, why };
  const model = why === 'rule' || why === 'owner' ? undefined : why;
  let hasFailed = false;
  for await (const told of perform(action, { ...context, model, consent })) {
    hasFailed ||= told.type === 'failed';
    yield told;
  }
  if (!hasFailed) yield* learned(meta, action, context);
}

/** What is learned of the owner from a steer, and of managing from several skills in a row. */
async function* learned(
  meta: MetaGround,
  action: MetaHermesAction,
  { message, signal }: DoingContext,
): AsyncGenerator<Told> {
  if (action.type === 'ExecuteMetaSkill') {
    const name = await draftSkill(meta);
    if (name !== undefined)
      yield { type: 'text', text: `What you just did in several steps is kept as the meta-skill ${name}.` };
  }
  const isSteer = action.type === 'BroadcastSteer' || (action.type === 'RouteSteer' && action.kind === 'steer');
  if (!isSteer || (await meta.noModel()) !== undefined) return;
  const now = meta.ground.clock.now();
  const keys = await learnFromSteer(meta, { text: action.steer_content, message, now }, signal);
  if (keys.length > 0)
    yield { type: 'text', text: `Taken as what you want: ${keys.join(', ')} (talaria clade owner).` };
}

async function outputOf(meta: MetaGround, told: Told, talk: string): Promise<CladeOutput> {
  if (told.type === 'quote') return { type: 'text', text: quoteText(told.line) };
  if (told.type !== 'ask') return told;
  await meta.rows().setPending(talk, told.question);
  return { type: 'question', text: told.question.text, choices: told.question.choices.map(({ text }) => text) };
}

function shownText(output: CladeOutput): string {
  if (output.type === 'action') return actionText(output.action);
  const choices = output.type === 'question' ? output.choices : [];
  return [output.text, ...choices.map((choice, at) => `${at + 1}. ${choice}`)].join('\n');
}

/** What a screen shows of it. */
export function toldText(told: Told): string {
  if (told.type === 'quote') return quoteText(told.line);
  return told.type === 'action' ? actionText(told.action) : told.type === 'ask' ? told.question.text : told.text;
}

/** Words of a golem are marked as such, with their place. */
function quoteText({ text, place }: AnswerLine): string {
  return `  › ${text}${place === null ? '' : ` (${place})`}`;
}

export function actionText({ type, ...fields }: JsonObject): string {
  const { target_golem: golem, skill_name: skill, targets, filter } = fields;
  const names = Array.isArray(targets) ? targets.join(', ') || 'all' : undefined;
  const aim =
    golem ?? skill ?? names ?? (type === 'BroadcastSteer' ? (filter ? JSON.stringify(filter) : 'all') : undefined);
  return `→ ${String(type)}${aim === undefined ? '' : ` ${String(aim)}`}`;
}
