// Owns one life in this process: its home, domain, mind, log and heartbeat put together, how it runs, how it ends and how the dead are buried.
// Knows no command. Invariants: one process lives a golem at a time; a life ends once, on disk before it is told; whatever was opened is closed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { createFabric, type Fabric } from '#base/fabric.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '#base/json.ts';
import { lazy } from '#base/lazy.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { withFileLock } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Ground, OpenedHome, Room } from '#core/agent/room.ts';
import { golemInference } from '#core/model/providers/golem-providers.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { homeLogPath, openHomeLog, type StyxTransport } from '#fleet/styx/home-log.ts';
import { ownersOf } from '#fleet/styx/owner-key.ts';
import { sendParcel } from '#fleet/styx/parcels.ts';
import { withBirths } from './births.ts';
import { actTool, costOf, type Deliberation } from './deliberate.ts';
import type { DomainPlugin } from './domains/domain.ts';
import { type DomainRefusal, openDomain } from './domains/open-domain.ts';
import { DEPENDENCIES } from './domains/worktree.ts';
import { findGolem, type OpenGolem, type OpenRefusal, openGolem } from './golem-home.ts';
import type { DeathRow } from './golem-rows.ts';
import { Heartbeat, type LifeEvent, sendEvent, sendPresence, withPatience } from './heartbeat.ts';
import { type Cost, type DeathCause, type GolemEvent, type GolemHooks, MIND, NO_COST } from './hooks.ts';
import { Grimoire } from './mind/grimoire.ts';
import { Mind, splitThoughts } from './mind/mind.ts';
import { type Ablation, type AskModel, jsonIn, type MindGround } from './mind/mind-ground.ts';
import { openSidecar } from './mind/mind-socket.ts';

export interface LifeOptions {
  readonly clock?: Clock;
  /** Instead of the one that golem.toml names: of a trial. */
  readonly domain?: DomainPlugin;
  /** Parts of the mind that are left out. */
  readonly without?: ReadonlySet<Ablation>;
  /** False: rules alone, and no agent is composed for a model. */
  readonly models?: boolean;
  /** Hears the log while it waits. */
  readonly listens?: boolean;
  /** The mind in a process of its own; default as golem.toml says. */
  readonly sidecar?: boolean;
}

export type LifeRefusal = OpenRefusal | 'runs-already' | DomainRefusal;

export interface Life {
  readonly golem: OpenGolem;
  readonly domain: DomainPlugin;
  readonly hooks: GolemHooks;
  /** The mind in this process; absent while another process has it. */
  readonly mind: Mind | undefined;
  readonly events: Fabric<GolemEvent>;
  readonly log: StyxTransport;
  live(options: { readonly ticks?: number; readonly signal: AbortSignal }): AsyncGenerator<LifeEvent>;
  /** The session ends, not the golem: the bundle is packed and published. */
  rest(): Promise<{ readonly bundle?: string; readonly skills: number }>;
  /** Once; another call gives what stands. Path of the testament. */
  end(cause: DeathCause, signal: AbortSignal): Promise<DeathRow>;
}

/** Opens, runs `work` and closes. Refused while another process lives it. */
export async function withLife<T>(
  ground: Ground,
  name: string,
  options: LifeOptions,
  work: (life: Life) => Promise<T>,
): Promise<Result<T, LifeRefusal>> {
  const clock = options.clock ?? ground.clock;
  const { home } = ground.places;
  const found = findGolem(home, name);
  if (!found.ok) return found;
  const run = async (): Promise<Result<T, LifeRefusal>> => {
    const opened = await openGolem(home, name, { clock });
    if (!opened.ok) return opened;
    try {
      return await lived(ground, opened.value, { ...options, clock }, work);
    } finally {
      opened.value.close();
    }
  };
  try {
    return await withFileLock(found.value.lock, run, { waitMs: 0 });
  } catch (error) {
    if (!(error instanceof TalariaError) || error.code !== 'locked' || !error.message.startsWith(found.value.lock))
      throw error;
    return refuse(
      'runs-already',
      `${name} is lived by another process: ${error.message}. Steer or pause it, or end that process.`,
    );
  }
}

interface Living {
  readonly ground: Ground;
  readonly golem: OpenGolem;
  readonly opened: OpenedHome;
  readonly domain: DomainPlugin;
  readonly clock: Clock;
  readonly without: ReadonlySet<Ablation>;
  readonly log: StyxTransport;
  /** Where a model answers. */
  readonly agent: MindOfHome | undefined;
}

type MindOfHome = Awaited<ReturnType<Ground['open']>>;

async function lived<T>(
  ground: Ground,
  golem: OpenGolem,
  options: LifeOptions & { readonly clock: Clock },
  work: (life: Life) => Promise<T>,
): Promise<Result<T, LifeRefusal>> {
  const { clock, models = true, without = new Set() } = options;
  const live: { current?: Deliberation } = {};
  // Made when its domain is opened, before its first session.
  const cwd = golem.settings.golem.domain === 'coding' ? golem.places.worktree : golem.places.work;
  // What its agent gets besides: the one tool that acts in the domain.
  const room: Room = { name: 'golem-life', open: () => ({ tools: [actTool(() => live.current)] }) };
  const opened = ground.homeAt({ root: golem.places.root, cwd, clock, rooms: [room] });
  const agent = lazy(() => opened.ground.open());
  const log = openHomeLog({ path: homeLogPath(ground.places.home), clock });
  try {
    if (models) await setInference(opened, golem);
    await showDependencies(opened, golem);
    const hasModel = models && (await agent()).answering() !== 'T0';
    const domain = options.domain ? ok(options.domain) : await openDomain(golem, { opened, agent, clock, hasModel });
    if (!domain.ok) return domain;
    const model = hasModel ? await agent() : undefined;
    const living = { ground, golem, opened, clock, without, log, domain: domain.value, agent: model };
    return await alive(living, { ...options, live }, work);
  } finally {
    log.close();
    await opened.shutdown();
  }
}

/** The inference tables of golem.toml become providers and tiers of its home; what cannot be used is a line of its record. */
async function setInference({ ground }: OpenedHome, { settings, rows }: OpenGolem): Promise<void> {
  const { inference } = settings;
  if (inference['local-hermes'] === undefined && inference.providers.length === 0) return;
  const { unused, ...asked } = golemInference(inference, ground.variables);
  await rows.keep('unusedInference', [...unused]);
  // Nobody else, whatever its home was born with: a tier without a table is asked of the other, and without any rules alone answer.
  const config = { ...asked, model: asked.tiers.T2[0] ?? asked.tiers.T1[0] ?? 'reflex' };
  const wanted = canonicalJson(config as unknown as JsonValue);
  if (rows.value('inference') === wanted) return;
  const entries = Object.entries(config as unknown as Record<string, JsonValue>);
  await ground.keep({ config: entries.map(([key, value]) => ({ path: [key], value })) });
  await rows.keep('inference', wanted);
}

const sandbox = z.object({ paths: z.array(z.string()).default([]) });

/** What its worktree borrows of the checkout, commands of a model read as its tests do. */
async function showDependencies({ ground }: OpenedHome, golem: OpenGolem): Promise<void> {
  const { domain, dir } = golem.settings.golem;
  if (domain !== 'coding' || dir === undefined) return;
  const repository = typedPath(dir, { cwd: golem.places.root, userHome: ground.places.userHome });
  const there = DEPENDENCIES.map((name) => join(repository, name)).filter((path) => existsSync(path));
  const { paths } = (await ground.settings()).section('sandbox', sandbox);
  const missing = there.map((path) => `${realPath(path)}:ro`).filter((path) => !paths.includes(path));
  if (missing.length > 0)
    await ground.keep({ config: [{ path: ['sandbox', 'paths'], value: [...paths, ...missing] }] });
}

async function alive<T>(
  living: Living,
  { sidecar, listens = false, live }: LifeOptions & { readonly live: { current?: Deliberation } },
  work: (life: Life) => Promise<T>,
): Promise<Result<T, LifeRefusal>> {
  const { golem, domain, clock, log, agent, ground } = living;
  const { mode, socket = golem.places.socket } = golem.settings.hermes;
  const embedded = lazy(() => openMind(living));
  const isApart = sidecar ?? mode === 'sidecar';
  const at = { name: golem.identity.name, socket, isAsking: agent !== undefined };
  const apart = isApart ? await openSidecar(ground, at) : undefined;
  const hooks: GolemHooks = apart ?? (await embedded());
  const events = createFabric<GolemEvent>(() => undefined);
  const parts = {
    ...{ golem, domain, hooks, log, fabric: events, clock, live, listens },
    owners: () => ownersOf(ground.places.home),
    rollBack: (skill: string, version: number) => rollBack(living, skill, version),
    spentToday: () => spentSince(living, Math.floor(clock.now() / DAY_MS) * DAY_MS),
    ...(agent ? { mind: agent } : {}),
  };
  try {
    const life: Life = {
      ...{ golem, domain, hooks, events, log, mind: embedded.now() },
      live: (limits) => new Heartbeat(parts).live(limits),
      rest: () => rest(living, hooks),
      end: (cause, signal) => endLife({ ...living, hooks, embedded, fabric: events }, cause, signal),
    };
    return ok(await work(life));
  } finally {
    await apart?.close();
    await domain.close();
  }
}

/** The mind alone, for a golem that another process lives. */
export async function withMind<T>(
  ground: Ground,
  { name, models }: { readonly name: string; readonly models: boolean },
  work: (mind: Mind) => Promise<T>,
): Promise<Result<T, LifeRefusal>> {
  const { clock } = ground;
  const golem = await openGolem(ground.places.home, name, { clock });
  if (!golem.ok) return golem;
  const { places } = golem.value;
  const opened = ground.homeAt({ root: places.root, cwd: places.work });
  const agent = lazy(() => opened.ground.open());
  try {
    const hasModel = models && (await agent()).answering() !== 'T0';
    const domain = await openDomain(golem.value, { opened, agent, clock, hasModel, looks: true });
    if (!domain.ok) return domain;
    const about = { ground, golem: golem.value, opened, clock, without: new Set<Ablation>(), domain: domain.value };
    const mind = await openMind({ ...about, agent: hasModel ? await agent() : undefined });
    try {
      return ok(await work(mind));
    } finally {
      await domain.value.close();
    }
  } finally {
    await opened.shutdown();
    golem.value.close();
  }
}

/** The mind over its Grimoire: without it there is none (seed 000: the one depends on the other). */
async function openMind(living: Omit<Living, 'log'>): Promise<Mind> {
  const { ground, opened, golem, domain, clock, without, agent } = living;
  const lent = opened.ground;
  if (golem.rows.database.get("SELECT 1 FROM sqlite_master WHERE name = 'grimoire'") === undefined)
    throw new TalariaError(`${MIND.name} needs ${MIND.needs.join()}, and ${golem.places.database} has none`, {
      code: 'grimoire-missing',
      fix: 'Put golem.db back from a backup.',
    });
  const doors = {
    skills: await lent.door('skills'),
    door: await lent.door('door'),
    skillRecords: await lent.door('skillRecords'),
    ranker: await lent.door('ranker'),
    uses: await lent.door('uses'),
    sessions: await lent.door('sessions'),
  };
  const collected: MindGround['collected'] = { events: [], cost: NO_COST };
  return new Mind({
    ...golem,
    ...{ clock, domain, doors, without, collected },
    grimoire: new Grimoire(golem.rows, clock),
    emit: (event) => collected.events.push(event),
    owners: () => ownersOf(ground.places.home),
    standing: (signer, id) => withBirths(ground.places.home, clock, (births) => births.standing(signer, id)),
    ...(agent ? { ask: askModel(agent, clock, collected) } : {}),
  });
}

const DAY_MS = 86_400_000;
/** How long one question of the mind may take, ms. */
const ASK_MS = 120_000;

function askModel(agent: MindOfHome, clock: Clock, collected: MindGround['collected']): AskModel {
  return async ({ withinMs = ASK_MS, ...asked }) => {
    const limit = deadline(clock, new AbortController().signal, withinMs, () => new Error('the model took too long'));
    const request = { ...asked, tools: [], maxSteps: 1, maxOutputTokens: 1_000, source: 'golem' } as const;
    try {
      const end = (await Array.fromAsync(agent.runTurn(request, limit.signal))).find(({ type }) => type === 'turn-end');
      if (end?.type !== 'turn-end') return undefined;
      const { model, outcome } = end;
      const cost = costOf(end);
      collected.cost = plus(collected.cost, cost);
      const said = outcome === 'done' ? jsonIn(splitThoughts(end.text).text) : undefined;
      return { ...(said ? { said } : {}), model, cost };
    } catch {
      // A model that cannot be asked leaves the work to the rule, which says so.
      return undefined;
    } finally {
      limit.clear();
    }
  };
}

async function spentSince({ opened, agent }: Living, since: number): Promise<Cost> {
  if (agent === undefined) return NO_COST;
  const rows = await (await opened.ground.door('sessions')).costs({ since });
  return rows.map(costOf).reduce(plus, NO_COST);
}

function plus(one: Cost, other: Cost): Cost {
  return { usd: one.usd + other.usd, tokens: one.tokens + other.tokens };
}

async function rollBack({ opened }: Living, skill: string, version: number): Promise<string | undefined> {
  const record = (await opened.ground.door('skillRecords'))().get(skill);
  if (record?.version !== version) return `${skill} is at version ${record?.version ?? 'none'}, not ${version}`;
  const door = await opened.ground.door('door');
  const isFirst = door.versions(skill).some((one) => one.version === version && one.originalHash === null);
  if (isFirst) return `${skill} has no version before ${version}`;
  const done = await door.rollback({ skill, version }, { actor: 'rollback' });
  return done.ok ? undefined : done.detail;
}

async function rest({ golem, log, clock }: Living, hooks: GolemHooks) {
  const { value } = await hooks.end({});
  if (value.bundle !== undefined)
    await publish(log, `golem.${golem.identity.name}.bundle`, value.bundle, { skills: value.skills });
  await sendPresence({ golem, log, clock }, 'rests');
  return value;
}

/** The file comes first; whoever shares this home may take it from there. */
async function publish(log: StyxTransport, topic: string, path: string, more: JsonObject): Promise<void> {
  await sendParcel(log, topic, readFileSync(path, 'utf8'), { path, ...more });
}

/** How long the mind may take to write the testament, ms; then it is written in this process. */
const LAST_WORDS_MS = 20_000;

interface Ending extends Living {
  readonly hooks: GolemHooks;
  readonly embedded: () => Promise<GolemHooks>;
  readonly fabric: Fabric<GolemEvent>;
}

/** Acceptance, settlement, reflection, legacy (A7): the first cause decides, disk comes before the log, and a kill between is gone on with. */
async function endLife(ending: Ending, cause: DeathCause, signal: AbortSignal): Promise<DeathRow> {
  const { golem, domain, hooks, embedded, log, clock, ground } = ending;
  const { rows, identity } = golem;
  const marker = await rows.die(cause, rows.state()?.tick ?? 0, clock.now());
  if (marker.phase === 'done') return marker;
  await rows.dying('settlement');
  const settling = domain.settle?.(signal) ?? Promise.resolve();
  await withPatience(settling, LAST_WORDS_MS, clock).catch((error) => rows.keep('unsettled', errorText(error)));
  await rows.dying('reflection');
  const asked = { tick: marker.tick, cause: marker.cause };
  const told = await withPatience(hooks.death(asked), LAST_WORDS_MS, clock).catch(async () =>
    (await embedded()).death(asked),
  );
  for (const event of told.events) await sendEvent({ golem, log, clock, fabric: ending.fabric }, event);
  const { path, skills } = told.value;
  const about = { golem: identity.id, cause: marker.cause, skills };
  await publish(log, `golem.${identity.name}.testament`, path, about);
  await withBirths(ground.places.home, clock, (births) => births.ended(identity.id, marker.cause, marker.at));
  await rows.dying('done');
  await sendPresence(ending);
  return rows.death() ?? marker;
}
