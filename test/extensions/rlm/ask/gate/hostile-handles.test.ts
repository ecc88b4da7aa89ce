import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Handle } from '#extensions/rlm/ask/ask-outcome.ts';
import { judgeAnswer } from '#extensions/rlm/ask/gate/judge-answer.ts';
import { ends } from '../../../../ends.ts';
import { child, computed, span } from './handles.ts';

function missing(text: string, handles: readonly Handle[], known: readonly string[] = []): readonly string[] {
  const cited = handles.at(-1)?.id ?? '';
  const judged = judgeAnswer([{ text, handles: [cited] }], { handles, inContext: new Set(known) });
  return judged.flatMap((sentence) => sentence.missing);
}

describe('the gate of ask: code that says what nobody wrote', () => {
  test('prose that code carries is none that it computed', () => {
    const said = 'The chief engineer stole the money';
    assert.notDeepEqual(missing(`${said}.`, [computed('c1', said, { code: `() => "${said}"` })]), []);
    assert.notDeepEqual(missing(`${said}.`, [computed('c1', 7, { code: `/* ${said} */ (a) => a.length` })]), []);
    const inBerlin = computed('c1', `${said} in Berlin`, { code: `() => "${said} in Berlin"` });
    assert.notDeepEqual(missing(`${said} in Berlin.`, [inBerlin], ['Berlin']), []);
  });

  test('prose that its inputs hold is', () => {
    const source = span('s1', 'the chief engineer stole the money\n');
    const made = computed('c1', 'the chief engineer stole the money', { code: '(a) => a.trim()', inputs: ['s1'] });
    assert.deepEqual(missing('The chief engineer stole the money.', [source, made]), []);
  });

  test('a child over it launders nothing, at any depth', () => {
    const said = 'Revenue was 7 million at Enron';
    const made = computed('c1', said, { code: `() => "${said}"` });
    const below = [made, child('q1', said, 'c1')];
    assert.notDeepEqual(missing(`${said}.`, below), []);
    assert.notDeepEqual(missing(`${said}.`, [...below, child('q2', said, 'q1')]), []);
    assert.notDeepEqual(
      missing(`${said}.`, [...below, computed('c2', said, { code: `() => "${said}"`, inputs: ['q1'] })]),
      [],
    );
    assert.deepEqual(missing(`${said}.`, [span('s1', `${said}.`), child('q1', said, 's1')]), []);
  });

  test('a denial needs what was counted', () => {
    const none = computed('c1', 0, { code: '(a) => a.search("outage").length' });
    assert.deepEqual(missing('No line mentions an outage.', [none]), []);
    const said = computed('c1', 'no outage was mentioned', { code: '() => "no outage was mentioned"' });
    assert.notDeepEqual(missing('No outage was mentioned.', [said]), []);
  });
});

describe('the gate of ask: handles that cost', () => {
  test('what rests twice on the same is read once', () => {
    const tower: Handle[] = [span('c0', 'nothing here')];
    for (let level = 1; level <= 38; level += 1)
      for (const side of ['', 'b']) {
        const inputs = level === 1 ? ['c0'] : [`c${level - 1}`, `c${level - 1}b`];
        tower.push(computed(`c${level}${side}`, 'Foo', { code: `a => "Foo${side}"`, inputs }));
      }
    assert.deepEqual(
      ends('the tower', () => missing('Foo is there.', tower)),
      ['Foo'],
    );
  });

  test('a tower that is too high rests on nothing', () => {
    const tower: Handle[] = [span('c0', 'Foo is there.')];
    for (let level = 1; level <= 9_000; level += 1)
      tower.push(computed(`c${level}`, 'Foo', { inputs: [`c${level - 1}`] }));
    assert.deepEqual(missing('Foo is there.', tower), ['its handles do not rest on the context']);
  });

  test('many numbers against many numbers', () => {
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at * 7).join(' ');
    const spans = Array.from({ length: 20 }, (_, at) => span(`s${at}`, numbers(10_000 + at * 100_000, 3_000)));
    const text = numbers(9_000_001, 450);
    const judged = ends('the numbers', () =>
      judgeAnswer([{ text, handles: spans.map(({ id }) => id) }], { handles: spans, inContext: new Set() }),
    );
    assert.equal(judged[0]?.status, 'not_supported');
  });
});
