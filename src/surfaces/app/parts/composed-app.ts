// Owns the App that surfaces hold: opening conversations, changing models, ending everything. Composition is compose.ts.
// Knows the rooms by their contracts. Invariant: `shutdown` runs once, whoever calls it and however often.
import { AbortedError } from '#base/abort.ts';
import type { Database } from '#base/database/connection.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { redactSecrets } from '#base/secrets.ts';
import { type Approver, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import {
  type Conversation,
  type ConversationParts,
  type OpenRequest,
  openConversation,
} from '#core/agent/conversation.ts';
import type { TurnRequest } from '#core/agent/extension-host.ts';
import { appendedTo, buildFrozenPrompt, type PromptSection, promptSections } from '#core/agent/prompt/frozen-prompt.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import type { ToolAccess } from '#core/agent/turn/permit-call.ts';
import { defaultStopConditions } from '#core/agent/turn/stop-conditions.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient, Tier } from '#core/model/model-client.ts';
import type { ToolSelection } from '#core/tools/registry/tool-registry.ts';
import type { RememberedApprovals } from '#core/tools/terminal/allow-list.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import type { Learning } from '#mind/learning/learning.ts';
import type {
  App,
  ApprovalMode,
  ConversationOptions,
  ModelAddition,
  ModelInfo,
  OpenRefusal,
  RunSettings,
} from '../app.ts';
import { findSession } from '../find-session.ts';
import { refuseNewerHome } from '../home/newer-home.ts';
import type { ChoiceRefusal } from '../models/model-choice.ts';
import { FIRST_SINCE_SMALL, goesFirst, reflexFirst } from '../models/reflex-first.ts';
import type { AppParts } from './app-parts.ts';
import type { RunInnerTurn } from './inner-turns.ts';
import { composeJudge } from './mind/compose-judge.ts';
import { createOpenConversations, type OpenConversations } from './open-conversations.ts';
import { gatherPromptSources } from './prompt-sources.ts';

/** How long shutdown waits for the last events of running turns to be read, ms. */
const PATIENCE_MS = 5_000;

/** What the index of skills may take of the prompt, and of a small window. */
const SKILL_INDEX_TOKENS = 2_000;
const SKILL_INDEX_SHARE = 0.05;

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

export class ComposedApp implements App {
  readonly #parts: AppParts;
  readonly #open: OpenConversations;
  #ending: Promise<void> | undefined;
  #innerTurns: RunInnerTurn | undefined;
  readonly judge: Judge;

  constructor(parts: AppParts) {
    this.#parts = parts;
    const { clock } = parts;
    this.#open = createOpenConversations(parts.clock);
    const { models, mind } = parts;
    this.judge = composeJudge({
      store: mind.store,
      clock,
      redact: this.redact,
      runTurn: (request, signal) => this.runExtensionTurn(request, signal),
      answering: () => models.desk.forTier('T1').tier,
    });
  }

  get home() {
    return this.#parts.home;
  }
  get clock() {
    return this.#parts.clock;
  }
  get loaded() {
    return this.#parts.loaded;
  }
  get environment() {
    return this.#parts.options.environment;
  }
  get store() {
    return this.#parts.mind.store;
  }
  get memory() {
    return this.#parts.mind.memory;
  }
  get skills() {
    return this.#parts.mind.skills;
  }
  get proposals() {
    return this.#parts.mind.ledger;
  }
  get events() {
    return this.#parts.events;
  }
  get notices() {
    return this.#parts.notices;
  }
  get modelNotices() {
    return this.#parts.modelNotices;
  }

  readonly redact = (text: string): string => redactSecrets(this.#parts.redact(text));
  readonly evidence = (): Database => this.#parts.mindHooks.evidence.database;
  readonly learning = (): Promise<Learning> => this.#parts.learning.load();
  readonly mayHaveNews = (): boolean => this.#parts.learning.mayHaveNews();
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
    return promptSections(
      this.#sources({ cwd, ...(appended ? { appended } : {}) }, window),
      this.#parts.tools.selection.schemas,
      window,
    );
  }

  async firstScreen(): Promise<readonly string[]> {
    const { firstScreen } = await import('../first-screen.ts');
    const providers = this.#parts.models.desk.providers();
    const { cwd, userHome } = this.environment;
    const facts = { model: this.model(), providers, cwd, homeRoot: this.home.root, userHome };
    return firstScreen({ ...facts, walls: this.walls().state() });
  }

  async commands(): Promise<readonly AnyCommand[]> {
    const { extensionCommands, shellCommands } = await import('../commands/shell-commands.ts');
    const options = { environment: this.environment, app: async () => this };
    const lines = await extensionCommands(options);
    return [...shellCommands(options), ...lines, ...this.#parts.extensions.commands.values()];
  }

  async switchModel(name: string): Promise<Result<ModelInfo, ChoiceRefusal>> {
    const switched = await this.#parts.models.desk.switchTo(name, this.#parts.background.signal);
    if (!switched.ok) return switched;
    this.#open.switchModel(this.#answering());
    return ok(this.#shown(switched.value));
  }

  async addModel(addition: ModelAddition, signal: AbortSignal) {
    const { addModel } = await import('../models/add-model.ts');
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
    await this.skills.library.ready();
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
      this.#innerTurns ??= (await import('./inner-turns.ts')).createInnerTurns(this.#parts);
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
    const start = { source: 'extension', cwd: seat.cwd };
    const opened = await openConversation({ start }, this.#partsFor(seat), signal);
    if (!opened.ok) throw new Error(opened.detail);
    const conversation = this.#open.track(opened.value);
    try {
      yield* conversation.send(request.text, { signal, purpose: request.purpose, origin: 'model' });
    } finally {
      await conversation.close();
    }
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
    const prompt = await this.store.loadPrompt(request.resume);
    return prompt && appendedTo(prompt);
  }

  async #requestOf(options: ConversationOptions): Promise<Result<OpenRequest, OpenRefusal>> {
    const { cwd, source } = options;
    if (options.resume !== undefined) {
      const found = await findSession(this.store, options.resume);
      return found.ok ? ok({ resume: found.value.id }) : { ...found, reason: 'no-such-session' };
    }
    if (options.continueLast) {
      const recent = await this.store.list({ source, cwd, limit: 20 });
      const last = recent.find((session) => session.messageCount > 0);
      if (last) return ok({ resume: last.id });
    }
    const { newId: id } = options;
    if (id === undefined) return ok({ start: { source, cwd } });
    const known = await this.store.get(id);
    return known ? refuse('session-exists', `There is a session ${id} already.`) : ok({ start: { id, source, cwd } });
  }

  #partsFor(seat: Seat): ConversationParts {
    const { tools, clock, home, events, redact, mind, mindHooks, providers, learning, extensions, options } =
      this.#parts;
    const { selection } = tools;
    const shown = seat.shown && new Set(seat.shown);
    const schemas = shown ? selection.schemas.filter((schema) => shown.has(schema.name)) : selection.schemas;
    return {
      store: mind.store,
      model: seat.model,
      buildPrompt: (window) => buildFrozenPrompt(this.#sources(seat, window), schemas, window),
      machine: {
        clock,
        place: { cwd: seat.cwd, clock, asker: seat.asker, spillFolder: home.spill, redact, files: mind.files },
        hooks: [
          ...(options.extra?.hooks ?? []),
          { name: 'terminal', sessionEnd: ({ sessionId }) => tools.close(sessionId) },
          ...mindHooks.hooks,
          ...(providers?.hooks ?? []),
          ...learning.hooks,
          ...extensions.hooks,
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

  #skillIndex(window: number): string {
    const { mind, loaded, tools } = this.#parts;
    if (!loaded.config.skills.enabled) return '';
    const budget = Math.min(SKILL_INDEX_TOKENS, Math.floor(window * SKILL_INDEX_SHARE));
    return mind.skills.index.render({ conditions: tools.conditions(), budget }).text;
  }

  #sources({ cwd, appended }: Pick<Seat, 'cwd' | 'appended'>, window: number) {
    const { home, clock, mind, loaded } = this.#parts;
    const { providers } = this.#parts;
    const memory = loaded.config.memory.enabled ? joined(mind.snapshot(), providers?.promptBlock()) : '';
    return gatherPromptSources({
      home,
      cwd,
      clock,
      memory,
      skills: this.#skillIndex(window),
      ...(appended ? { appended } : {}),
    });
  }
}

/** What of the tools may run in this run. */
function narrowed({ allowedTools, permission }: RunSettings = {}): Pick<ToolAccess, 'runnable' | 'readOnly'> {
  return {
    ...(allowedTools ? { runnable: new Set(allowedTools) } : {}),
    ...(permission === 'read-only' ? { readOnly: true } : {}),
  };
}

function joined(...blocks: readonly (string | undefined)[]): string {
  return blocks.filter((block) => block).join('\n\n');
}
