// Owns the tools of this room as a start has them (each is its card, and its code is loaded with the first call), and the approvals that the owner
// gave before, for this session or for always. Knows no tool's work. Invariant: a key is one key, whatever stands in it; nothing on the hard
// list has one.
import { lazy } from '#base/lazy.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type AnyTool, lateTool, type ToolCard } from '#core/agent/tool.ts';
import type { AllowList } from '#core/agent/turn/permit-call.ts';
import type { FileToolsOptions } from './files/file-access.ts';
import type { TerminalOptions, TerminalTools } from './terminal/terminal-tool.ts';
import {
  CLARIFY,
  PATCH,
  PROCESS,
  READ_FILE,
  SEARCH_FILES,
  TERMINAL,
  TODO,
  WEB_FETCH,
  WEB_SEARCH,
  WRITE_FILE,
} from './tool-cards.ts';
import type { WebFetchOptions } from './web-fetch-tool.ts';
import type { WebSearchOptions } from './web-search-tool.ts';

export interface CoreToolsOptions {
  readonly files: FileToolsOptions;
  readonly terminal: TerminalOptions;
  readonly web: WebFetchOptions & { readonly search?: Result<WebSearchOptions> };
}

export function createCoreTools({ files, terminal, web }: CoreToolsOptions): TerminalTools {
  const ofFiles = lazy(async () => (await import('./files/file-tools.ts')).createFileTools(files));
  const ofTerminal = lazy(async () => (await import('./terminal/terminal-tool.ts')).createTerminalTool(terminal));
  const ofTalk = lazy(async () => {
    const { createClarifyTool, createTodoTool } = await import('./talk-tools.ts');
    return [createTodoTool(), createClarifyTool()];
  });
  const ofWeb = lazy(async () => [(await import('./web-fetch-tool.ts')).createWebFetchTool(web)]);
  const search = web.search ?? refuse('no-backend', NO_BACKEND);
  const ofSearch = async () =>
    search.ok ? [(await import('./web-search-tool.ts')).createWebSearchTool(search.value)] : [];
  const ofCommands = async () => (await ofTerminal()).tools;
  return {
    tools: [
      ...[late(TERMINAL, ofCommands), late(PROCESS, ofCommands), late(READ_FILE, ofFiles), late(WRITE_FILE, ofFiles)],
      ...[late(PATCH, ofFiles), late(SEARCH_FILES, ofFiles), late(TODO, ofTalk), late(CLARIFY, ofTalk)],
      ...[late(WEB_FETCH, ofWeb), late({ ...WEB_SEARCH, available: () => (search.ok ? ok(true) : search) }, ofSearch)],
    ],
    closeAll: async (sessionId) => {
      const { walls } = terminal;
      const made = ofTerminal.now();
      await (made ? made.closeAll(sessionId) : sessionId === undefined ? walls.close() : walls.endSession(sessionId));
    },
  };
}

const NO_BACKEND =
  'set web.search.backend in config.yaml: searxng with its base_url, or brave, tavily, exa with api_key';

/** A call loads the tools that share its code, and then is one of them. */
function late<Input>(card: ToolCard<Input>, load: () => Promise<readonly AnyTool[]>): AnyTool {
  return lateTool(card, async () => {
    const found = (await load()).find(({ name }) => name === card.name);
    if (!found) throw new Error(`there is nothing behind ${card.name}`);
    return found;
  });
}

interface AllowListOptions {
  /** Keys that were allowed for always, from the configuration. */
  readonly always?: readonly string[];
  /**
   * Makes a change of the `always` keys durable, made to the list as it is kept now: another process may have changed it. A rejection
   * reaches the caller; a new key then holds for the session, one that was taken back is gone for the session.
   */
  readonly persist?: (edit: (keys: readonly string[]) => readonly string[]) => void | Promise<void>;
}

export interface GivenApproval {
  readonly key: string;
  readonly scope: 'session' | 'always';
}

export interface RememberedApprovals extends AllowList {
  /** Those that outlive the session first, each part sorted. */
  list(): readonly GivenApproval[];
  /** From now on it is asked again. False: there is no such key. */
  revoke(key: string): Promise<boolean>;
}

export function createAllowList(options: AllowListOptions = {}): RememberedApprovals {
  const always = new Set(options.always ?? []);
  const session = new Set<string>();
  const sorted = (keys: Iterable<string>, scope: GivenApproval['scope']) =>
    [...keys].sort().map((key) => ({ key, scope }));
  return {
    has: (key) => key !== '' && (always.has(key) || session.has(key)),
    async add(key, scope) {
      if (key === '') return;
      session.add(key);
      if (scope === 'session') return;
      await options.persist?.((kept) => [...new Set([...kept, key])].sort());
      always.add(key);
    },
    list: () => [...sorted(always, 'always'), ...sorted(session.difference(always), 'session')],
    async revoke(key) {
      const [wasSession, wasAlways] = [session.delete(key), always.delete(key)];
      if (wasAlways) await options.persist?.((kept) => kept.filter((other) => other !== key));
      return wasSession || wasAlways;
    },
  };
}
