/** Sessions as training data: what a loader reads, without secrets and without what others said. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe } from 'node:test';
import type { Message } from '#core/model/message.ts';
import { isCompleted, isOthers, trajectoryLine } from '#mind/sessions/trajectories.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createStage, openConversation, play, runCommand } from '../../surfaces/app/app-fixture.ts';
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

  /** As docs/guide/training-data.md loads a file: JSON a line, what stands in marks is JSON again. */
  function load(line: string) {
    const { conversations } = JSON.parse(line) as { conversations: { from: string; value: string }[] };
    const inMarks = (mark: string) =>
      conversations.flatMap(({ value }) =>
        [...value.matchAll(new RegExp(`<${mark}>\\n(.*?)\\n</${mark}>`, 'gs'))].map(([, text = '']) =>
          JSON.parse(text),
        ),
      );
    return { conversations, calls: inMarks('tool_call'), responses: inMarks('tool_response') };
  }

  verifies(
    ['R5.160'],
    'of twenty planted keys none is in a line, wherever it stands, and what was called parses',
    () => {
      const planted = plantedKeys();
      assert.equal(planted.length, 20);
      for (const [secret, phrase] of planted) {
        const given = { command: `use ${phrase}`, env: { password: secret }, last: 'kept' };
        const body = `got ${phrase}`;
        const own: readonly Message[] = [
          { role: 'user', parts: [{ type: 'text', text: `Mine: ${phrase}`, origin: 'owner' }] },
          {
            role: 'assistant',
            model: 'm/1',
            parts: [
              { type: 'reasoning', text: body, origin: 'model' },
              { ...call, arguments: given },
            ],
          },
          {
            role: 'tool',
            parts: [{ ...call, type: 'tool-result', text: body, isError: false, origin: 'foreign', observed: SEEN }],
          },
          { role: 'assistant', model: 'm/1', parts: [{ type: 'text', text: body, origin: 'model' }] },
        ];
        const source = { session, messages: own, prompt };
        const { conversations, calls, responses } = load(trajectoryLine(source, 'sharegpt'));
        assert.deepEqual(
          [calls[0].name, calls[0].arguments.last, responses[0].tool_call_id],
          ['terminal', 'kept', 'c1'],
        );
        assert.equal(conversations.length, 5);
        const { messages: said } = JSON.parse(trajectoryLine(source, 'openai'));
        assert.equal(JSON.parse(said[2].tool_calls[0].function.arguments).last, 'kept');
        const core = secret.match(/[A-Za-z0-9]{8,}/g)?.at(-1) ?? assert.fail();
        assert.ok(!JSON.stringify([conversations, said]).includes(core), phrase);
      }
    },
  );

  verifies(
    ['R5.160', 'R5.161'],
    'all of the owner goes into one file, with what was undone; guests go along when asked',
    async (t) => {
      const stage = createStage(t);
      const write = { calls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'x' } }] };
      const app = await stage.open({ extra: { client: createScriptedModel([write, 'Written.', 'Hello.']) } });
      const talk = await openConversation(app);
      await play(talk, 'write it');
      await talk.close();
      const means = {
        source: 'telegram',
        cwd: stage.cwd,
        approver: {},
        asker: {},
        seat: 'guest',
      };
      const guest = await app.openConversation(means as never);
      assert.ok(guest.ok);
      for await (const _ of guest.value.send('hi', { signal: new AbortController().signal, origin: 'foreign' }));
      await guest.value.close();
      await app.shutdown();
      assert.match((await runCommand(stage, 'undo', { session: talk.session.id })).text, /a\.txt/);
      const asked = { all: true, format: 'sharegpt' };
      const own = (await runCommand(stage, 'sessions export', asked)).text.split('\n');
      assert.equal(own.length, 1);
      assert.equal(JSON.parse(own[0] ?? '').signals.undone, 1);
      assert.equal(load(own[0] ?? '').calls[0].name, 'write_file');
      assert.equal((await runCommand(stage, 'sessions export', { ...asked, others: true })).text.split('\n').length, 2);
    },
  );
});

const SEEN = { ms: 1, bytes: 2 };

/** Made up here, of the forms that services give out and of places where secrets stand, with the words around them. */
function plantedKeys(): readonly (readonly [secret: string, phrase: string])[] {
  let count = 0;
  const noise = (length: number) => {
    count += 1;
    const text = createHash('sha512')
      .update(`${count}`)
      .digest('base64')
      .replace(/[^A-Za-z0-9]/g, '');
    return `a1B2c3D4${text}${text}`.slice(0, length);
  };
  const issued = [
    ...[
      `sk-ant-${noise(40)}`,
      `sk-proj-${noise(48)}`,
      `ghp_${noise(36)}`,
      `github_pat_${noise(50)}`,
      `glpat-${noise(20)}`,
    ],
    ...[
      `xoxb-1${noise(30)}`,
      `AKIA${noise(16).toUpperCase()}`,
      `AIza${noise(35)}`,
      `hf_${noise(34)}`,
      `npm_${noise(36)}`,
    ],
    ...[`pypi-AgE${noise(60)}`, `sk_live_${noise(24)}`, `123456789:${noise(35)}`, `SG.${noise(22)}.${noise(43)}`],
    `eyJ${noise(30)}.eyJ${noise(60)}.${noise(43)}`,
    // Cut off: nothing says where it ends.
    `-----BEGIN PRIVATE KEY-----\n${noise(64)}\n${noise(64)}`,
  ];
  const placed = [noise(24), noise(20), noise(40), `Tr0ub4dor"x`];
  const words = ['API_KEY=', 'postgres://me:', 'Authorization: Bearer ', 'password: '];
  const ends = ['', '@db.example/x', '', ''];
  return [
    ...issued.map((key) => [key, key] as const),
    ...placed.map((key, at) => [key, `${words[at]}${key}${ends[at]}`] as const),
  ];
}
