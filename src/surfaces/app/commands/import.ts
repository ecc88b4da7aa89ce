// Owns `import hermes`: a home of hermes-agent becomes part of this one (design 6). Knows no format.
// Invariants: the other home is only read; what is here wins; it can be stopped at any point and run again.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorText } from '#base/errors.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { isYes } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  failed,
  line,
  refused,
} from '#core/agent/command-spec.ts';
import type { Environment } from '../environment.ts';
import { editConfig, loadConfig } from '../home/config.ts';
import type { Home } from '../home/home.ts';
import { refuseNewerHome } from '../home/session-door.ts';
import { mergedVariables, readEnvFile, secretValues, setEnvValue } from '../home/variables.ts';
import { PROVIDERS } from '../models/provider-table.ts';
import { secretNames } from '../rooms.ts';
import type { CommandDeps } from './command-deps.ts';
import { type ConfigMapping, holdsKey, type MappedSetting, mapConfig } from './import-hermes.ts';
import { importMemories, importSkills } from './import-kept.ts';
import { type ImportPlace, ImportReport, type Outcome } from './import-report.ts';
import { importSessions } from './import-sessions.ts';

const INPUT = z.object({
  from: z.string().optional().describe('Its home; default HERMES_HOME, else ~/.hermes'),
  dryRun: z.boolean().default(false).describe('Say what would come, change nothing'),
  accept: z.array(z.string()).default([]).describe('Skills that you have read and want although the guard asks'),
  agree: z.boolean().default(false).describe('Memories and SOUL.md come without a question: you have read them'),
  keys: z.boolean().default(false).describe('Copy the keys of known providers into our .env'),
});

interface Asked {
  readonly input: z.infer<typeof INPUT>;
  readonly context: CommandContext;
}

export function importCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'import hermes',
    summary: 'Bring skills, memories, settings and sessions of hermes-agent here',
    surfaces: ['cli'],
    input: INPUT,
    examples: ['talaria import hermes --dry-run', 'talaria import hermes --from ~/.hermes/profiles/work --keys'],
    run: (input, context) => run(deps, { input, context }),
  });
}

async function* run(deps: CommandDeps, { input, context }: Asked): AsyncGenerator<CommandOutput> {
  const from = sourceOf(deps, input.from, context.cwd);
  const problem = problemOf(from, deps.home.root);
  if (problem) {
    yield problem;
    return;
  }
  const app = await deps.app();
  refuseNewerHome(app);
  await app.doors.skills.ready();
  const report = new ImportReport();
  const place = {
    from,
    home: deps.home,
    clock: deps.clock,
    doors: app.doors,
    report,
    dryRun: input.dryRun,
    signal: context.signal,
    agrees: (what: string, lines: readonly string[]) => agrees({ input, context }, what, lines),
    redact: await importRedaction(from, deps.home, deps.environment),
  };
  for await (const text of bringAll(place, input)) yield line(text);
  for (const { bring } of app.imports())
    for (const { name, outcome } of await bring(from, input.dryRun)) report.tell('jobs', name, outcome);
  nameLeftovers(place, new Set(app.imports().map(({ entry }) => entry)));
  yield* report.outputs({ from, dryRun: input.dryRun });
  yield* closing(report, input.dryRun);
}

/** Where nobody can be asked nothing is agreed to but by the flag. */
async function agrees({ input, context }: Asked, what: string, lines: readonly string[]): Promise<boolean> {
  if (input.agree || context.ask === undefined) return input.agree;
  const shown = lines.flatMap((text) => text.split('\n')).map((text) => `  ${text}`);
  const question = [`Of ${what} this would come, and every session would read it:`, ...shown, 'Take it over? (y/n)'];
  return isYes(await context.ask(question.join('\n')));
}

async function* bringAll(place: ImportPlace, input: Asked['input']): AsyncGenerator<string> {
  const settings = await readSettings(place);
  await importKeys(place, input.keys, variablesOf(settings));
  await importSettings(place, settings);
  await importIdentity(place);
  await importMemories(place);
  await importSkills(place, input.accept);
  yield* importSessions(place);
}

function* closing(report: ImportReport, dryRun: boolean): Generator<CommandOutput> {
  if (dryRun) yield line('nothing was changed: this was a dry run');
  else if (report.taken === 0) yield line('nothing new came: all of it is here already, or was left');
  const broken = report.left.filter((thing) => thing.broken);
  const [first] = broken;
  if (first === undefined) return;
  const what = broken.length === 1 ? 'One thing' : `${broken.length} things`;
  yield failed(
    'import-incomplete',
    `${what} could not be read: ${first.name}: ${first.reason}`,
    'Everything else was brought; mend what is named and run this again.',
  );
}

/** Relative paths start from the folder that the person is in; an empty variable is none. */
function sourceOf({ environment }: CommandDeps, asked: string | undefined, cwd: string): string {
  const named = asked ?? (environment.variables.HERMES_HOME || undefined);
  return named === undefined ? join(environment.userHome, '.hermes') : resolve(cwd, named);
}

function problemOf(from: string, home: string): CommandOutput | undefined {
  const facts = statSync(from, { throwIfNoEntry: false });
  const fix = 'Name the home of hermes-agent with --from.';
  if (!facts)
    return refused(
      'no-such-folder',
      `There is no ${from}; a home of hermes-agent was looked for there (${MARKS.join(', ')}).`,
      fix,
    );
  if (!facts.isDirectory()) return refused('no-folder', `${from} is no folder.`, fix);
  if (resolve(from) === resolve(home)) return refused('own-home', `${from} is the home of this Talaria.`, fix);
  return MARKS.some((name) => statSync(join(from, name), { throwIfNoEntry: false }))
    ? undefined
    : refused('not-hermes', `${from} holds none of ${MARKS.join(', ')}: it is no home of hermes-agent.`, fix);
}

const MARKS = ['state.db', 'config.yaml', 'SOUL.md', 'memories', 'skills', 'sessions', '.env'];

// Bringing SOUL.md. Invariants: an identity that the owner has here is never replaced; none comes that he was not shown.

const MOST_BYTES = 4_000_000;

async function importIdentity(place: ImportPlace): Promise<void> {
  const path = join(place.from, 'SOUL.md');
  if (!existsSync(path)) return;
  const outcome = await bringIdentity(place, path).catch((error: unknown) => brokenBy(error));
  place.report.tell('identity', 'SOUL.md', outcome);
}

async function bringIdentity({ home, dryRun, agrees }: ImportPlace, path: string): Promise<Outcome> {
  const text = readRegular(path, MOST_BYTES);
  if (existsSync(home.soul))
    return readFileSync(home.soul).equals(text)
      ? 'here'
      : { left: `there is another one at ${home.soul}, which stays` };
  if (dryRun) return 'taken';
  if (!(await agrees('SOUL.md', text.toString('utf8').trim().split('\n')))) return { left: UNSEEN };
  atomicWrite(home.soul, text);
  return 'taken';
}

const UNSEEN = 'you did not agree to it; read it, then run this again with --agree';

function brokenBy(error: unknown): Outcome {
  return { left: errorText(error), broken: true };
}

// Which words may not come over in a conversation: the keys of both homes. No value ever leaves as text of a message.
// Invariant: the same homes give the same words, so that a session that was brought once is known again.

const SHORTEST = 8;

/** A way to take them out of a text. Throws `env-unreadable` for our own file only. */
async function importRedaction(from: string, home: Home, environment: Environment): Promise<(text: string) => string> {
  const names = await secretNames();
  const values = new Set([...secretValues(home, mergedVariables(home, environment), { names }), ...keysOf(from)]);
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((out, value) => out.replaceAll(value, '[redacted]'), text);
}

function keysOf(from: string): readonly string[] {
  try {
    const entries = Object.entries(readEnvFile(join(from, '.env')));
    return entries
      .filter(([name, value]) => value.length >= SHORTEST && holdsKey(name, value))
      .map(([, value]) => value);
  } catch {
    // The part that brings keys says that the file cannot be read.
    return [];
  }
}

// Naming what a hermes-agent home holds besides, so that nothing stays behind unsaid. Reads names only.

const PROFILES = 'other profiles; bring each with --from';
const NOT_HERE = 'nothing here uses it';

/** Top-level name → why it stays. Names that are not listed are caches and logs. */
const REASONS: Readonly<Record<string, string>> = {
  profiles: PROFILES,
  cron: 'timed jobs are set up anew',
  plugins: 'extensions are programs of their own',
  'plugin-data': 'extensions are programs of their own',
  hooks: 'programs are not taken over',
  scripts: 'programs are not taken over',
  'skill-bundles': NOT_HERE,
  'kanban.db': NOT_HERE,
  'projects.db': NOT_HERE,
  'response_store.db': NOT_HERE,
  'verification_evidence.db': NOT_HERE,
  'memory_store.db': NOT_HERE,
  pending: 'what waited for a yes there; decide it there',
};

function nameLeftovers({ from, report }: ImportPlace, brought: ReadonlySet<string>): void {
  for (const [name, reason] of Object.entries(REASONS).filter(([entry]) => !brought.has(entry))) {
    const path = join(from, name);
    if (existsSync(path) && !isEmptyFolder(path)) report.tell('other files', name, { left: reason });
  }
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    // It is a file, or may not be read: it is there.
    return false;
  }
}

// Bringing keys from a hermes-agent `.env`. Knows the variables of known providers only.
// Invariant: nothing is copied unless it was asked for, nothing that is set here is replaced, and no value leaves this file.

const KNOWN = new Set(
  PROVIDERS.flatMap((row) => [...row.keyVariables, ...(row.baseUrlVariable ? [row.baseUrlVariable] : [])]),
);

/** `wanted`: further variables that something here refers to. */
async function importKeys(place: ImportPlace, withKeys: boolean, wanted: readonly string[]): Promise<void> {
  const { home, report, dryRun, from } = place;
  const ours = readEnvFile(home.env);
  const useful = new Set([...KNOWN, ...wanted]);
  for (const [name, value] of Object.entries(readTheirs(place)).filter(([, text]) => text !== '')) {
    const outcome = useful.has(name) ? keyOutcome(ours[name], value, withKeys) : UNUSED;
    if (outcome === 'taken' && !dryRun) await setEnvValue(home.env, name, value);
    report.tell('keys', name, outcome);
  }
  if (existsSync(join(from, 'auth.json')))
    report.tell('keys', 'auth.json', { left: 'sign in again with `talaria setup`' });
}

const UNUSED: Outcome = { left: 'no provider here uses it' };

function keyOutcome(here: string | undefined, value: string, withKeys: boolean): Outcome {
  if (here === value) return 'here';
  if (here) return { left: 'another value is set here, which stays' };
  return withKeys ? 'taken' : { left: 'keys come only with --keys' };
}

function readTheirs({ from, report }: ImportPlace): Readonly<Record<string, string>> {
  try {
    return readEnvFile(join(from, '.env'));
  } catch (error) {
    report.tell('keys', '.env', brokenBy(error));
    return {};
  }
}

// Bringing config.yaml. Knows no setting: what they mean here is hermes/config-map.ts.
// Invariant: what the owner has set here is never replaced, and the file is at every moment one that reads back valid.

/** Undefined when there is none, or none that can be read. */
async function readSettings({ from, report }: ImportPlace): Promise<ConfigMapping | undefined> {
  const path = join(from, 'config.yaml');
  if (!existsSync(path)) return undefined;
  try {
    const { data } = (await import('../home/config-document.ts')).parseConfigText(
      path,
      readRegular(path, MOST_BYTES).toString('utf8'),
    );
    return mapConfig(data);
  } catch (error) {
    report.tell('settings', 'config.yaml', brokenBy(error));
    return undefined;
  }
}

/** Variables that the settings refer to as `${NAME}`. */
function variablesOf(mapping: ConfigMapping | undefined): readonly string[] {
  const text = JSON.stringify(mapping?.settings ?? []);
  return [...text.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

async function importSettings(place: ImportPlace, mapping: ConfigMapping | undefined): Promise<void> {
  if (mapping === undefined) return;
  const { report, home } = place;
  const { settings, left } = mapping;
  for (const { name, reason, isKey } of left) report.tell(isKey ? 'keys' : 'settings', name, { left: reason });
  const ours = (await loadConfig(home.config)).raw;
  const fresh = settings.filter((setting) => isFree(place, ours, setting));
  for (const group of grouped(fresh, ours)) await writeGroup(place, group);
}

function isFree({ report }: ImportPlace, ours: JsonObject, { keys, value }: MappedSetting): boolean {
  const present = valueAt(ours, keys);
  if (present === undefined) return true;
  const name = keys.join('.');
  const isSame = canonicalJson(present) === canonicalJson(value);
  report.tell('settings', name, isSame ? 'here' : { left: 'it is set here, and stays' });
  return false;
}

/** What stands at `keys`, or at the nearest parent that is no map. */
function valueAt(ours: JsonObject, keys: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = ours;
  for (const key of keys) {
    if (!isJsonObject(at)) return at;
    at = Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at ?? undefined;
}

interface Group {
  readonly keys: readonly string[];
  readonly value: JsonValue;
  readonly names: readonly string[];
}

/** A section that is not here yet is written in one go. */
function grouped(settings: readonly MappedSetting[], ours: JsonObject): readonly Group[] {
  const sections = new Map<string, MappedSetting[]>();
  const single: Group[] = [];
  for (const setting of settings) {
    const [top = ''] = setting.keys;
    const names = [setting.keys.join('.')];
    if (setting.keys.length === 1 || ours[top] !== undefined) single.push({ ...setting, names });
    else sections.set(top, [...(sections.get(top) ?? []), setting]);
  }
  const whole = [...sections].map(([top, members]) => ({
    keys: [top],
    value: members.reduce<JsonObject>((tree, { keys, value }) => withValue(tree, keys.slice(1), value), {}),
    names: members.map(({ keys }) => keys.join('.')),
  }));
  return [...single, ...whole];
}

function withValue(tree: JsonObject, [key = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  if (rest.length === 0) return { ...tree, [key]: value };
  const inner = tree[key];
  return { ...tree, [key]: withValue(isJsonObject(inner) ? inner : {}, rest, value) };
}

async function writeGroup({ home, report, dryRun }: ImportPlace, { keys, value, names }: Group): Promise<void> {
  const done = dryRun ? undefined : await editConfig(home.config, [{ path: keys, value }]);
  const outcome = done === undefined || done.ok ? 'taken' : { left: done.detail };
  for (const name of names) report.tell('settings', name, outcome);
}
