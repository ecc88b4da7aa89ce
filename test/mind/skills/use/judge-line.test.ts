/** Which lines of an owner take back what was just done. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeLine } from '#mind/skills/use/judge-line.ts';

const CORRECTED = [
  'no, use the other file',
  "No, that's not what I asked for",
  'wrong',
  "That's wrong",
  'that is not right, the port is 8080',
  'it still fails',
  'This did not work',
  "it doesn't compile",
  'You forgot the header row',
  'you should have asked first',
  'I said tabs, not spaces',
  'I meant the staging server',
  'undo that',
  'please revert',
  'try again with the smaller model',
  'Include Discussions too.',
  'next time, run the tests first',
  'Actually, put it in /tmp',
  'not like that',
  'It’s not working',
];

const FINE = [
  'thanks!',
  'no problem, go on',
  'No thanks, that is all',
  "that's it for today",
  'now deploy it',
  'what does this do?',
  'great, and now write the docs',
  'list the files that are not right-aligned',
  'yes',
  'add a section about limits',
  'is there an undo function in the editor?',
  'how do I revert a commit in git?',
  'commit it',
  'the test passes now',
  'Nothing else',
  'note that the port is 8080',
  '',
];

describe('judgeLine', () => {
  test('corrections', () => {
    for (const line of CORRECTED) assert.equal(judgeLine(line), 'corrected', line);
  });
  test('ordinary next lines', () => {
    for (const line of FINE) assert.equal(judgeLine(line), 'fine', line);
  });
});
