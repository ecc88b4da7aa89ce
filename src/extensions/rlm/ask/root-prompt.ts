// Owns the prompt of a root call (`talaria.rlm.repl.v1`, a model that writes code): its rules and API, what is told of the context, of the steps so
// far, of the handles, shortened until it fits the window. Whoever answers by rule reads these shapes too. Knows no reply. Invariant: equal
// state, equal bytes, `schema_version` first; nothing of a clock, a path outside the context or a random id is in it; what is left out is counted; a
// changed word makes older runs no longer replayable.
import { ellipsize } from '#base/text.ts';
import type { Handle } from '../outcome.ts';
import type { ContextSource } from '../repl/parted-source.ts';

export const REPL_SCHEMA = 'talaria.rlm.repl.v1';

/** `next_step`: code or an answer; `final_answer`: no code runs any more, answer now. */
export type RootTask = 'next_step' | 'final_answer';

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

/** What a prompt is drawn from. */
export interface PromptState
  extends Pick<
    RootPrompt,
    'task' | 'history' | 'models' | 'variables' | 'piece_chars' | 'step' | 'steps' | 'note' | 'question'
  > {
  readonly source: ContextSource;
  readonly handles: readonly Handle[];
}

interface Detail {
  /** So many of the newest steps with so many characters of code and of output. */
  readonly whole: number;
  readonly chars: number;
  /** Of the older steps. */
  readonly short: number;
  readonly steps: number;
  readonly handles: number;
  readonly quote: number;
  readonly head: number;
  readonly files: number;
}

const DETAILS: readonly Detail[] = [
  { whole: 30, chars: 20_000, short: 0, steps: 30, handles: 80, quote: 240, head: 1_500, files: 40 },
  { whole: 4, chars: 8_000, short: 600, steps: 30, handles: 60, quote: 200, head: 1_200, files: 30 },
  { whole: 2, chars: 4_000, short: 400, steps: 30, handles: 40, quote: 160, head: 1_000, files: 20 },
  { whole: 2, chars: 2_400, short: 200, steps: 12, handles: 30, quote: 120, head: 600, files: 12 },
  { whole: 1, chars: 2_000, short: 160, steps: 6, handles: 20, quote: 100, head: 400, files: 8 },
  { whole: 1, chars: 1_000, short: 120, steps: 3, handles: 12, quote: 80, head: 200, files: 5 },
  { whole: 1, chars: 300, short: 80, steps: 1, handles: 6, quote: 60, head: 100, files: 3 },
];

/** The most detailed one of at most so many characters, else the shortest. */
export function rootPrompt(state: PromptState, chars: number): string {
  let prompt = '';
  for (const detail of DETAILS) {
    prompt = JSON.stringify(drawPrompt(state, detail));
    if (prompt.length <= chars) break;
  }
  return prompt;
}

function drawPrompt(state: PromptState, detail: Detail): RootPrompt {
  const { task, question, history, handles, models, variables, piece_chars, step, steps, note } = state;
  const shown = history.slice(-detail.steps);
  const listed = handles.slice(-detail.handles);
  return {
    schema_version: REPL_SCHEMA,
    task,
    context: contextCard(state.source, detail),
    history: shown.map((one, at) => shortStep(one, at >= shown.length - detail.whole ? detail.chars : detail.short)),
    history_left_out: history.length - shown.length,
    handles: listed.map((one) => handleCard(one, detail.quote)),
    handles_left_out: handles.length - listed.length,
    models: models.slice(0, 20),
    variables: variables.slice(0, detail.handles).map((name) => ellipsize(name, NAME_CHARS)),
    piece_chars,
    step,
    steps,
    note,
    question,
  };
}

const NAME_CHARS = 60;
const PATH_CHARS = 200;

/** Bytes at the beginning that every first prompt shows at most. */
export const HEAD_BYTES = 1_500;

function contextCard(source: ContextSource, { head, files }: Detail): ContextCard {
  return {
    bytes: source.byte_count,
    lines: source.line_count,
    files: source.files
      .slice(0, files)
      .map(({ path, start_byte, end_byte }) => ({ path: ellipsize(path, PATH_CHARS), bytes: end_byte - start_byte })),
    files_left_out: Math.max(0, source.files.length - files),
    head: source.slice(0, Math.min(head, HEAD_BYTES, source.byte_count)).text,
  };
}

function shortStep(step: StepCard, chars: number): StepCard {
  const output = shorten(step.output, chars);
  return {
    ...step,
    code: shorten(step.code, chars),
    failure: step.failure === null ? null : ellipsize(step.failure, Math.max(chars, 80)),
    output,
    cut: step.cut + Math.max(0, step.output.length - output.length),
    handles: step.handles.slice(0, 20),
  };
}

function handleCard(handle: Handle, chars: number): HandleCard {
  const { id, kind } = handle;
  switch (handle.kind) {
    case 'span': {
      const { source_path, start_line, end_line } = handle.place;
      return { id, kind, from: `${source_path}:${start_line}-${end_line}`, text: ellipsize(handle.quote, chars) };
    }
    case 'child':
      return { id, kind, from: handle.over, text: ellipsize(handle.text, chars) };
    case 'computed':
      return { id, kind, from: handle.inputs.slice(0, 10).join(', '), text: ellipsize(handle.output, chars) };
  }
}

/** Beginning and end, with a mark where something is missing. */
function shorten(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const end = Math.floor(chars / 4);
  return `${text.slice(0, chars - end).toWellFormed()} […] ${end === 0 ? '' : text.slice(-end).toWellFormed()}`;
}
