// Owns composing the tools of one run: registration, toolsets, allow-list, and the reflex tier that acts through them.
// Knows the tools' rooms, not their work. Invariant: the selection is made once, so that every prompt of the run shows the same tools.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import { createClarifyTool } from '#core/tools/clarify-tool.ts';
import { createFileTools } from '#core/tools/file/file-tools.ts';
import { createToolRegistry, type ToolRegistry, type ToolSelection } from '#core/tools/registry/tool-registry.ts';
import { TOOLSETS } from '#core/tools/registry/toolsets.ts';
import { createAllowList, type RememberedApprovals } from '#core/tools/terminal/allow-list.ts';
import { openingOf } from '#core/tools/terminal/openings.ts';
import { createTerminalTool, type TerminalTools } from '#core/tools/terminal/terminal-tool.ts';
import { createTodoTool } from '#core/tools/todo-tool.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import { createWebFetchTool } from '#core/tools/web/web-fetch-tool.ts';
import type { ForegroundGate } from '#mind/evidence/gate/foreground-gate.ts';
import type { MemoryProviders } from '#mind/learning/provider/compose-providers.ts';
import { createMemoryTool } from '#mind/memory/memory-tool.ts';
import { sessionMessages } from '#mind/sessions/find-message.ts';
import { createSessionSearchTool, type SummariseSession } from '#mind/sessions/tool/session-search-tool.ts';
import type { SkillConditions } from '#mind/skills/library/offered.ts';
import { createSkillManageTool } from '#mind/skills/tools/skill-manage-tool.ts';
import { createSkillViewTool } from '#mind/skills/tools/skill-view-tool.ts';
import { createSkillsListTool } from '#mind/skills/tools/skills-list-tool.ts';
import type { AppOptions } from '../app.ts';
import type { LoadedConfig } from '../home/config.ts';
import type { Home } from '../home/home.ts';
import type { Extensions } from '../host/extension-host.ts';
import { nearestName } from '../nearest-name.ts';
import { mergedVariables } from './compose-models.ts';
import { composeWalls } from './compose-walls.ts';
import { createLazyReflex, type LazyReflex } from './lazy-reflex.ts';
import type { ComposedMind } from './mind/compose-mind.ts';
import { skillDraft } from './mind/foreground-drafts.ts';

export interface ComposedTools {
  readonly selection: ToolSelection;
  readonly byName: ReadonlyMap<string, AnyTool>;
  readonly reflex: LazyReflex;
  readonly allowList: RememberedApprovals;
  /** What keeps commands in. */
  /** Around every command. */
  readonly walls: Walls;
  /** What skills are offered by. */
  readonly conditions: () => SkillConditions;
  /** Ends what tools left running in the background, of one session or of all. */
  close(sessionId?: string): Promise<void>;
}

/** What a session of this run can do: skills are offered by it. */
function conditionsOf(
  selection: () => ToolSelection | undefined,
  all: () => readonly AnyTool[],
): () => SkillConditions {
  return () => {
    const names = new Set(selection()?.schemas.map(({ name }) => name) ?? []);
    const toolsets = all()
      .filter(({ name }) => names.has(name))
      .map(({ toolset }) => toolset);
    return { platform: process.platform, tools: names, toolsets: new Set(toolsets) };
  };
}

export interface ToolParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly loaded: LoadedConfig;
  readonly mind: ComposedMind;
  readonly providers?: MemoryProviders;
  readonly extensions: Extensions;
  /** The environment that commands run in, without keys. */
  readonly childEnvironment: Readonly<Record<string, string | undefined>>;
  readonly notice: (text: string) => void;
  /** Words recall summaries; absent: recall is verbatim alone. */
  readonly small?: () => ModelClient | undefined;
  /** Can a person answer in this session? */
  readonly isAttended: (sessionId: string) => boolean;
  /** What becomes of a write after foreign words were read. */
  readonly gate: ForegroundGate;
}

export function composeTools(options: AppOptions, parts: ToolParts): ComposedTools {
  const registry = createToolRegistry(TOOLSETS, parts.loaded.cache);
  const allowList = allowListOf(parts);
  const ground = { home: parts.home, environment: options.environment, clock: parts.clock };
  const walls = options.extra?.walls ?? composeWalls(parts.loaded.config, ground);
  const terminal = terminalTools(parts, walls, allowList);
  const extra = [...parts.extensions.tools.values(), ...(options.extra?.tools ?? [])];
  const chosen: { selection?: ToolSelection } = {};
  const conditions = conditionsOf(
    () => chosen.selection,
    () => registry.list(),
  );
  const skills = skillTools(options, parts, conditions);
  for (const tool of [...terminal.tools, ...plainTools(options, parts, walls), ...skills, ...extra])
    registry.register(tool);
  offerByDefault(registry, parts);
  const selection = select(registry, options, parts);
  refuseUnknown(options.run?.allowedTools ?? [], selection);
  chosen.selection = selection;
  return {
    selection,
    conditions,
    byName: new Map(registry.list().map((tool) => [tool.name, tool])),
    reflex: createLazyReflex(() => {
      const { rules, tasks } = parts.extensions;
      return { rules: [...rules.values()], tasks: [...tasks.values()] };
    }, parts.clock),
    allowList,
    walls,
    close: (sessionId) => terminal.closeAll(sessionId),
  };
}

function terminalTools(
  { childEnvironment, home, loaded }: ToolParts,
  walls: Walls,
  allowList: RememberedApprovals,
): TerminalTools {
  return createTerminalTool({
    env: childEnvironment,
    home: home.root,
    scratch: [home.spill],
    timeout: loaded.config.terminal.timeout,
    walls,
    opened: () => allowList.list().flatMap(({ key }) => openingOf(key) ?? []),
  });
}

function plainTools({ environment }: AppOptions, parts: ToolParts, walls: Walls): readonly AnyTool[] {
  const { mind, loaded, home, providers } = parts;
  const search = createSessionSearchTool(mind.store, summaries(parts));
  const { enabled } = loaded.config.memory;
  const memory = (providers?.tools() ?? [createMemoryTool(mind.memory, parts.gate)]).filter(
    ({ name }) => enabled || name !== 'memory',
  );
  const files = createFileTools({
    home: home.root,
    userHome: environment.userHome,
    tempIsPrivate: () => walls.state().kind === 'walls',
  });
  const web = createWebFetchTool({ privateHosts: loaded.config.web.private_hosts, hosts: loaded.config.sandbox.hosts });
  return [...files, ...memory, search, createTodoTool(), createClarifyTool(), web];
}

/** Loaded with the first summary that is asked for. */
function summaries({ mind, small, clock }: ToolParts): { readonly summarise?: SummariseSession } {
  if (!small) return {};
  const { store } = mind;
  return {
    summarise: async (asked, signal) => {
      const { createSummariser } = await import('#mind/learning/recall/summarise-session.ts');
      const messagesOf = (sessionId: string) => sessionMessages(store.database, sessionId);
      return createSummariser({ store, messagesOf, model: small, clock })(asked, signal);
    },
  };
}

function skillTools(
  { environment }: AppOptions,
  { mind, loaded, home, isAttended, gate }: ToolParts,
  conditions: () => SkillConditions,
): readonly AnyTool[] {
  if (!loaded.config.skills.enabled) return [];
  const { library, door } = mind.skills;
  const { write_approval: unattended } = loaded.config.skills;
  const variables = mergedVariables(home, environment);
  const surroundings = { environment: (name: string) => variables[name], credentialFolder: home.root };
  return [
    createSkillsListTool({ library, conditions }),
    createSkillViewTool({ library, conditions, ...surroundings }),
    createSkillManageTool({
      door,
      reader: library,
      ownerSay: (sessionId) => (isAttended(sessionId) ? 'ask' : unattended),
      draft: (write) => gate.draft(skillDraft(write)),
      gate,
      citationsOf: mind.citationsOf,
      written: async () => void (await library.refresh()),
    }),
  ];
}

/** A session starts with what the extensions and the memory provider add, but for toolsets that have a row of their own: those are named. */
function offerByDefault(registry: ToolRegistry, { extensions, providers, notice }: ToolParts): void {
  const { default: start } = registry.toolsets();
  const brought = [...extensions.tools.values(), ...(providers?.tools() ?? [])];
  const added = new Set(brought.map(({ toolset }) => toolset).filter((name) => !Object.hasOwn(TOOLSETS, name)));
  if (!start || added.size === 0) return;
  const offered = registry.addToolsets({ default: { ...start, includes: [...(start.includes ?? []), ...added] } });
  if (!offered.ok) notice(`toolsets: ${offered.detail}`);
}

/** An unknown toolset of the command line is an error there; one of the configuration is named and passed over. */
function select(registry: ToolRegistry, options: AppOptions, { loaded, notice }: ToolParts): ToolSelection {
  const { toolsets, web } = loaded.config;
  const extra = (options.extra?.tools ?? []).map((tool) => tool.toolset);
  const wanted = options.toolsets ?? [...toolsets, ...(web.enabled ? ['web'] : []), ...extra];
  const selected = registry.select(wanted);
  if (selected.ok) return selected.value;
  if (options.toolsets) throw new TalariaError(selected.detail, { code: selected.reason });
  notice(`toolsets: ${selected.detail}; the default toolset is used`);
  const fallback = registry.select(['default', ...extra]);
  if (!fallback.ok) throw new TalariaError(fallback.detail, { code: fallback.reason });
  return fallback.value;
}

/** What is typed for one run is an error there, as an unknown toolset is. */
function refuseUnknown(allowed: readonly string[], { schemas, unavailable }: ToolSelection): void {
  const names = schemas.map(({ name }) => name);
  const unknown = allowed.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const reason = unavailable.find(({ name }) => name === unknown)?.reason;
  const near = nearestName(unknown, names);
  throw new TalariaError(
    reason === undefined ? `there is no tool ${unknown} in this run` : `${unknown} cannot be used here: ${reason}`,
    { code: 'unknown-tool', fix: `${near ? `Did you mean ${near}? ` : ''}Tools: ${names.join(', ')}.` },
  );
}

function namesIn(kept: JsonValue | undefined): readonly string[] {
  return Array.isArray(kept) ? kept.filter((name) => typeof name === 'string') : [];
}

/** What is allowed for good goes into config.yaml; where that cannot be written it holds for the session. */
function allowListOf({ home, loaded }: ToolParts): RememberedApprovals {
  return createAllowList({
    always: loaded.config.command_allowlist,
    persist: async (edit) => {
      const { editConfig } = await import('../home/edit-config.ts');
      const edited = await editConfig(home.config, ['command_allowlist'], (kept) => [...edit(namesIn(kept))]);
      if (!edited.ok) throw new TalariaError(edited.detail, { code: edited.reason });
    },
  });
}
