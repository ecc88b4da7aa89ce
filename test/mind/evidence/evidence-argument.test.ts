// The argument `evidence`: every form that a model is shown or writes, read as citations; nothing is made up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceArgument, readEvidence, withoutEvidence } from '#mind/evidence/citations.ts';
import type { JsonValue } from '#public/talaria.ts';
import { assistant, call, owner, stored } from './conversation.ts';

const TALK = stored([
  owner('use three plain words here'),
  ...call('terminal', { command: 'make' }, 'use three plain words', { exitCode: 0, callId: 'call_1' }),
  assistant('Use three plain words, you say.'),
  owner('and three plain words again'),
  ...call('terminal', { command: 'make test' }, 'ok', { exitCode: 0, callId: 'call_1' }),
]);

const read = (value: JsonValue | undefined) => readEvidence(value, TALK).map(({ handle, quote }) => [handle, quote]);

test('evidence: a quote with the number of its message, in every form of the number', () => {
  const quote = 'plain words';
  for (const message of [4, '4', '#4', 'message:4', ' 4 '])
    assert.deepEqual(read([{ quote, message }]), [['message:4', quote]]);
  assert.deepEqual(read({ quote, message: 4 }), [['message:4', quote]]);
  assert.deepEqual(read([{ quote, message_id: 4 }]), [['message:4', quote]]);
  assert.deepEqual(read([{ quote, id: '#4' }]), [['message:4', quote]]);
  assert.deepEqual(read([{ quote, message: 99 }]), [['message:5', quote]], 'no message of this session');
  assert.deepEqual(read([{ quote: 'never said', message: 99 }]), [['message:99', 'never said']]);
});

test('evidence: a quote without a number is that of the newest message that holds it, the owner’s before any other', () => {
  assert.deepEqual(read([{ quote: 'Three  plain words' }]), [['message:5', 'Three  plain words']]);
  assert.deepEqual(read([{ quote: 'words, you say' }]), [['message:4', 'words, you say']]);
  assert.deepEqual(read([{ quote: 'never said' }]), [['message:?', 'never said']]);
});

test('evidence: a call by its id is its newest result, or its message', () => {
  assert.deepEqual(read([{ call: 'call_1' }]), [['message:7', '']]);
  assert.deepEqual(read([{ quote: '', call: '#3' }]), [['message:3', '']]);
  assert.deepEqual(read([{ call: 'call_9' }]), []);
});

test('evidence: nonsense is none, in the schema too, and no more than forty are read', () => {
  const nonsense: readonly (JsonValue | undefined)[] = [
    undefined,
    null,
    'x',
    3,
    [null],
    [{}],
    [[]],
    [{ message: 12 }],
    [{ quote: 7 }],
  ];
  for (const value of nonsense) assert.deepEqual(read(value), [], JSON.stringify(value));
  assert.equal(read(Array.from({ length: 100 }, () => ({ quote: 'three plain', message: 1 }))).length, 40);
  for (const value of ['x', 3, [null], null]) assert.deepEqual(evidenceArgument.parse(value), []);
  const loose = [{ quote: 'a b', message_id: 3 }];
  assert.deepEqual(evidenceArgument.parse(loose), loose);
  assert.deepEqual(withoutEvidence({ action: 'add', evidence: [] }), { action: 'add' });
});
