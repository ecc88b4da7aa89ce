// Owns reading an answer about one peer: found, checked, capped. Knows no model. Invariant: what comes out is short plain lines; an answer of
// another shape gives nothing at all. Notes on seed 004, B11.
import { ok, type Result, refuse } from '#base/result.ts';
import { firstObject } from '../answer/first-object.ts';
import { shortLine, shortLines } from '../answer/short-lines.ts';
import { SUMMARY_CAPS, type SummaryAnswer, summaryAnswerSchema } from './summary-shape.ts';

export function readSummary(reply: string): Result<SummaryAnswer, 'no-object' | 'bad-shape'> {
  const object = firstObject(reply);
  if (object === undefined) return refuse('no-object', 'the answer holds no JSON object');
  const answer = summaryAnswerSchema.safeParse(object);
  if (!answer.success) return refuse('bad-shape', 'the answer is no summary');
  const { items, item, text } = SUMMARY_CAPS;
  return ok({
    needs: shortLines(answer.data.needs, items, item),
    offers: shortLines(answer.data.offers, items, item),
    expertise: shortLines(answer.data.expertise, items, item),
    summary_text: shortLine(answer.data.summary_text, text),
  });
}
