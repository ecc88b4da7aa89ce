// Owns the door `golems`: how all golems of this home stand, and what one of them answers, from what it keeps, whether it runs, rests or is dead.
// Knows no clade. Invariants: its files are opened to be read alone; each line names its place; what the commands do is done by them.
import { errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { canonicalJson, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { AnswerLine, GolemAnswer, GolemsDoor, Night, Question } from '#fleet/styx/clade.ts';
import { homeLogPath, openHomeLog } from '#fleet/styx/home-log.ts';
import { bundleText, signBundle } from '#mind/skills/format/testament.ts';
import { ARCHETYPES } from './domains/domain.ts';
import { findGolem, golemNames, type OpenGolem, openGolem, readKey } from './golem-home.ts';
import type { GolemEvent } from './hooks.ts';
import { inHome, whyLines, whySkill } from './looking-commands.ts';
import { stateOf, tickLine } from './told.ts';

export function golemsDoor(ground: Ground): GolemsDoor {
  const { places, clock } = ground;
  return {
    states: async (onTorn = () => undefined) => {
      const looked = golemNames(places.home).map(async (name) => {
        const state = await reading(ground, name, async (golem) => ok(stateOf(golem, { now: clock.now() })));
        if (!state.ok) onTorn(name, state.detail);
        return state.ok ? [state.value] : [];
      });
      return (await Promise.all(looked)).flat();
    },
    ask: (name, question) => reading(ground, name, (golem) => answer(ground, golem, question)),
    create: (asked, cwd) => typed(ground, 'create', { ...asked }, { cwd, signal: new AbortController().signal }),
    retire: (name, signal) => typed(ground, 'retire', { name, yes: true }, { cwd: places.home, signal }),
    purse: async (name) => {
      const found = findGolem(places.home, name);
      return found.ok ? readKey(found.value) : undefined;
    },
    tags: async (domain, archetype) => {
      const own = Object.entries(ARCHETYPES).find(([id]) => id === domain)?.[1];
      const found = (own ?? Object.values(ARCHETYPES).flat()).find(({ name }) => name === archetype);
      return found?.seeAll ? 'all' : (found?.tags ?? archetype.toLowerCase().match(/[a-z0-9]+/g) ?? []);
    },
  };
}

/** Refuses `golem-torn` beside what `openGolem` and `work` do. */
async function reading<T>(ground: Ground, name: string, work: (golem: OpenGolem) => Promise<Result<T>>) {
  try {
    const opened = await openGolem(ground.places.home, name, { clock: ground.clock, readOnly: true });
    return opened.ok ? await work(opened.value).finally(() => opened.value.close()) : opened;
  } catch (error) {
    return refuse('golem-torn', errorText(error));
  }
}

async function answer(ground: Ground, golem: OpenGolem, question: Question): Promise<Result<GolemAnswer>> {
  const { identity, rows } = golem;
  const told = (value: unknown, lines: readonly AnswerLine[] = []) =>
    ok({ golem: identity.id, lines, value: value as JsonValue });
  const at = (place: string) => (text: string) => ({ text, place: `${identity.name}:${place}` });
  if (question.what === 'state') return told(stateOf(golem, { now: ground.clock.now() }));
  if (question.what === 'skills') {
    const { text, hash } = await bundleOf(ground, golem, question.known);
    return ok({ golem: identity.id, lines: [], value: text, hash });
  }
  if (question.what === 'since') {
    const { night, ticks } = nightOf(ground, golem, question.since);
    const skills = night.learned.map((skill) => at(`skill ${skill}`)(`learned ${skill}`));
    return told(night, [...skills, ...ticks.map((record) => at(`tick ${record.tick}`)(tickLine(record) ?? ''))]);
  }
  if (question.what === 'tick') {
    const record = rows.tick(question.tick);
    const lived = `${identity.name} has no tick ${question.tick}; it lived ${rows.state()?.tick ?? 0}.`;
    return record ? told(record, whyLines(record).map(at(`tick ${record.tick}`))) : refuse('no-such-tick', lived);
  }
  if (question.what === 'skill') {
    const { lines, data, failure } = await collected(whySkill(ground, identity.name, question.name));
    return failure ?? told(data, lines.map(at(`skill ${question.name}`)));
  }
  const { Grimoire } = await import('./mind/grimoire.ts');
  const known = new Grimoire(rows, ground.clock).known(question.query, Math.min(question.limit, 200));
  const value = known.map((entry) => ({ ...entry, id: `h-${entry.id}` }));
  const lines = value.map(({ id, text }) => at(id)(text));
  return told(value, lines);
}

/** Acting ticks that are told one by one. */
const TOLD = 50;

function nightOf({ places, clock }: Ground, { identity, rows }: OpenGolem, since: number) {
  const from = rows.firstSince(since);
  const log = openHomeLog({ path: homeLogPath(places.home), clock });
  const told = log.read([`golem.${identity.name}.event`], 0, 20_000).filter(({ at }) => at >= since);
  log.close();
  const events = told.flatMap(({ body }) => (body as unknown as GolemEvent | null)?.event ?? []);
  const byName = Object.entries(Object.groupBy(events, ({ type }) => type));
  const came = events.flatMap((event) => ('name' in event && event.type !== 'SkillPromoted' ? [event.name] : []));
  const counted = Object.fromEntries(byName.map(([type, all = []]) => [type, all.length]));
  const night: Night = { ...rows.counts(from), events: counted, learned: [...new Set(came)] };
  return { night, ticks: rows.ticks({ from, acted: true }).slice(-TOLD) };
}

/** Its skills, whatever they are worth, signed with its key; null: it has none, or they are known. */
async function bundleOf(ground: Ground, golem: OpenGolem, known: string | undefined) {
  const { aboutBundle, worthSkills } = await import('./mind/mind.ts');
  return inHome(ground, golem.places, async (home) => {
    const doors = { skills: await home.door('skills'), skillRecords: await home.door('skillRecords') };
    const skills = worthSkills(doors, { confidence: 0, uses: 0 });
    const about = {
      ...aboutBundle(golem, ground.clock.now()),
      kind: 'skill-bundle',
      death_cause: null,
      skills,
    } as const;
    const hash = sha256(canonicalJson(skills as unknown as JsonValue));
    const isTold = skills.length === 0 || hash === known;
    return { hash, text: isTold ? null : bundleText(await signBundle(about, readKey(golem.places))) };
  });
}

/** A command, as the owner would type it: what it tells as data. */
async function typed<T>(ground: Ground, word: string, input: unknown, context: CommandContext): Promise<Result<T>> {
  const { golemCommands } = await import('./commands.ts');
  const command = golemCommands(ground).find(({ name }) => name === `golem ${word}`);
  const read = command?.input.safeParse(input);
  if (!command || !read?.success) return refuse('golem-invalid', `${word}: ${read?.error?.issues[0]?.message}`);
  const { lines, data, failure } = await collected(command.run(read.data as never, context));
  return failure ?? (data === null ? refuse('not-done', lines.join('; ')) : ok(data as T));
}

async function collected(outputs: AsyncIterable<CommandOutput>) {
  const lines: string[] = [];
  let data: JsonValue = null;
  let failure: ReturnType<typeof refuse> | undefined;
  for await (const output of outputs) {
    if (output.type === 'line') lines.push(output.text);
    if (output.type === 'data') data = output.value;
    if (output.type === 'failure') failure = refuse(output.code, `${output.message} ${output.fix}`.trim());
  }
  return { lines, data, failure };
}
