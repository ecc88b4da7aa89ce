import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shownBlock, shownLine } from '#extensions/hive/commands/with-peers.ts';
import { verifies } from '../../../verifies.ts';

const HOSTILE = [
  '\u001b[2J\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\',
  '\u202egnp.exe\u202c \u2066x\u2069 \u200fy\u200e \u061c',
  'a\u0000b\u0008c\u007fd\u009be',
  'one\rtwo\u2028three\u2029four\u0085five',
  '\u{e0041}\u{e0042}hidden\u200b \u2060 \ufeff',
  '\ud800 alone',
].join('\n');

/** But the line end. */
const HARMFUL = /[^\P{Cc}\n]|\p{Cf}|[\u2028\u2029]/u;

describe('words of others at a terminal', () => {
  verifies(
    ['R4.73'],
    'no escape, control, direction mark or hidden character is left, and nothing passes for our line',
    () => {
      const line = shownLine(HOSTILE, 1_000);
      assert.doesNotMatch(line, HARMFUL);
      assert.ok(!line.includes('\n'));
      assert.match(line, /red.*link.*gnp\.exe.*abcde.*one two three four five.*hidden/);
      const block = shownBlock(HOSTILE);
      assert.doesNotMatch(block, HARMFUL);
      for (const each of block.split('\n')) assert.match(each, /^ {2}\|/);
      assert.ok(block.isWellFormed() && line.isWellFormed());
    },
  );

  test('lengths are bounded, empty stays empty', () => {
    assert.match(shownLine('x'.repeat(500)), /^x{299,300}…$/);
    assert.equal(shownBlock('x\n'.repeat(5_000)).split('\n').length, 201);
    assert.equal(shownBlock(' \n\u200b'), '');
    assert.equal(shownBlock('a\n\n\n\nb'), '  | a\n  |\n  | b');
  });
});
