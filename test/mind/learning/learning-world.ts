/** A home with real stores, doors and tools, a learning loop over them, and conversations with a scripted or the reflex model. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { z } from 'zod';
import { ok } from '#base/result.ts';
import type { Approver } from '#core/agent/approver.ts';
import { absentAsker } from '#core/agent/approver.ts';
import { type Conversation, openConversation } from '#core/agent/conversation.ts';
import { createForkTurn } from '#core/agent/fork-turn.ts';
import type { FrozenPrompt } from '#core/agent/session-store.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { defaultStopConditions } from '#core/agent/turn/stop-conditions.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { toolRules } from '#core/tools/reflex-rules.ts';
import { functionSchema } from '#core/tools/registry/tool-schema.ts';
import { foregroundCitations } from '#mind/evidence/foreground-citations.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createLearning } from '#mind/learning/create-learning.ts';
import type { LearningSettings } from '#mind/learning/learning-parts.ts';
import { learningRules } from '#mind/learning/learning-rules.ts';
import { learningSchema } from '#mind/learning/learning-schema.ts';
import type { MemoryProviders } from '#mind/learning/provider/compose-providers.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { memoryRules } from '#mind/memory/memory-rules.ts';
import { createMemoryTool } from '#mind/memory/memory-tool.ts';
import { recallRules } from '#mind/sessions/recall-rules.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { createSessionSearchTool } from '#mind/sessions/tool/session-search-tool.ts';
import { createSkillDoor } from '#mind/skills/guarded-apply.ts';
import { skillsCacheName } from '#mind/skills/library/cache-tables.ts';
import { createSkillLibrary } from '#mind/skills/library/skill-library.ts';
import { createSkillRecords } from '#mind/skills/record/skill-records.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import { createSkillManageTool, type OwnerSay } from '#mind/skills/tools/skill-manage-tool.ts';
import { createSkillViewTool } from '#mind/skills/tools/skill-view-tool.ts';
import { createSkillsListTool } from '#mind/skills/tools/skills-list-tool.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';
import { createScriptedJudge } from '#testing/scripted-judge.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { wordGuard } from '../skills/door/open-door.ts';

const ALL = 'surface';
const approving: Approver = { approve: async () => ({ decision: 'once' }) };

export interface WorldOptions {
  /** Default: an own folder, removed when the test ends. */
  readonly home?: string;
  readonly model?: ModelClient;
  readonly settings?: Partial<LearningSettings>;
  readonly providers?: MemoryProviders;
  readonly approver?: Approver;
  /** What becomes of skills that are the owner's to decide; default: they are asked about. */
  readonly ownerSay?: () => OwnerSay;
  /** Names of tools that no session shows. */
  readonly hidden?: readonly string[];
  /** Default: one whose waiting takes no time. */
  readonly clock?: ManualClock;
  /** Default: says yes to everything. */
  readonly judge?: Judge;
}

export type World = ReturnType<typeof openWorld>;

export function openWorld(t: TestContext, options: WorldOptions = {}) {
  const home = options.home ?? createTempHome(t).path;
  const root = join(home, 'skills');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const clock = options.clock ?? createManualClock({ auto: true });
  const store = createSqliteSessionStore({
    path: join(home, 'state.db'),
    clock,
    rooms: [evidenceSchema, skillSchema, learningSchema],
  });
  const { database } = store;
  const ledger = createProposalLedger({ database, clock });
  const citationsOf = (sessionId: string) => foregroundCitations(database, sessionId);
  const memory = createMemoryFiles({ root: join(home, 'memories'), clock, journal: { ledger, citationsOf } });
  const records = createSkillRecords({ database, root, clock });
  const library = createSkillLibrary({
    root,
    cacheFile: join(home, 'cache', skillsCacheName),
    records: records.get,
    clock,
  });
  const door = createSkillDoor({
    places: { root, backups: join(home, 'backups/skills') },
    database,
    ledger,
    locate: (name) => library.get(name),
    guard: wordGuard,
    clock,
  });
  const state = { model: options.model ?? reflexModel(clock) };
  const refresh = async () => void (await library.refresh());
  const conditions = () => ({ platform: 'linux', tools: new Set([ALL]), toolsets: new Set([ALL]) });
  const reading = [
    createSkillViewTool({ library, conditions, environment: () => undefined, credentialFolder: home }),
    createSkillsListTool({ library, conditions }),
  ];
  const manage = createSkillManageTool({
    door,
    citationsOf,
    reader: library,
    ownerSay: options.ownerSay ?? (() => 'ask'),
    draft: async () => ok({ id: 'prop_waiting', isKnown: false }),
    written: refresh,
  });
  const tools = [terminalTool(), createMemoryTool(memory), manage, ...reading, createSessionSearchTool(store)];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const place = {
    cwd: home,
    clock,
    asker: absentAsker,
    spillFolder: join(home, 'spill'),
    redact: (text: string) => text,
  };
  const forkTurn = createForkTurn({
    store,
    model: () => state.model,
    machine: { clock, place, access: { tools: byName } },
  });
  const notices: string[] = [];
  const logged: string[] = [];
  const background = openBackground();
  const learning = createLearning({
    stores: { sessions: store, database, ledger },
    memory: { files: memory, ...(options.providers ? { providers: options.providers } : {}) },
    skills: { reader: library, door, readingTools: reading, ready: () => library.ready(), written: refresh },
    turn: { forkTurn, model: () => state.model, judge: options.judge ?? createScriptedJudge('supported') },
    places: { pending: join(home, 'pending'), lease: join(home, 'unattended.lock') },
    settings: {
      enabled: true,
      intervals: { memory: 10, skills: 10 },
      budget: { share: 0.1, floorPerDay: 100_000 },
      writeApproval: 'draft',
      isAttended: ({ source }) => source === 'cli',
      ...options.settings,
    },
    ground: {
      clock,
      background,
      notice: (text) => notices.push(text),
      log: (event, text) => logged.push(`${event}: ${text}`),
    },
  });
  const buildPrompt = (): FrozenPrompt => ({
    system: 'You are Talaria.',
    tools: tools.filter(({ name }) => !options.hidden?.includes(name)).map(functionSchema),
  });
  const open = async (source = 'cli', resume?: string): Promise<Conversation> => {
    const request = resume === undefined ? { start: { source, cwd: home } } : { resume };
    const access = {
      tools: byName,
      approver: options.approver ?? approving,
      allowList: { has: () => false, add: () => undefined },
    };
    const opened = await openConversation(
      request,
      {
        store,
        model: state.model,
        buildPrompt,
        machine: { clock, place, hooks: learning.hooks, stop: defaultStopConditions(50), access },
      },
      new AbortController().signal,
    );
    if (!opened.ok) throw new Error(opened.detail);
    return opened.value;
  };
  const close = async (): Promise<void> => {
    await learning.drain(AbortSignal.abort());
    await background.settled();
    library.close();
    await store.close();
  };
  t.after(close);
  return {
    home,
    clock,
    store,
    database,
    ledger,
    memory,
    records,
    library,
    door,
    learning,
    notices,
    logged,
    background,
    state,
    open,
    close,
  };
}

export function reflexModel(clock: ManualClock): ModelClient {
  return createReflexClient([...toolRules, ...memoryRules, ...recallRules, ...learningRules], { clock });
}

/** Runs one turn to its end; gives its events. */
export async function say(conversation: Conversation, line: string): Promise<readonly TurnEvent[]> {
  return Array.fromAsync(conversation.send(line, { signal: new AbortController().signal }));
}

export function answerOf(events: readonly TurnEvent[]): string {
  const end = events.find((event) => event.type === 'turn-end');
  return end?.type === 'turn-end' ? end.text : '';
}

export function commandsOf(events: readonly TurnEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'tool-end' && event.name === 'terminal' && event.result.observed.refused === undefined
      ? [startOf(events, event.callId)]
      : [],
  );
}

function startOf(events: readonly TurnEvent[], callId: string): string {
  const start = events.find((event) => event.type === 'tool-start' && event.callId === callId);
  return start?.type === 'tool-start' ? String(start.arguments.command) : '';
}

/** A shell that says `ran <command>`; a command with FAIL in it fails. */
function terminalTool(): AnyTool {
  return defineTool({
    name: 'terminal',
    description: 'Run a command.',
    input: z.object({ command: z.string() }),
    toolset: 'terminal',
    effect: 'write',
    run: async ({ command }) =>
      command.includes('FAIL')
        ? { text: `cannot ${command}`, isError: true, exitCode: 1 }
        : { text: `ran ${command}`, exitCode: 0 },
  });
}

function openBackground() {
  const controller = new AbortController();
  const work = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  return {
    signal: controller.signal,
    failures,
    hold(_name: string, promise: Promise<unknown>) {
      const held = promise.catch((error: unknown) => failures.push(error)).finally(() => work.delete(held));
      work.add(held);
    },
    abort: () => controller.abort(),
    /** All that was held has come to its end. */
    async settled() {
      while (work.size > 0) await Promise.all(work);
    },
  };
}
