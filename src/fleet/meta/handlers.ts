// Owns what carries Meta's skills out, one for each: golems made, cloned, ended, given skills and compared; skills curated; what the owner said put
// together. Knows no prompt. Invariants: a golem is ended, and given skills, only by a choice of the owner's; what needs a provider that is not there
// says so and what to do.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { plural } from '#base/text.ts';
import { type CreateGolem, DOMAINS, type Preference, type SeenGolem } from '#fleet/styx/clade.ts';
import type { Choice, MetaHermesAction, Question } from './actions.ts';
import { isAlive, meantBy } from './look.ts';
import { defineHandler, type Handler, type HandlerContext, lines, notConfigured } from './meta-skills.ts';
import { countDecision, preferencesOf, wanted } from './owner-model.ts';
import { ask, failed, grimoires, heldLine, inWords, percent, quote, say, since, stateText, type Told } from './past.ts';
import { heardText, steersOf } from './steers.ts';

const name = z.string().trim().min(1).max(80);
const WEEK = 168;

function again(skill_name: string, params: Readonly<Record<string, unknown>>): MetaHermesAction {
  return { type: 'ExecuteMetaSkill', skill_name, params: { ...params } };
}

/** One golem, or the question which; no handler goes on with a name that could be two. */
function* which(
  { clade }: HandlerContext,
  typed: string,
  skill: readonly [name: string, params: Readonly<Record<string, unknown>>],
): Generator<Told, SeenGolem | undefined> {
  const found = meantBy(clade, typed);
  if (found.length === 1) return found[0];
  const text =
    found.length === 0
      ? `There is no golem ${JSON.stringify(typed)}. Which one?`
      : `There is more than one ${typed}. Which one?`;
  const offered = found.length > 0 ? found : clade.filter(isAlive);
  const choices = offered
    .slice(0, 20)
    .map(({ called }): Choice => ({ text: called, action: again(skill[0], { ...skill[1], golem: called }) }));
  yield ask({ text, choices: [...choices, NOTHING], isWrong: found.length === 0 });
  return undefined;
}

const NOTHING: Choice = { text: 'Nothing' };
const HERE = /^(?:here|local|this machine)$/i;

const created = z.object({
  name: name.optional(),
  archetype: name.optional(),
  domain: z.enum(DOMAINS).optional(),
  dir: z.string().optional(),
  preset: z.string().optional(),
  provider: z.string().optional(),
});

async function* create(context: HandlerContext, asked: z.output<typeof created>): AsyncGenerator<Told> {
  const { meta, clade, cwd } = context;
  const { provider = 'here' } = asked;
  const elsewhere =
    'A golem lives where Talaria runs: install it on that machine, join it with talaria styx link, and make the golem there with talaria golem create.';
  if (!HERE.test(provider)) return yield* notConfigured(`The provider ${provider}`, elsewhere);
  const golems = await meta.golems();
  if (golems === undefined) return yield* notConfigured('The golems’ room', 'This build of Talaria has none.');
  const preferences = preferencesOf(meta.rows(), meta.ground.clock.now());
  const wish = wishOf(clade, asked, preferences);
  if (wish === undefined) {
    const choices = DOMAINS.map((domain) => ({ text: domain, action: again('create-golem', { ...asked, domain }) }));
    const text = 'What shall it look at: checks, a repository, or a simulated world?';
    return yield ask({ text, choices: [...choices, NOTHING] });
  }
  const born = await golems.create(wish, cwd);
  if (!born.ok) return yield failed(born.reason, born.detail);
  const { name: called, root } = born.value;
  yield say(`${called} is born: ${root}. It lives with talaria golem run ${called}`);
  const isUsed = ({ key, value }: Preference) =>
    Object.entries(wish).some(([name, given]) => key === `new.${name}` && value === given);
  for (const { key, value, confidence } of preferences.filter(isUsed))
    yield say(`${key.slice(4)} is ${value} because you seem to want it so (${confidence.toFixed(2)}).`);
  const seen = (await meta.look()).find((golem) => golem.where === 'here' && golem.name === called);
  if (seen) yield* proposeKit({ ...context, clade: [seen] }, { golem: seen.called });
}

/** What was not said is as the owner seems to want it; undefined: nobody knows what it is to look at. */
function wishOf(
  clade: readonly SeenGolem[],
  asked: z.output<typeof created>,
  preferences: readonly Preference[],
): CreateGolem | undefined {
  const likely = clade.find(({ archetype }) => archetype === asked.archetype)?.domain;
  const known = asked.domain ?? likely ?? wanted(preferences, 'new.domain');
  const domain = DOMAINS.find((one) => one === known);
  if (domain === undefined) return undefined;
  const given = Object.fromEntries(
    (['archetype', 'preset', 'dir'] as const).flatMap((key) => {
      const value = asked[key] ?? wanted(preferences, `new.${key}`);
      return value === undefined || (key === 'dir' && domain === 'sim') ? [] : [[key, value]];
    }),
  );
  return { ...given, name: asked.name ?? freeName(clade, given.archetype ?? domain), domain };
}

function freeName(clade: readonly SeenGolem[], stem: string): string {
  const taken = new Set(clade.map(({ name }) => name));
  let at = 1;
  while (taken.has(at === 1 ? stem : `${stem}-${at}`)) at += 1;
  return at === 1 ? stem : `${stem}-${at}`;
}

const cloned = z.object({ golem: name, name });

async function* clone(context: HandlerContext, asked: z.output<typeof cloned>): AsyncGenerator<Told> {
  const { meta, cwd } = context;
  const golem = yield* which(context, asked.golem, ['clone-strategy', asked]);
  if (golem === undefined) return;
  if (golem.where !== 'here')
    return yield failed('not-here', `${golem.called} lives at ${golem.where}: clone it on its machine.`);
  const wish = { name: asked.name, domain: golem.domain as CreateGolem['domain'], archetype: golem.archetype };
  const golems = await meta.golems();
  const whole = await golems?.create({ ...wish, from: golem.name }, cwd);
  const born = whole?.ok === false && whole.reason === 'no-testament' ? await golems?.create(wish, cwd) : whole;
  if (!born?.ok) return yield failed(born?.reason ?? 'not-configured', born?.detail ?? 'There is no golems’ room.');
  const strategy = join(meta.ground.places.home, 'golems', golem.name, 'STRATEGY.md');
  if (existsSync(strategy)) atomicWrite(join(born.value.root, 'STRATEGY.md'), readFileSync(strategy, 'utf8'));
  yield say(
    `${asked.name} is born with the strategy of ${golem.called}${whole?.ok ? ' and its skills' : '; it has packed no skills yet'}: ${born.value.root}`,
  );
}

const retired = z.object({ golem: name });

async function* retire(context: HandlerContext, asked: z.output<typeof retired>): AsyncGenerator<Told> {
  const { meta, signal, consent } = context;
  const golem = yield* which(context, asked.golem, ['retire-golem', asked]);
  if (golem === undefined) return;
  const { called, where, name: own, status } = golem;
  if (!isAlive(golem)) return yield failed('dead', `${called} is dead (${golem.cause}) since tick ${golem.tick}.`);
  if (consent !== 'yes') {
    const action = again('retire-golem', { golem: called });
    const choices: readonly Choice[] = [{ text: `End ${called} for good`, action, consent: 'yes' }, NOTHING];
    return yield ask({ text: `End ${called} for good? It leaves its skills and cannot be woken again.`, choices });
  }
  const golems = await meta.golems();
  if (where === 'here' && status !== 'lives' && status !== 'paused' && golems !== undefined) {
    const done = await golems.retire(own, signal);
    if (!done.ok) return yield failed(done.reason, done.detail);
    return yield say(`${called} ended. Testament: ${done.value.testament}`);
  }
  await meta.send({ golem: golem.golem, signer: golem.signer, kind: 'retire' });
  yield say(`${called} is told to end; it does at its next heartbeat, and its testament comes to the library.`);
}

const compared = z.object({ golems: z.array(name).max(20).default([]) });

async function* compare(context: HandlerContext, asked: z.output<typeof compared>): AsyncGenerator<Told> {
  const { meta, clade, signal, line } = context;
  const chosen: SeenGolem[] = [];
  for (const [at, typed] of asked.golems.entries()) {
    const found = meantBy(clade, typed);
    if (found.length !== 1) {
      const choices = clade.map(({ called }) => ({
        text: called,
        action: again('compare-golems', { golems: asked.golems.with(at, called) }),
      }));
      const text = `Which one is ${JSON.stringify(typed)}?`;
      return yield ask({ text, choices: [...choices, NOTHING], isWrong: found.length === 0 });
    }
    chosen.push(...found);
  }
  const golems = chosen.length > 0 ? chosen : clade;
  const best = golems.toSorted((one, other) => (other.accuracy ?? -1) - (one.accuracy ?? -1));
  yield* lines(best.map(stateText));
  const quoted: Told[] = [];
  for await (const told of since(meta, best, { hours: WEEK })) {
    quoted.push(told);
    yield told;
  }
  const rows = [
    ...best.map((golem) => ({ text: stateText(golem), place: golem.called })),
    ...quoted.flatMap((told) =>
      told.type === 'quote' ? [told.line] : told.type === 'text' ? [{ text: told.text, place: null }] : [],
    ),
  ];
  yield* inWords(meta, { question: line, lines: rows, tier: 'T2' }, signal);
}

const transferable = z.object({ golem: name.optional() });

async function* transfer(context: HandlerContext, asked: z.output<typeof transferable>): AsyncGenerator<Told> {
  const { meta, clade, line, signal } = context;
  const one = asked.golem === undefined ? undefined : yield* which(context, asked.golem, ['find-transferable', asked]);
  if (asked.golem !== undefined && one === undefined) return;
  const { held, unanswered } = await grimoires(meta, clade, { query: '', limit: 200 });
  const holders = (text: string) =>
    new Set(held.filter((row) => row.text === text).map(({ golem }) => golem.called)).size;
  const kinds = (domain: string) => clade.filter((golem) => golem.domain === domain && isAlive(golem)).length;
  const mine = held.filter((row) => one === undefined || row.golem.signer === one.signer);
  const best = mine.toSorted((a, b) => b.worth * kinds(b.golem.domain) - a.worth * kinds(a.golem.domain)).slice(0, 5);
  if (best.length === 0) yield say('No golem holds anything yet that could be handed on.');
  for (const row of best) {
    const { text, place } = heldLine(row);
    yield {
      type: 'quote',
      line: {
        place,
        text: `${text}; ${plural(kinds(row.golem.domain), 'golem')} of its domain, held by ${holders(row.text)}`,
      },
    };
  }
  yield* unanswered;
  yield* inWords(meta, { question: line, lines: best.map(heldLine), tier: 'T2' }, signal);
}

const promoted = z.object({ golem: name, skill: name });

async function* promote(context: HandlerContext, asked: z.output<typeof promoted>): AsyncGenerator<Told> {
  const golem = yield* which(context, asked.golem, ['promote-skill', asked]);
  if (golem === undefined) return;
  const told = await context.meta.ask(golem, { what: 'skills' });
  if (!told.ok) return yield failed(told.reason, told.detail);
  if (typeof told.value.value !== 'string')
    return yield failed('no-such-skill', `${golem.called} has no skill to promote.`);
  const done = await context.meta.library.promote(told.value.value, asked.skill);
  yield done.ok ? say(done.value) : failed(done.reason, done.detail);
}

const merged = z.object({ one: name, other: name });

async function* merge({ meta }: HandlerContext, { one, other }: z.output<typeof merged>): AsyncGenerator<Told> {
  const done = await meta.library.merge(one, other);
  yield done.ok ? say(done.value) : failed(done.reason, done.detail);
}

const summarised = z.object({ about: z.string().optional() });

async function* summarise(
  { meta, clade, line, signal }: HandlerContext,
  { about = '' }: z.output<typeof summarised>,
): AsyncGenerator<Told> {
  const words = about.toLowerCase().split(/\s+/).filter(Boolean);
  const all = await steersOf(meta, clade, meta.ground.clock.now());
  const meant = all.filter(
    (steer) => words.length === 0 || words.some((word) => `${steer.about} ${steer.text}`.toLowerCase().includes(word)),
  );
  if (meant.length === 0)
    return yield say(about === '' ? 'You told no golem anything yet.' : `No steer speaks of ${about}.`);
  const texts = meant.slice(0, 30).map((steer) => ({
    text: `${steer.called}: ${steer.text} (${steer.standing}; ${heardText(steer)})`,
    place: `steer ${steer.id.slice(0, 8)}`,
  }));
  yield say(
    `${plural(meant.length, 'steer')}, ${meant.filter(({ standing }) => standing === 'directive').length} in force.`,
  );
  yield* texts.map(quote);
  yield* inWords(meta, { question: line, lines: texts, tier: 'T2' }, signal);
}

async function* brief({ meta, clade, line, signal }: HandlerContext): AsyncGenerator<Told> {
  const now = meta.ground.clock.now();
  const preferences = preferencesOf(meta.rows(), now).toSorted((one, other) => other.confidence - one.confidence);
  const steers = (await steersOf(meta, clade, now))
    .filter(({ standing, pinned }) => pinned || standing === 'directive')
    .slice(0, 20);
  const texts = [
    ...preferences.map(({ key, value, confidence, evidence }) => ({
      text: `you want ${key} = ${value} (${confidence.toFixed(2)})`,
      place: evidence.join(', '),
    })),
    ...steers.map(({ called, text = '', id }) => ({ text: `${called}: ${text}`, place: `steer ${id.slice(0, 8)}` })),
  ];
  if (texts.length === 0)
    return yield say(
      'There is nothing to brief from: no steer, and no preference (talaria clade owner set KEY VALUE).',
    );
  yield* texts.map(quote);
  yield* inWords(meta, { question: line, lines: texts, tier: 'T2' }, signal);
}

const sold = z.object({ query: z.string().default('') });

async function* listForSale({ meta }: HandlerContext, { query }: z.output<typeof sold>): AsyncGenerator<Told> {
  const all = query === '' ? await meta.library.entries() : await meta.library.search(query);
  const worth = all.filter(({ status, raw }) => status !== 'held' && raw >= 0.6).slice(0, 5);
  yield* lines(worth.map(({ name: skill, raw }) => `could be listed: ${skill}, confidence ${raw.toFixed(2)}`));
  yield* notConfigured(
    'The market',
    'Nothing is listed before it is there; what could be is shown by talaria library list.',
  );
}

const kit = z.object({
  golem: name,
  query: z.string().optional(),
  without: z.array(name).max(50).default([]),
  /** What was proposed, where that was accepted. */
  names: z.array(name).max(200).default([]),
});

/** Meta proposes, the owner accepts, takes something out, or refuses; each is counted. */
async function* proposeKit(context: HandlerContext, asked: z.input<typeof kit>): AsyncGenerator<Told> {
  const { meta, message, consent } = context;
  const golem = yield* which(context, asked.golem, ['equip-golem', asked]);
  if (golem === undefined) return;
  const now = meta.ground.clock.now();
  if (consent === 'no') {
    const decided = { kind: `kit:${golem.archetype}`, accepted: false, evidence: `message:${message}` };
    await countDecision(meta.rows(), decided, now);
    await meta.library.equip({ golem, without: [], names: [], query: asked.query });
    return yield say(`${golem.called} gets nothing.`);
  }
  const { without: refused = [], query } = asked;
  const isUnwanted = ({ key, value }: Preference) => key.startsWith('skill:') && value === 'refused';
  const unwanted = preferencesOf(meta.rows(), now)
    .filter(isUnwanted)
    .map(({ key }) => key.slice(6));
  const proposal = { golem, without: [...new Set([...refused, ...unwanted])], query };
  const found = await meta.library.propose(proposal);
  const names = found.value.lines.map((one) => one.name);
  const seen = names.filter((one) => asked.names?.includes(one));
  if (consent === 'yes') return yield* giveKit(context, { ...proposal, names: seen, refused });
  if (unwanted.length > 0) yield say(`Left out, since you refused it before: ${unwanted.join(', ')}.`);
  const on = query === undefined ? '' : ` on ${query}`;
  if (names.length === 0) return yield say(`The library has nothing for ${golem.called}${on}.`);
  yield* lines(found.value.lines.map((one) => `${one.name}: ${one.confidence.toFixed(2)}, ${one.reason}`));
  yield ask(kitQuestion({ golem: golem.called, query, without: refused }, names));
}

type Asked = { readonly golem: string; readonly query: string | undefined; readonly without: readonly string[] };

function kitQuestion({ golem, query, without }: Asked, names: readonly string[]): Question {
  const base = { golem, ...(query === undefined ? {} : { query }) };
  const equip = (left = without) => again('equip-golem', { ...base, without: left, names });
  const choices: readonly Choice[] = [
    { text: `Accept: give ${golem} ${plural(names.length, 'skill')}`, action: equip(), consent: 'yes' },
    ...names.map((one) => ({ text: `Without ${one}`, action: equip([...without, one]) })),
    { text: 'Reject: it gets nothing', action: equip(), consent: 'no' },
  ];
  return { text: `This is what I would give ${golem}. What do you say?`, choices };
}

async function* giveKit(
  { meta, message }: HandlerContext,
  {
    refused,
    ...asked
  }: Parameters<HandlerContext['meta']['library']['equip']>[0] & { readonly refused: readonly string[] },
): AsyncGenerator<Told> {
  const done = await meta.library.equip(asked);
  if (!done.ok) return yield failed(done.reason, done.detail);
  const now = meta.ground.clock.now();
  const decide = (kind: string, accepted: boolean) =>
    countDecision(meta.rows(), { kind, accepted, evidence: `message:${message}` }, now);
  await decide(`kit:${asked.golem.archetype}`, true);
  for (const skill of refused) await decide(`skill:${skill}`, false);
  yield say(done.value);
}

const searched = z.object({ query: z.string().trim().min(1).max(400) });

async function* search({ meta }: HandlerContext, { query }: z.output<typeof searched>): AsyncGenerator<Told> {
  const found = await meta.library.search(query);
  if (found.length === 0) return yield say(`The library has nothing on ${query}.`);
  for (const { name: skill, confidence, status, isStale, description } of found.slice(0, 10))
    yield {
      type: 'quote',
      line: {
        text: `${confidence.toFixed(2)} ${status}${isStale ? ', may be stale' : ''}: ${description}`,
        place: `library:${skill}`,
      },
    };
  yield say(`To give one: equip NAME with ${query}`);
}

const sized = z.object({ golem: name, size: z.string().optional() });
const extended = z.object({ golem: name, days: z.number().positive().max(3_650).optional() });

/** One each of what the seed lists, and the two that the library needs. */
export const HANDLERS: readonly Handler[] = [
  defineHandler({
    name: 'create-golem',
    category: 'provisioning',
    summary: 'Make a golem: name, archetype, domain, dir, provider',
    when: 'The owner wants a new golem, here or at a provider.',
    params: created,
    run: create,
  }),
  defineHandler({
    name: 'clone-strategy',
    category: 'provisioning',
    summary: 'A new golem with the strategy of one: golem, name',
    when: 'The owner wants another golem like one that is there.',
    params: cloned,
    run: clone,
  }),
  defineHandler({
    name: 'retire-golem',
    category: 'provisioning',
    summary: 'End a golem for good: golem',
    when: 'The owner wants a golem to end and leave its skills.',
    params: retired,
    run: retire,
  }),
  defineHandler({
    name: 'equip-golem',
    category: 'provisioning',
    summary: 'Propose skills of the library: golem, query',
    when: 'The owner wants a golem to know something.',
    params: kit,
    run: proposeKit,
  }),
  defineHandler({
    name: 'compare-golems',
    category: 'analytics',
    summary: 'Compare golems over a week: golems (a list)',
    when: 'The owner wants to know which golem does better.',
    params: compared,
    run: compare,
  }),
  defineHandler({
    name: 'find-transferable',
    category: 'analytics',
    summary: 'Heuristics that others could use: golem',
    when: 'The owner asks what golems could learn from one another.',
    params: transferable,
    run: transfer,
  }),
  defineHandler({
    name: 'promote-skill',
    category: 'curation',
    summary: 'Take a golem’s skill into the library: golem, skill',
    when: 'The owner wants a skill of one golem to be the clade’s.',
    params: promoted,
    run: promote,
  }),
  defineHandler({
    name: 'merge-skills',
    category: 'curation',
    summary: 'Make one of two library skills: one, other',
    when: 'The owner says that two skills are the same.',
    params: merged,
    run: merge,
  }),
  defineHandler({
    name: 'search-library',
    category: 'curation',
    summary: 'Find skills in the library: query',
    when: 'The owner asks what the library has on something.',
    params: searched,
    run: search,
  }),
  defineHandler({
    name: 'summarise-steers',
    category: 'owner-model',
    summary: 'What the owner told golems: about',
    when: 'The owner asks what he has said so far.',
    params: summarised,
    run: summarise,
  }),
  defineHandler({
    name: 'strategy-brief',
    category: 'owner-model',
    summary: 'A brief of what the owner wants',
    when: 'The owner wants his strategy put together.',
    params: z.object({}),
    run: brief,
  }),
  defineHandler({
    name: 'list-for-sale',
    category: 'market',
    summary: 'Offer skills on the market: query',
    when: 'The owner wants to sell skills.',
    params: sold,
    run: listForSale,
  }),
  defineHandler({
    ...{
      name: 'search-market',
      category: 'market',
      summary: 'Look for skills on the market: query',
      when: 'The owner wants to buy a skill.',
    },
    params: z.object({ query: z.string().default('') }),
    run: async function* () {
      yield* notConfigured('The market', 'Skills of others come as files: talaria library import FILE.');
    },
  }),
  defineHandler({
    ...{
      name: 'scale',
      category: 'deployment',
      summary: 'A larger machine for a golem: golem, size',
      when: 'A golem is short of memory or speed.',
    },
    params: sized,
    run: async function* (context, asked) {
      const golem = yield* which(context, asked.golem, ['scale', asked]);
      if (golem)
        yield* notConfigured(
          'A provider of machines',
          `${golem.called} has what the machine at ${golem.where} has; run it on a larger one: talaria backup there, and put the home back.`,
        );
    },
  }),
  defineHandler({
    ...{
      name: 'extend-life',
      category: 'deployment',
      summary: 'A longer life for a golem: golem, days',
      when: 'A golem is to live longer than was planned.',
    },
    params: extended,
    run: async function* (context, asked) {
      const golem = yield* which(context, asked.golem, ['extend-life', asked]);
      if (golem)
        yield* notConfigured(
          'A provider with a time limit',
          `How long ${golem.called} lives stands in its golem.toml: [golem] max_ticks, right now at tick ${golem.tick}; right ${percent(golem.accuracy)}.`,
        );
    },
  }),
];
