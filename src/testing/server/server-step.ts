// Owns what one answer of the scripted provider server can be. Knows no wire format.
import type { JsonObject } from '#base/json.ts';
import type { FinishReason, Usage } from '#core/model/model-client.ts';

/** One recorded request, body parsed when it is a JSON object. */
export interface ServerRequest {
  readonly method: string;
  /** Path without query, e.g. `/v1/chat/completions`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** The bytes as text. */
  readonly raw: string;
}

export interface ServerCall {
  readonly name: string;
  /** A string is sent as it is: malformed arguments. */
  readonly arguments?: JsonObject | string;
  readonly callId?: string;
}

export interface ServerAnswer {
  readonly reply?: string | readonly string[];
  readonly reasoning?: string;
  /** Anthropic only: signature of the thinking block. */
  readonly signature?: string;
  readonly calls?: readonly ServerCall[];
  readonly finish?: FinishReason;
  /** `null` sends no usage at all. */
  readonly usage?: Partial<Usage> | null;
}

/**
 * `hang`: no answer at all. `hang-after`: the first part of the answer, then nothing. `reset`: the socket is destroyed before an
 * answer, `reset-after`: in the middle of it. `half-event`: the stream ends inside an event. `no-finish`: it ends without a finish
 * reason. `html`: a web page with status 200. `garbage`: an event that is no JSON.
 */
export type ServerFault =
  | 'hang'
  | 'hang-after'
  | 'reset'
  | 'reset-after'
  | 'half-event'
  | 'no-finish'
  | 'html'
  | 'garbage';

export type ServerStep =
  | string
  | ServerAnswer
  | { readonly fault: ServerFault }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: JsonObject | string;
    }
  /** An error object inside an accepted stream. */
  | { readonly streamError: JsonObject }
  | ((request: ServerRequest) => ServerStep);

export type PlainServerStep = Exclude<ServerStep, string | ((request: ServerRequest) => ServerStep)>;

export function resolveServerStep(step: ServerStep, request: ServerRequest): PlainServerStep {
  if (typeof step === 'string') return { reply: step };
  return typeof step === 'function' ? resolveServerStep(step(request), request) : step;
}

export function isAnswer(step: PlainServerStep): step is ServerAnswer {
  return !('fault' in step || 'status' in step || 'streamError' in step);
}

export function replyChunks(reply: ServerAnswer['reply']): readonly string[] {
  if (reply === undefined) return [];
  return (typeof reply === 'string' ? (reply.match(/\S*\s*/g) ?? []) : reply).filter((chunk) => chunk !== '');
}

export function argumentsText(call: ServerCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
}

export const SERVER_USAGE: Usage = {
  inputTokens: 100,
  outputTokens: 10,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
