// Owns doing one of the six actions. Knows no prompt and no form. Invariants: whoever an action is for was found before, by name and once; nothing is
// told to the dead; what is quoted keeps its place.
import { plural } from '#base/text.ts';
import type { Question, SeenGolem } from '#fleet/styx/clade.ts';
import type { ActionOf, MetaHermesAction, View } from './actions.ts';
import { HANDLERS } from './handlers.ts';
import { isAlive, meantBy, plainLine } from './look.ts';
import { executeSkill, type HandlerContext } from './meta-skills.ts';
import { preferencesOf } from './owner-model.ts';
import {
  answered,
  costs,
  failed,
  grimoires,
  heldLine,
  inWords,
  quote,
  say,
  since,
  state,
  stateText,
  type Told,
} from './past.ts';
import { heardText, steersOf, tell } from './steers.ts';

export interface DoingContext extends HandlerContext {
  /** Of the model whose words an answer may hold; absent: none. */
  readonly model?: string | undefined;
}

/** Every target is a golem as it is called here. */
export function perform(action: MetaHermesAction, context: DoingContext): AsyncGenerator<Told> {
  switch (action.type) {
    case 'DirectResponse':
      return respond(action, context);
    case 'RouteSteer':
      return steer(action, context);
    case 'RouteFollowUp':
      return followUp(action, context);
    case 'BroadcastSteer':
      return broadcast(action, context);
    case 'ExecuteMetaSkill':
      return executeSkill(context, action, HANDLERS);
    case 'QueryGrimoires':
      return query(action, context);
  }
}

function one({ clade }: DoingContext, name: string): SeenGolem | undefined {
  const [found, ...others] = meantBy(clade, name);
  return others.length === 0 ? found : undefined;
}

function* nobody(name: string): Generator<Told> {
  yield failed('no-such-golem', `There is no golem ${JSON.stringify(name)}. See: talaria clade`);
}

const NIGHT_HOURS = 12;
const WEEK_HOURS = 168;

async function* respond(action: ActionOf<'DirectResponse'>, context: DoingContext): AsyncGenerator<Told> {
  yield* VIEWED[action.rows](context, action.hours);
  const words = plainLine(action.response, 4_000);
  if (words === '') return;
  // What a model says of itself rests on nothing that is shown.
  yield say(context.model === undefined ? words : `${context.model} says: ${words}`);
}

type Viewed = AsyncGenerator<Told> | Generator<Told>;

const VIEWED: Readonly<Record<View, (context: DoingContext, hours: number | undefined) => Viewed>> = {
  none: async function* () {
    // Talk rests on nothing.
  },
  state: ({ clade }) => state(clade),
  night: ({ meta, clade }, hours = NIGHT_HOURS) => since(meta, clade, { hours }),
  learned: ({ meta, clade }, hours = WEEK_HOURS) => since(meta, clade, { hours, learned: true }),
  costs: ({ meta, clade }) => costs(meta, clade),
  steers: steersView,
  owner: ownerView,
  library: libraryView,
};

async function* steersView({ meta, clade }: DoingContext): AsyncGenerator<Told> {
  const steers = (await steersOf(meta, clade, meta.ground.clock.now())).slice(0, 20);
  if (steers.length === 0) yield say('You told no golem anything yet.');
  for (const told of steers)
    yield say(`${told.called}: ${told.text} (${told.pinned ? 'pinned, ' : ''}${told.standing}; ${heardText(told)})`);
}

async function* ownerView({ meta }: DoingContext): AsyncGenerator<Told> {
  const preferences = preferencesOf(meta.rows(), meta.ground.clock.now());
  if (preferences.length === 0) yield say('Nothing is known of what you prefer: talaria clade owner set KEY VALUE');
  for (const { key, value, confidence, evidence } of preferences)
    yield say(`${key} = ${value} (${confidence.toFixed(2)}; ${evidence.join(', ')})`);
}

async function* libraryView({ meta }: DoingContext): AsyncGenerator<Told> {
  const entries = await meta.library.entries();
  yield say(`The library holds ${plural(entries.length, 'skill')}: talaria library list`);
  for (const { name, confidence, status } of entries.slice(0, 10))
    yield say(`${name}: ${confidence.toFixed(2)}, ${status}`);
}

const LATER: Readonly<Record<SeenGolem['status'], string>> = {
  ...{
    lives: 'it reads it at its next heartbeat',
    paused: 'it reads it when it goes on',
    rests: 'it reads it when it is run again',
  },
  ...{ killed: 'it reads it when it is run again', dead: 'it will never read it' },
};

/** When it reads what it is told. */
function later({ status, isGone, where }: SeenGolem, { meta }: DoingContext): string {
  const down = where === 'here' ? undefined : meta.linkError();
  if (down !== undefined) return `it gets it when the link is up (talaria styx serve), which is down: ${down}`;
  return isGone ? 'it was not heard of for three minutes, and reads it when it is there again' : LATER[status];
}

async function* steer(action: ActionOf<'RouteSteer'>, context: DoingContext): AsyncGenerator<Told> {
  const golem = one(context, action.target_golem);
  if (golem === undefined) return yield* nobody(action.target_golem);
  if (!isAlive(golem)) return yield failed('dead', `${golem.called} is dead (${golem.cause}); nothing is told to it.`);
  await tell(context.meta, golem, action);
  yield say(`${golem.called} is told; ${later(golem, context)}.`);
}

async function* followUp(action: ActionOf<'RouteFollowUp'>, context: DoingContext): AsyncGenerator<Told> {
  const { target_golem: name, question: asked, tick, skill } = action;
  const golem = one(context, name);
  if (golem === undefined) return yield* nobody(name);
  if (asked === 'state' && tick === undefined) return yield say(stateText(golem));
  const grimoire: Question = { what: 'grimoire', query: asked, limit: 10 };
  const bySkill: Question = skill === undefined ? grimoire : { what: 'skill', name: skill };
  const question: Question = tick === undefined ? bySkill : { what: 'tick', tick };
  if (question.what !== 'grimoire') return yield* answered(context.meta, { golem, question, asked }, context.signal);
  yield say(stateText(golem));
  yield* held(context, { golems: [golem], query: asked, tier: 'T1' });
}

/** Those that are alive and fit; a filter that nobody fits reaches nobody. */
function meantByFilter(clade: readonly SeenGolem[], { filter }: ActionOf<'BroadcastSteer'>): readonly SeenGolem[] {
  const named = filter?.names?.flatMap((name) => meantBy(clade, name));
  return (named ?? clade).filter(
    (golem) =>
      isAlive(golem) &&
      (filter?.domain === undefined || golem.domain === filter.domain) &&
      (filter?.archetype === undefined || golem.archetype === filter.archetype),
  );
}

async function* broadcast(action: ActionOf<'BroadcastSteer'>, context: DoingContext): AsyncGenerator<Told> {
  const golems = meantByFilter(context.clade, action);
  if (golems.length === 0) return yield failed('no-such-golem', 'No living golem fits; nobody was told.');
  for (const golem of golems) await tell(context.meta, golem, { ...action, kind: 'steer' });
  for (const [when, told] of Map.groupBy(golems, (golem) => later(golem, context).replace(/^it/, 'each')))
    yield say(`${plural(told.length, 'golem')} told: ${told.map(({ called }) => called).join(', ')}; ${when}.`);
}

async function* query(
  { targets, query: text }: ActionOf<'QueryGrimoires'>,
  context: DoingContext,
): AsyncGenerator<Told> {
  const golems = targets.length === 0 ? context.clade : targets.flatMap((name) => one(context, name) ?? []);
  yield* held(context, { golems, query: text, tier: golems.length > 1 ? 'T2' : 'T1' });
}

/** What they hold to be so, the best first, and a model's words on it. */
async function* held(
  { meta, line, signal }: DoingContext,
  asked: { readonly golems: readonly SeenGolem[]; readonly query: string; readonly tier: 'T1' | 'T2' },
): AsyncGenerator<Told> {
  const { held: rows, unanswered } = await grimoires(meta, asked.golems, { query: asked.query });
  if (rows.length === 0)
    yield say(`Nothing is known${asked.query === '' ? '' : ` on ${plainLine(asked.query, 120)}`}.`);
  const lines = rows.map(heldLine);
  yield* lines.map(quote);
  yield* unanswered;
  yield* inWords(meta, { question: line, lines, tier: asked.tier }, signal);
}
