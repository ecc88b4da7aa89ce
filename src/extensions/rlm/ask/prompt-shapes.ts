// Owns the JSON of the two prompts of `rlm ask`, and the replies that are asked for: root (`talaria.rlm.repl.v1`, a model that writes code)
// and sub-call (`talaria.rlm.sub.v1`, a model that reads one piece). Plain data; whoever answers by rule reads these shapes too.
// Invariant: `schema_version` is the first key; nothing of a clock, a path outside the context or a random id is in a prompt.

export const REPL_SCHEMA = 'talaria.rlm.repl.v1';
export const SUB_SCHEMA = 'talaria.rlm.sub.v1';

/** `next_step`: code or an answer; `mend_reply`: the last reply was neither; `final_answer`: no code runs any more, answer now. */
export type RootTask = 'next_step' | 'mend_reply' | 'final_answer';

/**
 * A reply is either code, in a fence (```js), bare or as `{"code": "…"}`, or the answer as `{"answer": [{"text": "One sentence.", "handles":
 * ["…"]}]}`. Code ends the run with `finish([{text, handles}, …])`, the same list.
 */
export interface RootPrompt {
  readonly schema_version: typeof REPL_SCHEMA;
  readonly task: RootTask;
  readonly context: ContextCard;
  /** Oldest first; older ones are shortened, the oldest left out, so that the prompt fits. */
  readonly history: readonly StepCard[];
  /** How many older steps are left out of `history`. */
  readonly history_left_out: number;
  /** Handles made so far, oldest first, shortened; of many the newest. */
  readonly handles: readonly HandleCard[];
  readonly handles_left_out: number;
  /** Whom a sub-call may name as its model; the default is not among them. */
  readonly models: readonly string[];
  /** Names that the next block finds. */
  readonly variables: readonly string[];
  /** Characters of a piece that one `llmQuery` can read. */
  readonly piece_chars: number;
  /** From 1, of `steps`. */
  readonly step: number;
  readonly steps: number;
  /** What was wrong with the last reply, or that it repeats; null: nothing. */
  readonly note: string | null;
  readonly question: string;
}

/** What is told of the context; the rest the code must look at. */
export interface ContextCard {
  readonly bytes: number;
  readonly lines: number;
  /** The first of them; `files_left_out` says how many more there are. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly files_left_out: number;
  /** Its beginning. */
  readonly head: string;
}

export interface StepCard {
  readonly step: number;
  readonly code: string;
  readonly output: string;
  /** Characters of the output that are not shown. */
  readonly cut: number;
  /** `<reason>: <detail>`; null: it ran. */
  readonly failure: string | null;
  /** Ids of the handles that the block made. */
  readonly handles: readonly string[];
}

export interface HandleCard {
  readonly id: string;
  readonly kind: 'span' | 'child' | 'computed';
  /** `<path>:<first line>-<last line>` of a span, the handle of the piece of a child, the inputs of something computed. */
  readonly from: string;
  /** Its quote, claim or output; it ends with `…` when it is shortened. */
  readonly text: string;
}

/** The reply: `{"answer": "…", "claims": [{"text": "words that stand in the piece"}]}`; prose lines are read too. */
export interface SubPrompt {
  readonly schema_version: typeof SUB_SCHEMA;
  readonly task: 'answer_from_piece';
  /** Null: the code asked without a piece; then no claim can count. */
  readonly piece: string | null;
  readonly question: string;
}
