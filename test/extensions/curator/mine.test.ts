import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  candidateId,
  candidatesMarkdown,
  classifyCandidate,
  createCandidate,
  innerText,
  LONGEST_LINE,
  mineFile,
  readLines,
  refuseUnsafe,
} from '#extensions/curator/mine.ts';
import type { JsonValue } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { ends } from '../../ends.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';

const CASES: readonly (readonly [line: JsonValue, type: string, title: string, confidence: number])[] = [
  [{ text: '  1|a\n  2|b' }, 'ignore', 'line-numbered source dump', 0.2],
  [
    { text: '  1|a failed\n  2|b', is_error: true, tool_name: 't' },
    'replay_benchmark',
    'replay benchmark for t failure',
    0.75,
  ],
  [{ text: 'x', skill_md_size: 90_000, target_skill: 's' }, 'skill_update', 'near-cap SKILL.md for s', 0.7],
  [{ text: 'SKILL.md now has 95000 bytes' }, 'skill_update', 'near-cap SKILL.md for unknown skill', 0.7],
  [{ text: 'SKILL.md now has 89999 bytes' }, 'ignore', 'unclassified evidence', 0.1],
  [{ text: 'the file is near cap' }, 'skill_update', 'near-cap SKILL.md for unknown skill', 0.7],
  [
    { text: 'curator-evolver should auto-apply to agent-created skills' },
    'memory',
    'curator-evolver safety preference',
    0.9,
  ],
  [{ text: 'durable memory 不存 task progress' }, 'memory', 'curator-evolver safety preference', 0.9],
  [{ text: 'The curator must never change official skills' }, 'memory', 'curator-evolver safety preference', 0.9],
  [{ text: 'The curator reports scores' }, 'ignore', 'unclassified evidence', 0.1],
  [
    { text: '{"exit_code": 2, "output": "x"}', tool_name: 'terminal' },
    'replay_benchmark',
    'replay benchmark for terminal failure',
    0.75,
  ],
  [{ text: '{"exit_code": 0, "output": "fine"}' }, 'ignore', 'unclassified evidence', 0.1],
  [
    { text: 'would exceed the capacity', tool_name: 'skill_manage' },
    'replay_benchmark',
    'replay benchmark for skill_manage failure',
    0.75,
  ],
  [{ text: 'command not found' }, 'replay_benchmark', 'replay benchmark for tool failure', 0.75],
  [{ text: 'the unfailed run' }, 'ignore', 'unclassified evidence', 0.1],
  [{ text: '1. build it\n2. ship it' }, 'skill_new', 'new workflow skill candidate', 0.65],
  [{ text: '1. build it\n2. ship it', target_skill: 's' }, 'skill_update', 'workflow update for s', 0.65],
  [{ text: 'First run `make`, then look' }, 'skill_new', 'new workflow skill candidate', 0.65],
  [{ text: 'use `a` and `b`' }, 'skill_new', 'new workflow skill candidate', 0.65],
  [{ text: '先跑測試，再重啟服務' }, 'skill_new', 'new workflow skill candidate', 0.65],
  [{ text: 'First things first' }, 'ignore', 'unclassified evidence', 0.1],
  [{ text: '' }, 'ignore', 'ephemeral progress note', 0.2],
  [{ text: '#123' }, 'ignore', 'ephemeral progress note', 0.2],
  [{ text: 'deadbeef' }, 'ignore', 'ephemeral progress note', 0.2],
  [{ text: 'PR #12 merged' }, 'ignore', 'ephemeral progress note', 0.2],
  [{ text: 'hello' }, 'ignore', 'unclassified evidence', 0.1],
];

describe('mined candidates', () => {
  verifies('curator:mine:classes', 'the first rule that fits decides', () => {
    for (const [line, type, title, confidence] of CASES) {
      const found = classifyCandidate(line, { compat: 'upstream' });
      assert.deepEqual(
        [found.candidate_type, found.title, found.confidence],
        [type, title, confidence],
        JSON.stringify(line),
      );
    }
  });

  test('metadata says why', () => {
    const metadata = (line: JsonValue) => classifyCandidate(line).metadata;
    assert.deepEqual(metadata({ text: 'SKILL.md is 99000 bytes' }), {
      direct_append_allowed: false,
      reason: 'skill_md_near_cap',
      observed_size_bytes: 99_000,
    });
    assert.deepEqual(metadata({ text: 'failed', tool_name: 't' }), { tool_name: 't', is_error: true });
    assert.deepEqual(metadata({ text: 'hello' }), { category: 'low_confidence' });
  });

  verifies('curator:compat:upstream', 'exit code 0 is a failure for the original only', () => {
    const line = { text: 'done with exit code 0' };
    assert.equal(classifyCandidate(line).candidate_type, 'ignore');
    assert.equal(classifyCandidate(line, { compat: 'upstream' }).candidate_type, 'replay_benchmark');
    assert.equal(classifyCandidate({ text: 'exit code 3' }).candidate_type, 'replay_benchmark');
  });

  slow('any value is classified, and long ones in time that grows with them', () => {
    const deep = (open: string, close: string) => `${open.repeat(300_000)}1${close.repeat(300_000)}`;
    const nested = JSON.parse(deep('[', ']')) as JsonValue;
    const odd: readonly JsonValue[] = [
      null,
      5,
      true,
      [],
      {},
      '\ud800',
      '\0',
      deep('[', ']'),
      deep('{"text":', '}'),
      nested,
    ];
    for (const value of odd) {
      for (const line of [
        value,
        { text: value },
        { text: 'x', evidence_refs: value, target_skill: value, skill_md_size: value },
      ])
        assert.match(classifyCandidate(line).id, /^[0-9a-f]{32}$/);
    }
    const shapes = [
      'SKILL.md 1',
      '`',
      '1. ',
      'exit code   = ',
      ' 1',
      'step  ',
      'curator never change ',
      '先',
      '\n',
      '[',
      '#1 ',
      'a',
    ];
    for (const shape of shapes)
      ends(shape, () => classifyCandidate({ text: shape.repeat(1_000_000 / shape.length) }, { compat: 'upstream' }));
  });

  test('the original counts a reference as often as it is given', () => {
    const line = { text: 'hello', evidence_refs: ['a', 'a'] };
    assert.deepEqual(classifyCandidate(line).evidence_refs, ['a']);
    assert.equal(
      classifyCandidate(line, { compat: 'upstream' }).id,
      candidateId('ignore', 'unclassified evidence', ['a', 'a']),
    );
  });

  test('the words of JSON are taken out, in the order of the keys', () => {
    assert.equal(innerText('{"output": "o", "summary": "s", "other": "x"}'), 's\no');
    assert.equal(innerText('{"results": [{"text": "a"}, {"content": {"error": "b"}}]}'), 'a\nb');
    assert.equal(innerText('[{"text": " "}]'), '[{"text": " "}]');
    for (const text of ['{broken', 'plain', '{"a": 1}']) assert.equal(innerText(text), text);
  });

  test('a rationale is one line of at most 140 characters', () => {
    const found = classifyCandidate({ text: `a\nb${'😀'.repeat(200)}` });
    assert.equal([...found.rationale].length, 140);
    assert.match(found.rationale, /^a b😀+…$/u);
    assert.equal(classifyCandidate('a bare text').rationale, 'a bare text');
    assert.equal(classifyCandidate('{"text": "hi", "evidence_ref": "r1"}').evidence_refs[0], 'r1');
  });

  verifies('curator:mine:never-auto', 'a candidate needs a person, whatever its maker says', () => {
    const draft = {
      candidate_type: 'memory',
      title: 't',
      rationale: '',
      confidence: 1,
      evidence_refs: [],
      target_skill: null,
      metadata: {},
    } as const;
    const made = createCandidate(draft);
    assert.deepEqual([made.auto_apply_allowed, made.requires_human_review], [false, true]);
    assert.throws(() => createCandidate({ ...draft, auto_apply_allowed: true }), { code: 'unsafe-candidate' });
    assert.throws(() => createCandidate({ ...draft, requires_human_review: false }), { code: 'unsafe-candidate' });
    assert.throws(() => createCandidate({ ...draft, confidence: 1.1 }), { code: 'invalid-candidate' });
    assert.throws(() => refuseUnsafe({ confidence: 1, auto_apply_allowed: true }), { code: 'unsafe-candidate' });
    for (const [line] of CASES) assert.equal(classifyCandidate(line).auto_apply_allowed, false);
  });

  verifies('curator:mine:stable-id', 'the id rests on type, title and sorted references', () => {
    const one = classifyCandidate({ text: 'hello', evidence_refs: ['b', 'a'] });
    const two = classifyCandidate({ text: 'good day', evidence_refs: ['a', 'b'], evidence_ref: 'a' });
    assert.equal(one.id, two.id);
    assert.equal(one.id, candidateId('ignore', 'unclassified evidence', ['a', 'b']));
    assert.match(one.id, /^[0-9a-f]{32}$/);
    assert.notEqual(one.id, classifyCandidate({ text: 'hello' }).id);
    assert.deepEqual(one.evidence_refs, ['b', 'a']);
  });

  test('Markdown shows each candidate on harmless lines', () => {
    const item = { ...classifyCandidate({ text: 'hello\n# not a heading -->' }), status: 'pending' };
    const text = candidatesMarkdown('Candidates', { Candidates: 1 }, [item]);
    assert.match(text, /^# Candidates\n\nReview only/);
    assert.match(text, /- Status: pending\n/);
    assert.equal(text.match(/^#/gm)?.length, 2);
  });
});

const signal = new AbortController().signal;

async function linesOf(path: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const { number, text } of readLines(path, signal)) {
    lines.push(text);
    assert.equal(number, lines.length);
  }
  return lines;
}

describe('reading lines', () => {
  test('gives what splitting the whole text gives, wherever the chunks end', async (t) => {
    const home = createTempHome(t);
    const piece = fc.constantFrom('', 'a', '😀', '\n', '\n\n', '\r\n', 'é'.repeat(70_000), 'x'.repeat(65_535));
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const text = pieces.join('');
        const whole = text.split('\n');
        if (whole.at(-1) === '') whole.pop();
        assert.deepEqual(await linesOf(home.write('t', text)), whole);
      }),
      { numRuns: 30 },
    );
  });

  slow('a line that is too long or is no UTF-8 is named', async (t) => {
    const home = createTempHome(t);
    const longest = 'x'.repeat(LONGEST_LINE);
    assert.equal((await linesOf(home.write('ok', `${longest}\nb`))).length, 2);
    for (const tail of ['', '\n', '\nb'])
      await assert.rejects(linesOf(home.write('long', `a\n${longest}x${tail}`)), {
        code: 'line-too-long',
        message: /long:2: /,
      });
    const bad = home.write('bad', '');
    writeFileSync(bad, Buffer.from([0x61, 0x0a, 0xff, 0x0a]));
    await assert.rejects(linesOf(bad), { code: 'line-not-utf-8', message: /bad:2: / });
  });
});

describe('mining a file', () => {
  test('counts lines, passes blanks over, keeps the order and each candidate once', async (t) => {
    const home = createTempHome(t);
    const line = (text: string, ref: string) => JSON.stringify({ text, evidence_ref: ref });
    const path = home.write(
      'e.jsonl',
      `\ufeff${line('it failed', 'b')}\r\n\n  \n${line('hi', 'a')}\n${line('it failed', 'b')}`,
    );
    const { count, candidates } = await mineFile(path, signal);
    assert.deepEqual(
      [count, candidates.map(({ candidate_type, evidence_refs }) => [candidate_type, ...evidence_refs])],
      [
        3,
        [
          ['replay_benchmark', 'b'],
          ['ignore', 'a'],
        ],
      ],
    );
    assert.deepEqual(await mineFile(home.write('empty', ''), signal), { count: 0, candidates: [] });
  });

  test('what is no object ends it with file and line', async (t) => {
    const home = createTempHome(t);
    for (const bad of ['{bad', '5', '["text"]', '"text"', '{"text": "x"} {}'])
      await assert.rejects(mineFile(home.write('e.jsonl', `{"text":"a"}\n\n${bad}\n`), signal), {
        code: 'invalid-json',
        message: /e\.jsonl:3: /,
      });
    await assert.rejects(mineFile(`${home.path}/none`, signal), { code: 'ENOENT' });
    await assert.rejects(mineFile(home.write('e', 'x'), AbortSignal.abort()), { name: 'AbortError' });
  });

  test('no part of a secret is kept, also when it lies across the cut', async (t) => {
    const key = `sk-proj-${'a8F3kd92Jf0sKq1Lm4Np7Rt5Vx8Zb2C'}`;
    const lines = [
      { text: `${'x'.repeat(125)} ${key}`, evidence_ref: `call ${key}` },
      { text: JSON.stringify({ output: `failed: ${key}` }), tool_name: key, target_skill: key },
    ];
    const path = createTempHome(t).write('e.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
    const mined = JSON.stringify(await mineFile(path, signal));
    assert.ok(!/sk-proj|8F3kd/.test(mined), mined);
    assert.match(mined, /redacted/);
  });
});
