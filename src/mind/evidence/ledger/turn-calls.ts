// Owns what the calls of one turn become: events with their unique key, both verdicts and the skill that they belong to. Knows no hook and no file:
// the live recorder and the filling-in from stored sessions both ask it, so that one call gives one event either way. Pure but for its own count
// (curator notes 3). The original knows only calls that name a skill, and looks for words, so that "0 errors" is one; ours also counts the
// ordinary calls while a skill is active, and goes by fields alone.
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { sliceText } from '#base/text.ts';
import type { ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import type { Redact } from '../redact-json.ts';
import { type CompatOptions, compactPreview, isTruthy, plainText, stripBlanks } from './compact-value.ts';
import { argumentsOf, previewOf, type ToolEvent, toolEventKey } from './event-rows.ts';

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

export interface AttributionOptions extends CompatOptions {
  /** The skill that was viewed last in this turn. Not heard in `compat`. */
  readonly active?: string;
}

const NAMING = ['skill_view', 'skill_manage'];
const KEYS = ['name', 'skill', 'skill_name'];

/**
 * The name of the skill that a tool call counts for, or null (seed 002, evidence; notes 3). `skill_view` and `skill_manage`: the first
 * truthy of the arguments `name`, `skill`, `skill_name`, as text; any other tool: the first truthy element of the list `skills`.
 * Ours takes texts only, and else the skill that is `active`. `args`: the call's arguments, anything but an object names nothing.
 * Throws nothing.
 */
export function attributeSkill(tool: string, args: unknown, options: AttributionOptions = {}): string | null {
  const named = namedSkill(tool, isJsonObject(args) ? args : {}, options.compat === 'upstream');
  if (named !== null || options.compat === 'upstream') return named;
  return options.active ?? null;
}

function namedSkill(tool: string, args: Readonly<Record<string, unknown>>, upstream: boolean): string | null {
  const given = NAMING.includes(tool) ? KEYS.map((key) => args[key]) : Array.isArray(args.skills) ? args.skills : [];
  const first = given.find((value) => (upstream ? isTruthy(value) : typeof value === 'string' && value.trim() !== ''));
  if (first === undefined) return null;
  return upstream ? plainText(first) : String(first).trim();
}

const LOOKED_AT = 2048;

/** Whether a call that we ran failed, by what was recorded of its end. The terminal itself says when 1 is no failure but an answer. */
export function hasFailed({ isError, observed, name }: ToolResultPart): boolean {
  const { exitCode = 0, refused } = observed;
  return isError || refused !== undefined || (exitCode !== 0 && !(exitCode === 1 && name === 'terminal'));
}

/**
 * Whether a tool's result records a failure (seed 002, evidence; notes 3). `result`: what the tool gave back, before any cut, of any
 * kind; a text that is a JSON object counts as that object. An object fails by `error`, `success` or `exit_code`, never by its words. Any
 * other value is no failure for ours; for the original one of five bare words in its first 2,047 characters is. Throws nothing.
 */
export function isErrorLike(result: unknown, options: CompatOptions = {}): boolean {
  const value = parsed(result);
  if (options.compat === 'upstream') {
    return isJsonObject(value) ? isUpstreamFailure(value) : hasUpstreamWord(value, options);
  }
  if (isJsonObject(value)) return isFailure(value);
  return Array.isArray(value) && value.some((item) => isJsonObject(item) && isErrorLike(item.text ?? item));
}

function parsed(result: unknown): unknown {
  const text = typeof result === 'string' ? stripBlanks(result) : '';
  if (!text.startsWith('{')) return result;
  const json = parseJson(text);
  if (json.ok) return json.value;
  const finite = parseJson(text.replace(NUMBER_WORDS, (word) => (word.startsWith('"') ? word : '1')));
  return finite.ok ? finite.value : result;
}

/** Texts, and the words for numbers that are none, which the original's tools write into JSON; those count as true and not as zero. */
const NUMBER_WORDS = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

function isUpstreamFailure({ error, success, exit_code: exitCode }: JsonObject): boolean {
  if (isTruthy(error) || success === false) return true;
  return exitCode !== null && exitCode !== undefined && exitCode !== 0 && exitCode !== false;
}

const UPSTREAM_WORDS = ['traceback', 'exception', 'error', 'failed', 'exit_code'];

function hasUpstreamWord(value: unknown, options: CompatOptions): boolean {
  const text = compactPreview(value, LOOKED_AT, options).toLowerCase();
  return UPSTREAM_WORDS.some((word) => text.includes(word));
}

/** Also a status by word, a flag, an exit code as text. */
function isFailure(result: JsonObject): boolean {
  const { error, success, status, isError, is_error: isErrorFlag } = result;
  if (isTruthy(error) || success === false || isError === true || isErrorFlag === true) return true;
  if (typeof status === 'string' && /^(?:error|failed|failure)$/i.test(status)) return true;
  return [result.exit_code, result.exitCode].some((code) => code === true || isNonZero(code));
}

function isNonZero(code: unknown): boolean {
  return (typeof code === 'number' || (typeof code === 'string' && code.trim() !== '')) && Number(code) !== 0;
}
