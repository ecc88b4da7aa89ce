// Owns the loop of an ask: question, code, output, again, until the model answers, or steps, budget or patience are out; and what it has made so
// far: its REPL, its steps, its handles, its sub-calls. Judges by the gate alone. Invariant: at most `max_steps` steps and one last call; the
// same ask, source and replies give the same end; handles come in the order of making, those of sub-calls behind what they were asked on. Seed 003, notes 17.
import { oneLine } from '#base/text.ts';
import type { CallFailure } from '../call/call-record.ts';
import type { AnswerSentence, AskVerdict, Handle, RunGap } from '../outcome.ts';
import { type AnswerPart, type BlockOutcome, deadOutcome, type ReplSession } from '../repl/repl-session.ts';
import { textHash } from '../trace/run-record.ts';
import type { AskScope } from './ask-place.ts';
import { type Conclusion, conclude, isCarried, whyRefused } from './conclude.ts';
import { readByModel } from './judge-call.ts';
import type { PromptState, RootTask, StepCard } from './root-prompt.ts';
import { correctionOf, type RootTurn, takeRootTurn } from './root-turn.ts';
import { pieceChars, type SubCalls } from './sub-calls.ts';

export class AskBench {
  readonly scope: AskScope;
  readonly isInner: boolean;
  /** Blocks that ran. */
  blocks = 0;
  readonly #session: ReplSession;
  readonly #subCalls: SubCalls;
  readonly gaps: RunGap[];
  readonly #history: StepCard[] = [];
  #variables: readonly string[] = [];

  constructor(scope: AskScope, session: ReplSession, subCalls: SubCalls) {
    this.scope = scope;
    this.isInner = scope.place.level > 1;
    this.#session = session;
    this.#subCalls = subCalls;
    this.gaps = subCalls.gaps;
  }

  /** Grades an answer; only that of the whole run is read by a model. */
  async conclude(turn: RootTurn, name: number | 'final', answer: readonly AnswerPart[]): Promise<Conclusion> {
    const { ask, events } = this.scope;
    const { judge, strict } = ask.request;
    const read = judge && !this.isInner ? readByModel(this.scope, turn, name) : null;
    const quotedOnly = strict || this.isInner;
    const conclusion = await conclude(answer, { handles: this.handles(), source: ask.source, read, quotedOnly });
    const { sentences, left_out } = conclusion;
    events.emit('rlm.state.committed', turn.node, { answer: sentences.map(({ ...told }) => told), left_out });
    events.end(turn.node, 'synthesis_complete');
    return conclusion;
  }

  handles(): readonly Handle[] {
    const children = new Map(this.#subCalls.children.map((child) => [child.id, child]));
    const made = this.#session.handles();
    const known = new Set(made.map(({ id }) => id));
    const rest = [...children.values()].filter(({ id }) => !known.has(id));
    return [...made.map((handle) => children.get(handle.id) ?? handle), ...rest];
  }

  promptState(task: RootTask, step: number, note: string | null): PromptState {
    const { ask, question, steps } = this.scope;
    const { window_tokens, models } = ask.request;
    const made = { history: this.#history, handles: this.handles(), variables: this.#variables };
    return {
      task,
      question,
      source: ask.source,
      ...made,
      piece_chars: pieceChars(window_tokens),
      models,
      step,
      steps,
      note,
    };
  }

  remember(step: StepCard): void {
    this.#history.push(step);
  }

  /** Runs the code and commits what came of it; the node is not ended. */
  async runBlock(step: number, { node, call_id, cause }: RootTurn, code: string): Promise<BlockOutcome> {
    const { ask, steps, events } = this.scope;
    const { signal, late } = ask;
    const before = new Set(this.handles().map(({ id }) => id));
    this.#subCalls.enter(step <= steps ? { step, call_id, node_id: node.node_id, cause } : undefined);
    const ended = await this.#session.run(code, late === undefined ? signal : AbortSignal.any([signal, late]));
    const isLate = ended.failure?.reason === 'cancelled' && !signal.aborted;
    const ran = isLate ? deadOutcome('out_of_time') : ended;
    await this.#subCalls.settled();
    this.blocks += 1;
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
    const told = { step, code, code_hash: textHash(code), output, cut, failure, variables, handles };
    events.emit('rlm.state.committed', node, told);
    return ran;
  }
}

export interface StepsEnd {
  readonly verdict: AskVerdict;
  readonly detail: string | null;
  readonly sentences: readonly AnswerSentence[];
  readonly gaps: readonly RunGap[];
}

export async function runSteps(bench: AskBench): Promise<StepsEnd> {
  const loop = new StepLoop(bench);
  for (let step = 1; step <= bench.scope.steps; step += 1) {
    const end = await loop.take(step);
    if (end === 'last') break;
    if (end !== undefined) return end;
  }
  return loop.last();
}

/** Undefined: go on. `last`: only an answer is wanted any more. */
type StepEnd = StepsEnd | 'last' | undefined;

/** After these another try of the same run is no use. */
const HOPELESS: ReadonlySet<CallFailure> = new Set(['no_model', 'cancelled']);
/** So often in a row a call may fail, or bring nothing. */
const PATIENCE = 2;

class StepLoop {
  readonly #bench: AskBench;
  /** Steps with the same code and the same output. */
  readonly #seen = new Map<string, number[]>();
  #note: string | null = null;
  #failed = 0;
  #formless = 0;
  /** The answer that was given back once. */
  #first: Conclusion | undefined;
  #lateBlocks = 0;
  #why = 'no step is left';

  constructor(bench: AskBench) {
    this.#bench = bench;
  }

  async take(step: number): Promise<StepEnd> {
    const turn = await this.#turn(step, 'next_step');
    this.#note = null;
    if (turn.kind !== 'failed') this.#failed = 0;
    if (turn.kind !== 'formless') this.#formless = 0;
    switch (turn.kind) {
      case 'failed':
        return this.#onFailure(step, turn);
      case 'formless':
        return this.#onFormless(step, turn);
      case 'answer':
        return this.#onAnswer(await this.#bench.conclude(turn, step, turn.parts));
      case 'code':
        return this.#onCode(step, turn, turn.code);
    }
  }

  /** The one call after the steps: it must answer. */
  async last(): Promise<StepsEnd> {
    const note = `No code runs any more: ${this.#why}. Answer now with what you have, as {"answer": [{"text", "handles"}]}.`;
    this.#note = this.#note === null ? note : `${this.#note} ${note}`;
    const turn = await this.#turn('final', 'final_answer');
    switch (turn.kind) {
      case 'failed':
        if (this.#endFailed(turn)) return this.#ended('cancelled', 'the run was stopped');
        return this.#without('no_answer', `${this.#why}; ${turn.reason}: ${turn.detail}`);
      case 'formless':
        this.#bench.scope.events.end(turn.node, 'failed', turn.reason);
        return this.#without('no_answer', `${this.#why}; the last reply was no answer (${turn.reason})`);
      case 'answer':
        return this.#answered(await this.#bench.conclude(turn, 'final', turn.parts));
      case 'code':
        return this.#lastCode(turn, turn.code);
    }
  }

  #turn(name: number | 'final', task: RootTask): Promise<RootTurn> {
    const { scope } = this.#bench;
    const step = name === 'final' ? scope.steps : name;
    return takeRootTurn(scope, name, this.#bench.promptState(task, step, this.#note));
  }

  /** Was it stopped? */
  #endFailed({ node, reason }: Extract<RootTurn, { kind: 'failed' }>): boolean {
    const isStopped = reason === 'cancelled';
    this.#bench.scope.events.end(node, isStopped ? 'cancelled' : 'failed', reason);
    return isStopped;
  }

  #onFailure(step: number, turn: Extract<RootTurn, { kind: 'failed' }>): StepEnd {
    const { reason, detail } = turn;
    if (this.#endFailed(turn)) return this.#ended('cancelled', 'the run was stopped');
    if (reason.startsWith('budget_')) {
      this.#why = `the budget is used up (${detail})`;
      this.#bench.gaps.push({ what: `steps from ${step} on`, why: `${reason}: ${detail}` });
      return 'last';
    }
    this.#failed += 1;
    if (HOPELESS.has(reason) || this.#failed >= PATIENCE) return this.#without('failed', `${reason}: ${detail}`);
    return undefined;
  }

  #onFormless(step: number, { node, reason }: Extract<RootTurn, { kind: 'formless' }>): StepEnd {
    const failure = `no code and no answer: ${reason}`;
    this.#bench.remember({ step, code: '', output: '', cut: 0, failure, handles: [] });
    this.#bench.scope.events.end(node, 'failed', reason);
    this.#formless += 1;
    this.#note = correctionOf(reason);
    if (this.#formless < PATIENCE) return undefined;
    this.#why = 'your replies were neither code nor an answer';
    return 'last';
  }

  /** What is refused goes back once, with the reasons; of an ask within an ask only when nothing of it counts. */
  #onAnswer(conclusion: Conclusion): StepsEnd | undefined {
    const isUseful = this.#bench.isInner && conclusion.sentences.some(isCarried);
    const why = this.#first === undefined && !isUseful ? whyRefused(conclusion) : null;
    if (why === null) return this.#answered(conclusion);
    this.#first = conclusion;
    this.#note = why;
    return undefined;
  }

  /** Of two answers the one of which more counts, the later when they are even. */
  #answered(last: Conclusion): StepsEnd {
    const first = this.#first ?? last;
    const { sentences, left_out } = countCarried(first) > countCarried(last) ? first : last;
    if (sentences.length === 0)
      return this.#ended('no_answer', 'the model answered with no sentence: it found nothing');
    if (left_out > 0)
      this.#bench.gaps.push({
        what: `${left_out} sentences of the answer`,
        why: 'too many, or resting on too much, to be judged',
      });
    if (sentences.some(isCarried)) return this.#ended('answered', null, sentences);
    return this.#ended('unsupported', 'no sentence of the answer is quoted or supported', sentences);
  }

  /** Nothing more comes: what was answered before counts. */
  #without(verdict: 'no_answer' | 'failed', detail: string): StepsEnd {
    const first = this.#first;
    return first !== undefined && first.sentences.length > 0 ? this.#answered(first) : this.#ended(verdict, detail);
  }

  async #onCode(step: number, turn: RootTurn, code: string): Promise<StepEnd> {
    const { events } = this.#bench.scope;
    const { failure, answer, output } = await this.#bench.runBlock(step, turn, code);
    if (failure?.reason === 'cancelled') {
      events.end(turn.node, 'cancelled', 'cancelled');
      return this.#ended('cancelled', 'the run was stopped');
    }
    if (answer !== null) return this.#onAnswer(await this.#bench.conclude(turn, step, answer));
    events.end(turn.node, 'atomic_complete', failure?.reason ?? null);
    this.#lateBlocks = failure?.reason === 'out_of_time' ? this.#lateBlocks + 1 : 0;
    if (this.#lateBlocks >= PATIENCE) {
      this.#why = 'your code ran out of time twice';
      return 'last';
    }
    return this.#onRepeat(step, JSON.stringify([oneLine(code), JSON.stringify([output, failure])]));
  }

  /** The second time is told, the third ends the ask. */
  #onRepeat(step: number, key: string): StepEnd {
    const seen = [...(this.#seen.get(key) ?? []), step];
    this.#seen.set(key, seen);
    if (seen.length === 1) return undefined;
    const steps = seen.join(', ');
    if (seen.length > 2) return this.#without('no_answer', `the same code gave the same output in steps ${steps}`);
    this.#note = `Steps ${steps} ran the same code with the same output. Do something else, or answer.`;
    return undefined;
  }

  async #lastCode(turn: RootTurn, code: string): Promise<StepsEnd> {
    const { scope } = this.#bench;
    const { answer } = await this.#bench.runBlock(scope.steps + 1, turn, code);
    if (answer !== null) return this.#answered(await this.#bench.conclude(turn, 'final', answer));
    scope.events.end(turn.node, 'failed', 'no_answer');
    return this.#without('no_answer', `${this.#why}; the last reply was code that did not finish`);
  }

  #ended(verdict: AskVerdict, detail: string | null, sentences: readonly AnswerSentence[] = []): StepsEnd {
    return { verdict, detail, sentences, gaps: this.#bench.gaps };
  }
}

function countCarried({ sentences }: Conclusion): number {
  return sentences.filter(isCarried).length;
}
