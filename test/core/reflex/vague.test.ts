// Words that name nothing are asked about; what was kept a moment ago is put right; a why has its source.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { english } from '#core/reflex/english/english.ts';
import { isVagueName } from '#core/reflex/line/vague-name.ts';
import { verifies } from '../../verifies.ts';
import { ReflexConversation } from './conversation.ts';

async function calls(...lines: readonly string[]) {
  const talk = new ReflexConversation();
  for (const line of lines.slice(0, -1)) await talk.say(line);
  return (await talk.say(lines.at(-1) ?? '')).calls;
}

describe('vague arguments', () => {
  test('a name made of small words, adjectives and nouns for anything is none', () => {
    for (const name of ['the other folder', 'name of the guy', 'word', 'that thing'])
      assert.ok(isVagueName(name, english), name);
    for (const name of ['retry', 'src', 'the budget', 'getUser', '42']) assert.ok(!isVagueName(name, english), name);
  });

  verifies('core:reflex:no-false-action', 'what only the owner can point at runs nothing', async () => {
    for (const line of [
      'open the doc',
      'list the stuff from the other folder',
      'search for the name of the guy',
      'look for the word in the document',
      'find all documents',
      'what does the folder contain',
      'show me a random folder',
      "what's in store for me",
      'find where that is mentioned',
    ])
      assert.deepEqual(await calls(line), [], line);
  });

  test('an article keeps no named folder and no quoted text from being found', async () => {
    const [listed] = await calls('what is in the docs folder');
    assert.equal(listed?.arguments.command, 'ls -la docs');
    const [found] = await calls('search for "the word" in the src folder');
    assert.deepEqual([found?.arguments.pattern, found?.arguments.path], ['the word', 'src']);
  });

  verifies('core:reflex:no-false-action', 'opinions and the world are no conversation of ours', async () => {
    for (const line of [
      'which of these two designs would you choose?',
      "what's a good name for a search function?",
      'what would you recommend for a beginner?',
      'have you ever thought about death?',
      'what did the designers choose for the cover?',
      'what was agreed in Paris?',
      'search for a chat app',
    ])
      assert.deepEqual(await calls(line), [], line);
    for (const line of [
      'what did you recommend for the cache?',
      'which database did we choose last week',
      'go back to the conversation where we discussed the login bug',
    ])
      assert.equal((await calls(line))[0]?.name, 'session_search', line);
  });
});

describe('right after it was kept', () => {
  test('the words that were wrong are replaced, beside a shared word or by their shape', async () => {
    const cases = [
      ["remember my daughter's birthday is 14 May", 'sorry, I meant 15 May', "my daughter's birthday is 15 May"],
      ['remember that my timezone is CET', 'oops i meant EET', 'my timezone is EET'],
      ['remember that i parked in row F', 'no wait its row H', 'i parked in row H'],
    ] as const;
    for (const [kept, line, content] of cases) {
      const [call] = await calls(kept, line);
      assert.deepEqual([call?.arguments.action, call?.arguments.content], ['replace', content], line);
    }
  });

  test('talk, another turn and nothing kept put nothing right', async () => {
    assert.deepEqual(await calls('sorry, I meant 15 May'), []);
    assert.deepEqual(await calls('remember that my timezone is CET', 'run `date`', 'oops i meant EET'), []);
    assert.deepEqual(await calls('remember that my timezone is CET', 'oh no it is late'), []);
  });
});

describe('why', () => {
  test('a question of ours is quoted as the reason', async () => {
    const talk = new ReflexConversation();
    await talk.say('rm old_backup.tar.gz');
    assert.match((await talk.say('why are you asking me that?')).text, /rm old_backup\.tar\.gz/);
  });
});
