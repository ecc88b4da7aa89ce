/**
 * Owns the data shapes of the text tool-call parser: what goes in (tool schemas), what comes out (calls, malformed
 * attempts, stream events). Knows no format. Serves seed 001, "Tool-calling strategies: structured vs. text".
 */

/** A declared tool: an OpenAI function schema, or its bare inner object. */
export type TextToolSchema =
  | { readonly type?: string; readonly function: BareToolSchema }
  | (BareToolSchema & { readonly type?: string; readonly function?: undefined });

export interface BareToolSchema {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: unknown;
}

/** One call; `name` is spelled as declared, `arguments` is not validated against the schema. */
export interface TextCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** `truncated`: the text ended inside a value. `unknown-tool`: well formed, but no declared tool has that name. */
export type MalformedReason = 'unparsable' | 'truncated' | 'unknown-tool';

/** An attempt to call that cannot be run. `raw` is at most 2,000 characters; `name` is the name as written, if readable. */
export interface MalformedCall {
  readonly reason: MalformedReason;
  readonly name: string | null;
  readonly raw: string;
}

export type Found =
  | { readonly kind: 'call'; readonly call: TextCall }
  | { readonly kind: 'malformed'; readonly malformed: MalformedCall };

/**
 * Text and reasoning deltas are final when emitted, but for one case: `reclassify` says that everything before it
 * (text, calls, malformed attempts) was reasoning whose opening tag stood in the prompt; `reasoning` is its whole text.
 */
export type TextCallEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'tool-call'; readonly call: TextCall }
  | { readonly type: 'malformed-call'; readonly malformed: MalformedCall }
  | { readonly type: 'reclassify'; readonly reasoning: string };

export interface ParsedText {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: TextCall[];
  readonly malformed: MalformedCall[];
}
