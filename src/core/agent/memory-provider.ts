// Owns the MemoryProvider seam (core notes 2.10, seed 001 ch 8): what stands behind "the agent remembers".
// Knows no provider. The files are always there; at most one external provider stands beside them.
// Contract suite: test/contract/memory-provider.contract.ts.
import type { Result } from '#base/result.ts';
import type { Message, TextPart } from '#core/model/message.ts';
import type { SessionInfo } from './hooks.ts';
import type { AnyTool } from './tool.ts';

/** For whom a session runs; only `primary` speaks for the owner. */
export type MemoryAudience = 'primary' | 'subagent' | 'schedule' | 'flush';

export interface MemorySession extends SessionInfo {
  readonly audience: MemoryAudience;
}

/** A write to the memory files, for providers that mirror it. */
export interface MemoryWriteNotice {
  readonly sessionId: string;
  readonly action: 'add' | 'replace' | 'remove';
  readonly target: 'memory' | 'user';
  readonly content: string;
}

/**
 * Contract. Everything but the first two members is called after `start` and before `stop`, one call at a time for one session.
 * Whatever is thrown becomes a `hook-failed` event and never breaks a turn, so a provider need not catch for the host's sake.
 * Text that comes from other machines or people carries origin `foreign`.
 */
export interface MemoryProvider {
  /** Kebab-case; what `memory.provider` names. */
  readonly name: string;
  /** Refusal = what is missing and how to mend it. Reads settings only: no network, no writing. */
  available(): Result<true>;
  /** Once for each session, before its prompt is built; may load, must not write outside its own data. */
  start(session: MemorySession, signal: AbortSignal): Promise<void>;
  /** Text for the system prompt, empty for none. The same bytes at every call between one `start` and the next. */
  promptBlock(): string;
  /** What may help with the owner's line; put into the USER message of this turn. Empty when nothing fits. Never writes. */
  prefetch(query: string, signal: AbortSignal): Promise<readonly TextPart[]>;
  /** Its tools, the same list for the whole session; called once when the session's tool list is frozen. */
  tools(): readonly AnyTool[];
  /** After a turn, with its messages; returns soon and may work on until `stop`. */
  turnEnded?(session: SessionInfo, messages: readonly Message[]): Promise<void>;
  /** Before messages are compressed away: text that should survive in the summary, empty for none. */
  beforeCompress?(messages: readonly Message[], signal: AbortSignal): Promise<string>;
  /** The owner moved to another session: `reset` begins empty, `rewound` dropped the end of this one. */
  sessionSwitched?(to: SessionInfo, how: 'resumed' | 'reset' | 'rewound'): Promise<void>;
  /** A task was handed to a sub-agent and came back. */
  delegated?(task: string, result: string): Promise<void>;
  memoryWritten?(notice: MemoryWriteNotice): Promise<void>;
  sessionEnded?(messages: readonly Message[]): Promise<void>;
  /** Absolute paths outside the home that a backup must hold too. */
  backupPaths?(): readonly string[];
  /** Finishes what is under way and lets go of everything; safe to call twice. */
  stop(): Promise<void>;
}
