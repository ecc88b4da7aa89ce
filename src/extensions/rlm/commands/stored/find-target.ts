// Owns what `rlm replay` and `rlm verify` are given: a stored run by id, or a file with an exported run or an artifact. Reads, judges nothing.
import { existsSync } from 'node:fs';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { type Failure, failed, wrongUse } from '#core/agent/command-failure.ts';
import type { CommandContext } from '#core/agent/command-spec.ts';
import { ownTruncationFixture } from '../../bench/modes/own-fixture.ts';
import type { RlmGround } from '../../rlm-ground.ts';
import type { PackedContext } from '../../trace/export/packed-context.ts';
import { isExport, readExport } from '../../trace/export/read-export.ts';
import { namedTexts } from '../../trace/named-texts.ts';
import type { RunRecord } from '../../trace/run-record.ts';
import { fixtureBeside, readRunFile } from './run-file.ts';
import { findRecord, openStoreToRead } from './stored-run.ts';

export interface TargetAsked {
  readonly run: string;
  readonly fixture?: string | undefined;
}

export interface RunTarget {
  readonly kind: 'run';
  readonly record: RunRecord;
  /** Of an exported ask; it is to be unpacked before its context is opened. */
  readonly context: PackedContext | null;
}

export type Target = RunTarget | ArtifactTarget;

export interface ArtifactTarget {
  readonly kind: 'artifact';
  readonly value: JsonValue;
  readonly fixture: () => JsonValue | undefined;
  /** Runs that it holds beside what it says of them. */
  readonly runs: readonly RunTarget[];
}

/** A stored run is read whole, and the store closed. Throws TalariaError as the store. */
export function findTarget(ground: RlmGround, asked: TargetAsked, context: CommandContext): Target | Failure {
  const where = { cwd: context.cwd, userHome: ground.places.userHome };
  const path = typedPath(asked.run, where);
  if (existsSync(path)) return fileTarget(path, asked.fixture && typedPath(asked.fixture, where));
  if (/[/\\.]/.test(asked.run))
    return wrongUse(
      'file-missing',
      `There is no file ${path}.`,
      'Name a file that is there, or a run: `talaria rlm runs`.',
    );
  return storedTarget(ground, asked.run);
}

function storedTarget(ground: RlmGround, typed: string): Target | Failure {
  const store = openStoreToRead(ground);
  try {
    const record = findRecord(store, typed);
    if ('exitCode' in record) return record;
    const texts = new Map<string, string | undefined>();
    for (const hash of namedTexts(record).keys()) texts.set(hash, record.textOf(hash));
    return { kind: 'run', record: { ...record, textOf: (hash) => texts.get(hash) }, context: null };
  } finally {
    store.close();
  }
}

function fileTarget(path: string, fixture: string | undefined): Target | Failure {
  const read = readRunFile(path);
  if (!read.ok) return wrongUse(read.reason, read.detail, 'Name an exported run or an artifact.');
  const { value } = read;
  const held = isJsonObject(value) && Array.isArray(value.recorded_runs) ? value.recorded_runs : [];
  const runs: RunTarget[] = [];
  for (const one of isExport(value) ? [value] : held) {
    const exported = readExport(one);
    const fix = 'Write one with `talaria rlm show RUN --export FILE`.';
    if (!exported.ok) return failed(exported.reason, `${path} holds no exported run: ${exported.detail}.`, fix);
    runs.push({ kind: 'run', ...exported.value });
  }
  const [run] = runs;
  if (isExport(value) && run !== undefined) return run;
  return { kind: 'artifact', value, fixture: () => fixtureOf(path, value, fixture), runs };
}

function fixtureOf(path: string, value: JsonValue, fixture: string | undefined): JsonValue | undefined {
  if (fixture !== undefined) {
    const read = readRunFile(fixture);
    return read.ok ? read.value : undefined;
  }
  if (!isJsonObject(value)) return undefined;
  if (isJsonObject(value.fixture)) return value.fixture;
  const { baseline } = value;
  const id = value.on_fixture ?? value.fixture_id ?? (isJsonObject(baseline) ? baseline.fixture_id : undefined);
  const own: unknown = ownTruncationFixture();
  return isJsonObject(own) && own.fixture_id === id ? own : fixtureBeside(path, id);
}
