// The memory file on a real disk: appended to, poisoned, torn, binary, written by many at once.
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { appendMemory, defaultMemoryPath, readMemoryFile } from '#extensions/rlm/memory/memory-file.ts';
import { MEMORY_MODES, readsMemory, writesMemory } from '#extensions/rlm/memory/memory-record.ts';
import { memoryReport } from '#extensions/rlm/memory/memory-report.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { soundRecord } from './sound-record.ts';

describe('the memory file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rlm-memory-'));
  let made = 0;
  const fresh = (): string => {
    made += 1;
    return join(folder, `m${made}`, 'memory.jsonl');
  };
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('a missing file is an empty memory, and is not made by reading', () => {
    const path = fresh();
    assert.deepEqual(readMemoryFile(path), {
      path,
      exists: false,
      records: [],
      rejected: [],
      rejected_count: 0,
      passed_over: 0,
    });
    assert.equal(defaultMemoryPath('/h'), join('/h', 'rlm', 'memory.jsonl'));
  });

  test('what is appended is read again; the file is private; a second append adds', async () => {
    const path = fresh();
    await appendMemory(path, [soundRecord]);
    const first = readFileSync(path, 'utf8');
    await appendMemory(path, [{ ...soundRecord, family_id: 'other' }]);
    assert.equal(readFileSync(path, 'utf8').startsWith(first), true);
    assert.deepEqual(readMemoryFile(path).records, [soundRecord, { ...soundRecord, family_id: 'other' }]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(Object.keys(JSON.parse(first)), [
      'kind',
      'task',
      'recommendation',
      'family_id',
      'fixture_category',
      'outcome',
      'confidence',
      'created_at',
    ]);
  });

  verifies(
    'rlm:memory:no-facts',
    'answers, foreign fields and secrets are refused at the door, the rest is stored',
    async () => {
      const path = fresh();
      const key = `sk-ant-${'a1B2c3D4e5F6g7H8i9J0'.repeat(3)}`;
      const { stored, rejected } = await appendMemory(path, [
        { ...soundRecord, outcome: 'FACT:LP-01-001 the door is red' },
        soundRecord,
        { ...soundRecord, answer: 'x' },
        { ...soundRecord, family_id: key },
        'text',
      ]);
      assert.equal(stored.length, 1);
      assert.deepEqual(
        rejected.map(({ line, reason }) => [line, reason]),
        [
          [1, 'forbidden_or_injection_text'],
          [3, 'field_not_allowed'],
          [4, 'forbidden_or_injection_text'],
          [5, 'record_not_object'],
        ],
      );
      assert.equal(readFileSync(path, 'utf8').includes(key), false);
      const untouched = fresh();
      await appendMemory(untouched, [{ ...soundRecord, answer: 'x' }]);
      assert.equal(readMemoryFile(untouched).exists, false);
    },
  );

  test('a poisoned, torn, binary file: bad lines are counted and named, sound ones used, nothing lost', async () => {
    const path = fresh();
    await appendMemory(path, [soundRecord]);
    const sound = readFileSync(path, 'utf8');
    appendFileSync(path, '{"kind":"answer"}\n[1]\nnot json\n');
    appendFileSync(path, Buffer.from([0xff, 0xfe, 0x00, 0x7b, 0x0a]));
    appendFileSync(path, `{"x":"${'y'.repeat(200_000)}"}\n`);
    appendFileSync(path, sound.replace('hermes_glm', `sk-ant-${'a1B2c3D4e5F6g7H8i9J0'.repeat(3)}`));
    appendFileSync(path, `\r\n${sound.trimEnd()}\r\n`);
    appendFileSync(path, sound.slice(0, 40));
    const before = readFileSync(path);
    const read = readMemoryFile(path);
    assert.deepEqual(read.records, [soundRecord, soundRecord]);
    assert.deepEqual(
      read.rejected.map(({ line, reason }) => `${line} ${reason}`),
      [
        '2 missing_required_field',
        '3 record_not_object',
        '4 invalid_json',
        '5 invalid_json',
        '6 invalid_json',
        '7 forbidden_or_injection_text',
        '10 invalid_json',
      ],
    );
    await appendMemory(path, [{ ...soundRecord, confidence: 1 }]);
    assert.deepEqual(readFileSync(path).subarray(0, before.length), before);
    assert.deepEqual(readMemoryFile(path).records.at(-1), { ...soundRecord, confidence: 1 });
    assert.equal(readMemoryFile(path).rejected_count, 7);
  });

  test('a folder or a device is said to be no memory file, and nothing hangs', async () => {
    const path = fresh();
    mkdirSync(path, { recursive: true });
    assert.throws(() => readMemoryFile(path), { code: 'memory-unreadable' });
    assert.throws(() => readMemoryFile('/dev/zero'), { code: 'memory-unreadable' });
    await assert.rejects(appendMemory(path, [soundRecord]), { code: 'memory-unwritable' });
  });

  test('many writers at once: every line whole, none lost', async () => {
    const path = fresh();
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        appendMemory(path, [soundRecord, { ...soundRecord, family_id: `family ${at}` }]),
      ),
    );
    const { records, rejected_count } = readMemoryFile(path);
    assert.deepEqual([records.length, rejected_count], [40, 0]);
    assert.equal(new Set(records.map((record) => record.family_id)).size, 21);
  });

  slow('a long file keeps the newest 20 000 and says how many it passed over', () => {
    const path = fresh();
    mkdirSync(join(path, '..'), { recursive: true });
    const line =
      '{"kind":"latency_bucket","task":"extract_child_evidence","recommendation":"record_latency_without_quality_claim"}\n';
    writeFileSync(path, line.repeat(40_001));
    const read = readMemoryFile(path);
    assert.deepEqual([read.records.length, read.passed_over], [20_000, 20_001]);
  });

  verifies('rlm:memory:modes', 'off, read, write and read-write do what they say', () => {
    const said = MEMORY_MODES.map((mode) => [readsMemory(mode), writesMemory(mode)]);
    assert.deepEqual(said, [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ]);
  });

  test('the report computes effects as runs do: policy by task, family and category; order of families', async () => {
    const path = fresh();
    const words = { family_id: 'shaky', fixture_category: null, outcome: '', confidence: 1, created_at: null };
    const task = 'synthesize_parent_answer_from_child_evidence';
    await appendMemory(path, [
      { ...words, kind: 'schema_hint_needed', task, recommendation: 'prefer_strict_json_schema' },
      { ...words, kind: 'schema_hint_needed', task, recommendation: 'avoid_chunk_only_citations' },
      { ...soundRecord, task, family_id: 'steady', fixture_category: null },
      {
        ...words,
        family_id: null,
        kind: 'latency_bucket',
        task,
        recommendation: 'record_latency_without_quality_claim',
      },
    ]);
    const report = memoryReport(readMemoryFile(path));
    assert.deepEqual(report.family_order, ['steady', 'shaky']);
    assert.deepEqual(
      report.effects.map(({ family_id, does }) => [family_id, does]),
      [
        ['shaky', ['replies are read by the strict schema', 'citations of a chunk without a fact are refused']],
        ['steady', ['facts without fact_id and evidence_chunk_id are asked for again']],
      ],
    );
    assert.deepEqual(
      report.groups.map(({ kind, family_id, recommendation }) => [kind, family_id, recommendation]),
      [
        ['latency_bucket', null, 'record_latency_without_quality_claim'],
        ['provider_schema_stability', 'steady', soundRecord.recommendation],
        ['schema_hint_needed', 'shaky', 'avoid_chunk_only_citations'],
        ['schema_hint_needed', 'shaky', 'prefer_strict_json_schema'],
      ],
    );
  });
});
