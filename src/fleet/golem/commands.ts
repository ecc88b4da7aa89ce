// Owns the list of `talaria golem …`, and the commands that make a golem, judge what one left, and lend its mind or try it. Invariants: nothing is
// born of a bundle that is not whole or whose signer nobody knows; nobody is trusted without a word of the owner.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { known } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import { type AnyCommand, failed, line, wrongUse } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { DOMAINS, PRESETS } from '#fleet/styx/clade.ts';
import { readKit } from '#fleet/styx/kit.ts';
import { ownersOf } from '#fleet/styx/owner-key.ts';
import { MOST_BYTES, readBundle, TOO_LARGE, verifyBundle } from '#mind/skills/format/testament.ts';
import { withBirths } from './births.ts';
import { findCheckout } from './domains/worktree.ts';
import { birth, findGolem, golemPlaces, modelSettings } from './golem-home.ts';
import type { GolemDraft } from './golem-toml.ts';
import { sendEvent } from './heartbeat.ts';
import { withLife, withMind } from './life.ts';
import { lifeCommands } from './life-commands.ts';
import { count, failureOf, golemCommand, lookingCommands, named } from './looking-commands.ts';
import { serveLines, serveSocket, socketPath } from './mind/mind-socket.ts';

export function golemCommands(ground: Ground): readonly AnyCommand[] {
  return [
    createCommand(ground),
    ...lookingCommands(ground),
    ...lifeCommands(ground),
    verifyCommand(ground),
    mindCommand(ground),
    golemCommand('trial', 'trial sim --seeds 30', {
      summary: 'Does what one golem learned help the next? Whole lives, with and without a testament, compared',
      input: z.object({
        world: z.enum(['sim', 'coding']).default('sim'),
        seeds: count.max(1_000).optional().describe('Lives of each arm; default 3 for sim, 2 for coding'),
        ablate: z.string().optional().describe('Leave out one part of the mind, or `all` for one after the other'),
        model: z.string().optional().describe('Let this model answer, in the world `coding`'),
        library: z
          .boolean()
          .default(false)
          .describe('Give heirs what a library makes of the testament, in the world `sim`'),
      }),
      positional: ['world'],
      async *run(asked, context) {
        yield* (await import('./trial/run-trial.ts')).runTrial(ground, asked, context);
      },
    }),
    golemCommand('demo', 'demo', {
      summary: 'Watch a golem live, learn, die, and its heir do better, in a simulated world',
      positional: [],
      input: z.object({}),
      async *run(_, context) {
        yield* (await import('./trial/story.ts')).tellStory(ground, context);
      },
    }),
  ];
}

const created = named.extend({
  domain: z.enum(DOMAINS).default('watch').describe('What it looks at: checks, a repository, or a simulated world'),
  dir: z.string().optional().describe('Folder that it looks at; default the current one'),
  archetype: z.string().optional().describe('What it is for; default coder for coding, else observer'),
  from: z.string().optional().describe('Testament, kit, or name of a golem, whose skills it is given'),
  preset: z.enum(PRESETS).default('balanced').describe('Its temper'),
});

type Created = z.output<typeof created>;

function createCommand(ground: Ground): AnyCommand {
  return golemCommand('create', 'create disk --domain watch', {
    summary:
      'Make an agent that works by itself: watches checks, keeps a repository green, or lives in a simulated world',
    input: created,
    async *run(asked, { cwd }) {
      await ground.writable();
      const { name, domain } = asked;
      const born = await create(ground, asked, cwd);
      if (!born.ok) {
        const trust = `If you know whose it is: talaria golem verify ${asked.from} --trust`;
        return yield failureOf(born, born.reason === 'unknown-signer' ? trust : '');
      }
      const { root, toml } = golemPlaces(ground.places.home, name);
      yield line(`${name} is born: ${root}`);
      if (asked.from !== undefined) yield line(await firstSession(ground, name));
      const next = domain === 'watch' ? `Write its checks and remedies into ${toml}, then: ` : 'Live it: ';
      yield line(`${next}talaria golem run ${name}`);
      yield { type: 'data', value: { name, domain, root } };
    },
  });
}

async function create(ground: Ground, asked: Created, cwd: string): Promise<Result<unknown>> {
  const { name, domain, preset, archetype = domain === 'coding' ? 'coder' : 'observer' } = asked;
  const dir = domain === 'sim' ? undefined : resolve(cwd, asked.dir ?? '.');
  const place = await lookAtFolder(ground, asked, dir);
  if (!place.ok) return place;
  const from = asked.from === undefined ? ok({}) : await inheritance(ground, asked.from, cwd);
  if (!from.ok) return from;
  const golem = { name, domain, archetype, preset, ...(dir === undefined ? {} : { dir }) };
  // Nobody waits for a simulated world.
  const draft: GolemDraft = { golem, ...(domain === 'sim' ? { heartbeat: { base_interval_seconds: 0.05 } } : {}) };
  const config = await modelSettings(ground.places);
  return birth(ground, { draft, ...(config ? { config } : {}), ...from.value });
}

async function lookAtFolder(ground: Ground, { domain, name }: Created, dir?: string): Promise<Result<unknown>> {
  if (dir === undefined) return ok(true);
  if (!known(() => statSync(dir).isDirectory())) return refuse('no-folder', `${dir} is no folder.`);
  if (domain !== 'coding') return ok(true);
  const { worktree } = golemPlaces(ground.places.home, name);
  return findCheckout({ repository: dir, name, worktree, env: await ground.commandVariables() });
}

/**
 * Line and skills of a parent, and half of its last mood. `from`: a file, or a golem of this home: of a dead one its testament, of a living
 * one what it packed last.
 */
async function inheritance(ground: Ground, from: string, cwd: string) {
  const { places, clock } = ground;
  const id = findGolem(places.home, from).ok
    ? withBirths(places.home, clock, (births) => births.get(from)?.id)
    : undefined;
  const own = [`${id}.json`, `${id}-bundle.json`].map((file) => join(golemPlaces(places.home, from).testament, file));
  const path = id === undefined ? resolve(cwd, from) : own.find((file) => existsSync(file));
  if (path === undefined) return refuse('no-testament', `${from} left no testament yet: talaria golem retire ${from}`);
  if (!isFile(path)) return refuse('no-such-bundle', `There is no file ${path}, and no golem ${from}.`);
  const given = statSync(path).size > MOST_BYTES ? '' : readFileSync(path, 'utf8');
  const kit = readKit(given, ownersOf(places.home));
  // A kit is nobody's parent.
  if (kit.ok) return ok({ from: { lineage: [], generation: 0, text: given } });
  if (kit.reason !== 'no-kit') return kit;
  const looked = await lookAtBundle(ground, path);
  if (!looked.ok) return looked;
  const { text, bundle, signer, standing } = looked.value;
  if (standing === 'stranger')
    return refuse('unknown-signer', `${path} is signed by ${signer}, whom this home does not know.`);
  const { pleasure, arousal, dominance } = bundle.last_pad;
  const mood = { pleasure: pleasure / 2, arousal: arousal / 2, dominance: dominance / 2 };
  return ok({ from: { ...bundle, text }, mood });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** What it is and who signed it. */
async function lookAtBundle({ places, clock }: Ground, path: string) {
  if (statSync(path).size > MOST_BYTES) return refuse('too-large', `${path}: ${TOO_LARGE}`);
  const text = readFileSync(path, 'utf8');
  const read = readBundle(text);
  if (!read.ok) return refuse('not-a-bundle', `${path}: ${read.detail}`);
  const verified = await verifyBundle(read.value, (signer, golem) =>
    withBirths(places.home, clock, (births) => births.standing(signer, golem)),
  );
  if (!verified.ok) return refuse(verified.reason, `${path}: ${verified.detail}`);
  return ok({ text, bundle: read.value, ...verified.value });
}

/** Takes in what its parent left; where its domain cannot be opened yet, its first session does. */
async function firstSession(ground: Ground, name: string): Promise<string> {
  const done = await withLife(ground, name, { models: false }, async ({ hooks, golem, log, events: fabric }) => {
    const { value, events } = await hooks.session({ reason: 'start' });
    for (const event of events) await sendEvent({ golem, log, fabric, clock: ground.clock }, event);
    await golem.rows.keep('told', { skills: value.count, todayUsd: 0, at: 0, last: null });
    const left = golem.rows.notTakenIn();
    const waiting = left.filter(({ stage, outcome }) => stage === 'SANDBOX' && outcome === 'held').length;
    const whose = golem.identity.domain === 'watch' ? 'golem.toml does not name' : 'its repository does not have';
    return [
      `It knows ${plural(value.count, 'skill')} that it was given`,
      ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? 'waits' : 'wait'} for steps that ${whose} yet`] : []),
      ...(left.length > waiting ? [`${left.length - waiting} not taken in: talaria golem show ${name}`] : []),
    ].join('; ');
  });
  return done.ok ? done.value : `Its parent's skills are taken in when it runs: ${done.detail}`;
}

function verifyCommand(ground: Ground): AnyCommand {
  return golemCommand('verify', 'verify ledger-gen1.json', {
    summary: 'Is a testament or bundle whole, and who signed it?',
    input: z.object({
      file: z.string(),
      trust: z.boolean().default(false).describe('Take what its signer leaves from now on'),
    }),
    positional: ['file'],
    async *run({ file, trust }, { cwd }) {
      const path = resolve(cwd, file);
      if (!isFile(path)) return yield wrongUse('no-such-bundle', `There is no file ${path}.`);
      const looked = await lookAtBundle(ground, path);
      if (!looked.ok) return yield failed(looked.reason, looked.detail);
      const { bundle, signer, standing } = looked.value;
      const isTrusted = trust && standing === 'stranger';
      if (isTrusted) await withBirths(ground.places.home, ground.clock, (births) => births.accept(signer));
      const whose = { own: 'born in this home', accepted: 'accepted by you', stranger: 'unknown to this home' };
      const end =
        bundle.kind === 'skill-testament' ? `, ended at tick ${bundle.death_tick} (${bundle.death_cause})` : '';
      yield line(`whole: ${bundle.kind} of ${bundle.source_golem}, ${plural(bundle.skills.length, 'skill')}${end}`);
      yield line(
        `signed by ${signer}, ${isTrusted ? 'accepted by you now' : whose[standing]}; lineage ${bundle.lineage.join(' → ')}`,
      );
      const skills = bundle.skills.map(({ name }) => name);
      yield { type: 'data', value: { whole: true, signer, standing, golem: bundle.source_golem, skills } };
    },
  });
}

function mindCommand(ground: Ground): AnyCommand {
  return golemCommand('mind', 'mind ledger --stdio', {
    summary: 'The mind alone, over JSON-RPC, for golems written in other languages',
    input: named.extend({
      socket: z.string().optional().describe('Path of the Unix socket; default mind.sock of its home'),
      stdio: z.boolean().default(false).describe('Standard input and output instead'),
      once: z.boolean().default(false).describe('End when its caller leaves'),
      rules: z.boolean().default(false).describe('Ask no model'),
    }),
    async *run({ name, socket, stdio: isPiped, once, rules }, { cwd, signal, stdio }) {
      const found = findGolem(ground.places.home, name);
      if (!found.ok) return yield failureOf(found);
      const path = socketPath(socket === undefined ? found.value.socket : resolve(cwd, socket));
      const piped = isPiped ? stdio : undefined;
      if (piped === undefined) yield line(`It is asked at ${path}`);
      else signal.addEventListener('abort', () => piped.input.destroy(), { once: true });
      const done = await withMind(ground, { name, models: !rules }, (mind) =>
        piped ? serveLines(mind, piped.input, piped.output) : serveSocket(mind, path, { signal, once }),
      );
      if (!done.ok) yield failureOf(done);
    },
  });
}
