import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { prepareRun, type RunAsk } from '#extensions/rlm/run/prepare-run.ts';
import type { RunOptions } from '#extensions/rlm/run/run-options.ts';
import { readRunRequest } from '#extensions/rlm/run/run-request.ts';
import { textHash } from '#extensions/rlm/trace/run-record.ts';
import type { JsonObject } from '#public/talaria.ts';
import { verifies } from '../../../../verifies.ts';

const QUESTION = 'List every deadline that is named, with its date.';
const folder = mkdtempSync(join(tmpdir(), 'rlm-prepare-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), content);
  return name;
}

interface Changes {
  readonly question?: string | null;
  readonly options?: RunOptions;
  readonly ground?: Partial<RunAsk['ground']>;
}

function prepare(target: string, { question = QUESTION, options = {}, ground = {} }: Changes = {}) {
  const memory_path = join(folder, 'memory.jsonl');
  const ask = { ground: { cwd: folder, userHome: folder, ...ground }, target, question, options, memory_path };
  return prepareRun(ask, new AbortController().signal);
}

async function prepared(target: string, changes: Changes = {}) {
  const result = await prepare(target, changes);
  assert.ok(result.ok, result.ok ? '' : result.detail);
  return result.value;
}

async function refusal(target: string, changes: Changes = {}) {
  const result = await prepare(target, changes);
  assert.ok(!result.ok);
  return result;
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

describe('a target', () => {
  test('that is a file gives chunks of 80 lines, six at most; the rest is named', async () => {
    const { request, texts, sources } = await prepared(file('long.txt', lines(1_000)));
    assert.deepEqual(
      request.chunks.map(({ chunk_id }) => chunk_id),
      ['1-80', '81-160', '161-240', '241-320', '321-400', '401-480'].map((at) => `long.txt:${at}`),
    );
    assert.deepEqual(
      request.omitted.map(({ chunk_id }) => chunk_id),
      ['481-560', '561-640', '641-720', '721-800', '801-880', '881-960', '961-1000'].map((at) => `long.txt:${at}`),
    );
    assert.deepEqual(request.boundaries, [
      { source_path: 'long.txt', last_retained_line: 480, omitted_line_count: 520 },
    ]);
    assert.deepEqual(
      request.chunks.map(({ text_hash }) => text_hash),
      texts.map(textHash),
    );
    assert.deepEqual(
      sources.map(({ path }) => path),
      ['long.txt'],
    );
    assert.deepEqual(readRunRequest(request as unknown as JsonObject), request);
  });

  test('of which much is left out names it as one stretch', async () => {
    const { request } = await prepared(file('longer.txt', lines(10_000)), { options: { chunk_lines: 10 } });
    assert.deepEqual(request.omitted, [{ chunk_id: 'longer.txt:61-10000', reason: 'max_chunks' }]);
  });

  test('that is a folder is read in the order of its paths; what cannot be read is named', async () => {
    file('tree/b/two.md', '# Two\n');
    file('tree/a.txt', 'one\n');
    file('tree/b/binary.bin', new Uint8Array([1, 0, 2]));
    file('tree/b/empty.txt', '');
    file('tree/.git/config', 'no\n');
    file('tree/z.txt', 'last\nlast\n');
    symlinkSync(folder, join(folder, 'tree', 'loop'));
    const { request, sources } = await prepared('tree', { options: { max_chunks: 2 } });
    assert.deepEqual(
      request.chunks.map(({ chunk_id }) => chunk_id),
      ['tree/a.txt:1-1', 'tree/b/two.md:1-1'],
    );
    assert.deepEqual(request.omitted, [{ chunk_id: 'tree/z.txt:1-2', reason: 'max_chunks' }]);
    assert.deepEqual(request.skipped, [
      { path: 'tree/loop', reason: 'not_a_file' },
      { path: 'tree/b/binary.bin', reason: 'binary' },
      { path: 'tree/b/empty.txt', reason: 'empty' },
    ]);
    assert.deepEqual(
      sources.map(({ path }) => path),
      ['tree/a.txt', 'tree/b/two.md'],
    );
  });

  test('that is a folder leaves out what holds secrets, and names it; a file that is named is the word of the person', async () => {
    file('kept/a.txt', 'one\n');
    file('kept/.env', 'KEY=1\n');
    const isSecret = (path: string) => path.endsWith('.env');
    const { request } = await prepared('kept', { ground: { isSecret } });
    assert.deepEqual(
      request.chunks.map(({ chunk_id }) => chunk_id),
      ['kept/a.txt:1-1'],
    );
    assert.deepEqual(request.skipped, [{ path: 'kept/.env', reason: 'secret' }]);
    const named = await prepared('kept/.env', { ground: { isSecret } });
    assert.equal(named.request.chunks.length, 1);
  });

  test('outside of the folder, or with its whole path, is named by its own name', async () => {
    const { request, root } = await prepared(join(folder, file('deep/in/x.txt', 'x\n')), {
      ground: { cwd: join(folder, 'tree') },
    });
    assert.equal(request.chunks[0]?.chunk_id, 'x.txt:1-1');
    assert.equal(root, join(folder, 'deep/in'));
  });

  test('that is a text is one chunk', async () => {
    const { request, texts } = await prepared('The report is due on 3 May. The talk is on 4 May.');
    assert.deepEqual(
      request.chunks.map(({ chunk_id, source_path }) => [chunk_id, source_path]),
      [['prompt:target', null]],
    );
    assert.equal(request.target_kind, 'prompt');
    assert.deepEqual(texts, ['The report is due on 3 May. The talk is on 4 May.']);
  });

  test('with bytes that are no UTF-8 is read, and the chunk says so', async () => {
    const { request, texts } = await prepared(file('latin.txt', Buffer.from('caf\xe9 due 3 May\n', 'latin1')));
    assert.equal(request.chunks[0]?.lossy, true);
    assert.match(texts[0] ?? '', /\ufffd/);
  });

  verifies.slow(
    'rlm:chunk:named-drop',
    'of one line of 50 MB, or of 10^7 lines, is planned in bounded chunks',
    async () => {
      const line = await prepared(file('line.txt', Buffer.alloc(50_000_000, 'a')));
      assert.equal(line.request.chunks.length, 6);
      assert.ok(line.texts.every((text) => text.length <= 16_384));
      assert.equal(line.request.omitted.length, 1);
      const many = await prepared(file('many.txt', Buffer.alloc(20_000_000, 'a\n')));
      assert.deepEqual(many.request.omitted, [{ chunk_id: 'many.txt:481-10000000', reason: 'max_chunks' }]);
      rmSync(join(folder, 'line.txt'));
      rmSync(join(folder, 'many.txt'));
    },
  );

  for (const [name, target, reason] of [
    ['is missing and looks like a path', 'nowhere/there.txt', 'target-missing'],
    ['is one word and no file', 'srcc', 'target-missing'],
    ['is blank', '  ', 'target-blank'],
    ['is an empty file', () => file('none.txt', ''), 'target-empty'],
    ['is binary', () => file('image.png', new Uint8Array([137, 80, 0, 0])), 'target-binary'],
    ['is UTF-16', () => file('wide.txt', Buffer.from('\ufeffwide', 'utf16le')), 'target-binary'],
    ['is a folder without a text', () => join(file('bare/x.bin', new Uint8Array([0])), '..'), 'target-empty'],
    ['is a device', '/dev/zero', 'target-unreadable'],
    ['is a very long text', `${'word '.repeat(60_000)}`, 'target-too-large'],
    ['has a NUL', 'one\0two three', 'target-binary'],
  ] as const) {
    test(`that ${name} is refused as ${reason}`, async () => {
      const refused = await refusal(typeof target === 'string' ? target : target());
      assert.equal(refused.reason, reason);
      assert.ok(refused.detail.length > 20);
    });
  }
});

describe('the options', () => {
  for (const options of [
    { max_depth: 6 },
    { max_depth: -1 },
    { max_depth: 1.5 },
    { ambiguity_threshold: 0.3 },
    { max_chunks: 0 },
    { max_chunks: Number.NaN },
    { chunk_lines: 0 },
    { chunk_lines: 5, overlap: 5 },
    { max_iterations: 0 },
    { concurrency: 0 },
    { budget: { max_calls: 0 } },
    { budget: { max_ms: -1 } },
  ] satisfies readonly RunOptions[]) {
    test(`${JSON.stringify(options)} are refused before anything is read`, async () => {
      const { reason, detail } = await refusal('nowhere/there.txt', { options });
      assert.equal(reason, 'run-option-invalid');
      assert.match(detail, /--/);
    });
  }

  test('grant as many iterations as hundreds of chunks need', async () => {
    const options = { max_chunks: 500, chunk_lines: 2 };
    const { request } = await prepared(file('hundreds.txt', lines(1_000)), { options });
    assert.equal(request.chunks.length, 500);
    assert.ok(request.limits.max_iterations > 1_000);
  });

  test('size chunks by the window', async () => {
    const target = file('wide-lines.txt', `${'word '.repeat(100)}\n`.repeat(400));
    for (const window_tokens of [4_096, 8_192, 200_000]) {
      const { request, texts } = await prepared(target, { options: { window_tokens, chunk_lines: 400 } });
      const tokens = Math.max(...texts.map((text) => text.length / 3)) + request.max_output_tokens + 1_000;
      assert.ok(tokens < window_tokens, `${tokens}`);
    }
  });
});

describe('an ambiguous request', () => {
  const vague = { question: 'fix it' };

  test('is not passed, with the question to ask', async () => {
    const { request, terms } = await prepared(file('some.txt', 'x\n'), vague);
    assert.equal(request.ambiguity.passed, false);
    assert.ok((request.ambiguity.question ?? '').length > 10);
    assert.ok(terms.some(({ fault }) => fault > 0));
  });

  verifies(
    'rlm:ambiguity:gate',
    'is asked back at most twice while a person is there, and goes on overridden with the reason in the record',
    async () => {
      const asked: string[] = [];
      const ask = async (question: string) => {
        asked.push(question);
        return asked.length === 1 ? '' : 'List every deadline in the file with its date.';
      };
      const { request } = await prepared('some.txt', { ...vague, ground: { ask } });
      assert.equal(asked.length, 2);
      assert.equal(request.question, 'fix it. List every deadline in the file with its date.');
      const never: string[] = [];
      await prepared('some.txt', { ...vague, ground: { ask: async (question) => `${never.push(question)}`.slice(1) } });
      assert.equal(never.length, 2);
      const forced = await prepared('some.txt', { ...vague, options: { force: 'the owner knows' } });
      assert.deepEqual([forced.request.ambiguity.passed, forced.request.ambiguity.override], [true, 'the owner knows']);
    },
  );

  test('may be found by a model that is asked: its rating is kept, stops and never opens', async () => {
    for (const rating of [0, 1, null]) {
      const rate = async () => (rating === null ? null : { rating, question: 'Which of the two?' });
      const { ambiguity } = (await prepared('some.txt', { ground: { rate } })).request;
      assert.deepEqual([ambiguity.passed, ambiguity.model_rating], [rating !== 1, rating]);
      assert.equal(ambiguity.question, rating === 1 ? 'Which of the two?' : null);
      const unclear = await prepared('some.txt', { ...vague, ground: { rate } });
      assert.equal(unclear.request.ambiguity.passed, false);
      const forced = await prepared('some.txt', { ground: { rate }, options: { force: 'the owner knows' } });
      assert.deepEqual([forced.request.ambiguity.passed, forced.request.ambiguity.model_rating], [true, rating]);
    }
  });

  test('is never the question that stands for none', async () => {
    for (const target of ['some.txt', 'tree', 'The report is due on 3 May.']) {
      const { request } = await prepared(target, { question: null });
      assert.equal(request.ambiguity.passed, true, request.question);
    }
  });
});

describe('memory of a prepared run', () => {
  test('is looked up only when the mode reads, and orders the families of the synthesis', async () => {
    const record = (kind: string, family_id: string, recommendation: string) =>
      `${JSON.stringify({ kind, task: 'synthesize_parent_answer_from_child_evidence', recommendation, family_id, outcome: 'x' })}\n`;
    file(
      'memory.jsonl',
      record('repair_strategy_failed', 'one', 'route_synthesis_to_schema_stable_provider') +
        record('provider_schema_stability', 'two', 'preserve_child_fact_identity') +
        'poison\n',
    );
    const families = ['one', 'two'];
    for (const memory_mode of ['off', 'write'] as const) {
      const { request } = await prepared('some.txt', { options: { families, memory_mode } });
      assert.deepEqual([request.memory.priors, request.families.synthesis], [[], families]);
    }
    const { request } = await prepared('some.txt', { options: { families, memory_mode: 'read' } });
    assert.deepEqual(request.families, { children: ['one', 'two'], synthesis: ['two', 'one'] });
    assert.equal(request.memory.priors.length, 1);
  });
});
