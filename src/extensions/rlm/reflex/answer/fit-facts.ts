// Owns choosing among facts that are given with their ids: those that fit a question best, each text once, in the order of their fit.
// Invariant: nothing is made; a question without words to look for keeps all of them, up to the bound.
import type { JsonObject, JsonValue } from '#base/json.ts';
import { rankTexts } from '../rank/rank-texts.ts';
import { objectsAt, textAt } from '../read/read-fields.ts';
import type { Question } from '../read/read-question.ts';

export interface GivenFact {
  readonly fact_id: string;
  readonly text: string;
  readonly chunk_id: string;
}

export interface FittingFact {
  readonly fact: GivenFact;
  readonly score: number;
}

export function readFacts(value: JsonValue, ...path: readonly string[]): readonly GivenFact[] {
  return objectsAt(value, ...path).flatMap((item: JsonObject) => {
    const [fact_id, text] = [textAt(item, 'fact_id'), textAt(item, 'text')];
    const chunk_id = [textAt(item, 'evidence_chunk_id'), textAt(item, 'chunk_id')].find((id) => id !== '') ?? '';
    return fact_id === '' || text === '' || chunk_id === '' ? [] : [{ fact_id, text, chunk_id }];
  });
}

/** A fact that is given is there, whatever was asked. */
const GIVEN = 0.8;
const MOST_FITTING = 16;
const MOST_OF_ALL = 60;
/** Of the best score. */
const NEAR = 0.5;

export function fitFacts(question: Question, facts: readonly GivenFact[]): readonly FittingFact[] {
  const once = eachOnce(facts);
  if (question.stems.length === 0) return once.slice(0, MOST_OF_ALL).map((fact) => ({ fact, score: GIVEN }));
  const scores = rankTexts(
    question,
    once.map(({ text }) => ({ text, under: '', weight: 1 })),
  );
  const best = Math.max(0, ...scores.map(({ score }) => score));
  const near = scores.filter(({ score }) => score > 0 && score >= best * NEAR);
  return near
    .toSorted((left, right) => right.score - left.score || left.at - right.at)
    .slice(0, MOST_FITTING)
    .flatMap(({ at, score }) => {
      const fact = once[at];
      return fact === undefined ? [] : [{ fact, score }];
    });
}

/** The first of each text, and of each id. */
function eachOnce(facts: readonly GivenFact[]): readonly GivenFact[] {
  const seen = new Set<string>();
  return facts.filter(({ fact_id, text }) => {
    const folded = `text ${text.replace(/\s+/g, ' ').toLowerCase()}`;
    if (seen.has(folded) || seen.has(`id ${fact_id}`)) return false;
    seen.add(folded).add(`id ${fact_id}`);
    return true;
  });
}
