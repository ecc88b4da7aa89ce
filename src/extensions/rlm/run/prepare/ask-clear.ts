// Owns bringing a request to the gate: measured, rated when that is asked for, asked back while a person is there, overridden with a reason.
// Reads nothing. Invariant: at most two questions; a rating is kept beside the score and decides nothing. Seed 003: ambiguity <= 0.2.
import { ok, type Result, refuse } from '#base/result.ts';
import { type AmbiguityVerdict, ambiguityGate } from '../../ambiguity/ambiguity-gate.ts';
import { type MeasuredTerm, measureAmbiguity } from '../../ambiguity/measure-ambiguity.ts';

export interface ClearAsk {
  readonly question: string;
  readonly threshold: number;
  readonly force: string | null;
}

export interface ClearGround {
  /** Present when a person can answer. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** A model's rating, 0..1; null: it gave none. */
  readonly rate?: ((question: string) => Promise<number | null>) | undefined;
}

export interface ClearRequest {
  /** With the answers. */
  readonly question: string;
  readonly verdict: AmbiguityVerdict;
  readonly terms: readonly MeasuredTerm[];
}

const MOST_QUESTIONS = 2;

/** The verdict may be that it is not clear: whoever calls shows its question. */
export async function askClear(
  { question, threshold, force }: ClearAsk,
  { ask, rate }: ClearGround,
): Promise<Result<ClearRequest, 'run-option-invalid'>> {
  let text = question;
  for (let asked = 0; ; asked += 1) {
    const measured = measureAmbiguity({ request: text, target: 'exists' });
    const gate = ambiguityGate(measured, { threshold, override: force });
    if (!gate.ok) return refuse('run-option-invalid', gate.detail);
    const { passed, question: back } = gate.value;
    if (passed || ask === undefined || asked === MOST_QUESTIONS) {
      const model_rating = (await rate?.(text)) ?? null;
      return ok({ question: text, verdict: { ...gate.value, model_rating }, terms: measured.terms });
    }
    const answer = (await ask(back ?? 'What exactly is wanted?')).trim();
    if (answer !== '') text = `${text.trim().replace(/(?<![.!?])$/, '.')} ${answer}`.toWellFormed();
  }
}
