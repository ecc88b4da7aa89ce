// Owns what the calls of one turn become: events with their key, both verdicts and the skill that was active. Knows no hook and no file:
// the live recorder and the filling-in from stored sessions both ask it, so that one call gives one event either way. Pure but for its
// own count (curator notes 3).
import type { JsonObject } from '#base/json.ts';
import { sliceText } from '#base/text.ts';
import type { ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import type { Redact } from '../redact-json.ts';
import { attributeSkill } from './attribute-skill.ts';
import { hasFailed, isErrorLike } from './error-like.ts';
import { toolEventKey } from './event-keys.ts';
import { argumentsOf, previewOf, type ToolEvent } from './event-rows.ts';

/** Longer than any name that is one. */
const LONGEST_NAME = 200;
const LONGEST_ID = 500;

export interface CallEnd {
  /** Absent: nothing came back; that is no failure of the tool. */
  readonly result?: ToolResultPart;
  /** Epoch ms. */
  readonly at: number;
}

export interface CallRules {
  readonly redact: Redact;
  /** Nobody observed how the calls ended: only the fields of what they gave back are left to go by. */
  readonly unobserved?: boolean;
}

export interface CallPlace {
  readonly key: string;
  readonly taskId: string;
}

export class TurnCalls {
  readonly turn: number;
  readonly #sessionId: string;
  readonly #rules: CallRules;
  readonly #seen = new Map<string, number>();
  #active: string | undefined;

  constructor(turn: { readonly sessionId: string; readonly turn: number }, rules: CallRules) {
    this.turn = turn.turn;
    this.#sessionId = turn.sessionId;
    this.#rules = rules;
  }

  /** The call's key, which depends on the calls before it: ask once a call, in the order in which they were made. */
  place(call: ToolCallPart): CallPlace {
    const callId = sliceText(call.callId, LONGEST_ID);
    const occurrence = this.#seen.get(callId) ?? 0;
    this.#seen.set(callId, occurrence + 1);
    const { turn } = this;
    return {
      key: toolEventKey({ sessionId: this.#sessionId, turn, callId, occurrence }),
      taskId: `turn:${turn}:${callId}`,
    };
  }

  /** Ask in the order in which the calls ended. */
  event(call: ToolCallPart, { result, at }: CallEnd, place: CallPlace): ToolEvent {
    const given = argumentsGiven(call);
    const active = this.#active;
    const text = result?.text ?? '';
    return {
      ...place,
      at,
      sessionId: this.#sessionId,
      tool: sliceText(call.name, LONGEST_NAME),
      ms: result === undefined || this.#rules.unobserved === true ? null : Math.round(result.observed.ms),
      isError: this.#isFailure(result),
      isErrorUpstream: isErrorLike(text, { compat: 'upstream' }),
      skill: shortened(attributeSkill(call.name, given, { compat: 'upstream' })),
      activeSkill: shortened(attributeSkill(call.name, given, active === undefined ? {} : { active })),
      argsJson: argumentsOf(given, this.#rules.redact),
      resultPreview: previewOf(text, this.#rules.redact),
    };
  }

  /** A skill that was read is what the turn's later calls are done by. To be told of each call after its event. */
  ended(call: ToolCallPart, result: ToolResultPart | undefined): void {
    if (call.name !== 'skill_view' || result === undefined || this.#isFailure(result)) return;
    const skill = shortened(attributeSkill(call.name, argumentsGiven(call), { compat: 'upstream' }));
    if (skill !== null) this.#active = skill;
  }

  /** By what was recorded of the call; where nobody recorded it, by the fields of what it gave back. Never by words. */
  #isFailure(result: ToolResultPart | undefined): boolean {
    if (result === undefined) return false;
    return hasFailed(result) || (this.#rules.unobserved === true && isErrorLike(result.text));
  }
}

/** What could not be read as arguments is kept as it was written. */
function argumentsGiven({ arguments: given, malformed }: ToolCallPart): JsonObject {
  return malformed === undefined ? given : { raw_arguments: malformed };
}

function shortened(name: string | null): string | null {
  return name === null ? null : sliceText(name, LONGEST_NAME);
}
