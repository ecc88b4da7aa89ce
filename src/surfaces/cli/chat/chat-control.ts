// Owns what the chat's own commands may do to the chat. Knows no command and no screen.
import type { AnyCommand, CommandOutput } from '#core/agent/command-spec.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { App } from '#surfaces/app/app.ts';

export type CommandFailure = Extract<CommandOutput, { type: 'failure' }>;

export interface ChatControl {
  readonly app: App;
  readonly conversation: Conversation | undefined;
  /** A turn is under way. */
  readonly isRunning: boolean;
  /** Commands that can be typed after a slash, the chat's own first. */
  commands(): Promise<readonly AnyCommand[]>;
  /** Each gives the reason when it could not be done; the old session then stays open. */
  startNew(): Promise<CommandFailure | undefined>;
  resume(sessionId: string): Promise<CommandFailure | undefined>;
  /** The chat ends after the present line. */
  leave(): void;
}
