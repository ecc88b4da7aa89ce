// Owns what `rlm verify` says and with which exit code it ends. Of an ask it opens the context, as far as it is still what it was.
import { errorCode, errorText } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import { plural } from '#base/text.ts';
import { failed, wrongUse } from '#core/agent/command-failure.ts';
import type { CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import { reopenContext } from '../../ask/open/open-context.ts';
import { readOutcome } from '../../page/read-outcome.ts';
import type { RlmGround } from '../../rlm-ground.ts';
import { checkArtifact } from '../../trace/artifact/check-artifact.ts';
import { CONTEXT_CHANGED } from '../../trace/replay/replay-run.ts';
import type { RunRecord } from '../../trace/run-record.ts';
import { checkAskHandles } from '../../trace/verify/check-ask-handles.ts';
import type { HandleCheck } from '../../trace/verify/check-handles.ts';
import { verifyRun } from '../../trace/verify/verify-run.ts';
import { type ArtifactTarget, findTarget, type RunTarget, type TargetAsked } from './find-target.ts';
import { overContext } from './over-context.ts';

export async function* verifyTarget(
  ground: RlmGround,
  asked: TargetAsked,
  context: CommandContext,
): AsyncGenerator<CommandOutput> {
  const target = findTarget(ground, asked, context);
  if ('exitCode' in target) yield target;
  else if (target.kind === 'artifact') yield* verifyArtifact(target, context.signal);
  else yield* verifyRecord(target, context.signal);
}

interface Found {
  readonly code: string;
  readonly where: string;
  readonly detail: string;
}

/** By the rule that made it, and each run that it holds. */
export async function* verifyArtifact(target: ArtifactTarget, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const checked = await checkArtifact(target, signal);
  if (!checked.ok) {
    const fix =
      checked.reason === 'fixture-missing' ? 'Name it with --fixture FILE.' : 'Name an exported run or an artifact.';
    yield wrongUse(checked.reason, checked.detail, fix);
    return;
  }
  yield* report(checked.value.what, checked.value.problems);
  for (const run of target.runs) yield* verifyRecord(run, signal);
}

async function* verifyRecord(target: RunTarget, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { record } = target;
  const { row, events, calls } = record;
  const handles = await overContext(target, (over) => handleCheck(over, signal));
  if (typeof handles === 'string') yield { type: 'line', text: `handles were not looked at again: ${handles}` };
  const options = typeof handles === 'function' ? { handle: handles } : {};
  const cut = row.ended_at === null ? ', not ended' : '';
  yield* report(
    `${row.run_id}: ${plural(events.length, 'event')}, ${plural(calls.length, 'call')}${cut}`,
    verifyRun(record, options),
  );
}

/** Null: it has none; a text: why they cannot be looked at. */
async function handleCheck({ row }: RunRecord, signal: AbortSignal): Promise<HandleCheck | string | null> {
  const read = readOutcome(row.outcome);
  if (read.kind !== 'ask' || read.outcome.handles.length === 0) return null;
  try {
    const source = await reopenContext(row, signal);
    try {
      return await checkAskHandles(read.outcome, source, signal);
    } finally {
      source.close();
    }
  } catch (error) {
    if (errorCode(error) !== CONTEXT_CHANGED) throw error;
    return errorText(error);
  }
}

function* report(what: string, problems: readonly Found[]): Generator<CommandOutput> {
  if (problems.length === 0) yield { type: 'line', text: `${what}: holds together` };
  else {
    const rows = problems.map(({ code, where, detail }) => [code, where, detail]);
    yield { type: 'table', columns: ['problem', 'where', 'what'], rows };
  }
  yield { type: 'data', value: { what, problems } as unknown as JsonValue };
  if (problems.length > 0) yield failed('run-unsound', `${what}: ${plural(problems.length, 'problem')}.`);
}
