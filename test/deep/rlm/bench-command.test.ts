// `npm run bench -- rlm …` and `talaria rlm memory` over the composed agent without a model: what is printed, what is written, how it ends.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { rlmCommands } from '#extensions/rlm/commands.ts';
import type { CommandOutput, JsonObject } from '#public/talaria.ts';
import { lendGround } from '#surfaces/app/ground.ts';
import { benchCommands } from '../../../bench/rlm/commands.ts';
import { withData } from '../../extensions/rlm/fixtures/recorded.ts';
import { soundRecord } from '../../extensions/rlm/memory/sound-record.ts';
import { realClock } from '../../ground.ts';
import { createStage, type Stage } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

const committed = join(process.env.TALARIA_DATA ?? '', 'data', 'rlm');

interface Ran {
  readonly text: string;
  readonly data: JsonObject;
  readonly failure: Extract<CommandOutput, { type: 'failure' }> | undefined;
}

interface Typed {
  readonly stage: Stage;
  readonly name: string;
  readonly flags?: JsonObject;
  readonly signal?: AbortSignal;
}

async function run({ stage, name, flags = {}, signal }: Typed): Promise<Ran> {
  const app = await stage.open();
  const ground = lendGround({
    environment: stage.environment,
    home: app.home,
    clock: realClock,
    app: async () => app,
  });
  const [, benched] = /^bench (.*)$/.exec(name) ?? [];
  const commands = benched === undefined ? rlmCommands(ground) : benchCommands(ground);
  const command = commands.find((one) => one.name === `rlm ${benched ?? name}`);
  assert.ok(command, name);
  const outputs: CommandOutput[] = [];
  const context = { cwd: stage.cwd, signal: signal ?? new AbortController().signal };
  for await (const output of command.run(command.input.parse(flags) as never, context)) outputs.push(output);
  await app.shutdown();
  const text = outputs
    .flatMap((output) => {
      if (output.type === 'line') return [output.text];
      return output.type === 'table' ? [output.columns, ...output.rows].map((row) => row.join(' | ')) : [];
    })
    .join('\n');
  const data = outputs.find((output) => output.type === 'data')?.value as JsonObject;
  return { text, data, failure: outputs.find((output) => output.type === 'failure') };
}

describe('npm run bench -- rlm', () => {
  verifies(
    ['rlm:fixture:vanilla-one-call', 'rlm:fixture:recursive-five-calls'],
    'truncation without a model: reflex answers, and it is said',
    async (t) => {
      const stage = createStage(t);
      const { text, data, failure } = await run({ stage, name: 'bench truncation', flags: { output: 'out/c.json' } });
      assert.equal(failure, undefined);
      assert.match(text, /^Shared truncation benchmark completed; /);
      assert.match(
        text,
        /\nhermes_subcalls: vanilla=1, rlm=5\nchunks: selected=4, omitted=2\nquality: vanilla=1\.00, rlm=1\.00, delta=\+0\.00, rlm_outperforms_vanilla=False/,
      );
      assert.match(text, /There is no language model: reflex answers by rule, quoting only\./);
      const path = join(stage.cwd, 'out/c.json');
      assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), JSON.parse(JSON.stringify(data)));
      assert.ok(text.endsWith(`written: ${path}`));
    },
  );

  test('what a bench has written verifies and replays', async (t) => {
    const stage = createStage(t);
    const smoke = { mode: 'live-smoke', families: 'reflex', outputDir: 'cells' };
    for (const [name, flags] of [
      ['bench truncation', {}],
      ['bench claim-aware', {}],
      ['bench synthetic', {}],
      ['bench portability', { families: 'reflex' }],
      ['bench portability', { mode: 'dry-plan', families: 'reflex' }],
      ['bench portability', smoke],
      ['bench fixture', {}],
      ['bench vanilla', {}],
    ] as const) {
      const written = await run({ stage, name, flags: { output: 'a.json', ...flags } });
      assert.equal(written.failure, undefined, name);
      for (const look of ['verify', 'replay']) {
        const { failure, text } = await run({ stage, name: `bench ${look}`, flags: { file: 'a.json' } });
        assert.equal(failure, undefined, `${look} ${name}: ${text}`);
        assert.notEqual(text, '');
      }
    }
    const path = join(stage.cwd, 'a.json');
    assert.equal((JSON.parse(readFileSync(path, 'utf8')).recorded_runs as readonly unknown[]).length, 1);
    const changed = readFileSync(path, 'utf8').replace('"output_quality_score": 1', '"output_quality_score": 0.5');
    writeFileSync(path, changed);
    const { failure } = await run({ stage, name: 'bench verify', flags: { file: 'a.json' } });
    assert.match(failure?.message ?? '', /1 problem/);
    const typed = await run({ stage, name: 'verify', flags: { run: 'a.json' } });
    assert.deepEqual([typed.failure?.exitCode, typed.failure?.code], [2, 'artifact-unknown']);
    assert.match(typed.failure?.message ?? '', /npm run bench -- rlm verify/);
  });

  verifies('rlm:matrix:offline', 'the committed comparison gives the stated signal; every committed file verifies', {
    options: withData,
    run: async (t) => {
      const stage = createStage(t as never);
      const file = join(committed, 'rlm-long-context-truncation-v1.json');
      const { text, failure } = await run({ stage, name: 'bench replay', flags: { file } });
      assert.equal(failure, undefined);
      assert.match(text, /^benchmark: rlm-shared-truncation-comparison-v1\nfixture: rlm-long-context-truncation-v1\n/);
      assert.match(text, /\nquality: vanilla=1\.00, rlm=1\.00, delta=\+0\.00, rlm_outperforms_vanilla=False\n/);
      for (const name of readdirSync(committed).filter((one) => one.endsWith('.json'))) {
        const verified = await run({ stage, name: 'bench verify', flags: { file: join(committed, name) } });
        assert.equal(verified.failure, undefined, name);
        assert.match(verified.text, /: holds together$/);
      }
    },
  });

  test('a file that is missing, something else, or without its fixture ends with 2', async (t) => {
    const stage = createStage(t);
    writeFileSync(join(stage.cwd, 'other.json'), '{"a": 1}');
    writeFileSync(join(stage.cwd, 'suite.json'), '{"schema_version": "rlm.claim_aware_suite.v1"}');
    const failure = async (name: string, flags: JsonObject) => {
      const { failure: found } = await run({ stage, name: `bench ${name}`, flags });
      return [found?.exitCode, found?.code];
    };
    for (const name of ['replay', 'verify']) {
      assert.deepEqual(await failure(name, { file: 'missing.json' }), [2, 'file-missing']);
      assert.deepEqual(await failure(name, { file: 'other.json' }), [2, 'artifact-unknown']);
    }
    assert.deepEqual(await failure('verify', { file: 'suite.json' }), [2, 'fixture-missing']);
    const beside = { file: 'suite.json', fixture: 'missing.json' };
    assert.deepEqual(await failure('verify', beside), [2, 'fixture-missing']);
  });

  test('tables as text, Markdown and JSON; a file when one is named', async (t) => {
    const stage = createStage(t);
    const claims = await run({ stage, name: 'bench claim-aware', flags: { format: 'md', output: 'claims.md' } });
    assert.match(claims.text, /\| guarded_gap_mentions \| 1 \| 1 \| 1 \| 1 \| 1 \| - \| - \| pass \|/);
    assert.match(readFileSync(join(stage.cwd, 'claims.md'), 'utf8'), /^## claim-aware\n/);
    const synthetic = await run({ stage, name: 'bench synthetic', flags: { output: 'rows.json' } });
    assert.equal(synthetic.data.evaluation_count, 756);
    const kept = JSON.parse(readFileSync(join(stage.cwd, 'rows.json'), 'utf8')) as JsonObject;
    assert.equal((kept.evaluations as readonly unknown[]).length, 756);
    assert.equal(existsSync(join(stage.root, 'rlm')), false);
  });

  test('portability: contracts by default, a live smoke by reflex, files where they were wanted', async (t) => {
    const stage = createStage(t);
    const contracts = await run({ stage, name: 'bench portability' });
    assert.match(
      contracts.text,
      /chunk-only-citation-trap-01 \| accepted \| accepted \| refused \| refused \| 1 \| pass/,
    );
    assert.equal(contracts.failure, undefined);
    assert.equal(existsSync(join(stage.root, 'rlm/runs.sqlite')), false);
    const flags = { mode: 'live-smoke', families: 'reflex', outputDir: 'matrix', outputPrefix: 'smoke' };
    const live = await run({ stage, name: 'bench portability', flags });
    assert.equal(live.failure, undefined, live.text);
    assert.match(live.text, /reflex \| 1 \| 1 \| 1 \| 0 \| /);
    const path = join(stage.cwd, 'matrix/smoke.json');
    assert.equal(
      (JSON.parse(readFileSync(path, 'utf8')) as JsonObject).schema_version,
      'rlm_forge.live_portability_primary.v1',
    );
    assert.equal(existsSync(`${path}.partial`), false);
    assert.equal(existsSync(join(stage.root, 'rlm/memory.jsonl')), false);
  });

  test('a family that is not there ends with 3 and says what to set up', async (t) => {
    const stage = createStage(t);
    const flags = { mode: 'live-primary', families: 'codex_gpt55' };
    const missing = await run({ stage, name: 'bench portability', flags });
    assert.equal(missing.failure?.exitCode, 3);
    assert.match(missing.failure?.fix ?? '', /rlm\.families in config\.yaml/);
    const fixture = await run({ stage, name: 'bench truncation', flags: { fixture: 'nowhere.json' } });
    assert.equal(fixture.failure?.exitCode, 2);
    assert.equal(fixture.failure?.code, 'fixture_unreadable');
  });

  test('a matrix that is stopped leaves its partial and says where', async (t) => {
    const stage = createStage(t);
    const flags = { mode: 'live-primary', families: 'reflex', outputDir: 'matrix' };
    const stopped = await run({ stage, name: 'bench portability', flags, signal: AbortSignal.abort() });
    assert.deepEqual([stopped.failure?.exitCode, stopped.failure?.code], [1, 'cancelled']);
    assert.equal(existsSync(join(stage.cwd, 'matrix/live-portability-matrix.json')), false);
  });
});

describe('rlm memory', () => {
  verifies('rlm:memory:off-by-default', 'says that nothing is remembered, and makes no file', async (t) => {
    const stage = createStage(t);
    const { text } = await run({ stage, name: 'memory' });
    assert.match(text, /^Nothing is remembered yet .* Memory is off unless --memory-mode says otherwise\.$/);
    assert.equal(existsSync(join(stage.root, 'rlm')), false);
  });

  test('shows what it holds, what that does, and what was refused', async (t) => {
    const stage = createStage(t);
    mkdirSync(join(stage.cwd, 'm'));
    const path = join(stage.cwd, 'm/store.jsonl');
    writeFileSync(path, `${JSON.stringify(soundRecord)}\nFACT:LP-01-001 is true\n`);
    const { text, data, failure } = await run({ stage, name: 'memory', flags: { store: 'm/store.jsonl' } });
    assert.equal(failure, undefined);
    assert.match(text, /store\.jsonl: 1 record used, 1 line refused\. Memory is never evidence\./);
    assert.match(text, /facts without fact_id and evidence_chunk_id are asked for again/);
    assert.match(text, /\n2 \| invalid_json/);
    assert.deepEqual([data.record_count, data.rejected_count], [1, 1]);
    const missing = await run({ stage, name: 'memory', flags: { store: 'm/none.jsonl' } });
    assert.equal(missing.failure?.code, 'memory-missing');
  });

  verifies('rlm:memory:modes', 'what a run with read-write stored is shown by the command', async (t) => {
    const stage = createStage(t);
    const flags = { mode: 'live-primary', families: 'reflex', memoryMode: 'read-write' };
    const live = await run({ stage, name: 'bench portability', flags });
    assert.equal(live.failure, undefined, live.text);
    assert.match(live.text, /Memory was read-write: \d+ priors recalled, \d+ observations stored\. No clean run/);
    const { text, data } = await run({ stage, name: 'memory' });
    assert.equal(data.record_count, 16);
    assert.match(text, /provider_schema_stability \| reflex \| \w+ \| preserve_child_fact_identity/);
  });
});
