// Owns checking a stored comparison of one call with a recursive run: its figures by scoring again, its calls by their hashes and links.
// Prompts are hashed there and not kept, so their hashes cannot be checked. Pure.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { replayArtifact } from '../../score/replay-artifact.ts';
import { textHash } from '../text-hash.ts';
import { checkRecords } from '../verify/verify-records.ts';
import type { ArtifactProblem, ArtifactReport } from './artifact-report.ts';

export function checkComparison(value: JsonObject, fixture: JsonValue): ArtifactReport {
  const replay = replayArtifact({ artifact: value, fixture });
  const execution = objectAt(value.rlm_output, 'atomic_execution');
  const single = objectAt(value.vanilla_output, 'runner_output');
  const calls = Array.isArray(execution.subcalls) ? execution.subcalls.filter(isJsonObject) : [];
  const run = String(execution.generation_id);
  return {
    what: `the figures of the comparison, ${calls.length + 1} completions and their links`,
    problems: [
      ...(replay.ok ? [] : [{ code: replay.reason, where: 'the file', detail: replay.detail }]),
      ...(replay.ok && !replay.value.agrees ? [figures()] : []),
      ...checkRecords(
        calls.map((call) => asRecord(call, run)),
        run,
      ),
      ...hashProblem('the single call', single.completion, single.completion_hash),
      ...hashProblem('the final message', execution.final_message, execution.final_message_hash),
    ],
  };
}

function figures(): ArtifactProblem {
  const detail = 'Scored again, the completions have other figures than the file states.';
  return { code: 'figures-disagree', where: 'quality_comparison', detail };
}

/** In the shape that the links are checked in. */
function asRecord(call: JsonObject, generation_id: string): CallRecord {
  const texts = { prompt: '', prompt_hash: null, response_hash: call.completion_hash, system_prompt_hash: null };
  const empty = { generated_child_ac_node_ids: [], adapter_error: null };
  return { ...empty, ...call, ...texts, generation_id } as unknown as CallRecord;
}

function hashProblem(
  where: string,
  text: JsonValue | undefined,
  hash: JsonValue | undefined,
): readonly ArtifactProblem[] {
  if (typeof text === 'string' && textHash(text) === hash) return [];
  return [{ code: 'response-hash', where, detail: 'The completion is not the one that was hashed.' }];
}

function objectAt(value: JsonValue | undefined, key: string): JsonObject {
  const found = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(found) ? found : {};
}
