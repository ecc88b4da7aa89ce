/** A context of 100 MB is worked through in bounded memory; one line of 50 MB and ten million lines too. */

import assert from 'node:assert/strict';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, describe, test } from 'node:test';
import { createFileSource } from '#extensions/rlm/repl/file-source.ts';
import { withGround } from '../../extensions/rlm/repl/session/session-ground.ts';
import { realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';

const MB = 1024 * 1024;
const root = mkdtempSync(join(tmpdir(), 'talaria repl memory '));

describe('a context that is long', () => {
  after(() => rmSync(root, { recursive: true, force: true }));

  verifies('rlm:run:bounded-memory', '100 MB are searched, mapped and cited within 256 MB', async () => {
    const path = join(root, 'long.txt');
    await pipeline(Readable.from(lines(100 * MB)), createWriteStream(path));
    const meter = await memoryMeter();
    const made = await createFileSource(path, { root });
    assert.ok(made.ok);
    const { source } = made.value;
    await withGround(source, { limits: { block_ms: 120_000, sub_calls: 5_000 } }, async ({ prints, run }) => {
      assert.equal(
        await prints('print(context.search("NEEDLE 77").length, context.search(/NEEDLE \\d+ lies/).length)'),
        '1 100',
      );
      const chunks =
        'const chunks = [...context.chunks({ bytes: 1000000 })]; const replies = await llmQueryBatched(chunks.map((piece) => ({ question: "n", piece: context.slice(piece.start, piece.start + 20000) }))); print(replies.length, chunks.at(-1).end === context.length)';
      assert.match(await prints(chunks), /^10\d true$/);
      assert.equal(
        await prints(
          'let count = 0; for (let n = 1; n <= context.lineCount; n += 997) count += context.line(n).length > 0 ? 1 : 0; print(count > 1000)',
        ),
        'true',
      );
      const { answer } = await run(
        'const h = compute((c) => c.search(/NEEDLE/, { max: 1000 }).length, context); finish(`There are 100 ${h}.`)',
      );
      assert.deepEqual(answer, [{ text: 'There are 100.', handles: ['h1'] }]);
    });
    const grown = meter.end();
    assert.ok(grown <= 256 * MB, `${(grown / MB).toFixed(0)} MB above the start`);
    source.close();
  });

  test('one line of 50 MB', async () => {
    const path = join(root, 'line.txt');
    const piece = `${'words in one line '.repeat(3_000)}`;
    await pipeline(Readable.from(repeated(piece, 50 * MB, 'NEEDLE at the end')), createWriteStream(path));
    const made = await createFileSource(path, { root });
    assert.ok(made.ok);
    assert.equal(made.value.source.line_count, 1);
    await withGround(made.value.source, { limits: { block_ms: 60_000 } }, async ({ prints, run }) => {
      const found = await prints(
        'const [hit] = context.search(/NEEDLE.*/); print(hit.line, hit.match, hit.text.length <= 2000, span(hit).text.includes("NEEDLE"))',
      );
      assert.equal(found, '1 NEEDLE at the end true true');
      assert.match((await run('context.line(1)')).failure?.detail ?? '', /RangeError/);
      assert.equal(
        await prints(
          'print([...context.chunks({ lines: 10 })].length, [...context.chunks({ bytes: 1000000 })].length > 50)',
        ),
        '1 true',
      );
    });
    made.value.source.close();
  });

  test('ten million lines', async () => {
    const path = join(root, 'lines.txt');
    await pipeline(Readable.from(repeated('a\n'.repeat(50_000), 20_000_000, '')), createWriteStream(path));
    const made = await createFileSource(path, { root });
    assert.ok(made.ok);
    assert.equal(made.value.source.line_count, 10_000_000);
    await withGround(made.value.source, {}, async ({ prints }) => {
      assert.equal(
        await prints('print(context.line(9999999), context.lineRange(5000000, 5000001).start)'),
        'a 9999998',
      );
    });
    made.value.source.close();
  });
});

function* lines(bytes: number): Generator<string> {
  let block = '';
  for (let made = 0, at = 0; made < bytes; at += 1) {
    const mark = at % 13_000 === 0 && at / 13_000 < 100 ? ` NEEDLE ${at / 13_000} lies here.` : '';
    const line = `${at} The harbour master of bay ${at % 977} counts ${(at * 31) % 10_007} crates of grain.${mark}\n`;
    block += line;
    made += line.length;
    if (block.length < MB) continue;
    yield block;
    block = '';
  }
  yield block;
}

function* repeated(piece: string, bytes: number, end: string): Generator<string> {
  for (let made = 0; made < bytes; made += piece.length) yield piece;
  yield end;
}

/** The highest resident memory above that at its begin. */
async function memoryMeter(): Promise<{ readonly end: () => number }> {
  await realClock.sleep(50);
  const start = process.memoryUsage.rss();
  let most = start;
  let isOver = false;
  const look = () => {
    most = Math.max(most, process.memoryUsage.rss());
    if (!isOver) realClock.after(20, look);
  };
  look();
  return {
    end: () => {
      isOver = true;
      return Math.max(most, process.memoryUsage.rss()) - start;
    },
  };
}
