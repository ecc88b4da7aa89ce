// The rules over memory: words become entries unchanged, and every change can be taken back.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clearMatch, matchEntries } from '#mind/memory/match-entries.ts';
import { keptEntries } from '#mind/memory/reflex/kept-entries.ts';
import { ReflexConversation } from '../../../core/reflex/conversation.ts';
import { verifies } from '../../../verifies.ts';

const RULE = '═'.repeat(46);
const SYSTEM = [
  'You are Talaria.',
  '',
  RULE,
  'MEMORY (your personal notes) [1% — 50/2200 chars]',
  RULE,
  'the staging server is called bluebird',
  '§',
  'the api runs on port 4010',
  '',
  RULE,
  'USER PROFILE (who the user is) [1% — 20/1375 chars]',
  RULE,
  'my editor is vim',
  '',
  'Guidance: be short.',
].join('\n');

async function last(lines: readonly string[], system = SYSTEM) {
  const talk = new ReflexConversation({ system });
  let turn = await talk.say(lines[0] ?? '');
  for (const line of lines.slice(1)) turn = await talk.say(line);
  return turn;
}

describe('memory rules', () => {
  test('see the snapshot of the prompt and the writes of the conversation', () => {
    const entries = keptEntries({ system: SYSTEM, history: [] });
    assert.deepEqual(
      entries.map(({ target, text }) => `${target}: ${text}`),
      ['memory: the staging server is called bluebird', 'memory: the api runs on port 4010', 'user: my editor is vim'],
    );
    assert.equal(matchEntries('editors', entries)[0]?.text, 'my editor is vim');
    assert.equal(clearMatch('elephant', entries), undefined);
  });

  verifies('core:reflex:remembers', 'remembers the words as they were said, in the right file', async () => {
    const cases: readonly (readonly [string, string, string])[] = [
      ['remember that we deploy on Fridays', 'memory', 'we deploy on Fridays'],
      ["don't forget that my dog is called Rex", 'user', 'my dog is called Rex'],
      ['note: the VPN is vpn.acme.io', 'memory', 'the VPN is vpn.acme.io'],
    ];
    for (const [line, target, content] of cases) {
      const turn = await last([line]);
      assert.deepEqual(turn.calls, [{ name: 'memory', arguments: { action: 'add', target, content } }], line);
      assert.match(turn.text, target === 'user' ? /USER\.md/ : /MEMORY\.md/);
    }
  });

  verifies('core:reflex:remembers', 'forgets the entry that is meant', async () => {
    assert.deepEqual((await last(['forget the staging server'])).calls, [
      {
        name: 'memory',
        arguments: { action: 'remove', target: 'memory', old_text: 'the staging server is called bluebird' },
      },
    ]);
  });

  verifies(
    'core:reflex:no-false-action',
    'vague things, guesses, statements and corrections are asked about or refused',
    async () => {
      for (const line of [
        'forget the thing',
        'forget it',
        'forget about',
        'forget whatever I said',
        "those were only test values, don't save that",
        "don't remember this",
        'remember something',
        'I prefer dark mode',
        'my editor is broken',
        'remember to call mom',
        'change my password to hunter2',
        'no, the film starts at nine, not eight',
      ])
        assert.deepEqual((await new ReflexConversation().say(line)).calls, [], line);
    },
  );

  test('never forgets everything at once, and asks when several entries are meant', async () => {
    assert.deepEqual((await last(['forget everything'])).calls, []);
    const both = await last(['forget the note about the']);
    assert.deepEqual(
      both.calls.filter((call) => call.arguments.old_text === ''),
      [],
    );
  });

  test('what no entry says is not forgotten', async () => {
    const turn = await new ReflexConversation({ system: SYSTEM }).say('forget my shoe size');
    assert.deepEqual(turn.calls, []);
    assert.match(turn.text, /^Nothing that I keep is about "my shoe size"/);
  });

  test('any question that an entry answers is answered by it, no other', async () => {
    assert.match((await last(['which port does the api run on?'])).text, /MEMORY\.md\n {2}the api runs on port 4010/);
    assert.match((await last(['what is the capital of Peru?'])).text, /^I am reflex/);
  });

  verifies('core:reflex:remembers', 'undo is the inverse call, one write further each time', async () => {
    const lines = ['remember that we use pnpm', 'forget the api port'];
    assert.deepEqual((await last([...lines, 'undo that'])).calls[0]?.arguments, {
      action: 'add',
      target: 'memory',
      content: 'the api runs on port 4010',
    });
    assert.deepEqual((await last([...lines, 'undo that', 'undo that'])).calls[0]?.arguments, {
      action: 'remove',
      target: 'memory',
      old_text: 'we use pnpm',
    });
    assert.deepEqual((await last([...lines, 'undo', 'undo', 'undo'])).calls, []);
  });

  test('what cannot be undone says so and offers what can', async () => {
    const turn = await last(['remember that we use pnpm', 'run date', 'undo that']);
    assert.deepEqual(turn.calls, []);
    assert.match(turn.text, /cannot be undone.*terminal date/);
    assert.equal(turn.asked, true);
  });

  verifies('core:reflex:remembers', 'says what it knows and why, in quotes', async () => {
    assert.match((await last(['what do you know about me'])).text, /USER\.md\n {2}my editor is vim/);
    const known = await last(['what do you know about the staging server']);
    assert.deepEqual(known.calls, [{ name: 'session_search', arguments: { query: 'staging server' } }]);
    assert.match(known.text, /MEMORY\.md\n {2}the staging server is called bluebird/);
    assert.match(
      (await last(['run date', 'why do you think so'])).text,
      /terminal \{"command":"date"\}\n {2}output of terminal/,
    );
  });
});
