// Owns `replay` and `verify` of what a bench wrote, or the seed committed: a comparison is scored again, runs are done again or checked, and a
// table, which no run made, is made again. No model is asked, nothing is written. Exit codes: 0 the same or sound, 1 not, 2 nothing there.
// Seed 003, "Expected replay signal".
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { plural } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  type Failure,
  failed,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { readRunFile } from '#extensions/rlm/commands/done-again.ts';
import { readExport } from '#extensions/rlm/trace/export-run.ts';
import { differenceText } from '#extensions/rlm/trace/live-trace.ts';
import { replayRun } from '#extensions/rlm/trace/replay.ts';
import type { RunRecord } from '#extensions/rlm/trace/run-record.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { checkArtifact } from './check-artifact.ts';
import { replayArtifact } from './compare-runs.ts';
import { ownTruncationFixture } from './truncation-fixture.ts';
import { BENCH_ENGINES } from './vanilla-baseline.ts';

const input = z.object({
  file: z.string().min(1).describe('What a bench wrote, or a committed file of the seed'),
  fixture: z.string().min(1).optional().describe('Its truncation fixture; found beside it when absent'),
});
type Asked = z.infer<typeof input>;

interface Artifact {
  readonly value: JsonValue;
  readonly fixture: () => JsonValue | undefined;
  /** Runs that it holds beside what it says of them. */
  readonly runs: readonly RunRecord[];
}

type Work = (artifact: Artifact, signal: AbortSignal) => AsyncGenerator<CommandOutput>;

export function artifactCommands(ground: Ground): readonly AnyCommand[] {
  const command = (name: string, summary: string, work: Work) =>
    defineCommand({
      name: `rlm ${name}`,
      summary,
      surfaces: ['cli'],
      input,
      positional: ['file'],
      examples: [`npm run bench -- rlm ${name} artifact.json`],
      run: async function* (asked, { cwd, signal }) {
        const artifact = readArtifact(asked, { cwd, userHome: ground.places.userHome });
        if ('exitCode' in artifact) yield artifact;
        else yield* work(artifact, signal);
      },
    });
  return [
    command('replay', 'Score a comparison again, do its runs again, make a table again; no model is asked', replay),
    command('verify', 'Check an artifact by the rule that made it, and each run that it holds', verify),
  ];
}

function readArtifact({ file, fixture }: Asked, where: Pick<CommandContext, 'cwd'> & { readonly userHome: string }) {
  const path = typedPath(file, where);
  const read = readRunFile(path);
  if (!read.ok) return wrongUse(read.reason, read.detail, 'Name a file that a bench wrote.');
  const { value } = read;
  const runs: RunRecord[] = [];
  for (const one of isJsonObject(value) && Array.isArray(value.recorded_runs) ? value.recorded_runs : []) {
    const exported = readExport(one);
    if (!exported.ok) return failed(exported.reason, `${path} holds no exported run: ${exported.detail}.`);
    runs.push(exported.value.record);
  }
  const named = fixture === undefined ? undefined : typedPath(fixture, where);
  return { value, runs, fixture: () => fixtureOf(path, value, named) } satisfies Artifact | Failure;
}

async function* replay(artifact: Artifact, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const isComparison = isJsonObject(artifact.value) && artifact.value.quality_comparison !== undefined;
  if (isComparison) yield* replayStored(artifact);
  for (const run of artifact.runs) yield* replayRecord(run, signal);
  if (!isComparison && artifact.runs.length === 0) yield* verify(artifact, signal);
}

async function* replayRecord(record: RunRecord, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { run_id } = record.row;
  const again = await replayRun(record, BENCH_ENGINES, signal);
  if ('reason' in again) yield refused(again.reason, again.detail);
  else if (again.result === 'different')
    yield failed('replay-differs', `${run_id}: the first difference: ${differenceText(again.difference)}.`);
  else {
    const done = `${plural(again.events, 'event')}, ${plural(again.calls, 'recorded call')}, no model`;
    yield { type: 'line', text: `${run_id}: the same again (${done})` };
  }
}

function* replayStored({ value, fixture }: Artifact): Generator<CommandOutput> {
  const beside = fixture();
  const again = replayArtifact({ artifact: value, fixture: beside ?? null });
  if (!again.ok) {
    const isMissing = again.reason === 'other_fixture' && beside === undefined;
    yield wrongUse(
      again.reason,
      `It cannot be replayed: ${again.detail}.`,
      isMissing ? 'Name its fixture with --fixture FILE.' : '`rlm verify` checks artifacts of other kinds.',
    );
    return;
  }
  const { lines, agrees, comparison } = again.value;
  for (const text of lines) yield { type: 'line', text };
  yield { type: 'data', value: { agrees, comparison } as unknown as JsonValue };
  if (!agrees) yield failed('figures-disagree', 'The file states other figures than its completions have.');
}

async function* verify(artifact: Artifact, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const checked = await checkArtifact(artifact, signal);
  if (!checked.ok) {
    const fix = checked.reason === 'fixture-missing' ? 'Name it with --fixture FILE.' : 'Name another artifact.';
    yield wrongUse(checked.reason, checked.detail, fix);
    return;
  }
  yield* report(checked.value.what, checked.value.problems);
  for (const { row, events, calls, ...rest } of artifact.runs) {
    const what = `${row.run_id}: ${plural(events.length, 'event')}, ${plural(calls.length, 'call')}`;
    yield* report(what, verifyRun({ row, events, calls, ...rest }));
  }
}

interface Found {
  readonly code: string;
  readonly where: string;
  readonly detail: string;
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

function fixtureOf(path: string, value: JsonValue, named: string | undefined): JsonValue | undefined {
  if (named !== undefined) {
    const read = readRunFile(named);
    return read.ok ? read.value : undefined;
  }
  if (!isJsonObject(value)) return undefined;
  if (isJsonObject(value.fixture)) return value.fixture;
  const { baseline } = value;
  const id = value.on_fixture ?? value.fixture_id ?? (isJsonObject(baseline) ? baseline.fixture_id : undefined);
  const own: unknown = ownTruncationFixture();
  return isJsonObject(own) && own.fixture_id === id ? own : fixtureBeside(path, id);
}

const FIXTURE_SCHEMA = 'rlm.long_context_truncation_fixture.v1';
const MOST_FILES = 200;
const LARGEST_FIXTURE = 4 * 1024 * 1024;

/** The truncation fixture in the same folder: that of this id, else the only one. */
function fixtureBeside(path: string, fixture_id: JsonValue | undefined): JsonValue | undefined {
  const folder = dirname(path);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const fixtures = names.slice(0, MOST_FILES).flatMap((name) => {
    const file = join(folder, name);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY;
    const read = size > LARGEST_FIXTURE ? undefined : readRunFile(file);
    const value = read?.ok ? read.value : undefined;
    return isJsonObject(value) && value.schema_version === FIXTURE_SCHEMA ? [value] : [];
  });
  return fixtures.find((one) => one.fixture_id === fixture_id) ?? (fixtures.length === 1 ? fixtures[0] : undefined);
}
