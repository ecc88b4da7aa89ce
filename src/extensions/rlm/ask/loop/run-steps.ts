// Owns the loop of an ask: question, code, output, again, until the model answers, or steps, budget or patience are out. Judges by the gate
// alone. Invariant: at most `max_steps` steps and one last call; the same ask, source and replies give the same end. Seed 003, notes 17.

import type { CallFailure } from '../../call/call-record.ts';
import type { AnswerPart } from '../../repl/repl-session.ts';
import type { RunGap } from '../../run/run-outcome.ts';
import type { AnswerSentence, AskVerdict } from '../ask-outcome.ts';
import type { RootTask } from '../prompt-shapes.ts';
import type { AskBench } from './ask-bench.ts';
import { type Conclusion, conclude, whyNothingCited } from './conclude.ts';
import { type Repeat, RepeatWatch } from './repeat-watch.ts';
import { type RootTurn, takeRootTurn } from './root-turn.ts';

export interface StepsEnd {
  readonly verdict: AskVerdict;
  readonly detail: string | null;
  readonly sentences: readonly AnswerSentence[];
  readonly gaps: readonly RunGap[];
}

export async function runSteps(bench: AskBench): Promise<StepsEnd> {
  const loop = new StepLoop(bench);
  for (let step = 1; step <= bench.steps; step += 1) {
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
  readonly #watch = new RepeatWatch();
  #note: string | null = null;
  #failed = 0;
  #formless = 0;
  #toldUncited = false;
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
        return this.#onAnswer(turn, turn.parts, step < this.#bench.steps);
      case 'code':
        return this.#onCode(step, turn, turn.code);
    }
  }

  /** The one call after the steps: it must answer. */
  async last(): Promise<StepsEnd> {
    this.#note = `No code runs any more: ${this.#why}. Answer now with what you have, as {"answer": [{"text", "handles"}]}.`;
    const turn = await this.#turn('final', 'final_answer');
    switch (turn.kind) {
      case 'failed':
        this.#bench.events.end(turn.node, turn.reason === 'cancelled' ? 'cancelled' : 'failed', turn.reason);
        return this.#ended(
          turn.reason === 'cancelled' ? 'cancelled' : 'no_answer',
          `${this.#why}; ${turn.reason}: ${turn.detail}`,
        );
      case 'formless':
        this.#bench.events.end(turn.node, 'failed', turn.reason);
        return this.#ended('no_answer', `${this.#why}; the last reply was no answer (${turn.reason})`);
      case 'answer':
        return this.#onAnswer(turn, turn.parts, false) ?? this.#ended('no_answer', this.#why);
      case 'code':
        return this.#lastCode(turn, turn.code);
    }
  }

  #turn(name: number | 'final', task: RootTask): Promise<RootTurn> {
    const { steps, turns } = this.#bench;
    const step = name === 'final' ? steps : name;
    return takeRootTurn(turns, name, this.#bench.promptState({ task, step, note: this.#note }));
  }

  #onFailure(step: number, turn: Extract<RootTurn, { kind: 'failed' }>): StepEnd {
    const { reason, detail, node } = turn;
    this.#bench.events.end(node, reason === 'cancelled' ? 'cancelled' : 'failed', reason);
    if (reason === 'cancelled') return this.#ended('cancelled', 'the run was stopped');
    if (reason.startsWith('budget_')) {
      this.#why = `the budget is used up (${detail})`;
      this.#bench.gaps.push({ what: `steps from ${step} on`, why: `${reason}: ${detail}` });
      return 'last';
    }
    this.#failed += 1;
    if (HOPELESS.has(reason) || this.#failed >= PATIENCE) return this.#ended('failed', `${reason}: ${detail}`);
    return undefined;
  }

  #onFormless(step: number, turn: Extract<RootTurn, { kind: 'formless' }>): StepEnd {
    this.#bench.remember({
      step,
      code: '',
      output: '',
      cut: 0,
      failure: `no code and no answer: ${turn.reason}`,
      handles: [],
    });
    this.#bench.events.end(turn.node, 'failed', turn.reason);
    this.#formless += 1;
    if (this.#formless < PATIENCE) return undefined;
    this.#why = 'your replies were neither code nor an answer';
    return 'last';
  }

  /** An answer without any cited sentence is given back once while there are steps. */
  #onAnswer(turn: RootTurn, parts: readonly AnswerPart[], mayRetry: boolean): StepsEnd | undefined {
    return this.#afterAnswer(this.#judged(turn, parts), mayRetry);
  }

  #afterAnswer(conclusion: Conclusion, mayRetry: boolean): StepsEnd | undefined {
    if (conclusion.cited === 0 && mayRetry && !this.#toldUncited) {
      this.#toldUncited = true;
      this.#note = whyNothingCited(conclusion);
      return undefined;
    }
    if (conclusion.sentences.length === 0)
      return this.#ended('no_answer', 'the model answered with no sentence: it found nothing');
    if (conclusion.left_out > 0)
      this.#bench.gaps.push({
        what: `${conclusion.left_out} sentences of the answer`,
        why: 'too many, or resting on too much, to be judged',
      });
    const verdict = conclusion.cited > 0 ? 'answered' : 'unsupported';
    const detail = conclusion.cited > 0 ? null : 'no sentence of the answer is supported by its handles';
    return this.#ended(verdict, detail, conclusion.sentences);
  }

  async #onCode(step: number, turn: RootTurn, code: string): Promise<StepEnd> {
    const bench = this.#bench;
    const ran = await bench.runBlock({ step, turn, code });
    if (ran.failure?.reason === 'cancelled') {
      bench.events.end(turn.node, 'cancelled', 'cancelled');
      return this.#ended('cancelled', 'the run was stopped');
    }
    if (ran.answer !== null) return this.#afterAnswer(this.#judged(turn, ran.answer), step < bench.steps);
    bench.events.end(turn.node, 'atomic_complete', ran.failure?.reason ?? null);
    this.#lateBlocks = ran.failure?.reason === 'out_of_time' ? this.#lateBlocks + 1 : 0;
    if (this.#lateBlocks >= PATIENCE) {
      this.#why = 'your code ran out of time twice';
      return 'last';
    }
    return this.#onRepeat(this.#watch.see(step, code, JSON.stringify([ran.output, ran.failure])));
  }

  #onRepeat(repeat: Repeat): StepEnd {
    if (repeat.kind === 'new') return undefined;
    const steps = repeat.steps.join(', ');
    if (repeat.kind === 'end') return this.#ended('no_answer', `the same code gave the same output in steps ${steps}`);
    this.#note = `Steps ${steps} ran the same code with the same output. Do something else, or answer.`;
    return undefined;
  }

  async #lastCode(turn: RootTurn, code: string): Promise<StepsEnd> {
    const ran = await this.#bench.runBlock({ step: this.#bench.steps + 1, turn, code });
    if (ran.answer === null) {
      this.#bench.events.end(turn.node, 'failed', 'no_answer');
      return this.#ended('no_answer', `${this.#why}; the last reply was code that did not finish`);
    }
    return this.#afterAnswer(this.#judged(turn, ran.answer), false) ?? this.#ended('no_answer', this.#why);
  }

  #judged(turn: RootTurn, answer: readonly AnswerPart[]): Conclusion {
    const conclusion = conclude(answer, this.#bench.handles(), this.#bench.source);
    this.#commitAnswer(turn, conclusion);
    return conclusion;
  }

  #commitAnswer({ node }: RootTurn, { sentences, left_out }: Conclusion): void {
    const told = sentences.map(({ text, handles, status, missing }) => ({ text, handles, status, missing }));
    this.#bench.events.commit(node, { answer: told, left_out });
    this.#bench.events.end(node, 'synthesis_complete');
  }

  #ended(verdict: AskVerdict, detail: string | null, sentences: readonly AnswerSentence[] = []): StepsEnd {
    return { verdict, detail, sentences, gaps: this.#bench.gaps };
  }
}
