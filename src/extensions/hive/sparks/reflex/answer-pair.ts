// Owns the answer by rule to `peer-spark/1`. Knows no host. Invariant: total; what is no such question gives no introduction.
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { evaluateByRule } from '../by-rule/evaluate-by-rule.ts';
import { type Evaluation, pairInputSchema } from '../pairs/pair-shape.ts';

const NOTHING: Evaluation = { should_introduce: false, reason: 'The question cannot be read.', confidence: 'low' };

export function answerPair(input: JsonObject): string {
  const question = pairInputSchema.safeParse(input);
  return canonicalJson(question.success ? evaluateByRule(question.data) : NOTHING);
}
