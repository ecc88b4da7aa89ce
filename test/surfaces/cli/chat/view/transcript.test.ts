/** What stands on the screen: streamed text, tool lines, what was said before, and nothing that moves the cursor. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { AssistantMessage, Message, ToolResultPart } from '#core/model/message.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import { pastLines } from '#surfaces/cli/chat/view/past-lines.ts';
import { Transcript } from '#surfaces/cli/chat/view/transcript.ts';
import { createPaint, plain } from '#surfaces/cli/terminal-text.ts';
import { verifies } from '../../../../verifies.ts';

const assistant = (text: string): AssistantMessage => ({
  role: 'assistant',
  model: 'm',
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
const stored = (text: string): TurnEvent => ({ type: 'message', messageId: 1, message: assistant(text) });

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
