// Owns reading an answer about two peers: found, checked, capped. Knows no model. Invariant: an answer of another shape is no answer, and a
// reason is one plain line. Notes on seed 004, B11.
import { ok, type Result, refuse } from '#base/result.ts';
import { firstObject } from '../answer/first-object.ts';
import { shortLine } from '../answer/short-lines.ts';
import { type Evaluation, evaluationSchema, PAIR_CAPS } from './pair-shape.ts';

export function readEvaluation(reply: string): Result<Evaluation, 'no-object' | 'bad-shape'> {
  const object = firstObject(reply);
  if (object === undefined) return refuse('no-object', 'the answer holds no JSON object');
  const answer = evaluationSchema.safeParse(object);
  if (!answer.success) return refuse('bad-shape', 'the answer is no evaluation');
  return ok({ ...answer.data, reason: shortLine(answer.data.reason, PAIR_CAPS.reason) });
}
