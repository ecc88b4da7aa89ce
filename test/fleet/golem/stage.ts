/** A home with golems in it, on a clock that leaps, and a domain whose sights, actions and truth the test gives. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Life, withLife } from '#fleet/golem/life.ts';
import { room } from '#fleet/golem/room.ts';
import { homeLogPath, openHomeLog } from '#fleet/styx/home-log.ts';
import { leapingClock, type TestClock } from '../../ground.ts';
import { recordOf } from '../../mind/skills/skill-bench.ts';
import { createStage, groundOf, runCommand, runSpec } from '../../surfaces/app/app-fixture.ts';

/** 2026-01-15T12:00:00Z, as on the manual clock. */
const START_MS = 1_768_478_400_000;

export const never = new AbortController().signal;

type Labels = readonly string[];
type LifeOptions = Parameters<typeof withLife>[2];
type Domain = Life['domain'];
export type Observation = Awaited<ReturnType<Domain['observe']>>;
export type Mood = Parameters<Life['hooks']['context']>[0]['pad'];
export type TickRecord = Parameters<Life['hooks']['afterTurn']>[0]['record'];
export type GolemEvent = Parameters<Parameters<Life['events']['subscribe']>[0]>[0];
type HermesEvent = GolemEvent['event'];

export type GolemStage = ReturnType<typeof createGolemStage>;

interface StageOptions {
  readonly extra?: Parameters<typeof groundOf>[1]['extra'];
  readonly clock?: TestClock;
  /** Text of config.yaml of the home, which golems are born with. */
  readonly config?: string;
  readonly variables?: Record<string, string>;
}

export function createGolemStage(t: TestContext, options: StageOptions = {}) {
  const { extra = {}, clock = leapingClock(START_MS), config, variables } = options;
  const stage = createStage(t, variables);
  const { environment, root, cwd } = stage;
  mkdirSync(root, { recursive: true });
  if (config !== undefined) writeFileSync(join(root, 'config.yaml'), config);
  const ground = groundOf(t, { environment, clock, extra });
  /** A path in the home of a golem. */
  const at = (name: string, ...path: readonly string[]) => join(root, 'golems', name, ...path);
  /** A command of the room, as it is typed. */
  const run = async (name: string, input: unknown = {}, ask?: (question: string) => Promise<string>) => {
    const command = (await room.commands?.(ground))?.find((one) => one.name === name);
    if (command === undefined) throw new Error(`no command ${name}`);
    return runSpec(command, input, { cwd, ...(ask ? { ask } : {}) });
  };
  const log = (topic: string) => {
    const opened = openHomeLog({ path: homeLogPath(root), clock });
    const rows = opened.read([topic], 0, 10_000);
    opened.close();
    return rows;
  };
  return {
    ...{ ground, root, cwd, clock, at, run },
    /** Any other command, of this home or of the home of a golem. */
    command: (name: string, input: unknown, golem?: string) => {
      const variables = { ...environment.variables, ...(golem === undefined ? {} : { TALARIA_HOME: at(golem) }) };
      return runCommand({ ...stage, environment: { ...environment, variables } }, name, input);
    },
    /** Gives birth in the domain `sim`, and throws when it is refused. `toml`: tables for golem.toml. */
    create: async (name: string, more: { readonly from?: string; readonly toml?: string } = {}) => {
      const { toml, ...asked } = more;
      const { failure } = await run('golem create', { name, domain: 'sim', ...asked });
      if (failure) throw new Error(failure.message);
      if (toml !== undefined) setToml(at(name, 'golem.toml'), toml);
    },
    /** Lives it without a model unless `given` says otherwise; throws when it is refused. */
    life: async <T>(name: string, given: LifeOptions, work: (life: Life) => Promise<T>): Promise<T> => {
      const lived = await withLife(ground, name, { models: false, ...given }, work);
      if (!lived.ok) throw new Error(`${lived.reason}: ${lived.detail}`);
      return lived.value;
    },
    /** Puts skills with records into a golem that nobody lives, through the one door. */
    teach: async (name: string, skills: readonly Taught[]) => {
      const opened = ground.homeAt({ root: at(name), cwd });
      const [door, records] = [await opened.ground.door('door'), await opened.ground.door('skillRecords')];
      for (const skill of skills) {
        const change = { action: 'create', content: skillMd(skill) } as const;
        const written = await door.write({ name: skill.name, change, actor: 'dream', approved: true });
        if (!written.ok) throw new Error(written.detail);
        const now = { categories: ['incident'], createdAt: clock.now(), updatedAt: clock.now() };
        await records().put({ ...recordOf(skill.name), ...now, ...skill.record });
      }
      await opened.shutdown();
    },
    /** Rows of the home's log, and what they say. */
    log,
    bodies: (topic: string) => log(topic).map(({ body }) => body),
  };
}

/** A golem `ada` that knows these skills: its mind's session has begun, and nothing beats. */
export async function withMind(
  t: TestContext,
  given: StageOptions & { readonly skills?: readonly Taught[]; readonly toml?: string; readonly domain?: Domain },
  work: (life: Life, stage: GolemStage) => Promise<unknown>,
): Promise<void> {
  const { skills = [], toml, domain = quiet(), ...options } = given;
  const stage = createGolemStage(t, options);
  await stage.create('ada', toml === undefined ? {} : { toml });
  await stage.teach('ada', skills);
  const models = options.config !== undefined || options.extra?.client !== undefined;
  await stage.life('ada', { domain, models }, async (life) => {
    await life.hooks.session({ reason: 'start' });
    await work(life, stage);
  });
}

/** Puts tables at the end of golem.toml; a table that stands there already is replaced. */
function setToml(path: string, toml: string): void {
  const tables = (text: string) => text.split(/^(?=\[)/m).map((part) => part.trim());
  const added = tables(toml);
  const isKept = (part: string) => !added.some((one) => one.split('\n')[0] === part.split('\n')[0]);
  const all = [...tables(readFileSync(path, 'utf8')).filter(isKept), ...added];
  writeFileSync(path, `${all.join('\n\n')}\n`);
}

export interface Taught {
  readonly name: string;
  /** Words of its When-to-Use line. */
  readonly when: string;
  readonly steps?: Labels;
  readonly record?: Partial<ReturnType<typeof recordOf>> | undefined;
}

/** In short: what for, its steps, its record. */
export function taught(name: string, when: string, steps: Labels = [], record: Taught['record'] = {}): Taught {
  return { name, when, steps, record };
}

export function skillMd({ name, when, steps = [] }: Taught): string {
  const lines = steps.map((step, index) => `${index + 1}. \`${step}\`\n`).join('');
  const head = `---\nname: ${name}\ndescription: ${when.slice(0, 60)}\n---\n\n# ${name}\n\n`;
  return `${head}## When to Use\n${when}\n\n## Procedure\n${lines}\n## Pitfalls\n- None seen so far.\n`;
}

/** Something is the matter: its words, its kind, and how much of a surprise it is. */
export function seen(text: string, value = 1, tag = 'incident'): Observation {
  return { text, tag, signals: [{ name: tag, value }] };
}

export type ScriptedDomain = ReturnType<typeof scriptedDomain>;

/**
 * A domain as a test tells it. `sees`: at each heartbeat, counted from 1 in this object; `cure`: what helps, in order, where nothing does: [].
 * An act is over when the cure is done. `did`: labels of all acts; `trace`: `observe`, `act LABEL`, `verify`, in order.
 */
export function scriptedDomain(
  sees: (beat: number) => Observation,
  cure: (observation: Observation) => Labels = () => [],
  more: Partial<Domain> & { readonly labels?: Labels } = {},
) {
  const { labels = ['restart', 'rotate', 'drain', 'scale'], ...own } = more;
  const did: string[] = [];
  const trace: string[] = [];
  let [beat, done, now] = [0, 0, seen('', 0)];
  const isCured = () => done >= cure(now).length && cure(now).length > 0;
  const domain: Domain = {
    ...{ id: 'sim', archetypes: [], categories: ['incident'], tools: [] },
    observe: async () => {
      trace.push('observe');
      [beat, done, now] = [beat + 1, 0, sees(beat + 1)];
      return now;
    },
    candidates: () => labels.map((label) => ({ tool: 'sim', label })),
    act: async ({ label }) => {
      did.push(label);
      trace.push(`act ${label}`);
      const isRight = cure(now)[done] === label;
      if (isRight) done += 1;
      return { status: 'ok', text: '', hasChanged: isRight, isOver: isCured(), ms: 1 };
    },
    verify: async () => {
      trace.push('verify');
      return { verified: true, success: isCured(), summary: isCured() ? 'cured' : 'not cured', source: 'test' };
    },
    guard: ({ label }) => (labels.includes(label) ? 'allow' : 'deny'),
    changed: () => 0,
    close: async () => undefined,
    ...own,
  };
  return { ...domain, did, trace };
}

/** The same is the matter at each heartbeat, and the same helps. */
export function always(text: string, cure: Labels): ScriptedDomain {
  const [sees, helps] = [() => seen(text), () => cure];
  return scriptedDomain(sees, helps);
}

/** Nothing is ever the matter. */
export function quiet(): ScriptedDomain {
  return scriptedDomain(() => seen('', 0));
}

/** So many ticks, with all that was told meanwhile. */
export async function liveTicks(life: Life, ticks: number) {
  const events: GolemEvent[] = [];
  const stop = life.events.subscribe((event) => events.push(event));
  const told = await Array.fromAsync(life.live({ ticks, signal: never }));
  stop();
  return { told, events, records: told.flatMap((event) => (event.type === 'tick' ? [event.record] : [])) };
}

/** Of one kind. */
export function only<Type extends HermesEvent['type']>(
  events: readonly (GolemEvent | HermesEvent)[],
  type: Type,
): readonly Extract<HermesEvent, { type: Type }>[] {
  const bare = events.map((one) => ('event' in one ? one.event : one));
  return bare.filter((one): one is Extract<HermesEvent, { type: Type }> => one.type === type);
}

/** What the seed calls the seven hooks; one more or one less is an error of types. */
export const HOOKS: Readonly<Record<keyof Life['hooks'], string>> = {
  ...{ session: 'on_session', context: 'on_context', toolResult: 'on_tool_result', afterTurn: 'on_after_turn' },
  ...{ end: 'on_end', dreamOnset: 'on_dream_onset', death: 'on_death' },
};

/** From now on the name of each hook goes into the list when it is called. */
export function traceHooks({ hooks }: Life, trace: string[]): void {
  for (const [name, seed] of Object.entries(HOOKS)) {
    const call = hooks[name as keyof Life['hooks']].bind(hooks) as (asked: unknown) => Promise<unknown>;
    const traced = (asked: unknown) => {
      trace.push(seed);
      return call(asked);
    };
    Object.assign(hooks, { [name]: traced });
  }
}

const STILL: Mood = { pleasure: 0, arousal: 0, dominance: 0 };

/** What the mind is asked for one sight, without a heartbeat. */
export function look(life: Life, text: string, pad: Partial<Mood> = {}) {
  const observation = seen(text);
  return life.hooks.context({ tick: 1, observation, pad: { ...STILL, ...pad }, categories: ['incident'] });
}

type TickFields = Partial<TickRecord> & { readonly success?: boolean };

/** A tick in which the labels helped, in order: T2, cured. */
export function tickOf(tick: number, text: string, labels: Labels, fields: TickFields = {}): TickRecord {
  const { success = true, ...more } = fields;
  const actions = labels.map((label) => ({ tool: 'sim', label, status: 'ok', has_changed: success, ms: 1 }) as const);
  return {
    ...{ tick, at: START_MS + tick * 60_000, steps: [], observation: seen(text), steers: [], pe: 1, threshold: 0.3 },
    ...({ tier: 'T2', gate_reason: '', phase: 'thriving', vitality: 1, pad_before: STILL, pad_after: STILL } as const),
    ...{ procedures: [], deviated: false, answered_by: 'rule', actions, cost: { usd: 0, tokens: 0 }, faults: [] },
    outcome: { verified: true, success, summary: success ? 'cured' : 'not cured', source: 'test' },
    ...more,
  };
}

/** So many of them, from the first on. */
export function ticksOf(count: number, text: string, labels: Labels, fields: TickFields = {}): readonly TickRecord[] {
  return Array.from({ length: count }, (_, at) => tickOf(at + 1, text, labels, fields));
}

/** Ticks that were lived, as the heartbeat commits them; the mind is not told. */
export async function remember({ golem: { rows } }: Life, records: readonly TickRecord[]): Promise<void> {
  for (const record of records) {
    const state = rows.state();
    if (state === undefined) throw new Error('the golem has no state');
    if (record.prediction) await rows.predict(record.tick, record.prediction, [], record.at);
    await rows.commitTick(record, { ...state, tick: record.tick });
  }
}

/** Rows of golem.db. */
export function rowsOf({ golem }: Life, sql: string, ...values: readonly (string | number)[]) {
  const rows = golem.rows.database.all<Readonly<Record<string, string | number | null>>>(sql, ...values);
  return rows.map((row) => ({ ...row }));
}

/** Writes into golem.db past its owner, so that a test stands at a boundary exactly. */
export async function put(life: Life, sql: string, ...values: readonly (string | number)[]): Promise<void> {
  const { database } = life.golem.rows;
  await database.transaction(() => void database.run(sql, ...values));
}

/** Every fifth look something takes three files away; each has a check that misses it and a remedy that makes it. */
const WATCHED = [
  `[[check]]\nname = "time"\nrun = "echo x >> n; [ $(( $(wc -l < n) % 5 )) != 0 ] || rm -f a b c"`,
  ...['a', 'b', 'c'].map((name) => `[[check]]\nname = "has-${name}"\nrun = "echo no ${name}; test -e ${name}"`),
  ...['a', 'b', 'c'].map((name) => `[[remedy]]\nname = "make-${name}"\nrun = "touch ${name}"`),
].join('\n\n');

/** Every fifth run of its tests takes something away that a task of it makes; the tests run again every ten seconds. */
const TESTED = {
  'test.sh': `echo x >> n; [ $(( $(wc -l < n) % 5 )) != 0 ] || rm -f a; test -e a || { echo "error: a not found"; exit 1; }`,
  ...{ 'tasks-make.sh': 'touch a', 'tasks-format.sh': 'echo formatted', '.gitignore': 'a\nn\n' },
};

function makeRepository(path: string): void {
  mkdirSync(join(path, 'tasks'), { recursive: true });
  for (const [name, text] of Object.entries(TESTED)) writeFileSync(join(path, name.replace('-', '/')), text);
  const git = 'git init -q && git add -A && git -c user.name=me -c user.email=me@localhost commit -qm first';
  const { status, stderr } = spawnSync('/bin/sh', ['-c', git], { cwd: path, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/**
 * `golem run` with nobody near: what was not as it should be. Records 1…n without a gap, no fault, and each skill that it made leads to
 * ticks, also by `skills why` of its home.
 */
export async function liveUnattended(stage: GolemStage, domain: 'sim' | 'watch' | 'coding', ticks: number) {
  const { run, ground, at, cwd, command } = stage;
  if (domain === 'coding') makeRepository(join(cwd, 'repository'));
  await run('golem create', { name: 'ada', domain, ...(domain === 'coding' ? { dir: 'repository' } : {}) });
  const tables = { sim: '', watch: WATCHED, coding: '[coding]\nevery = 10' }[domain];
  setToml(at('ada', 'golem.toml'), `[heartbeat]\nbase_interval_seconds = 1\n\n${tables}`);
  const lived = await run('golem run', { name: 'ada', ticks });
  if (lived.failure) return [lived.failure.message];
  const records = (await run('golem ticks', { name: 'ada', from: 1 })).data as readonly TickRecord[];
  const wrong = records.flatMap(({ faults }) => faults);
  wrong.push(...records.flatMap(({ tick }, index) => (tick === index + 1 ? [] : [`gap at ${tick}`])));
  if (records.length !== ticks) wrong.push(`${records.length} records`);
  const opened = ground.homeAt({ root: at('ada'), cwd });
  const made = (await opened.ground.door('skillRecords'))().list();
  await opened.shutdown();
  if (made.length === 0) wrong.push('no skill');
  for (const { name } of made)
    if (!/tick:\d+/.test((await command('skills why', { name }, 'ada')).text)) wrong.push(`${name} leads to no tick`);
  return wrong;
}

/** As if so many predictions had been made, and the first of them had come true. */
export async function foretell(life: Life, right: number, tries: number): Promise<void> {
  await put(life, 'DELETE FROM predictions');
  for (let at = 1; at <= tries; at += 1)
    await put(life, "INSERT INTO predictions VALUES(?, 'incident', '', 0.9, 0, '[]', ?)", at, Number(at <= right));
}

/** A heuristic that rests on `tick:1`, or another kind of row; gives its id. */
export async function addEntry(
  life: Life,
  confidence: number,
  { trigger = '', steps = [] as Labels, validated = 0, kind = 'heuristic', weak = 0 },
): Promise<number> {
  const values = [kind, confidence, validated, trigger, trigger, JSON.stringify(steps), weak];
  const named = 'kind, confidence, validated, text, trigger, steps, weak_cycles, half_life_days, tag, handles, source';
  const fixed = `14, 'incident', '["tick:1"]', 'ticks', 'private', 0, ${START_MS}, ${START_MS}`;
  const columns = `${named}, propagation, bloodstain, created_at, used_at`;
  await put(life, `INSERT INTO grimoire(${columns}) VALUES(?, ?, ?, ?, ?, ?, ?, ${fixed})`, ...values);
  return Number(rowsOf(life, 'SELECT max(id) AS id FROM grimoire')[0]?.id);
}
