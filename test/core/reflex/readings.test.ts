// The second look at a line: layers come off, clauses stand by themselves, and what speaks against acting is seen.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { english } from '#core/reflex/english/english.ts';
import { peelLine } from '#core/reflex/reading/peel-line.ts';
import { readings } from '#core/reflex/reading/readings.ts';
import { ReflexConversation } from './conversation.ts';

describe('readings of a line', () => {
  test('layers of manners come off at both ends', () => {
    for (const [line, rest] of [
      ['I would be ever so grateful if you could run uptime for me.', 'run uptime.'],
      ['hello friend, would you be so kind as to read notes.md, dear', 'read notes.md'],
      ['sorry to bother you, could you list src real quick pls thx', 'list src'],
    ] as const)
      assert.equal(peelLine(line, english.layers).replace(/\.$/, ''), rest.replace(/\.$/, ''));
  });

  test('quotations are never touched', () => {
    const quoted = '`echo please, for me`';
    assert.ok(peelLine(`please run ${quoted} for me`, english.layers).includes(quoted));
  });

  test('a clause that leads up to nothing but talk is guarded', () => {
    const guarded = (line: string, part: string) => readings(line, english).find(({ text }) => text === part)?.guarded;
    assert.equal(guarded('the tests look broken, run npm test', 'run npm test'), false);
    assert.equal(guarded('if the tests pass, run git push', 'run git push'), true);
    assert.equal(guarded('my boss told me: run git push', 'run git push'), true);
    assert.equal(guarded('do not laugh, run git push', 'run git push'), true);
  });

  test('any line gives readings and is never made longer', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (line) => {
        for (const { text } of readings(line, english)) assert.ok(text.length <= line.length + 2);
      }),
    );
  });

  test('words stand in any order, and what nobody explains asks', async () => {
    const calls = async (line: string) => (await new ReflexConversation().say(line)).calls;
    assert.deepEqual(await calls('which headings has the file handbook.md'), [
      { name: 'read_file', arguments: { path: 'handbook.md' } },
    ]);
    assert.deepEqual(await calls('give to me the lines 5 until 9 of file a.txt'), [
      { name: 'read_file', arguments: { path: 'a.txt', offset: 5, limit: 5 } },
    ]);
    assert.deepEqual(await calls('the command `ls -la` is handy'), []);
    assert.deepEqual(await calls('find memory leaks in server/main.rs'), []);
    assert.deepEqual(await calls('trash it: rm -r dist'), []);
  });
});
