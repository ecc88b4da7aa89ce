// Owns the commands that live a golem, speak to one that lives, and end it. Invariants: what a running golem is told goes through the home's log; nothing
// is ended for good without a word of the owner; what it looked at may be gone, it ends all the same.
import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import { deadline } from '#base/abort.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import type { JsonValue } from '#base/json.ts';
import { refuse } from '#base/result.ts';
import { isYes, plural } from '#base/text.ts';
import { type AnyCommand, type CommandOutput, failed, line, refused } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { Word } from '#fleet/styx/clade.ts';
import { homeLogPath, openHomeLog } from '#fleet/styx/home-log.ts';
import { linkLine, withLink } from '#fleet/styx/linking.ts';
import { ownerOf } from '#fleet/styx/owner-key.ts';
import { sendWord } from '#fleet/styx/words.ts';
import { costOf } from './deliberate.ts';
import { RESTING } from './domains/open-domain.ts';
import type { OpenGolem } from './golem-home.ts';
import type { DeathRow } from './golem-rows.ts';
import type { LifeEvent } from './heartbeat.ts';
import { type Life, type LifeOptions, withLife } from './life.ts';
import { failureOf, golemCommand, inHome, named, withGolem } from './looking-commands.ts';
import { isLivedNow, tickLine } from './told.ts';

export function lifeCommands(ground: Ground): readonly AnyCommand[] {
  return [
    runCommand(ground),
    ...WORDS.map((word) => wordCommand(ground, word)),
    dreamCommand(ground),
    retireCommand(ground),
    buryCommand(ground),
  ];
}

function runCommand(ground: Ground): AnyCommand {
  return golemCommand('run', 'run ledger', {
    summary: 'Live a golem here, in the foreground, until it is stopped',
    input: named.extend({
      ticks: z.coerce.number().int().positive().optional().describe('Heartbeats, then it rests'),
      sidecar: z.boolean().default(false).describe('Its mind in a process of its own'),
    }),
    async *run({ name, ticks, sidecar }, { signal }) {
      // A life is long and waits most of its time: garbage is collected early (measured: 30 MB less after a thousand ticks).
      setFlagsFromString('--optimize-for-size');
      const alive = await aliveOf(ground, name);
      const heir = `An heir: talaria golem create NAME --from ${name}`;
      if (!alive.ok) return yield failureOf(alive, alive.reason === 'dead' ? heir : '');
      const lines = createAsyncQueue<CommandOutput>();
      const options: LifeOptions = { listens: true, ...(sidecar ? { sidecar } : {}) };
      const limits = { ...(ticks === undefined ? {} : { ticks }), signal };
      const work = (life: Life) => liveAndTell(life, limits, lines.push);
      const told = (state: Parameters<typeof linkLine>[0]) => lines.push(line(linkLine(state)));
      const done = withLink(ground, told, () => withLife(ground, name, options, work)).finally(lines.close);
      done.catch(() => undefined);
      yield* lines;
      const ended = await done;
      if (!ended.ok) yield failureOf(ended);
    },
  });
}

async function liveAndTell(
  life: Life,
  limits: Parameters<Life['live']>[0],
  tell: (output: CommandOutput) => void,
): Promise<void> {
  const { rows, identity } = life.golem;
  const death = rows.death();
  if (death !== undefined) return tell(line(endLine(identity.id, await life.end(death.cause, limits.signal))));
  for (const text of firstLines(life.golem)) tell(line(text));
  await rows.keep('isAwake', true);
  let count = 0;
  for await (const event of life.live(limits)) {
    if (event.type === 'tick') count += 1;
    const text = await eventLine(life, event, limits.signal);
    if (text !== undefined) tell(line(text));
  }
  const rested = rows.death() === undefined ? await life.rest().catch(() => undefined) : undefined;
  await rows.keep('isAwake', false);
  const { tick = 0, phase = '' } = rows.state() ?? {};
  const packed = rested?.bundle ? `; ${plural(rested.skills, 'skill')} packed for the clade` : '';
  tell(line(`${plural(count, 'tick')} lived, ${tick} in all; ${phase}${packed}`));
  tell({ type: 'data', value: { golem: identity.id, lived: count, tick, phase, died: rows.death()?.cause ?? null } });
}

function firstLines({ identity, rows, settings, places }: OpenGolem): readonly string[] {
  const lives = `${identity.id} lives from tick ${(rows.state()?.tick ?? 0) + 1} on; Ctrl-C ends the session.`;
  const isBlind = identity.domain === 'watch' && settings.check.length === 0;
  return isBlind ? [lives, `It looks at nothing: there is no [[check]] in ${places.toml}.`] : [lives];
}

async function eventLine(life: Life, event: LifeEvent, signal: AbortSignal): Promise<string | undefined> {
  if (event.type === 'tick') return tickLine(event.record);
  if (event.type === 'dream') return dreamLine(event.tick, event.report);
  return event.type === 'dying' ? endLine(life.golem.identity.id, await life.end(event.cause, signal)) : event.type;
}

function endLine(id: string, { tick, cause, path }: DeathRow): string {
  return `${id} ended at tick ${tick} (${cause}). Testament: ${path}`;
}

function dreamLine(tick: number, report: JsonValue): string {
  const { refused: why, heuristics = 0, ...lists } = report as Readonly<Record<string, never>>;
  if (why !== undefined) return `tick ${tick} · no dream: ${why}`;
  const titles = { created: 'new', improved: 'changed', flagged: 'flagged', promoted: 'promoted' };
  const parts = Object.entries(titles).map(([key, title]) => [title, (lists[key] ?? []) as readonly string[]] as const);
  const told = parts.filter(([, names]) => names.length > 0).map(([title, names]) => `; ${title} ${names.join(', ')}`);
  return `tick ${tick} · dreamt: ${plural(heuristics, 'heuristic')}${told.join('')}`;
}

const WORDS = [
  { kind: 'steer', summary: 'Tell a golem something; it reads it at its next heartbeat' },
  { kind: 'pause', summary: 'Let a golem wait' },
  { kind: 'resume', summary: 'Let a golem go on' },
] as const;

/** A row of the home's log in the owner's name, which the golem reads when it lives. */
async function say({ places, clock }: Ground, to: Pick<Word, 'golem' | 'signer'>, what: Pick<Word, 'kind' | 'text'>) {
  const log = openHomeLog({ path: homeLogPath(places.home), clock });
  await sendWord(log, ownerOf(places.home, clock), { ...to, ...what }).finally(() => log.close());
}

function wordCommand(ground: Ground, { kind, summary }: (typeof WORDS)[number]): AnyCommand {
  const isSteer = kind === 'steer';
  return golemCommand(kind, isSteer ? 'steer ledger leave the flaky suite alone' : `${kind} ledger`, {
    summary,
    input: named.extend({
      text: isSteer ? z.array(z.string()).min(1).describe('Your words') : z.array(z.string()).default([]),
    }),
    positional: isSteer ? ['name', 'text...'] : ['name'],
    async *run({ name, text }) {
      const alive = await aliveOf(ground, name);
      if (!alive.ok) return yield failureOf(alive);
      await say(ground, alive.value, { kind, ...(isSteer ? { text: text.join(' ') } : {}) });
      yield line(`${name} ${isSteer ? 'reads it' : `will ${kind}`} at its next heartbeat.`);
      yield { type: 'data', value: { golem: name, kind } };
    },
  });
}

/** For what changes it. Refuses the dead. */
async function aliveOf(ground: Ground, name: string) {
  await ground.writable();
  const looked = await withGolem(ground, name, ({ rows, places, identity: { id, signer } }) => {
    const death = rows.death();
    return {
      golem: id,
      signer,
      death,
      isLived: isLivedNow(places),
      wasKilled: death !== undefined || rows.value('isAwake') === true,
    };
  });
  if (!looked.ok || looked.value.death?.phase !== 'done') return looked;
  const { golem, death } = looked.value;
  return refuse('dead', `${golem} is dead (${death.cause}, tick ${death.tick}): ${death.path}`);
}

function dreamCommand(ground: Ground): AnyCommand {
  return golemCommand('dream', 'dream ledger', {
    summary: 'Let a golem sleep over what it lived through, now',
    input: named,
    async *run({ name }) {
      const alive = await aliveOf(ground, name);
      if (!alive.ok) return yield failureOf(alive);
      if (alive.value.isLived) {
        await say(ground, alive.value, { kind: 'dream' });
        return yield line(`${name} dreams after its next heartbeat.`);
      }
      const left = await withGolem(ground, name, (golem) => leftToday(ground, golem));
      if (!left.ok) return yield failureOf(left);
      const done = await withLife(ground, name, {}, async ({ hooks, golem: { rows } }) => {
        await hooks.session({ reason: 'start' });
        const { tick = 0, phase = 'stable' } = rows.state() ?? {};
        const { value } = await hooks.dreamOnset({ tick, phase, budget_usd: left.value });
        return { tick, report: value as unknown as JsonValue };
      });
      if (!done.ok) return yield failureOf(done);
      yield line(dreamLine(done.value.tick, done.value.report));
      yield { type: 'data', value: done.value.report };
    },
  });
}

const DAY_MS = 86_400_000;

/** Of what it may spend until midnight UTC, US dollars. */
async function leftToday(ground: Ground, { places, settings }: OpenGolem): Promise<number> {
  const since = Math.floor(ground.clock.now() / DAY_MS) * DAY_MS;
  const rows = await inHome(ground, places, async (home) => (await home.door('sessions')).costs({ since }));
  return rows.reduce((left, row) => Math.max(0, left - costOf(row).usd), settings.heartbeat.max_daily_cost_usd);
}

/** How long a running golem is waited for to end, ms. */
const RETIRE_MS = 60_000;

function retireCommand(ground: Ground): AnyCommand {
  return golemCommand('retire', 'retire ledger', {
    summary: 'End a golem for good; it leaves a signed testament',
    input: named.extend({ yes: z.boolean().default(false).describe('Do not ask') }),
    async *run({ name, yes }, { ask, signal }) {
      const alive = await aliveOf(ground, name);
      if (!alive.ok) return yield failureOf(alive);
      if (!yes && ask === undefined) return yield refused('needs-owner', `${name} would end for good.`, 'Say --yes.');
      const question = `End ${name} for good? It leaves its skills and cannot be woken again. [y/N] `;
      if (!yes && !isYes((await ask?.(question)) ?? '')) return yield line('Nothing changed.');
      if (!alive.value.isLived) return yield* endNow(ground, name, 'owner-kill', signal);
      await say(ground, alive.value, { kind: 'retire' });
      yield* waitForEnd(ground, name, signal);
    },
  });
}

async function* waitForEnd(ground: Ground, name: string, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const limit = deadline(ground.clock, signal, RETIRE_MS, () => new Error('late'));
  try {
    for (;;) {
      const phase = await withGolem(ground, name, ({ rows }) => rows.death()?.phase);
      if (phase.ok && phase.value === 'done') break;
      const later = `It ends at its next heartbeat: talaria golem show ${name}`;
      if (limit.signal.aborted) return yield failed('not-ended', `${name} did not end within a minute.`, later);
      await ground.clock.sleep(200);
    }
    yield line(`${name} ended. See: talaria golem show ${name}`);
  } finally {
    limit.clear();
  }
}

async function* endNow(
  ground: Ground,
  name: string,
  cause: 'owner-kill' | 'vm-failure',
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  const end = (options: LifeOptions) => withLife(ground, name, options, (life) => life.end(cause, signal));
  const ended = async () => {
    const done = await end({ models: cause === 'owner-kill' });
    return done.ok || done.reason === 'runs-already' ? done : end({ models: false, domain: RESTING });
  };
  const done = await withLink(ground, () => undefined, ended);
  if (!done.ok) return yield failureOf(done);
  const { tick, path, cause: stands } = done.value;
  yield line(endLine(name, done.value));
  yield { type: 'data', value: { golem: name, tick, cause: stands, testament: path } };
}

function buryCommand(ground: Ground): AnyCommand {
  return golemCommand('bury', 'bury ledger', {
    summary: 'Write the testament of a golem whose process was killed',
    input: named,
    async *run({ name }, { signal }) {
      const alive = await aliveOf(ground, name);
      if (!alive.ok) return yield failureOf(alive);
      const { isLived, wasKilled } = alive.value;
      const retire = `To end it: talaria golem retire ${name}`;
      const run = `To live it: talaria golem run ${name}. ${retire}`;
      if (isLived) return yield refused('runs-already', `${name} is alive.`, retire);
      if (!wasKilled) return yield refused('at-rest', `${name} rests; it was not killed.`, run);
      yield* endNow(ground, name, 'vm-failure', signal);
    },
  });
}
