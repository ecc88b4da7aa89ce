import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeAnswer } from '#extensions/rlm/ask/gate/judge-answer.ts';
import { plainText } from '#extensions/rlm/ask/gate/plain-text.ts';
import { span } from './handles.ts';

function status(text: string, evidence: string): string | undefined {
  const handles = [span('s1', evidence)];
  return judgeAnswer([{ text, handles: ['s1'] }], { handles, inContext: new Set() })[0]?.status;
}

describe('what the eye sees of a sentence', () => {
  const RUNS = 'The gateway is running on port 80.';
  for (const not of ['n\u200bot', 'n\u00adot', 'n\u034fot', 'n\u043et', '\u{1d427}\u{1d428}\u{1d42d}', 'n̶o̶t̶'])
    test(`a denial written ${JSON.stringify(not)} is none that nobody sees`, () => {
      assert.equal(status(`The gateway is ${not} running on port 80.`, RUNS), 'not_supported');
      assert.equal(
        status(`The gateway is ${not} running on port 80.`, `The gateway is ${not} running on port 80.`),
        'cited',
      );
    });

  test('what turns the direction of reading is never cited', () => {
    const turned = 'The gateway is \u202eton\u202c running on port 80.';
    assert.equal(status(turned, RUNS), 'not_supported');
    assert.equal(status(turned, turned), 'not_supported');
  });

  const amounts: readonly (readonly [string, string])[] = [
    ['There are twenty five servers.', 'There are twenty servers and five clients.'],
    ['There are one hundred servers.', 'There are two hundred servers.'],
    ['There are 100 servers.', 'There are two hundred servers.'],
    ['The limit is 5 thousand users.', 'The limit is 5 users and a thousand hosts.'],
    ['The limit is 1 user.', 'The limit is 1.000 users.'],
    ['The limit is ⁵ users.', 'The limit is 7 users.'],
    ['The limit is ⑤ users.', 'The limit is 7 users.'],
    ['The limit is Ⅷ users.', 'The limit is 7 users.'],
    ['The temperature is minus 5 degrees.', 'The temperature is 5 degrees.'],
  ];
  for (const [text, evidence] of amounts)
    test(`${text} is not said by: ${evidence}`, () => assert.equal(status(text, evidence), 'not_supported'));

  const same: readonly (readonly [string, string])[] = [
    ['There are 25 servers.', 'There are twenty-five servers.'],
    ['There are twenty five servers.', 'There are 25 servers.'],
    ['There are 200 servers.', 'There are two hundred servers.'],
    ['The limit is 5,000 users.', 'The limit is 5 thousand users.'],
    ['The limit is 1,000 users.', 'The limit is 1000 users.'],
    ['The limit is 1.000 users.', 'The limit is 1.000 users.'],
    ['The ratio is 3.5.', 'The ratio is 3.50.'],
    ['The temperature is minus 5 degrees.', 'The temperature is -5 degrees.'],
    ['The area is 5 m² large.', 'The area is 5 m² large.'],
    ['The gateway is running on port 80.', 'The gate\u00adway is running on port 80.'],
  ];
  for (const [text, evidence] of same)
    test(`${text} is said by: ${evidence}`, () => assert.equal(status(text, evidence), 'cited'));

  test('plain text stays as it is', () => {
    for (const text of [RUNS, 'Öl, naïve, 日本語, привет, 10 minus 5, a hundred, 👩‍👩‍👧'.replaceAll('\u200d', ''), ''])
      assert.equal(plainText(text), text);
  });
});
