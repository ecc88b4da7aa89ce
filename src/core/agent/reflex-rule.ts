// Owns ReflexRule: what the model-free tier can do, as data. Rules are registered by the rooms that own the tools.
// Knows no tool, no language and no matching order: a rule reads the line through `input.fit`, which core/reflex supplies.
// Invariant: a rule only maps words to calls and results to quotes; it never invents text (reflex 1, 7).
import type { JsonObject } from '#base/json.ts';
import type { Message, ToolResultPart } from '#core/model/message.ts';

/** In place of a path: the file that the conversation was last about. */
export const SAME_FILE = '@same';

export interface ReflexMatch {
  /** 0 to 1: below 0.6 the owner is asked, else the rule acts. Two rules that score alike and do different things lead to a question. */
  readonly score: number;
  readonly slots: Readonly<Record<string, string>>;
  /** Name of a slot that the line leaves open: reflex asks instead of acting. */
  readonly missing?: string;
}

export interface ReflexInput {
  /** The owner's line, trimmed, as typed; after a choice, the line that the choice stands for. */
  readonly text: string;
  /** The same without manners before and after it. */
  readonly words: string;
  /** The owner picked this very line from a question of ours: what would ask before acting may act. */
  readonly confirmed: boolean;
  /** Messages before this line, oldest first. */
  readonly history: readonly Message[];
  /** The frozen prompt of the session; holds the memory snapshot. */
  readonly system: string;
  /** Tools that may be called in this session. */
  readonly tools: ReadonlySet<string>;
  /** Epoch ms: what "yesterday" is counted from. */
  readonly now: number;
  readonly folder: ReflexFolder;
  /**
   * The first of the forms that the whole line is of. A form is words with `[optional]`, `(a|b)` and `{slot:kind}`, then
   * settings: `@0.5` asks instead of acting, `!slot` says that the slot is missing, `=slot:value` fills one.
   * A slot that was quoted also sets `<slot>.quoted`; a word that only may be a place sets `<slot>.loose`.
   */
  fit(forms: readonly string[]): ReflexMatch | undefined;
}

/** What the folder of the session really offers. */
export interface ReflexFolder {
  /** Names of entries; a folder's name ends with `/`. */
  readonly entries: readonly string[];
  readonly scripts: readonly ProjectScript[];
}

export const NO_FOLDER: ReflexFolder = { entries: [], scripts: [] };

/** One command that a file of the project names: `test` of package.json is `npm test`. */
export interface ProjectScript {
  readonly name: string;
  readonly command: string;
  /** The file that names it. */
  readonly file: string;
}

/** Verbatim text with where it comes from: a command, `path:line`, or session, date and message. */
export interface ReflexQuote {
  readonly source: string;
  readonly text: string;
}

export interface ReflexQuestion {
  readonly type: 'ask';
  readonly question: string;
  /** Each is a line that the owner could have typed; "nothing" is added by the engine. */
  readonly choices: readonly string[];
  /** Picking a choice is the approval that `input.confirmed` reports. */
  readonly confirms?: boolean;
  /** Where free words of the next line go, e.g. `read {}`; absent: only the choices answer. */
  readonly fill?: string;
}

export type ReflexStep =
  | { readonly type: 'call'; readonly calls: readonly { readonly name: string; readonly arguments: JsonObject }[] }
  /** A fixed template or a count, then quotes, each with its source. */
  | { readonly type: 'say'; readonly text: string; readonly quotes?: readonly ReflexQuote[] }
  | ReflexQuestion;

export interface ReflexRule {
  readonly purpose: 'act' | 'memory' | 'recall' | 'meta';
  /** Unique name: `run`, `read`, `remember`, … */
  readonly intent: string;
  /** What its calls may change: a slip of the hand or a question mark makes all but `read` a question; `home` is the agent's own memory. Default `write`. */
  readonly effect?: 'read' | 'home' | 'write';
  /** Shown by /help; each must match its own rule. */
  readonly examples: readonly string[];
  /** Must not throw for any line and does no I/O. */
  match(input: ReflexInput): ReflexMatch | undefined;
  /** The match as one plain line that matches this rule with the same slots: what a numbered choice shows. */
  restate(match: ReflexMatch): string;
  /** Asks for `match.missing`. */
  missing?(match: ReflexMatch, input: ReflexInput): ReflexQuestion;
  /** Called with no results first, then with the results of the calls of this turn so far, until it says or asks. */
  act(match: ReflexMatch, input: ReflexInput, results: readonly ToolResultPart[]): ReflexStep;
}

export interface ReflexTask {
  /** `schema_version` of the JSON objects that it answers; unique. */
  readonly schema: string;
  /** Loads what answers; asked for at the first such request. The answer is total: it never throws. */
  readonly load: () => Promise<(input: JsonObject) => string>;
}
