// Owns what an ask has made so far: its REPL, its steps, its handles, its sub-calls; runs one block and tells what came of it.
// Decides nothing about going on. Invariant: handles come in the order of making, those of sub-calls behind what they were asked on.
import type { CallRecord } from '../../call/call-record.ts';
import type { ContextSource } from '../../repl/context-source.ts';
import type { BlockOutcome, ReplSession } from '../../repl/repl-session.ts';
import type { RunGap } from '../../run/run-outcome.ts';
import { textHash } from '../../trace/text-hash.ts';
import type { Handle } from '../ask-outcome.ts';
import type { AskParts, AskPlace } from '../ask-parts.ts';
import type { RootTask, StepCard } from '../prompt-shapes.ts';
import type { PromptState } from '../root/root-prompt.ts';
import { pieceChars, type SubCalls } from '../sub/sub-calls.ts';
import type { AskEvents } from './ask-events.ts';
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
    const piece_chars = pieceChars(this.#parts.ask.request.window_tokens);
    const state = { history: this.#history, handles: this.handles(), variables: this.#variables, piece_chars };
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
    const ran = await session.run(code, ask.signal);
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
