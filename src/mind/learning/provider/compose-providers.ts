// Owns memory as the agent has it: the files first, at most one external provider beside them (notes core 2.10, seed 001 ch 8).
// Knows no provider by name. Invariant: the files work whatever the other one does.
import { type Clock, systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Hooks, SessionInfo } from '#core/agent/hooks.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { Message } from '#core/model/message.ts';
import type { MemoryAudience, MemoryProvider, MemorySession, MemoryWriteNotice } from '#mind/memory/memory-provider.ts';
import { openDesk, type ProviderDesk } from './provider-desk.ts';
import { providerHooks } from './provider-hooks.ts';

export interface MemoryProviders {
  /** One for each provider, the files first. */
  readonly hooks: readonly Hooks[];
  /** Of all providers, for the registry, asked when a session's tool list is frozen. A name that the files have is theirs. */
  tools(): readonly AnyTool[];
  /** Before a session's prompt is built, so that its block is there; `sessionStart` does it too. Never throws. */
  start(session: MemorySession, signal: AbortSignal): Promise<void>;
  /** The blocks of the started providers, the files first. */
  promptBlock(): string;
  /** A write by somebody else than the memory tool: a review, a flush, a command. Never throws. */
  written(notice: MemoryWriteNotice): Promise<void>;
  switched(to: SessionInfo, how: 'resumed' | 'reset' | 'rewound'): Promise<void>;
  delegated(task: string, result: string): Promise<void>;
  /** Absolute paths outside the home that a backup must hold too. */
  backupPaths(): readonly string[];
  stop(): Promise<void>;
}

export interface ProviderParts {
  readonly external?: MemoryProvider;
  readonly clock?: Clock;
  /** One sentence when a provider could not do what no turn waits for. */
  readonly warn?: (problem: string) => void;
  readonly audienceOf?: (session: SessionInfo) => MemoryAudience;
  readonly messagesOf: (sessionId: string) => Promise<readonly Message[]>;
}

/** The one that `memory.provider` names; refused when there is none of that name or it says what it lacks. */
export function chooseProvider(
  known: readonly MemoryProvider[],
  name: string,
  installed: readonly string[] = known.map((provider) => provider.name),
): Result<MemoryProvider | undefined, 'unknown-provider' | 'provider-unavailable'> {
  if (name === '' || name === 'files') return ok(undefined);
  const found = known.find((provider) => provider.name === name);
  if (found === undefined) {
    const names = installed.join(', ') || 'none is installed';
    return refuse(
      'unknown-provider',
      `memory.provider: there is no provider ${name} (${names}); the files alone are used`,
    );
  }
  const available = found.available();
  return available.ok ? ok(found) : refuse('provider-unavailable', `memory.provider: ${name}: ${available.detail}`);
}

export function composeProviders(files: MemoryProvider, parts: ProviderParts): MemoryProviders {
  const { external, clock = systemClock, warn = () => undefined, audienceOf = () => 'primary' as const } = parts;
  const desks = [files, ...(external ? [external] : [])].map((provider) => openDesk(provider, clock));
  const each = async <T>(what: string, work: (desk: ProviderDesk) => Promise<T>): Promise<readonly T[]> => {
    const values: T[] = [];
    for (const desk of desks) {
      try {
        values.push(await work(desk));
      } catch (error) {
        warn(`memory provider ${desk.provider.name}: ${what} failed: ${errorText(error)}`);
      }
    }
    return values;
  };
  const tell = (what: string, work: (provider: MemoryProvider) => Promise<void> | undefined) =>
    each(what, (desk) => desk.call(work, { absent: undefined })).then(() => undefined);
  return {
    hooks: desks.map((desk) => providerHooks({ desk, audienceOf, messagesOf: parts.messagesOf })),
    tools: () => toolsOf(desks),
    start: async (session, signal) => void (await each('start', (desk) => desk.start(session, signal))),
    promptBlock: () => blocksOf(desks).join('\n\n'),
    written: (notice) => tell('memoryWritten', (provider) => provider.memoryWritten?.(notice)),
    switched: (to, how) => tell('sessionSwitched', (provider) => provider.sessionSwitched?.(to, how)),
    delegated: (task, result) => tell('delegated', (provider) => provider.delegated?.(task, result)),
    backupPaths: () => desks.flatMap(({ provider }) => provider.backupPaths?.() ?? []),
    stop: async () => void (await each('stop', (desk) => desk.stop())),
  };
}

function toolsOf(desks: readonly ProviderDesk[]): readonly AnyTool[] {
  const tools = new Map<string, AnyTool>();
  for (const tool of desks.flatMap(({ provider }) => provider.tools()))
    if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return [...tools.values()];
}

function blocksOf(desks: readonly ProviderDesk[]): readonly string[] {
  return desks
    .filter((desk) => desk.isStarted)
    .map(({ provider }) => provider.promptBlock().trim())
    .filter((block) => block !== '');
}
