// Owns an inner call that answers by rule: children quote the FACT lines of their chunks, a parent says what a contract prescribes.
// Knows no engine. Invariant: every call is counted; a prompt that it does not know is a refusal, not a guess.
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import type { InnerCall } from '../../call/inner-call.ts';

export interface ScriptedInner extends InnerCall {
  readonly count: () => number;
}

/** @param parent what every synthesis, and the single call of a baseline, answers */
export function scriptedInner(parent: JsonObject): ScriptedInner {
  let calls = 0;
  return {
    family: 'default',
    count: () => calls,
    call: async ({ prompt }) => {
      calls += 1;
      const reply = replyTo(prompt, parent);
      if (reply === null) return refuse('runtime_error', 'the script knows no such task');
      const told = { model: 'script/by-rule', usage: null, cost: null, elapsed_ms: 0, exit_code: null };
      return ok({ completion: JSON.stringify(reply), ...told });
    },
  };
}

function replyTo(prompt: string, parent: JsonObject): JsonObject | null {
  const task = parseJsonObject(prompt);
  if (!task.ok) return null;
  const { mode, context } = task.value;
  if (mode === 'vanilla_single_pass') return parent;
  if (mode === 'synthesize_parent') return { ...parent, mode, verdict: 'partial' };
  return mode === 'execute_atomic' && isJsonObject(context) ? childReply(context.chunks) : null;
}

function childReply(chunks: JsonValue | undefined): JsonObject {
  const list = Array.isArray(chunks) ? chunks.filter(isJsonObject) : [];
  const observed_facts = list.flatMap(({ chunk_id, content }) =>
    String(content)
      .split('\n')
      .flatMap((line) => {
        const fact_id = /^FACT:(\S+)\s/.exec(line)?.[1];
        return fact_id === undefined ? [] : [{ fact_id, text: line, evidence_chunk_id: String(chunk_id) }];
      }),
  );
  return {
    mode: 'execute_atomic',
    verdict: 'passed',
    confidence: 0.94,
    result: { summary: 'Quoted what stands there.', observed_facts },
    evidence_references: [],
    residual_gaps: [],
  };
}
