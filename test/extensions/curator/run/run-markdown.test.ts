/** What a person reads of a run: why a write failed, what is not as it should be, what closed the gate, in bounded length. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { planMarkdown } from '#extensions/curator/plan/plan-markdown.ts';
import { entryOf, openBench, WRITE } from './run-bench.ts';

describe('the Markdown of a run', () => {
  test('a failed verification shows its stage and the end of its output, on one bounded line', async (t) => {
    const bench = await openBench(t);
    await bench.skill('deploy');
    bench.used('deploy');
    const verifyCommand = `head -c 5000 /dev/zero | tr '\\0' x; echo; printf 'one\\n<!-- two\\nthree is missing\\n'; exit 7`;
    const run = await bench.run({ ...WRITE, verifyCommand });
    assert.equal(entryOf(run, 'deploy').apply_result?.reason, 'verify-failed');
    const below = planMarkdown(run)
      .split('\n')
      .filter((line) => line.startsWith('  - '));
    assert.equal(below.length, 1, planMarkdown(run));
    assert.match(
      below[0] ?? '',
      /^ {2}- verify-command failed with exit code 7: .*one \| <! .*two \| three is missing$/,
    );
    assert.ok((below[0] ?? '').length < 380, below[0]);
    const long = { ...WRITE, verifyCommand: `head -c 5000 /dev/zero | tr '\\0' x; exit 1` };
    const line =
      planMarkdown(await bench.run(long))
        .split('\n')
        .find((text) => text.startsWith('  - ')) ?? '';
    assert.match(line, /failed with exit code 1: …x{299}$/);
  });

  test('warnings of a write that stands are shown', async (t) => {
    const bench = await openBench(t);
    await bench.skill('deploy');
    bench.used('deploy');
    const backupDir = bench.stage.temp.write('work/no-folder', 'a file');
    const run = await bench.run({ ...WRITE, backupDir });
    assert.equal(entryOf(run, 'deploy').status, 'applied');
    assert.match(planMarkdown(run), /- `deploy`: applied .*\n {2}- warning: the backup was not copied: /);
  });

  for (const list of ['.bundled_manifest', '.hub/lock.json'])
    test(`an unreadable ${list} is named, in the text and as a note`, async (t) => {
      const bench = await openBench(t);
      await bench.skill('deploy');
      bench.used('deploy');
      assert.equal((await bench.run()).notes, undefined);
      const path = bench.stage.temp.write(`home/skills/${list}`, '');
      writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]));
      for (const flags of [{}, WRITE]) {
        const run = await bench.run(flags);
        assert.equal(entryOf(run, 'deploy').source_writable, false);
        assert.equal(run.notes?.length, 1);
        assert.ok(run.notes?.[0]?.startsWith(`${path} cannot be read`), run.notes?.[0]);
        assert.match(planMarkdown(run), /- Note: \S+ cannot be read, .*source-not-agent-created/);
      }
    });

  test('skills without a file are ten lines and a count; the JSON has them up to a bound', async (t) => {
    const bench = await openBench(t);
    for (let at = 0; at < 510; at += 1) bench.used(`gone-${at}`, 2);
    const run = await bench.run({ maxSkills: 25 });
    assert.equal(run.summary.skipped, 510);
    assert.equal(run.candidates.length, 500);
    assert.match(run.notes?.[0] ?? '', /10 more skills without a SKILL\.md/);
    const lines = planMarkdown(run)
      .split('\n')
      .filter((line) => line.startsWith('- `gone-'));
    assert.equal(lines.length, 10);
    assert.match(planMarkdown(run), /- and 490 more: skipped \(reason skill-file-not-found\)\n$/);
  });

  test('a damaged evidence file is a note of the run', async (t) => {
    const bench = await openBench(t);
    const path = bench.ground.places.evidenceDatabase;
    bench.used('deploy');
    bench.mind.evidence().exec('PRAGMA wal_checkpoint(TRUNCATE)');
    bench.mind.evidence().exec('PRAGMA shrink_memory');
    writeFileSync(path, readFileSync(path).fill(0x5a, 4096 * 3));
    const run = await bench.run();
    assert.match(run.notes?.[0] ?? '', /was damaged and is kept as .*review queue/);
    assert.ok((run.notes?.[0] ?? '').includes(join(bench.ground.places.home, 'evidence.sqlite.corrupt-')));
  });
});
