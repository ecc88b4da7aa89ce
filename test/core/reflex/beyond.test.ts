// What no rule answers however its words fit: how-to questions, the understanding of a text, English that is no command.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifies } from '../../verifies.ts';
import { ReflexConversation } from './conversation.ts';

const REFUSAL = /^I am reflex\/1/;

async function turn(line: string) {
  return new ReflexConversation().say(line);
}

async function refused(...lines: readonly string[]) {
  for (const line of lines) {
    const { calls, text, asked } = await turn(line);
    assert.deepEqual(calls, [], line);
    assert.ok(asked || REFUSAL.test(text), `${line} → ${text.slice(0, 80)}`);
  }
}

async function runs(cases: Readonly<Record<string, string>>) {
  for (const [line, tool] of Object.entries(cases)) assert.equal((await turn(line)).calls[0]?.name, tool, line);
}

describe('beyond every rule', () => {
  verifies('core:reflex:no-false-action', 'a question of how to do something never acts', async () => {
    await refused(
      'how to list only directories with ls',
      'git: how to list all tags',
      'is there a command to list open files?',
      'which flag makes grep recursive',
      'what is the right way to read a file in rust',
    );
    await runs({ 'search for "how to install" in docs': 'search_files', 'run `how to`': 'terminal' });
  });

  verifies('core:reflex:no-false-action', 'a text is not read in order to be understood', async () => {
    await refused(
      'what are the key points in proposal.docx',
      'Tell me in two sentences what docs/architecture.md says.',
      'what is the main idea of chapter2.txt',
      'what do lines 10 to 20 of parser.rs do',
      'check contract.txt for risky clauses',
      'read letter.txt and tell me what they want from me',
      'what is src/server.ts about?',
      'what do you think of my README.md',
    );
    await runs({
      'what does package.json say': 'read_file',
      'extract the facts from report.md': 'read_file',
      'show the lines of notes.txt that mention summary': 'search_files',
      'read summary.md': 'read_file',
      'I have the meeting in five minutes, please open agenda.md': 'read_file',
    });
  });

  verifies(
    'core:reflex:no-false-action',
    'an order about what is kept is never a search for its own verb',
    async () => {
      await refused('forget what I said about him', 'remember what I told you', 'forget the other thing too');
      await runs({ 'remember what we said about the cache': 'session_search' });
    },
  );

  verifies('core:reflex:no-false-action', 'English that begins like a command runs nothing', async () => {
    await refused(
      ...['test test 123', 'make sense', 'make love', 'who are you', 'time flies', 'watch out', 'sleep well'],
      ...['cut it out', 'sort of', 'more please', 'last night was rough', 'man up', 'bundle up', 'test 1 2 3', 'yes'],
    );
    await runs({ 'make test': 'terminal', 'man grep': 'terminal', 'sort names.txt': 'terminal', pwd: 'terminal' });
  });

  test('only a request for help with the agent is answered with its abilities', async () => {
    await refused(
      'I get "permission denied (publickey)" when I push, help',
      'my docker container keeps restarting, what can I do',
      'what should I do first today?',
    );
    for (const line of ['help', '/help', 'what can you do', 'how do I use you', 'show me what you can do'])
      assert.match((await turn(line)).text, /rules only/, line);
  });
});
