// Owns the one hook vocabulary of the agent. Later systems (memory providers, evidence, golems) hang on these seven points.
// Knows no implementer. Invariant: a failing hook becomes a `hook-failed` event and never breaks a turn.
import type { Message, Origin, TextPart, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import type { TurnOutcome } from './turn-event.ts';

export interface SessionInfo {
  readonly sessionId: string;
  readonly source: string;
  readonly cwd: string;
}

export interface TurnInfo extends SessionInfo {
  /** Number of the turn in its session, from 1. */
  readonly turn: number;
}

export type ToolVerdict =
  | { readonly decision: 'allow' }
  | { readonly decision: 'refuse'; readonly reason: string }
  | { readonly decision: 'ask'; readonly reason: string };

export interface SaidLine {
  readonly text: string;
  /** Whose words it is: a guest's are `foreign`, a program's `model`. */
  readonly origin?: Origin;
}

/** Contract: each is optional, may be slow only as long as the signal lets it, and must not keep what it was given. */
export interface Hooks {
  /** Name in events and traces. */
  readonly name: string;
  sessionStart?(session: SessionInfo, signal: AbortSignal): Promise<void>;
  /** Parts put before the owner's text in the USER message of this turn; the prefix never changes. */
  beforeTurn?(turn: TurnInfo & SaidLine, signal: AbortSignal): Promise<readonly TextPart[]>;
  /** May refuse a call or demand an approval; the strictest verdict of all hooks counts. */
  beforeTool?(turn: TurnInfo, call: ToolCallPart, signal: AbortSignal): Promise<ToolVerdict>;
  afterTool?(turn: TurnInfo, call: ToolCallPart, result: ToolResultPart): Promise<void>;
  /** `notice` says one line to the owner, before the turn's end. */
  afterTurn?(
    turn: TurnInfo,
    ended: { readonly outcome: TurnOutcome; readonly messages: readonly Message[] },
    notice?: (text: string) => void,
  ): Promise<void>;
  /** Before messages leave the context, while all of them still stand in it; may ask a model, as a flush does. */
  beforeCompress?(session: SessionInfo, messages: readonly Message[], signal: AbortSignal): Promise<void>;
  sessionEnd?(session: SessionInfo): Promise<void>;
}
