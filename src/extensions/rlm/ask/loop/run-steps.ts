// Owns the loop of an ask: question, code, output, again, until the model answers, or steps, budget or patience are out. Judges by the gate
// alone. Invariant: at most `max_steps` steps and one last call; the same ask, source and replies give the same end. Seed 003, notes 17.

import type { CallFailure } from '../../call/call-record.ts';
import type { RunGap } from '../../run/run-outcome.ts';
import type { AnswerSentence, AskVerdict } from '../ask-outcome.ts';
import type { RootTask } from '../prompt-shapes.ts';
import type { AskBench } from './ask-bench.ts';
import { type Conclusion, isCarried, whyRefused } from './conclude.ts';
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
        this.#bench.events.end(turn.node, turn.reason === 'cancelled' ? 'cancelled' : 'failed', turn.reason);
        if (turn.reason === 'cancelled') return this.#ended('cancelled', 'the run was stopped');
        return this.#without('no_answer', `${this.#why}; ${turn.reason}: ${turn.detail}`);
      case 'formless':
        this.#bench.events.end(turn.node, 'failed', turn.reason);
        return this.#without('no_answer', `${this.#why}; the last reply was no answer (${turn.reason})`);
      case 'answer':
        return this.#answered(await this.#bench.conclude(turn, 'final', turn.parts));
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
    if (HOPELESS.has(reason) || this.#failed >= PATIENCE) return this.#without('failed', `${reason}: ${detail}`);
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
    const bench = this.#bench;
    const ran = await bench.runBlock({ step, turn, code });
    if (ran.failure?.reason === 'cancelled') {
      bench.events.end(turn.node, 'cancelled', 'cancelled');
      return this.#ended('cancelled', 'the run was stopped');
    }
    if (ran.answer !== null) return this.#onAnswer(await bench.conclude(turn, step, ran.answer));
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
    if (repeat.kind === 'end')
      return this.#without('no_answer', `the same code gave the same output in steps ${steps}`);
    this.#note = `Steps ${steps} ran the same code with the same output. Do something else, or answer.`;
    return undefined;
  }

  async #lastCode(turn: RootTurn, code: string): Promise<StepsEnd> {
    const ran = await this.#bench.runBlock({ step: this.#bench.steps + 1, turn, code });
    if (ran.answer === null) {
      this.#bench.events.end(turn.node, 'failed', 'no_answer');
      return this.#without('no_answer', `${this.#why}; the last reply was code that did not finish`);
    }
    return this.#answered(await this.#bench.conclude(turn, 'final', ran.answer));
  }

  #ended(verdict: AskVerdict, detail: string | null, sentences: readonly AnswerSentence[] = []): StepsEnd {
    return { verdict, detail, sentences, gaps: this.#bench.gaps };
  }
}

function countCarried({ sentences }: Conclusion): number {
  return sentences.filter(isCarried).length;
}
