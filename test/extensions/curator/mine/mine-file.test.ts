import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LONGEST_LINE, mineFile, readLines } from '#extensions/curator/mine/mine-file.ts';
import { createTempHome } from '#testing/temp-home.ts';

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

  test('a line that is too long or is no UTF-8 is named', async (t) => {
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
