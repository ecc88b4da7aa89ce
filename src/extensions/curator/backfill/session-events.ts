// Owns what one stored session says happened: the events that the live recorder would have written, with its keys (curator notes 4).
import { countTurns, isTurnStart } from '#core/agent/history.ts';
import { type Message, messageText, type ToolCallPart, type ToolResultPart, toolCalls } from '#core/model/message.ts';
import {
  previewOf,
  type SessionEvent,
  sessionEventKey,
  type ToolEvent,
  type TurnEvent,
  turnEventKey,
} from '#mind/evidence/ledger/event-rows.ts';
import { typedText } from '#mind/evidence/ledger/evidence-ledger.ts';
import { type CallPlace, TurnCalls } from '#mind/evidence/ledger/turn-calls.ts';
import type { Redact } from '#mind/evidence/redact-json.ts';
import type { StoredMessage, StoredSession } from './session-sources.ts';

export interface SessionEvents {
  /** Of every event of the session, also of those that stand already. */
  readonly keys: ReadonlySet<string>;
  /** Without those that stand already. */
  readonly tools: readonly ToolEvent[];
  readonly turns: readonly TurnEvent[];
  /** Absent while somebody has the session open. */
  readonly end: SessionEvent | undefined;
}

interface EventPlace {
  /** Keys that need no event. */
  readonly standing: ReadonlySet<string>;
  /** Epoch ms: nothing happened later. */
  readonly now: number;
  readonly redact: Redact;
}

/** Reads the session to its end. Throws what reading its messages throws. */
export function sessionEvents(session: StoredSession, place: EventPlace): SessionEvents {
  const walk = new SessionWalk(session, place);
  for (const told of session.messages) walk.take(told);
  return walk.end();
}

interface Waiting {
  readonly call: ToolCallPart;
  readonly place: CallPlace;
  readonly at: number;
}

class SessionWalk {
  readonly #session: StoredSession;
  readonly #place: EventPlace;
  readonly #startedAt: number;
  readonly #keys = new Set<string>();
  readonly #tools: ToolEvent[] = [];
  readonly #turns: TurnEvent[] = [];
  /** Of the turn that is being read: dropped when it is the last one of an open session. */
  #turnTools: ToolEvent[] = [];
  #turn = 0;
  #calls: TurnCalls;
  #waiting: Waiting[] = [];
  #asked: string | undefined;
  #answer: { readonly text: string; readonly at: number; readonly model: string } | undefined;
  #model = '';
  #aborted = false;

  constructor(session: StoredSession, place: EventPlace) {
    this.#session = session;
    this.#place = place;
    this.#startedAt = clamped(session.startedAt, 0, place.now);
    this.#calls = this.#callsOfTurn();
  }

  take({ at: told, message, copied }: StoredMessage): void {
    const at = clamped(told, this.#startedAt, this.#place.now);
    const begins = countTurns([message]);
    if (begins > 0) {
      this.#endTurn();
      this.#turn += begins;
      this.#calls = this.#callsOfTurn();
    }
    if (copied === true) return;
    if (message.role === 'user') this.#takeUser(message);
    else if (message.role === 'assistant') this.#takeAssistant(message, at);
    else this.#takeResult(message.parts[0], at);
  }

  end(): SessionEvents {
    if (!this.#session.open) this.#endTurn();
    return { keys: this.#keys, tools: this.#tools, turns: this.#turns, end: this.#marker() };
  }

  #callsOfTurn(): TurnCalls {
    const { id: sessionId, observed } = this.#session;
    return new TurnCalls({ sessionId, turn: this.#turn }, { redact: this.#place.redact, unobserved: !observed });
  }

  #takeUser(message: Message): void {
    if (!isTurnStart(message)) return;
    const text = typedText(message);
    this.#asked = text.trim() === '' || FOREIGN_SUMMARY.test(text) ? undefined : text;
  }

  #takeAssistant(message: Extract<Message, { role: 'assistant' }>, at: number): void {
    const text = messageText(message);
    this.#model = message.model === UNKNOWN ? '' : String(message.model);
    this.#aborted = message.cut === 'aborted';
    if (text.trim() !== '') this.#answer = { text, at, model: this.#model };
    for (const call of toolCalls(message)) this.#waiting.push({ call, place: this.#calls.place(call), at });
  }

  #takeResult(result: ToolResultPart, at: number): void {
    const index = indexOfCall(this.#waiting, result);
    const [found] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (found) this.#finish({ ...found, at }, result);
  }

  #finish({ call, place, at }: Waiting, result?: ToolResultPart): void {
    this.#keys.add(place.key);
    if (!this.#place.standing.has(place.key)) {
      this.#turnTools.push(this.#calls.event(call, result === undefined ? { at } : { result, at }, place));
    }
    this.#calls.ended(call, result);
  }

  #endTurn(): void {
    for (const waiting of this.#waiting) this.#finish(waiting);
    this.#waiting = [];
    for (const event of this.#turnTools) this.#tools.push(event);
    this.#turnTools = [];
    this.#addTurn();
    this.#asked = undefined;
    this.#answer = undefined;
  }

  #addTurn(): void {
    const { id: sessionId, platform } = this.#session;
    if (this.#asked === undefined || this.#answer === undefined) return;
    const key = turnEventKey(sessionId, this.#turn);
    this.#keys.add(key);
    if (this.#place.standing.has(key)) return;
    const { redact } = this.#place;
    this.#turns.push({
      ...{ key, sessionId, platform, at: this.#answer.at, model: this.#answer.model },
      userPreview: previewOf(this.#asked, redact),
      assistantPreview: previewOf(this.#answer.text, redact),
    });
  }

  #marker(): SessionEvent | undefined {
    const { id: sessionId, platform, lastActiveAt, open } = this.#session;
    if (open) return undefined;
    const at = clamped(lastActiveAt, this.#startedAt, this.#place.now);
    const [completed, interrupted] = [!this.#aborted, this.#aborted];
    return { key: sessionEventKey(sessionId), at, sessionId, platform, model: this.#model, completed, interrupted };
  }
}

/** What stands where an import knew no model. */
const UNKNOWN = 'unknown';

/** hermes-agent's own words at the head of a compression that its session files carry as a user's message. */
const FOREIGN_SUMMARY = /^\s*\[CONTEXT (?:COMPACTION|SUMMARY)\b/;

/** A result that names no call answers the oldest that waits. */
function indexOfCall(waiting: readonly Waiting[], { callId, name }: ToolResultPart): number {
  if (callId !== '') return waiting.findIndex(({ call }) => call.callId === callId);
  const named = waiting.findIndex(({ call }) => call.name === name);
  return named < 0 && name === '' ? Math.min(0, waiting.length - 1) : named;
}

function clamped(at: number, otherwise: number, now: number): number {
  return Number.isFinite(at) ? Math.min(Math.max(at, 0), now) : Math.min(otherwise, now);
}
