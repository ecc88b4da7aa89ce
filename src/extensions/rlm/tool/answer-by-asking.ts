// Owns answering for the tool `recursive_read`: an ask over the material, within the limits of config.yaml, as text for a model. Knows no
// prompt and no tool. An ask, also when reflex answers: it reads where the words of the question stand, so material of any size fits.
// Invariant: files with secrets below a folder are left out and named; what was allowed once is not written down.
import { ok, type Result, refuse } from '#base/result.ts';
import { askQuestion } from '../ask/open/ask-question.ts';
import { readRlmConfig } from '../rlm-config.ts';
import type { RlmGround } from '../rlm-ground.ts';
import { askText } from './ask-text.ts';
import { runLine } from './cited-lines.ts';
import type { AnswerMaterial, MaterialAnswer, MaterialQuestion, MaterialRefusal } from './material.ts';

export function answerByAsking(ground: RlmGround): AnswerMaterial {
  return (asked, signal) => answer(ground, asked, signal);
}

async function answer(
  ground: RlmGround,
  { question, material, root, isSecret, keep, depth }: MaterialQuestion,
  signal: AbortSignal,
): Promise<Result<MaterialAnswer, MaterialRefusal>> {
  const mind = await ground.open();
  const { max_calls, timeout_seconds } = readRlmConfig(mind).recursive_read;
  const context = 'path' in material ? { path: material.path, root, leaveOut: isSecret } : material;
  const budget = { max_calls, max_ms: timeout_seconds * 1_000 };
  const asking = { ground, mind, context, question, options: { depth, budget }, keep };
  const answered = await askQuestion(asking, signal);
  if (!answered.ok) return refuse('material-refused', answered.detail);
  const { outcome, kept } = answered.value;
  const text = [askText(outcome), ...runLine(outcome.run_id, kept)].join('\n');
  return ok({ text, failed: !['answered', 'unsupported'].includes(outcome.verdict) });
}
