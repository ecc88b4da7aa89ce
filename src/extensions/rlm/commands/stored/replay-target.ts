// Owns what `rlm replay` says and with which exit code it ends. Does nothing itself. Serves seed 003, "Expected replay signal".
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { plural } from '#base/text.ts';
import { failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import type { CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import type { RlmGround } from '../../rlm-ground.ts';
import { replayArtifact } from '../../score/replay-artifact.ts';
import { RUN_ENGINES } from '../../trace/engines/run-engines.ts';
import { differenceText } from '../../trace/event-difference.ts';
import { type Replay, replayRun } from '../../trace/replay/replay-run.ts';
import { type ArtifactTarget, findTarget, type RunTarget, type TargetAsked } from './find-target.ts';
import { overContext } from './over-context.ts';
import { verifyArtifact } from './verify-target.ts';

export async function* replayTarget(
  ground: RlmGround,
  asked: TargetAsked,
  context: CommandContext,
): AsyncGenerator<CommandOutput> {
  const target = findTarget(ground, asked, context);
  if ('exitCode' in target) yield target;
  else if (target.kind === 'artifact') yield* replayHeld(target, context.signal);
  else yield* replayRecord(target, context.signal);
}

/** A comparison is scored again, runs are done again, and a table, which no run made, is made again. */
async function* replayHeld(target: ArtifactTarget, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const isComparison = isJsonObject(target.value) && target.value.quality_comparison !== undefined;
  if (isComparison) yield* replayStored(target);
  for (const run of target.runs) yield* replayRecord(run, signal);
  if (!isComparison && target.runs.length === 0) yield* verifyArtifact(target, signal);
}

async function* replayRecord(target: RunTarget, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { run_id } = target.record.row;
  const replay = await overContext(target, (record) => replayRun(record, RUN_ENGINES, signal));
  if ('reason' in replay) {
    const fix = replay.reason === 'no-engine' ? '' : 'It stays a record: `talaria rlm show` and `rlm verify` read it.';
    yield refused(replay.reason, replay.detail, fix);
    return;
  }
  if (replay.result !== 'different') yield { type: 'line', text: replayLine(run_id, replay) };
  yield { type: 'data', value: { run_id, ...replay } as unknown as JsonValue };
  if (replay.result !== 'different') return;
  const fix = `\`talaria rlm verify ${run_id}\` says whether the record was changed; another version of Talaria may also do it otherwise.`;
  yield failed('replay-differs', `The first difference: ${differenceText(replay.difference)}.`, fix);
}

function replayLine(run_id: string, replay: Exclude<Replay, { readonly result: 'different' }>): string {
  const done = `${plural(replay.events, 'event')}, ${plural(replay.calls, 'recorded call')}, no model`;
  if (replay.result === 'same') return `${run_id}: the same again (${done}); state ${replay.state_hash}`;
  const next = replay.missing_call === null ? '' : `; the call ${replay.missing_call} had no answer yet`;
  return `${run_id} was killed: the same up to there (${done})${next}. Go on with: talaria rlm resume ${run_id}`;
}

function* replayStored({ value, fixture }: ArtifactTarget): Generator<CommandOutput> {
  const beside = fixture();
  const replay = replayArtifact({ artifact: value, fixture: beside ?? null });
  if (!replay.ok) {
    const isMissing = replay.reason === 'other_fixture' && beside === undefined;
    const fix = isMissing
      ? 'Name its fixture with --fixture FILE.'
      : '`talaria rlm verify` checks artifacts of other kinds.';
    yield wrongUse(replay.reason, `It cannot be replayed: ${replay.detail}.`, fix);
    return;
  }
  const { lines, agrees, comparison } = replay.value;
  for (const text of lines) yield { type: 'line', text };
  yield { type: 'data', value: { agrees, comparison } as unknown as JsonValue };
  if (!agrees) yield failed('figures-disagree', 'The file states other figures than its completions have.');
}
