import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTextCallParser } from '#core/model/tool-calls/text-call-parser.ts';
import type { TextCallEvent } from '#public/tool-calls.ts';
import { PARIS, PARIS_JSON, TOOLS } from './tools.ts';

/** The events after each push, and after the end. */
function steps(chunks: readonly string[]): TextCallEvent[][] {
  const parser = createTextCallParser(TOOLS);
  return [...chunks.map((chunk) => parser.push(chunk)), parser.end()];
}

const text = (value: string): TextCallEvent => ({ type: 'text-delta', text: value });
const reasoning = (value: string): TextCallEvent => ({ type: 'reasoning-delta', text: value });

describe('text call stream', () => {
  test('plain text is shown at once, white space with what follows', () => {
    assert.deepEqual(steps(['Hello, ', 'my friend. ', 'Bye.']), [
      [text('Hello,')],
      [text(' my friend.')],
      [text(' Bye.')],
      [],
    ]);
  });

  test('a call comes as soon as it is complete, and no part of it as text', () => {
    const events = steps(['Now. <tool_', `call>${PARIS_JSON}`, '</tool_call>', ' Ok.']);
    assert.deepEqual(events, [[text('Now.')], [], [{ type: 'tool-call', call: PARIS }], [text(' Ok.')], []]);
  });

  test('reasoning is shown while it comes, but for a possible closing tag', () => {
    const events = steps(['<think>a b', ' c</th', 'ink>d']);
    assert.deepEqual(events.flat(), [reasoning('a b'), reasoning(' c'), text('d')]);
    assert.deepEqual(events[1], [reasoning(' c')]);
  });

  test('a lone closing tag turns what was shown into reasoning', () => {
    const events = steps(['I think. ', 'So.</think>', '\nHi.']);
    assert.deepEqual(events[0], [text('I think.')]);
    assert.deepEqual(events.flat().slice(1), [
      text(' So.'),
      { type: 'reclassify', reasoning: 'I think. So.' },
      text('Hi.'),
    ]);
  });

  test('a bracket at the start of a line is held only until it cannot be a call', () => {
    const events = steps(['Note:\n[', 'just a ', 'remark] here']);
    assert.deepEqual(
      events
        .flat()
        .map((event) => (event.type === 'text-delta' ? event.text : ''))
        .join(''),
      'Note:\n[just a remark] here',
    );
    assert.ok(events[1]?.length, 'shown before the end');
  });

  test('code is shown while it comes', () => {
    const events = steps(['```python\nx = 1\n', 'print(x)\n', 'y = 2\n', '```\nDone.']);
    assert.deepEqual(events.slice(0, 2).flat(), [text('```python\nx = 1\nprint(x)')]);
    assert.deepEqual(events[2], [text('\ny = 2')]);
  });

  test('malformed attempts are data', () => {
    const events = steps(['<tool_call>{"name": "fly", "arguments": {}}</tool_call>']).flat();
    assert.deepEqual(events.at(-1), {
      type: 'malformed-call',
      malformed: { reason: 'unknown-tool', name: 'fly', raw: '{"name": "fly", "arguments": {}}' },
    });
  });

  test('nothing comes after the end', () => {
    const parser = createTextCallParser(TOOLS);
    parser.push('a');
    parser.end();
    assert.deepEqual([parser.push('b'), parser.end()], [[], []]);
  });
});
