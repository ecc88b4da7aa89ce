// Owns the events of one turn: all that any surface, log or hook ever learns about it. Names are noun-verb, kebab-case.
// Invariant: a turn yields exactly one `turn-end`, as its last event, whatever fails.

import type { JsonObject } from '#base/json.ts';
import type { Message, ToolResultPart } from '#core/model/message.ts';
import type { FinishReason, Tier, Usage } from '#core/model/model-client.ts';
import type { ApprovalDecision, Reach } from './approver.ts';
import type { FileChange } from './tool.ts';

/**
 * `done`: the model ended with plain text. `length`: its answer was cut at the length limit. `stopped`: a stop condition or budget.
 * `aborted`: on request. `failed`: an error, named.
 */
export type TurnOutcome = 'done' | 'length' | 'stopped' | 'aborted' | 'failed';

export interface TurnError {
  readonly code: string;
  readonly message: string;
  readonly fix?: string;
}

/** As the event fabric carries it: one process runs many conversations. */
export interface SessionEvent {
  /** Absent: a room says it, in no session. */
  readonly sessionId?: string;
  readonly event: TurnEvent;
}

export type TurnEvent =
  | { readonly type: 'turn-start'; readonly sessionId: string; readonly turn: number; readonly at: number }
  /** The message is durable. Sent after the commit, before its effects are visible. */
  | { readonly type: 'message'; readonly messageId: number; readonly message: Message }
  | { readonly type: 'step-start'; readonly step: number; readonly model: string }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** Same provider again; text shown since `step-start` no longer counts. */
  | {
      readonly type: 'model-retry';
      readonly model: string;
      readonly reason: string;
      readonly attempt: number;
      readonly delayMs: number;
    }
  | { readonly type: 'model-fallback'; readonly from: string; readonly to: string; readonly reason: string }
  | {
      readonly type: 'step-end';
      readonly step: number;
      readonly model: string;
      readonly tier: Tier;
      readonly finish: FinishReason;
      readonly usage: Usage;
      readonly cost: number | null;
      readonly ms: number;
    }
  | {
      readonly type: 'tool-start';
      readonly callId: string;
      readonly name: string;
      readonly arguments: JsonObject;
      readonly summary: string;
    }
  | { readonly type: 'tool-output'; readonly callId: string; readonly chunk: string }
  /** Comes before the `tool-end` of its call, once for each file. */
  | ({ readonly type: 'file-change'; readonly callId: string } & FileChange)
  | { readonly type: 'tool-end'; readonly callId: string; readonly name: string; readonly result: ToolResultPart }
  | {
      readonly type: 'approval';
      readonly callId: string;
      readonly preview: string;
      readonly decision: ApprovalDecision | 'remembered' | 'never';
      readonly reason: string;
      /** Absent: beyond. */
      readonly reach?: Reach;
    }
  | { readonly type: 'hook-failed'; readonly hook: string; readonly at: string; readonly error: string }
  | { readonly type: 'steer'; readonly text: string }
  /** The prefix of the session's requests changes here, and only here: after a compression or a switch of tool strategy. */
  | { readonly type: 'prefix-break'; readonly reason: 'compression' | 'strategy-switch' }
  /** Anything a surface should say in one line: a full disk, a quarantined index. */
  | { readonly type: 'notice'; readonly text: string }
  | {
      readonly type: 'turn-end';
      readonly outcome: TurnOutcome;
      /** Final text of the assistant, empty when there is none. */
      readonly text: string;
      readonly steps: number;
      readonly usage: Usage;
      /** US dollars, those of turns that its calls began too; null when any step's price is unknown. */
      readonly cost: number | null;
      readonly model: string;
      readonly tier: Tier;
      readonly ms: number;
      /** Which condition stopped it: `max-steps`, `repeated-call`, … */
      readonly stopped?: string;
      readonly error?: TurnError;
    };
