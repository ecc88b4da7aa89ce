// Owns what an ask has made so far: its REPL, its steps, its handles, its sub-calls; runs one block and tells what came of it, and has an answer graded.
// Decides nothing about going on. Invariant: handles come in the order of making, those of sub-calls behind what they were asked on.
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { deadOutcome } from '../../repl/block/dead-outcome.ts';
import type { ContextSource } from '../../repl/context-source.ts';
import type { AnswerPart, BlockOutcome, ReplSession } from '../../repl/repl-session.ts';
import type { RunGap } from '../../run/run-outcome.ts';
import { textHash } from '../../trace/text-hash.ts';
import type { Handle } from '../ask-outcome.ts';
import type { AskParts, AskPlace } from '../ask-parts.ts';
import type { RootTask, StepCard } from '../prompt-shapes.ts';
import type { PromptState } from '../root-turn/root-prompt.ts';
import { pieceChars, type SubCalls } from '../sub/sub-calls.ts';
import type { AskEvents } from './ask-events.ts';
import { type Conclusion, conclude } from './conclude.ts';
import { readByModel } from './read-by-model.ts';
import type { RootTurn, RootTurnParts } from './root-turn.ts';

export interface BenchParts {
  readonly ask: AskParts;
  readonly place: AskPlace;
  readonly question: string;
  readonly steps: number;
  readonly session: ReplSession;
  readonly subCalls: SubCalls;
  readonly events: AskEvents;
  readonly onRecord: (record: CallRecord) => void;
}

export class AskBench {
  readonly steps: number;
  readonly source: ContextSource;
  readonly events: AskEvents;
  readonly turns: RootTurnParts;
  readonly #parts: BenchParts;
  readonly #history: StepCard[] = [];
  #variables: readonly string[] = [];
  #blocks = 0;

  constructor(parts: BenchParts) {
    const { ask, place, events, onRecord } = parts;
    this.#parts = parts;
    this.steps = parts.steps;
    this.source = ask.source;
    this.events = events;
    this.turns = { ask, place, events, onRecord };
  }

  /** Grades an answer; only that of the whole run is read by a model. */
  async conclude(turn: RootTurn, name: number | 'final', answer: readonly AnswerPart[]): Promise<Conclusion> {
    const { ask, place } = this.#parts;
    const { judge, strict } = ask.request;
    const isInner = place.level > 1;
    const read = judge && !isInner ? readByModel(this.turns, turn, name) : null;
    const ground = { handles: this.handles(), source: this.source, read, quotedOnly: strict || isInner };
    const conclusion = await conclude(answer, ground);
    const { sentences, left_out } = conclusion;
    this.events.commit(turn.node, {
      answer: sentences.map(({ ...told }) => told) as unknown as JsonObject[],
      left_out,
    });
    this.events.end(turn.node, 'synthesis_complete');
    return conclusion;
  }

  get isInner(): boolean {
    return this.#parts.place.level > 1;
  }

  get gaps(): RunGap[] {
    return this.#parts.subCalls.gaps;
  }

  /** Blocks that ran. */
  get blocks(): number {
    return this.#blocks;
  }

  handles(): readonly Handle[] {
    const children = new Map(this.#parts.subCalls.children.map((child) => [child.id, child]));
    const made = this.#parts.session.handles();
    const known = new Set(made.map(({ id }) => id));
    const rest = [...children.values()].filter(({ id }) => !known.has(id));
    return [...made.map((handle) => children.get(handle.id) ?? handle), ...rest];
  }

  promptState({
    task,
    step,
    note,
  }: {
    readonly task: RootTask;
    readonly step: number;
    readonly note: string | null;
  }): PromptState {
    const { question } = this.#parts;
    const { window_tokens, models } = this.#parts.ask.request;
    const piece_chars = pieceChars(window_tokens);
    const state = { history: this.#history, handles: this.handles(), variables: this.#variables, piece_chars, models };
    return { task, question, source: this.source, ...state, step, steps: this.steps, note };
  }

  remember(step: StepCard): void {
    this.#history.push(step);
  }

  /** Runs the code and commits what came of it; the node is not ended. */
  async runBlock({
    step,
    turn,
    code,
  }: {
    readonly step: number;
    readonly turn: RootTurn;
    readonly code: string;
  }): Promise<BlockOutcome> {
    const { session, subCalls, ask } = this.#parts;
    const before = new Set(this.handles().map(({ id }) => id));
    const { node, call_id, cause } = turn;
    subCalls.enter(step <= this.steps ? { step, call_id, node_id: node.node_id, cause } : undefined);
    const { signal, late } = ask;
    const ended = await session.run(code, late === undefined ? signal : AbortSignal.any([signal, late]));
    const isLate = ended.failure?.reason === 'cancelled' && !signal.aborted;
    const ran = isLate ? deadOutcome('out_of_time') : ended;
    await subCalls.settled();
    this.#blocks += 1;
    this.#variables = ran.variables;
    const made = this.handles().filter(({ id }) => !before.has(id));
    const { output, cut, variables } = ran;
    const failure = ran.failure === null ? null : `${ran.failure.reason}: ${ran.failure.detail}`;
    this.remember({ step, code, output, cut, failure, handles: made.map(({ id }) => id) });
    const handles = made.map((handle) => ({
      id: handle.id,
      kind: handle.kind,
      hash: textHash(JSON.stringify(handle)),
    }));
    this.events.commit(node, { step, code, code_hash: textHash(code), output, cut, failure, variables, handles });
    return ran;
  }
}
