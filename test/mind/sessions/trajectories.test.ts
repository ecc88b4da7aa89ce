/** Sessions as training data: what a loader reads, without secrets and without what others said. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Message } from '#core/model/message.ts';
import { isCompleted, isOthers, trajectoryLine } from '#mind/sessions/trajectories.ts';
import { verifies } from '../../verifies.ts';

const session = {
  id: '20260101_000000_abcdef',
  source: 'cli',
  cwd: '/w',
  startedAt: 0,
  lastActiveAt: 0,
  messageCount: 4,
  toolCallCount: 1,
  model: 'm/1',
};
const prompt = {
  system: 'You act.',
  tools: [{ name: 'terminal', description: 'runs', parameters: { type: 'object' } }],
};
const KEY = `sk-proj-${'a1B2'.repeat(12)}`;
const call = {
  type: 'tool-call',
  callId: 'c1',
  name: 'terminal',
  arguments: { command: `echo ${KEY}` },
  origin: 'model',
} as const;
const messages: readonly Message[] = [
  { role: 'user', parts: [{ type: 'text', text: 'list it', origin: 'owner' }] },
  { role: 'assistant', model: 'm/1', parts: [{ type: 'reasoning', text: 'hm', origin: 'model' }, call] },
  {
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        callId: 'c1',
        name: 'terminal',
        text: 'no',
        isError: true,
        origin: 'foreign',
        observed: { ms: 1, bytes: 2, exitCode: 3 },
      },
    ],
  },
  { role: 'assistant', model: 'm/1', parts: [{ type: 'text', text: 'It failed.', origin: 'model' }] },
];

describe('trajectories', () => {
  verifies(['R5.160'], 'a ShareGPT line has calls, results and thoughts in their marks, and no key', () => {
    const line = trajectoryLine({ session, messages, prompt }, 'sharegpt');
    assert.doesNotMatch(line, new RegExp(KEY));
    const { conversations, completed, model, signals } = JSON.parse(line);
    assert.deepEqual(
      conversations.map(({ from }: { from: string }) => from),
      ['system', 'human', 'gpt', 'tool', 'gpt'],
    );
    const [, , asked, got] = conversations.map(({ value }: { value: string }) => value);
    assert.match(asked, /^<think>\nhm\n<\/think>\n<tool_call>\n\{.*\}\n<\/tool_call>$/);
    assert.equal(JSON.parse(/<tool_call>\n(.*)\n</.exec(asked)?.[1] ?? '').name, 'terminal');
    assert.deepEqual(JSON.parse(/<tool_response>\n(.*)\n</.exec(got)?.[1] ?? ''), {
      tool_call_id: 'c1',
      name: 'terminal',
      content: 'no',
    });
    assert.deepEqual([completed, model, signals.exit_codes, signals.failed_calls], [true, 'm/1', [3], 1]);
  });

  verifies(['R5.160'], 'a line of OpenAI has messages and tools', () => {
    const { messages: said, tools } = JSON.parse(trajectoryLine({ session, messages, prompt }, 'openai'));
    assert.deepEqual(
      said.map(({ role }: { role: string }) => role),
      ['system', 'user', 'assistant', 'tool', 'assistant'],
    );
    assert.equal(said[2].tool_calls[0].id, said[3].tool_call_id);
    assert.equal(tools[0].function.name, 'terminal');
  });

  verifies(['R5.161'], "others' sessions and unfinished ones are told apart", () => {
    const guest: Message = { role: 'user', parts: [{ type: 'text', text: 'hi', origin: 'foreign' }] };
    assert.deepEqual([isOthers([guest]), isOthers(messages)], [true, false]);
    assert.deepEqual([isCompleted(messages.slice(0, 3)), isCompleted(messages)], [false, true]);
  });
});
