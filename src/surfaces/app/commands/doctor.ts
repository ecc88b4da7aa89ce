// Owns `doctor`: every check in order, one line each, with what to do. Contract of a check: it changes nothing and never throws for what it is
// there to find; `fix` says what a person does about it. Invariant: works in a broken home (no agent is composed); exit 1 when a check failed.
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { findSecrets } from '#base/secrets.ts';
import { type AnyCommand, type CommandOutput, defineCommand, failed, line } from '#core/agent/command-spec.ts';
import { fault, good, type HealthLine, warning } from '#core/agent/health.ts';
import { stateDamage } from '../backup/repair-state.ts';
import type { Environment } from '../environment.ts';
import { lendGround } from '../ground.ts';
import { loadConfig, readConfigSection } from '../home/config.ts';
import { type Config, settingsSchema, unknownSettings } from '../home/config-schema.ts';
import { type Home, isReadOnlyHome } from '../home/home.ts';
import { mergedVariables } from '../home/variables.ts';
import { createModelLists, findLocalModels, findProviders, type ModelLists } from '../models/find-providers.ts';
import {
  cannotAnswer,
  configuredModel,
  configuredProvider,
  firstChoice,
  isReflex,
  type ModelGround,
  named,
  unplacedTiers,
} from '../models/model-choice.ts';
import type { FoundProvider, LocalFile } from '../models/provider-table.ts';
import { loadRooms } from '../rooms.ts';
import { composeWalls, hopelessHost, hopelessPath, type WallGround, wallsLine } from '../walls.ts';
import type { CommandDeps } from './command-deps.ts';

export function doctorCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'doctor',
    summary: 'Check home, database, models, machine; say what to do',
    surfaces: ['cli', 'chat'],
    readOnly: ({ repair }) => !repair,
    input: z.object({
      repair: z.boolean().default(false).describe('Build a search index that differs anew'),
      offline: z.boolean().default(false).describe('Ask no provider'),
    }),
    async *run(options, context): AsyncGenerator<CommandOutput> {
      const all: HealthLine[] = [];
      for (const check of checksOf(deps, options, context.signal)) {
        const found = await attempt(check, all);
        all.push(...found);
        yield* found.flatMap(printed);
      }
      yield { type: 'data', value: all.map((found) => ({ ...found })) };
      const faults = all.filter((found) => found.verdict === 'fail').map((found) => found.name);
      if (faults.length > 0)
        yield failed('unhealthy', `${faults.length} of ${all.length} checks failed: ${faults.join(', ')}.`);
    },
  });
}

type Check = () => Promise<readonly HealthLine[]>;

function checksOf(
  deps: CommandDeps,
  { repair, offline }: { readonly repair: boolean; readonly offline: boolean },
  signal: AbortSignal,
): readonly Check[] {
  const place = { home: deps.home, environment: deps.environment, clock: deps.clock };
  return [
    async () => [checkNode(process.version)],
    async () => checkFolder(deps.home),
    () => checkConfig(deps.home),
    async () => checkDatabase(deps.home),
    async () => checkSetAside(deps.home),
    () => checkRooms(deps, repair),
    ...(offline ? [] : [() => checkModels(place, signal)]),
    async () => [await checkWalls(place)],
    () => checkOpenings(place),
  ];
}

function printed(found: HealthLine): readonly CommandOutput[] {
  const head = line(`${found.verdict.padEnd(4)}  ${found.name}: ${found.text}`);
  return found.fix ? [head, line(`      ${found.fix}`)] : [head];
}

/** What a check cannot do is itself a finding, unless an earlier check told it: a broken config also stops the check of models. */
async function attempt(check: Check, before: readonly HealthLine[]): Promise<readonly HealthLine[]> {
  try {
    return await check();
  } catch (error) {
    const text = errorText(error);
    // The configuration has a line of its own.
    if (errorCode(error) === 'config-invalid' || before.some((found) => found.text === text)) return [];
    return [fault('check', text, 'Mend the faults above first.')];
  }
}

// The checks of the folder itself: permissions, free space, configuration. Knows no database.

const LOW_SPACE_BYTES = 200 * 1024 ** 2;
const OLDEST_NODE = 24;

function checkNode(version: string): HealthLine {
  const major = Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);
  if (major >= OLDEST_NODE) return good('node', version);
  return fault(
    'node',
    `${version} is too old`,
    `Install Node ${OLDEST_NODE} or later, or reinstall talaria with its optional dependencies.`,
  );
}

function checkFolder(home: Home): readonly HealthLine[] {
  if (!existsSync(home.root)) return [good('home', `${home.root} will be made when it is needed`)];
  if (!statSync(home.root).isDirectory())
    return [fault('home', `${home.root} is no folder`, 'Move it away, or name another folder with TALARIA_HOME.')];
  const open = openPaths(home.root, '');
  const lines: HealthLine[] = [];
  if (open.length === 0) lines.push(good('home', `${home.root}, private`));
  else {
    const shown = open.slice(0, 5).join(', ');
    lines.push(
      fault(
        'home',
        `others can read ${shown}${open.length > 5 ? ` and ${open.length - 5} more` : ''}`,
        `chmod -R go-rwx ${JSON.stringify(home.root)}`,
      ),
    );
  }
  lines.push(checkSpace(home.root));
  return lines;
}

/** Paths that somebody else may read or write. A private root keeps everything below it private, but copies lose that. */
function openPaths(root: string, folder: string): readonly string[] {
  const here = join(root, folder);
  const found = (statSync(here).mode & 0o077) !== 0 ? [folder || '.'] : [];
  if (folder.split('/').length > 4 || folder === 'engines') return found;
  for (const entry of readdirSync(here, { withFileTypes: true })) {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory()) found.push(...openPaths(root, path));
    else if (entry.isFile() && (statSync(join(root, path)).mode & 0o077) !== 0) found.push(path);
  }
  return found;
}

function checkSpace(root: string): HealthLine {
  const { bavail, bsize } = statfsSync(existsSync(root) ? root : dirname(root));
  const free = bavail * bsize;
  const text = `${(free / 1024 ** 3).toFixed(1)} GB free`;
  return free < LOW_SPACE_BYTES
    ? warning('disk', text, 'Free some space: a full disk stops every turn.')
    : good('disk', text);
}

async function checkConfig(home: Home): Promise<readonly HealthLine[]> {
  if (!existsSync(home.config)) return [good('config', 'no config.yaml: every setting has its default')];
  try {
    const loaded = await loadConfig(home.config);
    const { readOnly, raw, locate } = loaded;
    const { shape } = await settingsSchema((name) => !readOnly && Object.hasOwn(raw, name));
    for (const [name, section] of Object.entries(shape))
      if (Object.hasOwn(raw, name)) readConfigSection(loaded, name, section);
    const unknown = (readOnly ? [] : await unknownSettings(raw)).map(({ keys, near }) => {
      const text = `${locate(keys)}: ${keys.join('.')} is no setting`;
      return warning('config', text, near === undefined ? 'It has no effect.' : `Did you mean ${near}?`);
    });
    const whole = readOnly ? warning('config', readOnly, 'Update Talaria.') : good('config', home.config);
    const lines: HealthLine[] = unknown.length > 0 ? [...unknown] : [whole];
    const secrets = findSecrets(readFileSync(home.config, 'utf8'));
    if (secrets.length > 0) {
      lines.push(
        warning(
          'secrets',
          `config.yaml holds a key (${secrets[0]?.kind})`,
          `Move it to ${home.env} and write \${NAME} in its place.`,
        ),
      );
    }
    return lines;
  } catch (error) {
    return [fault('config', errorText(error), (error instanceof TalariaError && error.fix) || 'Correct the file.')];
  }
}

/** Entries of the configuration that open nothing. */
async function checkOpenings({ home, environment }: WallGround): Promise<readonly HealthLine[]> {
  const { sandbox } = (await loadConfig(home.config)).config;
  const { userHome } = environment;
  const isThere = (path: string) => existsSync(typedPath(path.replace(/:ro$/, ''), { cwd: '/', userHome }));
  const paths = sandbox.paths.flatMap(
    (path) =>
      hopelessPath(path, { home, environment }) ?? (isThere(path) ? [] : [`${path} is not there, so it opens nothing`]),
  );
  const wrong = (name: string) => (text: string) =>
    warning(
      'walls',
      `sandbox.${name}: ${text}`,
      '`talaria permissions` lists what is open, `permissions revoke` takes it out.',
    );
  return [
    ...paths.map(wrong('paths')),
    ...sandbox.hosts.flatMap((host) => hopelessHost(host) ?? []).map(wrong('hosts')),
  ];
}

/** What keeps commands in. */
async function checkWalls(ground: WallGround): Promise<HealthLine> {
  const { config } = await loadConfig(ground.home.config);
  const walls = composeWalls(config, ground);
  try {
    const state = walls.state();
    if (state.kind !== 'none') return good('walls', wallsLine(state));
    return warning(
      'walls',
      wallsLine({ kind: state.kind, detail: state.detail }),
      state.fix ?? 'See docs/guide/safety.md.',
    );
  } finally {
    await walls.close();
  }
}

// The checks of what Talaria could talk to. Asks every provider for its list of models, nothing else.

export interface ModelCheck {
  readonly home: Home;
  readonly environment: Environment;
  readonly clock: Clock;
}

async function checkModels(
  { home, environment, clock }: ModelCheck,
  signal: AbortSignal,
): Promise<readonly HealthLine[]> {
  const { config } = await loadConfig(home.config);
  const search = findProviders(config, mergedVariables(home, environment), findLocalModels(home, config));
  const lists = createModelLists(home.cache, clock);
  const problems = search.problems.map(({ provider, message, fix }) => fault(`model ${provider}`, message, fix));
  const answers = await Promise.all(search.providers.map((provider) => checkProvider(provider, lists, signal)));
  const isAlone = firstChoice(search.providers) === undefined;
  const local = isAlone ? await lists.probeLocal(signal) : [];
  const listed = ({ baseUrl }: FoundProvider) => lists.cached(baseUrl).map(({ id }) => id);
  const ground = { ...search, providers: [...local, ...search.providers], modelsFolder: home.models, listed };
  const chosen = await checkChosen(config, ground, (provider) => checkProvider(provider, lists, signal));
  const found = local.map((provider) => good(`model ${provider.name}`, provider.reason));
  const tiers = unplacedTiers(config.tiers, ground).map(({ tier, detail }) =>
    fault(tier, detail, `\`talaria config set ${tier} …\` changes the list.`),
  );
  const all = [...problems, ...answers, ...found, ...chosen, ...tiers];
  return all.length > 0 ? all : [NONE];
}

const NONE = warning(
  'model',
  'none is set up: reflex/1 answers, by rules',
  'Run `talaria setup`, set a key such as OPENAI_API_KEY, or start a local server such as Ollama.',
);

/** What config.yaml names, by the same rules and in the same words as a turn. */
async function checkChosen(
  config: Config,
  ground: ModelGround,
  check: (provider: FoundProvider) => Promise<HealthLine>,
): Promise<readonly HealthLine[]> {
  const wish = configuredModel(config);
  if (wish === undefined) return [];
  const why = { reason: 'config.yaml names it', preferred: configuredProvider(config) };
  if (isReflex(wish)) return [good('model', `reflex/1: ${why.reason}`)];
  const choice = named(wish, ground, why);
  const isNew = choice.ok && !ground.providers.includes(choice.value.provider);
  const answers = isNew ? [await check(choice.value.provider)] : [];
  const checked = isNew ? named(wish, ground, why) : choice;
  return checked.ok ? answers : [...answers, fault('model', cannotAnswer(wish, checked.detail), CHOOSE)];
}

const CHOOSE = '`talaria config set model NAME` chooses another.';

async function checkProvider(provider: FoundProvider, lists: ModelLists, signal: AbortSignal): Promise<HealthLine> {
  const name = `model ${provider.name}`;
  if (provider.files) return checkFiles(name, provider.files);
  const listed = await lists.fetch(provider, signal);
  if (listed.ok) return good(name, `${provider.baseUrl} answers, ${listed.value.length} models (${provider.reason})`);
  const fix =
    listed.reason === 'model-auth'
      ? `Check ${provider.keyVariable ?? 'the key'}: \`talaria setup --provider ${provider.name} --key …\`.`
      : 'Check the address and that the server runs.';
  return fault(name, listed.detail, fix);
}

function checkFiles(name: string, files: readonly LocalFile[]): HealthLine {
  const short = files.find(({ missing }) => missing !== undefined);
  if (short?.missing === undefined) return good(name, files.map(({ reason }) => reason).join('; '));
  return warning(name, `${short.model} cannot answer`, short.missing);
}

// The checks of what persists: state.db as a file, then what each room says of its own.

/** Looks before it opens for writing. */
function checkDatabase(home: Home): readonly HealthLine[] {
  try {
    const damage = stateDamage(home);
    if (damage !== undefined) {
      const fix = '`talaria repair` says what can be done: save what can be read, bring a copy back, or start empty.';
      return [fault('database', `state.db is damaged: ${damage}`, fix)];
    }
    if (!existsSync(home.stateDatabase)) return [good('database', 'no session is stored yet')];
    return [good('database', `${home.stateDatabase}, whole`), ...readOnlyLine(home)];
  } catch (error) {
    const fix = (error instanceof TalariaError && error.fix) || 'Restore a backup with `talaria restore FILE`.';
    return [fault('database', errorText(error), fix)];
  }
}

/** Damaged databases that an earlier start kept: what they hold is missing from every list until it is brought back. */
function checkSetAside(home: Home): readonly HealthLine[] {
  if (!statSync(home.root, { throwIfNoEntry: false })?.isDirectory()) return [];
  const start = `${basename(home.stateDatabase)}.corrupt-`;
  const kept = readdirSync(home.root).filter((name) => name.startsWith(start) && !/-(?:wal|shm)$/.test(name));
  return kept.sort().map((name) => {
    const file = join(home.root, name);
    const fix = 'Move the file out of the home when it is no longer needed.';
    return warning(
      'database',
      `a damaged database was set aside as ${file}; what was not saved of it is not shown`,
      fix,
    );
  });
}

function readOnlyLine(home: Home): readonly HealthLine[] {
  if (!isReadOnlyHome(home)) return [];
  return [
    warning('home', `${home.root} can only be read`, 'Nothing is learned or kept in it until it can be written.'),
  ];
}

/** What each room finds in what it keeps. */
async function checkRooms(deps: CommandDeps, repair: boolean): Promise<readonly HealthLine[]> {
  const { home } = deps;
  const mayOpenState = existsSync(home.stateDatabase) && !isReadOnlyHome(home) && stateDamage(home) === undefined;
  const ground = lendGround(deps);
  const found: HealthLine[] = [];
  for (const room of await loadRooms())
    found.push(...(await attempt(async () => (await room.doctor?.(ground, { repair, mayOpenState })) ?? [], found)));
  return found;
}
