// Owns composing the whole agent for one home and one set of options (design 2: `app` composes, and nothing else does), and the App that surfaces
// hold: opening conversations, changing models, ending everything. Knows the rooms by their contracts. Invariants: whatever was opened when
// composing fails is closed again; `shutdown` runs once, whoever calls it; a prompt can always be built: a source that cannot be read is left out.
import { readFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { AbortedError } from '#base/abort.ts';
import { type Clock, localDate } from '#base/clock.ts';
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
import type { Doors, Forgets, Forgot, TurnRequest } from '#core/agent/room.ts';
import type { ToolAccess } from '#core/agent/turn/permit-call.ts';
import { defaultStopConditions } from '#core/agent/turn/run-step.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient, Tier } from '#core/model/model-client.ts';
import type { RememberedApprovals } from '#core/tools/core-tools.ts';
import type { ToolSelection } from '#core/tools/tool-registry.ts';
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
import { type ComposedTools, composeTools } from './compose-tools.ts';
import { createOpenConversations, type OpenConversations, type RunInnerTurn } from './conversations.ts';
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
    const models = await composeModels(options, { ...place, reflex: tools.reflex.client, notice: place.modelNotice });
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

interface Seat {
  readonly cwd: string;
  readonly approver: Approver;
  readonly asker: ConversationOptions['asker'];
  readonly model: ModelClient;
  readonly maxSteps: number;
  /** US dollars a turn; absent: no limit. */
  readonly maxCost?: number;
  /** Narrows what is shown; absent: all of the toolsets. */
  readonly shown?: readonly string[];
  /** Stands at the end of the prompt. */
  readonly appended?: string;
}

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
  readonly approvals = (): RememberedApprovals => this.#parts.tools.allowList;
  readonly walls = (): Walls => this.#parts.tools.walls;
  readonly tools = (): ToolSelection => this.#parts.tools.selection;
  readonly reflexRules = (): Promise<readonly ReflexRule[]> => this.#parts.tools.reflex.rules();
  readonly reflexQuestion: App['reflexQuestion'] = (talk) => this.#parts.tools.reflex.question(talk);
  readonly isReflexFirst = (): boolean =>
    goesFirst(this.#parts.loaded.config.reflex.first, this.#parts.models.desk.current());

  promptSections(cwd: string): readonly PromptSection[] {
    const window = this.#parts.models.desk.current().traits.contextWindow;
    const appended = this.#parts.options.run?.appendPrompt;
    const sources = this.#sources({ cwd, ...(appended ? { appended } : {}) }, window);
    return promptSections(sources, this.#parts.tools.selection.schemas, window);
  }

  async firstScreen(): Promise<readonly string[]> {
    const { firstScreen } = await import('./first-screen.ts');
    const providers = this.#parts.models.desk.providers();
    const { cwd, userHome } = this.environment;
    const facts = { model: this.model(), providers, cwd, homeRoot: this.home.root, userHome };
    return firstScreen({ ...facts, walls: this.walls().state() });
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
    const { cwd, asker } = options;
    const { max_steps, max_cost: maxCost } = this.#parts.loaded.config.agent;
    const { maxSteps = max_steps, permission } = this.#parts.options.run ?? {};
    const budget = { maxSteps, ...(maxCost === undefined ? {} : { maxCost }) };
    const approver = this.#approver(options.approver);
    const appended = await this.#appended(request.value);
    const seat = { cwd, asker, approver, model: this.#answering(), ...budget, ...(appended ? { appended } : {}) };
    const opened = await openConversation(request.value, this.#partsFor(seat), this.#parts.background.signal);
    if (!opened.ok) return opened;
    if (options.approver !== denyingApprover || permission === 'auto')
      this.#parts.attended.add(opened.value.session.id);
    return ok(this.#open.track(opened.value));
  }

  /** A turn in a session of its own (with `system`: beside one), with nothing runnable but what was asked for and nobody to answer questions. */
  async *runExtensionTurn(request: TurnRequest, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const { system } = request;
    if (system !== undefined) {
      this.#innerTurns ??= (await import('./conversations.ts')).createInnerTurns(this.#parts);
      yield* this.#innerTurns({ ...request, system }, signal);
      return;
    }
    const seat = {
      cwd: this.environment.cwd,
      asker: absentAsker,
      approver: denyingApprover,
      model: this.#parts.models.desk.forTier(request.tier),
      maxSteps: request.maxSteps,
      shown: request.tools,
    };
    const start = { source: request.source ?? 'extension', cwd: seat.cwd };
    const opened = await openConversation({ start }, this.#partsFor(seat), signal);
    if (!opened.ok) throw new Error(opened.detail);
    const conversation = this.#open.track(opened.value);
    try {
      yield* conversation.send(request.text, { signal, purpose: request.purpose, origin: 'model' });
    } finally {
      await conversation.close();
    }
  }

  forget(what: Forgets): Promise<readonly Forgot[]> {
    return this.#parts.rooms.forget(what);
  }

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

  readonly approvalMode = (): ApprovalMode => {
    const { mode } = this.#parts.loaded.config.approvals;
    const { permission } = this.#parts.options.run ?? {};
    if (permission === 'read-only') return 'read-only';
    if (mode === 'deny' || permission === undefined) return mode;
    return permission === 'auto' ? 'off' : 'ask';
  };

  #approver(asked: Approver): Approver {
    const { mode } = this.#parts.loaded.config.approvals;
    if (mode === 'deny') return { approve: async () => ({ decision: 'deny', reason: 'approvals.mode is deny' }) };
    if (this.approvalMode() !== 'off') return asked;
    const isForRun = this.#parts.options.run?.permission === 'auto';
    const by = isForRun ? '--yes' : 'approvals.mode off';
    const far = `${by} approves no more than the folder and the network, and this goes beyond; it needs a yes at a terminal`;
    return {
      approve: async (request, signal) => {
        const isNear = (request.reach ?? 'beyond') !== 'beyond';
        const isAlone = asked === denyingApprover;
        // An empty key is asked about each time, where somebody is there to be asked.
        if (isNear && (request.key !== '' || (isForRun && isAlone)))
          return { decision: 'once', reason: `${by} approves it` };
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
    const { newId: id } = options;
    if (id === undefined) return ok({ start: { source, cwd } });
    const known = await this.doors.sessions.get(id);
    return known ? refuse('session-exists', `There is a session ${id} already.`) : ok({ start: { id, source, cwd } });
  }

  #partsFor(seat: Seat): ConversationParts {
    const { tools, clock, home, events, redact, doors, rooms, options } = this.#parts;
    const { selection } = tools;
    const [files] = rooms.each('files');
    const shown = seat.shown && new Set(seat.shown);
    const schemas = shown ? selection.schemas.filter((schema) => shown.has(schema.name)) : selection.schemas;
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
          redact,
          ...(files ? { files } : {}),
        },
        hooks: [
          ...(options.extra?.hooks ?? []),
          { name: 'terminal', sessionEnd: ({ sessionId }) => tools.close(sessionId) },
          ...rooms.each('hooks').flat(),
        ],
        stop: defaultStopConditions(seat.maxSteps, seat.maxCost),
        access: { tools: tools.byName, approver: seat.approver, allowList: tools.allowList, ...narrowed(options.run) },
      },
      events,
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
  #sources({ cwd, appended, shown }: Pick<Seat, 'cwd' | 'appended' | 'shown'>, window: number): PromptSources {
    const { home, clock, rooms } = this.#parts;
    const identity = readSoul(home.soul);
    const project = lookAtProject(home, cwd);
    return {
      ...(identity ? { identity } : {}),
      ...(project?.verdict === 'trusted' ? { project: project.file } : {}),
      environment: environmentLine(cwd, clock),
      ...rooms.prompt(window),
      // An index of what cannot be opened.
      ...(shown && !shown.includes('skill_view') ? { skills: '' } : {}),
      ...(appended === undefined ? {} : { appended }),
    };
  }
}

/** What of the tools may run in this run. */
function narrowed({ allowedTools, permission }: RunSettings = {}): Pick<ToolAccess, 'runnable' | 'readOnly'> {
  return {
    ...(allowedTools ? { runnable: new Set(allowedTools) } : {}),
    ...(permission === 'read-only' ? { readOnly: true } : {}),
  };
}

/** The day, not the minute: the line stands in the prompt for the whole session. */
function environmentLine(cwd: string, clock: Clock): string {
  const { year, month, day } = localDate(clock.now());
  const two = (value: number) => String(value).padStart(2, '0');
  return `Folder: ${cwd}. System: ${platform()} ${release()} ${arch()}. The session began on ${year}-${two(month)}-${two(day)}.`;
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
