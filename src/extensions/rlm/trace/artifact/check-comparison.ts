// Owns checking a stored comparison of one call with a recursive run: its figures by scoring again, its calls by their hashes and links.
// Prompts are hashed there and not kept, so their hashes cannot be checked. Pure.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { replayArtifact } from '../../score/replay-artifact.ts';
import { scoreCompletion } from '../../score/score-completion.ts';
import { textHash } from '../text-hash.ts';
import { checkRecords } from '../verify/verify-records.ts';
import type { ArtifactProblem, ArtifactReport } from './check-tables.ts';

export function checkComparison(value: JsonObject, fixture: JsonValue): ArtifactReport {
  const replay = replayArtifact({ artifact: value, fixture });
  const run = checkRun(value);
  return {
    what: `the figures of the comparison, ${run.calls + 1} completions and their links`,
    problems: [
      ...(replay.ok ? [] : [{ code: replay.reason, where: 'the file', detail: replay.detail }]),
      ...(replay.ok && !replay.value.agrees ? [figures('quality_comparison')] : []),
      ...run.problems,
      ...checkSingle(objectAt(value.vanilla_output, 'runner_output')),
    ],
  };
}

/** What a single call, a recursive fixture or the dogfood benchmark wrote. */
export function checkEvaluation(value: JsonObject, fixture: JsonValue): ArtifactReport {
  const { runner_output: single, baseline, rlm_output, benchmark_id, checks } = value;
  const run = isJsonObject(rlm_output) ? checkRun(value) : { calls: 0, problems: [] };
  const said = isJsonObject(single) ? single : null;
  const score = said === null ? 0 : scoreCompletion({ fixture, completion: String(said.completion ?? '') }).score;
  const isOurs = said !== null || rlm_output !== undefined || Array.isArray(checks) || typeof benchmark_id === 'string';
  return {
    what: said === null ? `${run.calls} completions and their links` : 'the score of one completion',
    problems: [
      ...(isOurs ? [] : [{ code: 'evaluation-empty', where: 'the file', detail: 'It holds no output of a run.' }]),
      ...run.problems,
      ...(said === null ? [] : checkSingle(said)),
      ...(said === null || objectAt({ baseline: baseline ?? null }, 'baseline').output_quality_score === score
        ? []
        : [figures('baseline.output_quality_score')]),
    ],
  };
}

function checkSingle({ completion, completion_hash }: JsonObject): readonly ArtifactProblem[] {
  return hashProblem('the single call', completion, completion_hash);
}

/** The links of its calls are those of the run that stands beside it, where one does; the original kept none. */
function checkRun({ rlm_output, recorded_runs }: JsonObject): {
  readonly calls: number;
  readonly problems: readonly ArtifactProblem[];
} {
  const execution = objectAt(rlm_output, 'atomic_execution');
  const calls = Array.isArray(execution.subcalls) ? execution.subcalls.filter(isJsonObject) : [];
  const run = String(execution.generation_id);
  const links = calls.map((call) => asRecord(call, run));
  const held = Array.isArray(recorded_runs) ? recorded_runs : [];
  const isHeld = held.some((one) => objectAt(one, 'row').run_id === run);
  const records = isHeld ? [] : checkRecords(links, run);
  const last = hashProblem('the final message', execution.final_message, execution.final_message_hash);
  return { calls: calls.length, problems: [...records, ...last] };
}

function figures(where: string): ArtifactProblem {
  return {
    code: 'figures-disagree',
    where,
    detail: 'Scored again, the completions have other figures than the file states.',
  };
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
