// Owns a turn beside a conversation: on the same frozen prompt, shown tools and stored messages, so that the provider's cache stays
// warm, with other runnable tools and a journal of its own that is thrown away. Reviews, the flush and recall summaries run it.
// Knows no learning. Invariants: nothing it does is part of the session's messages; its spans and cost are; the shown tool list and the prefix are byte-identical.
import type { Message } from '#core/model/message.ts';
import type { ModelClient, Purpose } from '#core/model/model-client.ts';
import type { AnyTool } from './tool.ts';
import type { TurnEvent } from './turn-event.ts';

export interface ForkRequest {
  readonly sessionId: string;
  /** The user message that is put behind the conversation; origin `model`, since nobody typed it. */
  readonly text: string;
  readonly purpose: Purpose;
  /** What may run, by name; also what runs: a tool here stands in for the session's tool of that name. Everything else is `tool-not-allowed`. */
  readonly runnable: ReadonlyMap<string, AnyTool>;
  readonly maxSteps: number;
  /** Instead of the conversation's model. */
  readonly model?: ModelClient;
  /** Instead of the stored messages: a digest for a model with another window. */
  readonly messages?: readonly Message[];
}

/** As `runTurn`: yields events, ends with exactly one `turn-end`. Hooks do not run. Throws `no-such-session`. */
export type ForkTurn = (request: ForkRequest, signal: AbortSignal) => AsyncGenerator<TurnEvent, void>;
