// Owns a golem's home (hierarchy notes A10): where things lie in it, how one is born, found and opened. Knows no tick. Invariants: a birth is whole
// or not there, for the folder is made under another name and moved in place last; nothing of an owner's key or setting is copied into it but
// references; a dead golem's home stays readable.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { goneAway } from '#base/database.ts';
import { addressOf, newKey } from '#base/ethereum.ts';
import { randomHex } from '#base/ids.ts';
import { privateFolder, readIfThere } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Ground } from '#core/agent/room.ts';
import type { BirthsDoor } from '#fleet/styx/clade.ts';
import { type Birth, type Births, withBirths } from './births.ts';
import { GolemRows, tornError } from './golem-rows.ts';
import type { GolemDraft, GolemSettings, TomlRefusal } from './golem-toml.ts';
import { GOLEM_NAME, readGolemToml, writeGolemToml } from './golem-toml.ts';
import { type Mood, TEMPERAMENTS } from './vitals.ts';

export interface GolemIdentity extends Omit<Birth, 'domain' | 'dir' | 'end'> {
  readonly domain: GolemSettings['golem']['domain'];
}

function golemsFolder(home: string): string {
  return join(home, 'golems');
}

/** Absolute paths of one golem. */
export function golemPlaces(home: string, name: string) {
  const root = join(golemsFolder(home), name);
  const at = (file: string) => join(root, file);
  return {
    ...{ root, toml: at('golem.toml'), database: at('golem.db'), playbook: at('PLAYBOOK.md'), socket: at('mind.sock') },
    /** Private key, hex, 0600. */
    key: at('golem.key'),
    /** The owner's: never written here after birth. */
    strategy: at('STRATEGY.md'),
    /** Testament and bundles, and bundles that wait to be taken in. */
    ...{ testament: at('testament'), inbox: at('inbox') },
    /** The only folder that its checks may write unless `paths` says more. */
    work: at('work'),
    worktree: at('worktree'),
    /** Held by the process that lives it. */
    lock: at('golem.lock'),
  } as const;
}

export type GolemPlaces = ReturnType<typeof golemPlaces>;

/** One of these is a golem, whatever else is gone. */
const LEFT = ['golem.toml', 'golem.db', 'golem.key'];

/** Names of all golems of a home, dead ones and torn ones too. */
export function golemNames(home: string): readonly string[] {
  const folder = golemsFolder(home);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => GOLEM_NAME.test(name) && LEFT.some((file) => existsSync(join(folder, name, file))))
    .sort();
}

type FindRefusal = 'invalid-name' | 'no-such-golem' | 'golem-toml-missing';

function noName(name: string) {
  return refuse('invalid-name', `${JSON.stringify(name)} is no name: lower-case letters, digits and -, at most 32.`);
}

export function findGolem(home: string, name: string): Result<GolemPlaces, FindRefusal> {
  if (!GOLEM_NAME.test(name)) return noName(name);
  const places = golemPlaces(home, name);
  if (existsSync(places.toml)) return ok(places);
  const all = golemNames(home);
  if (all.includes(name))
    return refuse('golem-toml-missing', `${places.toml} is missing: put it back from a backup (talaria backup).`);
  const others = all.length > 0 ? `There are ${all.join(', ')}.` : 'There is none yet: talaria golem create NAME.';
  return refuse('no-such-golem', `There is no golem ${name} in ${golemsFolder(home)}. ${others}`);
}

export interface BirthRequest {
  readonly draft: GolemDraft;
  /** Whose skills it is given: ids, the oldest first, and the text of the bundle. */
  readonly from?: { readonly lineage: readonly string[]; readonly generation: number; readonly text: string };
  /** What its mood begins with, beside the preset. */
  readonly mood?: Mood;
  /** The parent home's model settings, as references: text of config.yaml. */
  readonly config?: string;
}

/** Throws TalariaError of the disk; nothing is left then. */
export async function birth(
  { places: { home }, clock }: Pick<Ground, 'clock'> & { readonly places: { readonly home: string } },
  { draft, from, mood, config }: BirthRequest,
): Promise<Result<GolemPlaces, 'golem-exists' | 'invalid-name' | 'golem-toml-invalid'>> {
  const { name } = draft.golem;
  if (!GOLEM_NAME.test(name)) return noName(name);
  const places = golemPlaces(home, name);
  if (existsSync(places.root))
    return refuse('golem-exists', `There is a golem ${name} already: ${places.root}. Choose another name.`);
  const text = await writeGolemToml(draft);
  const settings = await readGolemToml(text, 'golem.toml');
  if (!settings.ok) return refuse('golem-toml-invalid', settings.detail);
  privateFolder(golemsFolder(home));
  const cradle = join(golemsFolder(home), `.${name}-${randomHex(4)}`);
  const key = newKey();
  const { archetype, domain, preset, dir = null } = settings.value.golem;
  const files = {
    ...{ 'golem.toml': text, 'golem.key': `${key}\n`, 'STRATEGY.md': STRATEGY },
    ...{ 'config.yaml': config, 'inbox/parent.json': from?.text },
  };
  return withBirths(home, clock, async (births) => {
    // A name that was used before goes on counting, so that an id is nobody else's.
    const generation = Math.max(from?.generation ?? 0, births.get(name)?.generation ?? 0) + 1;
    const id = `${name}-gen${generation}`;
    const identity: GolemIdentity = {
      ...{ id, name, generation, lineage: [...(from?.lineage ?? []), id], archetype, domain },
      ...{ signer: await addressOf(key), bornAt: clock.now() },
    };
    try {
      fillCradle(cradle, files);
      await firstBreath(join(cradle, basename(places.database)), identity, mood ?? TEMPERAMENTS[preset], clock);
      await births.add({ ...identity, dir });
      renameSync(cradle, places.root);
      return ok(places);
    } catch (error) {
      rmSync(cradle, { recursive: true, force: true });
      throw error;
    }
  });
}

const TAKEN_OVER = ['version', 'model', 'providers', 'tiers', 'sandbox'];

/** What a newborn takes over of a home's config.yaml, as references; `model` instead of the one that is set there. */
export async function modelSettings(
  { config }: { readonly config: string },
  model?: string,
): Promise<string | undefined> {
  const text = readIfThere(config);
  if (text === undefined && model === undefined) return undefined;
  const { parse, stringify } = await import('yaml');
  const all = Object.entries((parse(text ?? '') ?? {}) as Readonly<Record<string, unknown>>);
  const kept = Object.fromEntries(all.filter(([key]) => TAKEN_OVER.includes(key)));
  return stringify(model === undefined ? kept : { ...kept, model });
}

function fillCradle(cradle: string, files: Readonly<Record<string, string | undefined>>): void {
  privateFolder(cradle);
  for (const folder of ['work', 'testament', 'inbox']) mkdirSync(join(cradle, folder), { mode: 0o700 });
  for (const [file, text] of Object.entries(files)) if (text !== undefined) atomicWrite(join(cradle, file), text);
}

const STRATEGY =
  '<!-- What you want of this golem, in your words: read with every decision of a model, never written by it. -->\n';

async function firstBreath(path: string, identity: GolemIdentity, mood: Mood, clock: Clock): Promise<void> {
  const rows = new GolemRows(path, { clock });
  try {
    await rows.keep('identity', identity);
    await rows.keepState({
      ...{ tick: 0, mood, phase: 'thriving', seq: 0, quietTicks: 0, wrongTicks: 0 },
      ...{ isPaused: false, heardUpTo: 0, spentUsd: 0 },
    });
  } finally {
    rows.close();
  }
}

/** One golem, its files open. */
export interface OpenGolem {
  readonly places: GolemPlaces;
  readonly settings: GolemSettings;
  readonly identity: GolemIdentity;
  readonly rows: GolemRows;
  close(): void;
}

export type OpenRefusal = FindRefusal | TomlRefusal;

/** Throws TalariaError `golem-torn`, and of the database. */
export async function openGolem(
  home: string,
  name: string,
  options: { readonly clock: Clock; readonly readOnly?: boolean },
): Promise<Result<OpenGolem, OpenRefusal>> {
  const found = findGolem(home, name);
  if (!found.ok) return found;
  const places = found.value;
  const text = readFileSync(places.toml, 'utf8');
  const settings = await readGolemToml(text, places.toml);
  if (!settings.ok) return settings;
  const { dir = '/' } = settings.value.golem;
  if (!/^(?:~?\/|~$)/.test(dir)) {
    const at = text.split('\n').findIndex((line) => /^\s*(?:golem\.)?dir\s*=/.test(line)) + 1;
    return refuse('golem-toml-invalid', `${places.toml}:${at}: golem.dir: ${dir} is no path that begins with / or ~/.`);
  }
  if (settings.value.golem.name !== name)
    return refuse('golem-toml-invalid', `${places.toml}: golem.name is ${settings.value.golem.name}, not ${name}.`);
  const gone = goneAway(places.database, () => [places.toml]);
  if (gone !== undefined) throw tornError(`${places.database} is damaged: ${gone}`);
  const rows = new GolemRows(places.database, options);
  const identity = rows.value<GolemIdentity>('identity');
  if (identity === undefined) {
    rows.close();
    throw tornError(`${places.database} holds no life`);
  }
  return ok({ places, settings: settings.value, identity, rows, close: () => rows.close() });
}

/** Undefined: the golem has no key any more, and its testament will be unsigned. */
export function readKey({ key }: Pick<GolemPlaces, 'key'>): string | undefined {
  return readIfThere(key)?.trim() || undefined;
}

/** Who speaks for whom, and how much of what golems of a domain meet is another than before, of what their ticks say. */
export function birthsDoor({ places: { home }, clock }: Pick<Ground, 'places' | 'clock'>): BirthsDoor {
  const all = <T>(work: (births: Births) => T) => withBirths(home, clock, work);
  return {
    alive: async (called) => {
      const alive = all((births) => births.list().filter((birth) => birth.end === undefined));
      const found = alive.findLast(({ id, name }) => id === called || name === called);
      const text = found && readIfThere(golemPlaces(home, found.name).strategy);
      return found && { ...found, golem: found.id, strategy: (text ?? '').replace(/<!--[\s\S]*?-->/g, '').trim() };
    },
    standing: async (signer, golem) => all((births) => births.standing(signer, golem)),
    changed: async (domain, since) => {
      const alive = all((births) =>
        births.list().filter((birth) => birth.domain === domain && birth.end === undefined),
      );
      const shares: number[] = [];
      for (const { name } of alive) {
        const golem = await openGolem(home, name, { clock, readOnly: true }).catch(() => undefined);
        if (!golem?.ok) continue;
        shares.push(golem.value.rows.changed(since));
        golem.value.close();
      }
      return Math.max(0, ...shares);
    },
  };
}
