// The gate of `rlm ask` under random answers: what is cited is held, less never cites more, order and repetition do not matter.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Handle } from '#extensions/rlm/ask/ask-outcome.ts';
import { answerSentences } from '#extensions/rlm/ask/gate/answer-sentences.ts';
import { judgeAnswer } from '#extensions/rlm/ask/gate/judge-answer.ts';
import { child, computed, span } from '../../extensions/rlm/ask/gate/handles.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const NUMBERS = ['8080', '8081', '1,024', '1024', '3.50', '3.5', '35', '14', '15', '42'];
const NAMES = ['Berlin', 'Paris', 'Alice', 'loadConfig', 'src/app.ts', '--verbose', 'KernelGate'];
const WORDS = [
  'gateway',
  'port',
  'listens',
  'limit',
  'host',
  'not',
  'no',
  'false',
  'is',
  'the',
  'on',
  'never',
  'enabled',
];

const word = fc.oneof(fc.constantFrom(...NUMBERS), fc.constantFrom(...NAMES), fc.constantFrom(...WORDS));
const sentence = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => `It says ${words.join(' ')}.`);
const id = fc.constantFrom('s1', 's2', 's3', 'k1', 'k2', 'c1', 'c2');

const handle: fc.Arbitrary<Handle> = fc.oneof(
  fc.tuple(id, sentence).map(([name, quote]) => span(name, quote)),
  fc.tuple(id, sentence, id).map(([name, text, over]) => child(name, text, over)),
  fc
    .tuple(
      id,
      fc.oneof(fc.nat(100), sentence, fc.array(word, { maxLength: 3 })),
      fc.array(fc.oneof(id, fc.constant('context')), { maxLength: 2 }),
    )
    .map(([name, output, inputs]) => computed(name, output, { inputs })),
);
const handles = fc.array(handle, { maxLength: 6 });
const part = fc.record({ text: sentence, handles: fc.array(id, { maxLength: 4 }) });

interface Scene {
  readonly given: readonly { readonly text: string; readonly handles: readonly string[] }[];
  readonly evidence: readonly Handle[];
}

/** Sentences at random, and sentences that repeat a handle, some of them with another word in it. */
const scene: fc.Arbitrary<Scene> = handles.chain((evidence) => {
  const repeated = fc.tuple(fc.nat(), fc.option(word), fc.array(id, { maxLength: 2 })).map(([at, other, more]) => {
    const one = evidence[at % Math.max(1, evidence.length)];
    const text = `${textOf(one).replace(/\.?$/, '')}${other === null ? '' : ` ${other}`}.`;
    return { text, handles: [...(one === undefined ? [] : [one.id]), ...more] };
  });
  const given = fc.array(fc.oneof(part, repeated), { minLength: 1, maxLength: 3 });
  return fc.record({ given, evidence: fc.constant(evidence) });
});

function statuses(given: unknown, evidence: readonly Handle[], known: readonly string[] = []): readonly boolean[] {
  return judgeAnswer(answerSentences(given).sentences, { handles: evidence, inContext: new Set(known) }).map(
    ({ status }) => status === 'cited',
  );
}

/** Written anew: digits without separators and trailing zeros, names as they are. */
function plain(text: string): string {
  return text.replace(/(\d),(?=\d{3})/g, '$1').replace(/(\.\d*?)0+(?!\d)/g, '$1');
}

describe('the gate of ask: properties', () => {
  verifies('rlm:ask:cited', 'each number and name of a cited sentence stands in a handle that it cites', () => {
    let cited = 0;
    fc.assert(
      fc.property(scene, ({ given, evidence }) => {
        const first = new Map([...evidence].reverse().map((one) => [one.id, one]));
        const judged = judgeAnswer(answerSentences(given).sentences, { handles: evidence, inContext: new Set() });
        for (const { text, handles: ids } of judged.filter(({ status }) => status === 'cited')) {
          cited += 1;
          const held = plain(ids.map((one) => textOf(first.get(one))).join(' '));
          const terms = [...NUMBERS, ...NAMES].filter((term) => text.split(/\s|\.$/).includes(term));
          for (const term of terms) assert.ok(held.includes(plain(term)), `${term}: ${text} | ${held}`);
        }
      }),
      { numRuns: runs(3_000) },
    );
    assert.ok(cited > runs(300), `${cited} cited`);
  });

  test('fewer handles, cited or there, never cite more', () => {
    fc.assert(
      fc.property(scene, fc.nat(), fc.constantFrom('cited', 'there'), ({ given, evidence }, at, what) => {
        const before = statuses(given, evidence, NAMES);
        const gone = evidence[at % Math.max(1, evidence.length)]?.id;
        const fewer = given.map((part) => ({ ...part, handles: part.handles.filter((one) => one !== gone) }));
        const after =
          what === 'cited'
            ? statuses(fewer, evidence, NAMES)
            : statuses(
                given,
                evidence.filter((one) => one.id !== gone),
                NAMES,
              );
        assert.equal(after.length, before.length);
        const more = after.filter((cited, index) => cited && !before[index]);
        assert.deepEqual(more, [], JSON.stringify({ given, evidence, gone }));
      }),
      { numRuns: runs(3_000) },
    );
  });

  test('the order of handles does not matter', () => {
    fc.assert(
      fc.property(scene, ({ given, evidence: drawn }) => {
        const evidence = [...new Map(drawn.map((one) => [one.id, one])).values()];
        const turned = given.map((part) => ({ ...part, handles: [...part.handles, ...part.handles].reverse() }));
        const there = judgeAnswer(answerSentences(given).sentences, { handles: evidence, inContext: new Set() });
        const back = judgeAnswer(answerSentences(turned).sentences, {
          handles: [...evidence].reverse(),
          inContext: new Set(),
        });
        assert.deepEqual(
          back.map(({ status, missing }) => [status, missing]),
          there.map(({ status, missing }) => [status, missing]),
        );
      }),
      { numRuns: runs(1_500) },
    );
  });

  test('whatever is given, nothing is thrown', () => {
    const any = fc.anything({ withBigInt: true, withMap: true });
    fc.assert(
      fc.property(
        fc.oneof(any, fc.array(fc.record({ text: fc.oneof(fc.string({ unit: 'binary' }), any), handles: any }))),
        handles,
        (given, evidence) => {
          assert.ok(Array.isArray(statuses(given, evidence)));
        },
      ),
      { numRuns: runs(1_500) },
    );
  });
});

function textOf(one: Handle | undefined): string {
  if (one === undefined) return '';
  switch (one.kind) {
    case 'span':
      return `${one.quote} ${one.place.source_path}`;
    case 'child':
      return one.text;
    case 'computed':
      return one.output;
  }
}
