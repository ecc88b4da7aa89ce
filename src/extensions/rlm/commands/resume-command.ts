// Owns `rlm resume`: going on with a run whose process was killed. What was answered is not asked again. Knows no controller.
// Invariant: a run that a living process works on is left alone; what was recorded is compared before anything new is written.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type Failure, failed, refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { RlmGround } from '../rlm-ground.ts';
import type { RunRow } from '../trace/run-row.ts';
import type { TraceStore } from '../trace/trace-store.ts';

const input = z.object({
  run: z.string().min(1).describe('Id of a run that has not ended, or its beginning'),
  takeOver: z.boolean().default(false).describe('Its process is gone although it seems to live (another machine)'),
});
type Asked = z.infer<typeof input>;

export function resumeCommands(ground: RlmGround): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm resume',
      summary: 'Go on with a recursive run that was killed; calls that were answered are not asked again',
      surfaces: ['cli'],
      input,
      positional: ['run'],
      examples: ['talaria rlm resume rlm_3f'],
      run: (asked, context) => resume(ground, asked, context),
    }),
  ];
}

async function* resume(ground: RlmGround, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const [{ openTraceStore }, { findRow, openStoreToRead }] = await Promise.all([
    import('../trace/open-trace-store.ts'),
    import('./stored/stored-run.ts'),
  ]);
  const known = openStoreToRead(ground);
  const row = findRow(known, asked.run);
  known.close();
  if ('exitCode' in row) {
    yield row;
    return;
  }
  const store = openTraceStore(ground.places.home, { clock: ground.clock });
  try {
    for (const { message } of store.notices) yield { type: 'line', text: message };
    yield* goOn({ ground, store, row, asked }, context.signal);
  } finally {
    store.close();
  }
}

interface Resuming {
  readonly ground: RlmGround;
  readonly store: TraceStore;
  readonly row: RunRow;
  readonly asked: Asked;
}

async function* goOn({ ground, store, row, asked }: Resuming, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { run_id } = row;
  const mind = await ground.open();
  const reopened = store.reopen(run_id, { takeOver: asked.takeOver });
  if (!reopened.ok) {
    yield refused(reopened.reason, reopened.detail, FIXES[reopened.reason]);
    return;
  }
  const answered = store.calls(run_id).length;
  yield { type: 'line', text: `${run_id}: ${answered} calls were answered before; going on.` };
  const { doLive } = await import('./stored/live-engine.ts');
  await doLive({ ground, mind, row, trace: reopened.value }, signal);
  yield* shown(store, run_id);
}

const FIXES = {
  'run-not-found': '`talaria rlm runs` lists the ids of all runs.',
  'run-ended': 'It has an outcome: `talaria rlm show` tells it.',
  'run-alive': 'Wait for it to end. Type --take-over only when that process is gone for sure.',
} as const;

async function* shown(store: TraceStore, run_id: string): AsyncGenerator<CommandOutput> {
  const [{ runText }, { readRunRecord }] = await Promise.all([
    import('../show/run-text.ts'),
    import('../trace/run-record.ts'),
  ]);
  const found = store.find(run_id);
  if (!found.ok) return;
  const record = readRunRecord(store, found.value);
  yield { type: 'line', text: runText(record) };
  yield { type: 'data', value: found.value as unknown as JsonValue };
  const failure = failureOf(found.value);
  if (failure !== null) yield failure;
}

const DONE = ['accepted', 'answered'];
const UNSUPPORTED = ['refused', 'no_evidence', 'unsupported', 'no_answer'];

function failureOf({ run_id, outcome }: RunRow): Failure | null {
  const verdict = String(outcome?.verdict);
  if (DONE.includes(verdict)) return null;
  const message = typeof outcome?.detail === 'string' ? outcome.detail : `The run ended as ${verdict}.`;
  const fix = `See talaria rlm show ${run_id}.`;
  return UNSUPPORTED.includes(verdict) ? refused('run-unsupported', message, fix) : failed('run-failed', message, fix);
}
