// Owns composing the whole agent for one home and one set of options (design 2: `app` composes, and nothing else does).
// Knows every room, and none of their insides. Invariant: whatever was opened when composing fails is closed again.
import { existsSync, statSync } from 'node:fs';
import { AbortedError } from '#base/abort.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { rememberDamage } from '#base/database/damage.ts';
import { openDatabase } from '#base/database.ts';
import { errorText } from '#base/errors.ts';
import { createEventLog } from '#base/event-log.ts';
import { createFabric, type Fabric } from '#base/fabric.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import { liveHolders } from '#mind/sessions/session-lease.ts';
import type { App, AppOptions } from './app.ts';
import type { UnknownSetting } from './commands/config/settings-schema.ts';
import { EXTENSIONS } from './extensions.ts';
import { type LoadedConfig, loadConfig } from './home/config.ts';
import { findHome, type Home, makeHome, restoreIntent } from './home/home.ts';
import { refuseTurnInside } from './home/inside.ts';
import { enterSession } from './home/session-door.ts';
import { openStartCache } from './home/start-cache.ts';
import { createExtensions, type Extensions } from './host/extension-host.ts';
import { extensionGround } from './host/lend-ground.ts';
import { configuredEmbedder } from './models/configured-embedder.ts';
import type { AppParts } from './parts/app-parts.ts';
import { createBackground } from './parts/background.ts';
import { type ComposedModels, childEnvironment, composeModels, mergedVariables } from './parts/compose-models.ts';
import { composeTools } from './parts/compose-tools.ts';
import { ComposedApp } from './parts/composed-app.ts';
import { createEndings } from './parts/endings.ts';
import { createLiveRedaction } from './parts/live-redaction.ts';
import type { LearningGround } from './parts/mind/compose-learning.ts';
import { type ComposedMind, composeMind, reconcileMind } from './parts/mind/compose-mind.ts';
import { openProviders, providersOf } from './parts/mind/compose-providers.ts';
import { createForegroundGate } from './parts/mind/foreground-drafts.ts';
import { createLazyLearning, type LazyLearning } from './parts/mind/lazy-learning.ts';
import { composeMindHooks } from './parts/mind/mind-hooks.ts';

/** Throws TalariaError: `inside`, `session-folder`, `config-invalid`, `missing-key`, what the database says. */
export async function composeApp(options: AppOptions): Promise<App> {
  await enterSession(options.environment, options.door);
  const clock = options.clock ?? systemClock;
  const home = findHome(options.environment);
  const mended = await finishInterrupted(home);
  const cache = openStartCache(home.cache);
  const loaded = await loadConfig(home.config, cache);
  makeHome(home);
  const ground = openGround({ home, clock, options, loaded });
  for (const notice of [...mended, ...loaded.notices, ...(await misspelled(loaded))]) ground.notice(notice);
  const endings = createEndings();
  try {
    const mind = openMind(options, { ...ground, home, clock, loaded });
    endings.add(() => mind.store.close());
    if (options.door) refuseTurnInside(options.environment, liveHolders(mind.store.database, clock));
    endings.add(() => mind.skills.library.close());
    await reconcileMind(mind, { home, clock });
    await mind.skills.library.ready();
    endings.add(() => drain(ground));
    const app: { current?: ComposedApp } = {};
    const extensions = hostExtensions({ ...ground, home, clock, loaded }, app);
    endings.add(() => extensions.shutdown());
    const place = { environment: options.environment, home, clock, notice: ground.notice, loaded };
    const lent = extensionGround({ ...place, app: async () => composed(app) });
    for (const line of EXTENSIONS) await extensions.activate(await line.activate(lent));
    for (const extension of options.extra?.extensions ?? []) await extensions.activate(extension);
    const { provider: name } = loaded.config.memory;
    const known = [...(options.extra?.memoryProviders ?? []), ...(await providersOf(name, lent))];
    const attended = new Set<string>();
    const isAttended = (sessionId: string) => attended.has(sessionId);
    const isAsked = (sessionId: string) => isAttended(sessionId) && asksOwner(options, loaded);
    const gate = createForegroundGate({ mind, pending: home.pending, isAsked });
    const providers = openProviders({ ...ground, known, name, mind, clock, gate });
    if (providers) endings.add(() => providers.stop());
    const parts = { ...ground, home, clock, loaded, mind, extensions, attended, ...(providers ? { providers } : {}) };
    const environment = childEnvironment(home, options.environment, loaded.config);
    const late: { models?: ComposedModels } = {};
    const small = smallModel(loaded, late);
    const tools = composeTools(options, { ...parts, gate, isAttended, childEnvironment: environment, ...small });
    endings.add(() => tools.close());
    const models = await composeModels(options, {
      ...parts,
      reflex: tools.reflex.client,
      notice: ground.modelNotice,
    });
    late.models = models;
    endings.add(() => models.desk.close());
    const minded = { ...parts, tools };
    const mindHooks = composeMindHooks(minded);
    endings.add(() => mindHooks.evidence.close());
    const learning = lazyLearning({ ...minded, model: models.desk.current }, () => composed(app).judge);
    endings.add(() => finishLearning(learning, clock));
    app.current = new ComposedApp({ ...minded, mindHooks, learning, options, models, endings });
    ground.later('start cache', async () => cache?.keep());
    ground.later('skills', () => readSkills(mind, ground.background.signal));
    ground.later('state.db', () => careForState({ ...ground, home, clock, mind, options }));
    if (loaded.config.learning.enabled && !options.oneShot)
      ground.later('reviews that are due', async () => (await learning.load()).runDue(ground.background.signal));
    return app.current;
  } catch (error) {
    await endings.run();
    throw error;
  }
}

function openMind(
  { environment }: AppOptions,
  ground: Omit<Parameters<typeof composeMind>[0], 'userHome' | 'embedder'> &
    Pick<AppParts, 'home' | 'loaded' | 'clock'> & { readonly modelNotice: (text: string) => void },
): ComposedMind {
  const { home, loaded, clock, modelNotice } = ground;
  const variables = mergedVariables(home, environment);
  const embedder = configuredEmbedder({ notice: modelNotice, config: loaded.config, variables, clock });
  return composeMind({ ...ground, userHome: environment.userHome, ...(embedder ? { embedder } : {}) });
}

/** What a killed restore left, before anything of the home is read. */
async function finishInterrupted(home: Home): Promise<readonly string[]> {
  if (!existsSync(restoreIntent(home))) return [];
  const { finishRestore } = await import('./backup/restore-backup.ts');
  return [(await finishRestore(home)) ?? []].flat();
}

/** Are risky calls of this run put to a person? */
function asksOwner({ run }: AppOptions, { config }: LoadedConfig): boolean {
  return config.approvals.mode === 'ask' && run?.permission !== 'auto';
}

/** Settings that are nearly one: what was meant has no effect, and nobody would notice. */
async function misspelled({ raw, locate, readOnly, cache }: LoadedConfig): Promise<readonly string[]> {
  if (Object.keys(raw).length === 0 || readOnly !== undefined) return [];
  const key = `unknown settings ${JSON.stringify(raw)}`;
  const kept = cache?.get(key) as readonly UnknownSetting[] | undefined;
  const unknown = kept ?? (await (await import('./commands/config/settings-schema.ts')).unknownSettings(raw));
  if (!kept) cache?.set(key, unknown);
  return unknown.flatMap(({ keys, near }) =>
    near === undefined ? [] : [`${locate(keys)}: ${keys.join('.')} is no setting; did you mean ${near}?`],
  );
}

/** The tier for small work, when one is configured; asked for after everything is composed. */
function smallModel({ config }: LoadedConfig, late: { readonly models?: ComposedModels }) {
  if (config.tiers.T1.length === 0) return {};
  return { small: () => late.models?.desk.forTier('T1') };
}

/** How long shutdown waits for background work, ms. */
const PATIENCE_MS = 5_000;

async function drain({ background, log }: Pick<AppParts, 'background' | 'log'>): Promise<void> {
  const left = await background.drain(PATIENCE_MS);
  if (left.length > 0) log('background-left', left.join(', '));
}

/** After the first turn: what changed in the folders, the words to rank by, and an index with the present use. */
async function readSkills({ skills, store }: ComposedMind, signal: AbortSignal): Promise<void> {
  if (store.database.readOnly || skills.ranker() === undefined) return;
  await skills.library.refresh(signal);
  await skills.ranker()?.prepare(signal);
  skills.index.renew();
}

/** A larger file is not copied while somebody waits for the end of the program; up to here it takes moments. */
const COPIED_AT_THE_END = 16 * 1024 ** 2;

interface StateGround extends Pick<AppParts, 'background' | 'home' | 'clock' | 'mind' | 'options'> {
  readonly notice: (text: string) => void;
}

/** After the first turn: a large file that a crashed process had open is looked at; once a day a copy is taken. */
async function careForState({ background, notice, home, clock, mind, options }: StateGround): Promise<void> {
  const { database, unchecked } = mind.store;
  if (database.readOnly) return;
  const { signal } = background;
  const found = unchecked && (await database.findDamageSlowly(signal));
  if (found !== undefined) {
    rememberDamage(database.path, found);
    notice(
      `${database.path} is damaged (${found}); the next start asks what to do, \`talaria repair\` says what can be done`,
    );
    return;
  }
  unchecked?.();
  const isSmall = statSync(database.path).size <= COPIED_AT_THE_END;
  if (options.oneShot && !isSmall) return;
  const { keepDailyCopy } = await import('./backup/daily-copy.ts');
  await keepDailyCopy({ home, database, clock }, isSmall ? new AbortController().signal : signal);
}

/** A review by rule takes moments; one that waits for a model goes on at the next start instead of holding up the exit. */
const REVIEW_PATIENCE_MS = 2_000;

function lazyLearning(ground: Omit<LearningGround, 'judge'>, judge: () => Judge): LazyLearning {
  const { memory, learning } = ground.loaded.config;
  const make = async () => {
    const { composeLearning } = await import('./parts/mind/compose-learning.ts');
    return composeLearning({ ...ground, judge: judge() });
  };
  const wish = { reviews: learning.enabled, flush: memory.enabled };
  return createLazyLearning(make, { wish, ledger: ground.mind.ledger });
}

async function finishLearning(learning: LazyLearning, clock: Clock): Promise<void> {
  const patience = new AbortController();
  const cancel = clock.after(REVIEW_PATIENCE_MS, () => patience.abort());
  await learning.drain(patience.signal);
  cancel();
}

/** Log, events, background, notices: what every other part reports to. */
function openGround({
  home,
  clock,
  options,
  loaded,
}: {
  readonly home: Home;
  readonly clock: Clock;
  readonly options: AppOptions;
  readonly loaded: LoadedConfig;
}) {
  const log = createEventLog(home.log, clock);
  const redact = createLiveRedaction(home, options.environment, loaded.config.memory.env);
  const write = (event: string, text: string) => log.write(event, { text: redactSecrets(redact(text)) });
  const notices: string[] = [];
  const modelNotices: string[] = [];
  const into = (list: string[]) => (text: string) => {
    list.push(text);
    write('notice', text);
  };
  const [notice, modelNotice] = [into(notices), into(modelNotices)];
  const events = createFabric<TurnEvent>((error) => write('subscriber-failed', errorText(error)));
  events.subscribe((event) => logEvent(event, write));
  const background = createBackground(
    (name, error) => write('background-failed', `${name}: ${errorText(error)}`),
    clock,
  );
  const waiting: (() => void)[] = [];
  events.subscribe((event) => {
    if (event.type === 'turn-end') for (const start of waiting.splice(0)) start();
  });
  const later = (name: string, work: () => Promise<unknown>): void => {
    waiting.push(() => background.hold(name, work()));
  };
  return { log: write, notice, notices, modelNotice, modelNotices, events, background, redact, later };
}

function logEvent(event: TurnEvent, write: (event: string, text: string) => void): void {
  if (event.type === 'notice') write('notice', event.text);
  if (event.type === 'hook-failed') write('hook-failed', `${event.hook} at ${event.at}: ${event.error}`);
  if (event.type === 'model-fallback') write('model-fallback', `${event.from} to ${event.to}: ${event.reason}`);
  if (event.type === 'turn-end' && event.error) write('turn-failed', `${event.error.code}: ${event.error.message}`);
}

interface HostGround {
  readonly home: Home;
  readonly clock: Clock;
  readonly loaded: LoadedConfig;
  readonly events: Fabric<TurnEvent>;
  readonly notice: (text: string) => void;
}

/** What extensions were promised; asked for while composing, it is a fault of theirs. */
function composed({ current }: { readonly current?: ComposedApp }): ComposedApp {
  if (!current) throw new AbortedError('the agent is not composed yet');
  return current;
}

function hostExtensions(ground: HostGround, app: { readonly current?: ComposedApp }): Extensions {
  const { home, clock, loaded, events, notice } = ground;
  return createExtensions({
    clock,
    homeRoot: home.root,
    loaded,
    events,
    notice,
    runTurn: (request, signal) => {
      return composed(app).runExtensionTurn(request, signal);
    },
    openDatabase: (path, schema) => openDatabase(path, { rooms: [schema], clock }),
  });
}
