/** An answer while it is written: the same lines as when it is whole, at a bounded cost. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Markdown } from '@earendil-works/pi-tui';
import { markdownTheme } from '#surfaces/cli/chat/view/chat-theme.ts';
import { lastBlockEnd, StreamingAnswer } from '#surfaces/cli/chat/view/streaming-answer.ts';
import { createPaint } from '#surfaces/cli/terminal-text.ts';
import { verifies } from '../../../../verifies.ts';

const theme = markdownTheme(createPaint(true));

const SECTION = `## A heading

A paragraph with **bold**, \`code\` and a [link](http://x.y) that is long enough to wrap at the width of the screen, twice even.

- one
- two

  with a paragraph of its own
- three

1. first

2. second

\`\`\`ts
const x = 1;

const y = 2;
\`\`\`

| name | n |
|---|---|
| 日本 | 1 |

> a quote
> of two lines

The end of it.

`;

const trimmed = (lines: readonly string[]) =>
  lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();

describe('streaming answer', () => {
  verifies('core:cli:streams', 'ends with the lines of the whole text, however it came', () => {
    const text = SECTION.repeat(30);
    for (const size of [1, 7, 64, 5_000]) {
      const answer = new StreamingAnswer(theme);
      for (let i = 0; i < text.length; i += size) {
        answer.append(text.slice(i, i + size));
        if (i % 20 === 0) answer.render(80);
      }
      answer.finish();
      const whole = new Markdown(text.trim(), 0, 0, theme).render(80);
      assert.ok(trimmed(answer.render(80)) === trimmed(whole), `other lines with chunks of ${size}`);
      assert.equal(answer.text, text);
    }
  });

  it('lays out what is new at rest, and again at once for another width', () => {
    let now = 0;
    const answer = new StreamingAnswer(theme, () => {
      now += 10;
      return now;
    });
    answer.append('one');
    assert.match(answer.render(40).join(''), /one/);
    answer.append(' two');
    assert.doesNotMatch(answer.render(40).join(''), /two/);
    assert.match(answer.render(50).join(''), /two/);
    answer.append(' three');
    now += 1_000;
    assert.match(answer.render(50).join(''), /three/);
    answer.append(' four');
    answer.finish();
    assert.match(answer.render(50).join(''), /four/);
  });

  it('cuts only where nothing behind can change what stands before', () => {
    assert.equal(lastBlockEnd('one\n\ntwo'), 3);
    assert.equal(lastBlockEnd('```\ncode\n\ntwo'), undefined);
    assert.equal(lastBlockEnd('- a\n\n- b'), undefined);
    assert.equal(lastBlockEnd('- a\n\n  b'), undefined);
    assert.equal(lastBlockEnd('one'), undefined);
  });
});
