// Owns the commands of `talaria clade …`: each is one of the things that can be typed to Meta, in plain words.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import * as command from '#core/agent/command-spec.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, line } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { type CladeOutput, DOMAINS, PRESETS } from '#fleet/styx/clade.ts';
import type { LinkState } from '#fleet/styx/link-state.ts';
import { startLink } from '#fleet/styx/linking.ts';
import type { MetaHermesAction } from './actions.ts';
import { actionText, type Conversation, openConversation, toldText } from './conversation.ts';
import { meantBy } from './look.ts';
import { prefer } from './owner-model.ts';
import { since as happened, STATE_COLUMNS, stateCells } from './past.ts';
import { heardText } from './steers.ts';

type Spec<Input> = Omit<command.CommandSpec<Input>, 'name' | 'surfaces' | 'examples'>;

function cladeCommand<Input>(word: string, example: string, spec: Spec<Input>): AnyCommand {
  const examples = [`talaria clade ${example}`.trimEnd()];
  return command.defineCommand({ name: `clade ${word}`.trimEnd(), surfaces: ['cli'], examples, ...spec });
}

const count = z.coerce.number().int().min(1);
const hours = z.coerce.number().positive().max(8_760);
const words = z.array(z.string()).default([]);
const said = z.array(z.string()).min(1).describe('Your words');
const named = z.object({ name: z.string().describe('Name of the golem') });
const focus = z.string().optional().describe('The golem in view: what is meant when none is named');
const how = {
  now: z.boolean().default(false).describe('It is to act on it at once'),
  about: z.string().optional().describe('A short key: the next steer about the same takes the place of this one'),
};

export function cladeCommands(ground: Ground): readonly AnyCommand[] {
  return [
    ...talking(ground),
    ...telling(ground),
    actionCommand(ground, 'why', 'why ledger 847', {
      summary: 'Why a golem did what it did at a tick, or where a skill of it comes from',
      input: named.extend({ what: z.string().describe('Number of a tick, or name of a skill'), more: words }),
      positional: ['name', 'what', 'more...'],
      plain: ({ name, what, more }) => (more.length > 0 ? ['why', name, what, ...more].join(' ') : undefined),
      action: ({ name, what }) => ({
        ...{ type: 'RouteFollowUp', target_golem: name, question: `why ${what}` },
        ...(/^\d{1,15}$/.test(what) ? { tick: Number(what) } : { skill: what }),
      }),
    }),
    actionCommand(ground, 'compare', 'compare ledger disk', {
      summary: 'Compare golems over the last week; without names all',
      input: z.object({ names: words }),
      positional: ['names...'],
      action: ({ names }) => ({
        ...{ type: 'ExecuteMetaSkill', skill_name: 'compare-golems' },
        params: { golems: names.filter((name) => !/^(?:and|with|to)$/.test(name)) },
      }),
    }),
    actionCommand(ground, 'learned', 'learned --hours 24', {
      summary: 'Which skills came or changed in the last week',
      input: z.object({ hours: hours.default(168) }),
      action: (asked) => ({ ...direct('learned'), hours: asked.hours }),
    }),
    actionCommand(ground, 'costs', 'costs', {
      summary: 'What each golem and Meta cost, and how often each was right',
      input: z.object({}),
      action: () => direct('costs'),
    }),
    ownerCommand(ground),
    steersCommand(ground),
  ];
}

function direct(rows: 'learned' | 'costs'): MetaHermesAction {
  return { type: 'DirectResponse', response: '', skills_used: [], rows };
}

type Work = (conversation: Conversation) => AsyncIterable<CommandOutput>;
type Given = Parameters<typeof openConversation>[1];

async function* withConversation(ground: Ground, work: Work, given: Given = {}): AsyncGenerator<CommandOutput> {
  // What one command asks the next one answers.
  const conversation = openConversation(ground, given, 'commands');
  try {
    yield* work(conversation);
  } finally {
    await conversation.close();
  }
}

/** The home is linked meanwhile, where it is to be: golems elsewhere can be asked, and what is told goes out before it ends. */
async function* withClade(ground: Ground, work: Work): AsyncGenerator<CommandOutput> {
  let state: LinkState | undefined;
  const link = await startLink(ground, (told) => {
    state = told;
  });
  const now = () => (link ? link.state() : state);
  const mayCome = () => !now()?.isCurrent && now()?.state !== 'waits';
  const linked: Work = async function* (conversation) {
    const until = ground.clock.monotonic() + ARRIVAL_MS;
    // What is said elsewhere is here before golems are looked for.
    while (link && mayCome() && ground.clock.monotonic() < until) await ground.clock.sleep(20);
    yield* work(conversation);
  };
  try {
    yield* withConversation(ground, linked, {
      linkError: () => now()?.error ?? (now()?.state === 'connecting' ? 'no answer yet' : undefined),
    });
  } finally {
    await link?.stop();
  }
}

/** How long a command waits for what the server holds, ms. */
const ARRIVAL_MS = 2_000;

function talking(ground: Ground): readonly AnyCommand[] {
  const input = z.object({ text: words, focus });
  return [
    cladeCommand('', '', {
      summary: 'All golems, here and elsewhere, in one table; with words: say them to Meta',
      input,
      positional: ['text...'],
      readOnly: ({ text = [] }) => text.length === 0,
      run: ({ text, focus: viewed }, context) =>
        text.length === 0
          ? withClade(ground, table)
          : withClade(ground, (conversation) => talk(conversation, text.join(' '), { context, focus: viewed })),
    }),
    cladeCommand('say', 'say how are my golems', {
      summary: 'Say something to Meta: it answers, asks, or sees that it is done',
      input: input.extend({ text: said }),
      positional: ['text...'],
      run: ({ text, focus: viewed }, context) =>
        withClade(ground, (conversation) => talk(conversation, text.join(' '), { context, focus: viewed })),
    }),
  ];
}

async function* table({ meta }: Conversation): AsyncGenerator<CommandOutput> {
  const torn: string[] = [];
  const clade = await meta.look((name, why) => torn.push(`${name}: ${why}`));
  const down = meta.linkError();
  for (const text of [...torn, ...(down ? [`The link is down: ${down}`] : [])]) yield line(text);
  if (clade.length === 0) yield line('There is no golem yet: talaria golem create NAME');
  else yield { type: 'table', columns: STATE_COLUMNS, rows: clade.map(stateCells) };
  yield { type: 'data', value: clade as unknown as JsonValue };
}

interface Talking {
  readonly context: CommandContext;
  readonly focus?: string | undefined;
}

function aboutOf({ context: { cwd, signal }, focus: viewed }: Talking) {
  return { cwd, signal, ...(viewed === undefined ? {} : { focus: viewed }) };
}

/** Until nothing is asked any more, or nobody answers. */
async function* talk(conversation: Conversation, text: string, place: Talking): AsyncGenerator<CommandOutput> {
  if (text.trim() === '')
    return yield command.wrongUse('no-words', 'Nothing was said.', 'talaria clade how are my golems');
  yield* told(conversation, conversation.say(text, aboutOf(place)), place);
}

async function* told(
  conversation: Conversation,
  outputs: AsyncIterable<CladeOutput>,
  place: Talking,
): AsyncGenerator<CommandOutput> {
  const all: CladeOutput[] = [];
  let next: AsyncIterable<CladeOutput> | undefined = outputs;
  while (next !== undefined) {
    yield* shown(next, all);
    const answer = all.at(-1)?.type === 'question' ? await answerOf(place.context) : '';
    next = answer === '' ? undefined : conversation.say(answer, aboutOf(place));
  }
  const last = all.at(-1);
  // What is but a failure is said by it.
  if (last?.type !== 'failed' || all.length > 1) yield { type: 'data', value: all as unknown as JsonValue };
  if (last?.type === 'failed') yield failureOf(last);
  if (last?.type !== 'question') return;
  const kind = conversation.meta.rows().pending('commands')?.isWrong ? command.wrongUse : command.refused;
  yield kind('not-answered', 'Nothing was done yet.', 'Answer with a number: talaria clade 1');
}

/** `all` gets each of them. */
async function* shown(outputs: AsyncIterable<CladeOutput>, all: CladeOutput[]): AsyncGenerator<CommandOutput> {
  for await (const output of outputs) {
    all.push(output);
    yield* linesOf(output).map(line);
  }
}

/** Empty: nobody answers. */
async function answerOf({ ask }: CommandContext): Promise<string> {
  return (await ask?.('Number: '))?.trim() ?? '';
}

/** What failed is told at the end. */
function linesOf(output: CladeOutput): readonly string[] {
  if (output.type === 'failed') return [];
  if (output.type === 'action') return [`${actionText(output.action)} (${output.why})`];
  if (output.type === 'text') return [output.text];
  return [output.text, ...output.choices.map((choice, at) => `${at + 1}. ${choice}`)];
}

const WRONG: ReadonlySet<string> = new Set(['no-such-golem', 'no-such-tick', 'no-such-skill', 'params']);
const BROKEN: ReadonlySet<string> = new Set(['model-failed', 'no-answer', 'not-its-answer', 'too-large', 'golem-torn']);

function failureOf({ reason, text }: Extract<CladeOutput, { type: 'failed' }>): command.Failure {
  const kind = WRONG.has(reason) ? command.wrongUse : BROKEN.has(reason) ? command.failed : command.refused;
  return kind(reason, text);
}

interface Acting<Input> extends Omit<Spec<Input>, 'run'> {
  readonly action: (input: Input) => MetaHermesAction;
  /** What is no such command but a sentence for Meta. */
  readonly plain?: (input: Input) => string | undefined;
}

/** The owner chose the action himself: nothing is routed. */
function actionCommand<Input>(
  ground: Ground,
  word: string,
  example: string,
  { action, plain, ...spec }: Acting<Input>,
): AnyCommand {
  return cladeCommand(word, example, {
    ...spec,
    run: (input, context) =>
      withClade(ground, (conversation) => {
        const sentence = plain?.(input);
        if (sentence !== undefined) return talk(conversation, sentence, { context });
        const typed = `clade ${word} ${JSON.stringify(input)}`;
        return told(conversation, conversation.act(action(input), typed, aboutOf({ context })), { context });
      }),
  });
}

interface OneMeant {
  readonly word: 'ask' | 'tell';
  readonly asked: { readonly name: string; readonly text: readonly string[] };
  readonly action: (text: string) => MetaHermesAction;
}

/** To one golem that is there; any other first word is for Meta, who is told all of it. */
function toOne(
  ground: Ground,
  { word, asked, action }: OneMeant,
  context: CommandContext,
): AsyncIterable<CommandOutput> {
  return withClade(ground, async function* (conversation) {
    const { name, text } = asked;
    const isThere = meantBy(await conversation.look(), name).length > 0;
    const all = [word, name, ...text].join(' ');
    const chosen = action(text.join(' ').replace(/^to /, ''));
    if (isThere) yield* told(conversation, conversation.act(chosen, all, aboutOf({ context })), { context });
    else yield* talk(conversation, all, { context });
  });
}

function telling(ground: Ground): readonly AnyCommand[] {
  return [askCommand(ground), tellCommand(ground), allCommand(ground)];
}

function askCommand(ground: Ground): AnyCommand {
  return cladeCommand('ask', 'ask ledger what do you know of the flaky suite', {
    summary: 'Ask a golem; it answers from what it keeps, also when it rests, is dead or is elsewhere',
    input: named.extend({
      text: words,
      tick: count.optional(),
      since: hours.optional().describe('What happened in so many hours'),
    }),
    positional: ['name', 'text...'],
    run: (asked, context) => {
      const { name, tick, since } = asked;
      if (since !== undefined) return withClade(ground, (conversation) => night(conversation, name, since));
      const about = tick === undefined ? {} : { tick };
      const action: OneMeant['action'] = (text) => ({
        type: 'RouteFollowUp',
        target_golem: name,
        question: text || 'state',
        ...about,
      });
      return toOne(ground, { word: 'ask', asked, action }, context);
    },
  });
}

function tellCommand(ground: Ground): AnyCommand {
  return cladeCommand('tell', 'tell ledger leave the flaky suite alone', {
    summary: 'Tell a golem something; it reads it at its next heartbeat',
    input: named.extend({ text: said, ...how }),
    positional: ['name', 'text...'],
    run: (asked, context) => {
      const action: OneMeant['action'] = (text) => {
        const meant = { target_golem: asked.name, steer_content: text, kind: 'steer' } as const;
        return { type: 'RouteSteer', ...meant, ...manner(asked.now, asked.about) };
      };
      return toOne(ground, { word: 'tell', asked, action }, context);
    },
  });
}

function allCommand(ground: Ground): AnyCommand {
  return actionCommand(ground, 'all', 'all --archetype coder prefer small commits', {
    summary: 'Tell all golems something, or those of a domain or an archetype',
    input: z.object({
      ...{ text: said, ...how },
      ...{ domain: z.string().optional(), archetype: z.string().optional(), names: z.array(z.string()).optional() },
    }),
    positional: ['text...'],
    action: ({ text, now, about, ...filter }) => {
      const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
      const whom = Object.keys(given).length > 0 ? { filter: given } : {};
      return { type: 'BroadcastSteer', steer_content: text.join(' '), ...manner(now, about), ...whom };
    },
  });
}

function manner(now: boolean, about: string | undefined) {
  return { urgency: now ? ('now' as const) : ('normal' as const), ...(about === undefined ? {} : { about }) };
}

async function* night({ meta }: Conversation, name: string, since: number): AsyncGenerator<CommandOutput> {
  const golems = meantBy(await meta.look(), name);
  if (golems.length === 0)
    return yield command.wrongUse('no-such-golem', `There is no golem ${name}.`, 'See: talaria clade');
  const texts: string[] = [];
  for await (const output of happened(meta, golems, { hours: since })) texts.push(toldText(output));
  for (const text of texts) yield line(text);
  yield { type: 'data', value: texts };
}

function ownerCommand(ground: Ground): AnyCommand {
  return cladeCommand('owner', 'owner set new.preset cautious', {
    summary: 'What you seem to prefer and what that rests on; set or forget one',
    input: z.object({
      word: z.enum(['set', 'forget']).optional(),
      key: z
        .string()
        .regex(/^[a-z0-9][a-z0-9.:-]{0,59}$/)
        .optional(),
      value: words,
    }),
    positional: ['word', 'key', 'value...'],
    readOnly: ({ word }) => word === undefined,
    run: ({ word, key = '', value }) =>
      withConversation(ground, async function* (conversation) {
        const failure = word && (await changeOwner(conversation, word, key, value.join(' ')));
        if (failure) return yield failure;
        const all = conversation.owner();
        const rows = all.map((one) => [one.key, one.value, one.confidence.toFixed(2), one.evidence.join(', ')]);
        if (rows.length === 0) yield line('Nothing is known of what you prefer: talaria clade owner set KEY VALUE');
        else yield { type: 'table', columns: ['key', 'value', 'sure', 'rests on'], rows };
        yield { type: 'data', value: all as unknown as JsonValue };
      }),
  });
}

/** What a golem is made with is checked before it is wanted. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  ...{ 'new.preset': PRESETS, 'new.domain': DOMAINS },
};

async function changeOwner(
  { meta }: Conversation,
  word: 'set' | 'forget',
  key: string,
  value: string,
): Promise<command.Failure | undefined> {
  const example = 'talaria clade owner set KEY VALUE';
  if (key === '' || (word === 'set' && value === ''))
    return command.wrongUse('no-value', `There is no key, or no value, to ${word}.`, example);
  const known = KNOWN[key] ?? [value];
  if (word === 'set' && !known.includes(value))
    return command.wrongUse('no-such-value', `${key} is one of ${known.join(', ')}.`, example);
  await meta.ground.writable();
  if (word === 'set') await prefer(meta.rows(), { key, value, source: 'set', evidence: [] }, meta.ground.clock.now());
  else if (!(await meta.rows().forgetPreference(key)))
    return command.wrongUse('no-such-preference', `Nothing is known under ${key}.`, 'See: talaria clade owner');
  return undefined;
}

/** Of the id of a word, what tells it from others. */
function shortId(id: string): string {
  return id.replace(/^word_/, '').slice(0, 8);
}

function steersCommand(ground: Ground): AnyCommand {
  return cladeCommand('steers', 'steers', {
    summary: 'What you told golems, what of it holds, and the tick that took it',
    input: z.object({
      pin: z.string().min(1).optional().describe('Id of one that Meta always has before its eyes'),
      unpin: z.string().min(1).optional(),
      about: z.string().optional().describe('With --pin: what it is about, as one key'),
    }),
    readOnly: ({ pin, unpin }) => pin === undefined && unpin === undefined,
    run: (asked) =>
      withConversation(ground, async function* (conversation) {
        const failure = await pinSteer(conversation, asked);
        if (failure) return yield failure;
        const steers = await conversation.steers();
        const rows = steers.slice(0, 50).map((steer) => {
          const standing = steer.pinned ? `pinned, ${steer.standing}` : steer.standing;
          return [shortId(steer.id), steer.called, standing, steer.about ?? '', heardText(steer), steer.text ?? ''];
        });
        if (rows.length === 0) yield line('You told no golem anything yet: talaria clade tell NAME …');
        else yield { type: 'table', columns: ['id', 'golem', 'standing', 'about', 'heard', 'text'], rows };
        yield { type: 'data', value: steers as unknown as JsonValue };
      }),
  });
}

async function pinSteer(
  { meta, steers }: Conversation,
  { pin, unpin, about }: Partial<Record<'pin' | 'unpin' | 'about', string | undefined>>,
): Promise<command.Failure | undefined> {
  const id = pin ?? unpin;
  if (id === undefined) return undefined;
  await meta.ground.writable();
  const [found, ...others] = (await steers()).filter((steer) => steer.id === id || shortId(steer.id).startsWith(id));
  if (found === undefined || others.length > 0)
    return command.wrongUse('no-such-steer', `No one steer is ${id}.`, 'See: talaria clade steers');
  await meta.rows().note(found.id, { pinned: pin !== undefined, ...(about === undefined ? {} : { about }) });
  return undefined;
}
