// Owns composing the tools of one run: registration, toolsets, allow-list, and the reflex tier that acts through them.
// Knows the tools' rooms, not their work. Invariant: the selection is made once, so that every prompt of the run shows the same tools.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { textsOf } from '#base/json.ts';
import { lazy } from '#base/lazy.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { ReflexQuestion, ReflexRule } from '#core/agent/reflex-rule.ts';
import type { Shown, ToolChoice } from '#core/agent/room.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import { createAllowList, createCoreTools, type RememberedApprovals } from '#core/tools/core-tools.ts';
import { deferTools, type ShownTools } from '#core/tools/deferred-tools.ts';
import { openingOf } from '#core/tools/terminal/openings.ts';
import type { TerminalTools } from '#core/tools/terminal/terminal-tool.ts';
import {
  createToolRegistry,
  functionSchema,
  TOOLSETS,
  type ToolRegistry,
  type ToolSelection,
  type ToolsetRefusal,
} from '#core/tools/tool-registry.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import type { WebSearchOptions } from '#core/tools/web-search-tool.ts';
import type { AppOptions, SessionMeans } from './app.ts';
import type { Config } from './home/config-schema.ts';
import { fillVariables, mergedVariables, type Variables } from './home/variables.ts';
import { proxiesOf } from './models/find-providers.ts';
import type { Place } from './place.ts';
import type { ReflexExtras, ReflexTalk } from './reflex-tier.ts';
import { composeWalls } from './walls.ts';
import { nearestName } from './wording.ts';

/** What a session is shown, and what there is. */
export interface SessionTools {
  readonly selection: ShownTools;
  readonly byName: ReadonlyMap<string, AnyTool>;
}

export interface ToolWish extends Pick<SessionMeans, 'toolsets' | 'extraTools' | 'seat'>, ToolChoice {
  /** Nothing but these. */
  readonly names?: readonly string[];
  /** Tools that rooms have for this session; where toolsets are named, those of them. */
  readonly brought?: readonly AnyTool[];
  /** Tokens that its model reads at once. */
  readonly window: number;
}

export interface ComposedTools {
  readonly byName: ReadonlyMap<string, AnyTool>;
  /** Throws TalariaError `tool-name-taken`. */
  readonly forSession: (wish: ToolWish) => Result<SessionTools, ToolsetRefusal>;
  readonly reflex: LazyReflex;
  readonly allowList: RememberedApprovals;
  /** Around every command. */
  readonly walls: Walls;
  /** What skills are offered by. */
  readonly conditions: () => Shown;
  /** Ends what tools left running in the background, of one session or of all. */
  close(sessionId?: string): Promise<void>;
}

/** What a session of this run can do: skills are offered by it. */
function conditionsOf(selection: () => ToolSelection | undefined, all: () => readonly AnyTool[]): () => Shown {
  return () => {
    const names = new Set(selection()?.schemas.map(({ name }) => name) ?? []);
    const toolsets = all()
      .filter(({ name }) => names.has(name))
      .map(({ toolset }) => toolset);
    return { platform: process.platform, tools: names, toolsets: new Set(toolsets) };
  };
}

export interface ToolParts extends Pick<Place, 'home' | 'clock' | 'loaded' | 'rooms' | 'notice'> {
  /** The environment that commands run in, without keys. */
  readonly childEnvironment: Readonly<Record<string, string | undefined>>;
}

export function composeTools(options: AppOptions, parts: ToolParts): ComposedTools {
  const registry = createToolRegistry(TOOLSETS, parts.loaded.cache);
  const allowList = allowListOf(parts);
  const ground = { home: parts.home, environment: options.environment, clock: parts.clock };
  const walls = options.extra?.walls ?? composeWalls(parts.loaded.config, ground);
  const core = coreTools(options, parts, { walls, allowList });
  const extra = [...roomTools(parts), ...(options.extra?.tools ?? [])];
  const chosen: { selection?: ToolSelection } = {};
  const conditions = conditionsOf(
    () => chosen.selection,
    () => registry.list(),
  );
  for (const tool of [...core.tools, ...extra]) registry.register(tool);
  offerByDefault(registry, parts);
  const { names, selection } = select(registry, options, parts);
  refuseUnknown(options.run?.allowedTools ?? [], selection);
  chosen.selection = selection;
  const named = options.toolsets ?? [...parts.loaded.config.toolsets, ...names.filter((name) => name !== 'web')];
  const byName = new Map(registry.list().map((tool) => [tool.name, tool]));
  return {
    ...{ conditions, byName },
    forSession: (wish) => sessionTools({ registry, names, named, selection, byName, parts }, wish),
    reflex: createLazyReflex(parts.rooms, parts.clock),
    allowList,
    walls,
    close: (sessionId) => core.closeAll(sessionId),
  };
}

interface RunTools {
  readonly registry: ToolRegistry;
  /** Toolsets of the run. */
  readonly names: readonly string[];
  /** Those that somebody asked for by name: `web.enabled` asks for none. */
  readonly named: readonly string[];
  readonly selection: ToolSelection;
  readonly byName: ReadonlyMap<string, AnyTool>;
  readonly parts: ToolParts;
}

/** A guest gets what guests get, whatever the run has. */
function sessionTools(run: RunTools, wish: ToolWish): ReturnType<ComposedTools['forSession']> {
  const { registry, names: own, selection, byName, parts } = run;
  const { toolsets, seat, window, extraTools = [], brought = [] } = wish;
  const wanted = toolsets ?? (seat === 'guest' ? ['guest'] : undefined);
  const given = [...extraTools, ...brought.filter(({ toolset }) => wanted?.includes(toolset) !== false)];
  const taken = given.find(({ name }, at) => byName.has(name) || given.findIndex((one) => one.name === name) < at);
  if (taken) throw new TalariaError(`two tools are named ${taken.name}`, { code: 'tool-name-taken' });
  const isAsRun = wanted === undefined && given.length === 0;
  const known = (wanted ?? own).filter((name) => !brought.some(({ toolset }) => toolset === name));
  const chosen = isAsRun ? ok(selection) : registry.select(known, given);
  if (!chosen.ok) return chosen;
  const { config, cache } = parts.loaded;
  const defer = { mode: config.tools.defer, window, named: wanted ?? run.named };
  const shown = deferTools(narrow(chosen.value, wish), defer, cache);
  const more = [...given, ...shown.tools].map((tool) => [tool.name, tool] as const);
  return ok({ selection: shown, byName: new Map([...byName, ...more]) });
}

function narrow(selection: ToolSelection, { names, without = [], within }: ToolWish): ToolSelection {
  const tools = selection.tools.filter(
    ({ name, toolset }) => !without.includes(toolset) && names?.includes(name) !== false && within?.has(name) !== false,
  );
  return { ...selection, tools, schemas: tools.map((tool) => functionSchema(tool)) };
}

/** Those of core: the others come with their rooms. */
function coreTools(
  { environment }: AppOptions,
  { childEnvironment: env, home: place, loaded: { config } }: ToolParts,
  { walls, allowList }: Pick<ComposedTools, 'walls' | 'allowList'>,
): TerminalTools {
  const { userHome } = environment;
  const home = place.root;
  const search = searchOf(config.web.search, () => mergedVariables(place, environment));
  const opened = () => allowList.list().flatMap(({ key }) => openingOf(key) ?? []);
  return createCoreTools({
    files: { home, userHome, tempIsPrivate: () => walls.state().kind === 'walls' },
    terminal: { env, home, timeout: config.terminal.timeout, walls, opened },
    web: { privateHosts: config.web.private_hosts, hosts: config.sandbox.hosts, ...(search ? { search } : {}) },
  });
}

/** Who searches; a refusal says what is missing. */
function searchOf(
  { backend, base_url: address, api_key: key }: Config['web']['search'],
  variablesOf: () => Variables,
): Result<WebSearchOptions> | undefined {
  if (backend === undefined) return undefined;
  const [needed, given] = backend === 'searxng' ? ['base_url', address] : ['api_key', key];
  if (!given) return refuse('incomplete', `${backend} needs web.search.${needed} in config.yaml`);
  const variables = variablesOf();
  const [baseUrl, apiKey] = [fillVariables(address ?? '', variables), fillVariables(key ?? '', variables)];
  if (!baseUrl.ok) return refuse(baseUrl.reason, `web.search: ${baseUrl.detail}`);
  if (!apiKey.ok) return refuse(apiKey.reason, `web.search: ${apiKey.detail}`);
  return ok({ backend, baseUrl: baseUrl.value, apiKey: apiKey.value, ...proxiesOf(variables) });
}

function roomTools({ rooms }: ToolParts): readonly AnyTool[] {
  return rooms.each('tools').flat();
}

/** A session starts with what the rooms add, but for toolsets that have a row of their own: those are named. */
function offerByDefault(registry: ToolRegistry, parts: ToolParts): void {
  const { default: start } = registry.toolsets();
  const added = new Set(
    roomTools(parts)
      .map(({ toolset }) => toolset)
      .filter((name) => !Object.hasOwn(TOOLSETS, name)),
  );
  if (!start || added.size === 0) return;
  const offered = registry.addToolsets({ default: { ...start, includes: [...(start.includes ?? []), ...added] } });
  if (!offered.ok) parts.notice(`toolsets: ${offered.detail}`);
}

/** An unknown toolset of the command line is an error there; one of the configuration is named and passed over. */
function select(
  registry: ToolRegistry,
  options: AppOptions,
  { loaded, notice }: ToolParts,
): { readonly names: readonly string[]; readonly selection: ToolSelection } {
  const { toolsets, web } = loaded.config;
  const extra = (options.extra?.tools ?? []).map((tool) => tool.toolset);
  const wanted = options.toolsets ?? [...toolsets, ...(web.enabled ? ['web'] : []), ...extra];
  const selected = registry.select(wanted);
  if (selected.ok) return { names: wanted, selection: selected.value };
  if (options.toolsets) throw new TalariaError(selected.detail, { code: selected.reason });
  notice(`toolsets: ${selected.detail}; the default toolset is used`);
  const names = ['default', ...extra];
  const fallback = registry.select(names);
  if (!fallback.ok) throw new TalariaError(fallback.detail, { code: fallback.reason });
  return { names, selection: fallback.value };
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

/** What is allowed for good goes into config.yaml; where that cannot be written it holds for the session. */
function allowListOf({ home, loaded }: ToolParts): RememberedApprovals {
  return createAllowList({
    always: loaded.config.command_allowlist,
    persist: async (edit) => {
      const { editConfig } = await import('./home/config.ts');
      const edited = await editConfig(home.config, [
        { path: ['command_allowlist'], value: (kept) => [...edit(textsOf(kept))] },
      ]);
      if (!edited.ok) throw new TalariaError(edited.detail, { code: edited.reason });
    },
  });
}

// The model-free tier as the rest of the app sees it before it is needed: most starts have a model, and its rules take time to load.
// Knows no rule. Invariant: `reflex/1` under any load: same id, tier and traits as the client behind it, which is made once.

interface LazyReflex {
  readonly client: ModelClient;
  readonly rules: () => Promise<readonly ReflexRule[]>;
  /** The question of the reflex that a conversation ended with. */
  readonly question: (talk: ReflexTalk) => Promise<ReflexQuestion | undefined>;
}

/** `extra` is asked once, when the reflex is first needed. */
function createLazyReflex(extra: ReflexExtras, clock: Clock): LazyReflex {
  const load = lazy(async () => (await import('./reflex-tier.ts')).createReflexTier(extra, clock));
  const client: ModelClient = {
    id: 'reflex/1',
    tier: 'T0',
    traits: { contextWindow: 1_000_000, toolCalling: 'structured', cacheMarks: false, local: true },
    async *stream(request, signal) {
      yield* (await load()).client.stream(request, signal);
    },
  };
  return {
    client,
    rules: async () => (await load()).rules,
    question: async (talk) => (await load()).openQuestion(talk),
  };
}
