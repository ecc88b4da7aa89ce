// Owns the answer by rule to `peer-summary/1`. Knows no host. Invariant: total; what is no such question gives an empty summary.
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { summarizeByRule } from '../by-rule/summarize-by-rule.ts';
import { type SummaryAnswer, summaryInputSchema } from '../summary/summary-shape.ts';

const NOTHING: SummaryAnswer = { needs: [], offers: [], expertise: [], summary_text: '' };

export function answerSummary(input: JsonObject): string {
  const question = summaryInputSchema.safeParse(input);
  return canonicalJson(question.success ? summarizeByRule(question.data) : NOTHING);
}
