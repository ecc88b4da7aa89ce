// Owns composing the whole agent for one home and one set of options (design 2: `app` composes, and nothing else does), and the App that surfaces
// hold: opening conversations, changing models, ending everything. Knows the rooms by their contracts. Invariants: whatever was opened when
// composing fails is closed again; `shutdown` runs once, whoever calls it; a prompt can always be built: a source that cannot be read is left out.
import { readFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { AbortedError } from '#base/abort.ts';
import { openBlobs } from '#base/blobs.ts';
import { type Clock, localDay } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { redactSecrets } from '#base/secrets.ts';
import { sliceText } from '#base/text.ts';
import { type Approver, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import {
  type Conversation,
  type ConversationParts,
  type OpenRequest,
  openConversation,
} from '#core/agent/conversation.ts';
import {
  appendedTo,
  buildFrozenPrompt,
  type PromptSection,
  type PromptSources,
  promptSections,
} from '#core/agent/frozen-prompt.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import type { Doors, Forgets, Forgot, SessionPlace, TurnRequest } from '#core/agent/room.ts';
import type { ToolAccess } from '#core/agent/turn/permit-call.ts';
import { defaultStopConditions } from '#core/agent/turn/run-step.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient, Tier } from '#core/model/model-client.ts';
import { keepImage } from '#core/model/pictures.ts';
import type { RememberedApprovals } from '#core/tools/core-tools.ts';
import type { ShownTools } from '#core/tools/deferred-tools.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import { findSession } from '#mind/sessions/find-session.ts';
import { liveHolders } from '#mind/sessions/session-lease.ts';
import type {
  App,
  ApprovalMode,
  ConversationOptions,
  ModelAddition,
  ModelInfo,
  OpenRefusal,
  RunSettings,
} from './app.ts';
import { type ComposedTools, composeTools, type SessionTools, type ToolWish } from './compose-tools.ts';
import { createOpenConversations, limited, type OpenConversations, type RunInnerTurn } from './conversations.ts';
import { refuseNewerHome, refuseTurnInside } from './home/session-door.ts';
import { lookAtProject } from './home/trust.ts';
import { childEnvironment } from './home/variables.ts';
import { FIRST_SINCE_SMALL, goesFirst, reflexFirst } from './models/build-client.ts';
import type { ChoiceRefusal } from './models/model-choice.ts';
import { type ComposedModels, composeModels } from './models/model-desk.ts';
import type { Place } from './place.ts';

/** A review by rule takes moments; one that waits for a model goes on at the next start instead of holding up the exit. */
const REVIEW_PATIENCE_MS = 2_000;

export async function composeAgent(place: Place): Promise<App> {
  const { options, clock, home, loaded, rooms, endings, secrets } = place;
  const { environment } = options;
  try {
    if (options.door) refuseTurnInside(environment, liveHolders(await rooms.door('state'), clock));
    const doors = await rooms.openAll();
    const variables = childEnvironment(home, environment, loaded.config, secrets);
    const tools = composeTools(options, { ...place, childEnvironment: variables });
    endings.add(() => tools.close());
    const models = await composeModels(options, {
      ...{ ...place, reflex: tools.reflex.client, notice: place.modelNotice },
      pay: async (required, purpose) => (await rooms.door('market')).pay(required, purpose),
    });
    endings.add(() => models.desk.close());
    endings.add(() => settle(place));
    place.late.seat = {
      model: models.desk.current,
      forTier: (tier) => models.desk.forTier(tier),
      tools: () => tools.byName,
      shown: tools.conditions,
    };
    place.later('state.db', async () => (await import('./backup/daily-copy.ts')).careForState(place));
    return new ComposedApp({ ...place, doors, tools, models });
  } catch (error) {
    await endings.run();
    throw error;
  }
}

/** Waits for what runs beside the turns, for a moment. */
async function settle({ rooms, clock }: Place): Promise<void> {
  const patience = new AbortController();
  const cancel = clock.after(REVIEW_PATIENCE_MS, () => patience.abort());
  await rooms.settle(patience.signal);
  cancel();
}

/** What one composed agent is made of. */
export interface AppParts extends Place {
  readonly doors: Doors;
  readonly tools: ComposedTools;
  readonly models: ComposedModels;
}

/** How long shutdown waits for the last events of running turns to be read, ms. */
const PATIENCE_MS = 5_000;

interface Seat extends SessionTools {
  readonly cwd: string;
  readonly approver: Approver;
  readonly asker: ConversationOptions['asker'];
  readonly model: ModelClient;
  readonly maxSteps: number;
  /** US dollars a turn; absent: no limit. */
  readonly maxCost?: number | undefined;
  readonly permission?: ConversationOptions['permission'];
  /** Stands at the end of the prompt. */
  readonly appended?: string | undefined;
  /** What is said are a stranger's words. */
  readonly isGuest: boolean;
  readonly hidesMemory: boolean;
}

type SeatWish = Pick<Seat, 'cwd' | 'approver' | 'asker' | 'maxSteps' | 'maxCost' | 'permission' | 'appended'> &
  SessionPlace &
  Omit<ToolWish, 'window'> &
  Pick<TurnRequest, 'memory'> & { readonly by: Result<ModelClient, 'model-unknown'> };

class ComposedApp implements App {
  readonly home;
  readonly clock;
  readonly loaded;
  readonly environment;
  readonly doors;
  readonly events;
  readonly notices;
  readonly modelNotices;
  readonly #parts: AppParts;
  readonly #open: OpenConversations;
  #ending: Promise<void> | undefined;
  #innerTurns: RunInnerTurn | undefined;

  constructor(parts: AppParts) {
    this.#parts = parts;
    this.#open = createOpenConversations(parts.clock);
    this.environment = parts.options.environment;
    ({
      home: this.home,
      clock: this.clock,
      loaded: this.loaded,
      doors: this.doors,
      events: this.events,
      notices: this.notices,
      modelNotices: this.modelNotices,
    } = parts);
  }

  readonly redact = (text: string): string => redactSecrets(this.#parts.redact(text));
  readonly model = (): ModelInfo => this.#shown(this.#parts.models.desk.info());
  readonly windowOf = (tier: Tier): number => this.#parts.models.desk.forTier(tier).traits.contextWindow;
  readonly models = (): readonly ModelInfo[] => this.#parts.models.desk.list();
  readonly allTools: App['allTools'] = () => this.#parts.tools.byName;
  readonly approvals = (): RememberedApprovals => this.#parts.tools.allowList;
  readonly walls = (): Walls => this.#parts.tools.walls;
  async tools(cwd = this.environment.cwd): Promise<ShownTools> {
    return need(await this.#toolsFor({ cwd }, this.#parts.models.desk.current())).selection;
  }

  /** With what rooms have for this one session. */
  async #toolsFor(wish: SessionPlace & Omit<ToolWish, 'window'>, { traits: { contextWindow: window } }: ModelClient) {
    const { rooms, tools } = this.#parts;
    const isPlain = wish.seat === 'guest' || wish.names !== undefined;
    const brought = isPlain ? [] : rooms.each('sessionTools').map((toolsOf) => toolsOf(wish));
    return tools.forSession({ ...wish, brought: (await Promise.all(brought)).flat(), window });
  }

  readonly reflexRules = (): Promise<readonly ReflexRule[]> => this.#parts.tools.reflex.rules();
  readonly reflexQuestion: App['reflexQuestion'] = (talk) => this.#parts.tools.reflex.question(talk);
  readonly isReflexFirst = (): boolean =>
    goesFirst(this.#parts.loaded.config.reflex.first, this.#parts.models.desk.current());

  promptSections(cwd: string): readonly PromptSection[] {
    const window = this.#parts.models.desk.current().traits.contextWindow;
    const { selection } = need(this.#parts.tools.forSession({ window }));
    const seat = { cwd, selection, hidesMemory: false, appended: this.#parts.options.run?.appendPrompt };
    return promptSections(this.#sources(seat, window), selection.schemas, window);
  }

  async firstScreen(): Promise<readonly string[]> {
    const { firstScreen } = await import('./first-screen.ts');
    const providers = this.#parts.models.desk.providers();
    const { cwd, userHome } = this.environment;
    const facts = { model: this.model(), providers, cwd, homeRoot: this.home.root, userHome };
    const news = await Promise.all(this.#parts.rooms.each('news').map((tell) => tell()));
    return [...firstScreen({ ...facts, walls: this.walls().state() }), ...news.flat()];
  }

  async deliveries(...wanted: Parameters<App['deliveries']>): Promise<void> {
    for (const deliver of this.#parts.rooms.each('deliveries')) await deliver(...wanted);
  }

  async commands(): Promise<readonly AnyCommand[]> {
    const { allCommands } = await import('./commands/shell-commands.ts');
    return allCommands({ environment: this.environment, app: async () => this }, this.#parts.rooms.all);
  }

  async switchModel(name: string): Promise<Result<ModelInfo, ChoiceRefusal>> {
    const switched = await this.#parts.models.desk.switchTo(name, this.#parts.background.signal);
    if (!switched.ok) return switched;
    this.#open.switchModel(this.#answering());
    return ok(this.#shown(switched.value));
  }

  async addModel(addition: ModelAddition, signal: AbortSignal) {
    const { addModel } = await import('./models/add-model.ts');
    const { models } = this.#parts;
    const added = await addModel(addition, { surroundings: models.surroundings }, signal);
    if (!added.ok) return added;
    const info = models.desk.adopt(added.value.provider, added.value.model, 'you added it');
    this.#open.switchModel(this.#answering());
    return ok(this.#shown(info));
  }

  async openConversation(options: ConversationOptions): Promise<Result<Conversation, OpenRefusal>> {
    refuseNewerHome(this);
    const request = await this.#requestOf(options);
    await this.doors.skills.ready();
    if (!request.ok) return request;
    const { options: own, loaded, attended, background } = this.#parts;
    const by = this.modelFor(options.model);
    const seat = await this.#seatOf({
      ...options,
      by: by.ok ? ok(limited(by.value, options.maxOutputTokens)) : by,
      maxSteps: options.maxSteps ?? own.run?.maxSteps ?? loaded.config.agent.max_steps,
      appended: await this.#appended(request.value),
    });
    if (!seat.ok) return seat;
    const opened = await openConversation(request.value, this.#partsFor(seat.value), background.signal);
    if (!opened.ok) return opened;
    // Whoever opens it next may be a program.
    attended.delete(opened.value.session.id);
    if (!options.approver.isUnattended || own.run?.permission === 'auto') attended.add(opened.value.session.id);
    return ok(this.#open.track(opened.value, options.model === undefined));
  }

  async #seatOf({ by, ...wish }: SeatWish): Promise<Result<Seat, OpenRefusal>> {
    if (!by.ok) return by;
    const tools = await this.#toolsFor(wish, by.value);
    if (!tools.ok) return tools;
    const { cwd, asker, maxSteps, maxCost = this.#parts.loaded.config.agent.max_cost, permission, appended } = wish;
    const approver = this.#approver(wish.approver, permission);
    const isGuest = wish.seat === 'guest';
    const who = { approver, asker, permission, isGuest, hidesMemory: isGuest || wish.memory === false };
    return ok({ ...tools.value, ...who, cwd, model: by.value, maxSteps, maxCost, appended });
  }

  modelFor(name?: string): Result<ModelClient, 'model-unknown'> {
    if (name === undefined) return ok(this.#answering());
    const named = this.#parts.models.desk.byName(name);
    return named.ok ? named : { ...named, reason: 'model-unknown' };
  }

  /** A turn in a session of its own (with `system`: beside one), with nothing runnable but what was asked for and nobody to answer questions. */
  async *runExtensionTurn(request: TurnRequest, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const { system } = request;
    if (system !== undefined) {
      this.#innerTurns ??= (await import('./conversations.ts')).createInnerTurns(this.#parts);
      yield* this.#innerTurns({ ...request, system }, signal);
      return;
    }
    const { source = 'extension', cwd = this.environment.cwd, parent, resume, purpose, extra } = request;
    const start = { source, cwd, ...(parent ? { parentId: parent.sessionId } : {}) };
    const { tools, approver = denyingApprover, model, tier } = request;
    const by = model === undefined ? ok(this.#parts.models.desk.forTier(tier)) : this.modelFor(model);
    const chosen = 'length' in tools ? { names: tools } : tools;
    const seat = need(await this.#seatOf({ ...request, ...chosen, by, cwd, approver, asker: absentAsker }));
    const opened = await openConversation(resume === undefined ? { start } : { resume }, this.#partsFor(seat), signal);
    const conversation = this.#open.track(need(opened), false);
    try {
      const origin = request.origin ?? 'model';
      yield* conversation.send(request.text, { signal, purpose, origin, ...(extra ? { extra } : {}) });
    } finally {
      await conversation.close();
    }
  }

  async allows(means: Pick<ConversationOptions, 'model' | 'toolsets'>): Promise<Result<true, OpenRefusal>> {
    const model = this.modelFor(means.model);
    if (!model.ok) return model;
    const tools = await this.#toolsFor({ ...means, cwd: this.environment.cwd }, model.value);
    return tools.ok ? ok(true) : tools;
  }

  readonly imports: App['imports'] = () => this.#parts.rooms.each('imports');

  forget(what: Forgets): Promise<readonly Forgot[]> {
    return this.#parts.rooms.forget(what);
  }

  readonly keepImage: App['keepImage'] = (bytes, about) => keepImage(bytes, about, openBlobs(this.home.blobs));

  background(name: string, work: Promise<unknown>): void {
    this.#parts.background.hold(name, work);
  }

  shutdown(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { endings } = this.#parts;
    endings.add(() => this.#open.closeAll(new AbortedError('the program ends'), PATIENCE_MS));
    await endings.run();
  }

  /** What the owner did not set is said. */
  #shown(info: ModelInfo): ModelInfo {
    const isUnset = this.#parts.loaded.config.reflex.first === undefined;
    return isUnset && this.isReflexFirst() ? { ...info, reason: `${info.reason}; ${FIRST_SINCE_SMALL}` } : info;
  }

  #answering(): ModelClient {
    const { models, tools } = this.#parts;
    const model = models.desk.current();
    return this.isReflexFirst() ? reflexFirst(tools.reflex.client, model) : model;
  }

  readonly approvalMode = (permission = this.#parts.options.run?.permission): ApprovalMode => {
    const { mode } = this.#parts.loaded.config.approvals;
    if (permission === 'read-only') return 'read-only';
    if (mode === 'deny' || permission === undefined) return mode;
    return permission === 'auto' ? 'off' : 'ask';
  };

  #approver(asked: Approver, own?: ConversationOptions['permission']): Approver {
    const { mode } = this.#parts.loaded.config.approvals;
    if (mode === 'deny') return { approve: async () => ({ decision: 'deny', reason: 'approvals.mode is deny' }) };
    if (!own && this.approvalMode() !== 'off') return asked;
    const isForRun = this.#parts.options.run?.permission === 'auto';
    const by = own ? 'the mode of this session' : isForRun ? '--yes' : 'approvals.mode off';
    const isAlone = asked.isUnattended === true;
    const isSettled = isAlone && (own !== undefined || isForRun);
    const far = `${by} approves no more than the folder and the network, and this goes beyond; it needs a yes at a terminal`;
    return {
      approve: async (request, signal) => {
        if (own && this.approvalMode(own()) !== 'off') return asked.approve(request, signal);
        const isNear = (request.reach ?? 'beyond') !== 'beyond';
        // An empty key is asked about each time, where somebody is there to be asked.
        if (isNear && (request.key !== '' || isSettled)) return { decision: 'once', reason: `${by} approves it` };
        return isAlone && !isNear ? { decision: 'deny', reason: far } : asked.approve(request, signal);
      },
    };
  }

  /** What a session's prompt ends with: for a new one what this run adds, for an old one what was added when it was new. */
  async #appended(request: OpenRequest): Promise<string | undefined> {
    if ('start' in request) return this.#parts.options.run?.appendPrompt;
    const prompt = await this.doors.sessions.loadPrompt(request.resume);
    return prompt && appendedTo(prompt);
  }

  async #requestOf(options: ConversationOptions): Promise<Result<OpenRequest, OpenRefusal>> {
    const { cwd, source } = options;
    if (options.resume !== undefined) {
      const found = await findSession(this.doors.sessions, options.resume);
      return found.ok ? ok({ resume: found.value.id }) : { ...found, reason: 'no-such-session' };
    }
    if (options.continueLast) {
      const recent = await this.doors.sessions.list({ source, cwd, limit: 20 });
      const last = recent.find((session) => session.messageCount > 0);
      if (last) return ok({ resume: last.id });
    }
    const { newId: id, userId, chatId, parentId, title } = options;
    const start = { source, cwd, ...given({ userId, chatId, parentId, title }) };
    if (id === undefined) return ok({ start });
    const known = await this.doors.sessions.get(id);
    return known ? refuse('session-exists', `There is a session ${id} already.`) : ok({ start: { ...start, id } });
  }

  #partsFor(seat: Seat): ConversationParts {
    const { tools, clock, home, events, redact, doors, rooms, options } = this.#parts;
    const { byName } = seat;
    const { schemas, deferred } = seat.selection;
    const [files] = rooms.each('files');
    return {
      store: doors.sessions,
      model: seat.model,
      buildPrompt: (window) => buildFrozenPrompt(this.#sources(seat, window), schemas, window),
      machine: {
        clock,
        place: {
          cwd: seat.cwd,
          clock,
          asker: seat.asker,
          spillFolder: home.spill,
          blobs: { keep: (bytes) => openBlobs(home.blobs).keep(bytes) },
          redact,
          ...(files ? { files } : {}),
          ...(seat.maxCost === undefined ? {} : { maxCost: seat.maxCost }),
        },
        hooks: [
          ...(options.extra?.hooks ?? []),
          { name: 'terminal', sessionEnd: ({ sessionId }) => tools.close(sessionId) },
          ...rooms.each('hooks').flat(),
        ],
        stop: defaultStopConditions(seat.maxSteps, seat.maxCost),
        access: {
          ...{ tools: byName, approver: seat.approver, allowList: tools.allowList, ...narrowed(options.run, seat) },
          ...(deferred.length > 0 ? { deferred: new Set(deferred.map(({ name }) => name)) } : {}),
        },
      },
      events,
      ...(seat.isGuest ? { speaker: 'foreign' as const } : {}),
      compression: this.#compression(),
    };
  }

  /** A small model words the summaries when one is set up. */
  #compression() {
    const { loaded, models } = this.#parts;
    const { compression, tiers } = loaded.config;
    const small = tiers.T1.length > 0 ? { summariser: () => models.desk.forTier('T1') } : {};
    return { enabled: compression.enabled, threshold: compression.threshold, ...small };
  }

  /** What a session's prompt is built from; building is core/agent's. A project file that the owner has not agreed to is left out. */
  #sources(
    { cwd, appended, selection, hidesMemory }: Pick<Seat, 'cwd' | 'appended' | 'selection' | 'hidesMemory'>,
    window: number,
  ): PromptSources {
    const { home, clock, rooms } = this.#parts;
    const identity = readSoul(home.soul);
    const project = lookAtProject(home, cwd);
    return {
      ...(identity ? { identity } : {}),
      ...(project?.verdict === 'trusted' ? { project: project.file } : {}),
      environment: environmentLine(cwd, clock),
      ...rooms.prompt(window),
      ...(hidesMemory ? { memory: '' } : {}),
      // An index of what cannot be opened.
      ...(selection.schemas.some(({ name }) => name === 'skill_view') ? {} : { skills: '' }),
      ...(appended === undefined ? {} : { appended }),
    };
  }
}

/** Throws what refused it. */
function need<Value>(asked: Result<Value, OpenRefusal>): Value {
  if (asked.ok) return asked.value;
  throw new TalariaError(asked.detail, { code: asked.reason });
}

/** What is there of it. */
function given<Fields extends object>(fields: Fields): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** What of the tools may run in this run. */
function narrowed(
  { allowedTools, permission }: RunSettings = {},
  { permission: own }: Pick<Seat, 'permission'>,
): Pick<ToolAccess, 'runnable' | 'readOnly'> {
  return {
    ...(allowedTools ? { runnable: new Set(allowedTools) } : {}),
    readOnly: () => permission === 'read-only' || own?.() === 'read-only',
  };
}

/** The day, not the minute: the line stands in the prompt for the whole session. */
function environmentLine(cwd: string, clock: Clock): string {
  return `Folder: ${cwd}. System: ${platform()} ${release()} ${arch()}. The session began on ${localDay(clock.now())}.`;
}

const SOUL_LIMIT = 20_000;

function readSoul(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    return text.includes('\0') ? '' : sliceText(text, SOUL_LIMIT);
  } catch {
    // No SOUL.md, or one that cannot be read: the built-in identity stands.
    return '';
  }
}
