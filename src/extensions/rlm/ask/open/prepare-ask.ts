// Owns everything before the first call of an ask: the question, the limits, the nesting, the families, the context. Asks no model.
// Invariant: what is wrong with what was typed is one clear refusal before a run is written. Seed 003: max depth 5.
import { ok, type Result, refuse } from '#base/result.ts';
import type { CallBudget } from '../../call/calls.ts';
import { defaultWindow } from '../../call/default-window.ts';
import { checkFamilies, type FamilyRefusal } from '../../call/families.ts';
import { type NestingRefusal, openNesting } from '../../call/nesting.ts';
import type { ContextRefusal } from '../../repl/source/file-source.ts';
import { readRlmConfig } from '../../rlm-config.ts';
import type { RlmGround, RlmMind } from '../../rlm-ground.ts';
import { newRunId } from '../../trace/run-id.ts';
import { textHash } from '../../trace/text-hash.ts';
import { ASK_REQUEST_VERSION, type AskRequest, DEFAULT_ASK_LIMITS, LEAST_WINDOW, replLimits } from '../ask-request.ts';
import { type AskContext, type OpenedContext, openContext } from './open-context.ts';

export interface AskOptions {
  readonly max_steps?: number;
  readonly depth?: number;
  readonly concurrency?: number;
  readonly window_tokens?: number;
  readonly families?: readonly string[];
  /** Only quotations count; no model reads the rest. Default false. */
  readonly strict?: boolean;
  /** `max_calls` has a default, the others have none. */
  readonly budget?: CallBudget;
}

export interface AskedQuestion {
  readonly ground: RlmGround;
  readonly mind: RlmMind;
  readonly context: AskContext;
  readonly question: string;
  readonly options: AskOptions;
}

export interface PreparedAsk {
  readonly run_id: string;
  readonly request: AskRequest;
  readonly context: OpenedContext;
}

export type AskRefusal =
  | 'question-missing'
  | 'question-too-long'
  | 'limit-out-of-range'
  | NestingRefusal
  | FamilyRefusal
  | ContextRefusal;

/** The caller closes the source. Throws the signal's reason. */
export async function prepareAsk(asked: AskedQuestion, signal: AbortSignal): Promise<Result<PreparedAsk, AskRefusal>> {
  const { ground, mind, options } = asked;
  const question = checkQuestion(asked.question);
  if (!question.ok) return question;
  const limits = checkLimits(options);
  if (!limits.ok) return limits;
  const nesting = openNesting(ground.variables, options.depth ?? DEFAULT_ASK_LIMITS.depth);
  if (!nesting.ok) return nesting;
  const families = checkFamilies(options.families ?? [], ground, mind);
  if (!families.ok) return families;
  const run_id = newRunId('ask', ground.clock);
  const context = await openContext(asked.context, { home: ground.places.home, run_id }, signal);
  if (!context.ok) return context;
  const { skipped } = context.value;
  const fixed = {
    ...{ question: question.value, depth: nesting.value.depth, families: families.value, skipped },
    models: Object.keys(readRlmConfig(mind).families),
    judge: options.strict !== true && mind.judge.isThere() && !isReflex(families.value),
  };
  const kept = 'text' in asked.context ? { text_hash: textHash(asked.context.text) } : {};
  const window_tokens = options.window_tokens ?? defaultWindow(mind, { families: families.value, least: LEAST_WINDOW });
  const request = { ...requestOf({ ...options, window_tokens }, fixed), ...kept };
  return ok({ run_id, request, context: context.value });
}

function requestOf(
  options: AskOptions,
  fixed: Pick<AskRequest, 'question' | 'depth' | 'families' | 'skipped' | 'models' | 'judge'>,
): AskRequest {
  const { max_steps, concurrency, window_tokens, max_calls } = { ...DEFAULT_ASK_LIMITS, ...options };
  const budget = { max_calls, ...options.budget };
  return {
    schema_version: ASK_REQUEST_VERSION,
    ...fixed,
    strict: options.strict ?? false,
    max_steps,
    concurrency,
    window_tokens,
    budget,
    repl: replLimits(window_tokens, Math.min(1_000, budget.max_calls), budget.max_ms),
  };
}

/** Who asks for rules alone asks no model. */
function isReflex(families: readonly string[]): boolean {
  return families.length > 0 && families.every((family) => family === 'reflex');
}

const LONGEST_QUESTION = 4_000;

function checkQuestion(typed: string): Result<string, 'question-missing' | 'question-too-long'> {
  const question = typed.trim();
  if (!/[\p{L}\p{N}]/u.test(question)) return refuse('question-missing', 'there is no question');
  if (question.length <= LONGEST_QUESTION) return ok(question);
  const detail = `the question has ${question.length} characters, ${LONGEST_QUESTION} are read`;
  return refuse('question-too-long', `${detail}: put long material into the context`);
}

const RANGES = {
  max_steps: [1, 100],
  depth: [1, 5],
  concurrency: [1, 32],
  window_tokens: [LEAST_WINDOW, 2_000_000],
} as const;

function checkLimits(options: AskOptions): Result<null, 'limit-out-of-range'> {
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = options[name as keyof typeof RANGES];
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      return refuse('limit-out-of-range', `${name} is ${value}; a whole number from ${least} to ${most} is needed`);
  }
  const wrong = Object.entries(options.budget ?? {}).find(([, value]) => value !== undefined && !(value > 0));
  return wrong === undefined
    ? ok(null)
    : refuse('limit-out-of-range', `${wrong[0]} is ${wrong[1]}; more than 0 is needed`);
}
