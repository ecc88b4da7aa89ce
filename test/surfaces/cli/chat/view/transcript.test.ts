/** What stands on the screen: streamed text, tool lines, what was said before, and nothing that moves the cursor. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Markdown } from '@earendil-works/pi-tui';
import type { AssistantMessage, Message, ToolResultPart } from '#core/model/message.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import type { TurnEvent } from '#public/talaria.ts';
import { lastBlockEnd, markdownTheme, pastLines, StreamingAnswer, Transcript } from '#surfaces/cli/chat/transcript.ts';
import { createPaint, plain } from '#surfaces/cli/terminal-text.ts';
import { verifies } from '../../../../verifies.ts';

const assistant = (text: string, model = 'm'): AssistantMessage => ({
  role: 'assistant',
  model,
  parts: [{ type: 'text', text, origin: 'model' }],
});

const result: ToolResultPart = {
  type: 'tool-result',
  callId: 'c1',
  name: 'terminal',
  text: 'out',
  isError: false,
  origin: 'foreign',
  observed: { ms: 5, bytes: 3, exitCode: 0 },
};

const start: TurnEvent = { type: 'tool-start', callId: 'c1', name: 'terminal', arguments: {}, summary: '$ make' };
const delta = (text: string): TurnEvent => ({ type: 'text-delta', text });
const stored = (text: string, model?: string): TurnEvent => ({
  type: 'message',
  messageId: 1,
  message: assistant(text, model),
});
const step = (model: string): TurnEvent => ({ type: 'step-start', step: 1, model });

/** What a file or a command may print: nothing in it is markup. */
const QUOTED = [
  '    set in: `a` and **b**',
  '',
  '',
  '# no heading',
  '- * not a list',
  'Author: A B <a@b.c>',
  '```',
  '  x < y',
].join('\n');

function played(events: readonly TurnEvent[], width = 60): string[] {
  const transcript = new Transcript(createPaint(true));
  for (const event of events) transcript.addEvent(event);
  return transcript.container.render(width).map((line) => plain(line).trimEnd());
}

describe('transcript', () => {
  verifies('core:cli:streams', 'text appears as it comes, a tool is one line, its end another', () => {
    assert.deepEqual(played([delta('Hel'), delta('lo')]), ['Hello']);
    assert.deepEqual(played([delta('Hello'), stored('Hello'), start]), ['Hello', '⏺ $ make']);
    const end: TurnEvent = { type: 'tool-end', callId: 'c1', name: 'terminal', result };
    assert.deepEqual(played([start, end]), ['⏺ $ make', '  ⎿ ok · exit 0 · 1 line · 3 B · 5 ms']);
  });

  it('shows the last lines of what runs, each call its own', () => {
    const output = (callId: string, chunk: string): TurnEvent => ({ type: 'tool-output', callId, chunk });
    const events = [
      start,
      ...['1\n', '2\n', '3\n', '4\n'].map((chunk) => output('c1', chunk)),
      output('c2', 'other\n'),
    ];
    assert.deepEqual(played(events), ['⏺ $ make', '  2', '  3', '  4', '  other']);
    const end: TurnEvent = { type: 'tool-end', callId: 'c1', name: 'terminal', result };
    assert.deepEqual(played([...events, end]).slice(1), ['  other', '  ⎿ ok · exit 0 · 1 line · 3 B · 5 ms']);
  });

  it('drops what a failed try had said, and what differs from what was stored', () => {
    const retry: TurnEvent = { type: 'model-retry', model: 'm', reason: 'reset', attempt: 2, delayMs: 0 };
    assert.deepEqual(played([delta('Half of'), retry, delta('All of it'), stored('All of it')]), [
      '· m: reset; trying again',
      'All of it',
    ]);
    assert.deepEqual(played([delta('<think>hidden</think>Shown'), stored('Shown')]), ['Shown']);
  });

  verifies('core:cli:plain', 'no escape sequence of a model or tool reaches the terminal', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31mhello\u001b[8m';
    const transcript = new Transcript(createPaint(false));
    for (const event of [start, delta(evil), stored(evil)]) transcript.addEvent(event);
    transcript.addEvent({ type: 'tool-output', callId: 'c1', chunk: evil });
    transcript.addOwner(evil);
    transcript.addLine(evil);
    transcript.addTable({ type: 'table', columns: [evil], rows: [[evil]] });
    const shown = transcript.container.render(60).join('\n');
    assert.match(shown, /hello/);
    for (const part of ['owned', '\u009b', '\u001b[2J', '\u001b]0']) assert.ok(!shown.includes(part), part);
  });

  verifies(
    'core:cli:continue-resume',
    'a session that is gone on with shows its last messages, calls in one line',
    () => {
      const call: Message = {
        role: 'assistant',
        model: 'm',
        parts: [{ type: 'tool-call', callId: 'c1', name: 'terminal', arguments: { command: 'ls' }, origin: 'model' }],
      };
      const asked: Message = {
        role: 'user',
        parts: [
          { type: 'text', text: 'x'.repeat(50), origin: 'foreign', label: 'stdin' },
          { type: 'text', text: 'list', origin: 'owner' },
        ],
      };
      const past: readonly Message[] = [asked, call, { role: 'tool', parts: [result] }, assistant('Done.')];
      assert.deepEqual(
        pastLines(past).map((line) => line.text),
        ['[stdin]\nlist', 'terminal {"command":"ls"}', 'ok · exit 0 · 1 line · 3 B · 5 ms', 'Done.'],
      );
      const long = pastLines([...past, ...past, ...past, ...past]);
      assert.equal(long[0]?.text, '4 earlier messages: /sessions show');
      assert.equal(long.length, 13);
    },
  );

  it('first hour 1: what reflex answers is shown as it is, what a language model writes is Markdown', () => {
    const asIs = QUOTED.split('\n');
    assert.deepEqual(played([step('reflex/1'), delta(QUOTED)]), asIs);
    assert.deepEqual(played([step('reflex/1'), delta(QUOTED), stored(`\n${QUOTED}\n`, 'reflex/1')]), asIs);
    assert.deepEqual(played([stored(QUOTED, 'reflex/1')]), asIs);
    const markdown = played([step('m'), delta('`a` and **b**'), stored('`a` and **b**')]);
    assert.deepEqual(markdown, ['a and b']);
  });

  it('first hour 1: the model that is stored decides, whoever was asked first', () => {
    const asIs = QUOTED.split('\n');
    assert.deepEqual(played([step('m'), delta(QUOTED), stored(QUOTED, 'reflex/1')]), asIs);
    const fallback: TurnEvent = { type: 'model-fallback', from: 'reflex/1', to: 'm', reason: 'asked' };
    assert.deepEqual(played([step('reflex/1'), fallback, delta('`a`'), stored('`a`')]).slice(1), ['a']);
  });

  it('first hour 1: what a command prints, now or in an earlier start, keeps every sign', () => {
    const transcript = new Transcript(createPaint(true));
    transcript.addEvent({ type: 'tool-end', callId: 'c1', name: 'terminal', result: { ...result, text: QUOTED } }, [
      { kind: 'output', text: QUOTED },
    ]);
    transcript.addPast([assistant(QUOTED, 'reflex/1'), assistant('`a`')]);
    const lines = transcript.container.render(60).map((line) => plain(line).trimEnd());
    assert.deepEqual(lines, [...QUOTED.split('\n'), ...QUOTED.split('\n'), 'a']);
    const live: TurnEvent = { type: 'tool-output', callId: 'c1', chunk: '`a` <b>\n**c**\n' };
    assert.deepEqual(played([start, live]), ['⏺ $ make', '  `a` <b>', '  **c**']);
  });

  it("first hour 2: a line that a turn took stands there as the owner's", () => {
    assert.deepEqual(played([start, { type: 'steer', text: 'be brief' }]), ['⏺ $ make', '', '› be brief']);
  });

  it('a turn that was stopped says so', () => {
    const end: TurnEvent = {
      type: 'turn-end',
      outcome: 'aborted',
      text: '',
      steps: 1,
      usage: NO_USAGE,
      cost: 0,
      model: 'm',
      tier: 'T2',
      ms: 1_500,
    };
    assert.deepEqual(played([end]), ['stopped on request · 1 step · m · 1.5 s · $0']);
  });
});

/** An answer while it is written: the same lines as when it is whole, at a bounded cost. */

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
