// The second look at a line: layers come off, clauses stand by themselves, and what speaks against acting is seen.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { english } from '#core/reflex/english/english.ts';
import { peelLine } from '#core/reflex/reading/peel-line.ts';
import { readings } from '#core/reflex/reading/readings.ts';
import { ends } from '../../ends.ts';
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

  test('a reason, a story or a time before a request is no condition of it', async () => {
    const calls = async (line: string) => (await new ReflexConversation().say(line)).calls;
    const run = (command: string) => [{ name: 'terminal', arguments: { command } }];
    assert.deepEqual(await calls('I forgot what I changed, so could you run git diff'), run('git diff'));
    assert.deepEqual(await calls('Nobody told me anything. Please run npm ls, the demo is tomorrow'), run('npm ls'));
    assert.deepEqual(await calls('before I push, run npm test so I can sleep'), run('npm test'));
    assert.deepEqual(await calls('my train leaves soon and I cannot find pass.pdf, can you find it'), [
      { name: 'search_files', arguments: { pattern: 'pass.pdf', target: 'files' } },
    ]);
    assert.deepEqual(await calls('the trace points to lines 4 to 9 of a.py, show them'), [
      { name: 'read_file', arguments: { path: 'a.py', offset: 4, limit: 6 } },
    ]);
    for (const line of [
      'unless it rains, run git push',
      'he was like, run git push',
      'tomorrow, run git push',
      'explain it first, then run git push',
      'run git push, he said',
      'never mind the tests. Do not run git push',
    ])
      assert.deepEqual(await calls(line), [], line);
  });

  test('no part of a command is cut off, and two commands ask', async () => {
    const calls = async (line: string) => (await new ReflexConversation().say(line)).calls;
    assert.deepEqual(await calls('I am curious about it, so git log --stat please'), [
      { name: 'terminal', arguments: { command: 'git log --stat' } },
    ]);
    const asked = await new ReflexConversation().say('I do not want these changes, run git checkout -- .');
    assert.match(asked.text, /git checkout -- \./);
    assert.deepEqual(asked.calls, []);
    assert.deepEqual(await calls('run npm install, and then run npm publish'), []);
    assert.deepEqual(await calls('run git add . and then run git commit -m "x"'), []);
  });

  test('a long line with many clauses comes to an end', async () => {
    const line = 'the first file a.ts, my notes in b.ts, so it was - well, '.repeat(5).slice(0, 300);
    await ends(line, () => new ReflexConversation().say(`${line} find it`));
    assert.ok(readings(`${line} find it`, english).length < 100);
  });

  test('a line of four thousand characters runs nothing and comes to an end', async () => {
    for (const part of [
      'run it, read that, ',
      'the ',
      'open src/a.ts and b.md ',
      'no. it is so. ',
      'what did we say, ',
    ]) {
      const line = part.repeat(4000).slice(0, 3999);
      assert.deepEqual(readings(line, english), []);
      assert.deepEqual((await ends(part, () => new ReflexConversation().say(line))).calls, [], part);
    }
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
