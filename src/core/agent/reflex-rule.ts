// Owns ReflexRule: what the model-free tier can do, as data. Rules are registered by the rooms that own the tools.
// Knows no tool and no matching order. Invariant: a rule only maps words to calls and results to quotes; it never invents text.
import type { JsonObject } from '#base/json.ts';
import type { Message, ToolResultPart } from '#core/model/message.ts';

export interface ReflexInput {
  /** The owner's line, trimmed, as typed. */
  readonly text: string;
  /** Messages before this line, oldest first. */
  readonly history: readonly Message[];
  /** Tools that may be called in this session. */
  readonly tools: ReadonlySet<string>;
}

export interface ReflexMatch {
  /** 0 to 1; two rules within a margin lead to a question. */
  readonly score: number;
  readonly slots: Readonly<Record<string, string>>;
  /** Name of a slot that the line leaves open: reflex asks instead of acting. */
  readonly missing?: string;
}

export type ReflexStep =
  | { readonly type: 'call'; readonly calls: readonly { readonly name: string; readonly arguments: JsonObject }[] }
  /** A quote with its source, a count, or a fixed template. */
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'ask'; readonly question: string; readonly choices: readonly string[] };

export interface ReflexRule {
  readonly purpose: 'act' | 'memory' | 'recall' | 'extract' | 'meta';
  /** Unique name: `run`, `read`, `remember`, … */
  readonly intent: string;
  /** Shown by /help; each must match its own rule. */
  readonly examples: readonly string[];
  match(input: ReflexInput): ReflexMatch | undefined;
  /** Called with no results first, then with the results of the calls of this turn so far, until it says or asks. */
  act(match: ReflexMatch, input: ReflexInput, results: readonly ToolResultPart[]): ReflexStep;
}
