/** A world in which learning can be watched, and conversations to learn from. */

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { z } from 'zod';
import { ok } from '#base/result.ts';
import { type Approver, absentAsker } from '#core/agent/approver.ts';
import { type Conversation, openConversation } from '#core/agent/conversation.ts';
import type { RoomGround } from '#core/agent/room.ts';
import type { FrozenPrompt } from '#core/agent/session-store.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { defaultStopConditions } from '#core/agent/turn/run-step.ts';
import { type Message, type ToolResultPart, userMessage } from '#core/model/message.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { toolRules } from '#core/tools/reflex-rules.ts';
import { functionSchema } from '#core/tools/tool-registry.ts';
import { foregroundCitations } from '#mind/evidence/citations.ts';
import type { Judge } from '#mind/evidence/judge.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { learningSchema } from '#mind/learning/learning-schema.ts';
import { openRoom } from '#mind/learning/open-room.ts';
import { learningRules } from '#mind/learning/teach-rules.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { memoryRules } from '#mind/memory/memory-rules.ts';
import { createMemoryTool } from '#mind/memory/memory-tool.ts';
import { recallRules } from '#mind/sessions/recall-rules.ts';
import { createSessionSearchTool } from '#mind/sessions/session-search-tool.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { createSkillDoor } from '#mind/skills/guarded-apply.ts';
import { createSkillLibrary } from '#mind/skills/library/skill-library.ts';
import { skillsCacheName } from '#mind/skills/library/skills-cache.ts';
import { createSkillRecords } from '#mind/skills/skill-records.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import {
  createSkillManageTool,
  createSkillsListTool,
  createSkillViewTool,
  type OwnerSay,
} from '#mind/skills/skill-tools.ts';
import type { JsonObject, ModelClient, ModelRequest, TurnEvent } from '#public/talaria.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';
import {
  createScriptedJudge,
  createScriptedModel,
  type ScriptedModel,
  type ScriptedStep,
} from '#testing/scripted-model.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { wordGuard } from '../skills/skill-bench.ts';

/** Conversations as plain messages: lines of the owner, calls with their results, answers. */

export interface CallSpec {
  readonly name?: string;
  readonly args: JsonObject;
  readonly text?: string;
  readonly isError?: boolean;
  readonly refused?: string;
}

let counter = 0;

export function call(args: JsonObject | string, more: Omit<CallSpec, 'args'> = {}): CallSpec {
  return { ...more, args: typeof args === 'string' ? { command: args } : args };
}

/** One turn: the line, one step for each call, the answer. */
export function turn(
  line: string,
  calls: readonly CallSpec[] = [],
  answer = 'Done.',
  model = 'test/model',
): readonly Message[] {
  return [userMessage(line), ...calls.flatMap((one) => step(one, model)), reply(answer, model)];
}

function step(spec: CallSpec, model: string): readonly Message[] {
  counter += 1;
  const callId = `call_${counter}`;
  const { name = 'terminal', args, text = 'ok', isError = false, refused } = spec;
  const exit = name === 'terminal' && refused === undefined ? { exitCode: isError ? 1 : 0 } : {};
  const result: ToolResultPart = {
    type: 'tool-result',
    callId,
    name,
    text,
    isError,
    origin: 'foreign',
    observed: { ms: 1, bytes: text.length, ...exit, ...(refused === undefined ? {} : { refused }) },
  };
  return [
    { role: 'assistant', model, parts: [{ type: 'tool-call', callId, name, arguments: args, origin: 'model' }] },
    { role: 'tool', parts: [result] },
  ];
}

export function reply(text: string, model = 'test/model'): Message {
  return { role: 'assistant', model, parts: [{ type: 'text', text, origin: 'model' }] };
}

/** A home with real stores, doors and tools, a learning loop over them, and conversations with a scripted or the reflex model. */

const ALL = 'surface';
const approving: Approver = { approve: async () => ({ decision: 'once' }) };

interface WorldOptions {
  /** Default: an own folder, removed when the test ends. */
  readonly home?: string;
  readonly model?: ModelClient;
  readonly settings?: {
    readonly enabled?: boolean;
    readonly intervals?: { readonly memory: number; readonly skills: number };
    readonly budget?: { readonly hour?: number; readonly share: number; readonly floorPerDay: number };
    readonly writeApproval?: 'draft' | 'apply';
    readonly keeps?: { readonly memory: boolean; readonly skills: boolean };
    /** Default: a person sits at a session of the command line. */
    readonly isAttended?: () => boolean;
  };
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

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld(t: TestContext, options: WorldOptions = {}) {
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
  const notices: string[] = [];
  const logged: string[] = [];
  const background = openBackground();
  const { settings: set = {}, judge = createScriptedJudge('supported') } = options;
  const { keeps = { memory: true, skills: true }, intervals = { memory: 10, skills: 10 } } = set;
  const { share = 0.1, floorPerDay = 100_000, ...budget } = set.budget ?? {};
  const sections: Readonly<Record<string, unknown>> = {
    memory: { enabled: keeps.memory, nudge_interval: intervals.memory },
    skills: {
      ...{ enabled: keeps.skills, creation_nudge_interval: intervals.skills },
      write_approval: set.writeApproval ?? 'draft',
    },
  };
  const doors = { sessions: store, state: database, proposals: ledger, memory, skills: library, door, judge };
  const isCli = (id: string) =>
    database.get("SELECT 1 FROM sessions WHERE id = ? AND source = 'cli'", id) !== undefined;
  const ground = {
    ...{ clock, background, stays: false, redact: (text: string) => text },
    places: { home, pending: join(home, 'pending'), lease: join(home, 'unattended.lock'), spill: place.spillFolder },
    notice: (text: string) => notices.push(text),
    log: (event: string, text: string) => logged.push(`${event}: ${text}`),
    settings: async () => ({ provider: '', section: (name: string) => sections[name] }),
    door: async (name: keyof typeof doors) => doors[name],
    seat: { model: () => state.model, tools: () => byName, isAttended: set.isAttended ?? isCli },
  } as unknown as RoomGround;
  const room = await openRoom(ground, {
    ...{ enabled: set.enabled ?? true, budget, budget_share: share, budget_floor: floorPerDay },
  });
  const { hooks = [] } = room;
  const learning = await (room.doors?.learning ?? assert.fail()).load();
  const buildPrompt = (): FrozenPrompt => ({
    system: 'You are Talaria.',
    tools: tools.filter(({ name }) => !options.hidden?.includes(name)).map((tool) => functionSchema(tool)),
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
        machine: { clock, place, hooks, stop: defaultStopConditions(50), access },
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
    hooks,
    learning,
    notices,
    logged,
    background,
    state,
    open,
    close,
  };
}

function reflexModel(clock: ManualClock): ModelClient {
  return createReflexClient([...toolRules, ...memoryRules, ...recallRules, ...learningRules], { clock });
}

/** What stands in a memory file. */
export function entriesOf({ memory }: Pick<World, 'memory'>, target: 'memory' | 'user' = 'user'): readonly string[] {
  const state = memory.read(target);
  return state.ok ? state.value.entries : [];
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

/** A release by a scripted model, and what a good review proposes about it. */

const COMMANDS = ['npm ci', 'npm run build', 'npm test', 'npm version patch', 'git push --follow-tags'];
export const RELEASE = COMMANDS.map(
  (command): ScriptedStep => ({ calls: [{ name: 'terminal', arguments: { command } }] }),
);

export const SKILL = [
  '---',
  'name: release',
  'description: Release a new version',
  '---',
  '',
  '# release',
  '',
  '## When to use',
  '',
  'When the owner asks to release a new version.',
  '',
  '## Steps',
  '',
  ...COMMANDS.map((command, index) => `${index + 1}. Run \`${command}\``),
  '',
].join('\n');

/** Id of the newest listed message that the pattern fits. */
export function idOf(request: ModelRequest, pattern: RegExp): number {
  const list = request.messages
    .flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')))
    .join('\n');
  const lines = list.split('\n').filter((line) => /^#\d+ /.test(line) && pattern.test(line));
  return Number(/^#(\d+)/.exec(lines.at(-1) ?? '')?.[1]);
}

/** What a good review proposes: the skill, with each command cited. */
export function proposeSkill(request: ModelRequest): ScriptedStep {
  const cited = COMMANDS.map((command) => ({
    message_id: idOf(request, new RegExp(`assistant: .*${command}`)),
    quote: `Ran terminal. command: ${command}`,
  }));
  const owner = { message_id: idOf(request, /user: release/), quote: 'release a new version' };
  const args = { action: 'create', name: 'release', content: SKILL, evidence: [owner, ...cited] };
  return { calls: [{ name: 'skill_manage', arguments: args }] };
}

export function scripted(t: TestContext, steps: readonly ScriptedStep[]): ScriptedModel {
  return createScriptedModel(steps, { context: t });
}

export async function settle(world: World): Promise<void> {
  await world.background.settled();
  assert.deepEqual(world.background.failures, []);
}

export const reviewRequests = (model: ScriptedModel) => model.requests.filter(({ purpose }) => purpose === 'review');

/** A conversation of one line, closed; what it ordered has come to its end. Gives the session's id. */
export async function once(world: World, line = 'release a new version', source = 'cli'): Promise<string> {
  const talk = await world.open(source);
  await say(talk, line);
  await talk.close();
  await settle(world);
  return talk.session.id;
}

/** A call of a review that keeps something of the message that the quote stands in. */
export function keeping(content: string, quote: string, target = 'user') {
  return (request: ModelRequest): ScriptedStep => {
    const evidence = [{ message_id: idOf(request, new RegExp(quote)), quote }];
    return { calls: [{ name: 'memory', arguments: { action: 'add', target, content, evidence } }] };
  };
}
