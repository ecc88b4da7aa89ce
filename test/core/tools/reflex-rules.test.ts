// The rules over the tools of core: what a line calls, and how a result is quoted.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { approvalAsks, destroys, ownQuestion } from '#core/tools/reflex-commands.ts';
import { asPattern } from '#core/tools/reflex-rules.ts';
import { verifies } from '../../verifies.ts';
import { ReflexConversation } from '../reflex/conversation.ts';

async function calls(line: string, before: readonly string[] = []) {
  const talk = new ReflexConversation();
  for (const earlier of before) await talk.say(earlier);
  return (await talk.say(line)).calls;
}

describe('run', () => {
  verifies('core:reflex:acts', 'takes the command letter for letter', async () => {
    const lines: readonly (readonly [string, object])[] = [
      ['run npm test', { command: 'npm test' }],
      ['$ grep -c "a b" x.txt', { command: 'grep -c "a b" x.txt' }],
      ['run this: npm ci && npm test', { command: 'npm ci && npm test' }],
      ['run the tests', { command: 'npm test' }],
      ['could you build it please?', { command: 'npm run build' }],
      ['start the app', { command: 'npm start' }],
      ['run lint', { command: 'npm run lint' }],
      ['git status', { command: 'git status' }],
    ];
    for (const [line, wanted] of lines)
      assert.deepEqual(await calls(line), [{ name: 'terminal', arguments: wanted }], line);
    assert.deepEqual(await calls('run that again', ['run date']), [
      { name: 'terminal', arguments: { command: 'date' } },
    ]);
  });

  test('prose is no command', async () => {
    for (const line of [
      'run a marathon',
      'run me through it',
      'run out of milk',
      'make sure it works',
      'git is confusing',
      'go home',
      'time flies',
      'npm install takes ages',
      'git push failed',
    ]) {
      assert.deepEqual(await calls(line), [], line);
    }
  });

  test('knows what deletes or overwrites, also in disguise', () => {
    const risky = [
      'rm -r x',
      'sudo ls',
      'find . -delete',
      'echo a > b',
      'git push -f',
      'git reset --hard',
      'x; rm y',
      'dd if=a of=b',
      'ls | xargs rm',
      "r'm' -rf x",
      'DROP TABLE a',
      'mv a b',
      'sed -i s/a/b/ x',
      'curl x | sh',
      'kubectl delete pod a',
      'npm publish',
      'docker system prune',
      'git checkout -- .',
    ];
    for (const command of risky) assert.notEqual(destroys(command), undefined, command);
    for (const command of [
      'ls -la',
      'npm test',
      'git log',
      'echo a',
      'grep rm x',
      'cat a 2>&1',
      'ls 2>/dev/null',
      'git commit -m "x"',
      'npm install',
      'docker run --rm x ls',
    ]) {
      assert.equal(destroys(command), undefined, command);
    }
  });

  verifies('core:reflex:asks-before-writing', 'asks only where the approval would not', async () => {
    assert.ok(approvalAsks('rm -rf build') && approvalAsks('git push --force'));
    assert.equal(ownQuestion('rm -rf build'), undefined);
    for (const line of ['rm notes.txt', 'delete notes.txt', 'run git push', 'rm /srv/other/a.txt', 'rm *']) {
      const turn = await new ReflexConversation().say(line);
      const isAsked = turn.asked || turn.calls.every((call) => approvalAsks(String(call.arguments.command)));
      assert.ok(isAsked, line);
    }
  });

  test('quotes the output under command, exit and time', async () => {
    const talk = new ReflexConversation({ answer: () => 'two\nlines' });
    assert.equal((await talk.say('run date')).text, '$ date · exit 0 · 3 ms\n  two\n  lines');
  });
});

describe('list, read, find', () => {
  verifies('core:reflex:acts', 'lists folders and reads files by range', async () => {
    assert.deepEqual(await calls('list the files in src'), [
      { name: 'terminal', arguments: { command: 'ls -la src' } },
    ]);
    const reads: readonly (readonly [string, object])[] = [
      ['read README.md', { path: 'README.md' }],
      ['first 5 lines of a.txt', { path: 'a.txt', limit: 5 }],
      ['lines 10-20 of src/a.ts', { path: 'src/a.ts', offset: 10, limit: 11 }],
      ['show me line 7 of "my notes.txt"', { path: 'my notes.txt', offset: 7, limit: 1 }],
      ['read a.txt from line 40', { path: 'a.txt', offset: 40 }],
      ['show me the readme', { path: 'README.md' }],
      ['read notes', { path: 'notes.txt' }],
      ['show src/a.ts:10-12', { path: 'src/a.ts', offset: 10, limit: 3 }],
    ];
    for (const [line, wanted] of reads)
      assert.deepEqual(await calls(line), [{ name: 'read_file', arguments: wanted }], line);
    const again = await calls('show me lines 2 to 3 of it', ['read src/a.ts']);
    assert.deepEqual(again, [{ name: 'read_file', arguments: { path: 'src/a.ts', offset: 2, limit: 2 } }]);
  });

  verifies('core:reflex:acts', 'finds text and files', async () => {
    const searches: readonly (readonly [string, object])[] = [
      ['find TODO in src', { pattern: 'TODO', target: 'content', path: 'src' }],
      ['search for "a b" in the css files', { pattern: 'a b', target: 'content', file_glob: '*.css' }],
      ['which files mention redis', { pattern: 'redis', target: 'content' }],
      ['find foo( in src', { pattern: 'foo\\(', target: 'content', path: 'src' }],
      ['find all markdown files in docs', { pattern: '*.md', target: 'files', path: 'docs' }],
      ['where is package.json', { pattern: 'package.json', target: 'files' }],
      ['find files named config', { pattern: 'config', target: 'files' }],
      ['find all files ending in .log', { pattern: '*.log', target: 'files' }],
    ];
    for (const [line, wanted] of searches)
      assert.deepEqual(await calls(line), [{ name: 'search_files', arguments: wanted }], line);
    assert.equal(asPattern('a.b'), 'a.b');
    assert.equal(asPattern('a+b'), 'a\\+b');
    assert.equal(asPattern('^import .*x'), '^import .*x');
  });
});

describe('long files', () => {
  verifies(
    ['core:reflex:reads-long-files', 'core:reflex:answers-are-quotes'],
    'a window is quoted with its lines and says where the next begins; matching lines stand with path and number',
    async () => {
      const page = '# One\nin 2026-03-04\n[lines 1-2 of 4; go on with offset 3]';
      const read = await new ReflexConversation({ answer: () => page }).say('read book.md');
      assert.equal(read.text, 'More is left: read lines 3 to 5 of book.md\n\nbook.md:1-2\n  # One\n  in 2026-03-04');
      const found = new ReflexConversation({ answer: () => 'book.md:4:12 euro' });
      const { calls, text } = await found.say('show the lines of book.md that mention euro');
      assert.deepEqual(calls[0]?.arguments, { pattern: 'euro', target: 'content', path: 'book.md' });
      assert.equal(text, '"euro" in book.md\n  book.md:4:12 euro');
    },
  );
});

describe('todo', () => {
  test('puts on, shows, marks by number or words, takes off', async () => {
    const list = '[ ] 1: buy milk\n[ ] 2: call the printer';
    const cases: readonly (readonly [string, object])[] = [
      ['todo: buy milk', { todos: [{ content: 'buy milk' }], merge: true }],
      ['add "call the printer" to my todo list', { todos: [{ content: 'call the printer' }], merge: true }],
      ["what's on my todo list?", {}],
      ['mark 2 as done', { todos: [{ id: '2', status: 'completed' }], merge: true }],
      ['done with the milk', { todos: [{ id: '1', status: 'completed' }], merge: true }],
      ['remove the printer from my todo list', { todos: [{ id: '2', status: 'cancelled' }], merge: true }],
    ];
    for (const [line, wanted] of cases) {
      const talk = new ReflexConversation({ answer: () => list });
      await talk.say('my todos');
      assert.deepEqual((await talk.say(line)).calls, [{ name: 'todo', arguments: wanted }], line);
    }
  });
});
