/** What a person reads of a turn: safe lines, whatever a tool or file contains. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import type { ToolResultPart } from '#core/model/message.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import type { TurnEvent } from '#public/talaria.ts';
import { splitWords } from '#surfaces/cli/mount-command.ts';
import { displayWidth, outputLines, tableLines, wrapWords } from '#surfaces/cli/render-output.ts';
import { createPaint, eventLines, formatCost, formatMs, oneLine, plain } from '#surfaces/cli/terminal-text.ts';
import { verifies } from '../../verifies.ts';

const result = (extra: Partial<ToolResultPart> = {}): ToolResultPart => ({
  type: 'tool-result',
  callId: 'c1',
  name: 'terminal',
  text: 'one\ntwo',
  isError: false,
  origin: 'foreign',
  observed: { ms: 35, bytes: 7, exitCode: 0 },
  ...extra,
});

const end = (extra: Partial<Extract<TurnEvent, { type: 'turn-end' }>>): TurnEvent => ({
  type: 'turn-end',
  outcome: 'done',
  text: '',
  steps: 1,
  usage: NO_USAGE,
  cost: 0,
  model: 'reflex/1',
  tier: 'T0',
  ms: 12,
  ...extra,
});

describe('event lines', () => {
  test('first hour 5: a changed file is one line and its difference, a new one is one line', () => {
    const change = { type: 'file-change', callId: 'c', path: 'a.ts', kind: 'changed', added: 1, removed: 1 } as const;
    const diff = '@@ -1,1 +1,1 @@\n-old\u001b[2J\n+**new**';
    assert.deepEqual(eventLines({ ...change, diff, more: 2 }), [
      { kind: 'result', text: 'changed a.ts +1 -1' },
      { kind: 'diff', text: '@@ -1,1 +1,1 @@' },
      { kind: 'diff', text: '-old' },
      { kind: 'diff', text: '+**new**' },
      { kind: 'diff', text: '… 2 more lines: /diff last' },
    ]);
    const created = { ...change, kind: 'created', added: 9, removed: 0 } as const;
    assert.deepEqual(eventLines({ ...created, diff, more: 0 }), [{ kind: 'result', text: 'created a.ts +9' }]);
    const lost = eventLines({ ...created, kind: 'deleted', diff, more: 0, unkept: 'it was a folder' });
    assert.deepEqual(lost.at(-1), { kind: 'notice', text: '/undo cannot bring a.ts back: it was a folder' });
  });

  verifies(['core:cli:plain'], 'one line an event, with what matters in it', () => {
    const started = eventLines({
      type: 'tool-start',
      callId: 'c1',
      name: 'terminal',
      arguments: {},
      summary: '$ ls -la',
    });
    assert.deepEqual(started, [{ kind: 'tool', text: '$ ls -la' }]);
    const ended = eventLines({ type: 'tool-end', callId: 'c1', name: 'terminal', result: result() });
    assert.deepEqual(ended, [{ kind: 'result', text: 'ok · exit 0 · 2 lines · 7 B · 35 ms' }]);
    const failed = eventLines(end({ outcome: 'failed', error: { code: 'x', message: 'no key', fix: 'set one' } }));
    assert.deepEqual(
      failed.map((line) => line.kind),
      ['error', 'end'],
    );
    assert.equal(failed[0]?.text, 'no key. set one. /retry sends it again.');
  });

  verifies(['core:cli:plain'], 'no escape sequence of a tool or a model reaches the terminal', () => {
    const evil =
      '\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u001b[0m\u0008\u202edrow\u202c\u001bPq#0\u001b\\ok\u009b1m';
    const lines = [
      ...eventLines({ type: 'tool-start', callId: 'c', name: 't', arguments: {}, summary: evil }),
      ...eventLines({ type: 'tool-end', callId: 'c', name: 't', result: result({ text: evil, isError: true }) }),
      ...eventLines({
        type: 'message',
        messageId: 1,
        message: { role: 'assistant', model: 'm', parts: [{ type: 'text', text: evil, origin: 'model' }] },
      }),
    ];
    assert.equal(lines.length, 3);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is control characters that must not be there
    for (const line of lines) assert.doesNotMatch(line.text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    assert.equal(plain('a\tb\nc'), 'a\tb\nc');
  });

  verifies(['core:cli:wide-characters'], 'tables line up with wide characters, accents and emoji', () => {
    assert.equal(displayWidth('日本'), 4);
    assert.equal(displayWidth('e\u0301'), 1);
    assert.equal(displayWidth('👩‍💻'), 2);
    const lines = outputLines({
      type: 'table',
      columns: ['name', 'n'],
      rows: [
        ['日本', '1'],
        ['abcd', '2'],
      ],
    });
    assert.deepEqual(lines, ['name  n', '日本  1', 'abcd  2']);
  });

  verifies(['core:cli:plain'], 'without colour styles are plain text', () => {
    assert.equal(createPaint(false)('red', 'x'), 'x');
    assert.equal(createPaint(true)('red', 'x'), '\u001b[31mx\u001b[39m');
    assert.equal(formatCost(null), 'cost unknown');
    assert.equal(formatCost(0.0012), '$0.0012');
    assert.equal(formatMs(61_000), '1 min 1 s');
    assert.equal(oneLine('a\n  b', 3), 'a b');
  });

  verifies(
    ['core:cli:slash-commands'],
    'a typed line is split into words as a shell would, but for an apostrophe',
    () => {
      assert.deepEqual(splitWords('search "two words" it\'s'), ['search', 'two words', "it's"]);
      assert.deepEqual(splitWords('  a  b '), ['a', 'b']);
      assert.deepEqual(splitWords('x "open quote'), ['x', 'open quote']);
      assert.deepEqual(splitWords(''), []);
    },
  );
});

/** Tables that fit the terminal, whatever is in them. */

describe('table lines', () => {
  it('wrap the last column under itself', () => {
    const lines = tableLines(['tool', 'what it does'], [['terminal', 'runs a command and shows what came of it']], 40);
    assert.deepEqual(lines, [
      'tool      what it does',
      'terminal  runs a command and shows what',
      '          came of it',
    ]);
  });

  it('put it on lines of its own where little room is left', () => {
    const lines = tableLines(['a long first column', 'text'], [['x', 'some words that do not fit there']], 30);
    assert.deepEqual(lines, ['a long first column  text', 'x', '    some words that do not fit', '    there']);
  });

  it('stay whole where the width is not known', () => {
    assert.deepEqual(tableLines(['a'], [['word '.repeat(60)]])[1]?.length, 299);
    assert.deepEqual(tableLines(['a'], [['some words']], 0), ['a', 'some words'], 'a pty without a size');
  });

  verifies('core:cli:wide-characters', 'no line is wider than the terminal, and no character is lost', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.constantFrom('日本語', '👩‍💻', 'e\u0301', 'ﷺ'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), fc.integer({ min: 8, max: 90 }), (rows, width) => {
        const lines = tableLines(['n', 'text'], rows, width);
        for (const line of lines) assert.ok(displayWidth(line) <= width, `${displayWidth(line)} > ${width}: ${line}`);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 2, max: 40 }), (text, width) => {
        const bare = (given: string) => given.replace(/\s+/g, '');
        assert.equal(bare(wrapWords(text, width).join('')), bare(text));
      }),
    );
  });
});
