import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Handle } from '#extensions/rlm/ask/ask-outcome.ts';
import { judgeAnswer } from '#extensions/rlm/ask/gate/judge-answer.ts';
import { child, computed, span } from './handles.ts';

function isCited(text: string, handles: readonly Handle[], known: readonly string[] = []): boolean {
  const given = [{ text, handles: handles.map(({ id }) => id) }];
  return judgeAnswer(given, { handles, inContext: new Set(known) })[0]?.status === 'cited';
}

const REFUSED: readonly (readonly [string, readonly string[]])[] = [
  ['Alice wrote the parser. Bob reviewed it.', ['Bob wrote the parser.', 'Alice deleted the parser.']],
  ['Alice manages Bob.', ['Bob manages Alice.', 'Alice is Bob.']],
  ['Team A beat Team B by 3 goals.', ['Team B beat Team A by 3 goals.']],
  [
    'Revenue rose from 10 million to 20 million.',
    ['Revenue rose from 20 million to 10 million.', 'Revenue rose to 10 million.', 'Revenue rose from 10.'],
  ],
  [
    'The timeout is 30 seconds. Version 2.1 was released in May 2024.',
    [
      'Version 30 was released in May 2024.',
      'Version 2.1 was released 30 seconds ago.',
      'Version 2.1 was withdrawn in May 2024.',
      'The timeout is 30.',
    ],
  ],
  [
    'Only admins may delete a project; Bob is an admin.',
    ['Only Bob may delete a project.', 'Admins may delete a project.'],
  ],
  ['Nobody except Carol has the key.', ['Nobody has the key.', 'Carol has the key.']],
  ['At least 7 nodes are needed. Up to 5 are allowed.', ['Up to 7 nodes are allowed.', '7 nodes are needed.']],
  ['Most users agree.', ['All users agree.', 'Users agree.']],
  ['It is a myth that coffee harms plants.', ['Coffee harms plants.']],
  ['If the flag is set, the cache is disabled.', ['The flag is set.', 'The cache is disabled.']],
  [
    'The test failed because the certificate expired.',
    ['The certificate expired because the test failed.', 'The certificate expired.'],
  ],
  ['A write stops when the disk is full.', ['The disk is full.', 'A write stops.']],
  ['Alice, who manages Bob, wrote the parser.', ['Bob wrote the parser.']],
  ["Bob's brother died.", ['Bob died.']],
  ['The test in Berlin failed.', ['Berlin failed.']],
  ['Alice is managed by Bob.', ['Alice is Bob.']],
  ['Bob has a dog.', ['Bob is a dog.']],
  ['The manager dismissed Bob.', ['The manager was dismissed.']],
  ['Anna failed to deploy the server.', ['Anna deployed the server.']],
  ['1 in 5 servers failed.', ['5 servers failed.']],
  ['The limit is > 5 users.', ['The limit is 5 users.']],
  ['worker Alice started\nworker Bob stopped', ['Worker Alice stopped.']],
];

const CITED: readonly (readonly [string, string])[] = [
  ['The server listens on port 4711.', 'The port is 4711.'],
  ['The server listens on port 4711.', 'Server listens on port 4711.'],
  ['You need Node 20 or later and npm, nothing else.', 'You need Node 20 or later.'],
  ['Only admins may delete a project; Bob is an admin.', 'Only admins may delete a project; Bob is an admin.'],
  ['Only admins may delete a project; Bob is an admin.', 'Bob is an admin.'],
  ['The port is 4711.', 'The file notes.md says that the port is 4711.'],
  ['The port is 4711.', 'The file says: "The port is 4711."'],
  ['The timeout is set to 30 seconds.', 'The timeout is 30s.'],
  ['- `MAX_DEPTH`: 5', '`MAX_DEPTH` is 5.'],
  ['Der Server läuft nicht auf Port 80.', 'Der Server läuft nicht auf Port 80.'],
];

describe('the gate of ask: a sentence is a shortened quotation', () => {
  for (const [source, sentences] of REFUSED)
    for (const sentence of sentences)
      test(`${source} → not: ${sentence}`, () => {
        assert.equal(isCited(sentence, [span('s1', source)]), false);
        assert.equal(isCited(sentence, [span('s1', source), child('k1', source, 's1')]), false);
      });

  test('nor is any of them by a span over the whole document', () => {
    const document = REFUSED.map(([source]) => source).join('\n\n');
    for (const [, sentences] of REFUSED)
      for (const sentence of sentences) assert.equal(isCited(sentence, [span('s1', document)]), false, sentence);
  });

  for (const [source, sentence] of CITED)
    test(`${source} → ${sentence}`, () => assert.equal(isCited(sentence, [span('s1', source)]), true));

  test('every source is quoted word for word', () => {
    for (const [source] of REFUSED.slice(0, -1)) assert.equal(isCited(source, [span('s1', source)]), true, source);
  });

  test('two clauses may rest on two handles, when each states something', () => {
    const both = [span('s1', 'The port is 4711.'), span('s2', 'The host is Berlin.')];
    assert.equal(isCited('The port is 4711 and the host is Berlin.', both), true);
    assert.equal(isCited('The port is Berlin.', both), false);
    const wrote = [span('s1', 'Bob wrote the parser.'), span('s2', 'Alice left.')];
    assert.equal(isCited('Alice and Bob wrote the parser.', wrote), false);
  });

  test('a child that leaves out what turns its piece carries nothing', () => {
    const piece = span('s1', 'It is a myth that coffee harms plants.');
    assert.equal(isCited('Coffee harms plants.', [piece, child('k1', 'coffee harms plants.', 's1')]), false);
  });
});

describe('the gate of ask: what code counted is told in its own words', () => {
  const seven = computed('c1', 99, { code: '(a) => a.lineCount * 7 + 1' });
  const lines = (output: unknown) => computed('c1', output, { code: 'a => a.search("WARN").length' });

  test('a number carries no word that was not searched for', () => {
    assert.equal(isCited('The port is 99.', [computed('c1', 99)]), false);
    assert.equal(isCited('99 errors were found.', [seven]), false);
    assert.equal(isCited('There are 99 lines.', [seven]), false);
    assert.equal(isCited('There are 42 lines.', [computed('c1', 42, { code: '() => 42' })]), false);
    assert.equal(isCited('WARN occurs 14 times.', [lines(14)], ['WARN']), true);
    assert.equal(isCited('WARN occurs at least 14 times.', [lines(14)], ['WARN']), false);
  });

  test('each number keeps its label', () => {
    const made = computed('c1', { lines: 3, times: 4 }, { code: 'a => count(a, "pinned")' });
    assert.equal(isCited('"pinned" stands 4 times, on 3 lines.', [made]), true);
    assert.equal(isCited('"pinned" stands 3 times, on 4 lines.', [made]), false);
  });

  test('a span that says another number disputes it', () => {
    assert.equal(isCited('There are 14 lines with WARN.', [lines(14)], ['WARN']), true);
    const other = span('s1', 'There are 20 lines with WARN.');
    assert.equal(isCited('There are 14 lines with WARN.', [lines(14), other], ['WARN']), false);
  });
});
