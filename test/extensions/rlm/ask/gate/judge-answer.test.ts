import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Handle } from '#extensions/rlm/ask/ask-outcome.ts';
import { answerSentences } from '#extensions/rlm/ask/gate/answer-sentences.ts';
import { judgeAnswer } from '#extensions/rlm/ask/gate/judge-answer.ts';
import { namesToLookUp } from '#extensions/rlm/ask/gate/names-to-look-up.ts';
import { child, computed, span } from './handles.ts';

function judge(
  text: string,
  handles: readonly Handle[],
  { cite, known = [] }: { cite?: readonly string[]; known?: readonly string[] } = {},
) {
  const ids = cite ?? handles.map(({ id }) => id);
  const { sentences } = answerSentences([{ text, handles: ids }]);
  return judgeAnswer(sentences, { handles, inContext: new Set(known) });
}

function missing(...asked: Parameters<typeof judge>): readonly string[] {
  return judge(...asked).flatMap((sentence) => sentence.missing);
}

const PORT = span('s1', 'The gateway listens on port 8080 and its host is named Berlin.');
const SIZE = span('s2', 'limit: 1,024 connections, ratio 3.50, idle time 5s');

describe('the gate of ask: what is cited', () => {
  const cited: readonly (readonly [string, readonly Handle[], (readonly string[])?])[] = [
    ['The gateway listens on port 8080.', [PORT]],
    ['The gateway host is Berlin.', [PORT]],
    ['The limit is 1024 connections.', [SIZE]],
    ['The ratio is 3.5.', [SIZE]],
    ['The idle time is 5 seconds.', [SIZE]],
    ['The file notes.md says that the gateway listens on port 8080.', [PORT]],
    ['`MAX_DEPTH` is 5.', [span('s1', 'export const MAX_DEPTH = 5;')]],
    ['The host is Berlin.', [PORT, child('k1', 'The host is Berlin.', 's1')]],
    ['There are 14 lines with x.', [computed('c1', 14)]],
    ['There are 14,000 lines.', [computed('c1', 14_000)]],
    [
      'WARN stands in 14 lines.',
      [computed('c1', { WARN: 14 }, { code: 'a => ({WARN: a.search("WARN").length})' })],
      ['WARN'],
    ],
    [
      'Kubernetes is not named in a line.',
      [computed('c1', 0, { code: '(a) => a.lines.filter(l => l.includes("Kubernetes")).length' })],
    ],
    [
      'The search found 1 line.',
      [computed('c1', 1, { code: '(a) => { let n = 0; for (const line of a) n += 1; return n }' })],
    ],
  ];
  for (const [text, handles, known] of cited) {
    test(text, () => assert.deepEqual(missing(text, handles, { known: known ?? [] }), []));
  }
});

describe('the gate of ask: what is not supported, and what is missing', () => {
  const refused: readonly (readonly [string, readonly Handle[], readonly string[], (readonly string[])?])[] = [
    ['The gateway listens on port 8081.', [PORT], ['8081']],
    ['The gateway host is Paris.', [PORT], ['Paris']],
    ['The gateway listens on port 80.', [PORT], ['80']],
    ['The idle time is 5 minutes.', [SIZE], ['5']],
    ['The ratio is 35.', [SIZE], ['35']],
    [
      'On 2026-11-23 the disk was full at 10:34.',
      [span('s1', '2026-11-22T10:33:05Z ERROR disk full')],
      ['2026-11-23', '10:34'],
    ],
    ['The gateway calls loadConfig on port 8080.', [PORT], ['loadConfig']],
    ['The gateway does not listen on port 8080.', [PORT], ['it denies what its handles do not deny']],
    ['The gateway has no port 8081 but port 8080.', [PORT], ['8081']],
    ['The host named Berlin never sleeps.', [PORT], ['it denies what its handles do not deny']],
    ['It is false that the gateway listens on port 8080.', [PORT], ['false']],
    ['Quick brown foxes jump over 8080 lazy dogs.', [PORT], ['quick', 'brown', 'foxes', 'jump', 'lazy']],
    ['The gateway listens on line 3.', [PORT], ['3']],
    ['There are 15 lines.', [computed('c1', 14)], ['15']],
    [
      'Paris has 42 lines.',
      [computed('c1', { city: 'Paris', n: 42 }, { code: '() => ({city: "Paris", n: 42})' })],
      ['Paris', '42'],
    ],
    ['There are 42 lines.', [computed('c1', 42, { code: '() => 42' })], ['42']],
    [
      'There are 42 lines.',
      [computed('c1', 42, { code: '(a) => a.length', inputs: [] })],
      ['its handles do not rest on the context'],
    ],
    ['The host is Berlin.', [child('k1', 'The host is Berlin.', 'gone')], ['its handles do not rest on the context']],
    ['Yes.', [PORT], ['yes']],
    ['It is so.', [PORT], ['it says nothing that can be compared']],
  ];
  for (const [text, handles, expected, known] of refused) {
    test(text, () => assert.deepEqual(missing(text, handles, { known: known ?? [] }).length > 0, expected.length > 0));
  }

  test('what cites nothing, or what is not there', () => {
    assert.deepEqual(missing('The port is 8080.', [PORT], { cite: [] }), ['it cites nothing']);
    assert.deepEqual(missing('The port is 8080.', [PORT], { cite: ['s1', 's9'] }), ['s9 (no such handle)']);
  });

  test('a source that says the opposite carries nothing', () => {
    const off = span('s1', 'Telemetry is not enabled by default in the gateway.');
    assert.notDeepEqual(missing('Telemetry is enabled by default in the gateway.', [off]), []);
    const both = [span('s1', 'Caching is enabled in production.'), span('s2', 'Tracing is not enabled in production.')];
    assert.deepEqual(missing('Caching is enabled in production, but tracing is not enabled.', both), []);
  });

  test('each sentence of a part is judged by itself', () => {
    const judged = judge('The port is 8080. The host is Paris. The host is named Berlin.', [PORT]);
    assert.deepEqual(
      judged.map(({ text, status }) => [text, status]),
      [
        ['The port is 8080.', 'cited'],
        ['The host is Paris.', 'not_supported'],
        ['The host is named Berlin.', 'cited'],
      ],
    );
  });

  test('what stands only beyond the readable part of a handle is not held', () => {
    const long = span('s1', `${'filler words here '.repeat(1_500)} port 8080`);
    assert.notDeepEqual(missing('The port is 8080.', [long]), []);
  });
});

describe('the gate of ask: reading an answer', () => {
  test('whatever it is, it is read', () => {
    for (const parts of [null, 7, 'x', {}, [null, 7, 'x', {}, { text: 7 }, { text: 'a', handles: 'b' }]])
      assert.ok(answerSentences(parts).sentences.length <= 1);
    assert.deepEqual(answerSentences([{ text: ' A b. ', handles: ['x', 'x', 7, ''] }]).sentences, [
      { text: 'A b.', handles: ['x'] },
    ]);
  });

  test('too many sentences are counted', () => {
    const parts = [{ text: 'A sentence. '.repeat(700), handles: [] }];
    const { sentences, left_out } = answerSentences(parts);
    assert.equal(sentences.length, 500);
    assert.equal(left_out, 200);
  });

  test('only names of what is computed over the whole are looked up', () => {
    const handles = [
      PORT,
      computed('c1', 3),
      computed('c2', 3, { inputs: ['s1'] }),
      computed('c3', 4, { inputs: ['c1'] }),
    ];
    const { sentences } = answerSentences([
      { text: 'Alice has 3.', handles: ['c1'] },
      { text: 'Boris has 3.', handles: ['c2', 's1'] },
      { text: "Carol's loadConfig has 4.", handles: ['c3'] },
    ]);
    assert.deepEqual(namesToLookUp(sentences, handles), ['Alice', 'Carol', 'loadConfig']);
  });
});
